//! Sinks that write to files, standard output and commands.
//!
//! Invariant: when a write returns well, its bytes are with the operating system.

pub mod bench;
pub(crate) mod breaker;
mod command;
mod exit;
mod file;
mod packed;
mod stream;

use std::path::PathBuf;
use std::time::Duration;

use temblor_codec::interceptor::Packing;
use temblor_runtime::disk::Durability;
use temblor_runtime::error::Error;
use temblor_runtime::sink::{Delivered, OpenSink, Sink, WriteFailure};

use bench::{BenchConfig, BenchSink};
use command::CommandSink;
use exit::ExitSink;
use file::FileSink;
pub use file::is_place;
use packed::PackedSink;
use stream::StdoutSink;

/// What a plan says of a sink.
#[derive(Clone, Debug)]
pub enum SinkConfig {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The end of the run at the first event.
    Exit {
        /// How long it waits before.
        delay: Duration,
        /// Whether what has been read is dealt with first.
        graceful: bool,
    },
    /// The standard input of a command.
    Command {
        /// What the shell runs, unless the event chooses another one.
        command: String,
        /// A command that gets nothing for so long is ended, and begins anew with the next event.
        idle_max: Option<Duration>,
    },
    /// Nowhere, measured.
    Bench(BenchConfig),
    /// Nowhere.
    Null,
    /// One file.
    File {
        /// Its path.
        path: PathBuf,
        /// What becomes of what it holds.
        mode: FileMode,
        /// How it is made.
        care: Care,
    },
    /// Files whose paths are chosen per event.
    Files {
        /// The directory that no path may leave.
        directory: PathBuf,
        /// What becomes of what they hold.
        mode: FileMode,
        /// How they are made.
        care: Care,
    },
    /// Another sink, whose bytes are one compressed stream.
    Packed {
        /// Where the stream goes.
        inner: Box<SinkConfig>,
        /// How it is compressed.
        packing: Packing,
        /// How much work that may take, where there is a choice.
        level: Option<i64>,
    },
}

impl SinkConfig {
    /// The same sink behind one compressed stream, if there is to be one: how, and with which level.
    #[must_use]
    pub fn packed(self, stream: Option<(Packing, Option<i64>)>) -> Self {
        match stream {
            Some((packing, level)) => SinkConfig::Packed { inner: Box::new(self), packing, level },
            None => self,
        }
    }
}

/// What becomes of the content of an existing output file. A run that goes on from a checkpoint always
/// appends: what is there is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FileMode {
    /// Kept; events are written behind it.
    #[default]
    Append,
    /// Thrown away when the run opens the file first.
    Truncate,
    /// Written over from the beginning; what is not reached stays.
    Overwrite,
}

/// How output files are made, and what becomes of writes to one that was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Care {
    /// The permissions of new files, as far as the mask of the process leaves them.
    pub file_mode: Option<u32>,
    /// The same of new directories.
    pub directory_mode: Option<u32>,
    /// A file that is not there.
    pub absent: Absent,
    /// What it means that bytes are written.
    pub durability: Durability,
}

/// What a write does when its file is not there.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Absent {
    /// It is made when it is opened; nobody looks whether it is there afterwards.
    #[default]
    Unseen,
    /// It is made anew.
    Made,
    /// The write goes to this place instead, which is made.
    Elsewhere(String),
}

impl OpenSink for SinkConfig {
    fn ends_run(&self) -> bool {
        matches!(self, Self::Exit { .. })
    }

    fn open(&self, resumed: bool) -> Result<Box<dyn Sink>, Error> {
        let mode_of = |mode: FileMode| if resumed { FileMode::Append } else { mode };
        Ok(match self {
            Self::Stdout => Box::new(StdoutSink::open()?),
            Self::Stderr => Box::new(StdoutSink::stderr()?),
            Self::Exit { delay, graceful } => Box::new(ExitSink::new(*delay, *graceful)),
            Self::Command { command, idle_max } => Box::new(CommandSink::new(command, *idle_max)),
            Self::Bench(config) => Box::new(BenchSink::new(*config)),
            Self::Null => Box::new(NullSink),
            Self::File { path, mode, care } => {
                Box::new(FileSink::one(path, mode_of(*mode), care.clone())?)
            }
            Self::Files { directory, mode, care } => {
                Box::new(FileSink::many(directory, mode_of(*mode), care.clone()))
            }
            Self::Packed { inner, packing, level } => {
                Box::new(PackedSink::new(inner.open(resumed)?, *packing, *level))
            }
        })
    }
}

/// Takes everything and keeps nothing.
struct NullSink;

impl Sink for NullSink {
    fn write(&mut self, _place: &str, _bytes: &[u8]) -> Result<(), WriteFailure> {
        Ok(())
    }
}
