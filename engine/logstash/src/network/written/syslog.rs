//! The messages of the output `syslog`: the headers of RFC 3164 and RFC 5424 as Logstash fills them in.

use crate::codec::{Encoder, OwnText};
use crate::filter::{FACILITIES, SEVERITIES};
use crate::options::Arguments;
use chrono::{DateTime, Utc};
use temblor_lang::value::Arena;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::template::Template;

/// The facility `user-level`, for names that are in no list.
const FACILITY_DEFAULT: usize = 1;
/// The severity `notice`, for names that are in no list.
const SEVERITY_DEFAULT: usize = 5;
/// Of messages without a priority: `user-level`, `notice`.
const PRIORITY_DEFAULT: usize = 13;
/// The greatest priority: `local7`, `debug`.
const PRIORITY_MAX: usize = 191;

/// Where the number in front of a message comes from.
#[derive(Debug)]
enum Priority {
    /// The names of a facility and a severity.
    Labels(Template, Template),
    /// The number itself.
    Number(Template),
}

#[derive(Debug)]
struct Line {
    priority: Priority,
    time: Template,
    host: Template,
    app: Template,
    process: Template,
    /// The identity of the message and the structured data, of RFC 5424 alone.
    modern: Option<(Template, Template)>,
    message: Encoder,
}

/// The encoder of the output.
pub(crate) fn syslog(arguments: &mut Arguments<'_>) -> Option<Option<Encoder>> {
    let template = |arguments: &Arguments<'_>, name: &str, usual: &str| {
        Template::parse(arguments.text(name).as_deref().unwrap_or(usual))
    };
    let is_modern = arguments.text("rfc").as_deref() == Some("rfc5424");
    let time = if is_modern { "%{+YYYY-MM-dd'T'HH:mm:ss.SSSZZ}" } else { "%{+MMM dd HH:mm:ss}" };
    let priority = match arguments.flag("use_labels", true) {
        true => Priority::Labels(
            template(arguments, "facility", "user-level"),
            template(arguments, "severity", "notice"),
        ),
        false => Priority::Number(template(arguments, "priority", "%{syslog_pri}")),
    };
    let message = match arguments.get("codec").is_some() {
        true => Encoder::of(arguments, "plain")?,
        false => Encoder::Text(template(arguments, "message", "%{message}"), String::new()),
    };
    let line = Line {
        priority,
        time: Template::parse(time),
        host: template(arguments, "sourcehost", "%{host}"),
        app: template(arguments, "appname", "LOGSTASH"),
        process: template(arguments, "procid", "-"),
        modern: is_modern.then(|| {
            let data = template(arguments, "structured_data", "-");
            (template(arguments, "msgid", "-"), data)
        }),
        message,
    };
    Some(Some(Encoder::Own(Box::new(line))))
}

impl Priority {
    fn number(&self, event: &LogEvent<'_>, now: DateTime<Utc>) -> usize {
        let place = |names: &[&str], template: &Template, usual: usize| {
            let name = template.rendered(event, now);
            names.iter().position(|one| *one == name).unwrap_or(usual)
        };
        match self {
            Self::Labels(facility, severity) => {
                place(&FACILITIES, facility, FACILITY_DEFAULT) * 8
                    + place(&SEVERITIES, severity, SEVERITY_DEFAULT)
            }
            Self::Number(number) => {
                let number = number.rendered(event, now).parse().ok();
                number.filter(|number| *number <= PRIORITY_MAX).unwrap_or(PRIORITY_DEFAULT)
            }
        }
    }
}

impl OwnText for Line {
    fn push<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
        out: &mut String,
    ) {
        let number = self.priority.number(event, now);
        let text = |template: &'a Template| template.render(event, arena, now);
        let (time, host, app) = (text(&self.time), text(&self.host), text(&self.app));
        let process = text(&self.process);
        out.push_str(&match &self.modern {
            Some((identity, data)) => {
                let (identity, data) = (text(identity), text(data));
                format!("<{number}>1 {time} {host} {app} {process} {identity} {data} ")
            }
            None => format!("<{number}>{time} {host} {app}[{process}]: "),
        });
        let message = self.message.encode(event, arena, now);
        let message = message.as_str().unwrap_or_default().trim_end();
        // A line is a message: the ends of others within it are written as two characters.
        out.push_str(&message.replace("\r\n", "\n").replace('\n', "\\n"));
        out.push('\n');
    }
}
