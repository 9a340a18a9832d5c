//! The source of files that grow: what is written to them later is read when it is there, and so are
//! files that appear later.
//!
//! Invariant: a file is read from where an earlier run left it when it is the same file; a file that
//! has become shorter, or another one under the same name, is read from its beginning.

use crate::source::metronome::wait_until;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Result as IoResult, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::clock::system_time;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::identity::Identity;
use temblor_runtime::source::Source;
use temblor_runtime::source::assembler::Assembler;
use temblor_runtime::source::feed::{At, Ended, Feed, Input};

/// What a plan says of such a source.
#[derive(Clone, Debug)]
pub struct TailConfig {
    /// Paths, or glob patterns.
    pub patterns: Vec<String>,
    /// Patterns of file names that are left out.
    pub exclude: Vec<String>,
    /// How frames are told apart.
    pub framing: Framing,
    /// Whether files that are there at the start are read from their beginning.
    pub from_beginning: bool,
    /// How often files are looked at, in nanoseconds.
    pub every_ns: u64,
    /// How often it is looked for new ones, in nanoseconds.
    pub discover_ns: u64,
    /// Files that were changed longer ago than this when they are found are left alone until they are
    /// changed again.
    pub age_max: Option<Duration>,
}

/// The source.
pub(crate) struct TailSource {
    config: TailConfig,
    marks: Vec<FileMark>,
    open: Vec<Followed>,
    /// Files that are too old, and how long they were.
    left_alone: HashMap<PathBuf, u64>,
    /// Files that were open after the last look for new ones.
    known: usize,
    /// Files so far, which numbers them.
    count: usize,
}

/// Where the reading of a file begins that no mark knows.
#[derive(Clone, Copy)]
enum Start {
    At(u64),
    AtEnd,
}

struct Followed {
    path: PathBuf,
    file: File,
    identity: Identity,
    assembler: Assembler,
    at: At,
    /// Where the next read begins.
    offset: u64,
}

impl TailSource {
    /// A source that has not begun.
    pub(crate) fn new(config: TailConfig, marks: &[FileMark]) -> Self {
        Self {
            config,
            marks: marks.to_vec(),
            open: Vec::new(),
            left_alone: HashMap::new(),
            known: 0,
            count: 0,
        }
    }

    /// Opens what has appeared; `first` says that the run begins.
    fn discover(&mut self, feed: &Feed, first: bool) {
        for path in files(&self.config.patterns, &self.config.exclude) {
            if self.open.iter().any(|one| one.path == path) {
                continue;
            }
            if let Some(length) = self.is_old(&path) {
                self.left_alone.insert(path, length);
                continue;
            }
            let start = match self.left_alone.remove(&path) {
                Some(length) => Start::At(length),
                None if first && !self.config.from_beginning => Start::AtEnd,
                None => Start::At(0),
            };
            if let Err(error) = self.add(&path, feed, start) {
                let place = path.display().to_string();
                let help = "it is looked at again later";
                feed.trouble(Error::input(place, format!("cannot be read: {error}"), help));
            }
        }
    }

    /// The length of a file that was not changed for too long.
    fn is_old(&self, path: &Path) -> Option<u64> {
        let most = self.config.age_max?;
        let data = std::fs::metadata(path).ok()?;
        let age = data.modified().ok()?.elapsed().ok()?;
        (age > most).then_some(data.len())
    }

