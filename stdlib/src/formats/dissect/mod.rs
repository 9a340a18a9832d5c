//! Dissect: text cut at fixed delimiters, such as `%{level}: %{code:int} %{rest}`. A pattern is
//! compiled to a list of scans; running it allocates nothing but the resulting record.

mod logstash;
mod pattern;

pub use logstash::LogstashDissect;

use super::delimiter::Delimiter;
use super::{FormatError, Keys, PlacedKeys};
use temblor_lang::value::{Arena, RecordBuilder, Value};

/// A compiled pattern. The whole input must be consumed.
#[derive(Clone, Debug)]
pub struct Dissect {
    steps: Vec<Step>,
    keys: Keys,
    /// Number of `%{?name}` whose text a later `%{&name}` uses as its key.
    remembered: usize,
}

#[derive(Clone, Debug)]
enum Step {
    /// `: `
    Literal(Delimiter),
    /// `%{_}`, `%{_(-)}`
    Padding(Delimiter),
    /// `%{name}` and its kin, with what ends it
    Field { until: Until, target: Target },
}

/// What ends a field.
#[derive(Clone, Debug)]
enum Until {
    /// The end of the text.
    End,
    /// A delimiter, which the field's step consumes too.
    Delimiter(Delimiter),
    /// A padding, which the next step consumes; where it is absent, what comes after it.
    Padding(Delimiter, WithoutPadding),
}

/// What ends a field whose padding is absent.
#[derive(Clone, Debug)]
enum WithoutPadding {
    End,
    Delimiter(Delimiter),
    /// A field or another padding follows: nothing could end this field.
    Never,
}

/// Where the text of a field goes.
#[derive(Clone, Debug)]
enum Target {
    /// `%{}`, `%{?name}` that nobody asks for
    Skip,
    /// `%{?name}`
    Remember { slot: usize },
    /// `%{name}`, `%{name:int}`
    Set { key: usize, repeated: bool, conversion: Conversion },
    /// `%{+name}`
    Append { key: usize, joiner: Box<str> },
    /// `%{&name}`, `%{&name:int}`
    SetNamed { slot: usize, conversion: Conversion },
    /// `%{&name}` without a `%{?name}` before it
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    Text,
    Integer,
    Float,
}

impl Conversion {
    fn apply(self, text: &str) -> Option<Value<'_>> {
        match self {
            Conversion::Text => Some(Value::Str(text)),
            Conversion::Integer => text.parse().ok().map(Value::Int),
            Conversion::Float => text.parse().ok().map(Value::Float),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Conversion::Text => "text",
            Conversion::Integer => "an integer",
            Conversion::Float => "a number",
        }
    }
}

