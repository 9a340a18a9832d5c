//! `enrich`: adds what a table knows about a value of the event. The table is in memory before the
//! first event; the step itself touches no file.

use super::key::evaluate;
use super::place::Place;
use super::{OperatorKind, Supplies};
use crate::event::Event;
use crate::lookup::{Lookup, Matching, NamedTables, Plan};
use crate::operator::{AnyOperator, ELSE, Emitter, OUT, Operator, Surroundings, Usage};
use std::sync::Arc;
use std::time::Duration;
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::Tables;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::value::{Frozen, Key, RecordBuilder, Value};

/// How often a file is looked at, at most.
const EVERY_MIN: Duration = Duration::from_millis(1);

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "stream::enrich",
    word: Some("enrich"),
    doc: "Looks a value (`from`) up in a table and puts the row `into` a place, or adds those of \
          its fields that the event has not. The file is CSV with a line of column names (`.csv`, \
          `.tsv`), an array of records or a record by key (`.json`), or a record a line (`.ndjson`, \
          `.jsonl`). `key` names the column that is looked up, by default the first. Modes: `exact`; \
          `cidr` for networks, of which the longest that holds the address counts; `regex` for \
          expressions, of which the first that matches counts; `range` for numbers and IPv4 \
          addresses from `key` up to and with `until`. A value that is not in the table gets \
          `otherwise`, or its event goes to `else`, or on as it is when nothing is connected there. \
          With `every` the file is read again when it has changed.",
    examples: &[
        "in |> enrich \"hosts.csv\" from event.ip into event.host |> out",
        "in |> enrich \"nets.csv\" from event.ip mode cidr columns \"site\" into event.site |> out",
    ],
    settings: &[
        Setting::new(
            "file",
            Takes::Text,
            "The path of the table, or the name of one that the program declares.",
        )
        .in_chain(InChain::Positional)
        .required(),
        Setting::new("from", Takes::Formula, "What is looked up.")
            .in_chain(InChain::Clause("from"))
            .required(),
        Setting::new("into", Takes::Place, "Where the result goes.")
            .in_chain(InChain::Clause("into")),
        Setting::new("key", Takes::Text, "The column of the keys (the first).")
            .in_chain(InChain::Clause("key")),
        Setting::new("until", Takes::Text, "The column of the ends of ranges.")
            .in_chain(InChain::Clause("until")),
        Setting::new(
            "mode",
            Takes::Word(&["exact", "cidr", "regex", "range"]),
            "How keys are compared (`exact`).",
        )
        .in_chain(InChain::Clause("mode")),
        Setting::new(
            "columns",
            Takes::Any,
            "The columns of the result: an array of names, or one name for its value alone.",
        )
        .in_chain(InChain::Clause("columns")),
        Setting::new("otherwise", Takes::Any, "The result for values that are not in the table."),
        Setting::new("every", Takes::Duration, "How often to look whether the file has changed.")
            .in_chain(InChain::Clause("every")),
    ],
    ports: &[ELSE],
    fallbacks: &[(ELSE, OUT)],
    build,
}];

/// What of a row is wanted.
#[derive(Debug)]
enum Columns {
    All,
    One(String),
    Some(Vec<String>),
}

#[derive(Debug)]
struct Enrich {
    lookup: Arc<Lookup>,
    from: Arc<Formula>,
    into: Option<Place>,
    columns: Columns,
    otherwise: Option<Arc<Frozen>>,
}

fn build(settings: &Settings, supplies: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let from = settings.formula("from").expect("what is looked up is required");
    let into = Place::of(settings, "into")?;
    let columns = columns(settings)?;
    if into.is_none() && matches!(columns, Columns::One(_)) {
        return Err(settings.error("columns", "a single value needs a place: `into event.site`"));
    }
    let every = settings.optional_duration("every").map(|every| every.max(EVERY_MIN));
    let lookup = match declared(settings, &supplies.tables)? {
        Some(lookup) => lookup,
        None => {
            let opened = Lookup::open(plan(settings)?, every);
            opened.map_err(|reason| unusable(settings, &supplies.tables, &reason))?
        }
    };
    let otherwise = settings.value("otherwise");
    Ok(Box::new(Enrich { lookup, from, into, columns, otherwise }))
}

/// The table that the program declares by the name that stands in the place of a file.
fn declared(settings: &Settings, tables: &NamedTables) -> Result<Option<Arc<Lookup>>, Diagnostic> {
    let name = settings.text("file");
    let Some(lookup) = tables.get(name) else { return Ok(None) };
    for setting in ["key", "until", "mode", "every"] {
        if settings.has(setting) {
            let message = format!("`{setting}` belongs to the declaration of the table `{name}`");
            return Err(settings.error(setting, message));
        }
    }
    Ok(Some(lookup.clone()))
}

fn unusable(settings: &Settings, tables: &NamedTables, reason: &str) -> Diagnostic {
    let error = settings.error("file", format!("cannot use the table: {reason}"));
    error.with_nearest(settings.text("file"), tables.names())
}

fn plan(settings: &Settings) -> Result<Plan, Diagnostic> {
    let matching = match settings.optional_text("mode") {
        Some("cidr") => Matching::Network,
        Some("regex") => Matching::Pattern,
        Some("range") => Matching::Range,
        _ => Matching::Exact,
    };
    let until = settings.optional_text("until").map(str::to_string);
    match (matching, &until) {
        (Matching::Range, None) => {
            let error = settings.error("mode", "mode `range` needs the column of the ends");
            Err(error.with_help("add `until \"to\"`"))
        }
        (Matching::Exact | Matching::Network | Matching::Pattern, Some(_)) => {
            Err(settings.error("until", "`until` belongs to mode `range`"))
        }
        _ => Ok(Plan {
            path: settings.text("file").into(),
            matching,
            key: settings.optional_text("key").map(str::to_string),
            until,
        }),
    }
}

