//! What the REPL proposes for lines of text: a step that reads them, and how well it does.

/// A line and its number.
pub(crate) type Numbered = (usize, String);

/// A step and how it fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// The step of a chain that reads the lines.
    pub step: String,
    /// Its grok pattern, if it has one.
    pub pattern: Option<String>,
    /// Numbers of the lines that it does not match.
    pub missed: Vec<usize>,
    /// Fields that it gives.
    pub fields: usize,
    /// How many events the lines are, where lines are joined.
    pub events: Option<usize>,
}
