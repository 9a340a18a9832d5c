//! Fixed-frequency injection: load of a known rate, and latencies that no stall can hide.
//!
//! Event `i` is *meant* to start at `t0 + i / rate`. Its latency runs from that moment, whether or not
//! the injector could send it then, to the moment at which everything that stems from it is where it
//! should be. So a stall is charged to every event that it delayed, not only to the one that met it
//! (the mistake that Gil Tene calls coordinated omission).
//!
//! Invariant: nothing here knows what a pipeline does; an event's end is the settling of its batch's
//! token, the same that moves a file's mark in production.

mod ticker;
mod frames;
pub(crate) mod schedule;
pub(crate) mod recorder;
pub mod machine;
pub mod outcome;
pub mod search;

pub use frames::Frames;
pub use outcome::{Measurement, Outcome};
pub use recorder::Recorder;
pub use schedule::{Load, Schedule};
pub use search::Limit;
pub use ticker::{SystemTicker, Ticker};

use std::fmt;
use std::sync::Arc;

/// What a plan says of an injecting source.
#[derive(Clone)]
pub struct InjectConfig {
    /// What the user calls it.
    pub name: String,
    /// What is injected, over and over.
    pub frames: Arc<Frames>,
    /// When.
    pub schedule: Schedule,
    /// Where latencies are recorded; shared by all injectors of a run.
    pub recorder: Arc<Recorder>,
}

impl fmt::Debug for InjectConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InjectConfig({}, {:?})", self.name, self.schedule)
    }
}
