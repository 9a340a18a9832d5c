//! What an output wraps around an event: the fields that Splunk keeps beside it.
//!
//! Invariant: an event in an envelope is one line of text, or one element of XML; its own bytes are escaped,
//! never cut.

use super::finder::Finder;
use super::replacement::{Draw, Memory};
use super::tokens::{Token, Tokens};
use super::{Moment, Random};
use std::io::Write;
use temblor_runtime::clock::Timestamp;

/// What an event says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventFields<'e> {
    /// The time that it shows.
    pub time: Option<Timestamp>,
    /// Where it comes from.
    pub host: Option<&'e str>,
    /// From which file or service.
    pub source: Option<&'e str>,
    /// What kind of event it is.
    pub sourcetype: Option<&'e str>,
    /// Where it is kept.
    pub index: Option<&'e str>,
}

/// The forms of envelopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The event alone.
    #[default]
    Raw,
    /// `<event>` of a modular input of Splunk.
    ModInput,
    /// JSON of the HTTP event collector of Splunk.
    Hec,
    /// A line with the header of RFC 3164 in front.
    Syslog,
}

/// The words for forms, as settings have them.
pub(crate) const FORMS: [(&str, Form); 4] = [
    ("raw", Form::Raw),
    ("modinput", Form::ModInput),
    ("hec", Form::Hec),
    ("syslog", Form::Syslog),
];

/// An envelope, as a user describes it.
#[derive(Clone, Debug, Default)]
pub struct EnvelopeParts {
    /// Its form.
    pub form: Form,
    /// Where events come from that do not say.
    pub host: String,
    /// Replaces parts of the host.
    pub(crate) host_token: Option<Token>,
    /// Finds the host in the event; its first group.
    pub(crate) host_regex: Option<Finder>,
    /// From which file or service.
    pub source: String,
    /// What kind of event.
    pub sourcetype: String,
    /// Where events are kept; one is drawn for each execution.
    pub indexes: Vec<String>,
}

/// Wraps events.
pub(crate) struct Envelope {
    parts: EnvelopeParts,
    host_tokens: Tokens,
    random: Random,
    /// The index of the execution.
    index: usize,
    raw: Vec<u8>,
    stamp: super::stamp::Stamp,
}

impl Envelope {
    /// An envelope; nothing where events are to be alone.
    #[must_use]
    pub(crate) fn new(parts: &EnvelopeParts, seed: u64) -> Option<Self> {
        if parts.form == Form::Raw {
            return None;
        }
        let random = Random::seeded(seed ^ 0x0e7e);
        let memory = Memory::new(Random::seeded(seed ^ 0x4057));
        let host_tokens = Tokens::new(parts.host_token.iter().cloned().collect(), memory);
        let stamp = super::stamp::Stamp::new("%b %e %H:%M:%S").expect("a test tries this form");
        let (parts, raw) = (parts.clone(), Vec::new());
        Some(Envelope { parts, host_tokens, random, index: 0, raw, stamp })
    }

    /// An execution begins.
    pub(crate) fn begin(&mut self) {
        self.index = self.random.index(self.parts.indexes.len());
    }

    /// Wraps the event in `out[start..]`.
    pub(crate) fn wrap(
        &mut self,
        start: usize,
        moment: Moment,
        own: EventFields<'_>,
        out: &mut Vec<u8>,
    ) {
        self.raw.clear();
        self.raw.extend_from_slice(&out[start..]);
        out.truncate(start);
        let host = self.host(moment, own);
        let host = String::from_utf8_lossy(&host);
        let fields = [
            ("index", own.index.or(self.parts.indexes.get(self.index).map(String::as_str))),
            ("source", own.source.or(Some(&self.parts.source))),
            ("sourcetype", own.sourcetype.or(Some(&self.parts.sourcetype))),
            ("host", Some(&*host)),
        ];
        let time = own.time.unwrap_or(moment.time);
        let raw = String::from_utf8_lossy(&self.raw);
        match self.parts.form {
            Form::Raw => out.extend_from_slice(&self.raw),
            Form::ModInput => modinput(time, &fields, &raw, out),
            Form::Hec => hec(time, &fields, &raw, out),
            Form::Syslog => {
                out.extend_from_slice(b"<13>");
                self.stamp.push(time, out);
                out.push(b' ');
                out.extend_from_slice(host.as_bytes());
                out.push(b' ');
                out.extend_from_slice(&self.raw);
            }
        }
    }

