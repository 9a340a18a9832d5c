//! `truncate`: cuts texts that are too long, between two characters.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option, required};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `truncate`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "truncate",
    doc: "Cuts texts that are too long.",
    options: &[
        required("length_bytes", Takes::Number, "The greatest length, in bytes."),
        option("fields", Takes::List, "The fields; without it, all."),
    ],
    make,
};

#[derive(Debug)]
struct Truncate {
    bytes_max: usize,
    fields: Option<Vec<FieldRef>>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let bytes_max = arguments.number("length_bytes")? as usize;
    let fields = arguments.references("fields");
    Some(Box::new(Truncate { bytes_max, fields }))
}

impl Filter for Truncate {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, _turn: &mut Turn<'a, '_>) -> Outcome {
        let mut changed = false;
        match &self.fields {
            Some(fields) => {
                for field in fields {
                    if let Some(value) = event.get_mut(field) {
                        changed |= cut(value, self.bytes_max);
                    }
                }
            }
            None => {
                for (_, value) in event.data.iter_mut() {
                    changed |= cut(value, self.bytes_max);
                }
            }
        }
        if changed { Outcome::Matched } else { Outcome::Unmatched }
    }
}

/// Cuts all texts in a value; whether one was too long.
fn cut(value: &mut Datum<'_>, bytes_max: usize) -> bool {
    match value {
        Datum::Str(text) if text.len() > bytes_max => {
            let end = (0..=bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            *text = &text[..end];
            true
        }
        Datum::List(items) => items.iter_mut().fold(false, |any, item| cut(item, bytes_max) | any),
        Datum::Map(map) => map.iter_mut().fold(false, |any, (_, item)| cut(item, bytes_max) | any),
        _ => false,
    }
}
