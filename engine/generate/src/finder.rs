//! Finds tokens in events, by regexes as Python writes them.
//!
//! Invariant: a pattern that needs no look-around and no back-reference takes linear time.

use regex::bytes::{CaptureLocations, Regex};
use std::ops::Range;

/// Steps back after which a pattern with look-around gives up on an event.
const BACKTRACKS_MAX: usize = 1_000_000;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Finder {
    engine: Engine,
    /// In the syntax of the engine.
    pattern: String,
}

#[derive(Clone, Debug)]
enum Engine {
    Linear(Regex),
    Backtracking(Box<fancy_regex::Regex>),
}

/// A place in an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// All that the pattern matched.
    pub whole: Range<usize>,
    /// What is replaced: the first group where it took part, else the whole.
    pub target: Range<usize>,
}

impl Finder {
    /// Compiles a pattern of Python's `re`.
    ///
    /// # Errors
    /// What is wrong with the pattern.
    pub(crate) fn python(pattern: &str) -> Result<Self, String> {
        Self::compile(translated(pattern))
    }

    /// Compiles a pattern as the rest of Temblor writes them.
    ///
    /// # Errors
    /// What is wrong with the pattern.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        Self::compile(pattern.to_string())
    }

    fn compile(pattern: String) -> Result<Self, String> {
        let linear = Regex::new(&pattern);
        let engine = match linear {
            Ok(regex) => Engine::Linear(regex),
            Err(error) => {
                let builder = fancy_regex::RegexBuilder::new(&pattern)
                    .backtrack_limit(BACKTRACKS_MAX)
                    .build();
                let first_line = |_| {
                    let text = error.to_string();
                    let said =
                        text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
                    format!(
                        "the regex `{pattern}` is wrong: {}",
                        said.trim_start_matches("error: ")
                    )
                };
                Engine::Backtracking(Box::new(builder.map_err(first_line)?))
            }
        };
        Ok(Finder { engine, pattern })
    }

    /// The pattern, in the syntax of the engine.
    #[must_use]
    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The pattern, if it is one of the linear engine.
    #[must_use]
    pub(crate) fn linear_pattern(&self) -> Option<&str> {
        matches!(self.engine, Engine::Linear(_)).then_some(&self.pattern)
    }

    /// Where the pattern matches first.
    #[must_use]
    pub(crate) fn first(&self, text: &[u8]) -> Option<Spot> {
        let mut spots = Vec::new();
        self.search(text, true, &mut spots);
        spots.pop()
    }

    /// Where the pattern matches, one behind the other.
    pub(crate) fn all(&self, text: &[u8], spots: &mut Vec<Spot>) {
        spots.clear();
        self.search(text, false, spots);
    }

    fn search(&self, text: &[u8], is_first: bool, spots: &mut Vec<Spot>) {
        let count = if is_first { 1 } else { usize::MAX };
        match &self.engine {
            Engine::Linear(regex) if regex.captures_len() == 1 => {
                let found = regex.find_iter(text).map(|found| found.range());
                spots.extend(found.take(count).map(|whole| Spot { target: whole.clone(), whole }));
            }
            Engine::Linear(regex) => grouped(regex, text, count, spots),
            Engine::Backtracking(regex) => {
                let Ok(text) = std::str::from_utf8(text) else { return };
                // A search that gives up finds nothing more.
                for found in regex.captures_iter(text).take(count).map_while(Result::ok) {
                    let Some(whole) = found.get(0).map(|whole| whole.range()) else { continue };
                    let target = found.get(1).map_or(whole.clone(), |group| group.range());
                    spots.push(Spot { whole, target });
                }
            }
        }
    }
}

/// All matches with their first groups, without an allocation for each.
fn grouped(regex: &Regex, text: &[u8], count: usize, spots: &mut Vec<Spot>) {
    let mut groups: CaptureLocations = regex.capture_locations();
    let (mut at, mut last_end) = (0, None);
    while at <= text.len() && spots.len() < count {
        let Some(found) = regex.captures_read_at(&mut groups, text, at) else { break };
        let whole = found.range();
        // Behind a match, an empty one begins a byte later.
        at = if whole.is_empty() { whole.end + 1 } else { whole.end };
        if whole.is_empty() && last_end == Some(whole.end) {
            continue;
        }
        last_end = Some(whole.end);
        let target = groups.get(1).map_or(whole.clone(), |(start, end)| start..end);
        spots.push(Spot { whole, target });
    }
}

/// A pattern of Python's `re` in the syntax of the engines: the same meaning where the letters differ.
fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        rest = match letter {
            '\\' => escape(after, false, &mut out),
            '[' => class(after, &mut out),
            '{' => brace(after, &mut out),
            '}' => {
                out.push_str("\\}");
                after
            }
            '(' if after.starts_with("?#") => after.split_once(')').map_or("", |(_, rest)| rest),
            other => {
                out.push(other);
                after
            }
        };
    }
    out
}