    fn host(&mut self, moment: Moment, own: EventFields<'_>) -> Vec<u8> {
        let found = self.parts.host_regex.as_ref().and_then(|regex| regex.first(&self.raw));
        if let Some(spot) = found {
            return self.raw[spot.target].to_vec();
        }
        let mut host = own.host.unwrap_or(&self.parts.host).as_bytes().to_vec();
        let draw = Draw { moment, shown: moment.time, anchor: None, row: self.random.bits() };
        self.host_tokens.apply(0, draw, &mut host);
        host
    }
}

type Field<'f> = (&'static str, Option<&'f str>);

fn modinput(time: Timestamp, fields: &[Field<'_>], raw: &str, out: &mut Vec<u8>) {
    let _ = writeln!(out, "  <event>\n    <time>{}</time>", time / 1_000_000_000);
    for (name, value) in fields {
        let value = value.unwrap_or_default();
        let _ = writeln!(out, "    <{name}>{}</{name}>", escaped(value));
    }
    let _ = write!(out, "    <data>{}</data>\n  </event>", escaped(raw));
}

/// XML has no place for control characters but these three.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' | '\n' | '\r' | ' '.. => escaped.push(letter),
            _ => escaped.push('\u{fffd}'),
        }
    }
    escaped
}

fn hec(time: Timestamp, fields: &[Field<'_>], raw: &str, out: &mut Vec<u8>) {
    let mut record = serde_json::Map::new();
    record.insert("event".to_string(), raw.into());
    record.insert("time".to_string(), (time as f64 / 1e9).into());
    for (name, value) in fields {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            record.insert((*name).to_string(), value.into());
        }
    }
    out.extend_from_slice(serde_json::Value::from(record).to_string().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(form: Form, raw: &str) -> String {
        let parts = EnvelopeParts {
            form,
            host: "h".to_string(),
            host_regex: Some(Finder::python("host=(\\w+)").unwrap()),
            source: "s".to_string(),
            sourcetype: "t".to_string(),
            indexes: vec!["main".to_string()],
            ..EnvelopeParts::default()
        };
        let mut envelope = Envelope::new(&parts, 1).unwrap();
        envelope.begin();
        let mut out = b"before\n".to_vec();
        out.extend_from_slice(raw.as_bytes());
        let own = EventFields { sourcetype: Some("own"), ..EventFields::default() };
        envelope.wrap(7, Moment::at(0, 1_500_000_000), own, &mut out);
        String::from_utf8(out[7..].to_vec()).unwrap()
    }

    #[test]
    fn events_are_wrapped() {
        assert_eq!(
            wrapped(Form::ModInput, "a<b&\u{1}\nhost=web x"),
            "  <event>\n    <time>1</time>\n    <index>main</index>\n    <source>s</source>\n    \
             <sourcetype>own</sourcetype>\n    <host>web</host>\n    \
             <data>a&lt;b&amp;\u{fffd}\nhost=web x</data>\n  </event>"
        );
        assert_eq!(
            wrapped(Form::Hec, "a \"b\"\n"),
            r#"{"event":"a \"b\"\n","time":1.5,"index":"main","source":"s","sourcetype":"own","host":"h"}"#
        );
        assert_eq!(wrapped(Form::Syslog, "x"), "<13>Jan  1 00:00:01 h x");
        assert!(Envelope::new(&EnvelopeParts::default(), 1).is_none());
    }
}
