//! Sources that a file, a command, a clock or standard input feed.
//!
//! Invariant: as of every source: no work per event, nothing held back when no more input is there.

pub(crate) mod breaker;
pub mod chained;
pub mod command;
pub mod crononome;
pub mod file;
pub mod metronome;
pub mod repeat;
mod stream;
pub mod tail;

use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::source::{OpenSource, Source};

use chained::{ChainedConfig, ChainedSource};
use command::{CommandConfig, CommandSource};
use crononome::CrononomeSource;
use file::{FileConfig, FileSource};
use metronome::MetronomeSource;
use repeat::{RepeatConfig, RepeatSource};
use stream::StdinSource;
use tail::{TailConfig, TailSource};

/// What a plan says of a local source.
#[derive(Clone, Debug)]
pub enum SourceConfig {
    /// Standard input, compressed or not.
    Stdin {
        /// How frames are told apart.
        framing: Framing,
    },
    /// Files, compressed or not, one after the other.
    File(FileConfig),
    /// A file or standard input, with preprocessors.
    Chained(ChainedConfig),
    /// An event at each interval, in nanoseconds.
    Metronome {
        /// From 1.
        interval: u64,
        /// How many; nothing is for ever.
        count: Option<u64>,
    },
    /// Events at the times of a time table.
    Crononome(Vec<crononome::Entry>),
    /// The same lines over and over.
    Repeat(RepeatConfig),
    /// What a command writes.
    Command(CommandConfig),
    /// Files that grow.
    Tail(TailConfig),
}

impl OpenSource for SourceConfig {
    fn forgets(&self) -> bool {
        false
    }

    fn open(&self, marks: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(match self {
            Self::Stdin { framing } => Box::new(StdinSource::new(*framing)),
            Self::Chained(config) => Box::new(ChainedSource::open(config, marks)?),
            Self::Metronome { interval, count } => {
                Box::new(MetronomeSource::new(*interval, *count))
            }
            Self::Crononome(entries) => Box::new(CrononomeSource::new(entries.clone())),
            Self::Repeat(config) => Box::new(RepeatSource::new(config.clone())),
            Self::Command(config) => Box::new(CommandSource::new(config.clone())),
            Self::Tail(config) => Box::new(TailSource::new(config.clone(), marks)),
            Self::File(config) => Box::new(FileSource::open(config, marks)?),
        })
    }
}
