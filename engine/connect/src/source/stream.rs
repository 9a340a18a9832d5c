//! Standard input, and everything else that is read as it comes: pipes, terminals, sockets as files.
//!
//! Invariant: a read that waits ends when the run is asked to stop.

use std::fs::File;
use std::io::{Chain, Cursor, Error as IoError, ErrorKind, Read, Result as IoResult};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use temblor_codec::compression::{self, Compression, MAGIC_BYTES_MAX};
use temblor_runtime::batch::Origin;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::limits::PIPE_BYTES;
use temblor_runtime::source::Source;
use temblor_runtime::source::assembler::Assembler;
use temblor_runtime::source::feed::{At, Ended, Feed, Input};
use temblor_runtime::stop::Stop;

/// The name of standard input in messages.
pub(crate) const STDIN: &str = "<stdin>";

/// Standard input.
pub(crate) struct StdinSource {
    framing: Framing,
}

impl StdinSource {
    /// Standard input, cut into frames.
    pub(super) fn new(framing: Framing) -> Self {
        StdinSource { framing }
    }
}

impl Source for StdinSource {
    fn name(&self) -> String {
        STDIN.to_string()
    }

    fn total_bytes(&self) -> Option<u64> {
        let file = File::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
        let metadata = file.metadata().ok()?;
        (metadata.is_file() && metadata.len() > 0).then_some(metadata.len())
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let input =
            std::io::stdin().as_fd().try_clone_to_owned().map_err(|error| stdin_error(&error))?;
        let origin = Origin::named(STDIN.to_string());
        let at = At { origin, file: 0, framing: self.framing };
        read_stream(File::from(input), feed, &at).map_err(|error| stdin_error(&error))
    }
}

fn stdin_error(error: &IoError) -> Error {
    let help = "give events on standard input (a file with `<`, or a pipe)";
    Error::input(STDIN, format!("cannot be read: {error}"), help)
}

/// Reads a stream to its end; decompresses it when it starts as compressed data do.
pub(crate) fn read_stream(file: File, feed: &Feed, at: &At) -> IoResult<()> {
    // Fewer changes between writer and reader; a system that refuses gives the usual pipe.
    let _ = rustix::pipe::fcntl_setpipe_size(&file, PIPE_BYTES);
    let mut stream = Stream { file, feed };
    let mut head = [0; MAGIC_BYTES_MAX];
    let Some(length) = stream.read_head(&mut head)? else { return Ok(()) };
    let compression = Compression::of(&head[..length]);
    let mut chain = Headed(Cursor::new(head[..length].to_vec()).chain(stream));
    let mut assembler = Assembler::new(at.framing, &feed.pool, 0, 1);
    let ended = match compression {
        None => feed.pump(&mut chain, &mut assembler, at),
        Some(compression) => {
            let mut decoder = Decoded(compression::decoder(compression, Box::new(chain))?);
            feed.pump(&mut decoder, &mut assembler, at)
        }
    };
    end_input(ended, &mut assembler, feed, at)
}

/// Sends what is left after the reading of an input ended.
pub(crate) fn end_input(
    ended: IoResult<Ended>,
    assembler: &mut Assembler,
    feed: &Feed,
    at: &At,
) -> IoResult<()> {
    // When the queue is closed, the run is over and what is left is not acknowledged.
    let _ = match &ended {
        Ok(Ended::AtEnd) => feed.send(assembler.finish(), at),
        Ok(Ended::Stopped) => feed.send(assembler.cut(), at),
        Err(error) => feed.send(assembler.abandon(&format!("input broke off: {error}")), at),
    };
    ended.map(|_| ())
}

/// Waits until there is something to read; an error when the run stops first.
pub(crate) fn wait_to_read(file: &File, stop: &Stop) -> IoResult<()> {
    let stop = stop.descriptor();
    let mut descriptors = [PollFd::new(file, PollFlags::IN), PollFd::new(&stop, PollFlags::IN)];
    poll(&mut descriptors, None)?;
    match descriptors[1].revents().is_empty() {
        true => Ok(()),
        false => Err(IoError::other("the run stops")),
    }
}

/// A stream whose reads end when the run stops.
struct Stream<'a> {
    file: File,
    feed: &'a Feed,
}

impl Stream<'_> {
    /// Reads until `head` is full, the stream ends, or its first bytes cannot start compressed data:
    /// a first line that is short is not held back. `None` when the run stops.
    fn read_head(&mut self, head: &mut [u8]) -> IoResult<Option<usize>> {
        let mut length = 0;
        while length < head.len() && (length == 0 || Compression::may_start(&head[..length])) {
            match self.read(&mut head[length..]) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) if self.feed.stop.is_asked() => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(length))
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, space: &mut [u8]) -> IoResult<usize> {
        wait_to_read(&self.file, &self.feed.stop)?;
        let count = self.file.read(space)?;
        self.feed.counters().raw_bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// A stream behind the bytes of it that were read already.
struct Headed<'a>(Chain<Cursor<Vec<u8>>, Stream<'a>>);

impl Read for Headed<'_> {
    fn read(&mut self, space: &mut [u8]) -> IoResult<usize> {
        self.0.read(space)
    }
}

impl Input for Headed<'_> {
    fn is_idle(&self) -> bool {
        let (head, stream) = self.0.get_ref();
        if head.position() < head.get_ref().len() as u64 {
            return false;
        }
        let mut descriptors = [PollFd::new(&stream.file, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        matches!(poll(&mut descriptors, Some(&at_once)), Ok(0))
    }
}

/// A decoder as an input.
pub(crate) struct Decoded<'a>(pub Box<dyn Read + 'a>);

impl Read for Decoded<'_> {
    fn read(&mut self, space: &mut [u8]) -> IoResult<usize> {
        self.0.read(space)
    }
}

impl Input for Decoded<'_> {}
