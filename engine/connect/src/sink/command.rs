//! The sink that is a command: what is written goes to its standard input.
//!
//! Invariant: a command that has ended is started again for the next write; none outlives the run
//! without having seen the end of its input.

use crate::sink::{Sink, WriteFailure};
use std::collections::HashMap;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use temblor_runtime::error::Error;
use temblor_runtime::limits::OPEN_FILES_MAX;

/// Commands by what they are; the place of a write, if it has one, is the command.
pub struct CommandSink {
    command: String,
    idle_max: Option<Duration>,
    running: HashMap<String, Running>,
}

struct Running {
    child: Child,
    /// When it was written to last.
    last: Instant,
}

impl Running {
    /// Closes its input and waits for it.
    fn end(mut self) {
        drop(self.child.stdin.take());
        // One that cannot be waited for has ended.
        let _ = self.child.wait();
    }
}

impl CommandSink {
    /// A sink whose command is started at the first write.
    pub fn new(command: &str, idle_max: Option<Duration>) -> Self {
        Self { command: command.to_string(), idle_max, running: HashMap::new() }
    }

    fn start(&mut self, command: &str) -> std::io::Result<()> {
        if self.running.len() >= OPEN_FILES_MAX {
            self.end();
        }
        let child = Command::new("sh").arg("-c").arg(command).stdin(Stdio::piped()).spawn()?;
        self.running.insert(command.to_string(), Running { child, last: Instant::now() });
        Ok(())
    }

    /// Closes the inputs of all commands and waits for them.
    fn end(&mut self) {
        self.running.drain().for_each(|(_, running)| running.end());
    }

    /// Ends the commands that have had nothing for too long.
    fn end_idle(&mut self) {
        let Some(idle_max) = self.idle_max else { return };
        let is_idle = |_: &String, running: &mut Running| running.last.elapsed() > idle_max;
        self.running.extract_if(is_idle).for_each(|(_, running)| running.end());
    }

    fn try_write(&mut self, command: &str, bytes: &[u8]) -> std::io::Result<()> {
        if !self.running.contains_key(command) {
            self.start(command)?;
        }
        let Some(running) = self.running.get_mut(command) else { return Ok(()) };
        running.last = Instant::now();
        let stdin = running.child.stdin.as_mut();
        let written = stdin.map_or(Ok(()), |stdin| stdin.write_all(bytes));
        if written.is_err()
            && let Some(running) = self.running.remove(command)
        {
            running.end();
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
        self.end_idle();
        // A command that has ended meanwhile gets a second chance.
        let first = self.try_write(&command, bytes);
        first.or_else(|_| self.try_write(&command, bytes)).map_err(|error| {
            let help = "the command must read its standard input";
            let reason = format!("cannot be written to: {error}");
            WriteFailure::Refused(Error::output(command, reason, help))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CommandSink;
    use std::time::Duration;
    use temblor_runtime::sink::Sink;

    #[test]
    fn an_idle_command_is_ended_and_begins_anew() {
        let place = std::env::temp_dir().join(format!("temblor-idle-{}", std::process::id()));
        let command = format!("cat >> {0}; echo end >> {0}", place.display());
        for (idle_max, wanted) in
            [(Some(Duration::ZERO), "a\nend\nb\nend\n"), (None, "a\nb\nend\n")]
        {
            let mut sink = CommandSink::new(&command, idle_max);
            for line in ["a\n", "b\n"] {
                sink.write("", line.as_bytes()).expect("the command reads");
            }
            drop(sink);
            assert_eq!(std::fs::read_to_string(&place).expect("it was written"), wanted);
            std::fs::remove_file(&place).expect("it is there");
        }
    }
}
