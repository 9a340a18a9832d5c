//! Named groups of a regular expression as a record. Matching takes linear time whatever the
//! expression; groups that took no part in the match are absent.

use super::{FormatError, Keys};
use regex_automata::meta::{Config, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::util::primitives::{NonMaxUsize, PatternID};
use temblor_lang::value::{Arena, Value};

/// Size of a compiled expression, in bytes; larger ones are refused.
pub(crate) const SIZE_MAX_BYTES: usize = 10 << 20;

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct NamedGroups {
    regex: Regex,
    keys: Keys,
    /// Number of the group in the expression, for each key.
    groups: Vec<usize>,
}

impl NamedGroups {
    /// Compiles an expression in the syntax of the `regex` crate.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the expression.
    pub fn compile(pattern: &str) -> Result<Self, String> {
        let regex = Regex::builder()
            .configure(Config::new().nfa_size_limit(Some(SIZE_MAX_BYTES)))
            .build(pattern)
            .map_err(|error| reason(pattern, &error))?;
        let mut keys = Keys::default();
        let mut groups = Vec::new();
        for (group, name) in regex.group_info().pattern_names(PatternID::ZERO).enumerate() {
            if let Some(name) = name {
                keys.number(name);
                groups.push(group);
            }
        }
        Ok(Self { regex, keys, groups })
    }

    /// The engine itself.
    #[must_use]
    pub fn regex(&self) -> &Regex {
        &self.regex
    }

    /// Whether the expression is found in `text`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The named groups of the first match as a record of strings.
    ///
    /// # Errors
    /// When the expression is not found.
    pub fn parse<'a>(&self, text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
        /// Slots for this many groups stand on the stack.
        const SLOTS: usize = 64;
        let mut on_stack: [Option<NonMaxUsize>; SLOTS] = [None; SLOTS];
        let mut on_heap = Vec::new();
        let count = self.regex.group_info().slot_len();
        let slots = match on_stack.get_mut(..count) {
            Some(slots) => slots,
            None => {
                on_heap.resize(count, None);
                on_heap.as_mut_slice()
            }
        };
        if self.regex.search_slots(&text.into(), slots).is_none() {
            return Err(FormatError::new(text, 0, "text that matches the regular expression"));
        }
        let keys = self.keys.place(arena);
        let mut record = arena.record_builder(self.groups.len());
        for (key, group) in self.groups.iter().enumerate() {
            if let (Some(start), Some(end)) = (slots[group * 2], slots[group * 2 + 1]) {
                record.append_key(&keys.key(key), Value::Str(&text[start.get()..end.get()]));
            }
        }
        Ok(record.finish())
    }

    /// All matches: each named group as an array of strings; `{}` if there is no match.
    #[must_use]
    pub fn parse_all<'a>(&self, text: &'a str, arena: &'a Arena) -> Value<'a> {
        let mut lists: Vec<_> = self.groups.iter().map(|_| arena.array_builder(0)).collect();
        let add = |captures: Captures| {
            for (list, group) in lists.iter_mut().zip(&self.groups) {
                if let Some(span) = captures.get_group(*group) {
                    list.push(Value::Str(&text[span.range()]));
                }
            }
        };
        self.regex.captures_iter(text).for_each(add);
        let keys = self.keys.place(arena);
        let mut record = arena.record_builder(self.groups.len());
        for (key, list) in lists.into_iter().enumerate() {
            if !list.is_empty() {
                record.append_key(&keys.key(key), list.finish());
            }
        }
        record.finish()
    }
}

/// What is wrong with an expression, on one line.
fn reason(pattern: &str, error: &regex_automata::meta::BuildError) -> String {
    match error.syntax_error() {
        Some(syntax) => {
            // The last line of the engine's picture of the pattern says what is wrong.
            let picture = syntax.to_string();
            let last = picture.lines().last().unwrap_or_default();
            let what = last.trim_start_matches("error: ").trim_end_matches('.');
            format!("the regular expression '{pattern}' is not valid: {what}")
        }
        None => format!("the regular expression is larger than {SIZE_MAX_BYTES} bytes compiled"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    fn run(pattern: &str, text: &str) -> Option<String> {
        let pattern = NamedGroups::compile(pattern).expect("a good expression");
        let arena = Arena::new();
        let found = pattern.parse(text, &arena).ok().map(to_json);
        assert_eq!(found.is_some(), pattern.matches(text));
        found
    }

    #[test]
    fn gives_named_groups_that_took_part() {
        for (pattern, text, expected) in [
            (r"(?P<d>\d+)(?P<z>z)?", "ab12", Some(r#"{"d":"12"}"#)),
            (r"(?<d>\d+)(?P<z>z)?", "ab12z 3", Some(r#"{"d":"12","z":"z"}"#)),
            (r"(\d)(?P<e>x*)", "1", Some(r#"{"e":""}"#)),
            (r"\d", "x1", Some("{}")),
            (r"^\d", "x1", None),
            (r"(?i)ÄB", "xäb", Some("{}")),
        ] {
            assert_eq!(run(pattern, text).as_deref(), expected, "{pattern} on {text}");
        }
        let many: String = (0..40).map(|n| format!("(?P<g{n}>.)")).collect();
        let value = run(&many, &"x".repeat(40)).expect("a match");
        assert_eq!(value.matches(r#":"x""#).count(), 40);
    }

    #[test]
    fn gathers_all_matches() {
        let arena = Arena::new();
        let pattern = NamedGroups::compile(r"(?P<d>\d)(?P<l>[a-z])?").expect("good");
        assert_eq!(to_json(pattern.parse_all("1a 2", &arena)), r#"{"d":["1","2"],"l":["a"]}"#);
        assert_eq!(to_json(pattern.parse_all("-", &arena)), "{}");
    }

    #[test]
    fn refuses_bad_expressions() {
        for (pattern, reason) in
            [("(", "unclosed group"), (r"(?=x)", "look-around"), (r"a{1000}{1000}{1000}", "larger")]
        {
            let error = NamedGroups::compile(pattern).expect_err(pattern);
            assert!(error.contains(reason), "{pattern}: {error}");
        }
    }
}
