//! The source of what a command writes: it is run over and over, with a pause from start to start, or when
//! a time table says so.
//!
//! Invariant: no command outlives the run.

use crate::source::chained::block;
use crate::source::crononome::Crontab;
use crate::source::metronome::wait_until;
use crate::source::stream::{read_stream, wait_to_read};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read, Result as IoResult};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use temblor_codec::Format;
use temblor_lang::value::{Arena, Value};
use temblor_runtime::batch::Origin;
use temblor_runtime::clock::system_time;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::limits::WHOLE_BYTES_MAX;
use temblor_runtime::source::Source;
use temblor_runtime::source::feed::{At, Feed};

/// Time between two looks at whether a command that writes nothing more has ended.
const LOOK: Duration = Duration::from_millis(10);

/// What a plan says of such a source.
#[derive(Clone, Debug)]
pub struct CommandConfig {
    /// What the shell runs.
    pub command: String,
    /// When it is run.
    pub rhythm: Rhythm,
    /// How its output is cut into frames.
    pub framing: Framing,
    /// Whether each run gives one frame of MessagePack: `{"output": …, "status": …, "elapsed_ns": …}`.
    pub reports: bool,
}

/// When a command is run.
#[derive(Clone, Debug)]
pub enum Rhythm {
    /// At once, and so many nanoseconds from start to start; a command that takes longer is run again
    /// when it ends.
    Every(u64),
    /// At these times; those that pass while it runs are left out.
    Table(Box<Crontab>),
}

/// The source.
pub(crate) struct CommandSource {
    config: CommandConfig,
    /// Reports so far, and their bytes.
    sent: (u64, u64),
}

/// Added to the number of a signal that ended a command, as shells do.
const SIGNALLED: i32 = 128;

impl CommandSource {
    /// A source that has not begun.
    pub(crate) fn new(config: CommandConfig) -> Self {
        Self { config, sent: (0, 0) }
    }

    fn run_once(&mut self, feed: &Feed, at: &At) -> IoResult<()> {
        let start = system_time();
        let spawned = Command::new("sh")
            .arg("-c")
            .arg(&self.config.command)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let mut child = Ended(spawned);
        let Some(output) = child.0.stdout.take() else { return Ok(()) };
        let output = File::from(OwnedFd::from(output));
        if !self.config.reports {
            read_stream(output, feed, at)?;
            // Whoever stops the run does not wait for a command that goes on: it is ended.
            let status = loop {
                if feed.stop.is_asked() {
                    return Ok(());
                }
                match child.0.try_wait()? {
                    Some(status) => break status,
                    None => std::thread::sleep(LOOK),
                }
            };
            if !status.success() {
                let reason = format!("has ended with {status}");
                let help = "what it wrote was read; run it by itself to see what is wrong";
                feed.trouble(Error::input(self.name(), reason, help));
            }
            return Ok(());
        }
        let output = read_whole(output, feed)?;
        let status = child.0.wait()?;
        self.report(&output, status, system_time().saturating_sub(start), (feed, at))
    }

    fn report(
        &mut self,
        output: &[u8],
        status: ExitStatus,
        elapsed_ns: u64,
        (feed, at): (&Feed, &At),
    ) -> IoResult<()> {
        let arena = Arena::new();
        let signal = || SIGNALLED + status.signal().unwrap_or_default();
        let mut record = arena.record_builder(3);
        record.append("output", Value::Bytes(arena.bytes(output)));
        record.append("status", Value::Int(status.code().unwrap_or_else(signal).into()));
        record.append("elapsed_ns", Value::UInt(elapsed_ns));
        let mut message = Vec::new();
        let encoded = Format::MessagePack.encode(record.finish(), 0, &mut message);
        encoded.map_err(|error| IoError::other(error.to_string()))?;
        let length = u32::try_from(message.len()).map_err(IoError::other)?;
        let bytes = [&length.to_le_bytes()[..], &message].concat();
        let (count, offset) = self.sent;
        self.sent = (count + 1, offset + bytes.len() as u64);
        // When the queue is closed, the run is over.
        let _ = feed.send(Some(block(feed, &bytes, 1, count + 1, offset)), at);
        Ok(())
    }

    /// When the command is to be run after `now`.
    fn next(&self, now: u64) -> Option<u64> {
        match &self.config.rhythm {
            Rhythm::Every(nanoseconds) => Some(now.saturating_add(*nanoseconds)),
            Rhythm::Table(table) => table.next(now),
        }
    }
}

/// All that a command writes.
fn read_whole(mut output: File, feed: &Feed) -> IoResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut space = [0; READ_BYTES];
    loop {
        wait_to_read(&output, &feed.stop)?;
        match output.read(&mut space) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(&space[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if bytes.len() > WHOLE_BYTES_MAX {
            let reason = format!("its output is longer than {WHOLE_BYTES_MAX} bytes");
            return Err(IoError::other(reason));
        }
    }
}

/// Bytes of the output that are read at once.
const READ_BYTES: usize = 16 << 10;

/// A process that ends with its owner, and what it started with it.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // One that has ended by itself cannot be ended; there is nothing else to do.
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
            let _ = group.map(|group| kill_process_group(group, Signal::KILL));
        }
        let _ = self.0.wait();
    }
}

impl Source for CommandSource {
    fn name(&self) -> String {
        self.config.command.clone()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let origin = Origin::named(self.name());
        let framing = if self.config.reports { Framing::Prefixed } else { self.config.framing };
        let at = At { origin, file: 0, framing };
        feed.ledger.name_file(feed.source, 0, None);
        if let Rhythm::Table(table) = &self.config.rhythm {
            let first = table.next(system_time());
            if !first.map_or(Ok(false), |first| wait_until(first, feed))? {
                return Ok(());
            }
        }
        loop {
            let start = system_time();
            match self.run_once(feed, &at) {
                Err(_) if feed.stop.is_asked() => return Ok(()),
                Err(error) => {
                    let help = "the command must be one that `sh -c` runs";
                    feed.trouble(Error::input(
                        self.name(),
                        format!("cannot be run: {error}"),
                        help,
                    ));
                }
                Ok(()) => {}
            }
            // Times of a table that have passed meanwhile are left out.
            let since = match self.config.rhythm {
                Rhythm::Every(_) => start,
                Rhythm::Table(_) => system_time(),
            };
            let next = self.next(since);
            if !next.map_or(Ok(false), |next| wait_until(next, feed))? {
                return Ok(());
            }
        }
    }
}
