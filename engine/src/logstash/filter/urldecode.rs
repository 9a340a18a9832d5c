//! `urldecode`: `%41` becomes `A`; a plus sign stays. Its success options apply even after a failure.

use super::{Declaration, Filter, Outcome, Turn};
use crate::logstash::datum::Datum;
use crate::logstash::event::LogEvent;
use crate::logstash::options::{Arguments, Takes, option};
use crate::logstash::reference::FieldRef;
use temblor_lang::value::Arena;

/// `urldecode`
pub static DECLARATION: Declaration = Declaration {
    name: "urldecode",
    doc: "Decodes percent escapes.",
    options: &[
        option("field", Takes::Text, "The field."),
        option("all_fields", Takes::Flag, "Whether all fields are decoded."),
        option("charset", Takes::Text, "Accepted; texts are UTF-8."),
        option("tag_on_failure", Takes::List, "The tags of what cannot be decoded."),
    ],
    make,
};

#[derive(Debug)]
struct UrlDecode {
    field: FieldRef,
    all: bool,
    tags: Vec<String>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    Some(Box::new(UrlDecode {
        field: arguments.field("field", "message")?,
        all: arguments.flag("all_fields", false),
        tags: arguments.tags("tag_on_failure", "_urldecodefailure"),
    }))
}

impl Filter for UrlDecode {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let arena = turn.arena;
        let good = if self.all {
            event.data.iter_mut().all(|(_, value)| decode(value, arena))
        } else {
            event.get_mut(&self.field).is_none_or(|value| decode(value, arena))
        };
        if !good {
            turn.fail(event, &self.tags);
        }
        Outcome::Matched
    }
}

/// Decodes all texts in a value; false when one is not UTF-8 afterwards.
fn decode<'a>(value: &mut Datum<'a>, arena: &'a Arena) -> bool {
    match value {
        Datum::Str(text) if text.contains('%') => match decoded(text) {
            Some(plain) => {
                *text = arena.str(&plain);
                true
            }
            None => false,
        },
        Datum::List(items) => items.iter_mut().all(|item| decode(item, arena)),
        Datum::Map(map) => map.iter_mut().all(|(_, item)| decode(item, arena)),
        _ => true,
    }
}

/// The text without its escapes; nothing when it is not UTF-8 afterwards.
pub(in crate::logstash) fn decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits =
            text.get(at + 1..at + 3).filter(|two| two.bytes().all(|b| b.is_ascii_hexdigit()));
        match (bytes[at], digits.and_then(|two| u8::from_str_radix(two, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}
