//! Tables of texts that the parser accepts and refuses, in each of the notations.

pub(in crate::syntax) mod accept;
mod hostile;
mod print;
mod pages;
mod spec;

use super::{Parsed, parse_deploy, parse_program, parse_query, parse_script};
use crate::diagnostic::{Diagnostic, Severity};
use crate::span::Sources;

fn parsed<T>(
    text: &str,
    parse: impl Fn(&Sources, crate::span::SourceId) -> Parsed<T>,
) -> (T, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let source = sources.add("test", text);
    let parsed = parse(&sources, source);
    (parsed.tree, parsed.diagnostics)
}

fn errors(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    diagnostics.iter().filter(|one| one.severity == Severity::Error).collect()
}

fn check_all<T>(
    texts: &[&str],
    accepted: bool,
    parse: impl Fn(&Sources, crate::span::SourceId) -> Parsed<T>,
) {
    let mut wrong = Vec::new();
    for text in texts {
        let (_, diagnostics) = parsed(text, &parse);
        let errors = errors(&diagnostics);
        if errors.is_empty() != accepted {
            let reasons: Vec<_> =
                errors.iter().map(|e| format!("{:?} {} {:?}", e.span, e.message, e.help)).collect();
            wrong.push(format!("{text}\n    {}", reasons.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "accepted should be {accepted}:\n{}", wrong.join("\n"));
}
