//! `tld`: cuts the name of a host by the public suffix list (publicsuffix.org), which is built in. A name
//! without a registered part, or below no listed suffix, is left alone.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `tld`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "tld",
    doc: "Cuts the name of a host into its public suffix, its domain and what stands before.",
    options: &[
        option("source", Takes::Text, "The name (message)."),
        option("target", Takes::Text, "Where the parts go (tld)."),
    ],
    make,
};

#[derive(Debug)]
struct Tld {
    source: FieldRef,
    target: FieldRef,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let source = arguments.field("source", "message")?;
    Some(Box::new(Tld { source, target: arguments.field("target", "tld")? }))
}

impl Filter for Tld {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let Some(name) = event.get(&self.source).and_then(Datum::as_str) else {
            return Outcome::Unmatched;
        };
        let Some(parts) = parts(turn.arena.str(&name.trim().to_lowercase())) else {
            return Outcome::Unmatched;
        };
        match event.set(&self.target, Datum::Map(parts), turn.arena) {
            Ok(()) => Outcome::Matched,
            Err(_) => Outcome::Unmatched,
        }
    }
}

fn parts(name: &str) -> Option<Map<'_>> {
    let empty_label = name.split('.').any(str::is_empty);
    let domain = psl::domain(name.as_bytes()).filter(|domain| domain.suffix().is_known())?;
    let domain = std::str::from_utf8(domain.as_bytes()).ok().filter(|_| !empty_label)?;
    let (second, suffix) = domain.split_once('.')?;
    let before = name.strip_suffix(domain)?.strip_suffix('.');
    let below = before.map(|_| name);
    let text = |text: Option<_>| text.map_or(Datum::Null, Datum::Str);
    Some(Map::from_iter([
        ("tld", Datum::Str(suffix)),
        ("sld", Datum::Str(second)),
        ("trd", text(before)),
        ("domain", Datum::Str(domain)),
        ("subdomain", text(below)),
    ]))
}
