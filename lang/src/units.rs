//! Units of time and of size, and the texts that people write with them: `1h30m`, `2.5s`, `64 KiB`.
//!
//! Invariant: what a literal of the language may say, a text for a setting or a function may say too.

/// A unit's name and what it stands for: nanoseconds, or bytes.
pub type Unit = (&'static str, u64);

/// Units of time in nanoseconds, the largest first; of several names of one the usual first.
pub const DURATIONS: &[Unit] = &[
    ("w", 604_800_000_000_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// Units of size in bytes, the largest first; their case does not matter.
pub const SIZES: &[Unit] = &[
    ("EiB", 1 << 60),
    ("PiB", 1 << 50),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("EB", 1_000_000_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// What the unit of a literal stands for.
#[must_use]
pub fn scale(unit: &str) -> Option<u64> {
    duration_scale(unit).or_else(|| size_scale(unit))
}

/// The nanoseconds of a text such as `10s`, `1.5h` or `1h30m`.
#[must_use]
pub fn parse_duration(text: &str) -> Option<u64> {
    sum(text, duration_scale)
}

/// The bytes of a text such as `5MiB`, `1.5 GB` or `100`.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    sum(text, |unit| if unit.is_empty() { Some(1) } else { size_scale(unit) })
}

fn duration_scale(unit: &str) -> Option<u64> {
    DURATIONS.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale)
}

fn size_scale(unit: &str) -> Option<u64> {
    SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, scale)| *scale)
}

/// A sum of numbers with units. Nothing, when it does not fit 63 bits.
fn sum(text: &str, scale: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let is_number = |character: char| character.is_ascii_digit() || character == '.';
        let (number, after) = split(rest, |character| !is_number(character));
        let (unit, after) = split(after.trim_start(), |character| !character.is_alphabetic());
        total += number.parse::<f64>().ok()? * scale(unit)? as f64;
        rest = after.trim_start();
    }
    (total < i64::MAX as f64).then_some(total.round() as u64)
}

/// The text before the first character that is an end, and the rest.
fn split(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_are_sums_of_numbers_with_units() {
        assert_eq!(parse_duration("1h30m"), Some(5_400_000_000_000));
        assert_eq!(parse_duration(" 2.5 s "), Some(2_500_000_000));
        assert_eq!(parse_duration("3µs"), Some(3_000));
        assert_eq!(parse_size("1.5 kb"), Some(1_500));
        assert_eq!(parse_size("64KiB"), Some(65_536));
        assert_eq!(parse_size("100"), Some(100));
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        for text in ["", "s", "10", "1.2.3s", "-1s", "10 parsecs", "99999999999w", "1e3s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        for text in ["", "B", "10 s", "1..0B", "9EiB"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    #[test]
    fn a_unit_of_a_literal_is_of_time_first() {
        assert_eq!(
            (scale("m"), scale("MB"), scale("KB")),
            (Some(60_000_000_000), Some(1_000_000), Some(1_000))
        );
        assert_eq!(scale("parsec"), None);
    }
}
