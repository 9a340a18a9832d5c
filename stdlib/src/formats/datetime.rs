//! Times written in a fixed format of `strptime` fields, as nanoseconds since 1970-01-01 UTC. A
//! format must give a whole date and time; without an offset the time is UTC.

use super::FormatError;
use chrono::format::{Item, Parsed, StrftimeItems, parse as parse_items};
use temblor_lang::value::{Arena, Value};

/// A compiled format.
#[derive(Clone, Debug)]
pub struct DateFormat {
    /// `None` when the format itself is wrong: such a format matches nothing.
    items: Option<Vec<Item<'static>>>,
    has_offset: bool,
}

impl DateFormat {
    /// Compiles a format such as `%Y-%m-%dT%H:%M:%S%z`.
    #[must_use]
    pub fn compile(format: &str) -> Self {
        let items = StrftimeItems::new(format).parse_to_owned().ok();
        Self { items, has_offset: has_offset(format) }
    }

    /// Whether the format is one that can match at all.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.items.is_some()
    }

    /// Nanoseconds since 1970-01-01 UTC; `None` if `text` is not of this format or the time is
    /// outside of the years 1677 to 2262.
    #[must_use]
    pub fn nanoseconds(&self, text: &str) -> Option<i64> {
        let mut parsed = Parsed::new();
        parse_items(&mut parsed, text, self.items.as_ref()?.iter()).ok()?;
        if self.has_offset {
            return parsed.to_datetime().ok()?.timestamp_nanos_opt();
        }
        parsed.to_naive_datetime_with_offset(0).ok()?.and_utc().timestamp_nanos_opt()
    }

    /// The time as an unsigned integer of nanoseconds; a time before 1970 wraps around.
    ///
    /// # Errors
    /// When `text` is not of this format.
    pub fn parse<'a>(&self, text: &str, _arena: &'a Arena) -> Result<Value<'a>, FormatError> {
        match self.nanoseconds(text) {
            Some(time) => Ok(Value::UInt(time.cast_unsigned())),
            None => Err(FormatError::new(text, 0, "a time in the given format")),
        }
    }
}

/// Whether a format asks for an offset from UTC.
fn has_offset(format: &str) -> bool {
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            continue;
        }
        match characters.next() {
            Some('+' | 'z' | 'Z') => return true,
            Some(':' | '#') if characters.next() == Some('z') => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times() {
        for (format, text, expected) in [
            ("%Y-%m-%dT%H:%M:%S%z", "2020-01-01T00:00:00+0100", Some(1_577_833_200_000_000_000)),
            ("%Y-%m-%d %H:%M:%S", "2020-01-01 00:00:00", Some(1_577_836_800_000_000_000)),
            ("%Y-%m-%d %H:%M:%S%.f", "2020-01-01 00:00:00.25", Some(1_577_836_800_250_000_000)),
            ("%+", "2020-01-01T00:00:00Z", Some(1_577_836_800_000_000_000)),
            ("%s", "1577836800", Some(1_577_836_800_000_000_000)),
            ("%Y-%m-%d", "2020-01-01", None),
            ("%Y-%m-%d %H:%M", "2020-01-01 00:00 ", None),
            ("%Y-%m-%d %H:%M", "2020-02-30 00:00", None),
            ("%Y-%m-%d %H:%M:%S", "3000-01-01 00:00:00", None),
            ("%Q", "x", None),
            ("", "", None),
            ("%Y-%m-%d %H:%M:%S", "1969-12-31 23:59:59", Some(-1_000_000_000)),
        ] {
            assert_eq!(DateFormat::compile(format).nanoseconds(text), expected, "{format} {text}");
        }
    }

    #[test]
    fn times_before_1970_wrap() {
        let arena = Arena::new();
        let format = DateFormat::compile("%Y-%m-%d %H:%M:%S");
        let value = format.parse("1969-12-31 23:59:59", &arena).expect("a time");
        assert_eq!(value.as_u64(), Some(u64::MAX - 999_999_999));
    }

    #[test]
    fn knows_offsets() {
        for (format, expected) in
            [("%z", true), ("%:z", true), ("%#z", true), ("%::z", false), ("%%z", false)]
        {
            assert_eq!(has_offset(format), expected, "{format}");
        }
    }
}
