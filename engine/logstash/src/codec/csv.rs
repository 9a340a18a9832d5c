//! `csv`: what is read goes through the filter of that name; what is written is a row for each event.

use crate::options::Arguments;
use crate::program::{Program, ProgramBuilder};
use crate::settings::Settings;
use crate::syntax::tree::{Plugin, Statement, Value, ValueKind, Word};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// The csv filter over the message, which then goes away.
pub(super) fn reader(arguments: &mut Arguments<'_>) -> Option<Program> {
    let span = arguments.span;
    let own = ["charset", "include_headers", "id", "enable_metric"];
    let word = |text: &str| Word { text: text.to_string(), span };
    let mut options: Vec<(Word, Value)> = arguments
        .entries()
        .filter(|(name, _)| !own.contains(name))
        .map(|(name, setting)| (word(name), setting.tree()))
        .collect();
    let text = |text: &str| Value { span, kind: ValueKind::Text(text.to_string()) };
    options.push((word("source"), text("message")));
    options.push((word("remove_field"), text("message")));
    let plugin = Plugin { name: word("csv"), options, span };
    let settings = Settings { ecs: arguments.ecs, ..Settings::default() };
    let mut diagnostics = Vec::new();
    let mut builder = ProgramBuilder::new(&settings, &mut diagnostics);
    builder.section(&[Statement::Plugin(plugin)]);
    let program = builder.finish();
    let is_good = diagnostics.is_empty();
    diagnostics.into_iter().for_each(|one| arguments.complain(one));
    is_good.then_some(program)
}

/// The names of the columns; without any, those of the event's fields.
pub(super) fn names(columns: &[(String, FieldRef)], event: &LogEvent<'_>) -> Vec<String> {
    match columns {
        [] => event.data.iter().map(|(name, _)| name.to_string()).collect(),
        columns => columns.iter().map(|(name, _)| name.clone()).collect(),
    }
}

/// What stands in the columns; without any, in all fields.
pub(super) fn texts(columns: &[(String, FieldRef)], event: &LogEvent<'_>) -> Vec<String> {
    let text = |value: Option<&Datum<'_>>| value.map(Datum::text).unwrap_or_default();
    match columns {
        [] => event.data.iter().map(|(_, value)| text(Some(value))).collect(),
        columns => columns.iter().map(|(_, field)| text(event.get(field))).collect(),
    }
}

pub(super) fn push_row(out: &mut String, cells: Vec<String>, (separator, quote): (&str, char)) {
    for (at, cell) in cells.iter().enumerate() {
        out.push_str(if at > 0 { separator } else { "" });
        push_csv(out, cell, separator, quote);
    }
    out.push('\n');
}

fn push_csv(out: &mut String, text: &str, separator: &str, quote: char) {
    let needs = text.contains([quote, '\n', '\r']) || text.contains(separator);
    if !needs {
        out.push_str(text);
        return;
    }
    out.push(quote);
    for character in text.chars() {
        if character == quote {
            out.push(quote);
        }
        out.push(character);
    }
    out.push(quote);
}
