//! Dead letters on disk: a log that is never read by a run; who has dealt with a letter leaves a note beside its
//! segment.
//!
//! Invariant: a letter goes away only when somebody says that it has been dealt with, or by the rule for a full
//! folder; a process that is killed in between leaves it where it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use temblor_runtime::ack::Token;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::Desk;
use temblor_runtime::outputs::Chunk;
use temblor_runtime::sink::{Delivered, OpenSink, Sink, WriteFailure};

use crate::folder::open_error;
use crate::log::{Log, Refused, Settings};
use crate::segment;
use crate::tool;

/// The first byte of the body of a letter.
pub const KIND: u8 = b'D';
/// The ending of the notes about letters that were dealt with.
const NOTES: &str = "gone";

/// What happens when a folder of letters is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFull {
    /// The oldest letters make room, and are counted.
    #[default]
    DropOldest,
    /// Those that come are left out, and counted.
    DropNewest,
    /// The run ends.
    Stop,
}

/// What a plan says of a folder of letters.
#[derive(Clone, Debug)]
pub struct Letters {
    /// Where they are.
    pub directory: PathBuf,
    /// How they are kept.
    pub settings: Settings,
    /// What happens when there is no room.
    pub on_full: OnFull,
    /// The folder, as long as a sink of this plan has it open.
    pub stores: Arc<Mutex<Weak<Log>>>,
}

impl OpenSink for Letters {
    fn open(&self, _: bool) -> std::result::Result<Box<dyn Sink>, Error> {
        let mut store = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let log = match store.upgrade() {
            Some(log) => log,
            None => {
                let opened = Log::open(&self.directory, self.settings.clone(), Arc::default());
                opened.map_err(|error| open_error(&self.directory, error))?
            }
        };
        *store = Arc::downgrade(&log);
        Ok(Box::new(LetterSink { log, on_full: self.on_full, desk: None, body: Vec::new() }))
    }
}

struct LetterSink {
    log: Arc<Log>,
    on_full: OnFull,
    desk: Option<Desk>,
    body: Vec<u8>,
}

impl LetterSink {
    fn keep(&mut self, letter: &[u8]) -> std::result::Result<(), WriteFailure> {
        self.body.clear();
        self.body.push(KIND);
        self.body.extend_from_slice(letter);
        loop {
            match self.log.append(&self.body, 1) {
                Ok(_) => return Ok(()),
                Err(Refused::NoSpace(error)) => return Err(self.refuse(&error.to_string())),
                Err(Refused::TooLong) => return Err(self.refuse("it is too long for a letter")),
                // What was replayed makes room, too.
                Err(Refused::Full) if self.log.forget_missing() => {}
                Err(Refused::Full) => match self.on_full {
                    OnFull::DropOldest => self.count(self.log.drop_oldest()),
                    OnFull::DropNewest => {
                        self.count(1);
                        return Ok(());
                    }
                    OnFull::Stop => {
                        if let Some(desk) = &self.desk {
                            desk.stop.ask();
                        }
                        return Err(self.refuse("there is no room for more, and the run ends then"));
                    }
                },
            }
        }
    }

    fn count(&self, letters: u64) {
        if let Some(desk) = self.desk.as_ref().filter(|_| letters > 0) {
            desk.stats.add_shed(&desk.name, "dead letters full", letters);
        }
    }

    fn refuse(&self, reason: &str) -> WriteFailure {
        let help = "deal with the letters (`temblor dead`), give them more room, or another folder";
        let place = self.log.directory().display().to_string();
        WriteFailure::Refused(Error::output(place, reason, help))
    }
}

impl Sink for LetterSink {
    fn start(&mut self, desk: &Desk) -> std::result::Result<(), Error> {
        self.desk = Some(desk.clone());
        Ok(())
    }

    fn deliver(
        &mut self,
        _: &str,
        chunk: &mut Chunk,
        _: &[Token],
    ) -> std::result::Result<Delivered, WriteFailure> {
        let mut start = 0;
        for end in &chunk.ends {
            self.keep(&chunk.bytes[start..*end])?;
            start = *end;
        }
        Ok(Delivered::Written)
    }

    fn write(&mut self, _: &str, bytes: &[u8]) -> std::result::Result<(), WriteFailure> {
        self.keep(bytes)
    }
}

/// Gives the letters of a folder that nobody has dealt with, the oldest first: their numbers and texts.
///
/// # Errors
/// The folder cannot be read, or what `give` says.
pub fn read(directory: &Path, mut give: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
    let gone: BTreeSet<u64> = notes(directory)?.into_values().flatten().collect();
    tool::export(directory, None, true, |record, body| match body.strip_prefix(&[KIND]) {
        Some(letter) if !gone.contains(&record.sequence) => give(record.sequence, letter),
        _ => Ok(()),
    })
}

/// The numbers of letters that were dealt with, by the segments that they are in.
fn notes(directory: &Path) -> Result<BTreeMap<u64, Vec<u64>>> {
    let mut notes = BTreeMap::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != NOTES) {
            continue;
        }
        let Some(first) = segment::first_of(&path.with_extension("segment")) else { continue };
        let bytes = std::fs::read(&path)?;
        // A note that was not finished says nothing.
        let numbers = bytes.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number));
        notes.insert(first, numbers.collect());
    }
    Ok(notes)
}

/// Takes letters away that have been dealt with, by their numbers. Segments of which nothing is left are removed, but
/// for the last one, which a run may be writing.
///
/// # Errors
/// A note cannot be written.
pub fn remove(directory: &Path, numbers: &BTreeSet<u64>) -> Result<()> {
    let report = tool::look(directory, false)?;
    let firsts: Vec<u64> = report.segments.iter().map(|segment| segment.first).collect();
    let mut by_segment: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    for number in numbers {
        let index = firsts.partition_point(|first| first <= number);
        if let Some(first) = index.checked_sub(1).map(|index| firsts[index]) {
            by_segment.entry(first).or_default().extend_from_slice(&number.to_le_bytes());
        }
    }
    for (first, bytes) in &by_segment {
        let path = segment::path(directory, *first).with_extension(NOTES);
        let mut options = OpenOptions::new();
        let mut file: File = options.create(true).append(true).mode(0o600).open(path)?;
        file.write_all(bytes)?;
    }
    let notes = notes(directory)?;
    let is_last = |first: u64| report.is_in_use && firsts.last() == Some(&first);
    for segment in &report.segments {
        let gone =
            notes.get(&segment.first).map_or(0, |gone| gone.iter().collect::<BTreeSet<_>>().len());
        if gone as u64 >= segment.records
            && gone > 0
            && segment.damaged_bytes == 0
            && !is_last(segment.first)
        {
            std::fs::remove_file(&segment.path)?;
            std::fs::remove_file(segment.path.with_extension(NOTES))?;
        }
    }
    // Numbers are never given twice: the mark goes on behind what was removed.
    Ok(())
}
