//! `urldecode`: `%41` becomes `A`; a plus sign stays. What is not UTF-8 afterwards is shown as Ruby shows
//! it, `\xD3` for a byte; nothing fails.

use super::{Declaration, Filter, Outcome, Turn};
use crate::charset::Charset;
use crate::complain;
use crate::options::{Arguments, Takes, option};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_ruby::plain::unescaped;

/// `urldecode`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "urldecode",
    doc: "Decodes percent escapes.",
    options: &[
        option("field", Takes::Text, "The field."),
        option("all_fields", Takes::Flag, "Whether all fields are decoded."),
        option("charset", Takes::Text, "What the decoded bytes are written in (UTF-8)."),
        option("tag_on_failure", Takes::List, "Accepted; nothing fails here."),
    ],
    make,
};

#[derive(Debug)]
struct UrlDecode {
    field: FieldRef,
    all: bool,
    charset: Charset,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let charset = arguments.text("charset").unwrap_or_else(|| "UTF-8".to_string());
    let Some(charset) = Charset::named(&charset) else {
        let place = arguments.place("charset");
        arguments.complain(complain::bad_value("charset", place, Charset::NAMES));
        return None;
    };
    Some(Box::new(UrlDecode {
        field: arguments.field("field", "message")?,
        all: arguments.flag("all_fields", false),
        charset,
    }))
}

impl Filter for UrlDecode {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let arena = turn.arena;
        if self.all {
            event.data.iter_mut().for_each(|(_, value)| decode(value, self.charset, arena));
        } else if let Some(value) = event.get_mut(&self.field) {
            decode(value, self.charset, arena);
        }
        Outcome::Matched
    }
}

/// Decodes all texts in a value.
fn decode<'a>(value: &mut Datum<'a>, charset: Charset, arena: &'a Arena) {
    match value {
        Datum::Str(text) if charset != Charset::Utf8 => {
            *text = arena.str(&charset.decode(&unescaped(text)));
        }
        Datum::Str(text) if text.contains('%') => {
            let bytes = unescaped(text);
            *text = match std::str::from_utf8(&bytes) {
                Ok(plain) => arena.str(plain),
                Err(_) => arena.str(&shown(&bytes)),
            };
        }
        Datum::List(items) => items.iter_mut().for_each(|item| decode(item, charset, arena)),
        Datum::Map(map) => map.iter_mut().for_each(|(_, item)| decode(item, charset, arena)),
        _ => {}
    }
}

/// Bytes as Ruby's `inspect` shows them, without the quotes around.
fn shown(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' | '\\' => out.extend(['\\', character]),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\x1b' => out.push_str("\\e"),
                other if other.is_control() => out.push_str(&format!("\\x{:02X}", other as u32)),
                other => out.push(other),
            }
        }
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\x{byte:02X}")));
    }
    out
}
