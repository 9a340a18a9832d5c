//! Lengths of time as the input `file` takes them: a number of seconds, or a number and a unit.

use std::time::Duration;

/// What a complaint shows.
pub(crate) const EXAMPLES: &str = "`30`, `\"500 msec\"`, `\"1 hour\"`, `\"2 weeks\"`";

/// The time of `3600`, `"1 hour"`, `"0.5 d"`; `None` when the text is none.
#[must_use]
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        "ms" | "msec" | "msecs" => 0.001,
        "us" | "usec" | "usecs" => 0.000_001,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * unit).ok()
}

#[cfg(test)]
mod tests {
    use super::parse;
    use std::time::Duration;

    #[test]
    fn numbers_are_seconds_and_units_have_several_names() {
        for (text, millis) in [
            ("3600", 3_600_000),
            ("0.5", 500),
            ("500 msec", 500),
            ("250ms", 250),
            ("1 hour", 3_600_000),
            ("2 weeks", 1_209_600_000),
            ("1.5 d", 129_600_000),
            ("3000 us", 3),
            ("0", 0),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "soon", "1 parsec", "-1", "1.2.3", "1e400 s", "hour"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
