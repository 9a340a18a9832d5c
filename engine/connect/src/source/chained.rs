//! Inputs whose chunks go through preprocessors: messages are packed with their lengths in front.
//!
//! Invariant: places in the input are places in the packed messages; the same input gives the same
//! ones again, so that a run can go on from a mark as with compressed files.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read, Result as IoResult, Seek};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::source::metronome::wait_until;
use crate::source::stream::{STDIN, wait_to_read};
use temblor_codec::compression::{self, Compression, MAGIC_BYTES_MAX};
use temblor_codec::interceptor::{Chain, Message, Preprocessor};
use temblor_runtime::batch::{BadFrame, Origin};
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::clock::{Clock, Timestamp, system_time};
use temblor_runtime::error::Error;
use temblor_runtime::framing::{Framing, PREFIX_BYTES};
use temblor_runtime::identity::Identity;
use temblor_runtime::limits::BLOCK_BYTES;
use temblor_runtime::queue::Closed;
use temblor_runtime::source::Source;
use temblor_runtime::source::assembler::Block;
use temblor_runtime::source::feed::{At, Feed};

/// What a plan says of a source with preprocessors.
#[derive(Clone, Debug)]
pub struct ChainedConfig {
    /// The file; standard input when there is none.
    pub path: Option<PathBuf>,
    /// In the order of work; without any each chunk is a message.
    pub chain: Vec<Preprocessor>,
    /// The most that is read at once, in bytes, from 1.
    pub chunk_bytes: usize,
    /// How often the file is read, from 1.
    pub iterations: u64,
    /// Nanoseconds between two messages; 0 for as fast as may be.
    pub interval_ns: u64,
    /// Reading ends after this time.
    pub stop_after: Option<Duration>,
}

impl ChainedConfig {
    /// Bytes that are read at once where nobody says.
    pub const CHUNK_BYTES: usize = 8192;

    /// A file, or standard input, once and as fast as may be.
    #[must_use]
    pub fn once(path: Option<PathBuf>, chain: Vec<Preprocessor>) -> Self {
        let chunk_bytes = Self::CHUNK_BYTES;
        Self { path, chain, chunk_bytes, iterations: 1, interval_ns: 0, stop_after: None }
    }
}

/// A source with preprocessors.
pub(crate) struct ChainedSource {
    config: ChainedConfig,
    marks: Vec<FileMark>,
    opened: Instant,
}

impl ChainedSource {
    /// Makes sure that the file can be read.
    pub(crate) fn open(config: &ChainedConfig, marks: &[FileMark]) -> Result<Self, Error> {
        if let Some(path) = &config.path {
            let opened = File::open(path).and_then(|file| file.metadata());
            let metadata = opened.map_err(|error| input_error(path, &error))?;
            if metadata.is_dir() {
                return Err(input_error(path, &ErrorKind::IsADirectory.into()));
            }
        }
        Ok(Self { config: config.clone(), marks: marks.to_vec(), opened: Instant::now() })
    }

    fn at(&self) -> At {
        let name = match &self.config.path {
            Some(path) => path.display().to_string(),
            None => STDIN.to_string(),
        };
        At { origin: Origin::named(name), file: 0, framing: Framing::Prefixed }
    }

    /// Offset and message number at which an earlier run stopped.
    fn start_of(&self, file: &File, feed: &Feed) -> IoResult<(u64, u64)> {
        for mark in self.marks.iter().filter(|mark| mark.source == feed.source) {
            if mark.identity.is_of(file)? {
                return Ok((mark.offset, mark.line));
            }
        }
        Ok((0, 1))
    }

    /// Where reading the file begins: an earlier run may have come some way.
    fn packer(&self, path: &Path, feed: &Feed) -> IoResult<Packer> {
        let file = File::open(path)?;
        if self.config.iterations > 1 || !file.metadata()?.is_file() {
            feed.ledger.name_file(feed.source, 0, None);
            return Ok(Packer::new((0, 1)));
        }
        let identity = Identity::of(&file)?;
        feed.ledger.name_file(feed.source, 0, Some((identity, path.to_path_buf())));
        Ok(Packer::new(self.start_of(&file, feed)?))
    }

    fn read_file(&self, path: &Path, packer: &mut Packer, feed: &Feed) -> IoResult<()> {
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&file).take(MAGIC_BYTES_MAX as u64).read_to_end(&mut head)?;
        file.rewind()?;
        let mut input: Box<dyn Read> = match Compression::of(&head) {
            Some(compression) => compression::decoder(compression, Box::new(file))?,
            None => Box::new(file),
        };
        self.pump(&mut input, packer, feed, &self.at())
    }

    fn pump(
        &self,
        input: &mut dyn Read,
        packer: &mut Packer,
        feed: &Feed,
        at: &At,
    ) -> IoResult<()> {
        let mut chain = Chain::new(&self.config.chain);
        let mut chunk = vec![0; self.config.chunk_bytes];
        while !feed.stop.is_asked() && !self.is_over() {
            let count = match input.read(&mut chunk) {
                Ok(0) => {
                    let _ = packer.add(chain.finish(), feed, at);
                    break;
                }
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) if feed.stop.is_asked() => break,
                Err(error) => {
                    let _ = packer.send(feed, at);
                    return Err(error);
                }
            };
            let messages = chain.feed(&chunk[..count]);
            if self.config.interval_ns > 0 {
                if !self.send_slowly(messages, packer, feed, at)? {
                    return Ok(());
                }
                continue;
            }
            let added = packer.add(messages, feed, at);
            let is_due = packer.bytes.len() >= BLOCK_BYTES || feed.queue.is_hungry();
            if added.is_err() || (is_due && packer.send(feed, at).is_err()) {
                return Ok(());
            }
        }
        // When the queue is closed, the run is over and what is left is not acknowledged.
        let _ = packer.send(feed, at);
        Ok(())
    }
}

