//! `rsyslog::read`: a message as rsyslog sees it, with its properties. Like its parsers it never fails: the chain is
//! RFC 5424, then RFC 3164, in which everything may be missing.

use crate::message::message;
use crate::sender::{Sender, local_name};
use crate::stamp::{Clock, Stamp, Years, rfc3339};
use chrono_tz::Tz;
use temblor_declare::{Setting, Settings, Takes};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Value};
use temblor_pipeline::event::Event;
use temblor_pipeline::operator::{AnyOperator, Emitter, OUT, Operator, Surroundings};
use temblor_pipeline::operators::{OperatorKind, Supplies};

/// Severities by number, as rsyslog calls them.
pub(crate) const SEVERITIES: [&str; 8] =
    ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];
/// Facilities by number, as rsyslog calls them.
pub(crate) const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv",
    "ftp", "ntp", "audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7",
];

/// The declaration.
pub(crate) static READ: OperatorKind = OperatorKind {
    path: "rsyslog::read",
    word: None,
    doc: "Reads a message, a text, as rsyslog does, and gives a record of its properties: `msg` (with the blank in front \
          of it), `rawmsg`, `hostname`, `fromhost`, `fromhost_ip`, `syslogtag`, `programname`, `app_name`, `procid`, \
          `msgid`, `structured_data`, `protocol_version`, `facility`, `severity` (names), `facility_number`, `severity_number`, `pri`, `inputname`, \
          and the times `timereported` and `timegenerated`, which the functions of `std::datetime` take, with \
          `timereported_rfc3339` as it was written; `json` holds the variables `$!…` and `local` those of `$.…`. The sender comes \
          from the metadata of the connector. Empty messages are left out. `temblor convert rsyslog` writes this step \
          behind sources.",
    examples: &[r#"in |> rsyslog::read with input = "imudp" end |> out"#],
    settings: &[
        Setting::new("input", Takes::Text, "The name of the input: `inputname`."),
        Setting::new(
            "parse",
            Takes::Word(&["network", "local", "none"]),
            "Which messages are expected: those with a name of a host, \
            those of a socket of this machine, or texts that are all message.",
        )
        .or("network"),
        Setting::new("tag", Takes::Text, "The tag of every message (`none`)."),
        Setting::new("facility", Takes::Text, "The facility of every message (`none`)."),
        Setting::new("severity", Takes::Text, "The severity of every message (`none`)."),
        Setting::new(
            "zone",
            Takes::Text,
            "The zone of times that tell none, such as `Europe/Berlin`.",
        )
        .or("UTC"),
    ],
    ports: &[],
    fallbacks: &[],
    build,
};

/// Which messages are expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Network,
    Local,
    Nothing,
}

#[derive(Debug)]
struct Reader {
    input: String,
    form: Form,
    tag: String,
    priority: u32,
    zone: Tz,
    local: String,
}

fn build(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let code = |name: &str, names: &[&str], otherwise: u32| match settings.optional_text(name) {
        None => Ok(otherwise),
        Some(word) => {
            let at = names.iter().position(|one| *one == word);
            at.map(|at| at as u32).ok_or_else(|| {
                settings.error(name, format!("`{word}` is none")).with_known(word, names)
            })
        }
    };
    let priority = code("facility", &FACILITIES, 16)? << 3 | code("severity", &SEVERITIES, 5)?;
    let zone = settings.text("zone");
    let zone = zone
        .parse::<Tz>()
        .map_err(|_| settings.error("zone", format!("`{zone}` is no zone of the IANA database")))?;
    Ok(Box::new(Reader {
        input: settings.optional_text("input").unwrap_or_default().to_string(),
        form: match settings.text("parse") {
            "local" => Form::Local,
            "none" => Form::Nothing,
            _ => Form::Network,
        },
        tag: settings.optional_text("tag").unwrap_or_default().to_string(),
        priority,
        zone,
        local: local_name(),
    }))
}

