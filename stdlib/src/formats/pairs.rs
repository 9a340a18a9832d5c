//! Key–value text as programs really write it: sets of separator characters, quotes, brackets, blanks
//! around the separator. A key that repeats gathers its values in an array.

use super::FormatError;
use temblor_lang::value::{Arena, RecordBuilder, Value};

/// How pairs are found and what becomes of them.
#[derive(Clone, Debug)]
pub struct PairsOptions {
    /// Characters that end a pair.
    pub field_split: String,
    /// Characters between key and value.
    pub value_split: String,
    /// Whether blanks around the character between key and value are ignored.
    pub lenient_blanks: bool,
    /// Whether `(…)`, `[…]` and `<…>` around a value hide separators and are removed.
    pub brackets: bool,
    /// Characters removed from both ends of keys, and of values.
    pub trim_key: String,
    /// See `trim_key`.
    pub trim_value: String,
    /// What is put before every key.
    pub prefix: String,
    /// Keys to keep, without the prefix; empty means all.
    pub include_keys: Vec<String>,
    /// Keys to leave out, without the prefix.
    pub exclude_keys: Vec<String>,
    /// Whether a value that a key has already is added again.
    pub allow_duplicate_values: bool,
    /// Whether a pair without a value counts.
    pub allow_empty_values: bool,
}

impl Default for PairsOptions {
    fn default() -> Self {
        Self {
            field_split: " ".into(),
            value_split: "=".into(),
            lenient_blanks: true,
            brackets: true,
            trim_key: String::new(),
            trim_value: String::new(),
            prefix: String::new(),
            include_keys: Vec::new(),
            exclude_keys: Vec::new(),
            allow_duplicate_values: true,
            allow_empty_values: false,
        }
    }
}

/// Compiled options.
#[derive(Clone, Debug)]
pub struct Pairs {
    options: PairsOptions,
}

impl Pairs {
    /// Compiles options.
    ///
    /// # Errors
    /// A sentence, when a set of separators is empty or both have a character in common.
    pub fn compile(options: PairsOptions) -> Result<Self, String> {
        if options.field_split.is_empty() || options.value_split.is_empty() {
            return Err(
                "the sets of characters between pairs and after keys must not be empty".into()
            );
        }
        if let Some(both) = options.field_split.chars().find(|c| options.value_split.contains(*c)) {
            return Err(format!("{both:?} cannot stand both between pairs and after keys"));
        }
        Ok(Self { options })
    }

    /// The pairs of `text` as a record.
    ///
    /// # Errors
    /// When there is no pair at all.
    pub fn parse<'a>(&self, text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
        let mut found = Found { keys: arena.record_builder(0), values: Vec::new() };
        let mut rest = text;
        while !rest.is_empty() {
            let (key, after) = rest.split_at(self.end(rest, |c| self.splits_pair_or_key(c)));
            match self.value_start(after) {
                Some(start) => {
                    let (value, after) = self.value(start);
                    self.add(&mut found, key, value, arena);
                    rest = after;
                }
                // A word without a value: on to what follows its separator.
                None => rest = without_first(after),
            }
        }
        if found.values.is_empty() {
            return Err(FormatError::new(text, 0, "a pair of a key and a value"));
        }
        Ok(found.finish(arena))
    }

    fn splits_pair_or_key(&self, character: char) -> bool {
        self.options.field_split.contains(character) || self.options.value_split.contains(character)
    }

    /// Where the first character is that `ends` and has no backslash before it.
    fn end(&self, text: &str, ends: impl Fn(char) -> bool) -> usize {
        let mut escaped = false;
        for (at, character) in text.char_indices() {
            if !escaped && ends(character) {
                return at;
            }
            escaped = !escaped && character == '\\';
        }
        text.len()
    }

    /// What follows the separator after a key, if there is one.
    fn value_start<'t>(&self, after_key: &'t str) -> Option<&'t str> {
        let ahead = self.without_blanks(after_key);
        let separator = ahead.chars().next().filter(|c| self.options.value_split.contains(*c))?;
        Some(self.without_blanks(&ahead[separator.len_utf8()..]))
    }

    fn without_blanks<'t>(&self, text: &'t str) -> &'t str {
        if self.options.lenient_blanks { text.trim_start_matches(' ') } else { text }
    }

    /// The value at the beginning of `text`, and what follows it.
    fn value<'t>(&self, text: &'t str) -> (&'t str, &'t str) {
        let closing = match text.chars().next() {
            Some(quote @ ('"' | '\'')) => Some(quote),
            Some('(') if self.options.brackets => Some(')'),
            Some('[') if self.options.brackets => Some(']'),
            Some('<') if self.options.brackets => Some('>'),
            _ => None,
        };
        if let Some(closing) = closing {
            let inside = &text[1..];
            let length = self.end(inside, |character| character == closing);
            if length < inside.len() {
                return (&inside[..length], &inside[length + 1..]);
            }
        }
        text.split_at(self.end(text, |character| self.options.field_split.contains(character)))
    }

    fn add<'a>(&self, found: &mut Found<'a>, key: &'a str, value: &'a str, arena: &'a Arena) {
        let options = &self.options;
        let key = key.trim_matches(|c| options.trim_key.contains(c));
        let value = value.trim_matches(|c| options.trim_value.contains(c));
        let wanted =
            options.include_keys.is_empty() || options.include_keys.iter().any(|k| k == key);
        let unwanted = options.exclude_keys.iter().any(|k| k == key);
        if key.is_empty()
            || !wanted
            || unwanted
            || (value.is_empty() && !options.allow_empty_values)
        {
            return;
        }
        let key = match options.prefix.as_str() {
            "" => key,
            prefix => arena.format(format_args!("{prefix}{key}")),
        };
        let value = Value::Str(value);
        let values = found.values_of(key);
        if options.allow_duplicate_values || !values.contains(&value) {
            values.push(value);
        }
    }
}

