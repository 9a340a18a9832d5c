//! `csv`: reads a field as one line of separated values.

mod moment;

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option};
use crate::saved;
use std::any::Any;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_ruby::plain::csv_cells as cells;
use temblor_ruby::{read_float, read_integer};

/// `csv`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "csv",
    doc: "Reads a field as one line of separated values.",
    options: &[
        option("source", Takes::Text, "The line."),
        option("target", Takes::Text, "Where the fields go."),
        option("columns", Takes::List, "The names of the columns."),
        option("separator", Takes::Text, "What stands between values."),
        option("quote_char", Takes::Text, "What stands around values."),
        option("autogenerate_column_names", Takes::Flag, "Whether further columns get names."),
        option("autodetect_column_names", Takes::Flag, "Whether the first line holds the names."),
        option("skip_header", Takes::Flag, "Whether a line of the column names is left out."),
        option("skip_empty_columns", Takes::Flag, "Whether empty values are left out."),
        option("skip_empty_rows", Takes::Flag, "Whether empty lines get a tag."),
        option("convert", Takes::Hash, "The types of columns."),
    ],
    make,
};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Integer,
    Float,
    Day,
    Moment,
    Boolean,
}

#[derive(Debug)]
struct Csv {
    source: FieldRef,
    target: Option<FieldRef>,
    columns: Vec<String>,
    separator: String,
    quote: char,
    autogenerate: bool,
    autodetect: bool,
    skip_header: bool,
    skip_empty_columns: bool,
    skip_empty_rows: bool,
    convert: Vec<(String, Kind)>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let mut convert = Vec::new();
    for (column, value) in arguments.pairs("convert") {
        let kind = match value.text().unwrap_or_default() {
            "integer" => Kind::Integer,
            "float" => Kind::Float,
            "date" => Kind::Day,
            "date_time" => Kind::Moment,
            "boolean" => Kind::Boolean,
            _ => {
                let wanted = "one of integer, float, date, date_time, boolean";
                arguments.complain(complain::bad_value("convert", value.span, wanted));
                continue;
            }
        };
        convert.push((column, kind));
    }
    let columns = arguments.words("columns").unwrap_or_default();
    let separator = arguments.text("separator").unwrap_or_else(|| ",".to_string());
    if separator.contains("\\t") && !arguments.settings.escapes {
        let span = arguments.place("separator");
        arguments.explain(complain::two_characters("separator", span));
    }
    let quote = arguments.text("quote_char").unwrap_or_else(|| "\"".to_string());
    Some(Box::new(Csv {
        source: arguments.field("source", "message")?,
        target: arguments.field_or_none("target"),
        columns,
        separator,
        quote: quote.chars().next().unwrap_or('\0'),
        autogenerate: arguments.flag("autogenerate_column_names", true),
        autodetect: arguments.flag("autodetect_column_names", false),
        skip_header: arguments.flag("skip_header", false),
        skip_empty_columns: arguments.flag("skip_empty_columns", false),
        skip_empty_rows: arguments.flag("skip_empty_rows", false),
        convert,
    }))
}

/// The column names that the first line gave.
type Header = Option<Vec<String>>;

impl Filter for Csv {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        self.autodetect.then(|| Box::new(None::<Vec<String>>) as Box<dyn Any + Send>)
    }

    fn save<'a>(&self, memory: &dyn Any, arena: &'a Arena) -> Datum<'a> {
        match memory.downcast_ref::<Option<Vec<String>>>() {
            Some(Some(names)) => {
                Datum::List(names.iter().map(|name| Datum::Str(arena.str(name))).collect())
            }
            _ => Datum::Null,
        }
    }

    fn restore(&self, saved: &Datum<'_>) -> Option<Box<dyn Any + Send>> {
        let names: Option<Vec<String>> = match saved {
            Datum::Null => None,
            names => Some(saved::list(Some(names))?.iter().map(Datum::text).collect()),
        };
        Some(Box::new(names))
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let arena = turn.arena;
        let text = match event.get(&self.source) {
            None | Some(Datum::Null | Datum::Bool(false)) => return Outcome::Unmatched,
            Some(Datum::Str("")) if self.skip_empty_rows => {
                event.tag("_csvskippedemptyfield");
                return Outcome::Unmatched;
            }
            Some(Datum::Str(text)) => *text,
            Some(_) => "",
        };
        // Text without a line, and what is no text, have no values.
        let Some(values) =
            (!text.is_empty()).then(|| cells(text, &self.separator, self.quote)).flatten()
        else {
            event.tag("_csvparsefailure");
            return Outcome::Unmatched;
        };
        let mut columns: &[String] = &self.columns;
        let learned;
        if self.autodetect && self.columns.is_empty() {
            let header: &mut Header =
                turn.memory.downcast_mut().expect("the memory of this filter");
            match header {
                None => {
                    let names = values.into_iter().map(Option::unwrap_or_default);
                    *header = Some(names.collect());
                    event.cancelled = true;
                    return Outcome::Unmatched;
                }
                Some(names) => {
                    learned = names.clone();
                    columns = &learned;
                }
            }
        }
        let is_header = values.iter().map(Option::as_deref).eq(columns.iter().map(|c| Some(&**c)));
        if self.skip_header && !columns.is_empty() && is_header {
            event.cancelled = true;
            return Outcome::Unmatched;
        }
        for (at, value) in values.into_iter().enumerate() {
            if self.skip_empty_columns && value.as_deref().is_none_or(str::is_empty) {
                continue;
            }
            let name = match columns.get(at) {
                Some(name) => name.clone(),
                None if self.autogenerate => format!("column{}", at + 1),
                None => continue,
            };
            let Ok(field) = FieldRef::parse(&name) else { continue };
            let field = match &self.target {
                Some(target) => target.join(&field.steps),
                None => field,
            };
            let value =
                value.map_or(Datum::Null, |text| self.convert(&name, arena.str(&text), arena));
            if event.set(&field, value, arena).is_err() {
                event.tag("_csvparsefailure");
                return Outcome::Unmatched;
            }
        }
        Outcome::Matched
    }
}

impl Csv {
    /// A value of the type of its column; one that does not fit stays text.
    fn convert<'a>(&self, column: &str, text: &'a str, arena: &'a Arena) -> Datum<'a> {
        let kind = self.convert.iter().find(|(name, _)| name == column).map(|(_, kind)| *kind);
        let converted = match kind {
            None => None,
            Some(Kind::Integer) => read_integer(text, None).map(Datum::Int),
            Some(Kind::Float) => read_float(text).map(Datum::Float),
            Some(Kind::Day) => moment::day(text).map(Datum::Time),
            Some(Kind::Moment) => moment::moment(text).map(Datum::Time),
            Some(Kind::Boolean) => Some(match text.trim().to_lowercase().as_str() {
                "true" => Datum::Bool(true),
                "false" => Datum::Bool(false),
                other => Datum::Str(arena.str(other)),
            }),
        };
        converted.unwrap_or(Datum::Str(text))
    }
}
