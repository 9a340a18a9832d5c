//! Strings with `%{field}`, `%{+date}` and `%{{date}}` in them (Logstash calls them sprintf references).
//!
//! Invariant: a reference to a missing field stays as it is written, and values that are filled in are not expanded again.

use crate::datum::{Datum, iso8601};
use crate::event::LogEvent;
use crate::reference::FieldRef;
use crate::timestamp::{Dialect, Format};
use chrono::{DateTime, Utc};
use temblor_lang::value::Arena;

/// Delimiters of a field, and of a date in the letters of Joda-Time.
const OPEN: &str = "%{";
const CLOSE: &str = "}";
/// Delimiters of a date in the letters of java.time.
const DATE_OPEN: &str = "%{{";
const DATE_CLOSE: &str = "}}";

/// A parsed string whose references are filled in for each event.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(String),
    /// `%{[a][b]}`, and how it is written.
    Field(FieldRef, String),
    /// `%{+%s}`
    Epoch,
    /// `%{+YYYY}`, `%{{yyyy}}`
    Time(Format),
    /// `%{{TIME_NOW}}`
    Now,
}

impl Template {
    /// Parses a string. Any string is valid: what is no reference is literal.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(OPEN) {
            literal.push_str(&rest[..start]);
            let Some((part, end)) = part(&rest[start..]) else {
                literal.push_str(OPEN);
                rest = &rest[start + OPEN.len()..];
                continue;
            };
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(part);
            rest = &rest[start + end..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Self { text: text.to_string(), parts }
    }

    /// A template without references, whatever the string looks like.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        Self { text: text.to_string(), parts: vec![Part::Literal(text.to_string())] }
    }

    /// The string as it is written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.text
    }

    /// The fields that it refers to; `None` if it also refers to times.
    #[must_use]
    pub fn fields(&self) -> Option<Vec<&FieldRef>> {
        let mut fields = Vec::new();
        for part in &self.parts {
            match part {
                Part::Literal(_) => {}
                Part::Field(field, _) => fields.push(field),
                Part::Epoch | Part::Time(_) | Part::Now => return None,
            }
        }
        Some(fields)
    }

    /// Whether it has no references.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Literal(_)))
    }

    /// The string for one event, in the arena.
    #[must_use]
    pub fn render<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> &'a str {
        match self.parts.as_slice() {
            [] => "",
            [Part::Literal(text)] => text,
            [Part::Field(field, literal)] => match event.value_of(field) {
                Some(value) => match &value {
                    Datum::Null => literal,
                    Datum::Str(text) => text,
                    value => {
                        let mut text = String::new();
                        let _ = value.push_completed(&mut text);
                        arena.str(&text)
                    }
                },
                None => literal,
            },
            parts => {
                let mut text = String::new();
                for part in parts {
                    part.push(&mut text, event, now);
                    // What has no room becomes empty, and ends the event's way.
                    if text.len() > arena.bytes_left() {
                        break;
                    }
                }
                arena.str(&text)
            }
        }
    }
}

impl Template {
    /// The string for one event, allocated.
    #[must_use]
    pub fn rendered(&self, event: &LogEvent<'_>, now: DateTime<Utc>) -> String {
        let mut text = String::new();
        self.parts.iter().for_each(|part| part.push(&mut text, event, now));
        text
    }
}

impl Part {
    fn push(&self, out: &mut String, event: &LogEvent<'_>, now: DateTime<Utc>) {
        match self {
            Part::Literal(text) => out.push_str(text),
            Part::Field(field, literal) => {
                let found = event.value_of(field).is_some_and(|value| value.push_completed(out));
                if !found {
                    out.push_str(literal);
                }
            }
            Part::Epoch => {
                if let Some(time) = event.timestamp() {
                    out.push_str(&time.timestamp().to_string());
                }
            }
            Part::Time(format) => {
                if let Some(time) = event.timestamp() {
                    format.push(out, time);
                }
            }
            Part::Now => out.push_str(&iso8601(now)),
        }
    }
}

/// The reference at the beginning of `text`, and its length in bytes.
fn part(text: &str) -> Option<(Part, usize)> {
    if let Some(inside) = text.strip_prefix(DATE_OPEN) {
        let length = inside.find(DATE_CLOSE)?;
        let pattern = &inside[..length];
        let end = DATE_OPEN.len() + length + DATE_CLOSE.len();
        if pattern == "TIME_NOW" {
            return Some((Part::Now, end));
        }
        return Some((Part::Time(Format::parse(pattern, Dialect::Java).ok()?), end));
    }
    let inside = &text[OPEN.len()..];
    let length = inside.find(CLOSE)?;
    let (name, end) = (&inside[..length], OPEN.len() + length + CLOSE.len());
    if name == "+%s" {
        return Some((Part::Epoch, end));
    }
    if let Some(pattern) = name.strip_prefix('+') {
        return Some((Part::Time(Format::parse(pattern, Dialect::Joda).ok()?), end));
    }
    let field = FieldRef::parse(name).ok()?;
    Some((Part::Field(field, text[..end].to_string()), end))
}