    fn add(&mut self, path: &Path, feed: &Feed, start: Start) -> IoResult<()> {
        let mut file = File::open(path)?;
        let identity = Identity::of(&file)?;
        let length = file.metadata()?.len();
        let mut place = match start {
            Start::AtEnd => (length, 1),
            // One that has become shorter is another.
            Start::At(offset) => (if offset <= length { offset } else { 0 }, 1),
        };
        for mark in self.marks.iter().filter(|mark| mark.source == feed.source) {
            if mark.identity.is_of(&file)? && mark.offset <= file.metadata()?.len() {
                place = (mark.offset, mark.line);
            }
        }
        file.seek(SeekFrom::Start(place.0))?;
        let number = self.count;
        self.count += 1;
        let named = Some((identity, path.to_path_buf()));
        feed.ledger.name_file(feed.source, number, named);
        let origin = Origin::of_file(path.display().to_string(), &identity);
        let framing = self.config.framing;
        self.open.push(Followed {
            path: path.to_path_buf(),
            file,
            identity,
            assembler: Assembler::new(framing, &feed.pool, place.0, place.1),
            at: At { origin, file: number, framing },
            offset: place.0,
        });
        Ok(())
    }

    /// Reads what has been written; false when the run stops.
    fn read_all(&mut self, feed: &Feed) -> bool {
        let mut at = 0;
        while at < self.open.len() {
            match self.open[at].read(feed) {
                Ok(Ended::Stopped) => return false,
                Ok(Ended::AtEnd) if self.open[at].is_same() => at += 1,
                // It was rotated away, or cannot be read any more: what stands under its name is
                // another file.
                Ok(Ended::AtEnd) | Err(_) => {
                    let mut gone = self.open.remove(at);
                    if feed.send(gone.assembler.finish(), &gone.at).is_err() {
                        return false;
                    }
                }
            }
        }
        true
    }
}

impl Followed {
    fn read(&mut self, feed: &Feed) -> IoResult<Ended> {
        let Self { file, assembler, at, offset, .. } = self;
        let mut input = Counted { file, feed, offset };
        let ended = feed.pump(&mut input, assembler, at)?;
        if feed.send(assembler.cut(), at).is_err() {
            return Ok(Ended::Stopped);
        }
        Ok(ended)
    }

    /// Whether its name still stands for it, and it holds what was read.
    fn is_same(&self) -> bool {
        let Ok(now) = File::open(&self.path) else { return false };
        let is_whole = now.metadata().is_ok_and(|metadata| metadata.len() >= self.offset);
        is_whole && self.identity.is_of(&now).unwrap_or(false)
    }
}

/// A file whose reads are counted.
struct Counted<'a> {
    file: &'a mut File,
    feed: &'a Feed,
    offset: &'a mut u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, space: &mut [u8]) -> IoResult<usize> {
        let count = self.file.read(space)?;
        *self.offset += count as u64;
        self.feed.counters().raw_bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Input for Counted<'_> {}

impl Source for TailSource {
    fn name(&self) -> String {
        self.config.patterns.join(", ")
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let mut first = true;
        let mut due = 0;
        loop {
            // A file that was rotated away has another one in its place.
            let is_gone = self.open.len() < self.known;
            if system_time() >= due || is_gone {
                self.discover(feed, first);
                due = system_time().saturating_add(self.config.discover_ns);
                self.known = self.open.len();
            }
            first = false;
            if !self.read_all(feed) {
                return Ok(());
            }
            if !wait_until(system_time().saturating_add(self.config.every_ns), feed)? {
                return Ok(());
            }
        }
    }
}

/// The files that patterns stand for, in the order of their names, without those whose names a pattern
/// of `exclude` fits.
pub fn files(patterns: &[String], exclude: &[String]) -> Vec<PathBuf> {
    let exclude: Vec<_> =
        exclude.iter().filter_map(|pattern| glob::Pattern::new(pattern).ok()).collect();
    let mut found: Vec<PathBuf> = Vec::new();
    for pattern in patterns {
        let literal = Path::new(pattern);
        if literal.is_file() {
            found.push(literal.to_path_buf());
        } else if let Ok(matches) = glob::glob(pattern) {
            let mut paths: Vec<_> = matches.flatten().filter(|path| path.is_file()).collect();
            paths.sort();
            found.append(&mut paths);
        }
    }
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !exclude.iter().any(|pattern| pattern.matches(&name))
    });
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| seen.insert(path.clone()));
    found
}
