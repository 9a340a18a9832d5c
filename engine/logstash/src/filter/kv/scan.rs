//! Pairs of a text, from left to right. A backslash before a separator makes it part of the key or
//! value; quotes and brackets count only where a value begins.

use super::TooLong;
use crate::pattern::Pattern;

/// How pairs are found.
#[derive(Debug)]
pub(super) struct Tooling {
    pub field_split: Pattern,
    pub value_split: Pattern,
    /// Blanks around the value separator are ignored.
    pub lenient: bool,
    /// Whether blanks in front of the value separator never belong to a key: a key ends in front of what a
    /// regular expression finds, but a set of characters ends it only where blanks are in the set.
    pub(crate) blanks_end_keys: bool,
    pub brackets: bool,
    pub(crate) allow_empty: bool,
}

/// A walk over the pairs of a text.
pub(super) struct Scanner<'p, 't> {
    tooling: &'p Tooling,
    text: &'t str,
    at: usize,
    /// The next separators from `at` on, once they were looked for.
    next_field: Option<Separator>,
    next_value: Option<Separator>,
}

/// A place that was found, or that there is none.
#[derive(Clone, Copy)]
struct Separator {
    /// `usize::MAX` when there is none.
    from: usize,
    to: usize,
}

const NONE: Separator = Separator { from: usize::MAX, to: usize::MAX };
const QUOTES: [(char, char); 2] = [('"', '"'), ('\'', '\'')];
const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('<', '>')];

impl<'p, 't> Scanner<'p, 't> {
    pub(super) fn new(tooling: &'p Tooling, text: &'t str) -> Self {
        Self { tooling, text, at: 0, next_field: None, next_value: None }
    }

    /// The first separator from `start` on that has no backslash before it.
    fn find(pattern: &Pattern, text: &str, mut start: usize) -> Result<Separator, TooLong> {
        while let Some((from, to)) = pattern.span_at(text, start).map_err(|_| TooLong)? {
            if to > from && !text[..from].ends_with('\\') {
                return Ok(Separator { from, to });
            }
            start = from + text[from..].chars().next().map_or(1, char::len_utf8);
            if start > text.len() {
                break;
            }
        }
        Ok(NONE)
    }

    fn field_at(&mut self, start: usize) -> Result<Separator, TooLong> {
        match self.next_field {
            Some(found) if found.from >= start => Ok(found),
            _ => {
                let found = Self::find(&self.tooling.field_split, self.text, start)?;
                self.next_field = Some(found);
                Ok(found)
            }
        }
    }

    fn value_at(&mut self, start: usize) -> Result<Separator, TooLong> {
        match self.next_value {
            Some(found) if found.from >= start => Ok(found),
            _ => {
                let found = Self::find(&self.tooling.value_split, self.text, start)?;
                self.next_value = Some(found);
                Ok(found)
            }
        }
    }

    /// The next key and its value.
    pub(super) fn next(&mut self) -> Result<Option<(&'t str, &'t str)>, TooLong> {
        loop {
            let split = self.value_at(self.at)?;
            if split.from == usize::MAX {
                return Ok(None);
            }
            let Some(key) = self.key(split)? else { continue };
            let (value, end) = self.value(split.to)?;
            self.at = end;
            return Ok(Some((key, value)));
        }
    }

    /// The key in front of a value separator; none when there is no key.
    fn key(&mut self, split: Separator) -> Result<Option<&'t str>, TooLong> {
        // The key begins behind the last field separator before the value separator.
        let mut start = self.at;
        let mut end = split.from;
        if self.tooling.lenient && self.tooling.blanks_end_keys {
            let trimmed = start + self.text[start..end].trim_end_matches(' ').len();
            // A blank behind a backslash belongs to the key.
            let escaped = trimmed < end && self.text[..trimmed].ends_with('\\');
            end = trimmed + usize::from(escaped);
        }
        loop {
            let field = self.field_at(start)?;
            if field.from >= end {
                break;
            }
            start = field.to;
        }
        if start >= end {
            self.at = split.to;
            return Ok(None);
        }
        Ok(Some(&self.text[start..end]))
    }

    /// The value from `start` on, and where it ends.
    fn value(&mut self, start: usize) -> Result<(&'t str, usize), TooLong> {
        let mut from = start;
        if self.tooling.lenient {
            let rest = &self.text[start..];
            from = start + rest.len() - rest.trim_start_matches(' ').len();
        }
        if let Some(found) = self.enclosed(from)? {
            return Ok(found);
        }
        let lenient_gap = from > start;
        let field = self.field_at(if lenient_gap { from } else { start })?;
        let end = field.from.min(self.text.len());
        Ok((&self.text[from.min(end)..end], end))
    }

    /// A value in quotes or brackets that ends where a pair may end.
    fn enclosed(&mut self, from: usize) -> Result<Option<(&'t str, usize)>, TooLong> {
        let rest = &self.text[from..];
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let bracket = if self.tooling.brackets { &BRACKETS[..] } else { &[] };
        let pairs = QUOTES.iter().chain(bracket);
        let Some((_, close)) = pairs.into_iter().find(|(open, _)| *open == first) else {
            return Ok(None);
        };
        let mut search = from + 1;
        while let Some(found) = self.text[search..].find(*close) {
            let end = search + found;
            search = end + 1;
            let quoted = QUOTES.iter().any(|(open, _)| *open == first);
            if quoted && self.text[..end].ends_with('\\') {
                continue;
            }
            // What follows is looked at aside: if the value is none, separators before it count again.
            let ends = self.text[search..].is_empty()
                || self.text[search..].starts_with('\n')
                || Self::find(&self.tooling.field_split, self.text, search)?.from == search;
            return Ok(ends.then_some((&self.text[from + 1..end], search)));
        }
        Ok(None)
    }
}
