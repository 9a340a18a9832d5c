//! What is done to output files before a run goes on after a crash.
//!
//! Invariant: only files that the state directory has recorded for a run that did not end in peace
//! are touched, and only behind the length recorded or behind their last newline.

use std::fs::{File, OpenOptions};
use std::io::Result;
use std::os::unix::fs::{FileExt, MetadataExt};

use memchr::memrchr;

use crate::checkpoint::{Checkpoint, OutputMark};
use crate::error::Error;
use crate::limits::BLOCK_BYTES;

/// What was done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Bytes that were cut off.
    pub cut: u64,
    /// What could not be repaired, as sentences.
    pub notes: Vec<String>,
}

/// Cuts off what the next run will write again, or at least a line that was not finished.
///
/// # Errors
/// A file that cannot be written.
pub fn repair(checkpoint: &Checkpoint) -> std::result::Result<Repaired, Error> {
    let mut repaired = Repaired::default();
    if checkpoint.finished {
        return Ok(repaired);
    }
    for output in &checkpoint.outputs {
        let place = output.path.display();
        match repair_file(output, checkpoint.exact) {
            Ok(Found::Cut(bytes)) => repaired.cut += bytes,
            Ok(Found::Gone) => {}
            Ok(Found::Replaced) => repaired.notes.push(format!(
                "{place} is another file than before: what was written to the old one since the last \
                 checkpoint is written again to the new one"
            )),
            Ok(Found::Shorter(length)) => repaired.notes.push(format!(
                "{place} has {length} bytes where {} were written: somebody has shortened it, and what \
                 is missing is not written again (--fresh-state begins anew)",
                output.length
            )),
            Err(error) => {
                let help = "make it writable, or delete the state to start anew";
                let reason = format!("cannot be repaired after a crash: {error}");
                return Err(Error::output(place.to_string(), reason, help));
            }
        }
    }
    Ok(repaired)
}

/// What became of an output file since the last run.
enum Found {
    /// Nothing but what the run itself did; so many bytes of that were cut off.
    Cut(u64),
    /// It is not there.
    Gone,
    /// Another file has its name.
    Replaced,
    /// It has fewer bytes than were written.
    Shorter(u64),
}

fn repair_file(output: &OutputMark, exact: bool) -> Result<Found> {
    let Ok(metadata) = output.path.metadata() else { return Ok(Found::Gone) };
    if (metadata.dev(), metadata.ino()) != (output.device, output.inode) {
        return Ok(Found::Replaced);
    }
    if metadata.len() < output.length {
        return Ok(Found::Shorter(metadata.len()));
    }
    if metadata.len() == output.length {
        return Ok(Found::Cut(0));
    }
    let file = OpenOptions::new().read(true).write(true).open(&output.path)?;
    let end = if exact { output.length } else { end_of_last_line(&file, output.length)? };
    file.set_len(end)?;
    Ok(Found::Cut(metadata.len() - end))
}

/// Where the last whole line ends, at least `from`.
fn end_of_last_line(file: &File, from: u64) -> Result<u64> {
    let mut end = file.metadata()?.len();
    let mut block = vec![0; BLOCK_BYTES];
    while end > from {
        let start = end.saturating_sub(BLOCK_BYTES as u64).max(from);
        let length = (end - start) as usize;
        file.read_exact_at(&mut block[..length], start)?;
        if let Some(newline) = memrchr(b'\n', &block[..length]) {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn output(name: &str, content: &[u8], length: u64) -> OutputMark {
        let name = format!("temblor-repair-{name}-{}", std::process::id());
        let path: PathBuf = std::env::temp_dir().join(name);
        std::fs::write(&path, content).unwrap();
        let metadata = path.metadata().unwrap();
        OutputMark { device: metadata.dev(), inode: metadata.ino(), length, path }
    }

    fn repaired(checkpoint: Checkpoint) -> Vec<u8> {
        repair(&checkpoint).unwrap();
        let content = std::fs::read(&checkpoint.outputs[0].path).unwrap();
        std::fs::remove_file(&checkpoint.outputs[0].path).unwrap();
        content
    }

    #[test]
    fn an_exact_length_is_restored() {
        let outputs = vec![output("exact", b"a\nb\nc\n", 2)];
        let checkpoint = Checkpoint { exact: true, outputs, ..Checkpoint::default() };
        assert_eq!(repaired(checkpoint), b"a\n");
    }

    #[test]
    fn otherwise_only_a_torn_line_is_cut_off() {
        let outputs = vec![output("torn", b"a\nb\nc", 2)];
        let checkpoint = Checkpoint { outputs, ..Checkpoint::default() };
        assert_eq!(repaired(checkpoint), b"a\nb\n");
        let mut long = b"a\n".to_vec();
        long.resize(2 * BLOCK_BYTES, b'x');
        let outputs = vec![output("long", &long, 0)];
        assert_eq!(repaired(Checkpoint { outputs, ..Checkpoint::default() }), b"a\n");
    }

    #[test]
    fn files_that_others_have_changed_are_told() {
        let shorter = output("shorter", b"a\n", 4);
        let mut other = output("replaced", b"a\nb", 2);
        other.inode += 1;
        let paths = [shorter.path.clone(), other.path.clone()];
        let gone = OutputMark { path: "/nowhere/at/all".into(), ..shorter.clone() };
        let outputs = vec![shorter, other, gone];
        let checkpoint = Checkpoint { exact: true, outputs, ..Checkpoint::default() };
        let notes = repair(&checkpoint).unwrap().notes;
        paths.iter().for_each(|path| std::fs::remove_file(path).unwrap());
        assert!(notes[0].contains("2 bytes where 4 were written"), "{notes:?}");
        assert!(notes[1].contains("another file than before"), "{notes:?}");
        assert_eq!(notes.len(), 2);
    }

    #[test]
    fn files_of_others_and_of_finished_runs_are_left_alone() {
        let mut other = output("other", b"a\nb", 0);
        other.inode += 1;
        let checkpoint = Checkpoint { exact: true, outputs: vec![other], ..Checkpoint::default() };
        assert_eq!(repaired(checkpoint), b"a\nb");
        let outputs = vec![output("finished", b"a\nb", 0)];
        let checkpoint =
            Checkpoint { finished: true, exact: true, outputs, ..Checkpoint::default() };
        assert_eq!(repaired(checkpoint), b"a\nb");
    }
}