/// What a message says.
#[derive(Debug, Default)]
struct Said<'t> {
    priority: u32,
    stamp: Option<Stamp>,
    host: Option<&'t str>,
    tag: &'t str,
    /// Name, process and identifier of RFC 5424.
    protocol: Option<[&'t str; 3]>,
    data: &'t str,
    text: &'t str,
}

/// The priority of messages that tell none: `user.notice`.
const PRIORITY_DEFAULT: u32 = 13;
/// Priorities are numbers up to this.
const PRIORITY_MOST: u32 = 191;

impl Reader {
    fn read<'t>(&'t self, text: &'t str, clock: Clock) -> Said<'t> {
        if self.form == Form::Nothing {
            return Said { priority: self.priority, tag: &self.tag, text, ..Said::default() };
        }
        let (priority, rest) = priority(text);
        if let Some(said) = rest.strip_prefix("1 ").and_then(|rest| protocol(rest, priority)) {
            return said;
        }
        self.legacy(rest, priority, clock)
    }

    fn legacy<'t>(&self, text: &'t str, priority: u32, clock: Clock) -> Said<'t> {
        let mut said = Said { priority, ..Said::default() };
        let mut rest = text;
        let found = clock.read(rest).map(|found| (found, rest)).or_else(|| {
            // Some devices put a blank in front of the time.
            let behind = rest.strip_prefix(' ')?;
            clock.read(behind).map(|found| (found, behind))
        });
        if let Some(((stamp, length), of)) = found {
            said.stamp = Some(stamp);
            rest = of[length..].strip_prefix(':').unwrap_or(&of[length..]);
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        }
        if self.form == Form::Local {
            // The socket of a machine stamps by itself.
            said.stamp = None;
        } else {
            (said.host, rest) = host(rest);
        }
        let end = rest.find([':', ' ']).unwrap_or(rest.len());
        let end = if rest[end..].starts_with(':') { end + 1 } else { end };
        (said.tag, said.text) = rest.split_at(end);
        said
    }
}

/// `<34>`, or that of messages without one.
fn priority(text: &str) -> (u32, &str) {
    let read = || {
        let (digits, rest) = text.strip_prefix('<')?.split_once('>')?;
        let is_number = digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number =
            digits.parse::<u32>().ok().filter(|number| is_number && *number <= PRIORITY_MOST)?;
        Some((number, rest))
    };
    read().unwrap_or((PRIORITY_DEFAULT, text))
}

/// A name of a host in front of a blank, if what stands there may be one.
fn host(text: &str) -> (Option<&str>, &str) {
    let is_bracketed = text.starts_with('[');
    let fits = |one: char| {
        one.is_ascii_alphanumeric()
            || matches!(one, '.' | '_' | '-')
            || is_bracketed && matches!(one, '[' | ']' | ':')
    };
    let end = text.find(|one| !fits(one)).unwrap_or(text.len());
    let name = &text[..end];
    let ends_well = name.ends_with(|one: char| one.is_ascii_alphanumeric() || one == ']');
    match text[end..].strip_prefix(' ') {
        Some(rest) if ends_well => (Some(name), rest),
        None if end == text.len() && !name.is_empty() => (Some(name), ""),
        _ => (None, text),
    }
}

/// RFC 5424 behind its version.
fn protocol(text: &str, priority: u32) -> Option<Said<'_>> {
    let mut said = Said { priority, ..Said::default() };
    let mut rest = text;
    let mut word = || {
        let (word, behind) = rest.split_once(' ')?;
        rest = behind;
        Some(word)
    };
    let stamp = word()?;
    let host = word()?;
    said.protocol = Some([word()?, word()?, word()?]);
    if stamp != "-" {
        said.stamp = Some(rfc3339(stamp).filter(|(_, length)| *length == stamp.len())?.0);
    }
    said.host = Some(host);
    if let Some(behind) = rest.strip_prefix('-') {
        (said.data, rest) = ("-", behind);
    } else {
        let length = crate::structured::length(rest)?;
        (said.data, rest) = rest.split_at(length);
    }
    said.text = rest.strip_prefix(' ').unwrap_or(rest);
    Some(said)
}

