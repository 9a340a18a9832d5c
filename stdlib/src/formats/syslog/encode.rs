//! Syslog messages from records, the reverse of [`super::parse`]. What a record lacks is written as
//! the protocol's sign for absence, except where there is none.

use super::{FACILITIES, SEVERITIES, SyslogDialect};
use crate::formats::EncodeError;
use chrono::DateTime;
use temblor_lang::value::{Arena, Record, Value};

/// The priority of a message that has none (RFC 3164, section 4.3.3).
const PRIORITY_DEFAULT: usize = 13;

/// Appends the message that `value` describes. `now_ns`, in nanoseconds since 1970-01-01 UTC, stands
/// in for a missing timestamp of RFC 3164.
///
/// # Errors
/// When a field is missing that the protocol needs, or is of a wrong kind.
pub fn encode<'a>(
    value: Value<'a>,
    dialect: SyslogDialect,
    now_ns: u64,
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let record =
        value.as_record(arena).ok_or_else(|| EncodeError::new("event", "a record", Some(value)))?;
    let writer = Writer { record, dialect, arena };
    match writer.version()? {
        None => writer.rfc3164(now_ns, out),
        Some(version) => writer.rfc5424(version, out),
    }
}

struct Writer<'a> {
    record: &'a Record<'a>,
    dialect: SyslogDialect,
    arena: &'a Arena,
}

impl<'a> Writer<'a> {
    fn text(&self, field: &str) -> Option<&'a str> {
        self.record.get(field).and_then(Value::as_str)
    }

    /// The version of RFC 5424; `None` for RFC 3164.
    fn version(&self) -> Result<Option<u32>, EncodeError> {
        let version = self.record.get("protocol_version");
        let number = version.and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let wrong = |field, expected| EncodeError::new(field, expected, self.record.get(field));
        match (self.text("protocol"), number) {
            (Some("RFC3164"), _) => Ok(None),
            (Some("RFC5424"), Some(version)) => Ok(Some(version)),
            (Some("RFC5424"), None) => Err(wrong("protocol_version", "a version, such as 1")),
            (None, None) => Ok(Some(1)),
            (_, _) => Err(wrong("protocol", "'RFC3164' or 'RFC5424'")),
        }
    }

    fn priority(&self) -> Result<Option<usize>, EncodeError> {
        let (Some(facility), Some(severity)) = (self.text("facility"), self.text("severity"))
        else {
            return Ok(None);
        };
        let number = |names: &[&str], name| names.iter().position(|known| *known == name);
        let facility = number(&FACILITIES, facility).ok_or_else(|| {
            EncodeError::new("facility", "the name of a facility", self.record.get("facility"))
        })?;
        let severity = number(&SEVERITIES, severity).ok_or_else(|| {
            EncodeError::new("severity", "the name of a severity", self.record.get("severity"))
        })?;
        Ok(Some(facility * 8 + severity))
    }

    fn timestamp(&self) -> Option<DateTime<chrono::Utc>> {
        let time = self.record.get("timestamp").and_then(Value::as_i64)?;
        Some(DateTime::from_timestamp_nanos(time))
    }

    fn rfc3164(&self, now_ns: u64, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let priority = self.priority()?.unwrap_or(PRIORITY_DEFAULT);
        let now = || DateTime::from_timestamp_nanos(now_ns.cast_signed());
        let time = self.timestamp().unwrap_or_else(now).format("%b %e %H:%M:%S");
        out.extend_from_slice(format!("<{priority}>{time} ").as_bytes());
        out.extend_from_slice(self.text("hostname").unwrap_or("-").as_bytes());
        out.push(b' ');
        if let Some(appname) = self.text("appname") {
            out.extend_from_slice(appname.as_bytes());
            if let Some(procid) = self.text("procid") {
                out.extend_from_slice(format!("[{procid}]").as_bytes());
            }
        }
        out.push(b':');
        if let Some(data) = self.record.get("structured_data") {
            out.push(b' ');
            self.structured_data(data, out)?;
        }
        self.message(out);
        Ok(())
    }

    fn rfc5424(&self, version: u32, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        for field in ["facility", "severity"] {
            if self.dialect == SyslogDialect::Lenient && self.text(field).is_none() {
                return Err(EncodeError::new(field, "a name", self.record.get(field)));
            }
        }
        let priority = self.priority()?.unwrap_or(PRIORITY_DEFAULT);
        out.extend_from_slice(format!("<{priority}>{version} ").as_bytes());
        match self.timestamp() {
            Some(time) => out.extend_from_slice(time.to_rfc3339().as_bytes()),
            None => out.push(b'-'),
        }
        for field in ["hostname", "appname", "procid", "msgid"] {
            out.push(b' ');
            out.extend_from_slice(self.text(field).unwrap_or("-").as_bytes());
        }
        out.push(b' ');
        match self.record.get("structured_data") {
            Some(data) => self.structured_data(data, out)?,
            None => out.push(b'-'),
        }
        self.message(out);
        Ok(())
    }

    fn message(&self, out: &mut Vec<u8>) {
        if let Some(text) = self.text("msg") {
            out.push(b' ');
            out.extend_from_slice(text.as_bytes());
        }
    }

    /// `{"id": [{"key": "value"}]}` as `[id key="value"]`.
    fn structured_data(&self, data: Value<'a>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let wrong = |found: Value<'a>| {
            EncodeError::new("structured_data", "{id: [{key: text}, …]}", Some(found))
        };
        let elements = data.as_record(self.arena).ok_or_else(|| wrong(data))?;
        for (id, pairs) in elements.iter() {
            out.push(b'[');
            out.extend_from_slice(id.as_bytes());
            for pair in pairs.as_array(self.arena).ok_or_else(|| wrong(pairs))? {
                for (key, value) in pair.as_record(self.arena).ok_or_else(|| wrong(*pair))?.iter() {
                    let text = value.as_str().ok_or_else(|| wrong(value))?;
                    out.push(b' ');
                    out.extend_from_slice(key.as_bytes());
                    out.extend_from_slice(b"=\"");
                    self.push_value(text, out);
                    out.push(b'"');
                }
            }
            out.push(b']');
        }
        Ok(())
    }

    fn push_value(&self, text: &str, out: &mut Vec<u8>) {
        for byte in text.bytes() {
            if self.dialect == SyslogDialect::Strict && matches!(byte, b'"' | b'\\' | b']') {
                out.push(b'\\');
            }
            out.push(byte);
        }
    }
}
