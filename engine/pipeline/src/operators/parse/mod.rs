//! `parse`: text of a known format becomes fields. What does not parse is never lost: it goes to
//! `else`, or else to `err`, as it came, with the reason and the place.

mod first;
mod format;
mod grok;

use super::key::evaluate;
use super::place::Place;
use super::{OperatorKind, Supplies};
use crate::event::Event;
use crate::operator::{AnyOperator, ELSE, ERR, Emitter, OUT, Operator, Surroundings};
use format::{FORMATS, Format, Problem, Scratch};
use std::sync::Arc;
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::value::{Arena, Key, Kind, RecordBuilder, Value};

/// The field that is parsed when the event is a record and there is no `from`.
const MESSAGE: &str = "message";

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "stream::parse",
    word: Some("parse"),
    doc: "Reads text of a format. The text is the event itself, or its field `message` if the event \
          is a record, or the value of `from`. The result goes `into` a place; without one it \
          becomes the event if the event itself was the text, and else its fields are added to \
          those of the event. What does not parse goes to `else`, and to `err` when nothing is \
          connected there, as `{\"error\", \"at\", \"event\"}`: the reason, the place in the text \
          in bytes if there is one, and the event as it came. \
          Formats: `json`; `grok`, with named patterns of Logstash's library and your own; \
          `dissect`; `regex` with named groups; `kv`, pairs of key and value, with quotes and brackets, or after a pattern such as \
          `%{key}=%{val};` exactly so; \
          `csv`; `syslog` of RFC 3164 and RFC 5424; `cef`; `leef`; `logfmt`; `influx`. Of several \
          patterns the first that matches counts. In grok, `%{NUMBER:n:int}` gives an integer, \
          `%{NUMBER:[a][b]}` nested records, and a name that captures repeatedly an array; captures \
          that are empty are left out. `first of [grok \"…\", json, kv]` tries formats in their \
          order; of many patterns only those are tried whose literals are in the text, so that \
          thousands cost little more than a few. `as` says where the number of the pattern or \
          format that matched goes, from 0.",
    examples: &[
        "in |> parse json |> out",
        "in |> parse grok \"%{COMBINEDAPACHELOG}\" from event.message else bad |> out",
        "in |> parse dissect \"%{level} %{message}\" into event.log |> out",
        "in |> parse csv columns [\"user\", \"age\"] types {\"age\": \"int\"} |> out",
        "in |> parse first of [grok \"%{IP:ip} %{WORD:verb}\", json, kv] as event.kind else bad |> out",
        "in |> parse grok \"%{ID:id}\" with patterns = {\"ID\": \"[a-f0-9]+\"} end |> out",
    ],
    settings: SETTINGS,
    ports: &[ELSE],
    fallbacks: &[(ELSE, ERR)],
    build,
}];

const SETTINGS: &[Setting] = &[
    Setting::new(
        "format",
        Takes::Word(FORMATS),
        "The format; it is needed unless there is `first`.",
    )
    .in_chain(InChain::Positional),
    Setting::new(
        "pattern",
        Takes::Any,
        "The pattern of `grok`, `dissect`, `regex` and `kv`, or an array of patterns.",
    )
    .in_chain(InChain::Positional),
    Setting::new("from", Takes::Formula, "The text; by default the event, or its field `message`.")
        .in_chain(InChain::Clause("from")),
    Setting::new(
        "first",
        Takes::Any,
        "Formats to try in this order: records of `format`, `pattern` and other settings of the \
         format, or texts that are grok patterns. A chain writes `first of [grok \"…\", json]`.",
    )
    .in_chain(InChain::Clause("first")),
    Setting::new(
        "as",
        Takes::Place,
        "Where the number of the pattern or format that matched goes, from 0.",
    )
    .in_chain(InChain::Clause("as")),
    Setting::new("into", Takes::Place, "Where the result goes.").in_chain(InChain::Clause("into")),
    Setting::new("field_split", Takes::Text, "Characters between the pairs of `kv` (a blank)."),
    Setting::new("value_split", Takes::Text, "Characters between key and value of `kv` (`=`)."),
    Setting::new("trim_key", Takes::Text, "Characters removed from both ends of the keys of `kv`."),
    Setting::new(
        "trim_value",
        Takes::Text,
        "Characters removed from both ends of the values of `kv`.",
    ),
    Setting::new("prefix", Takes::Text, "What is put before every key of `kv`."),
    Setting::new(
        "columns",
        Takes::Texts,
        "Names of the columns of `csv`; without them a line becomes an array.",
    )
    .in_chain(InChain::Clause("columns")),
    Setting::new(
        "types",
        Takes::Map,
        "Types of columns of `csv`: `int`, `float`, `bool` or `string` by name.",
    )
    .in_chain(InChain::Clause("types")),
    Setting::new("separator", Takes::Text, "Between the fields of `csv`, one character (`,`)."),
    Setting::new("quote", Takes::Text, "Around fields of `csv`, one character (`\"`)."),
    Setting::new(
        "strict",
        Takes::Flag,
        "Whether doubtful text fails (default for `syslog`) or is read as well as possible \
         (default for `csv`).",
    ),
    Setting::new("patterns", Takes::Map, "Your own named patterns for `grok`."),
    Setting::new(
        "library",
        Takes::Word(&["legacy", "ecs"]),
        "The pattern library of `grok`: `legacy` (default; `clientip`) or `ecs` \
         (`[source][address]`).",
    ),
    Setting::new(
        "anchor",
        Takes::Word(&["search", "start", "whole"]),
        "Where a pattern of `grok` must match: anywhere (`search`, default), from the `start`, or \
         the `whole` text.",
    ),
    Setting::new("keep_empty", Takes::Flag, "Whether empty captures of `grok` become fields."),
];