/// What a scan does with the fields that it finds.
trait Sink<'t> {
    fn set(&mut self, key: usize, repeated: bool, value: Value<'t>);
    fn set_named(&mut self, key: &'t str, value: Value<'t>);
    fn append(&mut self, key: usize, joiner: &str, text: &'t str);
}

/// Predicate mode: nothing is kept.
struct Nothing;

impl<'t> Sink<'t> for Nothing {
    fn set(&mut self, _: usize, _: bool, _: Value<'t>) {}
    fn set_named(&mut self, _: &'t str, _: Value<'t>) {}
    fn append(&mut self, _: usize, _: &str, _: &'t str) {}
}

struct Fields<'a, 'k> {
    arena: &'a Arena,
    keys: PlacedKeys<'a, 'k>,
    record: RecordBuilder<'a>,
}

impl<'a> Sink<'a> for Fields<'a, '_> {
    #[inline]
    fn set(&mut self, key: usize, repeated: bool, value: Value<'a>) {
        let key = self.keys.key(key);
        if repeated {
            self.record.insert_key(&key, value);
        } else {
            self.record.append_key(&key, value);
        }
    }

    fn set_named(&mut self, key: &'a str, value: Value<'a>) {
        self.record.insert(key, value);
    }

    fn append(&mut self, key: usize, joiner: &str, text: &'a str) {
        let key = self.keys.key(key);
        match self.record.get_key(&key) {
            None => self.record.append_key(&key, Value::Str(text)),
            Some(Value::Str(before)) => {
                let joined = self.arena.format(format_args!("{before}{joiner}{text}"));
                self.record.insert_key(&key, Value::Str(joined));
            }
            // Text cannot be appended to a number; the field is lost, as it always was.
            Some(_) => {
                self.record.remove_key(&key);
            }
        }
    }
}

impl Dissect {
    /// Cuts `text` into a record of the pattern's fields.
    ///
    /// # Errors
    /// Where the text stops matching the pattern.
    pub fn parse<'a>(&self, text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
        let mut fields = Fields {
            arena,
            keys: self.keys.place(arena),
            record: arena.record_builder(self.keys.len()),
        };
        self.scan(text, &mut fields)?;
        Ok(fields.record.finish())
    }

    /// Whether `text` matches; allocates nothing.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.scan(text, &mut Nothing).is_ok()
    }

    fn scan<'t>(&self, text: &'t str, sink: &mut impl Sink<'t>) -> Result<(), FormatError> {
        let mut remembered = vec![""; self.remembered];
        let mut rest = text;
        for step in &self.steps {
            let at = text.len() - rest.len();
            match step {
                Step::Literal(literal) => {
                    rest = rest.strip_prefix(literal.text()).ok_or_else(|| {
                        FormatError::new(text, at, "the text").wanting(literal.text())
                    })?;
                }
                Step::Padding(padding) => rest = rest.trim_start_matches(padding.text()),
                Step::Field { until, target } => {
                    let field;
                    (field, rest) = until.cut(text, rest)?;
                    target.store(text, field, &mut remembered, sink)?;
                }
            }
        }
        if rest.is_empty() {
            return Ok(());
        }
        Err(FormatError::new(text, text.len() - rest.len(), "the end of the text"))
    }
}

impl Until {
    /// Splits `rest` into the field and what is left after it.
    #[inline]
    fn cut<'t>(&self, text: &str, rest: &'t str) -> Result<(&'t str, &'t str), FormatError> {
        let missing = |wanted: &Delimiter| {
            let at = text.len() - rest.len();
            FormatError::new(text, at, "a field that ends in").wanting(wanted.text())
        };
        match self {
            Until::End => Ok((rest, "")),
            Until::Delimiter(delimiter) => match delimiter.find(rest) {
                Some(at) => Ok((&rest[..at], &rest[at + delimiter.len()..])),
                None => Err(missing(delimiter)),
            },
            Until::Padding(padding, without) => match (padding.find(rest), without) {
                (Some(at), _) => Ok(rest.split_at(at)),
                (None, WithoutPadding::End) => Ok((rest, "")),
                (None, WithoutPadding::Delimiter(delimiter)) => match delimiter.find(rest) {
                    Some(at) => Ok(rest.split_at(at)),
                    None => Err(missing(delimiter)),
                },
                (None, WithoutPadding::Never) => Err(missing(padding)),
            },
        }
    }
}

impl Target {
    #[inline]
    fn store<'t>(
        &self,
        text: &str,
        field: &'t str,
        remembered: &mut [&'t str],
        sink: &mut impl Sink<'t>,
    ) -> Result<(), FormatError> {
        let place = || field.as_ptr() as usize - text.as_ptr() as usize;
        let convert = |conversion: Conversion| {
            conversion
                .apply(field)
                .ok_or_else(|| FormatError::new(text, place(), conversion.expected()))
        };
        match self {
            Target::Skip => {}
            Target::Remember { slot } => remembered[*slot] = field,
            Target::Set { key, repeated, conversion } => {
                sink.set(*key, *repeated, convert(*conversion)?);
            }
            Target::Append { key, joiner } => sink.append(*key, joiner, field),
            Target::SetNamed { slot, conversion } if !remembered[*slot].is_empty() => {
                sink.set_named(remembered[*slot], convert(*conversion)?);
            }
            Target::SetNamed { .. } | Target::Never => {
                return Err(FormatError::new(text, place(), "a name for this value before it"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
