//! Key–value text in the language's own dialect (`%{key}=%{val};`): fixed separators, no quotes.
//! Only a part that holds exactly one key separator is a pair; all others are passed over.

use super::FormatError;
use super::delimiter::{Delimiter, unescape};
use temblor_lang::value::{Arena, Value};

/// More separators of one kind than this are a mistake.
const SEPARATORS_MAX: usize = 64;

const KEY: &str = "%{key}";
const VALUE: &str = "%{val}";

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct KeyValue {
    /// What separates pairs.
    fields: Vec<Delimiter>,
    /// What separates a key from its value.
    keys: Vec<Delimiter>,
}

impl KeyValue {
    /// Compiles a pattern; the empty one means pairs `key:value` separated by blanks.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the pattern.
    pub fn compile(pattern: &str) -> Result<Self, String> {
        let (mut fields, mut keys) = separators(pattern)?;
        let defaults = [(&mut fields, " "), (&mut keys, ":")];
        for (separators, default) in defaults {
            if separators.is_empty() {
                separators.push(default.into());
            }
            separators.sort_unstable();
            separators.dedup();
            if separators.len() > SEPARATORS_MAX {
                return Err(format!("more than {SEPARATORS_MAX} separators of one kind"));
            }
        }
        check_overlap(&fields, &keys)?;
        let prepare = |texts: Vec<String>| texts.iter().map(|text| Delimiter::new(text)).collect();
        Ok(Self { fields: prepare(fields), keys: prepare(keys) })
    }

    /// The pairs of `text` as a record of strings; of a repeated key the last.
    ///
    /// # Errors
    /// When there is no pair at all.
    pub fn parse<'a>(&self, text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
        /// Room for as many pairs as most lines have.
        const PAIRS_USUAL: usize = 8;
        let mut record = arena.record_builder(PAIRS_USUAL);
        split(text, &self.fields, &mut |part| {
            if let Some((key, value)) = self.pair(part) {
                record.insert(key, Value::Str(value));
            }
        });
        if record.is_empty() {
            return Err(self.no_pair(text));
        }
        Ok(record.finish())
    }

    /// Whether there is at least one pair.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let mut any = false;
        split(text, &self.fields, &mut |part| any = any || self.pair(part).is_some());
        any
    }

    fn no_pair(&self, text: &str) -> FormatError {
        FormatError::new(text, 0, "a pair of a key and a value around").wanting(self.keys[0].text())
    }

    /// Key and value, if `part` splits into exactly two.
    fn pair<'t>(&self, part: &'t str) -> Option<(&'t str, &'t str)> {
        if let [separator] = self.keys.as_slice() {
            let at = separator.find(part)?;
            let value = &part[at + separator.len()..];
            return separator.find(value).is_none().then(|| (&part[..at], value));
        }
        let mut pieces = 0;
        let mut pair = ["", ""];
        split(part, &self.keys, &mut |piece| {
            if let Some(place) = pair.get_mut(pieces) {
                *place = piece;
            }
            pieces += 1;
        });
        (pieces == 2).then_some((pair[0], pair[1]))
    }
}

/// Splits `text` at the first separator, each piece at the second, and so on: the order counts
/// where separators overlap in the text.
fn split<'t>(text: &'t str, separators: &[Delimiter], each: &mut impl FnMut(&'t str)) {
    fn go<'t>(text: &'t str, separators: &[Delimiter], each: &mut dyn FnMut(&'t str)) {
        let Some((separator, others)) = separators.split_first() else { return each(text) };
        let mut rest = text;
        while let Some(at) = separator.find(rest) {
            go(&rest[..at], others, each);
            rest = &rest[at + separator.len()..];
        }
        go(rest, others, each);
    }
    let [separator] = separators else { return go(text, separators, each) };
    let mut rest = text;
    while let Some(at) = separator.find(rest) {
        each(&rest[..at]);
        rest = &rest[at + separator.len()..];
    }
    each(rest);
}

