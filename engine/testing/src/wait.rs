//! Waiting for a condition instead of for a while.
//!
//! Invariant: a wait ends as soon as its condition holds, and fails with its own words when it does not.

use std::time::{Duration, Instant};

/// A condition that does not hold after so long never will. Two busy cores are slow: it is generous.
pub const DEADLINE: Duration = Duration::from_secs(120);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// Looks until there is a value.
///
/// # Panics
/// After [`DEADLINE`], with `what` was waited for.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(started.elapsed() < DEADLINE, "waited {} s for {what}", DEADLINE.as_secs());
        std::thread::sleep(LOOK);
    }
}

/// Looks until the condition holds.
///
/// # Panics
/// After [`DEADLINE`], with `what` was waited for.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}
