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

/// Cuts off what the next run will write again, or at least a line that was not finished. Returns the
/// number of bytes cut off.
pub fn repair(checkpoint: &Checkpoint) -> std::result::Result<u64, Error> {
    if checkpoint.finished {
        return Ok(0);
    }
    let mut cut = 0;
    for output in &checkpoint.outputs {
        cut += repair_file(output, checkpoint.exact).map_err(|error| {
            let help = "make it writable, or delete the state to start anew";
            let reason = format!("cannot be repaired after a crash: {error}");
            Error::output(output.path.display().to_string(), reason, help)
        })?;
    }
    Ok(cut)
}

fn repair_file(output: &OutputMark, exact: bool) -> Result<u64> {
    // A file that is gone, or is another one, is none of ours.
    let Ok(metadata) = output.path.metadata() else { return Ok(0) };
    if (metadata.dev(), metadata.ino()) != (output.device, output.inode) {
        return Ok(0);
    }
    if metadata.len() <= output.length {
        return Ok(0);
    }
    let file = OpenOptions::new().read(true).write(true).open(&output.path)?;
    let end = if exact { output.length } else { end_of_last_line(&file, output.length)? };
    file.set_len(end)?;
    Ok(metadata.len() - end)
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