impl ChainedSource {
    fn is_over(&self) -> bool {
        self.config.stop_after.is_some_and(|time| self.opened.elapsed() >= time)
    }

    /// Sends one message after the other, at the interval. False when the run stops, or the time is
    /// over.
    fn send_slowly(
        &self,
        messages: Vec<Result<Message, String>>,
        packer: &mut Packer,
        feed: &Feed,
        at: &At,
    ) -> IoResult<bool> {
        for message in messages {
            let due = packer.due.max(system_time());
            if feed.clock == Clock::System {
                let goes_on =
                    wait_until(due, feed).map_err(|error| IoError::other(error.to_string()))?;
                if !goes_on {
                    return Ok(false);
                }
            }
            packer.due = due.saturating_add(self.config.interval_ns);
            let added = packer.add(vec![message], feed, at);
            if added.is_err() || packer.send(feed, at).is_err() || self.is_over() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Source for ChainedSource {
    fn name(&self) -> String {
        self.at().origin.name.clone()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let Some(path) = &self.config.path else {
            let input = std::io::stdin().as_fd().try_clone_to_owned();
            let input = input.map_err(|error| input_error(Path::new(STDIN), &error))?;
            let mut input = Waiting { file: File::from(input), feed };
            return self
                .pump(&mut input, &mut Packer::new((0, 1)), feed, &self.at())
                .map_err(|error| input_error(Path::new(STDIN), &error));
        };
        let failed = |error: IoError| input_error(path, &error);
        let mut packer = self.packer(path, feed).map_err(failed)?;
        for _ in 0..self.config.iterations {
            if feed.stop.is_asked() || self.is_over() {
                break;
            }
            self.read_file(path, &mut packer, feed).map_err(failed)?;
        }
        Ok(())
    }
}

fn input_error(path: &Path, error: &std::io::Error) -> Error {
    let place = path.display().to_string();
    Error::input(place, format!("cannot be read: {error}"), "check `path` of the connector")
}

/// Standard input, whose reads end when the run stops.
struct Waiting<'a> {
    file: File,
    feed: &'a Feed,
}

impl Read for Waiting<'_> {
    fn read(&mut self, space: &mut [u8]) -> IoResult<usize> {
        wait_to_read(&self.file, &self.feed.stop)?;
        self.file.read(space)
    }
}

/// Collects messages for a block.
struct Packer {
    bytes: Vec<u8>,
    frames: u64,
    bad: Vec<BadFrame>,
    /// Offset and number of the first message in `bytes`.
    offset: u64,
    line: u64,
    /// Packed bytes that an earlier run has dealt with.
    done: u64,
    /// Offset behind all that came so far.
    seen: u64,
    /// The ingest time of the messages in `bytes`, when a preprocessor has read one.
    ingest: Option<Timestamp>,
    /// When the next message is due, when there is an interval between them.
    due: Timestamp,
}

impl Packer {
    fn new((offset, line): (u64, u64)) -> Self {
        let (bytes, bad) = (Vec::new(), Vec::new());
        Self { bytes, frames: 0, bad, offset, line, done: offset, seen: 0, ingest: None, due: 0 }
    }

    /// Takes messages; those with an ingest time of their own leave in blocks of their own.
    fn add(
        &mut self,
        messages: Vec<Result<Message, String>>,
        feed: &Feed,
        at: &At,
    ) -> Result<(), Closed> {
        for message in messages {
            match message {
                Ok(Message { bytes: message, ingest_ns }) => {
                    if ingest_ns != self.ingest {
                        self.send(feed, at)?;
                        self.ingest = ingest_ns;
                    }
                    self.seen += (PREFIX_BYTES + message.len()) as u64;
                    if self.seen > self.done {
                        let length = u32::try_from(message.len())
                            .expect("preprocessors give no message beyond their limit");
                        self.bytes.extend_from_slice(&length.to_le_bytes());
                        self.bytes.extend_from_slice(&message);
                        self.frames += 1;
                    }
                }
                Err(reason) if self.seen >= self.done => self.bad.push(BadFrame {
                    line: self.line + self.frames,
                    length: 0,
                    reason,
                    head: Vec::new(),
                }),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn send(&mut self, feed: &Feed, at: &At) -> Result<(), Closed> {
        if self.bytes.is_empty() && self.bad.is_empty() {
            return Ok(());
        }
        let block = block(feed, &self.bytes, self.frames, self.line, self.offset);
        let block = Block { bad: std::mem::take(&mut self.bad), ..block };
        self.offset += self.bytes.len() as u64;
        self.line += self.frames;
        (self.bytes, self.frames) = (Vec::new(), 0);
        feed.send_timed(block, at, self.ingest)
    }
}

/// A block of these bytes.
pub fn block(feed: &Feed, bytes: &[u8], frames: u64, first_line: u64, offset: u64) -> Block {
    let mut buffer = feed.pool.take();
    buffer.grow(bytes.len());
    buffer[..bytes.len()].copy_from_slice(bytes);
    Block { buffer, range: 0..bytes.len(), frames, first_line, offset, bad: Vec::new() }
}
