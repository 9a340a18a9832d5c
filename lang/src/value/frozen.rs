//! A value that owns its memory: constants of a program, lookup tables, whatever outlives the
//! event that it came from. It is complete when made and never changes.

use super::{Arena, Value};

/// A value together with the arena that all of it lives in.
#[derive(Debug)]
pub struct Frozen {
    /// Refers into `arena` only; never handed out with a longer life than `self`.
    root: Value<'static>,
    /// Boxed, so that moving a `Frozen` does not move what `root` refers to.
    arena: Box<Arena>,
}

impl Frozen {
    /// A deep copy of `value`.
    #[must_use]
    pub fn new(value: Value<'_>) -> Self {
        Self::copied(value, Arena::new())
    }

    /// As [`Frozen::new`], if the copy takes no more than so many bytes.
    #[must_use]
    pub fn within(value: Value<'_>, bytes_max: usize) -> Option<Self> {
        let frozen = Self::copied(value, Arena::limited(bytes_max, usize::MAX));
        (!frozen.arena.is_spent()).then_some(frozen)
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.arena.charged_bytes()
    }

    fn copied(value: Value<'_>, arena: Arena) -> Self {
        let arena = Box::new(arena);
        let copy = value.copy_into(&arena);
        // SAFETY: `copy` refers into the blocks of `*arena` alone, since `copy_into` copies every
        // part. Those blocks stay where they are until the arena is dropped or reset: the arena
        // is private, never reset, and dropped together with `root`. `get` shortens the life
        // to that of `self`, so no reference outlives the arena.
        let root = unsafe { std::mem::transmute::<Value<'_>, Value<'static>>(copy) };
        Self { root, arena }
    }

    /// The value, for as long as this lives.
    #[must_use]
    pub fn get(&self) -> Value<'_> {
        self.root
    }
}

// SAFETY: an `Arena` is not `Sync` only because allocating through a shared reference mutates it.
// Nothing allocates or counts after it was made: `arena` is private, and what reads it, `bytes`, reads a
// number that no longer changes. What remains are shared references to plain data.
unsafe impl Sync for Frozen {}
// SAFETY: the references in `root` point into the arena that moves along.
unsafe impl Send for Frozen {}

impl Default for Frozen {
    fn default() -> Self {
        Self::new(Value::Null)
    }
}

impl Clone for Frozen {
    fn clone(&self) -> Self {
        Self::new(self.root)
    }
}
