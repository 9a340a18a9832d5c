//! `syslog_ng::read`: a message as syslog-ng sees it, with the names that its configurations use. It never fails:
//! what cannot be told apart is part of `MESSAGE`, as there.

use crate::message::message;
use crate::sender::{Sender, local_name};
use crate::stamp::{Clock, Stamp, Years, rfc3339};
use chrono_tz::Tz;
use temblor_declare::{Setting, Settings, Takes};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, RecordBuilder, Value};
use temblor_pipeline::event::Event;
use temblor_pipeline::operator::{AnyOperator, Emitter, OUT, Operator, Surroundings};
use temblor_pipeline::operators::{OperatorKind, Supplies};

/// Severities by number, as syslog-ng calls them.
pub(crate) const LEVELS: [&str; 8] =
    ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];
/// Facilities by number, as syslog-ng calls them.
pub(crate) const FACILITIES: [&str; 24] = [
    "kern",
    "user",
    "mail",
    "daemon",
    "auth",
    "syslog",
    "lpr",
    "news",
    "uucp",
    "cron",
    "authpriv",
    "ftp",
    "ntp",
    "security",
    "console",
    "solaris-cron",
    "local0",
    "local1",
    "local2",
    "local3",
    "local4",
    "local5",
    "local6",
    "local7",
];
/// The priority of messages that tell none: `user.notice`.
const PRIORITY_DEFAULT: u32 = 13;

