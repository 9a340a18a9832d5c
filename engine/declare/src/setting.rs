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
    /// How a step of a chain writes it; only operators have such settings.
    pub chain: InChain,
    /// For the manual: one or more sentences.
    pub doc: &'static str,
}

/// How a step of a chain writes a setting, besides `with name = value end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InChain {
    /// The value alone, in the order of the declaration: `rate_limit 1000`.
    Positional,
    /// A word in front: `by event.a`.
    Clause(&'static str),
    /// Only the word, which means true: `refresh`.
    Flag(&'static str),
    /// Only in `with`.
    No,
}

impl Setting {
    /// A setting that may be left out.
    #[must_use]
    pub const fn new(name: &'static str, takes: Takes, doc: &'static str) -> Self {
        Self { name, takes, required: false, default: None, chain: InChain::No, doc }
    }

    /// The same setting, as a step of a chain writes it.
    #[must_use]
    pub const fn in_chain(self, chain: InChain) -> Self {
        Self { chain, ..self }
    }

    /// The word by which a chain writes it, if it does.
    #[must_use]
    pub fn word(&self) -> Option<&'static str> {
        match self.chain {
            InChain::Clause(word) | InChain::Flag(word) => Some(word),
            InChain::Positional | InChain::No => None,
        }
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
    /// A whole number within bounds, which may be negative.
    Signed {
        /// The least.
        least: i64,
        /// The most.
        most: i64,
    },
    /// A number.
    Number,
    /// A number within bounds.
    Between {
        /// The least.
        least: f64,
        /// The most.
        most: f64,
    },
    /// A text, or a number as a text: `200` or `"200/s"`.
    Scalar,
    /// `true` or `false`.
    Flag,
    /// A duration such as `10s`, or a whole number of nanoseconds.
    Duration,
    /// A duration that may be negative: `-500ms`.
    Offset,
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
    /// A name, or `{"name": …, "config": {…}}`: a codec.
    Named,
    /// An array of such names: interceptors.
    NamedList,
    /// A place that is written to, below `event` or `$`: `event.a.b`, or plainly `a.b` for a field of the
    /// event. A chain writes it without quotes.
    Place,
    /// A text in which `#{…}` is evaluated for each event.
    Template,
    /// The same as a path. No event leads out of the directory that the text begins with.
    PathTemplate,
    /// An expression that is evaluated for each event.
    Formula,
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

    /// Whether users cannot set it.
    #[must_use]
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Hidden(_))
    }

    /// What users are told that it takes.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Text => "a text".to_string(),
            Self::Texts => "a text or an array of texts".to_string(),
            Self::Whole { least, most: u64::MAX } => format!("a whole number from {least}"),
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Signed { least, most } => format!("a whole number from {least} to {most}"),
            Self::Number => "a number".to_string(),
            Self::Between { least, most } => format!("a number from {least} to {most}"),
            Self::Scalar => "a text or a number".to_string(),
            Self::Flag => "true or false".to_string(),
            Self::Duration => "a duration such as 10s".to_string(),
            Self::Offset => "a duration such as 2s or -500ms".to_string(),
            Self::Bytes => "a size such as 64KiB".to_string(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Secret => "a text, env:NAME or file:PATH".to_string(),
            Self::Record(_) => "a record".to_string(),
            Self::Records(_) => "an array of records".to_string(),
            Self::Map => "a record of texts".to_string(),
            Self::Any => "any value".to_string(),
            Self::Named => "a name, or {\"name\": …, \"config\": {…}}".to_string(),
            Self::NamedList => "an array of names".to_string(),
            Self::Place => "a place such as event.a.b".to_string(),
            Self::Template | Self::PathTemplate => "a text, which may hold #{…}".to_string(),
            Self::Formula | Self::PerEvent | Self::PerEventJson | Self::Hidden(_) => {
                "an expression, evaluated for each event".to_string()
            }
        }
    }
}
