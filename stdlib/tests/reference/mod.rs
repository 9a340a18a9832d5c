//! Makes the text of `stdlib/REFERENCE.md` from the declarations. The same declarations always give
//! the same text.

use std::collections::BTreeMap;
use std::fmt::Write;
use temblor_lang::builtin::{Aggregate, Arity, Function, Registry};
use temblor_lang::value::Kind;

const HEAD: &str = "# The standard library

Made from the declarations beside the code; do not edit. To write it anew:
`TEMBLOR_BLESS=1 cargo test -p temblor-stdlib --test manual`.

Load a module with `use`, such as `use std::string;`, and call `string::len(\"a\")`. Parameters in
brackets may be left out; `...` may be repeated. What is marked ✦ depends on the event, on time or
on chance, and is never calculated beforehand; what is marked + goes beyond tremor. Each line in a
block of examples is true.
";

/// The whole manual.
pub(crate) fn text(library: &dyn Registry) -> String {
    let mut out = HEAD.to_owned();
    let mut modules: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
    for path in library.module_paths() {
        modules.entry(path).or_default();
    }
    for path in library.function_paths() {
        let (module, _) = path.rsplit_once("::").expect("functions stand in modules");
        modules.entry(module).or_default().extend(library.function(path));
    }
    for (module, functions) in &modules {
        let source = library.module(module);
        if functions.is_empty() && source.is_none() {
            continue;
        }
        write!(out, "\n## {module}\n").expect("writing to memory");
        functions.iter().for_each(|function| push_function(&mut out, function));
        if let Some(source) = source {
            push_source(&mut out, source);
        }
    }
    push_aggregates(&mut out, library);
    push_extractors(&mut out, library);
    out
}

fn is_beyond_tremor(path: &str) -> bool {
    !include_str!("../tremor-names.txt").lines().any(|name| name == path)
}

fn signature(path: &str, params: &[(&str, Kind)], arity: Arity, returns: Kind) -> String {
    let name = path.rsplit("::").next().unwrap_or(path);
    let required = match arity {
        Arity::Optional(count) => params.len() - count,
        _ => params.len(),
    };
    let mut list: Vec<_> = params
        .iter()
        .enumerate()
        .map(|(at, (name, kind))| {
            let param = format!("{name}: {}", kind.name());
            if at < required { param } else { format!("[{param}]") }
        })
        .collect();
    if arity == Arity::Variadic {
        list.pop();
        list.push("...".to_owned());
    }
    format!("{name}({}) → {}", list.join(", "), returns.name())
}

fn push_function(out: &mut String, function: &Function) {
    let plus = if is_beyond_tremor(function.path) { " +" } else { "" };
    let star = match function.purity {
        temblor_lang::builtin::Purity::Pure => "",
        temblor_lang::builtin::Purity::Impure => " ✦",
    };
    let signature = signature(function.path, function.params, function.arity, function.returns);
    write!(out, "\n### `{signature}`{plus}{star}\n\n{}\n", function.doc)
        .expect("writing to memory");
    if let Some(warning) = function.warning {
        write!(out, "\nWarning: {warning}.\n").expect("writing to memory");
    }
    write!(out, "\n```\n{}\n```\n", function.examples.join("\n")).expect("writing to memory");
}

/// The documented definitions of a module that is written in the language.
fn push_source(out: &mut String, source: &str) {
    let mut doc = String::new();
    let mut constants = Vec::new();
    out.push('\n');
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("### ") {
            writeln!(out, "{text}\n").expect("writing to memory");
        } else if let Some(text) = line.strip_prefix("## ") {
            doc = text.to_owned();
        } else if let Some(constant) = line.strip_prefix("const ") {
            let name = constant.split(' ').next().unwrap_or(constant);
            constants.push(format!("`{name}`"));
        } else if let Some(definition) = line.strip_prefix("fn ").or(line.strip_prefix("define ")) {
            let head = definition.trim_end_matches(" with").trim_end_matches(" of");
            writeln!(out, "- `{head}`: {doc}").expect("writing to memory");
        }
    }
    if !constants.is_empty() {
        write!(out, "\nConstants: {}.\n", constants.join(", ")).expect("writing to memory");
    }
}

fn push_aggregates(out: &mut String, library: &dyn Registry) {
    out.push_str("\n## Aggregates\n\nFor the target of a `select` with a window, by full path.\n");
    let found = library.aggregate_paths().into_iter().filter_map(|path| library.aggregate(path));
    for Aggregate { path, params, arity, returns, doc, warning, .. } in found {
        let plus = if is_beyond_tremor(path) { " +" } else { "" };
        let signature = signature(path, params, *arity, *returns);
        let (module, _) = path.rsplit_once("::").expect("aggregates stand in modules");
        write!(out, "\n### `{module}::{signature}`{plus}\n\n{doc}\n").expect("writing to memory");
        if let Some(warning) = warning {
            write!(out, "\nWarning: {warning}.\n").expect("writing to memory");
        }
    }
}

fn push_extractors(out: &mut String, library: &dyn Registry) {
    out.push_str("\n## Extractors\n\nTests between bars, such as `event.ip ~ cidr|10.0.0.0/8|`.\n");
    for name in library.extractor_names() {
        let Some(kind) = library.extractor(name) else { continue };
        write!(out, "\n### `{name}`\n\n{}\n", kind.doc).expect("writing to memory");
        if !kind.examples.is_empty() {
            out.push_str("\n```\n");
            for (expression, value) in kind.examples {
                writeln!(out, "{expression} → {value}").expect("writing to memory");
            }
            out.push_str("```\n");
        }
    }
}
