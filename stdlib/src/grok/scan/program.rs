//! A pattern as operations, each of which names the operation that follows it.
//!
//! Invariant: the graph has no cycle that reads nothing.

use std::sync::Arc;

use crate::onigmo::Assertion;

use super::class::Class;
use super::dfa::Dfa;
use super::symbols::SymbolSet;

/// The number of an operation.
pub(super) type Address = u32;

/// Instead of a slot: nothing is stored.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// One operation.
#[derive(Debug)]
pub(super) enum Operation {
    /// The end: the match is found.
    Accept,
    /// Nothing matches here.
    Fail,
    /// One byte.
    Byte { byte: u8, next: Address },
    /// `abc`, up to eight bytes: `value` holds them, the first one lowest, `mask` says how many.
    Word { value: u64, mask: u64, length: u8, next: Address },
    /// Longer literals.
    Literal { text: Box<[u8]>, next: Address },
    /// `[a-z]`
    One { class: Box<Class>, next: Address },
    /// `[a-z]+`, `.*?`
    Run(Box<Run>),
    /// A part without captures inside; the whole of it goes to the slots from `slot` on, unless
    /// that is `NO_SLOT`. The byte `then` is read behind it.
    Automaton { automaton: Arc<Dfa>, slot: u32, then: Option<u8>, next: Address },
    /// `a|b`, `a?`, `a*`
    Branch(Box<Branch>),
    /// Stores the position in a slot.
    Save { slot: u32, next: Address },
    /// `\b`
    Assert { assertion: Assertion, next: Address },
    /// `(?<!a)` with a class
    Behind { class: Box<Class>, negative: bool, next: Address },
    /// `(?!a)` with a class
    Ahead { class: Box<Class>, negative: bool, next: Address },
    /// `(?>`: remembers the choices so far.
    AtomicOpen { register: u32, next: Address },
    /// `)`: forgets the choices made since.
    AtomicClose { register: u32, next: Address },
    /// `(?=`: remembers choices and position.
    LookOpen { register: u32, next: Address },
    /// `)`: forgets the choices, goes back to the position.
    LookClose { register: u32, next: Address },
    /// `(?!`: what follows it is the last choice.
    NotOpen { register: u32, body: Address, next: Address },
    /// `)`: the body matched, so all fails, what follows included.
    NotClose { register: u32 },
    /// Goes back so many characters, or fails.
    StepBack { chars: u32, next: Address },
    /// Notes how far a match got, for explanations.
    Mark { token: u32, next: Address },
}

/// A repeated class.
#[derive(Debug)]
pub(super) struct Run {
    pub class: Class,
    pub min: u32,
    pub max: Option<u32>,
    pub lazy: bool,
    /// The symbols that what follows can start with.
    pub follow: SymbolSet,
    /// The one byte that can follow, if there is only one.
    pub needle: Option<u8>,
    /// Nothing in the class can follow, so the run is never cut short.
    pub exclusive: bool,
    /// As in `Automaton`; only used when the run is exclusive.
    pub slot: u32,
    /// The byte that is read behind it; only used when the run is exclusive.
    pub then: Option<u8>,
    pub next: Address,
    /// Number for the memory of visited states; `u32::MAX` inside atomic groups and look-around.
    pub memory: u32,
}

/// A choice, narrowed by the next symbol.
#[derive(Debug)]
pub(super) struct Branch {
    /// The list for each byte, and for the edge of the text.
    pub table: Box<[u16; 257]>,
    /// Lists of targets, the preferred first.
    pub lists: Vec<Box<[Address]>>,
    /// As in `Run`.
    pub memory: u32,
}

/// A compiled pattern.
#[derive(Debug)]
pub(in crate::grok) struct Program {
    pub(super) operations: Vec<Operation>,
    pub(super) start: Address,
    /// What a match can start with.
    pub(super) first: SymbolSet,
    /// A match can only start at the start of the text.
    pub(super) start_only: bool,
    /// The pattern starts with `.*`, so a match starts at the start of a line (or of the text,
    /// when `.` matches newlines too).
    pub(super) leading_run: Option<LeadingRun>,
    pub(super) registers: usize,
    /// How many operations have a number for the memory of visited states.
    pub(super) memories: usize,
}

/// What a leading `.*` runs up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeadingRun {
    Line,
    Text,
}
