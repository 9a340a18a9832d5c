//! `ruby`: the one-line idioms of inline code, run natively. Code beyond them is named as missing when
//! the configuration is loaded; no Ruby is run.

mod read;

use super::{Declaration, Filter, Outcome, Turn};
use crate::logstash::complain;
use crate::logstash::datum::Datum;
use crate::logstash::event::LogEvent;
use crate::logstash::options::{Arguments, Takes, option};
use crate::logstash::reference::FieldRef;

/// `ruby`
pub static DECLARATION: Declaration = Declaration {
    name: "ruby",
    doc: "Runs the usual one-line idioms of Ruby.",
    options: &[
        option("code", Takes::Text, "The code."),
        option("init", Takes::Text, "Code that is run at the start."),
        option("path", Takes::Text, "A file of code."),
        option("script_params", Takes::Hash, "Parameters of the file."),
        option("tag_on_exception", Takes::Text, "The tag that says that it failed."),
        option("tag_with_exception_message", Takes::Flag, "Accepted."),
    ],
    make,
};

#[derive(Debug)]
struct Ruby {
    statements: Vec<Statement>,
    tag: String,
}

/// One statement.
#[derive(Debug)]
enum Statement {
    /// `event.set("a", …)`
    Set(FieldRef, Expr),
    /// `event.remove("a")`
    Remove(FieldRef),
    /// `event.tag("a")`
    Tag(String),
    /// `event.cancel`
    Cancel,
    /// `new_event_block.call(event.clone)`
    Emit,
    /// `raise "…"`
    Raise,
}

/// A value and what is done to it, from left to right.
#[derive(Debug)]
struct Expr {
    start: Start,
    calls: Vec<Call>,
}

#[derive(Debug)]
enum Start {
    /// `event.get("a")`
    Field(FieldRef),
    /// `"a"`
    Text(String),
    /// `1`, `1.5`, `true`, `nil`
    Constant(Datum<'static>),
}

#[derive(Debug)]
enum Call {
    ToInteger,
    ToFloat,
    ToText,
    Upcase,
    Downcase,
    Capitalize,
    Strip,
    Length,
    First,
    Last,
    Unique,
    Compact,
    Reverse,
    Split(String),
    Join(String),
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let code = arguments.text("code").unwrap_or_default();
    let init = arguments.text("init").unwrap_or_default();
    let harmless = init.trim().is_empty() || init.trim_start().starts_with("require");
    let statements =
        if harmless && arguments.get("path").is_none() { read::read(&code) } else { None };
    let Some(statements) = statements else {
        let help =
            "only the usual one-line idioms are run; --skip-missing passes events on unchanged";
        let span = arguments.span;
        arguments.complain(complain::missing_plugin("filter", "ruby (this code)", span, help));
        return None;
    };
    let tag = arguments.text("tag_on_exception").unwrap_or_else(|| "_rubyexception".to_string());
    Some(Box::new(Ruby { statements, tag }))
}

/// The code raised an exception.
struct Raised;

impl Filter for Ruby {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        for statement in &self.statements {
            if statement.run(event, turn).is_err() {
                event.tag(&self.tag);
                return Outcome::Unmatched;
            }
        }
        Outcome::Matched
    }
}

impl Statement {
    fn run<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Result<(), Raised> {
        match self {
            Statement::Set(field, expr) => {
                let value = expr.value(event, turn)?;
                event.set(field, value, turn.arena).map_err(|_| Raised)?;
            }
            Statement::Remove(field) => drop(event.remove(field)),
            Statement::Tag(tag) => event.tag(tag),
            Statement::Cancel => event.cancelled = true,
            Statement::Emit => turn.emitted.push(event.clone()),
            Statement::Raise => return Err(Raised),
        }
        Ok(())
    }
}

impl Expr {
    fn value<'a>(&'a self, event: &LogEvent<'a>, turn: &Turn<'a, '_>) -> Result<Datum<'a>, Raised> {
        let start = match &self.start {
            Start::Field(field) => event.value_of(field).unwrap_or_default(),
            Start::Text(text) => Datum::Str(text),
            Start::Constant(value) => value.clone(),
        };
        self.calls.iter().try_fold(start, |value, call| call.run(value, turn))
    }
}

impl Call {
    fn run<'a>(&'a self, value: Datum<'a>, turn: &Turn<'a, '_>) -> Result<Datum<'a>, Raised> {
        let arena = turn.arena;
        Ok(match (self, value) {
            (Call::ToInteger, Datum::Null) => Datum::Int(0),
            (Call::ToInteger, Datum::Float(number)) => Datum::Int(number as i64),
            (Call::ToInteger, value @ (Datum::Int(_) | Datum::UInt(_))) => value,
            (Call::ToInteger, Datum::Str(text)) => Datum::Int(super::grok::leading_integer(text)),
            (Call::ToFloat, Datum::Null) => Datum::Float(0.0),
            (Call::ToFloat, Datum::Int(number)) => Datum::Float(number as f64),
            (Call::ToFloat, value @ Datum::Float(_)) => value,
            (Call::ToFloat, Datum::Str(text)) => Datum::Float(super::grok::leading_float(text)),
            (Call::ToText, Datum::List(_) | Datum::Map(_)) => return Err(Raised),
            (Call::ToText, value) => Datum::Str(value.text_in(arena)),
            (Call::Upcase, Datum::Str(text)) => Datum::Str(arena.str(&text.to_uppercase())),
            (Call::Downcase, Datum::Str(text)) => Datum::Str(arena.str(&text.to_lowercase())),
            (Call::Capitalize, Datum::Str(text)) => {
                Datum::Str(arena.str(&super::mutate::capitalize(text)))
            }
            (Call::Strip, Datum::Str(text)) => Datum::Str(text.trim()),
            (Call::Length, Datum::Str(text)) => Datum::whole(text.chars().count() as u64),
            (Call::Length, Datum::List(items)) => Datum::whole(items.len() as u64),
            (Call::Length, Datum::Map(map)) => Datum::whole(map.len() as u64),
            (Call::First, Datum::List(items)) => items.into_iter().next().unwrap_or_default(),
            (Call::Last, Datum::List(items)) => items.into_iter().next_back().unwrap_or_default(),
            (Call::Compact, Datum::List(mut items)) => {
                items.retain(|item| *item != Datum::Null);
                Datum::List(items)
            }
            (Call::Unique, Datum::List(items)) => {
                let mut kept: Vec<Datum<'a>> = Vec::with_capacity(items.len());
                items.into_iter().for_each(|item| {
                    if !kept.contains(&item) {
                        kept.push(item);
                    }
                });
                Datum::List(kept)
            }
            (Call::Reverse, Datum::List(mut items)) => {
                items.reverse();
                Datum::List(items)
            }
            (Call::Reverse, Datum::Str(text)) => {
                Datum::Str(arena.str(&text.chars().rev().collect::<String>()))
            }
            (Call::Split(separator), Datum::Str(text)) => {
                Datum::List(super::mutate::split(text, separator))
            }
            (Call::Join(separator), Datum::List(items)) => {
                let texts: Vec<_> = items.iter().map(Datum::text).collect();
                Datum::Str(arena.str(&texts.join(separator)))
            }
            // As in Ruby: there is no such method for the value.
            _ => return Err(Raised),
        })
    }
}
