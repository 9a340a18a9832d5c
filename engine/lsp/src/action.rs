//! Quick fixes: what a diagnostic says one may have meant can be put in its place.

use super::workspace::Workspace;
use lsp_types::{CodeAction, CodeActionKind, Range, TextEdit, Uri, WorkspaceEdit};
use std::collections::HashMap;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Sources;

/// What a diagnostic puts in front of and behind the name that may be meant.
const MEANT: (&str, &str) = ("did you mean `", "`?");

/// The name that may be meant.
fn meant(diagnostic: &Diagnostic) -> Option<&str> {
    let help = diagnostic.help.as_deref()?;
    let (_, rest) = help.split_once(MEANT.0)?;
    rest.split_once(MEANT.1).map(|(name, _)| name)
}

/// What stands in the text, and what should. A path keeps the name that the text gives its module.
fn replacement<'d>(written: &'d str, meant: &'d str) -> String {
    match (written.rsplit_once("::"), meant.rsplit_once("::")) {
        (Some((module, _)), Some((_, name))) => format!("{module}::{name}"),
        _ => meant.to_string(),
    }
}

impl Workspace {
    /// The fixes for what is wrong in a range of a text.
    #[must_use]
    pub(crate) fn fixes(&self, uri: &Uri, range: Range) -> Vec<CodeAction> {
        let Some(document) = self.document(uri) else { return Vec::new() };
        let analysis = &document.analysis;
        let (from, to) = (
            analysis.lines.offset(&analysis.text, range.start),
            analysis.lines.offset(&analysis.text, range.end),
        );
        let diagnosed = self.diagnose(uri);
        let (found, sources) = &*diagnosed;
        let here = found.iter().filter(|one| {
            let span = one.span.range();
            one.span.source.0 == 0 && span.start <= to && from <= span.end
        });
        here.filter_map(|one| self.fix(uri, one, sources)).collect()
    }

    fn fix(&self, uri: &Uri, one: &Diagnostic, sources: &Sources) -> Option<CodeAction> {
        let analysis = &self.document(uri)?.analysis;
        let written = sources.text(one.span);
        let new = replacement(written, meant(one)?);
        let edit = TextEdit::new(analysis.lines.range(&analysis.text, one.span), new.clone());
        #[expect(clippy::mutable_key_type, reason = "the protocol's crate keys by its URI type")]
        let changes = HashMap::from([(uri.clone(), vec![edit])]);
        Some(CodeAction {
            title: format!("Change to `{new}`"),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![super::problem::shown(analysis, uri, one, sources)]),
            edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
            is_preferred: Some(true),
            ..CodeAction::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::span::Span;

    #[test]
    fn a_path_keeps_the_name_of_its_module() {
        assert_eq!(replacement("s::uppercas", "string::uppercase"), "s::uppercase");
        assert_eq!(replacement("dedpu", "dedup"), "dedup");
        let help = Diagnostic::error("E0501", Span::default(), "x").with_nearest("abd", ["abc"]);
        assert_eq!(meant(&help), Some("abc"));
    }
}
