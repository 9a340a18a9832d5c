//! `cef`: ArcSight's Common Event Format with the field names that Logstash gives: long names, or those
//! of the schema. Fields without a place of their own keep their names.

use crate::logstash::datum::{Datum, Map};
use crate::logstash::event::LogEvent;
use crate::logstash::options::Arguments;
use crate::logstash::reference::FieldRef;
use crate::logstash::template::Template;
use chrono::{DateTime, Utc};
use temblor_lang::value::{Arena, Key, Value};
use temblor_stdlib::formats::cef;

/// Short names, long names, and places in the schema.
const FIELDS: &[(&str, &str, &str)] = &[
    ("act", "deviceAction", "[event][action]"),
    ("app", "applicationProtocol", "[network][protocol]"),
    ("cat", "deviceEventCategory", "[cef][category]"),
    ("cnt", "baseEventCount", "[cef][base_event_count]"),
    ("destinationTranslatedAddress", "destinationTranslatedAddress", "[destination][nat][ip]"),
    ("destinationTranslatedPort", "destinationTranslatedPort", "[destination][nat][port]"),
    ("dhost", "destinationHostName", "[destination][domain]"),
    ("dmac", "destinationMacAddress", "[destination][mac]"),
    ("dntdom", "destinationNtDomain", "[destination][registered_domain]"),
    ("dpid", "destinationProcessId", "[destination][process][pid]"),
    ("dpriv", "destinationUserPrivileges", "[destination][user][group][name]"),
    ("dproc", "destinationProcessName", "[destination][process][name]"),
    ("dpt", "destinationPort", "[destination][port]"),
    ("dst", "destinationAddress", "[destination][ip]"),
    ("dtz", "deviceTimeZone", "[event][timezone]"),
    ("duid", "destinationUserId", "[destination][user][id]"),
    ("duser", "destinationUserName", "[destination][user][name]"),
    ("dvc", "deviceAddress", "[observer][ip]"),
    ("dvchost", "deviceHostName", "[observer][hostname]"),
    ("dvcmac", "deviceMacAddress", "[observer][mac]"),
    ("dvcpid", "deviceProcessId", "[process][pid]"),
    ("end", "endTime", "[event][end]"),
    ("externalId", "externalId", "[event][id]"),
    ("fileHash", "fileHash", "[file][hash]"),
    ("filePath", "filePath", "[file][path]"),
    ("fname", "filename", "[file][name]"),
    ("fsize", "fileSize", "[file][size]"),
    ("in", "bytesIn", "[source][bytes]"),
    ("msg", "message", "message"),
    ("out", "bytesOut", "[destination][bytes]"),
    ("outcome", "eventOutcome", "[event][outcome]"),
    ("proto", "transportProtocol", "[network][transport]"),
    ("reason", "reason", "[event][reason]"),
    ("request", "requestUrl", "[url][original]"),
    ("requestClientApplication", "requestClientApplication", "[user_agent][original]"),
    ("requestContext", "requestContext", "[http][request][referrer]"),
    ("requestMethod", "requestMethod", "[http][request][method]"),
    ("rt", "deviceReceiptTime", "@timestamp"),
    ("shost", "sourceHostName", "[source][domain]"),
    ("smac", "sourceMacAddress", "[source][mac]"),
    ("sntdom", "sourceNtDomain", "[source][registered_domain]"),
    ("sourceTranslatedAddress", "sourceTranslatedAddress", "[source][nat][ip]"),
    ("sourceTranslatedPort", "sourceTranslatedPort", "[source][nat][port]"),
    ("spid", "sourceProcessId", "[source][process][pid]"),
    ("spriv", "sourceUserPrivileges", "[source][user][group][name]"),
    ("sproc", "sourceProcessName", "[source][process][name]"),
    ("spt", "sourcePort", "[source][port]"),
    ("src", "sourceAddress", "[source][ip]"),
    ("start", "startTime", "[event][start]"),
    ("suid", "sourceUserId", "[source][user][id]"),
    ("suser", "sourceUserName", "[source][user][name]"),
];

/// Names of the header: those of the format's parser, Logstash's, and places in the schema.
const HEADER: &[(&str, &str, &str)] = &[
    ("cef_version", "cefVersion", "[cef][version]"),
    ("device_vendor", "deviceVendor", "[observer][vendor]"),
    ("device_product", "deviceProduct", "[observer][product]"),
    ("device_version", "deviceVersion", "[observer][version]"),
    ("device_event_class_id", "deviceEventClassId", "[event][code]"),
    ("name", "name", "[cef][name]"),
    ("severity", "severity", "[event][severity]"),
    ("syslog", "syslog", "[log][syslog][header]"),
];

/// Reads and writes events.
#[derive(Debug)]
pub struct Cef {
    ecs: bool,
    reverse: bool,
    raw: Option<FieldRef>,
    /// Vendor, product, version, signature, name and severity.
    header: Vec<Template>,
    fields: Vec<String>,
}

