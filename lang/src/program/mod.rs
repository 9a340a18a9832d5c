//! The lowered program: names are slots, keys are hashed, constants are values, extractors are
//! compiled. It is immutable and shared by all workers; `run` walks it.

mod expr;
mod pattern;

pub use expr::{
    Binary, BytesKind, BytesPart, Call, CompArm, Comprehension, Expr, FnCase, FnCases, Guarding,
    Key, LocalName, Patch, PatchOp, Path, Root, Segment, Target, TargetRoot, TextPart, UserFn,
    UserFnBody,
};
pub use pattern::{
    Arm, FieldPattern, FieldTest, Lookup, Match, Pattern, RecordPattern, Switch, Texts,
};

use crate::builtin::Aggregate;
use crate::span::Span;

/// Statements in order; the value is that of the last.
#[derive(Debug, Default)]
pub struct Block {
    /// All but the last are run for their effect.
    pub effects: Vec<Expr>,
    /// Gives the value; `null` when there is none.
    pub last: Option<Box<Expr>>,
}

/// What a script does to most events: so much is made ready before the first read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventChanges {
    /// It leaves them as they are, or drops some.
    #[default]
    None,
    /// It sets fields.
    Fields,
    /// It patches or merges all of the event.
    Record,
}

impl EventChanges {
    /// What an assignment does.
    #[must_use]
    pub fn of(target: &Target, value: &Expr) -> Self {
        match (target.root, target.segments.as_slice(), value) {
            (TargetRoot::Event, [], Expr::Patch(patch))
                if matches!(patch.target, Expr::Event) && patch.sets_fields() =>
            {
                Self::Fields
            }
            (TargetRoot::Event, [], _) => Self::Record,
            (TargetRoot::Event, _, _) => Self::Fields,
            _ => Self::None,
        }
    }
}

/// A script that is ready to run.
#[derive(Debug)]
pub struct Script {
    /// What it does.
    pub body: Block,
    /// Number of local slots.
    pub slots: usize,
    /// Whether the script may read or write `state`.
    pub uses_state: bool,
    /// What the script does to most events that it sees.
    pub event_changes: EventChanges,
    /// What gives its value, for errors about that value.
    pub span: Span,
}

/// An expression that is evaluated once an event outside of a script: `where`, `group by`, a
/// dedup key.
#[derive(Debug)]
pub struct Formula {
    /// What is evaluated.
    pub expr: Expr,
    /// Number of local slots (pattern bindings and comprehensions).
    pub slots: usize,
    /// The aggregate calls in it, in order of writing.
    pub aggregates: Vec<AggregateCall>,
    /// The expression as written, for errors about its value.
    pub span: Span,
}

/// One textual call of an aggregate function.
#[derive(Debug)]
pub struct AggregateCall {
    /// The function.
    pub aggregate: &'static Aggregate,
    /// Evaluated for each event that the window takes.
    pub arguments: Vec<Expr>,
    /// The call.
    pub span: Span,
}
