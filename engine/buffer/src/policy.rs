//! What a program says about the queue of a sink that is more than the sink's own queue can do.
//!
//! Invariant: each way of leaving events out is named here, and counted under that name.

use temblor_runtime::outlet::WhenFull;

use crate::log::Settings;
use crate::supply::Share;

/// What happens to events for a queue that is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Overflow {
    /// The program waits, and with it its sources.
    #[default]
    Block,
    /// What comes is left out.
    DropNewest,
    /// What has waited longest is left out.
    DropOldest,
    /// What comes goes back into the program, by the port `NAME/full`.
    Divert,
    /// The events of the least priority are left out, of those that wait and those that come.
    Shed,
}

impl From<WhenFull> for Overflow {
    fn from(when_full: WhenFull) -> Self {
        match when_full {
            WhenFull::Block => Self::Block,
            WhenFull::DropNewest => Self::DropNewest,
            WhenFull::DropOldest => Self::DropOldest,
        }
    }
}

/// Where events wait.
#[derive(Clone, Debug)]
pub enum Place {
    /// In memory.
    Memory,
    /// On disk.
    Disk(Settings),
    /// In memory while there is room, else on disk.
    Both(Settings),
}

impl Place {
    /// How the part on disk is kept, if there is one.
    #[must_use]
    pub fn settings(&self) -> Option<&Settings> {
        match self {
            Self::Memory => None,
            Self::Disk(settings) | Self::Both(settings) => Some(settings),
        }
    }
}

/// The queue in front of a sink.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Where events wait.
    pub place: Place,
    /// Bytes of events in memory, at the most.
    pub bytes_max: usize,
    /// Events in memory, at the most.
    pub events_max: u64,
    /// What happens beyond that.
    pub overflow: Overflow,
}

/// The part of what may be in memory that the sink itself may have: what it has can no longer give way.
const SINKS_PART: u64 = 4;

impl Policy {
    /// How much of what is in memory the sink may have.
    pub(crate) fn share(&self) -> Share {
        if matches!(self.place, Place::Disk(_)) {
            return Share { bytes_max: self.bytes_max, events_max: u64::MAX };
        }
        let bytes_max = (self.bytes_max / SINKS_PART as usize).max(1);
        Share { bytes_max, events_max: (self.events_max / SINKS_PART).max(1) }
    }

    /// Bytes that may wait before the sink has them.
    pub(crate) fn waiting_bytes(&self) -> usize {
        (self.bytes_max - self.bytes_max / SINKS_PART as usize).max(1)
    }

    /// Events that may wait before the sink has them.
    pub(crate) fn waiting_events(&self) -> u64 {
        (self.events_max - self.events_max / SINKS_PART).max(1)
    }
}
