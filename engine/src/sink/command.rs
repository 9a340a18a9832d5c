//! The sink that is a command: what is written goes to its standard input.
//!
//! Invariant: a command that has ended is started again for the next write; none outlives the run
//! without having seen the end of its input.

use crate::error::Error;
use crate::limits::OPEN_FILES_MAX;
use crate::sink::{Sink, WriteFailure};
use std::collections::HashMap;
use std::io::Write;
use std::process::{Child, Command, Stdio};

/// Commands by what they are; the place of a write, if it has one, is the command.
pub struct CommandSink {
    command: String,
    running: HashMap<String, Child>,
}

impl CommandSink {
    /// A sink whose command is started at the first write.
    pub fn new(command: &str) -> Self {
        Self { command: command.to_string(), running: HashMap::new() }
    }

    fn start(&mut self, command: &str) -> std::io::Result<()> {
        if self.running.len() >= OPEN_FILES_MAX {
            self.end();
        }
        let child = Command::new("sh").arg("-c").arg(command).stdin(Stdio::piped()).spawn()?;
        self.running.insert(command.to_string(), child);
        Ok(())
    }

    /// Closes the inputs of all commands and waits for them.
    fn end(&mut self) {
        for (_, mut child) in self.running.drain() {
            drop(child.stdin.take());
            // One that cannot be waited for has ended.
            let _ = child.wait();
        }
    }

    fn try_write(&mut self, command: &str, bytes: &[u8]) -> std::io::Result<()> {
        if !self.running.contains_key(command) {
            self.start(command)?;
        }
        let stdin = self.running.get_mut(command).and_then(|child| child.stdin.as_mut());
        let written = stdin.map_or(Ok(()), |stdin| stdin.write_all(bytes));
        if written.is_err()
            && let Some(mut child) = self.running.remove(command)
        {
            let _ = child.wait();
        }
        written
    }
}

impl Drop for CommandSink {
    fn drop(&mut self) {
        self.end();
    }
}

impl Sink for CommandSink {
    fn write(&mut self, place: &str, bytes: &[u8]) -> Result<(), WriteFailure> {
        let command = if place.is_empty() { self.command.clone() } else { place.to_string() };
        // A command that has ended meanwhile gets a second chance.
        let first = self.try_write(&command, bytes);
        first.or_else(|_| self.try_write(&command, bytes)).map_err(|error| {
            let help = "the command must read its standard input";
            let reason = format!("cannot be written to: {error}");
            WriteFailure::Refused(Error::output(command, reason, help))
        })
    }
}
