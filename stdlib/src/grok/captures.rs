//! Where the groups of the last match lie, and the memory that matching reuses.
//!
//! Invariant: after the first few lines no match allocates; every vector only grows.

use regex::CaptureLocations;

use super::scan::Scratch;

/// The mark of a group that took no part in the match.
pub(super) const UNSET: u32 = u32::MAX;

/// The result of a match. Reuse one value for many lines and patterns.
#[derive(Debug, Default)]
pub struct Captures {
    /// Start and end of the whole match.
    pub(super) whole: (u32, u32),
    /// Start and end of each group, `UNSET` when it took no part.
    pub(super) slots: Vec<u32>,
    /// Memory of the scanning engine.
    pub(super) scratch: Scratch,
    /// Memory of the linear engine, for the pattern of this number.
    pub(super) locations: Option<(u64, CaptureLocations)>,
    /// The last search gave up at its step limit.
    pub(super) exhausted: bool,
}

impl Captures {
    /// Empty captures.
    pub fn new() -> Self {
        Self::default()
    }

    /// Byte offsets of a group in the text that was matched.
    pub fn span(&self, group: usize) -> Option<(u32, u32)> {
        let [start, end] = *self.slots.get(group * 2..)?.first_chunk()?;
        (start != UNSET && end != UNSET).then_some((start, end))
    }

    /// The text of a group; `text` is the text that was matched.
    #[inline]
    pub fn get<'t>(&self, group: usize, text: &'t str) -> Option<&'t str> {
        let (spans, _) = self.slots.as_chunks::<2>();
        let [start, end] = *spans.get(group)?;
        // The marks of a group that took no part are behind every text.
        text.get(start as usize..end as usize)
    }

    /// Byte offsets of the whole match.
    pub fn whole(&self) -> (u32, u32) {
        self.whole
    }

    /// Whether the last search gave up at its step limit rather than finding no match.
    pub fn exhausted(&self) -> bool {
        self.exhausted
    }

    /// Clears all groups and makes room for `groups` of them.
    pub(super) fn reset(&mut self, groups: usize) {
        self.slots.clear();
        self.slots.resize(groups * 2, UNSET);
        self.exhausted = false;
    }
}