/// Behind a backslash; gives the rest.
fn escape<'p>(rest: &'p str, is_class: bool, out: &mut String) -> &'p str {
    let Some(letter) = rest.chars().next() else {
        out.push_str("\\\\");
        return rest;
    };
    let after = &rest[letter.len_utf8()..];
    match letter {
        'Z' => out.push_str("\\z"),
        'b' if is_class => out.push_str("\\x08"),
        '0' => out.push_str("\\x00"),
        'e' => out.push_str("\\x1b"),
        '_' | '<' | '>' | '/' | '"' | '\'' | ' ' | '%' | '@' | '=' | ',' | ';' | ':' | '!'
        | '`' => {
            out.push(letter);
        }
        other if other.is_ascii() => {
            out.push('\\');
            out.push(other);
        }
        other => out.push(other),
    }
    after
}

/// Behind the bracket of a set of characters; gives the rest.
fn class<'p>(mut rest: &'p str, out: &mut String) -> &'p str {
    out.push('[');
    if let Some(after) = rest.strip_prefix('^') {
        out.push('^');
        rest = after;
    }
    let mut is_first = true;
    let mut is_shorthand = false;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        let was_shorthand = std::mem::replace(&mut is_shorthand, false);
        rest = match letter {
            ']' if !is_first => {
                out.push(']');
                return after;
            }
            '\\' => {
                is_shorthand = after.starts_with(['w', 'd', 's', 'W', 'D', 'S']);
                escape(after, true, out)
            }
            '-' if was_shorthand || after.starts_with("\\w") || after.starts_with("\\d") => {
                out.push_str("\\-");
                after
            }
            '[' | ']' | '&' | '~' => {
                out.push('\\');
                out.push(letter);
                after
            }
            '-' if after.starts_with('-') => {
                out.push_str("\\-");
                after
            }
            other => {
                out.push(other);
                after
            }
        };
        is_first = false;
    }
    rest
}

/// Behind a curly bracket: how often, or just a bracket; gives the rest.
fn brace<'p>(rest: &'p str, out: &mut String) -> &'p str {
    let counted = rest.split_once('}').filter(|(inside, _)| {
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (low, high) = inside.split_once(',').unwrap_or((inside, ""));
        is_number(low) && is_number(high) && !(low.is_empty() && high.is_empty())
    });
    match counted.filter(|_| !out.is_empty() && !out.ends_with(['(', '|'])) {
        Some((inside, after)) => {
            let low = if inside.starts_with(',') { "0" } else { "" };
            out.push_str(&format!("{{{low}{inside}}}"));
            after
        }
        None => {
            out.push_str("\\{");
            rest
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(pattern: &str, text: &str) -> Vec<String> {
        let mut spots = Vec::new();
        Finder::python(pattern).unwrap().all(text.as_bytes(), &mut spots);
        spots.into_iter().map(|spot| text[spot.target].to_string()).collect()
    }

    #[test]
    fn patterns_of_python_keep_their_meaning() {
        for (pattern, text, expected) in [
            (r#"{"id":"(\d+)"}"#, r#"{"id":"7"}"#, vec!["7"]),
            (r"\d{,3}x", "12x", vec!["12x"]),
            (r"a\<b\>\/\_\'c", "a<b>/_'c", vec!["a<b>/_'c"]),
            (r"[^[]+", "a[b", vec!["a", "b"]),
            (r"[\w-.]+", "a-b.c d", vec!["a-b.c", "d"]),
            (r"[]x]+", "a]x", vec!["]x"]),
            (r"[a&&b]", "&", vec!["&"]),
            (r"(?<=id=)\d+", "id=12 34", vec!["12"]),
            (r"(a)\1", "aab", vec!["a"]),
            (r"end\Z", "end", vec!["end"]),
            (r"(?#note)a", "a", vec!["a"]),
            (r#"id="(\d*)"#, r#"id="" id="5""#, vec!["", "5"]),
            (r"x(y)?", "x xy", vec!["x", "y"]),
            (r"##\w+##", "##a## b", vec!["##a##"]),
        ] {
            assert_eq!(targets(pattern, text), expected, "{pattern}");
        }
        assert!(Finder::python("(").unwrap_err().contains("unclosed group"));
    }

    #[test]
    fn searches_that_never_end_give_up() {
        let finder = Finder::python("(?=(a+)+$)b|(a+)+$(?!x)").unwrap();
        let mut spots = Vec::new();
        finder.all(format!("{}b", "a".repeat(40)).as_bytes(), &mut spots);
        assert!(spots.len() < 40, "at most {BACKTRACKS_MAX} steps are gone back");
    }

    #[test]
    fn empty_matches_come_once() {
        assert_eq!(targets("(x*)", "axb"), ["", "x", ""]);
    }
}
