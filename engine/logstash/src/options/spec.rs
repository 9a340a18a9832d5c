//! How plugins declare their options.

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Takes {
    /// One text.
    Text,
    /// A number, or a text that is one.
    Number,
    /// `true` or `false`
    Flag,
    /// Anything; a single value is a list of one.
    List,
    /// A hash, or a list of keys and values in turn.
    Hash,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// The name of a codec, or a block.
    Codec,
    /// A number of seconds, or a time such as `1 hour`.
    Duration,
    /// Whatever there is.
    Anything,
}

/// An option as its plugin declares it.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Whether it must be there.
    pub required: bool,
    /// Why it is gone, for an option of the past.
    pub gone: Option<&'static str>,
    /// What it does.
    pub doc: &'static str,
}

/// Declares an option.
pub const fn option(name: &'static str, takes: Takes, doc: &'static str) -> OptionSpec {
    OptionSpec { name, takes, required: false, gone: None, doc }
}

/// Declares an option that must be there.
pub const fn required(name: &'static str, takes: Takes, doc: &'static str) -> OptionSpec {
    OptionSpec { name, takes, required: true, gone: None, doc }
}

/// Declares an option that there was once.
pub const fn gone(name: &'static str, hint: &'static str) -> OptionSpec {
    OptionSpec { name, takes: Takes::Anything, required: false, gone: Some(hint), doc: "" }
}

/// The options that every filter has.
pub const COMMON: &[OptionSpec] = &[
    option("add_field", Takes::Hash, "Fields to add on success; an existing field becomes a list."),
    option("remove_field", Takes::List, "Fields to remove on success."),
    option("add_tag", Takes::List, "Tags to add on success."),
    option("remove_tag", Takes::List, "Tags to remove on success."),
    option("id", Takes::Text, "The name of the filter in reports."),
    option("enable_metric", Takes::Flag, "Accepted; counts are always kept."),
    option("periodic_flush", Takes::Flag, "Accepted; filters that need ticks get them."),
    option("ecs_compatibility", Takes::OneOf(&["disabled", "v1", "v8"]), "Which field names."),
];
