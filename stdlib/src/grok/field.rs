//! What a pattern captures: names, wanted types, and paths of nested names.
//!
//! Invariant: fields are listed in the order of their opening places in the pattern.

/// The type that a reference asks for, as in `%{NUMBER:n:int}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// No type is given: text.
    Text,
    /// `int`, `integer` or `long`: a whole number.
    Integer,
    /// `float`, `double` or `number`: a number with a fraction.
    Float,
    /// `bool` or `boolean`.
    Boolean,
    /// `string`.
    String,
    /// Any other word; Logstash ignores it.
    Unknown,
}

impl Conversion {
    fn from_word(word: &str) -> Self {
        match word {
            "int" | "integer" | "long" => Self::Integer,
            "float" | "double" | "number" => Self::Float,
            "bool" | "boolean" => Self::Boolean,
            "string" => Self::String,
            _ => Self::Unknown,
        }
    }
}

/// One field of a compiled pattern. The same name may occur in several fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldSpec {
    /// The name without the type: `a`, `[a][b]` or `a.b`.
    pub name: String,
    /// The wanted type.
    pub conversion: Conversion,
    /// The word after the second colon as it was written, if there is one.
    pub(crate) type_word: Option<String>,
    /// The named pattern it comes from; `None` for `(?<name>…)`.
    pub pattern: Option<String>,
    /// The index to pass to `Captures::span` and `Captures::get`.
    pub group: usize,
}

impl FieldSpec {
    /// A field from what stands after the first colon of a reference.
    pub(super) fn from_alias(alias: &str, pattern: &str, group: usize) -> Self {
        let (name, type_word) = match alias.split_once(':') {
            Some((name, word)) => (name, Some(word.to_string())),
            None => (alias, None),
        };
        let conversion = type_word.as_deref().map_or(Conversion::Text, Conversion::from_word);
        let pattern = Some(pattern.to_string());
        Self { name: name.to_string(), conversion, type_word, pattern, group }
    }

    /// A field from a plain named group.
    pub(super) fn from_group(name: &str, group: usize) -> Self {
        let conversion = Conversion::Text;
        Self { name: name.to_string(), conversion, type_word: None, pattern: None, group }
    }

    /// The steps of a nested name: `[a][b]` is `a`, `b`; any other name is one step.
    pub fn path(&self) -> Vec<&str> {
        let inner = self.name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        match inner {
            Some(inner) => inner.split("][").collect(),
            None => vec![&self.name],
        }
    }
}