impl Cef {
    /// Reads the options.
    pub fn compile(arguments: &mut Arguments<'_>) -> Option<Self> {
        let defaults = [
            ("vendor", "Elasticsearch"),
            ("product", "Logstash"),
            ("version", "1.0"),
            ("signature", "Logstash"),
            ("name", "Logstash"),
            ("severity", "6"),
        ];
        let header = defaults.iter().map(|(name, default)| {
            Template::parse(arguments.text(name).as_deref().unwrap_or(default))
        });
        let header = header.collect();
        let fields = arguments.texts("fields").unwrap_or_default();
        Some(Self {
            ecs: arguments.ecs.is_on(),
            reverse: arguments.flag("reverse_mapping", false),
            raw: arguments.field_or_none("raw_data_field"),
            header,
            fields: fields.into_iter().map(|(name, _)| name).collect(),
        })
    }

    /// The fields of a text, if it is an event.
    pub fn decode<'a>(&self, text: &'a str, arena: &'a Arena) -> Option<Map<'a>> {
        let parsed = cef::parse(text, arena).ok()?;
        let mut event = LogEvent::default();
        for (key, long, place) in HEADER {
            let Some(value) = parsed.get(&Key::new(key)) else { continue };
            let datum = match value {
                Value::Str(_) => Datum::from_value(value, arena),
                number => Datum::Str(arena.str(&temblor_lang::value::to_json(number))),
            };
            self.place(&mut event, if self.ecs { place } else { long }, datum, arena);
        }
        let extension = parsed.get(&Key::new("extension")).unwrap_or(Value::Null);
        if let Datum::Map(extension) = Datum::from_value(extension, arena) {
            for (key, value) in extension.into_entries() {
                let name = self.name_of(key, arena);
                self.place(&mut event, name, value, arena);
            }
        }
        if let Some(raw) = &self.raw {
            let _ = event.set(raw, Datum::Str(text), arena);
        }
        Some(event.data)
    }

    fn place<'a>(&self, event: &mut LogEvent<'a>, name: &str, value: Datum<'a>, arena: &'a Arena) {
        // Where the schema has something else already, the field is left out: there is nobody to tell.
        let _ = match FieldRef::parse(name) {
            Ok(field) if name == "@timestamp" => event.data_set_time(&field, value, arena),
            Ok(field) => event.set(&field, value, arena),
            Err(reason) => Err(reason),
        };
    }

    /// Where a field of the extension goes.
    fn name_of<'a>(&self, key: &'a str, arena: &'a Arena) -> &'a str {
        if let Some((_, long, place)) = FIELDS.iter().find(|(short, ..)| *short == key) {
            return if self.ecs { place } else { long };
        }
        custom(key, self.ecs).map_or(key, |name| arena.str(&name))
    }

    /// Appends an event as one line.
    pub fn encode<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
        out: &mut String,
    ) {
        out.push_str("CEF:0");
        for part in &self.header {
            out.push('|');
            push_escaped(out, part.render(event, arena, now), '|');
        }
        out.push('|');
        let mut first = true;
        for name in &self.fields {
            let field = FieldRef::parse(name);
            let Some(value) = field.ok().and_then(|field| event.value_of(&field)) else { continue };
            out.push_str(if first { "" } else { " " });
            first = false;
            out.push_str(self.key_of(name));
            out.push('=');
            push_escaped(out, &value.text(), '=');
        }
        out.push('\n');
    }

    fn key_of<'n>(&self, name: &'n str) -> &'n str {
        let found = FIELDS.iter().find(|(_, long, place)| *place == name || *long == name);
        match found {
            Some((short, ..)) if self.reverse || self.ecs => short,
            _ => name,
        }
    }
}

/// `cs1`, `cs1Label`, `cn2`, `cfp1`, `flexString1` …
fn custom(key: &str, ecs: bool) -> Option<String> {
    let (stem, is_label) = key.strip_suffix("Label").map_or((key, false), |stem| (stem, true));
    let digit = stem.find(|one: char| one.is_ascii_digit())?;
    let (kind, number) = stem.split_at(digit);
    let (long, place) = match kind {
        "cs" => ("deviceCustomString", "device_custom_string"),
        "cn" => ("deviceCustomNumber", "device_custom_number"),
        "cfp" => ("deviceCustomFloatingPoint", "device_custom_floating_point"),
        "c6a" => ("deviceCustomIPv6Address", "device_custom_ipv6_address"),
        "deviceCustomDate" => ("deviceCustomDate", "device_custom_date"),
        "flexString" => ("flexString", "flex_string"),
        "flexNumber" => ("flexNumber", "flex_number"),
        _ => return None,
    };
    if !number.chars().all(|one| one.is_ascii_digit()) {
        return None;
    }
    Some(match (ecs, is_label) {
        (true, true) => format!("[cef][{place}_{number}][label]"),
        (true, false) => format!("[cef][{place}_{number}][value]"),
        (false, true) => format!("{long}{number}Label"),
        (false, false) => format!("{long}{number}"),
    })
}

fn push_escaped(out: &mut String, text: &str, special: char) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            one if one == special => out.extend(['\\', one]),
            other => out.push(other),
        }
    }
}