/// The values of every key, in the order in which keys first came.
struct Found<'a> {
    /// The place of each key's values.
    keys: RecordBuilder<'a>,
    values: Vec<Vec<Value<'a>>>,
}

impl<'a> Found<'a> {
    fn values_of(&mut self, key: &'a str) -> &mut Vec<Value<'a>> {
        let place = match self.keys.get(key).and_then(Value::as_usize) {
            Some(place) => place,
            None => {
                self.keys.append(key, Value::UInt(self.values.len() as u64));
                self.values.push(Vec::with_capacity(1));
                self.values.len() - 1
            }
        };
        &mut self.values[place]
    }

    fn finish(self, arena: &'a Arena) -> Value<'a> {
        let mut record = arena.record_builder(self.values.len());
        for (entry, values) in self.keys.into_record().entries().iter().zip(self.values) {
            let value = match values.as_slice() {
                [value] => *value,
                _ => arena.array(values),
            };
            record.append(entry.key, value);
        }
        record.finish()
    }
}

fn without_first(text: &str) -> &str {
    let mut characters = text.chars();
    characters.next();
    characters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    fn run(change: impl Fn(&mut PairsOptions), text: &str) -> Result<String, String> {
        let mut options = PairsOptions::default();
        change(&mut options);
        let pairs = Pairs::compile(options).expect("good options");
        let arena = Arena::new();
        pairs.parse(text, &arena).map(to_json).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_pairs() {
        for (text, expected) in [
            ("a=1 b=2", r#"{"a":"1","b":"2"}"#),
            ("word a=1, more", r#"{"a":"1,"}"#),
            (
                r#"a="x y" b='z "' c=(p q) d=[r] e=<s t>"#,
                r#"{"a":"x y","b":"z \"","c":"p q","d":"r","e":"s t"}"#,
            ),
            ("a = 1  b  =  2", r#"{"a":"1","b":"2"}"#),
            ("a=1 a=2 a=1", r#"{"a":["1","2","1"]}"#),
            (r"a\=b=1\ 2 c=3", r#"{"a\\=b":"1\\ 2","c":"3"}"#),
            ("a=\"open b=2", r#"{"a":"\"open","b":"2"}"#),
            ("ä=ö", r#"{"ä":"ö"}"#),
        ] {
            assert_eq!(run(|_| (), text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "plain words", "=", "a="] {
            assert!(run(|_| (), text).is_err(), "{text}");
        }
    }

    #[test]
    fn options_change_the_result() {
        let split = |o: &mut PairsOptions| {
            o.field_split = "&?".into();
            o.value_split = ":=".into();
        };
        assert_eq!(run(split, "?a=1&b:2").as_deref(), Ok(r#"{"a":"1","b":"2"}"#));
        let keys = |o: &mut PairsOptions| {
            o.prefix = "p_".into();
            o.trim_key = "<>".into();
            o.trim_value = ",".into();
            o.exclude_keys = vec!["c".into()];
        };
        assert_eq!(run(keys, "<a>=1, b=2 c=3").as_deref(), Ok(r#"{"p_a":"1","p_b":"2"}"#));
        let unique = |o: &mut PairsOptions| {
            o.allow_duplicate_values = false;
            o.allow_empty_values = true;
            o.include_keys = vec!["a".into()];
        };
        assert_eq!(run(unique, "a=1 a=2 a=1 b=3").as_deref(), Ok(r#"{"a":["1","2"]}"#));
        assert_eq!(run(unique, "a=").as_deref(), Ok(r#"{"a":""}"#));
    }

    #[test]
    fn refuses_bad_options() {
        for (field_split, value_split) in [("", "="), (" ", ""), ("=;", "=")] {
            let options = PairsOptions {
                field_split: field_split.into(),
                value_split: value_split.into(),
                ..PairsOptions::default()
            };
            assert!(Pairs::compile(options).is_err());
        }
    }
}
