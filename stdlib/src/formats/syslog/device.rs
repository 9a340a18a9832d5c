//! Messages as devices send them: RFC 5424, RFC 3164, and what is neither. Never fails: what cannot be told
//! apart stays in the text of the message.
//!
//! Read besides the RFCs: no priority, no host name, no timestamp; a byte order mark in front; sequence numbers
//! and the `*` or `.` of clocks that are not set (Cisco IOS); a year before or behind the time; fractions of
//! seconds; names of zones, which are taken for UTC; ISO timestamps with a blank; `%ASA-6-302013:`.

use super::{Message, Reader, SyslogDialect, app_and_process, time};
use crate::formats::cursor::Cursor;
use chrono::NaiveDateTime;
use temblor_lang::value::{Arena, Value};

/// Digits of a fraction of a second that count.
const FRACTION_DIGITS: u32 = 9;

/// Reads a message that arrived at `ingest_ns` (nanoseconds since 1970-01-01 UTC).
pub fn read_device<'a>(text: &'a str, ingest_ns: u64, arena: &'a Arena) -> Value<'a> {
    let text =
        text.trim_start_matches('\u{feff}').trim_matches(|c: char| c == '\0' || c.is_whitespace());
    let reader = Reader { text, dialect: SyslogDialect::Strict, ingest_ns, arena };
    if let Ok(message) = reader.rfc5424() {
        return message;
    }
    let mut cursor = Cursor::new(text);
    let priority = reader.priority(&mut cursor).ok().flatten();
    let mut message = Message { priority, ..Message::default() };
    cursor.blanks();
    // RFC 5424 without a valid remainder: its version says nothing about the rest.
    let mut ahead = cursor;
    sequence(&mut ahead);
    if let Some(timestamp) = timestamp(&mut ahead, ingest_ns) {
        message.timestamp = Some(timestamp);
        cursor = ahead;
        cursor.blanks();
        sender(&mut cursor, &mut message);
    } else if priority.is_some() {
        mnemonic(&mut cursor, &mut message);
        if message.appname.is_none() {
            tag(&mut cursor, &mut message);
        }
    }
    cursor.blanks();
    message.text = cursor.rest().trim_start_matches('\u{feff}');
    message.finish(arena)
}

/// `28: `, `: `, `000045: *`: what Cisco IOS counts, and marks clocks with that are not set.
fn sequence(cursor: &mut Cursor<'_>) {
    let mut ahead = *cursor;
    ahead.take_bytes(|byte| byte.is_ascii_digit());
    if ahead.eat(":") && ahead.blanks() {
        *cursor = ahead;
    }
    if !cursor.eat("*") {
        cursor.eat(".");
    }
}

/// A time of any of the forms; nothing is read when there is none.
fn timestamp(cursor: &mut Cursor<'_>, ingest_ns: u64) -> Option<i64> {
    let mut ahead = *cursor;
    let time = match with_blank(&mut ahead) {
        Some(time) => time,
        None => {
            let time = time::read(&mut ahead, ingest_ns).ok()?;
            let time = time.saturating_add(fraction(&mut ahead));
            year_behind(&mut ahead, time).unwrap_or(time)
        }
    };
    zone(&mut ahead);
    *cursor = ahead;
    Some(time)
}

/// `2021-11-05 10:11:12.345`, or the same with a `T` and without a zone.
fn with_blank(cursor: &mut Cursor<'_>) -> Option<i64> {
    /// Length of `2021-11-05 10:11:12`.
    const LENGTH: usize = 19;
    let mut ahead = *cursor;
    let text = ahead.rest().get(..LENGTH)?;
    let form = match (text.as_bytes()[4], text.as_bytes()[10]) {
        (b'-', b' ') => "%Y-%m-%d %H:%M:%S",
        (b'-', b'T') => "%Y-%m-%dT%H:%M:%S",
        _ => return None,
    };
    ahead.take(LENGTH);
    let fraction = fraction(&mut ahead);
    // A zone behind it is read with the rest.
    if !matches!(ahead.peek(), None | Some(b' ' | b':')) {
        return None;
    }
    let time = NaiveDateTime::parse_from_str(text, form).ok()?;
    let time = time.and_utc().timestamp_nanos_opt()?.checked_add(fraction)?;
    *cursor = ahead;
    Some(time)
}

