//! Generators: events made, not read. The same seed gives the same events on every machine.
//!
//! Invariant: what is written depends on seed, settings and the event's number and time alone; nothing
//! here reads a clock.

mod digits;
mod zone;
mod relative;
pub mod stamp;
mod reading;
mod records;
mod finder;
mod rate;
mod pace;
mod executions;
mod damage;
mod truth;
mod disorder;
mod builtin;
mod presets;
mod lines;
mod replacement;
mod tokens;
pub mod envelope;
mod weave;
mod sample;
mod template;
mod replay;
mod jinja;
pub mod spec;
mod settings;
pub mod eventgen;
mod stream;
pub mod source;
mod connector;
pub mod inject;
mod injected;

pub use connector::CONNECTORS;
pub use spec::Spec;
pub use stream::Stream;

use temblor_runtime::clock::Timestamp;

pub(crate) use envelope::EventFields;
pub use temblor_lang::random::Random;

/// What an event is told about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Its number, counted from 0.
    pub index: u64,
    /// Its time.
    pub time: Timestamp,
    /// Its number among those that come at one execution, counted from 0; without executions, its number.
    pub place: u64,
    /// How many come at this execution; 0 when that is not known.
    pub of: u64,
    /// The times that it may show, the later one included.
    pub window: (Timestamp, Timestamp),
}

impl Moment {
    /// An event that shows its own time and belongs to no execution.
    #[must_use]
    pub(crate) fn at(index: u64, time: Timestamp) -> Self {
        Moment { index, time, place: index, of: 0, window: (time, time) }
    }
}

/// Writes one event after the other.
pub trait Generator: Send {
    /// Appends an event, without its line end; `false` when there are no more.
    ///
    /// # Errors
    /// A sentence on why the event could not be made.
    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String>;

    /// Time to the next event in nanoseconds, for generators that have a rhythm of their own. Asked
    /// for before [`write`](Self::write).
    fn gap(&mut self) -> Option<u64> {
        None
    }

    /// How many events an execution has that does not say.
    fn whole(&self) -> u64 {
        1
    }

    /// An execution begins. A generator that decides itself how many events it has gives their number.
    ///
    /// # Errors
    /// A sentence on why the events could not be made.
    fn begin(&mut self, _moment: Moment) -> Result<Option<u64>, String> {
        Ok(None)
    }

    /// What the last event says of itself: the time that it shows, host, source and the like.
    fn fields(&self) -> EventFields<'_> {
        EventFields::default()
    }
}
