//! Sets of what can stand next to a position: a byte, or the edge of the text.
//!
//! Invariant: a set may name more symbols than can occur, never fewer.

use regex_syntax::hir::ClassUnicode;

/// Bytes, and whether the text may end (or, looking back, start) here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct SymbolSet {
    words: [u64; 4],
    /// The edge of the text.
    pub edge: bool,
}

impl SymbolSet {
    /// Nothing.
    pub(super) const EMPTY: Self = Self { words: [0; 4], edge: false };

    /// Whatever can follow a position: the edge, or the first byte of any character.
    pub(super) fn any_next() -> Self {
        let mut set = Self::range(0, 0x7F);
        set.add_range(0xC2, 0xF4);
        set.edge = true;
        set
    }

    /// Whatever can precede a position: the edge, or the last byte of any character.
    pub(super) fn any_previous() -> Self {
        let mut set = Self::range(0, 0xBF);
        set.edge = true;
        set
    }

    /// Only the edge, or a newline.
    pub(super) fn line_edge() -> Self {
        Self { edge: true, ..Self::range(b'\n', b'\n') }
    }

    /// Only the edge.
    pub(super) const EDGE: Self = Self { words: [0; 4], edge: true };

    pub(super) fn range(low: u8, high: u8) -> Self {
        let mut set = Self::EMPTY;
        set.add_range(low, high);
        set
    }

    pub(super) fn add(&mut self, byte: u8) {
        self.words[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub(super) fn add_range(&mut self, low: u8, high: u8) {
        for byte in low..=high {
            self.add(byte);
        }
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.words[usize::from(byte >> 6)] & (1 << (byte & 63)) != 0
    }

    /// Whether the symbol at `at` is in the set.
    pub(super) fn admits(&self, bytes: &[u8], at: usize) -> bool {
        bytes.get(at).map_or(self.edge, |&byte| self.contains(byte))
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut set = *self;
        for (word, more) in set.words.iter_mut().zip(other.words) {
            *word |= more;
        }
        set.edge |= other.edge;
        set
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let mut set = *self;
        for (word, more) in set.words.iter_mut().zip(other.words) {
            *word &= more;
        }
        set.edge &= other.edge;
        set
    }

    pub(super) fn is_disjoint(&self, other: &Self) -> bool {
        self.intersection(other) == Self::EMPTY
    }

    pub(super) fn is_subset(&self, other: &Self) -> bool {
        self.intersection(other) == *self
    }

    pub(super) fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=255u8).filter(|&byte| self.contains(byte))
    }
}

/// The ASCII members of a class, and whether it has all, some or none of the others.
pub(super) fn ascii_members(class: &ClassUnicode) -> SymbolSet {
    let mut set = SymbolSet::EMPTY;
    for range in class.ranges() {
        if range.start().is_ascii() {
            let high = if range.end().is_ascii() { range.end() as u8 } else { 0x7F };
            set.add_range(range.start() as u8, high);
        }
    }
    set
}

/// Whether a class has members beyond ASCII.
pub(super) fn has_non_ascii(class: &ClassUnicode) -> bool {
    class.ranges().iter().any(|range| !range.end().is_ascii())
}

/// Whether a class has every character beyond ASCII.
pub(super) fn has_all_non_ascii(class: &ClassUnicode) -> bool {
    class
        .ranges()
        .last()
        .is_some_and(|range| u32::from(range.start()) <= 0x80 && range.end() == char::MAX)
}

/// The bytes that a member can start with.
pub(super) fn first_bytes(class: &ClassUnicode) -> SymbolSet {
    let mut set = ascii_members(class);
    if has_non_ascii(class) {
        set.add_range(0xC2, 0xF4);
    }
    set
}

/// The bytes that a member can end with.
pub(super) fn last_bytes(class: &ClassUnicode) -> SymbolSet {
    let mut set = ascii_members(class);
    if has_non_ascii(class) {
        set.add_range(0x80, 0xBF);
    }
    set
}
