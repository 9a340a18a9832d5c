//! `fingerprint`: a digest of fields. The methods are those of Logstash; see [`digest`].

mod digest;
mod murmur;

use super::{Declaration, Filter, Outcome, Turn, ruby_to_s};
use crate::complain;
use crate::options::{Arguments, Takes, option};
pub(super) use digest::Method;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::map::Map;
use temblor_logstash_event::reference::FieldRef;

/// `fingerprint`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "fingerprint",
    doc: "Puts a digest of fields into a field.",
    options: &[
        option("source", Takes::List, "The fields."),
        option("target", Takes::Text, "Where the digest goes."),
        option("method", Takes::OneOf(Method::NAMES), "How it is made."),
        option("key", Takes::Text, "The key of the digest, or the length of the network prefix."),
        option("base64encode", Takes::Flag, "Whether it is written in base64."),
        option("concatenate_sources", Takes::Flag, "Whether there is one digest of all sources."),
        option("concatenate_all_fields", Takes::Flag, "Whether all fields of the event count."),
    ],
    make,
};

#[derive(Debug)]
struct Fingerprint {
    /// Names as written and where they stand.
    sources: Vec<(String, FieldRef)>,
    target: FieldRef,
    method: Method,
    key: Option<String>,
    base64: bool,
    concatenate: bool,
    all_fields: bool,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let method =
        arguments.text("method").and_then(|name| Method::named(&name)).unwrap_or(Method::Sha1);
    let texts = arguments.texts("source");
    let texts = texts.unwrap_or_else(|| vec![("message".to_string(), arguments.span)]);
    let mut sources = Vec::new();
    for (text, span) in texts {
        if let Some(field) = arguments.reference(&text, span) {
            sources.push((text, field));
        }
    }
    let key = arguments.text("key");
    if method == Method::Ipv4Network
        && key.as_deref().and_then(|key| key.parse().ok()).is_none_or(|length: u32| length > 32)
    {
        let span = arguments.place("key");
        arguments.complain(complain::bad_value("key", span, "the length of a prefix, 0 to 32"));
    }
    let concatenate = arguments.flag("concatenate_sources", false);
    if concatenate || method == Method::Punctuation {
        sources.sort_by(|(left, _), (right, _)| left.cmp(right));
    }
    let all_fields = arguments.flag("concatenate_all_fields", false);
    if sources.len() > 1 && !concatenate && !all_fields && method != Method::Uuid {
        let span = arguments.place("source");
        arguments.explain(complain::odd(
            span,
            "each source overwrites the fingerprint of the one before; the last that is there stays",
            "set `concatenate_sources => true` for one fingerprint of all",
        ));
    }
    let target = if arguments.ecs.is_on() { "[event][hash]" } else { "fingerprint" };
    Some(Box::new(Fingerprint {
        sources,
        target: arguments.field("target", target)?,
        method,
        key,
        base64: arguments.flag("base64encode", false),
        concatenate,
        all_fields,
    }))
}

impl Filter for Fingerprint {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let arena = turn.arena;
        let stored = match self.method {
            Method::Uuid => {
                let uuid = turn.random.uuid();
                event.set(&self.target, Datum::Str(arena.str(&uuid)), arena)
            }
            // Punctuation is taken from one field at a time.
            Method::Punctuation => self.one_by_one(event, turn),
            _ if self.concatenate || self.all_fields => {
                let text = self.concatenated(event);
                let value = self.digest(&Datum::Str(arena.str(&text)), turn);
                event.set(&self.target, value, arena)
            }
            _ => self.one_by_one(event, turn),
        };
        if stored.is_ok() { Outcome::Matched } else { Outcome::Unmatched }
    }
}

impl Fingerprint {
    /// Each source in turn: the last one that is there stays.
    fn one_by_one<'a>(
        &self,
        event: &mut LogEvent<'a>,
        turn: &Turn<'a, '_>,
    ) -> Result<(), &'static str> {
        for (_, source) in &self.sources {
            let value = match event.get(source) {
                None => continue,
                Some(Datum::List(items)) => {
                    Datum::List(items.iter().map(|item| self.digest(item, turn)).collect())
                }
                Some(value) => self.digest(value, turn),
            };
            event.set(&self.target, value, turn.arena)?;
        }
        Ok(())
    }

    fn digest<'a>(&self, value: &Datum<'a>, turn: &Turn<'a, '_>) -> Datum<'a> {
        self.method.digest(value, &text(value), self.key.as_deref(), self.base64, turn.arena)
    }

    /// `|name|value|name|value|`
    fn concatenated(&self, event: &LogEvent<'_>) -> String {
        let mut out = String::new();
        if self.all_fields {
            let mut fields: Vec<_> = event.data.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            for (key, value) in fields {
                out.push_str(&format!("|{key}|{}", text(value)));
            }
        } else {
            for (name, field) in &self.sources {
                // A field that is not there has an empty text.
                let text = event.get(field).map(text).unwrap_or_default();
                out.push_str(&format!("|{name}|{text}"));
            }
        }
        out.push('|');
        out
    }
}

/// The text that counts: that of Ruby, with maps in the order of their keys.
fn text(value: &Datum<'_>) -> String {
    match value {
        Datum::Map(_) | Datum::List(_) => ruby_to_s(&sorted(value)),
        other => ruby_to_s(other),
    }
}

fn sorted<'a>(value: &Datum<'a>) -> Datum<'a> {
    match value {
        Datum::Map(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            let mut ordered = Map::default();
            fields.iter().for_each(|(key, value)| ordered.append(key, sorted(value)));
            Datum::Map(ordered)
        }
        Datum::List(items) => Datum::List(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}
