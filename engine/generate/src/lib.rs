//! Generators: events made, not read. The same seed gives the same events on every machine.
//!
//! Invariant: what is written depends on seed, settings and the event's number and time alone; nothing
//! here reads a clock.

pub mod digits;
pub mod stamp;
pub mod rate;
pub mod pace;
pub mod disorder;
pub mod builtin;
pub mod lines;
pub mod replacement;
pub mod sample;
pub mod template;
pub mod replay;
pub mod spec;
pub mod eventgen;
pub mod stream;
pub mod source;
pub mod inject;
pub mod injected;

pub use rate::Rate;
pub use spec::Spec;
pub use stream::Stream;

use temblor_runtime::clock::Timestamp;

pub use temblor_lang::random::Random;

/// What an event is told about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Its number, counted from 0.
    pub index: u64,
    /// Its time.
    pub time: Timestamp,
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
}
