//! The operators, one a file. Each is declared once, as an [`OperatorKind`] beside its code: the
//! declaration says which settings it takes in the long notation and how a chain writes them.

mod key;
mod place;
mod saved_rows;
pub mod parse;
pub mod dedup;
pub mod rate_limit;
pub mod suppress;
pub mod sample;
pub mod join;
pub mod around;
pub mod enrich;
pub mod batch;
pub mod counter;
pub mod passthrough;
pub mod history;
mod answers;
pub mod qos;
pub mod roundrobin;
pub mod bucket;
pub mod script;
pub mod select;
#[cfg(test)]
mod harness;

use crate::lookup::NamedTables;
use crate::operator::AnyOperator;
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::diagnostic::Diagnostic;
use temblor_runtime::limits::KEYS_MAX;
use temblor_runtime::shared::{OpenSharedCounts, OpenSharedTokens};

/// A kind of operator: what `define operator x from generic::batch with … end` names.
#[derive(Debug)]
pub struct OperatorKind {
    /// `generic::batch`; ours are `stream::dedup` and so on.
    pub path: &'static str,
    /// The word of a chain step, when it is not the path.
    pub word: Option<&'static str>,
    /// For the manual; one or more sentences.
    pub doc: &'static str,
    /// Chains that run as tests (see `spec/operators`).
    pub examples: &'static [&'static str],
    /// What can be set.
    pub settings: &'static [Setting],
    /// Output ports besides `out` and `err`; [`ANY_PORT`] stands for any.
    pub ports: &'static [&'static str],
    /// Where a port's events go when nothing is connected to it: pairs of port and port. The events
    /// of any other port without a connection are counted as dropped.
    pub fallbacks: &'static [(&'static str, &'static str)],
    /// Makes the operator from its settings. Names and kinds have been checked.
    pub build: Making,
}

/// Makes an operator from its settings.
pub type Making = fn(&Settings, &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic>;

/// What operators may use besides their settings.
#[derive(Clone, Debug, Default)]
pub struct Supplies {
    /// The path of the operator's kind.
    pub kind: &'static str,
    /// The lookup tables of the program.
    pub tables: NamedTables,
    /// How stores are opened that several programs share, where this build has any.
    pub shared_counts: Option<OpenSharedCounts>,
    /// How stores of tokens are opened, where this build has any.
    pub shared_tokens: Option<OpenSharedTokens>,
}

/// How many keys an operator remembers.
pub(crate) const MAX_KEYS: Setting = Setting::new(
    "max_keys",
    Takes::Whole { least: 1, most: KEYS_MAX as u64 },
    "How many keys are remembered at most; giving up a key for lack of room is counted as an eviction.",
)
.or("1000000")
.in_chain(InChain::Clause("max_keys"));

/// Stands in [`OperatorKind::ports`] for ports that a setting names.
pub const ANY_PORT: &str = "*";

/// All kinds of operators, in the order of the manual.
pub static KINDS: &[&[OperatorKind]] = &[
    parse::KINDS,
    dedup::KINDS,
    rate_limit::KINDS,
    suppress::KINDS,
    sample::KINDS,
    join::KINDS,
    around::KINDS,
    enrich::KINDS,
    batch::KINDS,
    counter::KINDS,
    passthrough::KINDS,
    history::KINDS,
    qos::KINDS,
    roundrobin::KINDS,
    bucket::KINDS,
];
