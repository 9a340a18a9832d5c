//! `syslog_pri`: takes facility and severity out of a priority (RFC 3164, 4.1.1).

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_ruby::plain;

/// `syslog_pri`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "syslog_pri",
    doc: "Takes facility and severity out of a priority.",
    options: &[
        option("syslog_pri_field_name", Takes::Text, "The field with the priority."),
        option("use_labels", Takes::Flag, "Whether their names are set, too."),
        option("facility_labels", Takes::List, "The names of the facilities."),
        option("severity_labels", Takes::List, "The names of the severities."),
    ],
    make,
};

/// The names of facilities, by number.
pub(crate) const FACILITIES: [&str; 24] = [
    "kernel",
    "user-level",
    "mail",
    "daemon",
    "security/authorization",
    "syslogd",
    "line printer",
    "network news",
    "uucp",
    "clock",
    "security/authorization",
    "ftp",
    "ntp",
    "log audit",
    "log alert",
    "clock",
    "local0",
    "local1",
    "local2",
    "local3",
    "local4",
    "local5",
    "local6",
    "local7",
];
/// The names of severities, by number.
pub(crate) const SEVERITIES: [&str; 8] =
    ["emergency", "alert", "critical", "error", "warning", "notice", "informational", "debug"];
/// The priority of a message that has none (RFC 3164, 4.3.3).
const PRIORITY_DEFAULT: i64 = 13;

#[derive(Debug)]
struct SyslogPri {
    source: FieldRef,
    /// Codes and labels of facility and severity.
    fields: [FieldRef; 4],
    labels: bool,
    facilities: Vec<String>,
    severities: Vec<String>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let (source, names) = if arguments.ecs.is_on() {
        let names = [
            "[log][syslog][facility][code]",
            "[log][syslog][severity][code]",
            "[log][syslog][facility][name]",
            "[log][syslog][severity][name]",
        ];
        ("[log][syslog][priority]", names)
    } else {
        let names =
            ["syslog_facility_code", "syslog_severity_code", "syslog_facility", "syslog_severity"];
        ("syslog_pri", names)
    };
    let own = |name: &str| FieldRef::parse(name).expect("these names are references");
    let or = |words: Option<Vec<String>>, default: &[&str]| {
        words.unwrap_or_else(|| default.iter().map(|word| (*word).to_string()).collect())
    };
    Some(Box::new(SyslogPri {
        source: arguments.field("syslog_pri_field_name", source)?,
        fields: names.map(own),
        labels: arguments.flag("use_labels", true),
        facilities: or(arguments.words("facility_labels"), &FACILITIES),
        severities: or(arguments.words("severity_labels"), &SEVERITIES),
    }))
}

impl Filter for SyslogPri {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let priority = match event.get(&self.source) {
            None | Some(Datum::Null) => PRIORITY_DEFAULT,
            Some(Datum::List(items)) => {
                items.first().map_or(PRIORITY_DEFAULT, |item| plain::leading_integer(&item.text()))
            }
            Some(value) => plain::leading_integer(&value.text()),
        };
        let (facility, severity) = (priority.div_euclid(8), priority.rem_euclid(8));
        let label = |labels: &'a [String], code: i64| {
            usize::try_from(code).ok().and_then(|code| labels.get(code))
        };
        let names = [label(&self.facilities, facility), label(&self.severities, severity)];
        let mut values = vec![Datum::Int(facility), Datum::Int(severity)];
        if self.labels {
            let [Some(facility), Some(severity)] = names else {
                event.tag("_syslogpriparsefailure");
                return Outcome::Unmatched;
            };
            values.extend([Datum::Str(facility), Datum::Str(severity)]);
        }
        for (field, value) in self.fields.iter().zip(values) {
            if event.set(field, value, turn.arena).is_err() {
                event.tag("_syslogpriparsefailure");
                return Outcome::Unmatched;
            }
        }
        Outcome::Matched
    }
}
