//! The `file` source: one file or many, in the order of their names, plain or compressed.
//!
//! Invariant: a file is read from where an earlier run left it only when it is the same file and still
//! holds what was read; otherwise from the beginning.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read, Result as IoResult, Seek, SeekFrom, copy, sink};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::source::metronome::wait_until;
use crate::source::stream::{Decoded, end_input, read_stream};
use crate::source::tail;
use temblor_codec::compression::{self, Compression, MAGIC_BYTES_MAX};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::clock::system_time;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::identity::Identity;
use temblor_runtime::limits::{BLOCK_BYTES, LINE_BYTES_MAX};
use temblor_runtime::source::Source;
use temblor_runtime::source::assembler::Assembler;
use temblor_runtime::source::completion::Completion;
use temblor_runtime::source::feed::{At, Ended, Feed, Input};

/// What a plan says of a file source.
#[derive(Clone, Debug)]
pub struct FileConfig {
    /// Paths, or glob patterns (`*`, `?`, `[…]`, `**`).
    pub patterns: Vec<String>,
    /// How frames are told apart.
    pub framing: Framing,
    /// Bytes of each file (after decompression) to skip at its start.
    pub skip_bytes: u64,
    /// Whether a compressed file is read only when it is sound to its end.
    pub checks_archives: bool,
    /// What is done with a file that was read to its end.
    pub completion: Completion,
    /// Patterns of files that may appear later; without any the run ends with the files that are there.
    pub watch: Option<Watch>,
}

/// Files that are looked for while others are read.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Paths, or glob patterns.
    pub patterns: Vec<String>,
    /// Patterns of file names that are left out.
    pub exclude: Vec<String>,
    /// Nanoseconds between two looks.
    pub every_ns: u64,
}

impl FileConfig {
    /// Files that are read once, from their beginning, and left as they are.
    #[must_use]
    pub fn once(patterns: Vec<String>, framing: Framing) -> Self {
        Self {
            patterns,
            framing,
            skip_bytes: 0,
            checks_archives: false,
            completion: Completion::default(),
            watch: None,
        }
    }
}

/// The files, in the order of reading.
pub(crate) struct FileSource {
    config: FileConfig,
    paths: Vec<PathBuf>,
    marks: Vec<FileMark>,
    total_bytes: u64,
}

impl FileSource {
    /// Finds the files and makes sure that each can be opened.
    pub(crate) fn open(config: &FileConfig, marks: &[FileMark]) -> Result<Self, Error> {
        let mut paths = Vec::new();
        for pattern in &config.patterns {
            paths.extend(expand(pattern)?);
        }
        let mut seen = HashSet::new();
        paths.retain(|path| seen.insert(path.clone()));
        let mut total_bytes = 0;
        for path in &paths {
            total_bytes += check(path).map_err(|error| input_error(path, &error))?;
        }
        Ok(FileSource { config: config.clone(), paths, marks: marks.to_vec(), total_bytes })
    }

