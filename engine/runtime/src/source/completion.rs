//! What becomes of files that were read to their ends: they are written down, deleted, or both.
//!
//! Invariant: that happens when the run ends and all that stems from the source's files has got where it
//! should, and only to a file that is still what was read.

use std::fs::{File, OpenOptions, remove_file};
use std::io::{Result as IoResult, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::ack::{Ledger, SourceId};
use crate::console::Console;
use crate::error::Error;
use crate::identity::Identity;
use crate::troubles::Troubles;

/// What is done with a file that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The file that its path is written to, a line each.
    pub log: Option<PathBuf>,
    /// Whether it is deleted.
    pub deletes: bool,
}

impl Completion {
    /// Whether anything is done.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.deletes || self.log.is_some()
    }
}

/// A file that was read to its end.
struct Completed {
    source: SourceId,
    path: PathBuf,
    identity: Identity,
    /// How many bytes it had.
    length: u64,
    completion: Completion,
}

/// The files of a run that were read to their ends.
#[derive(Default)]
pub struct Completions(Mutex<Vec<Completed>>);

impl Completions {
    /// Notes a file that was read to its end just now.
    pub fn note(
        &self,
        source: SourceId,
        path: &Path,
        file: &File,
        completion: &Completion,
    ) -> IoResult<()> {
        let completed = Completed {
            source,
            path: path.to_path_buf(),
            identity: Identity::of(file)?,
            length: file.metadata()?.len(),
            completion: completion.clone(),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(completed);
        Ok(())
    }

    /// Does what was asked for, once the run has come to its end.
    pub fn carry_out(&self, ledger: &Ledger, console: &Console, troubles: &Troubles) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // In the order of the plan, whichever source was the first to end.
        files.sort_by_key(|file| file.source);
        for file in files.drain(..) {
            let place = file.path.display().to_string();
            if !ledger.is_settled(file.source) {
                let reason = "stays as it is: not all that was read got where it should";
                console.message(&format!("note: {place}: {reason}"));
                continue;
            }
            match file.carry_out() {
                Ok(true) => {}
                Ok(false) => {
                    let reason = "stays as it is: it has changed since it was read";
                    console.message(&format!("note: {place}: {reason}"));
                }
                Err(error) => {
                    let reason = format!("was read, but what was to be done then failed: {error}");
                    let help = "check its permissions, and those of its folder and of the log";
                    troubles.report(console, Error::input(place, reason, help));
                }
            }
        }
    }
}

impl Completed {
    /// False when the file is another one, or has grown.
    fn carry_out(&self) -> IoResult<bool> {
        let file = File::open(&self.path)?;
        if !self.identity.is_of(&file)? || file.metadata()?.len() != self.length {
            return Ok(false);
        }
        if let Some(log) = &self.completion.log {
            let mut log = OpenOptions::new().create(true).append(true).open(log)?;
            log.write_all(format!("{}\n", self.path.display()).as_bytes())?;
        }
        if self.completion.deletes {
            remove_file(&self.path)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::{Completion, Completions};
    use crate::ack::{Ledger, Position};
    use crate::console::Console;
    use crate::troubles::Troubles;
    use std::fs::{self, File};

    #[test]
    fn only_what_was_delivered_and_is_unchanged_goes() {
        let folder = std::env::temp_dir().join(format!("temblor-complete-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("it can be made");
        let path = folder.join("a.log");
        for (fails, grows, goes) in
            [(false, false, true), (true, false, false), (false, true, false)]
        {
            fs::write(&path, "one\n").expect("it can be written");
            let ledger = Ledger::new(1);
            let token = ledger.open(0, Position { file: 0, offset: 4, line: 2 });
            let completions = Completions::default();
            let completion = Completion { log: None, deletes: true };
            let file = File::open(&path).expect("it is there");
            completions.note(0, &path, &file, &completion).expect("it is a file");
            if fails {
                token.fail();
            }
            drop(token);
            if grows {
                fs::write(&path, "one\ntwo\n").expect("it can be written");
            }
            let console = Console::new(Box::new(std::io::sink()));
            completions.carry_out(&ledger, &console, &Troubles::default());
            assert_eq!(!path.exists(), goes, "fails: {fails}, grows: {grows}");
        }
        fs::remove_dir_all(&folder).expect("it is there");
    }
}
