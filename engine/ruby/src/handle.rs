//! Handles: the places of values in the heap of a filter, by kind.
//!
//! Invariant: a handle means something to its own heap only.

/// A text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRef(pub(crate) u32);
/// A list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRef(pub(crate) u32);
/// A hash, a set, or the fields of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashRef(pub(crate) u32);
/// `a..b`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeRef(pub(crate) u32);
/// A lambda or a block that is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClosureRef(pub(crate) u32);
/// The variables of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScopeRef(pub(crate) u32);
