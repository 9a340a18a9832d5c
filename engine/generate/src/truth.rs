//! What was done to which event, written beside the stream: whoever tests with faults can count them.
//!
//! Invariant: each event of the stream has one line here, in the same order; lost ones have one without a place.

use super::damage::Done;
use std::io::{BufWriter, Write};
use std::path::Path;
use temblor_runtime::error::Error;

/// What became of one event, or of one copy of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    /// The event's number before anything was done, from 0.
    pub event: u64,
    /// 0 for the event, 1 for its copy.
    pub copy: u8,
    /// It never comes.
    pub is_lost: bool,
    /// It comes after events that were made later.
    pub is_late: bool,
    /// It waited for others and comes together with them.
    pub(crate) is_burst: bool,
    /// What its sender did to it.
    pub done: Done,
}

/// The file.
pub(crate) struct Truth {
    file: BufWriter<std::fs::File>,
    name: String,
    skew_ns: i64,
    /// Events written to the stream.
    place: u64,
}

impl Truth {
    /// Begins a file; `skew_ns` is how far the clock of the stream is off.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn create(path: &Path, skew_ns: i64) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = std::fs::File::create(path).map_err(|error| {
            let help = "give the path of a file in a directory that exists";
            Error::new(
                temblor_runtime::error::ErrorKind::Output,
                name.clone(),
                error.to_string(),
                help,
            )
        })?;
        Ok(Truth { file: BufWriter::new(file), name, skew_ns, place: 0 })
    }

    /// Writes down what became of an event.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn tell(&mut self, fate: &Fate) -> Result<(), String> {
        let place = if fate.is_lost {
            "null".to_string()
        } else {
            self.place += 1;
            self.place.to_string()
        };
        let flags = [
            ("lost", fate.is_lost),
            ("copy", fate.copy > 0),
            ("late", fate.is_late),
            ("burst", fate.is_burst),
            ("truncated", fate.done.is_truncated),
            ("malformed", fate.done.is_malformed),
            ("oversized", fate.done.is_oversized),
            ("skewed", self.skew_ns != 0),
        ];
        let words = flags.iter().filter(|(_, is)| *is).map(|(word, _)| format!("\"{word}\""));
        let faults = words.collect::<Vec<_>>().join(",");
        let (event, copy) = (fate.event, fate.copy);
        writeln!(
            self.file,
            "{{\"line\":{place},\"event\":{event},\"copy\":{copy},\"faults\":[{faults}]}}"
        )
        .map_err(|error| format!("{}: {error}", self.name))
    }

    /// All that was told is in the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn flush(&mut self) -> Result<(), String> {
        self.file.flush().map_err(|error| format!("{}: {error}", self.name))
    }
}
