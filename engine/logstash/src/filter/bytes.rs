//! `bytes`: reads sizes such as `1.5 GiB` as numbers of bytes.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option, required};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `bytes`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "bytes",
    doc: "Reads sizes as numbers of bytes.",
    options: &[
        required("source", Takes::Text, "The field with the size."),
        required("target", Takes::Text, "Where the number goes."),
        option(
            "conversion_method",
            Takes::OneOf(&["binary", "metric"]),
            "Whether `k` stands for 1024 or for 1000.",
        ),
        option("decimal_separator", Takes::Text, "What stands before the fraction."),
        option("tag_on_failure", Takes::List, "The tags of texts that are no sizes."),
    ],
    make,
};

#[derive(Debug)]
struct Bytes {
    source: FieldRef,
    target: FieldRef,
    metric: bool,
    point: char,
    tags: Vec<String>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let point = arguments.text("decimal_separator").and_then(|text| text.chars().next());
    Some(Box::new(Bytes {
        source: arguments.field_or_none("source")?,
        target: arguments.field_or_none("target")?,
        metric: arguments.text("conversion_method").as_deref() == Some("metric"),
        point: point.unwrap_or('.'),
        tags: arguments.tags("tag_on_failure", "_bytesparsefailure"),
    }))
}

impl Filter for Bytes {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let text = match event.get(&self.source) {
            None | Some(Datum::Null) => return turn.fail(event, &self.tags),
            Some(value) => value.text(),
        };
        let stored = self
            .read(&text)
            .is_some_and(|size| event.set(&self.target, Datum::Int(size), turn.arena).is_ok());
        if stored { Outcome::Matched } else { turn.fail(event, &self.tags) }
    }
}

impl Bytes {
    fn read(&self, text: &str) -> Option<i64> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let end = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let plain = |c: char| match c {
            c if c == self.point => Some('.'),
            '.' | ',' | '\'' => None,
            c => Some(c),
        };
        let number: f64 = digits.chars().filter_map(plain).collect::<String>().parse().ok()?;
        let unit = unit.to_lowercase();
        let unit = unit.strip_suffix('b').unwrap_or(&unit);
        let (prefix, binary) = match unit.strip_suffix('i') {
            Some(prefix) => (prefix, true),
            None => (unit, !self.metric),
        };
        let power = match prefix {
            "" => 0,
            "k" => 1,
            "m" => 2,
            "g" => 3,
            "t" => 4,
            "p" => 5,
            "e" => 6,
            _ => return None,
        };
        let base: f64 = if binary { 1024.0 } else { 1000.0 };
        Some((number * base.powi(power)).round() as i64)
    }
}
