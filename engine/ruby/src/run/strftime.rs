//! Ruby's `strftime`: directives with flags and a width. An unknown directive is copied as it
//! is.

use chrono::{DateTime, FixedOffset};
use std::fmt::Write;

/// Bytes of a pattern; each few of them may ask for a field of the greatest width.
pub(super) const PATTERN_MAX: usize = 1 << 12;
/// Greatest width of a field.
const WIDTH_MAX: usize = 1024;

/// What stands between `%` and the letter.
#[derive(Default)]
struct Directive {
    /// `-`, `0`, `_`
    padding: Option<char>,
    /// `^`
    upper: bool,
    /// `#`
    swapped: bool,
    colons: usize,
    width: Option<usize>,
}

/// The time as `pattern` says.
pub(super) fn strftime(time: DateTime<FixedOffset>, pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let (directive, after) = read(&rest[at + 1..]);
        let text = after.chars().next().and_then(|letter| field(time, letter, &directive));
        match text {
            Some(text) => {
                out.push_str(&text);
                rest = &after[1..];
            }
            None => {
                out.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn read(text: &str) -> (Directive, &str) {
    let mut directive = Directive::default();
    let mut rest = text;
    loop {
        match rest.chars().next() {
            Some(flag @ ('-' | '0' | '_')) => directive.padding = Some(flag),
            Some('^') => directive.upper = true,
            Some('#') => directive.swapped = true,
            Some(':') => directive.colons += 1,
            _ => break,
        }
        rest = &rest[1..];
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    directive.width = rest[..digits].parse().ok().map(|width: usize| width.min(WIDTH_MAX));
    (directive, &rest[digits..])
}

fn field(time: DateTime<FixedOffset>, letter: char, directive: &Directive) -> Option<String> {
    let nanos = format!("{:09}", time.timestamp_subsec_nanos());
    let decimals = |usual: usize| {
        let places = directive.width.unwrap_or(usual);
        format!("{nanos:0<places$}")[..places].to_string()
    };
    let (text, pad, width) = match letter {
        'L' => return Some(decimals(3)),
        'N' => return Some(decimals(9)),
        'n' => return Some("\n".to_string()),
        't' => return Some("\t".to_string()),
        '%' => return Some("%".to_string()),
        'Q' => (time.timestamp_millis().to_string(), '0', 1),
        'z' => (zone(time, directive.colons), '0', 0),
        'Z' if time.offset().local_minus_utc() == 0 => ("UTC".to_string(), ' ', 0),
        'Z' => (String::new(), ' ', 0),
        'v' => (written(time, "%e-%^b-%Y").to_uppercase(), ' ', 0),
        '+' => (written(time, "%a %b %e %H:%M:%S UTC %Y"), ' ', 0),
        'Y' | 'G' | 's' | 'u' | 'w' => (plain(time, letter), '0', 1),
        'C' | 'd' | 'g' | 'H' | 'I' | 'm' | 'M' | 'S' | 'U' | 'V' | 'W' | 'y' => {
            (plain(time, letter), '0', 2)
        }
        'j' => (plain(time, letter), '0', 3),
        'e' | 'k' | 'l' => (plain(time, letter), ' ', 2),
        'A' | 'a' | 'B' | 'b' | 'h' | 'P' | 'p' | 'c' | 'D' | 'F' | 'R' | 'r' | 'T' | 'X' | 'x' => {
            (plain(time, letter), ' ', 0)
        }
        _ => return None,
    };
    Some(shaped(text, pad, width, directive, letter))
}

/// Upper case and padding.
fn shaped(text: String, pad: char, width: usize, directive: &Directive, letter: char) -> String {
    let mut text = match directive {
        Directive { swapped: true, .. } if letter == 'p' => text.to_lowercase(),
        Directive { upper: true, .. } | Directive { swapped: true, .. } => text.to_uppercase(),
        _ => text,
    };
    let pad = match directive.padding {
        Some('0') => '0',
        Some('_') => ' ',
        Some('-') => {
            let bare = text.trim_start_matches(['0', ' ']);
            let numeric = width > 0 && !bare.is_empty();
            return if numeric { bare.to_string() } else { text };
        }
        _ => pad,
    };
    let width = directive.width.unwrap_or(width);
    if width > 0 && text.starts_with([' ', '0']) && text.len() <= width {
        let bare = text.trim_start_matches([' ', '0']);
        text = if bare.is_empty() { "0".to_string() } else { bare.to_string() };
    }
    let missing = width.saturating_sub(text.chars().count());
    let fill: String = std::iter::repeat_n(pad, missing).collect();
    fill + &text
}

fn plain(time: DateTime<FixedOffset>, letter: char) -> String {
    written(time, &format!("%{letter}"))
}

fn written(time: DateTime<FixedOffset>, pattern: &str) -> String {
    // A year has no sign in Ruby, and these letters are the same in both.
    let pattern = pattern.replace("%^b", "%b");
    let mut text = String::new();
    match write!(text, "{}", time.format(&pattern)) {
        Ok(()) => text,
        Err(_) => String::new(),
    }
}

/// `+0100`, `+01:00`, `+01:00:00`
fn zone(time: DateTime<FixedOffset>, colons: usize) -> String {
    let seconds = time.offset().local_minus_utc();
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes) = (seconds.abs() / 3600, seconds.abs() / 60 % 60);
    match colons {
        0 => format!("{sign}{hours:02}{minutes:02}"),
        1 => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{:02}", seconds.abs() % 60),
    }
}
