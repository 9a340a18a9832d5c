//! Standard output and standard error.
//!
//! Invariant: a reader that has gone away ends the run quietly; one that is slow is waited for.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};

use crate::sink::{Sink, WriteFailure};
use temblor_runtime::error::Error;

const STDOUT: &str = "<stdout>";

/// Standard output or error, written without a buffer of its own.
pub(crate) struct StdoutSink {
    file: File,
}

impl StdoutSink {
    /// Takes standard error.
    pub(super) fn stderr() -> Result<Self, Error> {
        let descriptor = std::io::stderr().as_fd().try_clone_to_owned();
        let file = File::from(descriptor.map_err(|error| refusal(&error))?);
        Ok(StdoutSink { file })
    }

    /// Takes standard output.
    pub(super) fn open() -> Result<Self, Error> {
        let descriptor = std::io::stdout().as_fd().try_clone_to_owned();
        let file = File::from(descriptor.map_err(|error| refusal(&error))?);
        Ok(StdoutSink { file })
    }
}

impl Sink for StdoutSink {
    fn write(&mut self, _place: &str, mut bytes: &[u8]) -> Result<(), WriteFailure> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(0) => return Err(WriteFailure::Refused(refusal(&ErrorKind::WriteZero.into()))),
                Ok(count) => bytes = &bytes[count..],
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::BrokenPipe => return Err(WriteFailure::NobodyReads),
                    // Somebody else made the terminal or pipe non-blocking.
                    ErrorKind::WouldBlock => wait_for_room(&self.file),
                    _ => return Err(WriteFailure::Refused(refusal(&error))),
                },
            }
        }
        Ok(())
    }
}

fn wait_for_room(file: &File) {
    // An interrupted wait is as good as a short one: the write is tried again.
    let _ = poll(&mut [PollFd::new(file, PollFlags::OUT)], None);
}

fn refusal(error: &std::io::Error) -> Error {
    Error::output(STDOUT, format!("cannot be written: {error}"), "send it somewhere with room")
}
