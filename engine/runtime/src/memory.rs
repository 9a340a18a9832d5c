//! Whether the memory of the process is short, for those who keep something that may give way.
//!
//! Invariant: a process has one memory, so that this is one state for all runs in it; nothing here is short unless a
//! run has a bound (`--memory`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Tables with fewer entries than this give nothing up: it would change more than it frees.
pub const ENTRIES_KEPT_MIN: usize = 1024;

static IS_SHORT: AtomicBool = AtomicBool::new(false);
static GIVEN_UP: AtomicU64 = AtomicU64::new(0);

/// States whether memory is short from now on.
pub(crate) fn note(is_short: bool) {
    IS_SHORT.store(is_short, Ordering::Relaxed);
}

/// Whether a table that holds so many entries, and may hold so many, has no room for one more: an old one has to give
/// way. Where memory is short, tables do not grow.
#[must_use]
pub fn is_full(held: usize, most: usize) -> bool {
    if held >= most {
        return true;
    }
    let gives_up = held >= ENTRIES_KEPT_MIN && IS_SHORT.load(Ordering::Relaxed);
    if gives_up {
        GIVEN_UP.fetch_add(1, Ordering::Relaxed);
    }
    gives_up
}

/// Entries of tables that gave way because memory was short.
#[must_use]
pub fn given_up() -> u64 {
    GIVEN_UP.load(Ordering::Relaxed)
}