    fn read_file(&self, index: usize, feed: &Feed) -> IoResult<()> {
        let path = &self.paths[index];
        let mut file = File::open(path)?;
        let origin = match Identity::of(&file) {
            Ok(identity) => Origin::of_file(path.display().to_string(), &identity),
            Err(_) => Origin::named(path.display().to_string()),
        };
        let at = At { origin, file: index, framing: self.config.framing };
        if !file.metadata()?.is_file() {
            feed.ledger.name_file(feed.source, index, None);
            return read_stream(file, feed, &at);
        }
        let identity = Identity::of(&file)?;
        feed.ledger.name_file(feed.source, index, Some((identity, path.clone())));
        let compression = compression_of(&mut file, path)?;
        if let Some(compression) = compression.filter(|_| self.config.checks_archives) {
            copy(&mut compression::decoder(compression, Box::new(&file))?, &mut sink())?;
            file.rewind()?;
        }
        // How much a compressed file holds is not known before it has been read.
        let length = if compression.is_none() { file.metadata()?.len() } else { u64::MAX };
        let (offset, line) = self.start_of(&file, length, &at, feed)?;
        let mut assembler = Assembler::new(at.framing, &feed.pool, offset, line);
        let mut input = Counted { file: &file, feed, offset: 0 };
        let ended = match compression {
            None => {
                input.offset = (&file).seek(SeekFrom::Start(offset))?;
                feed.counters().raw_bytes.fetch_add(offset, Ordering::Relaxed);
                feed.pump(&mut input, &mut assembler, &at)
            }
            Some(compression) => {
                let mut decoder = compression::decoder(compression, Box::new(&mut input))?;
                skip(&mut decoder, offset)
                    .and_then(|()| feed.pump(&mut Decoded(decoder), &mut assembler, &at))
            }
        };
        let ended = ended.and_then(|ended| input.check_end(ended));
        let is_complete = matches!(ended, Ok(Ended::AtEnd));
        end_input(ended, &mut assembler, feed, &at)?;
        if is_complete && self.config.completion.acts() {
            feed.completions.note(feed.source, path, &file, &self.config.completion)?;
        }
        Ok(())
    }

    /// Offset and line at which reading begins; the file holds `length` bytes, as far as is known.
    fn start_of(&self, file: &File, length: u64, at: &At, feed: &Feed) -> IoResult<(u64, u64)> {
        for mark in self.marks.iter().filter(|mark| mark.source == feed.source) {
            if !mark.identity.is_of(file)? {
                continue;
            }
            if length < mark.offset {
                let note = "is shorter than when it was read last; reading it from the beginning";
                feed.console.message(&format!("note: {}: {note}", at.origin.name));
                break;
            }
            return match at.framing.separator() {
                Some(separator) if length != u64::MAX => after_last_line(file, mark, separator),
                _ => Ok((mark.offset, mark.line)),
            };
        }
        Ok((self.config.skip_bytes, 1))
    }
}

/// Where reading goes on behind a mark. When the last line that was read had no end then, and has been
/// completed since, it is read again as a whole: half a line is no event.
fn after_last_line(file: &File, mark: &FileMark, separator: u8) -> IoResult<(u64, u64)> {
    let as_it_was = (mark.offset, mark.line);
    let mut around = [separator; 2];
    let Some(before) = mark.offset.checked_sub(1) else { return Ok(as_it_was) };
    let count = file.read_at(&mut around, before)?;
    match around {
        [last, _] if last == separator => Ok(as_it_was),
        // Nothing has come since.
        _ if count < 2 => Ok(as_it_was),
        // Only its end has come.
        [_, next] if next == separator => Ok((mark.offset + 1, mark.line)),
        _ => {
            let start = start_of_line(file, mark.offset, separator)?;
            Ok((start, mark.line.saturating_sub(1).max(1)))
        }
    }
}

/// Where the line begins that `end` lies in; no further back than the longest line.
fn start_of_line(file: &File, end: u64, separator: u8) -> IoResult<u64> {
    let lowest = end.saturating_sub(LINE_BYTES_MAX as u64);
    let (mut end, mut block) = (end, vec![0; BLOCK_BYTES]);
    while end > lowest {
        let start = end.saturating_sub(BLOCK_BYTES as u64).max(lowest);
        let length = (end - start) as usize;
        file.read_exact_at(&mut block[..length], start)?;
        if let Some(found) = memchr::memrchr(separator, &block[..length]) {
            return Ok(start + found as u64 + 1);
        }
        end = start;
    }
    Ok(lowest)
}

impl Source for FileSource {
    fn name(&self) -> String {
        self.config.patterns.join(", ")
    }

