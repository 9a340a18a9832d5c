//! Syslog messages: RFC 3164 (as it is really sent) and RFC 5424. Two readings: *lenient*, which
//! never fails and keeps escapes, and *strict*, which names the place of an error.

mod device;
mod encode;
mod names;
mod structured;
mod time;

pub use device::read_device;
pub use encode::encode;
pub use names::{FACILITIES, SEVERITIES};

use super::FormatError;
use super::cursor::Cursor;
use structured::structured_data;
use temblor_lang::value::{Arena, RecordBuilder, Value};

/// How a message is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyslogDialect {
    /// Text that is no syslog message becomes `{"protocol": "RFC3164", "msg": text}`. Values of
    /// structured data keep their backslashes; RFC 5424 messages need a timestamp.
    Lenient,
    /// Text that is no syslog message is an error. Values of structured data are unescaped, the
    /// timestamp may be `-`, and a byte order mark before the message is removed. What is written
    /// without facility or severity is `user.notice`.
    Strict,
}

/// Reads a message that arrived at `ingest_ns` (nanoseconds since 1970-01-01 UTC), which gives the
/// year to dates without one.
///
/// # Errors
/// In the strict dialect: where the text stops being a syslog message.
pub fn parse<'a>(
    text: &'a str,
    dialect: SyslogDialect,
    ingest_ns: u64,
    arena: &'a Arena,
) -> Result<Value<'a>, FormatError> {
    let reader = Reader { text: text.trim(), dialect, ingest_ns, arena };
    let newer = match reader.rfc5424() {
        Ok(message) => return Ok(message),
        Err(error) => error,
    };
    match (reader.rfc3164(), dialect) {
        (Ok(message), _) => Ok(message),
        (Err(_), SyslogDialect::Lenient) => Ok(unparsed(text, arena)),
        // The reading that got further is the one that was meant.
        (Err(older), SyslogDialect::Strict) if older.at >= newer.at => Err(older),
        (Err(_), SyslogDialect::Strict) => Err(newer),
    }
}

fn unparsed<'a>(text: &'a str, arena: &'a Arena) -> Value<'a> {
    let mut record = arena.record_builder(2);
    record.append("protocol", Value::Str("RFC3164"));
    if !text.is_empty() {
        record.append("msg", Value::Str(text));
    }
    record.finish()
}

struct Reader<'a> {
    text: &'a str,
    dialect: SyslogDialect,
    ingest_ns: u64,
    arena: &'a Arena,
}

/// The parts of a message, in the order in which they become fields.
#[derive(Default)]
struct Message<'a> {
    hostname: Option<&'a str>,
    priority: Option<u8>,
    timestamp: Option<i64>,
    version: Option<u32>,
    appname: Option<&'a str>,
    msgid: Option<&'a str>,
    structured_data: Option<Value<'a>>,
    procid: Option<&'a str>,
    text: &'a str,
}

impl<'a> Reader<'a> {
    fn rfc5424(&self) -> Result<Value<'a>, FormatError> {
        let mut cursor = Cursor::new(self.text);
        let mut message = Message { priority: self.priority(&mut cursor)?, ..Message::default() };
        message.version = Some(cursor.number("the protocol's version")?);
        blank(&mut cursor)?;
        message.timestamp = self.timestamp(&mut cursor)?;
        blank(&mut cursor)?;
        message.hostname = word(&mut cursor, "a host name")?;
        blank(&mut cursor)?;
        message.appname = word(&mut cursor, "the name of an application")?;
        blank(&mut cursor)?;
        message.procid = word(&mut cursor, "the id of a process")?;
        blank(&mut cursor)?;
        message.msgid = word(&mut cursor, "the id of a kind of message")?;
        cursor.blanks();
        message.structured_data = structured_data(&mut cursor, self.dialect, true, self.arena)
            .ok_or_else(|| cursor.expected("structured data, such as [id key=\"value\"] or -"))?;
        cursor.blanks();
        message.text = cursor.rest();
        if self.dialect == SyslogDialect::Strict {
            message.text = message.text.trim_start_matches('\u{feff}');
        }
        Ok(message.finish(self.arena))
    }

    fn rfc3164(&self) -> Result<Value<'a>, FormatError> {
        let mut cursor = Cursor::new(self.text);
        let mut message = Message { priority: self.priority(&mut cursor)?, ..Message::default() };
        cursor.blanks();
        message.timestamp = Some(time::read(&mut cursor, self.ingest_ns)?);
        let host = after_blank(&mut cursor, |cursor| word(cursor, "a host name").ok());
        let tag = after_blank(&mut cursor, tag);
        name_sender(&mut message, host, tag);
        cursor.blanks();
        cursor.eat(":");
        cursor.blanks();
        message.structured_data =
            structured_data(&mut cursor, self.dialect, false, self.arena).flatten();
        cursor.blanks();
        message.text = cursor.rest();
        Ok(message.finish(self.arena))
    }

    /// `<13>`, which may be absent.
    fn priority(&self, cursor: &mut Cursor<'a>) -> Result<Option<u8>, FormatError> {
        /// The largest priority of RFC 5424: facility 23, severity 7.
        const PRIORITY_MAX: u8 = 191;
        let mut ahead = *cursor;
        if !ahead.eat("<") {
            return Ok(None);
        }
        let number = ahead.number::<u8>("a priority of 0 to 191")?;
        ahead.expect(">")?;
        if number > PRIORITY_MAX && self.dialect == SyslogDialect::Strict {
            return Err(cursor.expected("a priority of 0 to 191"));
        }
        *cursor = ahead;
        Ok(Some(number))
    }

    fn timestamp(&self, cursor: &mut Cursor<'a>) -> Result<Option<i64>, FormatError> {
        if self.dialect == SyslogDialect::Strict && cursor.rest().starts_with("- ") {
            cursor.take(1);
            return Ok(None);
        }
        time::timestamp(cursor).map(Some)
    }
}