fn columns(settings: &Settings) -> Result<Columns, Diagnostic> {
    let Some(columns) = settings.value("columns") else { return Ok(Columns::All) };
    let columns = columns.get();
    if let Some(name) = columns.as_str() {
        return Ok(Columns::One(name.to_string()));
    }
    let name = |at| columns.at(at).and_then(Value::as_str).map(str::to_string);
    let names: Option<Vec<_>> = columns.size().and_then(|size| (0..size).map(name).collect());
    names
        .map(Columns::Some)
        .ok_or_else(|| settings.error("columns", "`columns` must be a name or an array of names"))
}

impl Enrich {
    /// The wanted part of a row.
    fn choose<'a>(&'a self, row: Value<'a>, around: &Surroundings<'a>) -> Value<'a> {
        match &self.columns {
            Columns::All => row,
            Columns::One(name) => row.get(&Key::new(name)).unwrap_or(Value::Null),
            Columns::Some(names) => {
                let mut record = around.arena().record_builder(names.len());
                for name in names {
                    if let Some(value) = row.get(&Key::new(name)) {
                        record.insert(name, value);
                    }
                }
                record.finish()
            }
        }
    }

    fn put<'a>(
        &'a self,
        event: Event<'a>,
        found: Value<'a>,
        around: &Surroundings<'a>,
    ) -> Result<Event<'a>, EvalError> {
        let arena = around.arena();
        if let Some(place) = &self.into {
            return place.put(arena, event, found);
        }
        match (event.value.as_record(arena), found.as_record(arena)) {
            (Some(record), Some(found)) => {
                let mut record = RecordBuilder::from_record(arena, record, found.len());
                for (key, value) in found.iter() {
                    if !record.contains(key) {
                        record.append(key, value);
                    }
                }
                Ok(event.with_value(record.finish()))
            }
            _ => Err(EvalError::new("E0609", "only the fields of records can be put together")
                .with_help("say `into` which place the result goes")),
        }
    }
}

impl Operator for Enrich {
    type State = ();

    fn start(&self) {}

    fn process<'a>(
        &'a self,
        (): &mut (),
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let key = evaluate(&self.from, &event, around)?;
        let found = match self.lookup.find(key, around.arena()) {
            Some(row) => self.choose(row, around),
            None => match &self.otherwise {
                Some(otherwise) => otherwise.get(),
                None => {
                    out.emit(ELSE, event);
                    return Ok(());
                }
            },
        };
        out.emit(OUT, self.put(event, found, around)?);
        Ok(())
    }

    fn usage(&self, (): &()) -> Option<Usage> {
        let (rows, bytes) = self.lookup.size();
        Some(Usage { entries: rows as u64, bytes: bytes as u64, evicted: 0 })
    }
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, refusal};

    /// A table in a file of its own; the path as a setting.
    fn table(name: &str) -> String {
        let path =
            std::env::temp_dir().join(format!("temblor-enrich-{}-{name}", std::process::id()));
        std::fs::write(&path, "ip,site,rack\n10.0.0.0/8,lab,7\n10.1.0.0/16,hall,9\n").unwrap();
        format!("{path:?}")
    }

    #[test]
    fn adds_what_the_table_knows() {
        let file = table("a.csv");
        let settings = [("file", file.as_str()), ("from", "event.ip"), ("mode", "cidr")];
        let with = |more: &[(&str, &str)], event: &str| {
            Harness::new("enrich", &[&settings[..], more].concat()).send(0, event).join(",")
        };
        let event = r#"{"ip":"10.1.2.3"}"#;
        let merged = r#"out {"ip":"10.1.2.3","site":"hall","rack":"9"}"#;
        assert_eq!(with(&[], event), merged);
        let into = ("into", "event.at");
        let nested = with(&[into, ("columns", r#"["rack", "no"]"#)], event);
        assert_eq!(nested, r#"out {"ip":"10.1.2.3","at":{"rack":"9"}}"#);
        let one = with(&[into, ("columns", r#""site""#)], event);
        assert_eq!(one, r#"out {"ip":"10.1.2.3","at":"hall"}"#);
        let unknown = r#"{"ip":"9.9.9.9"}"#;
        assert_eq!(with(&[], unknown), r#"else {"ip":"9.9.9.9"}"#);
        let otherwise = with(&[into, ("otherwise", "\"?\"")], unknown);
        assert_eq!(otherwise, r#"out {"ip":"9.9.9.9","at":"?"}"#);
        assert!(with(&[], "{}").starts_with("err "));
        let usage = Harness::new("enrich", &settings).usage();
        assert_eq!(usage.entries, 2);
        std::fs::remove_file(file.trim_matches('"')).unwrap();
    }

    #[test]
    fn wrong_settings_are_refused() {
        let from = ("from", "event.ip");
        let missing = [("file", r#""/no/such.csv""#), from];
        assert!(refusal("enrich", &missing).contains("cannot use the table"));
        let range = [("file", r#""x.csv""#), from, ("mode", "range")];
        assert!(refusal("enrich", &range).contains("needs the column"));
        let until = [("file", r#""x.csv""#), from, ("until", "\"b\"")];
        assert!(refusal("enrich", &until).contains("belongs to mode `range`"));
        let one = [("file", r#""x.csv""#), from, ("columns", "\"b\"")];
        assert!(refusal("enrich", &one).contains("needs a place"));
        assert!(refusal("enrich", &[("file", r#""x.csv""#)]).contains("`from` is missing"));
    }
}
