//! Patterns read and written.

use super::{Dialect, Format, Locale, Zone, parse_casual, parse_iso8601};
use crate::datum::iso8601;
use chrono::{DateTime, TimeZone, Utc};

fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 20, 12, 0, 0).unwrap()
}

#[test]
fn reads_by_patterns() {
    for (pattern, text, expected) in [
        ("yyyy-MM-dd HH:mm:ss", "2013-4-1 1:02:03", Some("2013-04-01T01:02:03.000Z")),
        ("dd/MMM/yyyy:HH:mm:ss Z", "25/Mar/2013:20:33:56 -0100", Some("2013-03-25T21:33:56.000Z")),
        ("MMM  d HH:mm:ss", "Dec  7 00:00:01", Some("2026-12-07T00:00:01.000Z")),
        ("yyMMddHHmmss", "991231235959", Some("1999-12-31T23:59:59.000Z")),
        (
            "yyyy-MM-dd'T'HH:mm:ss.SSSZZ",
            "2020-01-01T00:00:00.5+01:00",
            Some("2019-12-31T23:00:00.500Z"),
        ),
        ("hh:mm a dd.MM.yyyy", "12:05 am 01.02.2003", Some("2003-02-01T00:05:00.000Z")),
        ("EEE MMM dd HH:mm:ss yyyy", "Fri Nov 20 01:02:03 2026", Some("2026-11-20T01:02:03.000Z")),
        (
            "yyyy-MM-dd HH:mm:ss ZZZ",
            "2020-07-01 12:00:00 Europe/Berlin",
            Some("2020-07-01T10:00:00.000Z"),
        ),
        ("HH:mm", "14:59", Some("1970-01-01T14:59:00.000Z")),
        ("xx", "77", Some("1977-01-03T00:00:00.000Z")),
        ("xxxx-'W'ww-e", "2020-W53-5", Some("2021-01-01T00:00:00.000Z")),
        ("G yyyy", "AD 2011", Some("2011-01-01T00:00:00.000Z")),
        ("yyyy-DDD", "2020-366", Some("2020-12-31T00:00:00.000Z")),
        ("MM-dd", "02-29", None),
        ("yyyy HH:mm z", "2020 10:00 EST", Some("2020-01-01T15:00:00.000Z")),
        ("YYYY", "-5", None),
        ("yyyy", "-5", Some("-0005-01-01T00:00:00.000Z")),
        ("HH:mmZ", "10:00+0130", Some("1970-01-01T08:30:00.000Z")),
        ("dd MMM yyyy", "01 JAN 2020", Some("2020-01-01T00:00:00.000Z")),
        ("dd MMM yyyy", "01 jAN 2020", None),
        ("yyyy/MM/dd", "2013/Apr/21", None),
        ("yyyy-MM-dd", "2013-02-30", None),
        ("yyyy-MM-dd", "2013-02-03 ", None),
    ] {
        let format = Format::parse(pattern, Dialect::Joda).unwrap();
        let found = format.read(text, Zone::UTC, Locale::english(), now());
        assert_eq!(found.map(iso8601).as_deref(), expected, "{pattern} on {text}");
    }
}

#[test]
fn reads_names_in_many_languages() {
    for (tag, pattern, text, expected) in [
        ("fr", "dd MMM yyyy", "01 févr. 2020", "2020-02-01T00:00:00.000Z"),
        ("de_DE", "EEEE, d. MMMM yyyy", "Samstag, 1. Februar 2020", "2020-02-01T00:00:00.000Z"),
        ("tr", "d MMMM yyyy", "7 Ağustos 2020", "2020-08-07T00:00:00.000Z"),
        ("nl", "d MMMM yyyy", "7 AUGUSTUS 2020", "2020-08-07T00:00:00.000Z"),
        ("ja", "yyyy M d EEEE", "2020 8 7 金曜日", "2020-08-07T00:00:00.000Z"),
        ("es", "hh a", "05 a.\u{a0}m.", "1970-01-01T05:00:00.000Z"),
    ] {
        let format = Format::parse(pattern, Dialect::Joda).unwrap();
        let found = format.read(text, Zone::UTC, Locale::of(tag).unwrap(), now());
        assert_eq!(found.map(iso8601).as_deref(), Some(expected), "{pattern} on {text}");
    }
    assert!(Locale::of("xx").is_none());
}