/// What `read` finds after one blank; nothing is read when it finds nothing.
fn after_blank<'a, T>(
    cursor: &mut Cursor<'a>,
    read: impl Fn(&mut Cursor<'a>) -> Option<T>,
) -> Option<T> {
    let mut ahead = *cursor;
    let found = ahead.eat(" ").then(|| read(&mut ahead)).flatten()?;
    *cursor = ahead;
    Some(found)
}

fn blank(cursor: &mut Cursor<'_>) -> Result<(), FormatError> {
    if cursor.blanks() { Ok(()) } else { Err(cursor.expected("a blank")) }
}

/// A word; `-` stands for none. A colon at its end is not part of it and is not read.
fn word<'a>(
    cursor: &mut Cursor<'a>,
    expected: &'static str,
) -> Result<Option<&'a str>, FormatError> {
    let start = *cursor;
    let word = cursor.take_while(|character| !character.is_whitespace());
    if word.is_empty() || word == ":" {
        *cursor = start;
        return Err(start.expected(expected));
    }
    if let Some(name) = word.strip_suffix(':') {
        *cursor = start;
        return Ok(Some(cursor.take(name.len())));
    }
    Ok((word != "-").then_some(word))
}

/// `app[12]`, up to a colon; `-` stands for none.
fn tag<'a>(cursor: &mut Cursor<'a>) -> Option<Option<&'a str>> {
    let tag = cursor.take_while(|character| character != ':' && !character.is_whitespace());
    (!tag.is_empty()).then(|| (tag != "-").then_some(tag))
}

/// Decides which of two words names the host, the application and its process.
fn name_sender<'a>(
    message: &mut Message<'a>,
    host: Option<Option<&'a str>>,
    tag: Option<Option<&'a str>>,
) {
    let word = match (host, tag) {
        (Some(host), Some(Some(tag))) => {
            message.hostname = host;
            tag
        }
        (Some(Some(word)), None) => {
            if app_and_process(word).is_none() {
                message.hostname = Some(word);
                return;
            }
            word
        }
        _ => return,
    };
    match app_and_process(word) {
        Some((app, process)) => {
            message.appname = Some(app);
            message.procid = Some(process);
        }
        None => message.appname = Some(word),
    }
}

/// `app[12]`
fn app_and_process(word: &str) -> Option<(&str, &str)> {
    let (app, process) = word.split_once('[')?;
    let process = process.strip_suffix(']')?;
    let plain = !process.is_empty() && !process.contains(']') && !app.contains(':');
    plain.then_some((app, process))
}

impl<'a> Message<'a> {
    fn finish(self, arena: &'a Arena) -> Value<'a> {
        /// As many fields as a message can have.
        const FIELDS: usize = 11;
        let mut record = arena.record_builder(FIELDS);
        append_text(&mut record, "hostname", self.hostname);
        if let Some(priority) = self.priority {
            record.append("severity", Value::Str(SEVERITIES[usize::from(priority & 7)]));
            let facility = FACILITIES.get(usize::from(priority >> 3)).copied();
            append_text(&mut record, "facility", facility);
        }
        if let Some(timestamp) = self.timestamp {
            record.append("timestamp", Value::Int(timestamp));
        }
        let protocol = if self.version.is_some() { "RFC5424" } else { "RFC3164" };
        record.append("protocol", Value::Str(protocol));
        if let Some(version) = self.version {
            record.append("protocol_version", Value::UInt(version.into()));
        }
        append_text(&mut record, "appname", self.appname);
        append_text(&mut record, "msgid", self.msgid);
        if let Some(data) = self.structured_data {
            record.append("structured_data", data);
        }
        append_text(&mut record, "procid", self.procid.map(|id| plain_number(id, arena)));
        append_text(&mut record, "msg", Some(self.text).filter(|text| !text.is_empty()));
        record.finish()
    }
}

fn append_text<'a>(record: &mut RecordBuilder<'a>, key: &'static str, text: Option<&'a str>) {
    if let Some(text) = text {
        record.append(key, Value::Str(text));
    }
}

/// A process id that is a number is written without sign and leading zeros.
fn plain_number<'a>(id: &'a str, arena: &'a Arena) -> &'a str {
    if !id.starts_with(['0', '+', '-']) || id.len() == 1 {
        return id;
    }
    match id.parse::<i32>() {
        Ok(number) => arena.format(format_args!("{number}")),
        Err(_) => id,
    }
}

#[cfg(test)]
mod tests;