/// `.345`, in nanoseconds; 0 when there is none.
fn fraction(cursor: &mut Cursor<'_>) -> i64 {
    let mut ahead = *cursor;
    if !ahead.eat(".") {
        return 0;
    }
    let digits = ahead.take_bytes(|byte| byte.is_ascii_digit());
    if digits.is_empty() {
        return 0;
    }
    *cursor = ahead;
    let digits = &digits[..digits.len().min(FRACTION_DIGITS as usize)];
    let scale = 10_i64.pow(FRACTION_DIGITS - digits.len() as u32);
    digits.parse::<i64>().map_or(0, |number| number * scale)
}

/// ` 2021` behind a time, when a blank or a colon ends it: the same moment in that year.
fn year_behind(cursor: &mut Cursor<'_>, time: i64) -> Option<i64> {
    use chrono::{DateTime, Datelike};
    let mut ahead = *cursor;
    if !ahead.blanks() {
        return None;
    }
    let year = ahead.take_bytes(|byte| byte.is_ascii_digit());
    let plausible = year.len() == 4 && (year.starts_with("19") || year.starts_with("20"));
    if !plausible || !matches!(ahead.peek(), Some(b' ' | b':')) {
        return None;
    }
    let moved = DateTime::from_timestamp_nanos(time).with_year(year.parse().ok()?)?;
    debug_assert!(moved.year() > 0);
    *cursor = ahead;
    moved.timestamp_nanos_opt()
}

/// ` UTC:`, ` CEST:`, and the colon that Cisco puts behind a time.
fn zone(cursor: &mut Cursor<'_>) {
    let mut ahead = *cursor;
    ahead.blanks();
    let name = ahead.take_bytes(|byte| byte.is_ascii_uppercase());
    if (1..=5).contains(&name.len()) && ahead.eat(":") {
        *cursor = ahead;
    } else {
        cursor.eat(":");
    }
}

/// What stands between the time and the message: `host app[1]:`, `app:`, `host : %ASA-6-1:` or nothing.
fn sender<'a>(cursor: &mut Cursor<'a>, message: &mut Message<'a>) {
    mnemonic(cursor, message);
    if message.appname.is_some() {
        return;
    }
    let start = *cursor;
    tag(cursor, message);
    if message.appname.is_some() {
        return;
    }
    let host = cursor.take_while(|character| !character.is_whitespace());
    if host.is_empty() {
        *cursor = start;
        return;
    }
    message.hostname = Some(host).filter(|host| *host != "-");
    cursor.blanks();
    mnemonic(cursor, message);
    if message.appname.is_none() {
        tag(cursor, message);
    }
}

/// `%ASA-6-302013:`, with a colon before it or not.
fn mnemonic<'a>(cursor: &mut Cursor<'a>, message: &mut Message<'a>) {
    let mut ahead = *cursor;
    ahead.eat(":");
    ahead.blanks();
    if ahead.peek() != Some(b'%') {
        return;
    }
    ahead.eat("%");
    let name = ahead.take_while(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_'));
    if name.contains('-') && ahead.eat(":") {
        message.appname = Some(name);
        *cursor = ahead;
    }
}

