//! `cef`: ArcSight's Common Event Format with the field names that Logstash gives: long names, or those
//! of the schema. Fields without a place of their own keep their names.

mod fields;
mod time;

use super::Moment;
use crate::options::Arguments;
use chrono::{DateTime, Utc};
use fields::{FIELDS, Field, HEADER};
use temblor_lang::value::{Arena, Key, Value};
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;
use temblor_logstash_event::timestamp::Zone;
use temblor_stdlib::formats::cef;
use time::Clock;

/// What a field of the header holds when the configuration or the event says nothing.
const DEFAULTS: [(&str, &str); 6] = [
    ("vendor", "Elasticsearch"),
    ("product", "Logstash"),
    ("version", "1.0"),
    ("signature", "Logstash"),
    ("name", "Logstash"),
    ("severity", SEVERITY),
];
/// The severity of events that have none from 0 to 10.
const SEVERITY: &str = "6";

/// Reads and writes events.
#[derive(Debug)]
pub struct Cef {
    ecs: bool,
    /// Whether the device is the host.
    of_host: bool,
    reverse: bool,
    raw: Option<FieldRef>,
    clock: Clock,
    /// Vendor, product, version, signature, name and severity.
    header: Vec<Template>,
    fields: Vec<String>,
    /// What ends an event that is written.
    delimiter: String,
}

impl Cef {
    /// Reads the options.
    pub(crate) fn compile(arguments: &mut Arguments<'_>) -> Option<Self> {
        let header = DEFAULTS.iter().map(|(name, default)| {
            Template::parse(arguments.text(name).as_deref().unwrap_or(default))
        });
        let header = header.collect();
        let fields = arguments.texts("fields").unwrap_or_default();
        let delimiter = arguments.text("delimiter").unwrap_or_default();
        Some(Self {
            ecs: arguments.ecs.is_on(),
            of_host: arguments.text("device").as_deref() == Some("host"),
            reverse: arguments.flag("reverse_mapping", false),
            raw: arguments.field_or_none("raw_data_field"),
            clock: Clock::compile(arguments)?,
            header,
            fields: fields.into_iter().map(|(name, _)| name).collect(),
            delimiter: delimiter.replace("\\r", "\r").replace("\\n", "\n"),
        })
    }

    /// The fields of a text, if it is an event.
    pub(crate) fn decode<'a>(&self, text: &'a str, moment: Moment<'a>) -> Option<Map<'a>> {
        let arena = moment.arena;
        let parsed = cef::parse(text, arena).ok()?;
        let mut event = LogEvent::default();
        for (key, long, place) in HEADER {
            let Some(value) = parsed.get(&Key::new(key)) else { continue };
            let datum = match value {
                Value::Str(_) => Datum::from_value(value, arena),
                number => Datum::Str(arena.str(&temblor_lang::value::to_json(number))),
            };
            set(&mut event, if self.ecs { place } else { long }, datum, arena);
        }
        let extension = parsed.get(&Key::new("extension")).unwrap_or(Value::Null);
        if let Datum::Map(extension) = Datum::from_value(extension, arena) {
            let zone = extension.get("dtz").or_else(|| extension.get("deviceTimeZone"));
            let zone = zone.map(Datum::text).and_then(|name| Zone::named(&name));
            for (key, value) in extension.into_entries() {
                let value = match self.ecs && fields::is_time(key) {
                    true => Datum::Time(self.clock.read(&value.text(), zone, moment.now)?),
                    false => value,
                };
                set(&mut event, self.name_of(key, arena), value, arena);
            }
        }
        if let Some(raw) = &self.raw {
            let _ = event.set(raw, Datum::Str(text), arena);
        }
        Some(event.data)
    }

    /// Where a field of the extension goes.
    fn name_of<'a>(&self, key: &'a str, arena: &'a Arena) -> &'a str {
        match fields::of_key(key) {
            Some(field) if !self.ecs => field.long,
            Some(field) if self.of_host => fields::host_place(field.place),
            Some(field) => field.place,
            None => fields::custom(key, self.ecs).map_or(key, |name| arena.str(&name)),
        }
    }

    /// Appends an event.
    pub(crate) fn encode<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
        out: &mut String,
    ) {
        out.push_str("CEF:0");
        for (part, (name, default)) in self.header.iter().zip(DEFAULTS) {
            let text = part.render(event, arena, now);
            out.push('|');
            match name {
                "severity" => out.push_str(&severity(text)),
                _ => push_header(out, if text.is_empty() { default } else { text }),
            }
        }
        out.push('|');
        let mut first = true;
        for name in &self.fields {
            let field = FieldRef::parse(name);
            let Some(value) = field.ok().and_then(|field| event.value_of(&field)) else { continue };
            out.push_str(if first { "" } else { " " });
            first = false;
            self.push_key(out, name);
            out.push('=');
            push_value(out, &value.text());
        }
        out.push_str(&self.delimiter);
    }

    /// The key of a field: its short name, or its own without what no key may hold.
    fn push_key(&self, out: &mut String, name: &str) {
        let fits = |field: &&Field| {
            let place = if self.of_host { fields::host_place(field.place) } else { field.place };
            field.long == name || self.ecs && place == name
        };
        match FIELDS.iter().find(fits) {
            Some(field) if self.reverse || self.ecs => out.push_str(field.short),
            _ => out.extend(name.chars().filter(char::is_ascii_alphanumeric)),
        }
    }
}

fn set<'a>(event: &mut LogEvent<'a>, name: &str, value: Datum<'a>, arena: &'a Arena) {
    // Where the schema has something else already, the field is left out: there is nobody to tell.
    if let Ok(field) = FieldRef::parse(name) {
        let _ = event.set(&field, value, arena);
    }
}

/// A whole number from 0 to 10.
fn severity(text: &str) -> String {
    let number = text.trim().parse::<f64>().ok();
    let number = number.filter(|number| (0.0..=10.0).contains(number) && number.fract() == 0.0);
    number.map_or_else(|| SEVERITY.to_string(), |number| number.to_string())
}

fn push_header(out: &mut String, text: &str) {
    for character in text.replace("\r\n", "\n").chars() {
        match character {
            '\\' | '|' => out.extend(['\\', character]),
            '\n' | '\r' => out.push(' '),
            other => out.push(other),
        }
    }
}

fn push_value(out: &mut String, text: &str) {
    for character in text.replace("\r\n", "\n").chars() {
        match character {
            '\\' | '=' => out.extend(['\\', character]),
            '\n' | '\r' => out.push_str("\\n"),
            other => out.push(other),
        }
    }
}
