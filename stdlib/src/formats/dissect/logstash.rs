//! Logstash's dialect of dissect: `%{a->}` swallows repeated delimiters, `%{+a/2}` appends by number,
//! `%{&a}` is named by the value of `a`. Fields are written in the order: plain, appended, named.

use crate::formats::delimiter::Delimiter;
use crate::formats::{FormatError, Keys};
use temblor_lang::value::{Arena, Record, RecordBuilder, Value};

/// A compiled mapping. What follows its last delimiter may be anything, unless a field takes it.
#[derive(Clone, Debug)]
pub struct LogstashDissect {
    /// Text that must stand at the very beginning.
    start: Option<Delimiter>,
    fields: Vec<Field>,
    keys: Keys,
    /// Places of the appended fields in the order of their numbers.
    appends: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Field {
    kind: Kind,
    key: usize,
    /// What stands before the field, which joins an appended text to what is there.
    joiner: Box<str>,
    /// `None`: the field takes the rest.
    end: Option<Delimiter>,
    /// `->`: repeats of the end are swallowed.
    greedy: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `%{}`, `%{?a}`
    Skip,
    /// `%{a}`
    Set,
    /// `%{+a/2}`
    Append(u8),
    /// `%{&a}`
    Named,
}

impl LogstashDissect {
    /// Compiles a mapping.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn compile(mapping: &str) -> Result<Self, String> {
        let mut out =
            Self { start: None, fields: Vec::new(), keys: Keys::default(), appends: Vec::new() };
        let (start, mut rest) = mapping.split_at(mapping.find("%{").unwrap_or(mapping.len()));
        out.start = (!start.is_empty()).then(|| Delimiter::new(start));
        let mut joiner = start;
        while let Some(opened) = rest.strip_prefix("%{") {
            let (inside, after) = opened.split_once('}').ok_or_else(|| {
                format!("the field '%{{{opened}' of the mapping has no closing '}}'")
            })?;
            let (end, next) = after.split_at(after.find("%{").unwrap_or(after.len()));
            if end.is_empty() && !next.is_empty() {
                return Err(format!("no delimiter follows the field '%{{{inside}}}'"));
            }
            out.push(inside, joiner, end)?;
            joiner = end;
            rest = next;
        }
        if out.fields.is_empty() {
            return Err("the mapping has no field such as %{name}".into());
        }
        let number = |place: &usize| match out.fields[*place].kind {
            Kind::Append(number) => number,
            _ => 0,
        };
        let is_append = |place: &usize| matches!(out.fields[*place].kind, Kind::Append(_));
        let mut appends: Vec<usize> = (0..out.fields.len()).filter(is_append).collect();
        appends.sort_by_key(number);
        out.appends = appends;
        Ok(out)
    }

    fn push(&mut self, inside: &str, joiner: &str, end: &str) -> Result<(), String> {
        let prefix = inside.len() - inside.trim_start_matches(['?', '+', '&']).len();
        let (prefix, name) = inside.split_at(prefix);
        let (name, number, greedy) = suffixes(name);
        let kind = match prefix {
            "" if name.is_empty() => Kind::Skip,
            "" => Kind::Set,
            "?" => Kind::Skip,
            "+" => Kind::Append(number.unwrap_or(0)),
            "&" => Kind::Named,
            _ => return Err(format!("'{prefix}' in '%{{{inside}}}' is no single prefix")),
        };
        if name.is_empty() && matches!(kind, Kind::Append(_) | Kind::Named) {
            return Err(format!("a name is missing in '%{{{inside}}}'"));
        }
        self.fields.push(Field {
            kind,
            key: self.keys.number(name),
            joiner: if joiner.is_empty() { " ".into() } else { joiner.into() },
            end: (!end.is_empty()).then(|| Delimiter::new(end)),
            greedy,
        });
        Ok(())
    }

