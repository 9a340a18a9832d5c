//! Syslog messages as they are sent: results in both dialects, places of errors, and the way back.

use super::*;
use temblor_lang::value::{JsonStyle, push_json};

/// 2021-11-05T00:00:00Z
const INGEST_NS: u64 = 1_636_070_400_000_000_000;

fn json(value: Value<'_>) -> String {
    let mut out = Vec::new();
    push_json(&mut out, value, JsonStyle::Compact);
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn lenient(text: &str) -> String {
    let arena = Arena::new();
    json(parse(text, SyslogDialect::Lenient, INGEST_NS, &arena).expect("lenient never fails"))
}

fn strict(text: &str) -> Result<String, String> {
    let arena = Arena::new();
    parse(text, SyslogDialect::Strict, INGEST_NS, &arena)
        .map(json)
        .map_err(|error| error.to_string())
}

#[test]
fn reads_rfc3164() {
    for (text, expected) in [
        (
            "<13>Nov  5 10:11:12 host app[12]: hi there",
            r#"{"hostname":"host","severity":"notice","facility":"user","timestamp":1636107072000000000,"protocol":"RFC3164","appname":"app","procid":"12","msg":"hi there"}"#,
        ),
        (
            "Dec 31 23:59:59 host app: old",
            r#"{"hostname":"host","timestamp":1640995199000000000,"protocol":"RFC3164","appname":"app","msg":"old"}"#,
        ),
        (
            "<34>Oct 11 2003 22:14:15 host su: x",
            r#"{"hostname":"host","severity":"crit","facility":"auth","timestamp":1065910455000000000,"protocol":"RFC3164","appname":"su","msg":"x"}"#,
        ),
        (
            "<0>2003-10-11T22:14:15.5+02:00 - app[x]: y",
            r#"{"severity":"emerg","facility":"kern","timestamp":1065903255500000000,"protocol":"RFC3164","appname":"app","procid":"x","msg":"y"}"#,
        ),
        (
            "<13>Nov 5 10:11:12 app[007]: m",
            r#"{"severity":"notice","facility":"user","timestamp":1636107072000000000,"protocol":"RFC3164","appname":"app","procid":"7","msg":"m"}"#,
        ),
        ("no syslog at all", r#"{"protocol":"RFC3164","msg":"no syslog at all"}"#),
        (
            "<13>Feb 30 10:11:12 h a: m",
            r#"{"protocol":"RFC3164","msg":"<13>Feb 30 10:11:12 h a: m"}"#,
        ),
    ] {
        assert_eq!(lenient(text), expected, "{text}");
    }
}

#[test]
fn december_in_january_is_last_year() {
    let arena = Arena::new();
    let january = 1_641_000_000_000_000_000;
    let message = parse("Dec 31 23:59:59 h a: m", SyslogDialect::Lenient, january, &arena)
        .expect("lenient never fails");
    let record = message.as_record(&arena).expect("a record");
    assert_eq!(record.get("timestamp").and_then(Value::as_i64), Some(1_640_995_199_000_000_000));
}

#[test]
fn reads_rfc5424() {
    let head = r#""hostname":"h","severity":"notice","facility":"local4","timestamp":1065910455003000000,"protocol":"RFC5424","protocol_version":1,"appname":"app""#;
    let line = "<165>1 2003-10-11T22:14:15.003Z h app";
    for (tail, expected) in [
        ("12 ID47 - text", r#""msgid":"ID47","procid":"12","msg":"text""#),
        (
            r#"- - [a@1 k="v" l=""][b] text"#,
            r#""structured_data":{"a@1":[{"k":"v"},{"l":""}],"b":[]},"msg":"text""#,
        ),
        (r#"- - [a k="x\"y\]"]"#, r#""structured_data":{"a":[{"k":"x\\\"y\\]"}]}"#),
        ("- - [broken k=v] text", r#""msg":"text""#),
    ] {
        assert_eq!(lenient(&format!("{line} {tail}")), format!("{{{head},{expected}}}"), "{tail}");
    }
    let without_time = "<165>1 - h app - - - text";
    assert_eq!(
        lenient(without_time),
        format!(r#"{{"protocol":"RFC3164","msg":"{without_time}"}}"#)
    );
}

#[test]
fn strict_goes_by_the_rfc() {
    assert_eq!(
        strict("<165>1 - h app - - [a k=\"x\\\"y\\]\\n\"] \u{feff}text").as_deref(),
        Ok(
            r#"{"hostname":"h","severity":"notice","facility":"local4","protocol":"RFC5424","protocol_version":1,"appname":"app","structured_data":{"a":[{"k":"x\"y]\\n"}]},"msg":"text"}"#
        )
    );
    for (text, expected) in [
        ("hello", "expected a timestamp, such as 'Nov  5 10:11:12' at byte 0, found \"hello\""),
        ("<13>", "expected a timestamp, such as 'Nov  5 10:11:12' at byte 4, found the end"),
        ("<192>1 - h a - - -", "expected a priority of 0 to 191 at byte 0"),
        ("<165>1 2003 h a - - - x", "expected a timestamp of RFC 3339"),
        ("<165>1 - h a - - text", "expected structured data"),
        ("<13>Nov 5 10:11 h a: m", "expected"),
        ("", "expected a timestamp"),
    ] {
        let error = strict(text).expect_err(text);
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}

#[test]
fn writes_what_it_reads() {
    let arena = Arena::new();
    for (line, dialect) in [
        ("<13>Nov  5 10:11:12 host app[12]: hi there", SyslogDialect::Lenient),
        (
            r#"<165>1 2003-10-11T22:14:15.003+00:00 h app 12 ID [a@1 k="v"] x"#,
            SyslogDialect::Strict,
        ),
        (r#"<165>1 - h app 12 ID [a@1 k="v\"\]\\"] x"#, SyslogDialect::Strict),
        ("<165>1 - - - - - - x", SyslogDialect::Strict),
    ] {
        let value = parse(line, dialect, INGEST_NS, &arena).expect(line);
        let mut out = Vec::new();
        encode(value, dialect, INGEST_NS, &arena, &mut out).expect(line);
        assert_eq!(String::from_utf8_lossy(&out), line);
    }
}

#[test]
fn writing_names_what_is_missing() {
    let arena = Arena::new();
    for (text, expected) in [
        ("{}", "the field 'facility' should be a name, but it is missing"),
        (r#"{"protocol":"RFC5424"}"#, "the field 'protocol_version' should be"),
        (r#"{"protocol_version":1}"#, "the field 'protocol' should be"),
        (r#"{"protocol":"x"}"#, "the field 'protocol' should be"),
        (r#"{"facility":"x","severity":"err"}"#, "the field 'facility' should be the name"),
        (r#"{"protocol":"RFC3164","structured_data":1}"#, "the field 'structured_data' should be"),
        ("1", "the field 'event' should be a record, but this one of kind integer is not"),
    ] {
        let value = crate::formats::json::parse(text, &arena).expect(text);
        let error = encode(value, SyslogDialect::Lenient, 0, &arena, &mut Vec::new());
        let error = error.expect_err(text).to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}
