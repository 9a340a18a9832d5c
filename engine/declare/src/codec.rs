//! Codecs as programs name them: `"json"`, or `{"name": "json", "config": {"mode": "sorted"}}`.

use temblor_codec::names::{self, CODECS};
use temblor_codec::{Codec, Encoding, InputCodec, OutputCodec};
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::span::Span;

use crate::read;
use crate::setting::{Setting, Takes};
use crate::settings::Named;

/// Codecs of tremor that are not part of this build.
const MISSING: [&str; 2] = ["avro", "confluent-schema-registry"];

/// The configuration of the codec `json`.
pub static JSON: &[Setting] = &[Setting::new(
    "mode",
    Takes::Word(&["sorted", "unsorted"]),
    "Whether the keys of what is written are sorted.",
)
.or("unsorted")];

/// The configuration that a codec takes.
#[must_use]
pub fn settings(name: &str) -> &'static [Setting] {
    if name == "json" { JSON } else { &[] }
}

/// A codec that reads and writes, such as that of a connector in a flow.
pub fn both(
    named: Option<&Named>,
    span: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> (InputCodec, OutputCodec) {
    let usable = |row: &Codec| row.reads.zip(row.writes);
    let Some(named) = named else { return (InputCodec::Json, OutputCodec::Json) };
    let found = find(named, span, usable, diagnostics);
    let (reads, writes) = found.unwrap_or((InputCodec::Json, OutputCodec::Json));
    (reads, if is_sorted(named, span, diagnostics) { OutputCodec::SortedJson } else { writes })
}

/// How a source of a Temblor file reads its messages; JSON when it does not say.
pub fn reader(named: Option<&Named>, span: Span, diagnostics: &mut Vec<Diagnostic>) -> InputCodec {
    let Some(named) = named else { return InputCodec::Json };
    is_sorted(named, span, diagnostics);
    find(named, span, |row| row.reads, diagnostics).unwrap_or_default()
}

/// How a sink of a Temblor file writes events.
pub fn writer(named: Option<&Named>, span: Span, diagnostics: &mut Vec<Diagnostic>) -> Encoding {
    let Some(named) = named else { return Encoding::default() };
    if is_sorted(named, span, diagnostics) {
        return Encoding { codec: OutputCodec::SortedJson, post: None };
    }
    let found = find(named, span, |row| names::writer(row.name), diagnostics);
    found.unwrap_or_default()
}

/// What the row of a name is used for; a name that cannot be used so is reported.
fn find<T>(
    named: &Named,
    span: Span,
    usable: impl Fn(&Codec) -> Option<T>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T> {
    let name = named.name.as_str();
    if let Some(found) = names::codec(name).and_then(&usable) {
        return Some(found);
    }
    let known: Vec<_> =
        CODECS.iter().filter(|row| usable(row).is_some()).map(|row| row.name).collect();
    diagnostics.push(if MISSING.contains(&name) {
        let message = format!("codec `{name}` is known but not part of this build yet");
        Diagnostic::error("E0524", span, message)
            .with_help(format!("this build has {}", known.join(", ")))
    } else {
        let message = format!("unknown codec `{name}`");
        let complaint = Diagnostic::error("E0519", span, message);
        let now = r#"{"name": "json", "config": {"mode": "sorted"}}"#;
        match name {
            "json-sorted" => complaint.with_help(format!("since tremor 0.13 this is `{now}`")),
            _ => complaint.with_known(name, &known),
        }
    });
    None
}

/// Reads the configuration. Other codecs than `json` have none, and do not look at it.
fn is_sorted(named: &Named, span: Span, diagnostics: &mut Vec<Diagnostic>) -> bool {
    let rows = settings(&named.name);
    let before = diagnostics.len();
    let read = read::constants(rows, named.config.as_deref(), span, diagnostics);
    if rows.is_empty() {
        diagnostics[before..].iter_mut().for_each(|one| one.severity = Severity::Warning);
        return false;
    }
    read.is_some_and(|settings| settings.text("mode") == "sorted")
}
