//! The page of a module as Markdown, from its doc comments. It names what the module defines in the
//! order of the file, and nothing that has no name.

use std::fmt::Write;
use std::path::Path;
use temblor_lang::span::Sources;
use temblor_lang::syntax::tree::{ArgDecl, DefineKind, Docs, Ident, Item, Script};
use temblor_lang::syntax::{parse_module, parse_script, print_expr};

/// The path that `use` names a module by, whose file is `relative` without its ending.
pub(crate) fn module_path(relative: &Path) -> String {
    let names: Vec<_> =
        relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    names.join("::")
}

/// The page of a module whose file is `relative` without its ending.
pub(crate) fn page(relative: &Path, text: &str) -> String {
    let path = module_path(relative);
    let mut page = format!("# {path}\n\n");
    let module = module(text);
    paragraph(&mut page, &module.docs);
    for item in &module.items {
        item_section(&mut page, item);
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// What a text defines.
pub(crate) fn module(text: &str) -> Script {
    let mut sources = Sources::default();
    let source = sources.add("module", text);
    let module = parse_module(&sources, source);
    if module.has_errors() { parse_script(&sources, source).tree } else { module.tree }
}

fn paragraph(page: &mut String, docs: &Docs) {
    for line in docs {
        // Writing into a String does not fail.
        let _ = writeln!(page, "{}", line.strip_prefix(' ').unwrap_or(line).trim_end());
    }
    if !docs.is_empty() {
        page.push('\n');
    }
}

fn item_section(page: &mut String, item: &Item) {
    let Some((title, docs)) = described(item) else { return };
    let _ = writeln!(page, "## `{title}`\n");
    paragraph(page, docs);
    arguments(page, item);
}

/// The arguments of a definition, each with its default or that it has none.
fn arguments(page: &mut String, item: &Item) {
    let Item::Define(define) = item else { return };
    let arguments: &[ArgDecl] = match &define.kind {
        DefineKind::Window(_) => &[],
        DefineKind::Operator(one) => &one.args,
        DefineKind::Script(one) => &one.args,
        DefineKind::Pipeline(one) => &one.args,
        DefineKind::Connector(one) => &one.args,
        DefineKind::Flow(one) => &one.args,
    };
    for argument in arguments {
        let name = &argument.name.text;
        let _ = match &argument.default {
            Some(default) => writeln!(page, "- `{name} = {}`", print_expr(default)),
            None => writeln!(page, "- `{name}`, which has to be given"),
        };
    }
    if !arguments.is_empty() {
        page.push('\n');
    }
}

/// How a definition is declared, and its doc comment.
pub(super) fn described(item: &Item) -> Option<(String, &Docs)> {
    Some(match item {
        Item::Const(one) => (format!("const {}", one.name.text), &one.docs),
        Item::Fn(one) => (signature(&one.name, &one.params, one.varargs), &one.docs),
        Item::Intrinsic(one) => (signature(&one.name, &one.params, one.varargs), &one.docs),
        Item::Define(one) => {
            let word = match &one.kind {
                DefineKind::Window(..) => "window",
                DefineKind::Operator(..) => "operator",
                DefineKind::Script(..) => "script",
                DefineKind::Pipeline(..) => "pipeline",
                DefineKind::Connector(..) => "connector",
                DefineKind::Flow(..) => "flow",
            };
            (format!("{word} {}", one.name.text), &one.docs)
        }
        Item::Use(_) | Item::Expr(_) => return None,
    })
}

fn signature(name: &Ident, params: &[Ident], varargs: bool) -> String {
    let mut names: Vec<_> = params.iter().map(|param| param.text.as_str()).collect();
    if varargs {
        names.push("...");
    }
    format!("{}({})", name.text, names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_what_is_said_in_comments() {
        let text = "### About all.\nuse std::string;\n## Doubles.\n##\n## Twice.\nfn double(x) with x * 2 end;\n\
                    ## Five.\nconst FIVE = 5;\nfn all(a, ...) with a end;\n";
        let expected = "# my::tools\n\nAbout all.\n\n## `double(x)`\n\nDoubles.\n\nTwice.\n\n\
                        ## `const FIVE`\n\nFive.\n\n## `all(a, ...)`\n";
        assert_eq!(page(Path::new("my/tools"), text), expected);
    }

    #[test]
    fn arguments_of_definitions_are_listed() {
        let text = "## Cleans.\ndefine script clean args limit = 1 + 2, path script event end;";
        let expected = "# m\n\n## `script clean`\n\nCleans.\n\n- `limit = 1 + 2`\n\
                        - `path`, which has to be given\n";
        assert_eq!(page(Path::new("m"), text), expected);
    }
}