    /// The fields of `text` in a record that starts as `event`, whose fields are appended to and
    /// may name others.
    ///
    /// # Errors
    /// Where a delimiter is missing; nothing is written then.
    pub fn parse_over<'a>(
        &self,
        text: &'a str,
        event: Option<&Record<'a>>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, FormatError> {
        let found = self.cut(text)?;
        let keys = self.keys.place(arena);
        let mut record = match event {
            Some(event) => RecordBuilder::from_record(arena, event, self.fields.len()),
            None => arena.record_builder(self.fields.len()),
        };
        for (field, text) in self.fields.iter().zip(&found) {
            if field.kind == Kind::Set {
                record.insert_key(&keys.key(field.key), Value::Str(text));
            }
        }
        for place in &self.appends {
            let (field, text) = (&self.fields[*place], found[*place]);
            let key = keys.name(field.key);
            let joined = match record.get(key).and_then(Value::as_str) {
                Some(before) => arena.format(format_args!("{before}{}{text}", field.joiner)),
                None => text,
            };
            record.insert(key, Value::Str(joined));
        }
        for (field, text) in self.fields.iter().zip(&found) {
            if field.kind == Kind::Named {
                let name = self
                    .skipped(field.key, &found)
                    .or_else(|| record.get(keys.name(field.key)).and_then(Value::as_str));
                if let Some(name) = name.filter(|name| !name.is_empty()) {
                    record.insert(name, Value::Str(text));
                }
            }
        }
        Ok(record.finish())
    }

    /// The fields of `text` as a record.
    ///
    /// # Errors
    /// Where a delimiter is missing.
    pub fn parse<'a>(&self, text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
        self.parse_over(text, None, arena)
    }

    /// The text of the field `%{?name}`.
    fn skipped<'t>(&self, key: usize, found: &[&'t str]) -> Option<&'t str> {
        let place =
            self.fields.iter().position(|field| field.kind == Kind::Skip && field.key == key)?;
        Some(found[place])
    }

    /// The text of each field.
    fn cut<'t>(&self, text: &'t str) -> Result<Vec<&'t str>, FormatError> {
        let mut at = 0;
        if let Some(start) = &self.start {
            if !text.starts_with(start.text()) {
                return Err(FormatError::new(text, 0, "the text").wanting(start.text()));
            }
            at = start.len();
        }
        let mut found = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            let rest = &text[at..];
            let Some(end) = &field.end else {
                found.push(rest);
                break;
            };
            let length = end.find(rest).ok_or_else(|| {
                FormatError::new(text, at, "a field that ends in").wanting(end.text())
            })?;
            found.push(&rest[..length]);
            // At the very beginning of the text a delimiter ends a field but is not consumed.
            if at + length > 0 {
                at += length + end.len();
            }
            while field.greedy && text[at..].starts_with(end.text()) {
                at += end.len();
            }
        }
        Ok(found)
    }
}

/// Splits `name/2->` and `name->/2`.
fn suffixes(text: &str) -> (&str, Option<u8>, bool) {
    let (mut name, mut number, mut greedy) = (text, None, false);
    loop {
        if let Some(shorter) = name.strip_suffix("->").filter(|_| !greedy) {
            (name, greedy) = (shorter, true);
        } else if let Some((shorter, digits)) = name.rsplit_once('/')
            && number.is_none()
            && (1..=2).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            (name, number) = (shorter, digits.parse().ok());
        } else {
            return (name, number, greedy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    fn run(mapping: &str, text: &str) -> Result<String, String> {
        let arena = Arena::new();
        let mapping = LogstashDissect::compile(mapping).expect("a good mapping");
        mapping.parse(text, &arena).map(to_json).map_err(|error| error.to_string())
    }

    #[test]
    fn cuts_text() {
        for (mapping, text, expected) in [
            ("%{a} %{b}", "x y z", r#"{"a":"x","b":"y z"}"#),
            ("[%{a}]", "[x] more", r#"{"a":"x"}"#),
            ("%{a->} %{b}", "x    y", r#"{"a":"x","b":"y"}"#),
            ("%{a} %{+a} %{+a}", "x y z", r#"{"a":"x y z"}"#),
            ("%{+a/2},%{+a/1}-%{b}", "x,y-z", r#"{"b":"z","a":"y x"}"#),
            ("%{+a/2->} %{+a->/1} %{b}", "x   y z", r#"{"b":"z","a":"y x"}"#),
            ("%{?k}=%{&k}", "unit=db", r#"{"unit":"db"}"#),
            ("%{k}=%{&k}", "unit=db", r#"{"k":"unit","unit":"db"}"#),
            ("%{},%{b}", "x,y", r#"{"b":"y"}"#),
            ("%{a},%{b}", ",x", r#"{"a":"","b":",x"}"#),
            ("%{a},%{b},%{c}", "x,,y", r#"{"a":"x","b":"","c":"y"}"#),
            ("é%{a}ü%{b}", "éxüy", r#"{"a":"x","b":"y"}"#),
        ] {
            assert_eq!(run(mapping, text).as_deref(), Ok(expected), "{mapping} on {text}");
        }
        for (mapping, text) in [("%{a} %{b}", "x"), ("[%{a}]", "x]"), ("%{a}: %{b}", "x:y")] {
            assert!(run(mapping, text).is_err(), "{mapping} on {text}");
        }
    }

    #[test]
    fn starts_from_an_event() {
        let arena = Arena::new();
        let event = crate::formats::json::parse(r#"{"a":"old","n":"name"}"#, &arena).expect("JSON");
        let mapping = LogstashDissect::compile("%{+a}-%{&n}").expect("a good mapping");
        let record = mapping.parse_over("x-y", event.as_record(&arena), &arena).map(to_json);
        assert_eq!(record.as_deref(), Ok(r#"{"a":"old x","n":"name","name":"y"}"#));
    }

    #[test]
    fn refuses_bad_mappings() {
        for mapping in ["", "plain", "%{a}%{b}", "%{a", "%{+&a}", "%{&}", "%{+}"] {
            assert!(LogstashDissect::compile(mapping).is_err(), "{mapping}");
        }
    }
}
