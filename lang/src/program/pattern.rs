//! Lowered patterns and matches.

use super::{Block, Expr};
use crate::builtin::{Extractor, ManyTests};
use crate::span::Span;
use crate::syntax::tree::BinaryOp;
use halfbrown::HashMap;

/// `match target of … end`
#[derive(Debug)]
pub struct Match {
    /// What is matched.
    pub target: Expr,
    /// In order.
    pub arms: Vec<Arm>,
    /// Jump tables over runs of literal arms, by the number of the run's first arm.
    pub switches: Vec<Switch>,
    /// Look-ups over runs of test literals, in order; no two overlap.
    pub lookups: Vec<Lookup>,
    /// All of it.
    pub span: Span,
}

/// A run of at least [`Switch::ARMS_MIN`] arms without guards whose patterns are constant strings
/// or whole numbers: one look-up instead of a walk.
#[derive(Debug)]
pub struct Switch {
    /// Number of the first arm of the run.
    pub first: usize,
    /// Number of the first arm after the run.
    pub end: usize,
    /// Strings of the run; of equal ones the first arm.
    pub strings: HashMap<Box<str>, usize>,
    /// Whole numbers of the run.
    pub integers: HashMap<i128, usize>,
}

impl Switch {
    /// Shorter runs are walked.
    pub const ARMS_MIN: usize = 4;
}

/// A run of arms that begin with a test literal of one kind on the same text: `case ~ re|…|`, or
/// `case %{ field ~= re|…| }`. It gives the next arm that can take the target.
#[derive(Debug)]
pub struct Lookup {
    /// Number of the first arm of the run.
    pub first: usize,
    /// Number of the first arm after the run.
    pub end: usize,
    /// Name and hash of the field that is tested; `None`: the target itself.
    pub field: Option<(Box<str>, u32)>,
    /// Whether the tests compare: then bytes may pass them as well as text.
    pub compares: bool,
    /// The tests; number 0 is that of the first arm.
    pub tests: Box<dyn ManyTests>,
}

/// `case pattern when guard => block`
#[derive(Debug)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// Slot of `x = pattern`.
    pub bind: Option<usize>,
    /// `when …`
    pub guard: Option<(Expr, Span)>,
    /// The arm.
    pub body: Block,
}

/// A pattern.
#[derive(Debug)]
pub enum Pattern {
    /// `_`
    Any,
    /// `~ re|…|`
    Test(Box<dyn Extractor>),
    /// `%{ … }`
    Record(RecordPattern),
    /// `%[ … ]`
    Array(Vec<Pattern>),
    /// `%( … )`, open with `...`
    Tuple(Vec<Pattern>, bool),
    /// Any expression
    Expr(Expr),
}

/// `%{ a == 1, present b }`
#[derive(Debug, Default)]
pub struct RecordPattern {
    /// In order.
    pub fields: Vec<FieldPattern>,
}

/// One field.
#[derive(Debug)]
pub struct FieldPattern {
    /// The field.
    pub name: Box<str>,
    /// Hash of the name.
    pub hash: u32,
    /// What is asked.
    pub test: FieldTest,
    /// All of it.
    pub span: Span,
}

/// What is asked of a field.
#[derive(Debug)]
pub enum FieldTest {
    /// `present a`
    Present,
    /// `absent a`
    Absent,
    /// `a ~= json||`
    Test(Box<dyn Extractor>),
    /// `a ~= %{ … }`
    Pattern(Pattern),
    /// `a == x`
    Compare(BinaryOp, Expr),
}
