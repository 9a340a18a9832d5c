//! A compiled grok pattern.
//!
//! Invariant: compiling is the only step that fails; matching answers yes or no for any text.

use crate::onigmo::{self, Assertion, Node};

use super::captures::Captures;
use super::error::GrokError;
use super::expand::expand;
use super::fallback::Fallback;
use super::field::FieldSpec;
use super::library::Library;

/// Longest text that is matched, in bytes; offsets are 32 bits wide.
pub const TEXT_BYTES_MAX: usize = (u32::MAX - 1) as usize;

/// Where a match may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// Anywhere: the leftmost match, as Logstash and tremor have it.
    #[default]
    Search,
    /// It starts where the text starts.
    Start,
    /// It covers the whole text.
    Whole,
}

/// How a pattern is read and matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Only references with a field are captured; otherwise `%{WORD}` captures a field `WORD`.
    pub named_captures_only: bool,
    /// How the regular expressions are read.
    pub syntax: onigmo::Options,
    /// Where a match may lie.
    pub anchor: Anchor,
}

impl Default for Options {
    fn default() -> Self {
        let syntax = onigmo::Options::default();
        Self { named_captures_only: true, syntax, anchor: Anchor::Search }
    }
}

/// Which engine runs a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Operations made for this pattern.
    Scan,
    /// The linear-time regular expression engine.
    Linear,
    /// The backtracking engine, which gives up at a limit.
    Backtracking,
}

/// A compiled pattern; share it between threads, with one `Captures` a thread.
#[derive(Debug)]
pub struct Grok {
    fields: Vec<FieldSpec>,
    groups: usize,
    fallback: Fallback,
    warnings: Vec<String>,
}

impl Grok {
    /// Compiles `pattern`, looking names up in `library`.
    ///
    /// Fails on an unknown or recursive name, on bad syntax, and at the limits of expansion.
    pub fn compile(pattern: &str, library: &Library, options: &Options) -> Result<Self, GrokError> {
        let expanded = expand(pattern, library, options.syntax, options.named_captures_only)?;
        let tree = anchored(expanded.tree, options.anchor);
        let groups = count_groups(&tree);
        let fallback = Fallback::compile(&tree)?;
        let mut warnings = Vec::new();
        if !fallback.is_linear() {
            warnings.push(
                "this pattern needs the backtracking engine, which gives up on a text \
                           after many steps"
                    .to_string(),
            );
        }
        Ok(Self { fields: expanded.fields, groups, fallback, warnings })
    }

    /// The fields, in the order of their opening places.
    pub fn fields(&self) -> &[FieldSpec] {
        &self.fields
    }

    /// Finds the leftmost match in `text`; `captures` then holds its groups.
    ///
    /// A text longer than `TEXT_BYTES_MAX` never matches.
    pub fn matches(&self, text: &str, captures: &mut Captures) -> bool {
        captures.reset(self.groups);
        text.len() <= TEXT_BYTES_MAX && self.fallback.search(text, captures)
    }

    /// What a user should know about the pattern.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The engine that was chosen.
    pub fn strategy(&self) -> Strategy {
        if self.fallback.is_linear() { Strategy::Linear } else { Strategy::Backtracking }
    }
}

fn anchored(tree: Node, anchor: Anchor) -> Node {
    let start = Node::Assert(Assertion::StartText);
    match anchor {
        Anchor::Search => tree,
        Anchor::Start => Node::Concat(vec![start, tree]),
        Anchor::Whole => Node::Concat(vec![start, tree, Node::Assert(Assertion::EndText)]),
    }
}

fn count_groups(node: &Node) -> usize {
    let own = usize::from(matches!(node, Node::Capture { .. }));
    own + node.children().iter().map(count_groups).sum::<usize>()
}
