//! `temblor doc`: Markdown from the doc comments of modules. A page names what its module defines
//! in the order of the file, and nothing that has no name.

use super::check::FAULTY;
use crate::casebook::walk::files;
use crate::load::{Language, read_program};
use clap::Args;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use temblor_lang::span::Sources;
use temblor_lang::syntax::tree::{DefineKind, Docs, Ident, Item, Script};
use temblor_lang::syntax::{parse_module, parse_script};

/// What can be typed behind `temblor doc`.
#[derive(Debug, Args)]
pub struct DocArgs {
    /// Directory with modules (.tremor)
    directory: PathBuf,
    /// Directory for the pages [default: all pages to standard output]
    out: Option<PathBuf>,
}

/// Writes the pages; gives the exit code.
pub fn doc(args: &DocArgs) -> u8 {
    match write(args) {
        Ok(0) => {
            eprintln!("error: {}: no module (.tremor) was found", args.directory.display());
            FAULTY
        }
        Ok(_) => 0,
        Err(reason) => {
            eprintln!("error: {reason}");
            FAULTY
        }
    }
}

fn write(args: &DocArgs) -> Result<usize, String> {
    let directory = &args.directory;
    let told = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let mut pages = 0;
    for file in files(directory).map_err(|error| told(directory, error))? {
        if Language::of(&file) != Some(Language::Script) {
            continue;
        }
        let (_, text) = read_program(&file)?;
        let relative = file.strip_prefix(directory).unwrap_or(&file).with_extension("");
        let page = page(&relative, &text);
        pages += 1;
        let Some(out) = &args.out else {
            println!("{page}");
            continue;
        };
        let target = out.join(&relative).with_extension("md");
        let folder = target.parent().unwrap_or(out);
        std::fs::create_dir_all(folder).map_err(|error| told(folder, error))?;
        std::fs::write(&target, page).map_err(|error| told(&target, error))?;
    }
    Ok(pages)
}

/// The page of a module whose file is `relative` without its ending.
fn page(relative: &Path, text: &str) -> String {
    let names: Vec<_> =
        relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let path = names.join("::");
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

fn module(text: &str) -> Script {
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
    let (title, docs) = match item {
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
        Item::Use(_) | Item::Expr(_) => return,
    };
    let _ = writeln!(page, "## `{title}`\n");
    paragraph(page, docs);
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
}
