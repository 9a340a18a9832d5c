//! The bodies of the output `http`: the event or what `mapping` makes of it, as JSON or as a form, or a text.

use crate::codec::{Encoder, OwnText};
use crate::complain;
use crate::options::{Arguments, Setting, SettingKind};
use chrono::{DateTime, Utc};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::template::Template;

/// What stands for an event.
#[derive(Debug)]
enum Mapped {
    Text(Template),
    List(Vec<Mapped>),
    Map(Vec<(String, Mapped)>),
}

#[derive(Debug)]
struct Body {
    /// The event itself where there is none.
    mapping: Option<Mapped>,
    /// Whether it is a form, and not JSON.
    is_form: bool,
}

/// The encoder of the output: nothing where JSON of the event itself is sent.
pub(crate) fn http(arguments: &mut Arguments<'_>) -> Option<Option<Encoder>> {
    let format = arguments.text("format");
    if format.as_deref() == Some("message") {
        let Some(message) = arguments.text("message") else {
            let place = arguments.place("format");
            let wanted = "with `message`, the text that is sent";
            arguments.complain(complain::bad_value("format", place, wanted));
            return None;
        };
        return Some(Some(Encoder::Text(Template::parse(&message), String::new())));
    }
    let pairs = arguments.pairs("mapping");
    let mapping = (!pairs.is_empty()).then(|| Mapped::of_pairs(&pairs));
    let is_form = format.as_deref() == Some("form");
    if mapping.is_none() && !is_form {
        return Some(None);
    }
    Some(Some(Encoder::Own(Box::new(Body { mapping, is_form }))))
}

impl Mapped {
    fn of_pairs(pairs: &[(String, Setting)]) -> Self {
        Self::Map(pairs.iter().map(|(name, value)| (name.clone(), Self::of(value))).collect())
    }

    fn of(setting: &Setting) -> Self {
        match &setting.kind {
            SettingKind::Hash(entries) => Self::of_pairs(entries),
            SettingKind::List(items) => Self::List(items.iter().map(Self::of).collect()),
            _ => Self::Text(Template::parse(setting.text().unwrap_or_default())),
        }
    }

    fn datum<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Datum<'a> {
        match self {
            Self::Text(template) => Datum::Str(template.render(event, arena, now)),
            Self::List(items) => {
                Datum::List(items.iter().map(|one| one.datum(event, arena, now)).collect())
            }
            Self::Map(entries) => {
                let mut map = Map::default();
                for (name, value) in entries {
                    map.insert(name, value.datum(event, arena, now));
                }
                Datum::Map(map)
            }
        }
    }
}

impl OwnText for Body {
    fn push<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
        out: &mut String,
    ) {
        let value = match &self.mapping {
            Some(mapping) => mapping.datum(event, arena, now),
            None => Datum::Map(event.data.clone()),
        };
        match value {
            Datum::Map(map) if self.is_form => push_form(&map, out),
            value => value.push_json(out),
        }
    }
}

/// `name=value&…`, as HTML forms are sent.
fn push_form(map: &Map<'_>, out: &mut String) {
    for (at, (name, value)) in map.iter().enumerate() {
        if at > 0 {
            out.push('&');
        }
        push_escaped(name, out);
        out.push('=');
        push_escaped(&value.text(), out);
    }
}

fn push_escaped(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::push_escaped;

    #[test]
    fn forms_hold_any_text() {
        let mut out = String::new();
        push_escaped("a b&c=ü~", &mut out);
        assert_eq!(out, "a+b%26c%3D%C3%BC~");
    }
}
