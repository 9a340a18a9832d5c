//! `metronome` and `crononome`: events at times.

use std::sync::Arc;

use temblor_declare::{
    Build, Built, CodecUse, Connector, Ends, Notation, Setting, Settings, Takes, Wrong,
};

use super::file::positive;
use super::without_cutting;
use crate::source::SourceConfig;
use crate::source::crononome::{Entry, Expression};

const INTERVAL: Setting =
    Setting::new("interval", Takes::Duration, "The time from one event to the next.").required();

/// A metronome in Temblor programs.
pub(super) static METRONOME: Connector = Connector {
    kind: "metronome",
    notation: Notation::Temblor,
    doc: "`{\"connector\": \"metronome\", \"ingest_ns\", \"id\"}` at intervals.",
    ends: Ends::Source,
    address: None,
    source: &[
        INTERVAL,
        Setting::new(
            "count",
            Takes::Whole { least: 0, most: u64::MAX },
            "How many events; without it they never end.",
        ),
    ],
    sink: &[],
    codec: CodecUse::Structured,
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &["source beat from metronome with interval = 10s end;\nbeat |> out;"],
    build: |what| {
        without_cutting(what, "metronome")?;
        metronome(what, what.settings.optional_whole("count"))
    },
};

/// A metronome in flows.
pub(super) static TREMOR_METRONOME: Connector = Connector {
    kind: "metronome",
    notation: Notation::Tremor,
    doc: "`{\"connector\": \"metronome\", \"ingest_ns\", \"id\"}` at intervals; a number is one of nanoseconds.",
    source: &[INTERVAL],
    examples: &[],
    build: |what| metronome(what, None),
    ..METRONOME
};

fn metronome(what: &Build<'_>, count: Option<u64>) -> Result<Built, Wrong> {
    let interval = positive(what, "interval")?;
    let config = SourceConfig::Metronome { interval, count };
    Ok(Built { source: Some(Arc::new(config)), ..Built::default() })
}

/// A time table in flows.
pub(super) static TREMOR_CRONONOME: Connector = Connector {
    kind: "crononome",
    notation: Notation::Tremor,
    doc: "Events at the times of a time table, in UTC: `{\"connector\": \"crononome\", \"ingest_ns\", \"id\", \"trigger\": \
          {\"name\", \"payload\"}}`.",
    ends: Ends::Source,
    address: None,
    source: &[Setting::new(
        "entries",
        Takes::Records(ENTRY),
        "The time table; at least one entry.",
    )
    .required()],
    sink: &[],
    codec: CodecUse::Structured,
    writes_lines: false,
    gives: &[],
    meta: &[],
    examples: &[],
    build: |what| {
        let entries = what.settings.records("entries");
        if entries.is_empty() {
            return Err(Wrong::at(
                "entries",
                "`entries` must not be empty",
                "name at least one time",
            ));
        }
        let entries = entries.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        let config = SourceConfig::Crononome(entries);
        Ok(Built { source: Some(Arc::new(config)), ..Built::default() })
    },
};

const ENTRY: &[Setting] = &[
    Setting::new("name", Takes::Text, "What the events of the entry are called.").required(),
    Setting::new("expr", Takes::Text, "Second minute hour day month weekday [year].").required(),
    Setting::new("payload", Takes::Any, "What the events carry."),
];

fn entry(settings: &Settings) -> Result<Entry, Wrong> {
    let expression = Expression::parse(settings.text("expr"));
    Ok(Entry {
        name: settings.text("name").to_string(),
        expression: expression
            .map_err(|reason| Wrong::at("entries", format!("`expr`: {reason}"), ""))?,
        payload: settings.json("payload").map(str::to_string),
    })
}