#[test]
fn guesses_the_year() {
    let january = Utc.with_ymd_and_hms(2026, 1, 2, 0, 0, 0).unwrap();
    let format = Format::parse("MMM dd", Dialect::Joda).unwrap();
    let read = |text, now| format.read(text, Zone::UTC, Locale::english(), now).map(iso8601);
    assert_eq!(read("Dec 31", january).as_deref(), Some("2025-12-31T00:00:00.000Z"));
    let december = Utc.with_ymd_and_hms(2026, 12, 31, 0, 0, 0).unwrap();
    assert_eq!(read("Jan 01", december).as_deref(), Some("2027-01-01T00:00:00.000Z"));
}

#[test]
fn writes_both_dialects() {
    let time = Utc.with_ymd_and_hms(2020, 12, 31, 3, 4, 5).unwrap();
    for (pattern, dialect, expected) in [
        ("YYYY.MM.dd", Dialect::Joda, "2020.12.31"),
        ("xxxx.ww", Dialect::Joda, "2020.53"),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSZZ", Dialect::Joda, "2020-12-31T03:04:05.000+00:00"),
        ("E d MMM yy h a", Dialect::Java, "Thu 31 Dec 20 3 AM"),
        ("YYYY w e", Dialect::Java, "2021 1 5"),
        ("HH:mm:ssXXX|x|xxx|Z|ZZZZ|VV|O", Dialect::Java, "03:04:05Z|+00|+00:00|+0000|GMT|Z|GMT"),
        ("QQQ MMMMM EEEEE A", Dialect::Java, "Q4 D T 11045000"),
        ("z zzzz ZZZ CC e", Dialect::Joda, "UTC Coordinated Universal Time UTC 20 4"),
    ] {
        let mut text = String::new();
        Format::parse(pattern, dialect).unwrap().push(&mut text, time);
        assert_eq!(text, expected);
    }
    assert!(Format::parse("yyyy-bb", Dialect::Joda).is_err());
}

#[test]
fn reads_iso_8601() {
    for (text, expected) in [
        ("2013-10-19T00:14:32.996Z", Some("2013-10-19T00:14:32.996Z")),
        ("2013-10-19 00:14:32,5", Some("2013-10-19T00:14:32.500Z")),
        ("2013-10-19T00:14+02", Some("2013-10-18T22:14:00.000Z")),
        ("2013-10", Some("2013-10-01T00:00:00.000Z")),
        ("2013-10-19T00:14:32.123456789Z", Some("2013-10-19T00:14:32.123456789Z")),
        ("foobar", None),
        ("2013-10-19T00:14:32.996Zx", None),
    ] {
        assert_eq!(parse_iso8601(text).map(iso8601).as_deref(), expected, "{text}");
    }
}

#[test]
fn reads_iso_8601_as_the_date_filter_does() {
    let zone = Zone::named("Europe/Berlin").unwrap();
    // What Joda-Time 2.12.7 makes of them.
    for (text, expected) in [
        ("2026-05-01T10:20:30", Some("2026-05-01T08:20:30.000Z")),
        ("2026-05-01T10:20:30.123456-00:00", Some("2026-05-01T10:20:30.123Z")),
        ("2026-05-01 10:20:30.1", Some("2026-05-01T08:20:30.100Z")),
        ("2026-05-01 10:20:30,123Z", Some("2026-05-01T10:20:30.123Z")),
        ("2026-05-01 10:20:30.123+01:00", Some("2026-05-01T09:20:30.123Z")),
        ("2026-05-01 10:20:30", None),
        ("2026-05-01 10:20:30Z", None),
        ("2026-05-01 10:20:30.", None),
        ("2026-05-01 10:20:30.123456", None),
        ("2026-05-01T10:20:30 +0100", None),
        ("2026-05-01T10:20:30.1234567890", None),
        ("2026-5-1t1:2:3z", Some("2026-05-01T01:02:03.000Z")),
        ("2026", Some("2025-12-31T23:00:00.000Z")),
        ("2026T+01", Some("2025-12-31T23:00:00.000Z")),
        ("2026-121", Some("2026-04-30T22:00:00.000Z")),
        ("2026-W18-5T10,5+01", Some("2026-05-01T09:30:00.000Z")),
        ("T10:20.25Z", Some("1970-01-01T10:20:15.000Z")),
        ("12026-01-01T10:20Z", Some("+12026-01-01T10:20:00.000Z")),
        ("2026-02-30", None),
        ("2026-05-01T24:00:00", None),
        ("2026-05-01T10:20:30+25:00", None),
        ("", None),
    ] {
        let found = parse_casual(text, zone);
        assert_eq!(found.map(iso8601).as_deref(), expected, "{text}");
    }
}
