//! From events to bytes. What an encoder gives is written as it is; a codec that ends events with a
//! newline has put it there.

use super::{cef, csv, rubydebug};
use crate::complain;
use crate::options::Arguments;
use chrono::{DateTime, Utc};
use std::sync::atomic::{AtomicBool, Ordering};
use temblor_codec::Format;
use temblor_lang::value::{Arena, Value};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// How an output writes events.
#[derive(Debug)]
pub enum Encoder {
    /// `json`, `json_lines`: what ends it.
    Json(String),
    /// `line`, `plain`: a text, and what ends it.
    Text(Template, String),
    /// A command, for a shell that reads one on each line.
    Shell(Template),
    /// `rubydebug`; whether @metadata is shown.
    RubyDebug(bool),
    /// `dots`
    Dots,
    /// `csv`: the columns, separator and quote.
    Csv {
        /// Fields in their order, and how they are written.
        columns: Vec<(String, FieldRef)>,
        /// Between them.
        separator: String,
        /// Around texts that need it.
        quote: char,
        /// Whether the names of the columns are still to be written in front.
        headless: AtomicBool,
    },
    /// `cef`
    Cef(Box<cef::Cef>),
    /// `msgpack`
    MessagePack,
    /// `es_bulk`: an action, and the document.
    Bulk,
}

/// What an encoder gives.
pub(crate) type Encoded<'a> = Value<'a>;

/// What plain shows of an event when nothing else is said.
const PLAIN: &str = "%{+yyyy-MM-dd'T'HH:mm:ss.SSS}Z %{host} %{message}";

impl Encoder {
    /// The encoder that a plugin's option `codec` names, or the usual one; `None` when it is wrong or not
    /// here, which has been said.
    pub(crate) fn of(arguments: &mut Arguments<'_>, usual: &str) -> Option<Self> {
        super::with_codec(arguments, usual, Self::compile)
    }

    fn compile(name: &str, arguments: &mut Arguments<'_>) -> Option<Self> {
        let format = |arguments: &Arguments<'_>| {
            Template::parse(arguments.text("format").as_deref().unwrap_or(PLAIN))
        };
        Some(match name {
            // Logstash writes nothing between documents, so that nobody can tell them apart again.
            "json" if !arguments.settings.explains => Encoder::Json(String::new()),
            "json" => Encoder::Json(newline()),
            "json_lines" => Encoder::Json(arguments.text("delimiter").unwrap_or_else(newline)),
            "line" | "java_line" => {
                let delimiter = arguments.text("delimiter").unwrap_or_else(newline);
                Encoder::Text(format(arguments), delimiter)
            }
            "rubydebug" => Encoder::RubyDebug(arguments.flag("metadata", false)),
            "dots" | "jdots" => Encoder::Dots,
            "csv" => {
                let mut columns = Vec::new();
                for (text, span) in arguments.texts("columns").unwrap_or_default() {
                    match FieldRef::parse(&text) {
                        Ok(field) => columns.push((text, field)),
                        Err(reason) => {
                            arguments.complain(complain::bad_reference(&text, span, reason))
                        }
                    }
                }
                let quote = arguments.text("quote_char").and_then(|text| text.chars().next());
                let separator = arguments.text("separator").unwrap_or_else(|| ",".to_string());
                let headless = AtomicBool::new(arguments.flag("include_headers", false));
                Encoder::Csv { columns, separator, quote: quote.unwrap_or('"'), headless }
            }
            "cef" => Encoder::Cef(Box::new(cef::Cef::compile(arguments)?)),
            "msgpack" => Encoder::MessagePack,
            "es_bulk" => Encoder::Bulk,
            _ => Encoder::Text(format(arguments), String::new()),
        })
    }

    /// Whether it writes JSON as the engine does by itself, an event a line.
    #[must_use]
    pub(crate) fn is_plain_json(&self) -> bool {
        matches!(self, Encoder::Json(end) if end == "\n")
    }

    /// Whether what it wrote before matters.
    #[must_use]
    pub(crate) fn is_stateful(&self) -> bool {
        matches!(self, Encoder::Csv { headless, .. } if headless.load(Ordering::Relaxed))
    }

    /// The bytes of an event.
    #[must_use]
    pub(crate) fn encode<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Encoded<'a> {
        let mut out = String::new();
        match self {
            Encoder::Json(end) => {
                push_document(&mut out, event);
                out.push_str(end);
            }
            Encoder::Text(template, end) => {
                out.push_str(template.render(event, arena, now));
                out.push_str(end);
            }
            Encoder::Shell(command) => push_command(&mut out, command.render(event, arena, now)),
            Encoder::RubyDebug(metadata) => {
                let shown = *metadata && !event.metadata.is_empty();
                let metadata = shown.then_some(&event.metadata);
                rubydebug::push_event(&mut out, &event.data, metadata);
            }
            Encoder::Dots => return Value::Str("."),
            Encoder::Csv { columns, separator, quote, headless } => {
                let style = (separator.as_str(), *quote);
                if headless.swap(false, Ordering::Relaxed) {
                    csv::push_row(&mut out, csv::names(columns, event), style);
                }
                csv::push_row(&mut out, csv::texts(columns, event), style);
            }
            Encoder::Cef(cef) => cef.encode(event, arena, now, &mut out),
            Encoder::MessagePack => {
                let mut bytes = Vec::new();
                let value = event.data.to_value(arena);
                // Every value of an event has a form in MessagePack.
                let _ = Format::MessagePack.encode(value, 0, &mut bytes);
                return Value::Bytes(arena.bytes(&bytes));
            }
            Encoder::Bulk => super::bulk::push(&mut out, event),
        }
        Value::Str(arena.str(&out))
    }
}

fn newline() -> String {
    "\n".to_string()
}

fn push_document(out: &mut String, event: &LogEvent<'_>) {
    Datum::Map(event.data.clone()).push_json(out);
}

/// A line that runs a command in a shell of its own: whatever it holds, the commands behind it run.
fn push_command(out: &mut String, command: &str) {
    out.push_str("sh -c '");
    // What no argument can hold would end it.
    out.push_str(&command.replace('\'', "'\\''").replace('\0', ""));
    out.push_str("' < /dev/null\n");
}
