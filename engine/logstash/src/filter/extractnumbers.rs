//! `extractnumbers`: the numbers among the words of a text become `int1`, `int2` … and `float1`, `float2` ….

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::{FieldRef, Step};
use temblor_ruby::{read_float, read_integer};

/// `extractnumbers`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "extractnumbers",
    doc: "Takes the numbers out of a text.",
    options: &[
        option("source", Takes::Text, "The text (message)."),
        option("target", Takes::Text, "Where the numbers go; without it, into the event."),
    ],
    make,
};

#[derive(Debug)]
struct ExtractNumbers {
    source: FieldRef,
    target: Option<FieldRef>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let target = arguments.field_or_none("target");
    Some(Box::new(ExtractNumbers { source: arguments.field("source", "message")?, target }))
}

impl Filter for ExtractNumbers {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let text = match event.get(&self.source) {
            Some(Datum::List(items)) => items.first().and_then(Datum::as_str),
            found => found.and_then(Datum::as_str),
        };
        let Some(text) = text else { return Outcome::Unmatched };
        let (mut integers, mut floats) = (0, 0);
        for word in text.split_ascii_whitespace() {
            let (kind, count, value) = if let Some(number) = read_integer(word, None) {
                ("int", &mut integers, Datum::Int(number))
            } else if let Some(number) = read_float(word) {
                ("float", &mut floats, Datum::Float(number))
            } else {
                continue;
            };
            *count += 1;
            let name = [Step::from(format!("{kind}{count}"))];
            let field = match &self.target {
                Some(target) => target.join(&name),
                None => FieldRef { metadata: false, steps: name.to_vec() },
            };
            if event.set(&field, value, turn.arena).is_err() {
                return Outcome::Unmatched;
            }
        }
        if integers + floats > 0 { Outcome::Matched } else { Outcome::Unmatched }
    }
}
