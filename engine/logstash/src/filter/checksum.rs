//! `checksum`: puts a digest of several fields into `logstash_checksum`. The common options do nothing.

use super::fingerprint::Method;
use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `checksum`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "checksum",
    doc: "Puts a digest of fields into `logstash_checksum`.",
    options: &[
        option("keys", Takes::List, "The fields; by default message, @timestamp and type."),
        option("algorithm", Takes::OneOf(ALGORITHMS), "How it is made (sha256)."),
    ],
    make,
};

const ALGORITHMS: &[&str] = &["md5", "sha", "sha1", "sha256", "sha384"];
const KEYS: [&str; 3] = ["message", "@timestamp", "type"];

#[derive(Debug)]
struct Checksum {
    /// By name.
    keys: Vec<(String, FieldRef)>,
    method: Method,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let span = arguments.span;
    let texts = arguments
        .texts("keys")
        .unwrap_or_else(|| KEYS.iter().map(|key| ((*key).to_string(), span)).collect());
    let mut keys = Vec::new();
    for (text, span) in texts {
        if let Some(field) = arguments.reference(&text, span) {
            keys.push((text, field));
        }
    }
    keys.sort_by(|(left, _), (right, _)| left.cmp(right));
    let method = match arguments.text("algorithm").as_deref() {
        Some("md5") => Method::Md5,
        Some("sha" | "sha1") => Method::Sha1,
        Some("sha384") => Method::Sha384,
        _ => Method::Sha256,
    };
    Some(Box::new(Checksum { keys, method }))
}

impl Filter for Checksum {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let mut text = String::new();
        for (name, field) in &self.keys {
            text.push_str(&format!("|{name}|"));
            if let Some(value) = event.get(field) {
                text.push_str(&super::ruby_to_s(value));
            }
        }
        text.push('|');
        let digest = self.method.digest(&Datum::Null, &text, None, false, turn.arena);
        event.data.insert("logstash_checksum", digest);
        Outcome::Unmatched
    }
}