    fn total_bytes(&self) -> Option<u64> {
        Some(self.total_bytes)
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let mut index = 0;
        loop {
            while index < self.paths.len() {
                if feed.stop.is_asked() {
                    return Ok(());
                }
                if let Err(error) = self.read_file(index, feed) {
                    feed.trouble(input_error(&self.paths[index], &error));
                }
                index += 1;
            }
            let Some(watch) = &self.config.watch else { return Ok(()) };
            if !wait_until(system_time().saturating_add(watch.every_ns), feed)? {
                return Ok(());
            }
            let found = tail::files(&watch.patterns, &watch.exclude);
            let known: HashSet<&PathBuf> = self.paths.iter().collect();
            let new: Vec<_> = found.into_iter().filter(|path| !known.contains(path)).collect();
            self.paths.extend(new);
        }
    }
}

/// The files that a path or pattern stands for, in the order of their names.
fn expand(pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let literal = Path::new(pattern);
    if literal.symlink_metadata().is_ok() || !pattern.contains(['*', '?', '[']) {
        return Ok(vec![literal.to_path_buf()]);
    }
    let matches = glob::glob(pattern).map_err(|error| {
        let help = "patterns know `*`, `?`, `[a-z]` and `**`";
        Error::input(pattern, format!("is no valid pattern: {}", error.msg), help)
    })?;
    let mut paths: Vec<PathBuf> = matches.flatten().filter(|path| !path.is_dir()).collect();
    paths.sort();
    if paths.is_empty() {
        let help = "check the pattern (quote it, so that the shell leaves it alone)";
        return Err(Error::input(pattern, "no file matches the pattern", help));
    }
    Ok(paths)
}

/// Makes sure that a path can be read, and returns the length of the file.
fn check(path: &Path) -> IoResult<u64> {
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if metadata.is_file() {
        // Opening a named pipe would wait for its writer.
        File::open(path)?;
    }
    Ok(metadata.len())
}

fn input_error(path: &Path, error: &IoError) -> Error {
    let place = path.display().to_string();
    match error.kind() {
        ErrorKind::NotFound => {
            Error::input(place, "no such file", "check the path, or the directory it starts from")
        }
        ErrorKind::IsADirectory => {
            let help =
                format!("to read all files in it, write `{}/*`", place.trim_end_matches('/'));
            Error::input(place, "is a directory; a file was expected", help)
        }
        ErrorKind::PermissionDenied => Error::input(
            place,
            "may not be read: permission denied",
            "change its permissions, or run as its owner",
        ),
        _ => Error::input(
            place,
            format!("cannot be read: {error}"),
            "what was read before is processed",
        ),
    }
}

/// The compression of a file; an error when its name promises one that it does not have.
fn compression_of(file: &mut File, path: &Path) -> IoResult<Option<Compression>> {
    let mut head = Vec::new();
    file.take(MAGIC_BYTES_MAX as u64).read_to_end(&mut head)?;
    file.rewind()?;
    let found = Compression::of(&head);
    let promised = Compression::promised_by(path);
    if found.is_none() && promised.is_some() && !head.is_empty() {
        let text = "its name says that it is compressed, but its first bytes are not those of gzip, \
                    zstd or xz; rename it to read it as it is";
        return Err(IoError::other(text));
    }
    Ok(found)
}

/// Reads over the first `count` bytes.
fn skip(input: &mut dyn Read, count: u64) -> IoResult<()> {
    let skipped = copy(&mut input.take(count), &mut sink())?;
    if skipped < count {
        return Err(IoError::other(format!("has {skipped} bytes; {count} were to be skipped")));
    }
    Ok(())
}

/// A file whose reads are counted.
struct Counted<'a> {
    file: &'a File,
    feed: &'a Feed,
    /// Where the next read begins.
    offset: u64,
}

impl Counted<'_> {
    /// A file that has become shorter than what was read of it was truncated meanwhile.
    fn check_end(&self, ended: Ended) -> IoResult<Ended> {
        if ended == Ended::AtEnd && self.file.metadata()?.len() < self.offset {
            return Err(IoError::other("the file was truncated while it was read"));
        }
        Ok(ended)
    }
}

impl Read for Counted<'_> {
    fn read(&mut self, space: &mut [u8]) -> IoResult<usize> {
        let count = self.file.read(space)?;
        self.offset += count as u64;
        self.feed.counters().raw_bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Input for Counted<'_> {}
