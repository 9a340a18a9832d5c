//! What is wrong with a text, as an editor shows it: the diagnostics of `temblor check`, each at its
//! place, with the places that belong to it.

use super::analysis::{self, Analysis};
use super::place::{Lines, path_of, uri_of};
use super::workspace::{Found, Workspace};
use super::{DIAGNOSTICS_MAX, DOCUMENT_BYTES_MAX};
use lsp_types::{
    Diagnostic as EditorDiagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location,
    NumberOrString, Uri,
};
use std::path::PathBuf;
use std::rc::Rc;
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::span::{Sources, Span};

impl Workspace {
    /// What `temblor check` says about an open text.
    #[must_use]
    pub(crate) fn diagnose(&self, uri: &Uri) -> Rc<Found> {
        let Some(document) = self.document(uri) else { return Rc::default() };
        let known = document.found.borrow().clone();
        known.unwrap_or_else(|| {
            let file = path_of(uri).unwrap_or_else(|| PathBuf::from(uri.as_str()));
            let (name, modules) = (file.display().to_string(), self.modules(uri));
            let found = analysis::diagnose(&name, &document.analysis, document.dialect, &modules);
            let found = Rc::new(found);
            document.found.replace(Some(found.clone()));
            found
        })
    }

    /// As the editor shows it: errors at once, warnings too when there are no errors.
    pub(crate) fn problems(&self, uri: &Uri) -> Vec<EditorDiagnostic> {
        let Some(document) = self.document(uri) else { return Vec::new() };
        if document.analysis.text.len() > DOCUMENT_BYTES_MAX {
            return vec![EditorDiagnostic {
                severity: Some(DiagnosticSeverity::INFORMATION),
                source: Some("temblor".to_string()),
                message: format!("larger than {DOCUMENT_BYTES_MAX} bytes: not analysed here"),
                ..EditorDiagnostic::default()
            }];
        }
        let diagnosed = self.diagnose(uri);
        let (found, sources) = &*diagnosed;
        let has_errors = found.iter().any(|one| one.severity == Severity::Error);
        let mut wanted: Vec<_> =
            found.iter().filter(|one| !has_errors || one.severity == Severity::Error).collect();
        wanted.sort_by_key(|one| (one.span.source, one.span.start));
        wanted
            .into_iter()
            .take(DIAGNOSTICS_MAX)
            .map(|one| shown(&document.analysis, uri, one, sources))
            .collect()
    }
}

/// A diagnostic for the editor. One about another file stands at the `use` that led there.
#[must_use]
pub(crate) fn shown(
    analysis: &Analysis,
    uri: &Uri,
    one: &Diagnostic,
    sources: &Sources,
) -> EditorDiagnostic {
    let is_own = one.span.source.0 == 0;
    let mut message = one.message.clone();
    let label = Some(&one.label).filter(|label| !label.is_empty());
    for part in label.into_iter().chain(&one.help) {
        message = format!("{message}\n{part}");
    }
    let mut related: Vec<_> = one
        .labels
        .iter()
        .filter_map(|label| {
            let location = location(label.span, sources, uri)?;
            Some(DiagnosticRelatedInformation { location, message: label.text.clone() })
        })
        .collect();
    let mut span = one.span;
    if !is_own {
        let name = sources.get(one.span.source).map_or("", |source| source.name.as_str());
        message = format!("in {name}: {message}");
        span = analysis.index.imports.first().map_or(Span::default(), |import| import.span);
        let location = location(one.span, sources, uri);
        related.extend(location.map(|location| DiagnosticRelatedInformation {
            location,
            message: one.message.clone(),
        }));
    }
    EditorDiagnostic {
        range: analysis.lines.range(&analysis.text, span),
        severity: Some(match one.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(one.code.to_string())),
        source: Some("temblor".to_string()),
        message,
        related_information: Some(related).filter(|related| !related.is_empty()),
        ..EditorDiagnostic::default()
    }
}

fn location(span: Span, sources: &Sources, own: &Uri) -> Option<Location> {
    let source = sources.get(span.source)?;
    let uri = match span.source.0 {
        0 => own.clone(),
        _ => uri_of(&std::path::absolute(&source.name).ok()?)?,
    };
    let lines = Lines::of(&source.text);
    Some(Location::new(uri, lines.range(&source.text, span)))
}
