//! Something that can be set: one row with name, kind, default and documentation.

/// The name of an attribute that is no setting: what names an event by its place in its input, so that it has the same
/// name whenever it is sent. Nothing, where the input cannot be read again.
pub const POSITION: &str = "$position";

/// Something that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in `with … end`, and in the `config` of a tremor connector.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Whether it must be set.
    pub required: bool,
    /// What holds when it is not set, as a user would write it.
    pub default: Option<&'static str>,
    /// For the manual: one or more sentences.
    pub doc: &'static str,
}

impl Setting {
    /// A setting that may be left out.
    #[must_use]
    pub const fn new(name: &'static str, takes: Takes, doc: &'static str) -> Self {
        Self { name, takes, required: false, default: None, doc }
    }

    /// The same setting, which must be set.
    #[must_use]
    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// The same setting, with what holds when it is not set.
    #[must_use]
    pub const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }
}

/// What a setting takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// A text.
    Text,
    /// One text, or an array of texts.
    Texts,
    /// A whole number within bounds.
    Whole {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// A duration such as `10s`, or a whole number of nanoseconds.
    Duration,
    /// A size such as `64KiB`, or a whole number of bytes.
    Bytes,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text that is never shown: `env:NAME`, `file:PATH`, or the value itself.
    Secret,
    /// A record with these keys.
    Record(&'static [Setting]),
    /// An array of records with these keys.
    Records(&'static [Setting]),
    /// A record with any keys and texts (or numbers, or flags) as values.
    Map,
    /// Any value.
    Any,
    /// An expression that is evaluated for each event, as a text; `null` is none.
    PerEvent,
    /// An expression that is evaluated for each event, as JSON.
    PerEventJson,
    /// Not set by users: this expression is evaluated for each event, as JSON.
    Hidden(&'static str),
}

impl Takes {
    /// Whether it is evaluated for each event.
    #[must_use]
    pub fn is_per_event(self) -> bool {
        matches!(self, Self::PerEvent | Self::PerEventJson | Self::Hidden(_))
    }

    /// What users are told that it takes.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Text => "a text".to_string(),
            Self::Texts => "a text or an array of texts".to_string(),
            Self::Whole { least, most: u64::MAX } => format!("a whole number from {least}"),
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Number => "a number".to_string(),
            Self::Flag => "true or false".to_string(),
            Self::Duration => "a duration such as 10s".to_string(),
            Self::Bytes => "a size such as 64KiB".to_string(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Secret => "a text, env:NAME or file:PATH".to_string(),
            Self::Record(_) => "a record".to_string(),
            Self::Records(_) => "an array of records".to_string(),
            Self::Map => "a record of texts".to_string(),
            Self::Any => "any value".to_string(),
            Self::PerEvent | Self::PerEventJson | Self::Hidden(_) => {
                "an expression, evaluated for each event".to_string()
            }
        }
    }
}
