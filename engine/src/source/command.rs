//! The source of what a command writes: it is run over and over, with a pause from start to start.
//!
//! Invariant: no command outlives the run.

use crate::batch::Origin;
use crate::clock::system_time;
use crate::error::Error;
use crate::framing::Framing;
use crate::source::Source;
use crate::source::feed::{At, Feed};
use crate::source::metronome::wait_until;
use crate::source::stream::read_stream;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// What a plan says of such a source.
#[derive(Clone, Debug)]
pub struct CommandConfig {
    /// What the shell runs.
    pub command: String,
    /// Nanoseconds from start to start; a command that takes longer is run again when it ends.
    pub every_ns: u64,
    /// How its output is cut into frames.
    pub framing: Framing,
}

/// The source.
pub struct CommandSource {
    config: CommandConfig,
}

impl CommandSource {
    /// A source that has not begun.
    pub fn new(config: CommandConfig) -> Self {
        Self { config }
    }

    fn run_once(&self, feed: &Feed, at: &At) -> std::io::Result<()> {
        let spawned = Command::new("sh")
            .arg("-c")
            .arg(&self.config.command)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut child = Ended(spawned);
        let Some(output) = child.0.stdout.take() else { return Ok(()) };
        read_stream(File::from(OwnedFd::from(output)), feed, at)
    }
}

/// A process that ends with its owner.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // One that has ended by itself cannot be ended; there is nothing else to do.
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let _ = self.0.kill();
        }
        let _ = self.0.wait();
    }
}

impl Source for CommandSource {
    fn name(&self) -> String {
        self.config.command.clone()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let origin = Arc::new(Origin { name: self.name() });
        let at = At { origin, file: 0, framing: self.config.framing };
        feed.ledger.name_file(feed.source, 0, None);
        loop {
            let start = system_time();
            if let Err(error) = self.run_once(feed, &at) {
                let help = "the command must be one that `sh -c` runs";
                feed.trouble(Error::input(self.name(), format!("cannot be run: {error}"), help));
            }
            if !wait_until(start.saturating_add(self.config.every_ns), feed)? {
                return Ok(());
            }
        }
    }
}