/// `app:` or `app[12]:`; nothing is read when there is none.
fn tag<'a>(cursor: &mut Cursor<'a>, message: &mut Message<'a>) {
    /// RFC 3164 allows 32 characters; names of containers are longer.
    const TAG_BYTES_MAX: usize = 128;
    let mut ahead = *cursor;
    let word = ahead.take_while(|character| character != ':' && !character.is_whitespace());
    if word.is_empty() || word.len() > TAG_BYTES_MAX || !ahead.eat(":") {
        return;
    }
    // What goes on behind the colon is an address, or a time.
    if ahead.peek().is_some_and(|next| !next.is_ascii_whitespace()) {
        return;
    }
    match app_and_process(word) {
        Some((app, process)) => {
            message.appname = Some(app);
            message.procid = Some(process);
        }
        None => message.appname = Some(word).filter(|word| *word != "-"),
    }
    *cursor = ahead;
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::{JsonStyle, push_json};

    /// 2021-11-05T00:00:00Z
    const INGEST_NS: u64 = 1_636_070_400_000_000_000;

    fn read(text: &str) -> String {
        let arena = Arena::new();
        let mut out = Vec::new();
        push_json(&mut out, read_device(text, INGEST_NS, &arena), JsonStyle::Compact);
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn devices_are_understood() {
        let head = r#"{"severity":"info","facility":"local4","timestamp":1636107072000000000,"protocol":"RFC3164""#;
        let at = |fraction: &str| head.replace("072000000000", &format!("072{fraction}"));
        let host = |text: &str| head.replacen('{', &format!("{{\"hostname\":\"{text}\","), 1);
        for (text, wanted) in [
            (
                "<166>Nov 05 2021 10:11:12: %ASA-6-302013: Built x",
                format!(r#"{head},"appname":"ASA-6-302013","msg":"Built x"}}"#),
            ),
            (
                "<166>Nov 05 2021 10:11:12 fw : %ASA-6-1: m",
                format!(r#"{},"appname":"ASA-6-1","msg":"m"}}"#, host("fw")),
            ),
            (
                "<166>28: *Nov  5 10:11:12.345: %SYS-5-CONFIG_I: c",
                format!(r#"{},"appname":"SYS-5-CONFIG_I","msg":"c"}}"#, at("345000000")),
            ),
            (
                "<166>: Nov  5 10:11:12.345 UTC: %SYS-5-A: c",
                format!(r#"{},"appname":"SYS-5-A","msg":"c"}}"#, at("345000000")),
            ),
            (
                "<166>Nov  5 10:11:12 app[7]: no host",
                format!(r#"{head},"appname":"app","procid":"7","msg":"no host"}}"#),
            ),
            (
                "<166>Nov  5 10:11:12 host no tag here",
                format!(r#"{},"msg":"no tag here"}}"#, host("host")),
            ),
            (
                "<166>Nov  5 10:11:12 2021 host app: m",
                format!(r#"{},"appname":"app","msg":"m"}}"#, host("host")),
            ),
            (
                "\u{feff}<166>2021-11-05 10:11:12 host app: m",
                format!(r#"{},"appname":"app","msg":"m"}}"#, host("host")),
            ),
            (
                "<166>2021-11-05T10:11:12 host app: m",
                format!(r#"{},"appname":"app","msg":"m"}}"#, host("host")),
            ),
            (
                "<166>2021-11-05T11:11:12.5+01:00 h app: m\0\n",
                format!(
                    r#"{},"appname":"app","msg":"m"}}"#,
                    host("h").replace("072000000000", "072500000000")
                ),
            ),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_left_out() {
        for (text, wanted) in [
            (
                "Nov  5 10:11:12 h app: m",
                r#"{"hostname":"h","timestamp":1636107072000000000,"protocol":"RFC3164","appname":"app","msg":"m"}"#,
            ),
            (
                "<13>app[1]: m",
                r#"{"severity":"notice","facility":"user","protocol":"RFC3164","appname":"app","procid":"1","msg":"m"}"#,
            ),
            (
                "<13>just text",
                r#"{"severity":"notice","facility":"user","protocol":"RFC3164","msg":"just text"}"#,
            ),
            (
                "<13>http://host is no tag",
                r#"{"severity":"notice","facility":"user","protocol":"RFC3164","msg":"http://host is no tag"}"#,
            ),
            ("just: text", r#"{"protocol":"RFC3164","msg":"just: text"}"#),
            ("<999>x", r#"{"protocol":"RFC3164","msg":"<999>x"}"#),
            ("", r#"{"protocol":"RFC3164"}"#),
            (
                "<13>1 - h a - - - \u{feff}m",
                r#"{"hostname":"h","severity":"notice","facility":"user","protocol":"RFC5424","protocol_version":1,"appname":"a","msg":"m"}"#,
            ),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
    }
}
