//! Sources: where batches come from. Each runs in a thread of its own, reads, and sends.
//!
//! Invariant: a source does no work per event, holds back nothing when no more input is there, and
//! reads no further while the queue has no room.

pub mod assembler;
pub mod chained;
pub mod command;
pub mod completion;
pub mod compression;
pub mod crononome;
pub mod feed;
pub mod file;
pub mod generate;
pub mod inject;
pub mod metrics;
pub mod metronome;
pub mod repeat;
pub mod stream;
pub mod tail;

use crate::checkpoint::FileMark;
use crate::error::Error;
use crate::framing::Framing;
use crate::generate::Spec;
use crate::inject::InjectConfig;

use chained::{ChainedConfig, ChainedSource};
use command::{CommandConfig, CommandSource};
use crononome::CrononomeSource;
use feed::Feed;
use file::{FileConfig, FileSource};
use generate::GenerateSource;
use inject::InjectSource;
use metrics::{MetricsConfig, MetricsSource};
use metronome::MetronomeSource;
use repeat::{RepeatConfig, RepeatSource};
use stream::StdinSource;
use tail::{TailConfig, TailSource};

/// What a plan says of a source.
#[derive(Clone, Debug)]
pub enum SourceConfig {
    /// Standard input, compressed or not.
    Stdin {
        /// How frames are told apart.
        framing: Framing,
    },
    /// Files, compressed or not, one after the other.
    File(FileConfig),
    /// Events that are made; and what the user calls the source.
    Generate(String, Box<Spec>),
    /// Frames in memory, at a fixed frequency.
    Inject(InjectConfig),
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
    /// What the run itself counts.
    Metrics(MetricsConfig),
    /// The same lines over and over.
    Repeat(RepeatConfig),
    /// What a command writes.
    Command(CommandConfig),
    /// Files that grow.
    Tail(TailConfig),
}

/// A source that is ready to run.
pub trait Source: Send {
    /// What the user calls it.
    fn name(&self) -> String;

    /// How many bytes there are to read, when that is known.
    fn total_bytes(&self) -> Option<u64> {
        None
    }

    /// Reads until the input ends or the run stops. What is wrong with one file of several is reported
    /// to the feed and does not end the source.
    fn run(&mut self, feed: &Feed) -> Result<(), Error>;
}

/// Opens a source; `marks` are the places that an earlier run got to.
pub fn open(config: &SourceConfig, marks: &[FileMark]) -> Result<Box<dyn Source>, Error> {
    Ok(match config {
        SourceConfig::Stdin { framing } => Box::new(StdinSource::new(*framing)),
        SourceConfig::Chained(config) => Box::new(ChainedSource::open(config, marks)?),
        SourceConfig::Metronome { interval, count } => {
            Box::new(MetronomeSource::new(*interval, *count))
        }
        SourceConfig::Crononome(entries) => Box::new(CrononomeSource::new(entries.clone())),
        SourceConfig::Metrics(config) => Box::new(MetricsSource::new(config.clone())),
        SourceConfig::Repeat(config) => Box::new(RepeatSource::new(config.clone())),
        SourceConfig::Command(config) => Box::new(CommandSource::new(config.clone())),
        SourceConfig::Tail(config) => Box::new(TailSource::new(config.clone(), marks)),
        SourceConfig::File(config) => Box::new(FileSource::open(config, marks)?),
        SourceConfig::Generate(name, spec) => {
            Box::new(GenerateSource::new(name.clone(), (**spec).clone()))
        }
        SourceConfig::Inject(config) => Box::new(InjectSource::new(config.clone())),
    })
}
