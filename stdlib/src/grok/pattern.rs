//! A compiled grok pattern.
//!
//! Invariant: compiling is the only step that fails; matching answers yes or no for any text. The engine of
//! a pattern that is sure to have one is made for its first text: configurations hold hundreds of patterns.

use std::sync::OnceLock;

use crate::onigmo::{self, Assertion, Node};

use super::captures::{Captures, UNSET};
use super::error::GrokError;
use super::expand::{Expanded, expand};
use super::explain::{Explainer, Explanation};
use super::fallback::{BACKTRACKS_MAX, Fallback};
use super::field::FieldSpec;
use super::library::Library;
use super::scan::{self, Outcome, Program};

/// Longest text that is matched, in bytes; offsets are 32 bits wide, with two values reserved.
pub(crate) const TEXT_BYTES_MAX: usize = (u32::MAX - 2) as usize;

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
    expanded: Expanded,
    groups: usize,
    engine: OnceLock<Engine>,
    /// What explanations are made from, and their program once one is asked for.
    source: Box<(String, Library, Options)>,
    explainer: OnceLock<Option<Explainer>>,
}

#[derive(Debug)]
enum Engine {
    /// The scanner, and the linear engine for texts that exhaust it, compiled when first needed.
    Scan {
        program: Program,
        linear: OnceLock<Option<Fallback>>,
    },
    General(Fallback),
    /// What was sure to have an engine has none: every text exhausts it.
    Missing,
}

impl Engine {
    fn of(tree: &Node) -> Result<Self, GrokError> {
        Ok(match scan::compile(tree) {
            Some(program) => Engine::Scan { program, linear: OnceLock::new() },
            None => Engine::General(Fallback::compile(tree)?),
        })
    }
}

impl Grok {
    /// Compiles `pattern`, looking names up in `library`.
    ///
    /// Fails on an unknown or recursive name, on bad syntax, and at the limits of expansion.
    pub fn compile(pattern: &str, library: &Library, options: &Options) -> Result<Self, GrokError> {
        let grok = Self::prepare(pattern, library, options)?;
        if !scan::is_sure(&grok.expanded.shape) {
            let _ = grok.engine.set(Engine::of(&grok.tree())?);
        }
        Ok(grok)
    }

    /// As `compile`, but always for a general engine; for comparisons.
    pub fn compile_general(
        pattern: &str,
        library: &Library,
        options: &Options,
    ) -> Result<Self, GrokError> {
        let grok = Self::prepare(pattern, library, options)?;
        let _ = grok.engine.set(Engine::General(Fallback::compile(&grok.tree())?));
        Ok(grok)
    }

    fn prepare(pattern: &str, library: &Library, options: &Options) -> Result<Self, GrokError> {
        let expanded = expand(pattern, library, options.syntax, options.named_captures_only)?;
        let groups = expanded.groups();
        let source = Box::new((pattern.to_string(), library.clone(), *options));
        let (engine, explainer) = (OnceLock::new(), OnceLock::new());
        Ok(Self { expanded, groups, engine, source, explainer })
    }

    /// What an engine is made of.
    fn tree(&self) -> Node {
        let (.., options) = &*self.source;
        anchored(self.expanded.tree(), options.anchor)
    }

    fn engine(&self) -> &Engine {
        self.engine.get_or_init(|| Engine::of(&self.tree()).unwrap_or(Engine::Missing))
    }

    /// The fields, in the order of their opening places.
    pub fn fields(&self) -> &[FieldSpec] {
        &self.expanded.fields
    }

    /// Literals that every text has each of which the pattern matches; see [`Prefilter`](super::Prefilter).
    pub fn required_literals(&self) -> Vec<String> {
        super::literals::required(&self.expanded.shared)
    }

    /// Finds the leftmost match in `text`; `captures` then holds its groups.
    ///
    /// A text longer than `TEXT_BYTES_MAX` never matches.
    pub fn matches(&self, text: &str, captures: &mut Captures) -> bool {
        captures.reset(self.groups);
        if text.len() > TEXT_BYTES_MAX {
            return false;
        }
        match self.engine() {
            Engine::General(fallback) => fallback.search(text, captures),
            Engine::Scan { program, linear } => {
                let Captures { scratch, slots, whole, .. } = captures;
                match program.search(text, scratch, slots, whole) {
                    Outcome::Match => true,
                    Outcome::NoMatch => false,
                    Outcome::Exhausted => self.search_again(program, linear, text, captures),
                }
            }
            Engine::Missing => {
                captures.exhausted = true;
                false
            }
        }
    }

    /// Searches a text that was too much for plain backtracking.
    #[cold]
    fn search_again(
        &self,
        program: &Program,
        linear: &OnceLock<Option<Fallback>>,
        text: &str,
        captures: &mut Captures,
    ) -> bool {
        captures.slots.fill(UNSET);
        if let Some(fallback) = linear.get_or_init(|| Fallback::compile_linear(&self.tree())) {
            return fallback.search(text, captures);
        }
        let Captures { scratch, slots, whole, exhausted, .. } = captures;
        let outcome = program.search_with_memory(text, scratch, slots, whole);
        *exhausted = outcome == Outcome::Exhausted;
        outcome == Outcome::Match
    }

    /// Says why `text`, which does not match, does not: how far the best attempt got.
    ///
    /// The first call compiles a program for it.
    pub fn explain(&self, text: &str, captures: &mut Captures) -> Explanation {
        let explainer = self.explainer.get_or_init(|| {
            let (pattern, library, options) = &*self.source;
            Explainer::new(pattern, library, options).ok()
        });
        match explainer {
            Some(explainer) => explainer.explain(text, captures),
            None => Explanation {
                matched_prefix_end: 0,
                stopped_at_index: 0,
                matched_pattern: String::new(),
                stopped_at_token: self.source.0.clone(),
                rest: text.to_string(),
            },
        }
    }

    /// What a user should know about the pattern.
    pub fn warnings(&self) -> Vec<String> {
        match self.strategy() {
            Strategy::Backtracking => vec![format!(
                "this pattern needs the backtracking engine, which gives up on a text after \
                 {BACKTRACKS_MAX} steps back"
            )],
            Strategy::Scan | Strategy::Linear => Vec::new(),
        }
    }

    /// The engine that was chosen.
    pub fn strategy(&self) -> Strategy {
        match self.engine() {
            Engine::Scan { .. } => Strategy::Scan,
            Engine::General(fallback) if fallback.is_linear() => Strategy::Linear,
            Engine::General(_) | Engine::Missing => Strategy::Backtracking,
        }
    }
}

pub(super) fn anchored(tree: Node, anchor: Anchor) -> Node {
    let start = Node::Assert(Assertion::StartText);
    match anchor {
        Anchor::Search => tree,
        Anchor::Start => Node::Concat(vec![start, tree]),
        Anchor::Whole => Node::Concat(vec![start, tree, Node::Assert(Assertion::EndText)]),
    }
}