/// The declaration.
pub(crate) static READ: OperatorKind = OperatorKind {
    path: "syslog_ng::read",
    word: None,
    doc: "Reads a message, a text, as syslog-ng does, and gives a record with the names that its configurations use: \
          `FACILITY`, `LEVEL`, `PRI`, `HOST`, `HOST_FROM`, `SOURCEIP`, `PROGRAM`, `PID`, `MSGID`, `MSGHDR`, `MESSAGE`, \
          `SDATA` (a record), `STRUCTURED` (its text), `SOURCE`, `TAGS`, and the times `STAMP` and `RECEIVED`, which the functions of \
          `std::datetime` take. What a message lacks is an empty text. The sender comes from the metadata of the \
          connector. Empty messages are left out. `temblor convert syslog-ng` writes this step behind sources.",
    examples: &[r#"in |> syslog_ng::read with source = "s_net", keep_hostname = true end |> out"#],
    settings: &[
        Setting::new(
            "source",
            Takes::Text,
            "The name of the source: `SOURCE`, and the tag `.source.NAME`.",
        ),
        Setting::new(
            "parse",
            Takes::Word(&["legacy", "protocol", "none"]),
            "Which messages are expected: those of RFC 3164, \
            of RFC 5424 (others are read as RFC 3164), or texts that are all message.",
        )
        .or("legacy"),
        Setting::new(
            "keep_hostname",
            Takes::Flag,
            "Whether `HOST` is what the message says, instead of its sender.",
        ),
        Setting::new(
            "expect_hostname",
            Takes::Flag,
            "Whether a name of a host stands in front of the program.",
        )
        .or("true"),
        Setting::new("store_raw", Takes::Flag, "Whether `RAWMSG` keeps the message as it came."),
        Setting::new("facility", Takes::Text, "The facility of messages that tell none."),
        Setting::new("level", Takes::Text, "The level of messages that tell none."),
        Setting::new("program", Takes::Text, "The program of every message."),
        Setting::new("host", Takes::Text, "The host of every message."),
        Setting::new("file", Takes::Text, "`FILE_NAME` of every message."),
        Setting::new("tags", Takes::Texts, "Further tags."),
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
    Legacy,
    Protocol,
    Nothing,
}

#[derive(Debug)]
struct Reader {
    source: String,
    form: Form,
    keep_hostname: bool,
    expect_hostname: bool,
    store_raw: bool,
    priority: u32,
    program: Option<String>,
    host: Option<String>,
    file: Option<String>,
    tags: Vec<String>,
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
    let facility = code("facility", &FACILITIES, PRIORITY_DEFAULT >> 3)?;
    let level = code("level", &LEVELS, PRIORITY_DEFAULT & 7)?;
    let zone = settings.text("zone");
    let zone = zone
        .parse::<Tz>()
        .map_err(|_| settings.error("zone", format!("`{zone}` is no zone of the IANA database")))?;
    let own = |name: &str| settings.optional_text(name).map(str::to_string);
    Ok(Box::new(Reader {
        source: own("source").unwrap_or_default(),
        form: match settings.text("parse") {
            "protocol" => Form::Protocol,
            "none" => Form::Nothing,
            _ => Form::Legacy,
        },
        keep_hostname: settings.flag("keep_hostname"),
        expect_hostname: settings.flag("expect_hostname"),
        store_raw: settings.flag("store_raw"),
        priority: facility << 3 | level,
        program: own("program"),
        host: own("host"),
        file: own("file"),
        tags: settings.texts("tags").to_vec(),
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
    program: &'t str,
    pid: &'t str,
    message_id: &'t str,
    /// `prog[1]: ` as it stood there.
    header: Option<&'t str>,
    /// The text of structured data, without `-`.
    data: &'t str,
    text: &'t str,
}

impl Reader {
    fn read<'t>(&self, text: &'t str, clock: Clock) -> Option<Said<'t>> {
        if self.form == Form::Nothing {
            return Some(Said { priority: self.priority, text, ..Said::default() });
        }
        let (priority, rest) = priority(text, self.priority)?;
        if self.form == Form::Protocol
            && let Some(rest) = rest.strip_prefix("1 ")
        {
            return protocol(rest, priority);
        }
        Some(self.legacy(rest, priority, clock))
    }

    /// `Oct 11 22:14:15 host prog[1]: text`
    fn legacy<'t>(&self, text: &'t str, priority: u32, clock: Clock) -> Said<'t> {
        let mut said = Said { priority, ..Said::default() };
        let mut rest = without_sequence(text).trim_start_matches(' ');
        if let Some((stamp, length)) = clock.read(rest) {
            said.stamp = Some(stamp);
            rest = rest[length..].trim_start_matches([' ', ':']);
            if self.expect_hostname {
                let end = rest.find([' ', ':', '[']).unwrap_or(rest.len());
                if rest[end..].starts_with(' ') {
                    said.host = Some(&rest[..end]);
                    rest = rest[end..].trim_start_matches(' ');
                }
            }
        }
        let begin = rest;
        let end = rest.find([' ', '[', ':']).unwrap_or(rest.len());
        said.program = &rest[..end];
        rest = &rest[end..];
        if let Some(inside) = rest.strip_prefix('[') {
            let end = inside.find([' ', ']', ':']).unwrap_or(inside.len());
            if end < inside.len() {
                said.pid = &inside[..end];
            }
            rest = &inside[end..];
            rest = rest.strip_prefix(']').unwrap_or(rest);
        }
        rest = rest.strip_prefix(':').unwrap_or(rest);
        rest = rest.strip_prefix(' ').unwrap_or(rest);
        said.header = Some(&begin[..begin.len() - rest.len()]);
        said.text = rest;
        said
    }
}

/// `<34>`; `None` when what stands there is no number.
fn priority(text: &str, otherwise: u32) -> Option<(u32, &str)> {
    let Some(inside) = text.strip_prefix('<') else { return Some((otherwise, text)) };
    let (digits, rest) = inside.split_once('>')?;
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((digits.parse().ok()?, rest))
}

/// Without `123: `, which Cisco counts messages with.
fn without_sequence(text: &str) -> &str {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text[digits..].strip_prefix(": ") {
        Some(rest) if digits > 0 => rest,
        _ => text,
    }
}

/// RFC 5424 behind its version; `None` when it is not well-formed.
fn protocol(text: &str, priority: u32) -> Option<Said<'_>> {
    let mut said = Said { priority, ..Said::default() };
    let mut rest = text;
    let mut word = || {
        let (word, behind) = rest.split_once(' ')?;
        rest = behind;
        Some(if word == "-" { "" } else { word })
    };
    let (stamp, host) = (word()?, word()?);
    (said.program, said.pid, said.message_id) = (word()?, word()?, word()?);
    if !stamp.is_empty() {
        said.stamp = Some(rfc3339(stamp)?.0);
    }
    said.host = Some(host);
    if let Some(behind) = rest.strip_prefix('-') {
        rest = behind;
    } else {
        let length = crate::structured::length(rest)?;
        (said.data, rest) = rest.split_at(length);
    }
    let text = rest.strip_prefix(' ').unwrap_or(rest);
    said.text = text.strip_prefix('\u{feff}').unwrap_or(text);
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
        let sender = Sender::of(event.meta, arena, &self.local);
        let clock = Clock { now_ns: event.ingest_ns, zone: self.zone, years: Years::Nearest };
        let value = match self.read(text, clock) {
            Some(said) => self.value(&said, text, &sender, clock, arena),
            None => {
                // What cannot be read is a message of syslog-ng itself about it.
                let complaint = arena.concat("Error processing log message: ", text);
                let said =
                    Said { priority: 43, program: "syslog-ng", text: complaint, ..Said::default() };
                self.value(&said, text, &sender, clock, arena)
            }
        };
        out.emit(OUT, event.with_value(value));
        Ok(())
    }
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
        let number = said.priority;
        let facility = FACILITIES.get((number >> 3) as usize).copied();
        let facility = facility.unwrap_or_else(|| arena.format(format_args!("{:x}", number >> 3)));
        let program = self.program.as_deref().unwrap_or(said.program);
        let own = said.host.filter(|host| !host.is_empty() && self.keep_hostname);
        let host = self.host.as_deref().or(own).unwrap_or(sender.name);
        let received = Stamp::of_arrival(clock.now_ns, clock.zone);
        let mut text = |name, text| record.append(name, Value::Str(text));
        text("FACILITY", facility);
        text("LEVEL", LEVELS[(number & 7) as usize]);
        text("PRI", arena.format(format_args!("{number}")));
        text("HOST", host);
        text("HOST_FROM", sender.name);
        text("SOURCEIP", sender.address);
        text("PROGRAM", program);
        text("PID", said.pid);
        text("MSGID", said.message_id);
        let header = said.header.filter(|_| self.program.is_none());
        if let Some(header) = header {
            text("LEGACY_MSGHDR", header);
        }
        if let Some(file) = &self.file {
            text("FILE_NAME", file);
        }
        text("MSGHDR", header.unwrap_or_else(|| header_of(program, said.pid, arena)));
        text("MESSAGE", said.text);
        text("STRUCTURED", said.data);
        text("SOURCE", &self.source);
        if self.store_raw {
            text("RAWMSG", raw);
        }
        record.append("SDATA", crate::structured::value(said.data, arena));
        record.append("TAGS", self.tags(arena));
        record.append("STAMP", said.stamp.unwrap_or(received).value(arena));
        record.append("RECEIVED", received.value(arena));
        finish(record)
    }

    fn tags<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        let mut tags = arena.array_builder(1);
        if !self.source.is_empty() {
            tags.push(Value::Str(arena.format(format_args!(".source.{}", self.source))));
        }
        for tag in &self.tags {
            tags.push(Value::Str(tag));
        }
        tags.finish()
    }
}

fn finish(record: RecordBuilder<'_>) -> Value<'_> {
    record.finish()
}

/// `prog[1]: `; nothing without a program.
fn header_of<'a>(program: &'a str, pid: &'a str, arena: &'a Arena) -> &'a str {
    match (program.is_empty(), pid.is_empty()) {
        (true, _) => "",
        (false, true) => arena.format(format_args!("{program}: ")),
        (false, false) => arena.format(format_args!("{program}[{pid}]: ")),
    }
}
