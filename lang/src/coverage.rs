//! Which branches of a program were taken: the arms of `match`, the cases of `for` and `fn`, the two
//! sides of `if`. A program that is compiled without it holds no trace of it, so it costs nothing.

use crate::span::Span;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a branch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchKind {
    /// `case pattern => …` of a `match`, or of a step `route`
    Arm,
    /// `case (k, v) => …` of a `for`
    Element,
    /// `case (p, q) => …` of a function
    Call,
    /// `if c then …`
    Then,
    /// `else …`
    Else,
}

impl BranchKind {
    /// What it is called in reports.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            BranchKind::Arm => "arm",
            BranchKind::Element => "case of for",
            BranchKind::Call => "case of fn",
            BranchKind::Then => "then",
            BranchKind::Else => "else",
        }
    }
}

/// A branch, and how often it was taken. Shared by all workers that run the program.
#[derive(Debug)]
pub struct Branch {
    /// What it is.
    pub kind: BranchKind,
    /// Where it is written: an arm from `case` on, a side of an `if` from its condition or its first
    /// expression on.
    pub span: Span,
    taken: AtomicU64,
}

impl Branch {
    /// How often it was taken since the program was compiled or [`Coverage::reset`]. Calls of pure
    /// functions with constant arguments count once, when they are folded.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    pub(crate) fn take(&self) {
        self.taken.fetch_add(1, Ordering::Relaxed);
    }
}

/// The branches of one program. Set [`Compiler::coverage`](crate::lower::Compiler::coverage) to
/// `Some(Coverage::default())` before compiling, and keep it after.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    branches: Vec<Arc<Branch>>,
}

impl Coverage {
    /// All branches, in the order in which they were compiled: modules first.
    pub fn branches(&self) -> impl Iterator<Item = &Branch> {
        self.branches.iter().map(AsRef::as_ref)
    }

    /// The branches that nothing has taken.
    pub fn missed(&self) -> impl Iterator<Item = &Branch> {
        self.branches().filter(|branch| branch.taken() == 0)
    }

    /// Counts anew.
    pub fn reset(&self) {
        self.branches().for_each(|branch| branch.taken.store(0, Ordering::Relaxed));
    }

    pub(crate) fn add(&mut self, kind: BranchKind, span: Span) -> Arc<Branch> {
        let branch = Arc::new(Branch { kind, span, taken: AtomicU64::new(0) });
        self.branches.push(branch.clone());
        branch
    }
}