/// The field separators and the key separators that a pattern lists.
fn separators(pattern: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let (mut fields, mut keys) = (Vec::new(), Vec::new());
    let mut rest = pattern;
    while !rest.is_empty() {
        let before = rest.find(KEY).unwrap_or(rest.len());
        if before > 0 {
            fields.push(unescape(&rest[..before])?);
        }
        let Some(after) = rest[before..].strip_prefix(KEY) else { break };
        let end = after.find(VALUE).ok_or_else(|| {
            let at = pattern.len() - after.len();
            format!("the '{KEY}' before byte {at} of the pattern has no '{VALUE}' after it")
        })?;
        if end > 0 {
            keys.push(unescape(&after[..end])?);
        }
        rest = &after[end + VALUE.len()..];
    }
    Ok((fields, keys))
}

/// No separator may contain another one, of its own or of the other kind.
fn check_overlap(fields: &[String], keys: &[String]) -> Result<(), String> {
    let all = || fields.iter().map(|text| (text, "pair")).chain(keys.iter().map(|t| (t, "key")));
    for (place, (inner, kind)) in all().enumerate() {
        for (other, (outer, other_kind)) in all().enumerate() {
            if place != other && outer.contains(inner.as_str()) {
                return Err(format!(
                    "the {kind} separator {inner:?} is part of the {other_kind} separator \
                     {outer:?}, so it is unclear which is meant"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    fn run(pattern: &str, text: &str) -> Option<String> {
        let pattern = KeyValue::compile(pattern).expect("a good pattern");
        let arena = Arena::new();
        let found = pattern.parse(text, &arena).ok().map(to_json);
        assert_eq!(found.is_some(), pattern.matches(text), "both modes agree on {text:?}");
        found
    }

    #[test]
    fn reads_pairs() {
        let cases: &[(&str, &str, Option<&str>)] = &[
            ("", "a:b c:d e f:g:h", Some(r#"{"a":"b","c":"d"}"#)),
            ("", "plain words", None),
            ("", "", None),
            ("", "k: :v :", Some(r#"{"k":"","":""}"#)),
            ("%{key}=%{val}", "x=1 y=2 x=3", Some(r#"{"x":"3","y":"2"}"#)),
            ("%{key}=%{val};", "x=1;y=a b", Some(r#"{"x":"1","y":"a b"}"#)),
            (";", "x:1;y:2", Some(r#"{"x":"1","y":"2"}"#)),
            ("%{key}=%{val}, %{key}:%{val}", "a=1, b:2, c", Some(r#"{"a":"1","b":"2"}"#)),
            ("%{key}:%{val}, %{key}=%{val}", "a=1:2, b:2", Some(r#"{"b":"2"}"#)),
            (r"%{key}=%{val}\n", "a=1\nb=2", Some(r#"{"a":"1","b":"2"}"#)),
            ("%{key}%{val}", "a:1 b:2", Some(r#"{"a":"1","b":"2"}"#)),
            ("# %{key}=%{val}", "a=1# b=2", Some(r#"{"a":"1","b":"2"}"#)),
            // Separators apply in sorted order, not in the order of the text.
            ("ab%{key}=%{val}bca", "k=1bcab", Some(r#"{"k":"1bc"}"#)),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(run(pattern, text).as_deref(), *expected, "{pattern} on {text:?}");
        }
    }

    #[test]
    fn refuses_bad_patterns() {
        for (pattern, reason) in [
            ("%{key}=", "no '%{val}'"),
            ("%{key}=%{val}=", "unclear"),
            ("%{key}=%{val};;%{key}:%{val};", "unclear"),
            ("%{key}==%{val} %{key}=%{val}", "unclear"),
            (r"%{key}\x%{val}", "no escape"),
            (r"%{key}=%{val}\", "lone backslash"),
        ] {
            let error = KeyValue::compile(pattern).expect_err(pattern);
            assert!(error.contains(reason), "{pattern}: {error}");
        }
    }
}