impl Operator for Reader {
    type State = ();

    fn start(&self) {}

    fn process<'a>(
        &'a self,
        (): &mut (),
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let arena = around.arena();
        let Some(text) = message(event, out)? else { return Ok(()) };
        let text = escaped(text, self.form, arena);
        let sender = Sender::of(event.meta, arena, &self.local);
        let clock = Clock { now_ns: event.ingest_ns, zone: self.zone, years: Years::Past };
        let said = self.read(text, clock);
        let value = self.value(&said, text, &sender, clock, arena);
        out.emit(OUT, event.with_value(value));
        Ok(())
    }
}

/// With control characters as `#` and three octal digits, as rsyslog does unless it is told otherwise; a tab counts,
/// too. Texts of files stay as they are.
fn escaped<'a>(text: &'a str, form: Form, arena: &'a Arena) -> &'a str {
    let is_odd = |one: char| one.is_ascii_control();
    if form == Form::Nothing || !text.contains(is_odd) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    for one in text.chars() {
        if is_odd(one) {
            out.push_str(&format!("#{:03o}", u32::from(one)));
        } else {
            out.push(one);
        }
    }
    arena.str(&out)
}

impl Reader {
    fn value<'a>(
        &'a self,
        said: &Said<'a>,
        raw: &'a str,
        sender: &Sender<'a>,
        clock: Clock,
        arena: &'a Arena,
    ) -> Value<'a> {
        let mut record = arena.record_builder(24);
        let received = Stamp::of_arrival(clock.now_ns, clock.zone);
        let reported = said.stamp.unwrap_or(received);
        let tag = match said.protocol {
            None => said.tag,
            Some(["-", _, _]) => "-",
            Some([name, "-", _]) => name,
            Some([name, process, _]) => arena.format(format_args!("{name}[{process}]")),
        };
        let end = tag.find([':', '[', '/']).unwrap_or(tag.len());
        let program = &tag[..end];
        let [name, process, id] =
            said.protocol.unwrap_or_else(|| [or_dash(program), or_dash(process_of(tag)), "-"]);
        let from = if sender.is_remote { sender.name } else { &self.local };
        let mut text = |name, text| record.append(name, Value::Str(text));
        text("msg", said.text);
        text("rawmsg", raw);
        text("hostname", said.host.unwrap_or(from));
        text("fromhost", from);
        text("fromhost_ip", sender.address);
        text("syslogtag", tag);
        text("programname", program);
        text("app_name", name);
        text("procid", process);
        text("msgid", id);
        text("structured_data", if said.data.is_empty() { "-" } else { said.data });
        text("protocol_version", if said.protocol.is_some() { "1" } else { "0" });
        text("facility", FACILITIES[(said.priority >> 3) as usize % FACILITIES.len()]);
        text("severity", SEVERITIES[(said.priority & 7) as usize]);
        text("inputname", &self.input);
        text("timereported_rfc3339", arena.str(&reported.rfc3339()));
        record.append("facility_number", Value::UInt(u64::from(said.priority >> 3)));
        record.append("severity_number", Value::UInt(u64::from(said.priority & 7)));
        record.append("pri", Value::UInt(u64::from(said.priority)));
        record.append("timereported", reported.value(arena));
        record.append("timegenerated", received.value(arena));
        record.append("json", arena.record_builder(0).finish());
        record.append("local", arena.record_builder(0).finish());
        record.finish()
    }
}

/// `12` of `app[12]:`
fn process_of(tag: &str) -> &str {
    let inside = tag.split_once('[').map_or("", |(_, inside)| inside);
    inside.split_once(']').map_or("", |(process, _)| process)
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}
