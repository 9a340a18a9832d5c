//! Times of the Common Event Format: milliseconds since 1970, or a month's name, a day and a time, with or
//! without year, fraction and zone.

use crate::complain;
use crate::options::Arguments;
use chrono::{DateTime, Utc};
use temblor_logstash_event::timestamp::{Dialect, Format, Locale, Zone};

const FORMATS: [&str; 4] =
    ["MMM dd yyyy HH:mm:ss", "MMM dd yyyy HH:mm:ss.SSS", "MMM dd HH:mm:ss", "MMM dd HH:mm:ss.SSS"];

/// Reads times.
#[derive(Debug)]
pub(crate) struct Clock {
    formats: Vec<Format>,
    /// Of times that say none, from devices that say none.
    zone: Zone,
    locale: &'static Locale,
}

impl Clock {
    /// Reads the options `default_timezone` and `locale`.
    pub(super) fn compile(arguments: &mut Arguments<'_>) -> Option<Self> {
        let zone = match arguments.text("default_timezone") {
            None => Some(Zone::UTC),
            Some(name) => Zone::named(&name),
        };
        // As in Logstash a language without names of its own has those of English.
        let locale = arguments.text("locale").and_then(|tag| Locale::of(&tag));
        if zone.is_none() {
            let place = arguments.place("default_timezone");
            let wanted = "the name of a time zone, such as Europe/Berlin";
            arguments.complain(complain::bad_value("default_timezone", place, wanted));
        }
        let format = |text: &str| Format::parse(text, Dialect::Joda).expect("it is a pattern");
        let formats = FORMATS.into_iter().map(format).collect();
        Some(Self { formats, zone: zone?, locale: locale.unwrap_or_else(Locale::english) })
    }

    /// The moment of a text; `zone` is what the device says of itself.
    pub(super) fn read(
        &self,
        text: &str,
        zone: Option<Zone>,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let text = text.trim();
        if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            let millis = text.split('.').next().unwrap_or(text);
            return DateTime::from_timestamp_millis(millis.parse().ok()?);
        }
        let said = text.rsplit_once(' ').and_then(|(rest, name)| Some((rest, Zone::named(name)?)));
        let (text, zone) = match said {
            Some((rest, zone)) => (rest, zone),
            None => (text, zone.unwrap_or(self.zone)),
        };
        self.formats.iter().find_map(|format| format.read(text, zone, self.locale, now))
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, FORMATS};
    use chrono::DateTime;
    use temblor_logstash_event::timestamp::{Dialect, Format, Locale, Zone};

    #[test]
    fn reads_each_form() {
        let formats = FORMATS.map(|text| Format::parse(text, Dialect::Joda).expect("a pattern"));
        let zone = Zone::named("Europe/Berlin").expect("a zone");
        let clock = Clock { formats: formats.into(), zone, locale: Locale::english() };
        let now = DateTime::from_timestamp(1_700_000_000, 0).expect("a time");
        let read = |text: &str, zone| Some(clock.read(text, zone, now)?.to_rfc3339());
        for (text, zone, wanted) in [
            ("1582223641000", None, "2020-02-20T18:34:01+00:00"),
            ("Feb 20 2020 19:34:01", None, "2020-02-20T18:34:01+00:00"),
            ("Feb 20 2020 18:34:01.500 UTC", None, "2020-02-20T18:34:01.500+00:00"),
            ("Feb 20 2020 13:34:01", Some("America/New_York"), "2020-02-20T18:34:01+00:00"),
            ("Nov 05 12:00:00", None, "2023-11-05T11:00:00+00:00"),
        ] {
            let found = read(text, zone.and_then(Zone::named));
            assert_eq!(found.as_deref(), Some(wanted), "{text}");
        }
        assert_eq!(read("yesterday", None), None);
        assert_eq!(read("", None), None);
    }
}