#[derive(Debug)]
struct Parse {
    format: Format,
    from: Option<Arc<Formula>>,
    into: Option<Place>,
    /// Where the number of the pattern goes.
    number: Option<Place>,
}

fn build(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let format = Format::compile(settings)?;
    let from = settings.formula("from");
    let (into, number) = (Place::of(settings, "into")?, Place::of(settings, "as")?);
    Ok(Box::new(Parse { format, from, into, number }))
}

impl Parse {
    /// The text to parse, and whether it is all of the event.
    fn text<'a>(
        &'a self,
        event: &Event<'a>,
        around: &Surroundings<'a>,
    ) -> Result<(&'a str, bool), Problem> {
        let (value, is_event) = match &self.from {
            Some(formula) => {
                let value = evaluate(formula, event, around);
                (value.map_err(|error| Problem::new(error.message()))?, false)
            }
            None if event.value.kind() == Kind::Record => {
                let message = event.value.get(&Key::new(MESSAGE));
                (message.ok_or_else(|| Problem::new("the event has no field `message`"))?, false)
            }
            None => (event.value, true),
        };
        match value {
            Value::Str(text) => Ok((text, is_event)),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok((text, is_event)),
                Err(error) => Err(Problem::new("the text is not UTF-8").at(error.valid_up_to())),
            },
            other => Err(Problem::new(format!("expected text, found {}", other.kind().name()))),
        }
    }

    fn parse<'a>(
        &'a self,
        scratch: &mut Scratch,
        event: Event<'a>,
        around: &Surroundings<'a>,
    ) -> Result<Event<'a>, Problem> {
        let (text, is_event) = self.text(&event, around)?;
        let (result, number) = self.format.read(text, scratch, around)?;
        let event = self.place(event, (result, is_event), around)?;
        match &self.number {
            Some(place) => place
                .put(around.arena(), event, Value::UInt(number as u64))
                .map_err(|error| Problem::new(error.message())),
            None => Ok(event),
        }
    }

    /// The event with the result; `is_event`: the text was all of the event.
    fn place<'a>(
        &'a self,
        event: Event<'a>,
        (result, is_event): (Value<'a>, bool),
        around: &Surroundings<'a>,
    ) -> Result<Event<'a>, Problem> {
        match &self.into {
            Some(place) if is_event && event.value.kind() != Kind::Record => {
                let fresh =
                    event.with_value(RecordBuilder::with_capacity(around.arena(), 0).finish());
                place
                    .put(around.arena(), fresh, result)
                    .map_err(|error| Problem::new(error.message()))
            }
            Some(place) => place
                .put(around.arena(), event, result)
                .map_err(|error| Problem::new(error.message())),
            None if is_event => Ok(event.with_value(result)),
            None => merge(event, result, around.arena()),
        }
    }
}

/// The event with the fields of the result added; an event that is no record is replaced.
fn merge<'a>(event: Event<'a>, result: Value<'a>, arena: &'a Arena) -> Result<Event<'a>, Problem> {
    let Some(old) = event.value.as_record(arena) else { return Ok(event.with_value(result)) };
    let Some(new) = result.as_record(arena) else {
        let kind = result.kind().name();
        return Err(Problem::new(format!(
            "the text is of kind {kind}: say `into` which field it goes"
        )));
    };
    let mut merged = RecordBuilder::from_record(arena, old, new.len());
    new.iter().for_each(|(key, value)| merged.insert(key, value));
    Ok(event.with_value(merged.finish()))
}

/// The event that tells of a failure.
#[cold]
fn failure<'a>(event: Event<'a>, problem: &Problem, arena: &'a Arena) -> Event<'a> {
    let mut told = arena.record_builder(3);
    told.append("error", Value::Str(arena.str(&problem.reason)));
    if let Some(at) = problem.at {
        told.append("at", Value::UInt(at as u64));
    }
    told.append("event", event.value);
    event.with_value(told.finish())
}

impl Operator for Parse {
    /// Memory that matching uses again and again.
    type State = Scratch;

    fn start(&self) -> Scratch {
        Scratch::new()
    }

    fn is_stateful(&self) -> bool {
        false
    }

    fn process<'a>(
        &'a self,
        scratch: &mut Scratch,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        match self.parse(scratch, event, around) {
            Ok(event) => out.emit(OUT, event),
            Err(problem) => out.emit(ELSE, failure(event, &problem, around.arena())),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
