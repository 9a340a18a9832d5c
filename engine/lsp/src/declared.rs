//! What the declarations of connectors, operators, windows and tables say can be set at a place.

use temblor_catalog::registry;
use temblor_declare::shared::{FLOW, QUEUE, READING, STREAM, WRITING};
use temblor_declare::{CodecUse, Ends, Notation, Setting};
use temblor_lang::index::EndKind;
use temblor_pipeline::graph::WINDOW;
use temblor_pipeline::lookup::{OF_FILES, OF_RECORDS};

/// The notation of a kind at such an end, and what it has to be there; nothing for tables.
#[must_use]
pub(crate) fn place_of(end: EndKind) -> Option<(Notation, Ends)> {
    match end {
        EndKind::Source => Some((Notation::Temblor, Ends::Source)),
        EndKind::Sink => Some((Notation::Temblor, Ends::Sink)),
        EndKind::Flow => Some((Notation::Tremor, Ends::Both)),
        EndKind::Table => None,
    }
}

/// The rows of the settings that `with` takes there.
#[must_use]
pub(crate) fn rows(end: EndKind, kind: &str) -> Vec<&'static [Setting]> {
    let row = place_of(end).and_then(|(notation, _)| registry().connector(kind, notation));
    match (end, row) {
        (EndKind::Flow, _) => vec![FLOW],
        (EndKind::Table, _) => vec![if kind == "record" { OF_RECORDS } else { OF_FILES }],
        (_, None) => Vec::new(),
        (EndKind::Source, Some(row)) if row.codec == CodecUse::Structured => vec![row.source],
        (EndKind::Source, Some(row)) => vec![row.source, READING],
        (EndKind::Sink, Some(row)) => vec![row.sink, WRITING, STREAM, QUEUE],
    }
}

/// The keys of `config` of a connector in a flow.
#[must_use]
pub(crate) fn configuration(kind: &str) -> &'static [Setting] {
    match registry().connector(kind, Notation::Tremor) {
        Some(row) if row.ends == Ends::Sink => row.sink,
        Some(row) => row.source,
        None => &[],
    }
}

/// The settings of an operator's definition, or of a window.
#[must_use]
pub(crate) fn of_definition(word: &str, kind: &str) -> &'static [Setting] {
    match word {
        "operator" => registry().operator(kind).map_or(&[], |kind| kind.settings),
        _ => WINDOW,
    }
}
