//! The `file` sink: one file, or many whose paths are chosen per event.
//!
//! Invariant: a failed write leaves no part of its bytes in a regular file, no path leads out of the
//! sink's directory, and the number of open files is bounded.

use std::collections::HashMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Error as IoError, ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::sink::{Absent, Care, FileMode, Sink, WriteFailure};
use temblor_runtime::checkpoint::OutputMark;
use temblor_runtime::disk::{self, Durability};
use temblor_runtime::error::Error;
use temblor_runtime::limits::{OPEN_FILES_MAX, OUTPUT_PATHS_MAX};

/// The longest name of a file or directory on all common file systems, in bytes.
const NAME_BYTES_MAX: usize = 255;
/// The longest path that is built of an event, in bytes; Linux takes 4,095 with the directory in front.
const PATH_BYTES_MAX: usize = 3_072;

/// One file or many.
pub(crate) struct FileSink {
    /// The file's own path, or the directory that holds all files.
    base: PathBuf,
    /// There is one file, whose place is the empty one.
    has_one: bool,
    mode: FileMode,
    care: Care,
    /// By place.
    open: HashMap<String, OpenFile>,
    /// Counts uses, so that the file used longest ago can be found.
    uses: u64,
    /// Files that were closed to make room, by their paths: a checkpoint records them, too. Kept only where
    /// checkpoints are.
    closed: HashMap<PathBuf, OutputMark>,
    /// Whether there are checkpoints.
    is_recorded: bool,
    /// Whether what is closed must be on the disk.
    is_durable: bool,
    /// What could not be forced to the disk when its file was closed.
    lost: Option<Error>,
    /// For modes other than `append`: how far the places written to so far have been written.
    /// The keys are hashes of the places.
    reached: HashMap<u128, u64>,
}

/// Whether a text is the path of a file that stays below the directory it is seen from.
#[must_use]
pub fn is_place(place: &str) -> bool {
    let inside = |part: Component<'_>| match part {
        Component::Normal(name) => name.len() <= NAME_BYTES_MAX,
        part => part == Component::CurDir,
    };
    let ends_in_file = Path::new(place).file_name().is_some() && !place.ends_with('/');
    ends_in_file
        && place.len() <= PATH_BYTES_MAX
        && !place.contains('\0')
        && Path::new(place).components().all(inside)
}

struct OpenFile {
    file: File,
    path: PathBuf,
    device: u64,
    inode: u64,
    /// Where the next write goes.
    length: u64,
    regular: bool,
    last_use: u64,
    /// Something was written that may not be on the disk.
    is_dirty: bool,
    /// Its name may not be on the disk.
    is_new: bool,
}

impl FileSink {
    /// A sink for one file, which is opened at once.
    pub(super) fn one(path: &Path, mode: FileMode, care: Care) -> Result<Self, Error> {
        let mut sink = Self::many(path, mode, care);
        sink.has_one = true;
        sink.open("").map_err(|failure| match failure {
            WriteFailure::Refused(error) | WriteFailure::Impossible(error) => error,
            WriteFailure::NobodyReads | WriteFailure::EndRun { .. } => {
                open_error(path, &ErrorKind::BrokenPipe.into())
            }
        })?;
        Ok(sink)
    }

    /// A sink for files below a directory, which are opened when they are needed.
    pub(super) fn many(directory: &Path, mode: FileMode, care: Care) -> Self {
        let (open, closed, reached) = (HashMap::new(), HashMap::new(), HashMap::new());
        let base = directory.to_path_buf();
        let (has_one, is_recorded, uses) = (false, false, 0);
        let (is_durable, lost) = (care.durability == Durability::Fsync, None);
        FileSink {
            base,
            has_one,
            mode,
            care,
            open,
            closed,
            is_recorded,
            is_durable,
            lost,
            uses,
            reached,
        }
    }

    fn path_of(&self, place: &str) -> Result<PathBuf, Error> {
        if self.has_one {
            return Ok(self.base.clone());
        }
        if !is_place(place) {
            let help = "the fields in the path must not be empty, hold `..` or begin it with `/`";
            let reason = format!("is no path of a file in {}; not written", self.base.display());
            return Err(Error::output(format!("{place:?}"), reason, help));
        }
        Ok(self.base.join(place))
    }

    fn open(&mut self, place: &str) -> Result<(), WriteFailure> {
        let path = self.path_of(place).map_err(WriteFailure::Impossible)?;
        if !self.has_one {
            is_inside(&self.base, &path).map_err(WriteFailure::Impossible)?;
        }
        let key = xxh3_128(place.as_bytes());
        let reached = self.reached.get(&key).copied();
        if reached.is_none() && self.reached.len() >= OUTPUT_PATHS_MAX {
            let reason = format!("more than {OUTPUT_PATHS_MAX} different paths");
            let error = Error::output(path.display().to_string(), reason, "use the mode `append`");
            return Err(WriteFailure::Refused(error));
        }
        let opened = OpenFile::open(&path, self.mode, reached, &self.care);
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::InvalidFilename if !self.has_one => {
                WriteFailure::Impossible(open_error(&path, &error))
            }
            _ => WriteFailure::Refused(open_error(&path, &error)),
        })?;
        if self.mode != FileMode::Append {
            self.reached.insert(key, file.length);
        }
        self.make_room();
        self.closed.remove(&file.path);
        self.open.insert(place.to_string(), file);
        Ok(())
    }

    /// Forgets a file that was deleted; gives the place for what was to be written to it, if that is
    /// another.
    fn see_absent(&mut self, place: &str) -> Option<String> {
        let is_absent = |path: PathBuf| matches!(path.try_exists(), Ok(false));
        if self.care.absent == Absent::Unseen || !self.path_of(place).is_ok_and(is_absent) {
            return None;
        }
        self.open.remove(place);
        self.reached.remove(&xxh3_128(place.as_bytes()));
        match &self.care.absent {
            Absent::Elsewhere(other) => Some(other.clone()),
            Absent::Unseen | Absent::Made => None,
        }
    }

    /// Opens a file unless it is open; whether it was opened just now.
    fn ready(&mut self, place: &str) -> Result<bool, WriteFailure> {
        let is_new = !self.open.contains_key(place);
        if is_new {
            self.open(place)?;
        }
        Ok(is_new)
    }

    fn make_room(&mut self) {
        if self.open.len() < OPEN_FILES_MAX {
            return;
        }
        let oldest = self.open.iter().min_by_key(|(_, file)| file.last_use);
        let oldest = oldest.map(|(place, _)| place.clone());
        let mut removed = oldest.and_then(|place| self.open.remove(&place));
        if let (true, Some(file)) = (self.is_durable, &mut removed)
            && let Err(error) = file.sync(&self.base)
        {
            // It is closed all the same; the next checkpoint must not tell of it.
            self.lost.get_or_insert(write_error(&file.path, &error));
        }
        if let Some(file) = removed.filter(|file| file.regular && self.is_recorded) {
            self.closed.insert(file.path.clone(), file.mark());
        }
    }
}

/// Whether a path below a directory stays there when links on its way are followed.
fn is_inside(base: &Path, path: &Path) -> Result<(), Error> {
    // Where there is no directory yet, there are no links.
    let Ok(root) = base.canonicalize() else { return Ok(()) };
    let mut there = path.ancestors().filter(|one| one.symlink_metadata().is_ok());
    let leads_to = there.next().and_then(|one| one.canonicalize().ok());
    if leads_to.is_some_and(|one| one.starts_with(&root)) {
        return Ok(());
    }
    let reason =
        format!("is no path of a file in {}: a link leads out of it; not written", base.display());
    let help = "remove the link, or name the directory that it leads to in the sink";
    Err(Error::output(path.display().to_string(), reason, help))
}

impl Sink for FileSink {
    fn prepare(&mut self, place: &str) -> Result<bool, WriteFailure> {
        self.is_recorded = true;
        let is_known = |path: PathBuf| self.closed.contains_key(&path);
        let was_closed = self.path_of(place).is_ok_and(is_known);
        let elsewhere = self.see_absent(place);
        // What a checkpoint records already need not be recorded again.
        Ok(self.ready(elsewhere.as_deref().unwrap_or(place))? && !was_closed)
    }

    fn write(&mut self, place: &str, bytes: &[u8]) -> Result<(), WriteFailure> {
        let elsewhere = self.see_absent(place);
        let place = elsewhere.as_deref().unwrap_or(place);
        self.ready(place)?;
        self.uses += 1;
        let file = self.open.get_mut(place).expect("it was opened just now");
        file.last_use = self.uses;
        let written = file.write(bytes).and_then(|()| match self.care.durability {
            Durability::Flush => Ok(()),
            Durability::Fsync => file.sync(&self.base),
        });
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => WriteFailure::NobodyReads,
            _ => WriteFailure::Refused(write_error(&file.path, &error)),
        })?;
        if self.mode != FileMode::Append {
            self.reached.insert(xxh3_128(place.as_bytes()), file.length);
        }
        Ok(())
    }

    fn be_durable(&mut self) {
        self.is_durable = true;
    }

    fn sync(&mut self) -> Result<(), Error> {
        if let Some(lost) = self.lost.take() {
            return Err(lost);
        }
        for file in self.open.values_mut() {
            file.sync(&self.base).map_err(|error| write_error(&file.path, &error))?;
        }
        Ok(())
    }

    fn open_files(&self) -> Vec<OutputMark> {
        let open = self.open.values().filter(|file| file.regular).map(OpenFile::mark);
        open.chain(self.closed.values().cloned()).collect()
    }
}

impl OpenFile {
    /// Opens a file; `reached` says how far this run has written it already.
    fn open(
        path: &Path,
        mode: FileMode,
        reached: Option<u64>,
        care: &Care,
    ) -> Result<Self, IoError> {
        let mut options = OpenOptions::new();
        options.create(true);
        if let Some(mode) = care.file_mode {
            options.mode(mode);
        }
        match mode {
            FileMode::Append => options.append(true),
            FileMode::Truncate => options.write(true).truncate(reached.is_none()),
            FileMode::Overwrite => options.write(true).truncate(false),
        };
        let opened = match options.open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make_directories(path.parent().unwrap_or(Path::new(".")), care)?;
                options.open(path)
            }
            opened => opened,
        };
        let mut file = opened?;
        let metadata = file.metadata()?;
        let regular = metadata.is_file();
        let length = match mode {
            FileMode::Append => metadata.len(),
            FileMode::Truncate | FileMode::Overwrite => reached.unwrap_or(0),
        };
        if regular && mode != FileMode::Append {
            file.seek(SeekFrom::Start(length))?;
        }
        let (device, inode) = (metadata.dev(), metadata.ino());
        let path = path.to_path_buf();
        let (is_dirty, is_new, last_use) = (false, true, 0);
        Ok(OpenFile { file, path, device, inode, length, regular, last_use, is_dirty, is_new })
    }

    fn mark(&self) -> OutputMark {
        let Self { device, inode, length, .. } = *self;
        OutputMark { device, inode, length, path: self.path.clone() }
    }

    /// Forces all of it to the disk; `base` is the directory that was there before.
    fn sync(&mut self, base: &Path) -> Result<(), IoError> {
        if self.is_dirty && self.regular {
            disk::sync(&self.file)?;
        }
        if self.is_new && self.regular {
            for directory in self.path.ancestors().skip(1) {
                disk::sync_directory(directory)?;
                if directory == base || !directory.starts_with(base) {
                    break;
                }
            }
        }
        (self.is_dirty, self.is_new) = (false, false);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), IoError> {
        self.is_dirty = true;
        let written = write_all(&mut self.file, bytes);
        match written {
            (_, Ok(())) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            (count, Err(error)) => {
                if count > 0 && self.regular {
                    // Half of an event is worse than none; if this fails, too, there is no more to do.
                    let _ = self.file.set_len(self.length);
                    let _ = self.file.seek(SeekFrom::Start(self.length));
                }
                Err(error)
            }
        }
    }
}

fn make_directories(path: &Path, care: &Care) -> Result<(), IoError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    if let Some(mode) = care.directory_mode {
        builder.mode(mode);
    }
    builder.create(path)
}

/// Writes all bytes, or says how many were written before the error.
fn write_all(file: &mut File, bytes: &[u8]) -> (usize, Result<(), IoError>) {
    let mut count = 0;
    while count < bytes.len() {
        match file.write(&bytes[count..]) {
            Ok(0) => return (count, Err(ErrorKind::WriteZero.into())),
            Ok(written) => count += written,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (count, Err(error)),
        }
    }
    (count, Ok(()))
}

fn open_error(path: &Path, error: &IoError) -> Error {
    let help = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "choose a path that may be written, or change its permissions"
        }
        ErrorKind::IsADirectory => "give the path of a file in it",
        _ => "check the path",
    };
    Error::output(
        path.display().to_string(),
        format!("cannot be opened for writing: {error}"),
        help,
    )
}

fn write_error(path: &Path, error: &IoError) -> Error {
    let help = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room; what was not written is counted as failed"
        }
        _ => "what was not written is counted as failed",
    };
    Error::output(path.display().to_string(), format!("cannot be written: {error}"), help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn bytes_are_forced_to_the_disk_when_that_was_promised() {
        let folder = std::env::temp_dir().join(format!("temblor-durable-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("it can be made");
        let synced = |work: &mut dyn FnMut()| {
            let before = disk::syncs();
            work();
            disk::syncs() - before
        };
        let sink = |durability| {
            let care = Care { durability, ..Care::default() };
            FileSink::many(&folder, FileMode::Append, care)
        };
        let mut flushed = sink(Durability::Flush);
        let write = |sink: &mut FileSink, place: &str| sink.write(place, b"x\n").expect("written");
        assert_eq!(synced(&mut || write(&mut flushed, "a")), 0);
        // With checkpoints that survive more, all at once: two files, and one name each.
        flushed.be_durable();
        write(&mut flushed, "b");
        assert_eq!(synced(&mut || flushed.sync().expect("synced")), 4);
        assert_eq!(synced(&mut || flushed.sync().expect("synced")), 0, "nothing new");
        write(&mut flushed, "b");
        assert_eq!(synced(&mut || flushed.sync().expect("synced")), 1);
        // What is closed to make room was on the disk before.
        let closing =
            synced(&mut || (0..OPEN_FILES_MAX).for_each(|n| write(&mut flushed, &n.to_string())));
        assert_eq!(closing, 0, "two files gave way that were on the disk");
        assert_eq!(synced(&mut || write(&mut flushed, "more")), 2, "one that was not");
        let mut forced = sink(Durability::Fsync);
        assert_eq!(synced(&mut || write(&mut forced, "c/d")), 3, "content, name, and directory");
        assert_eq!(synced(&mut || write(&mut forced, "c/d")), 1);
        fs::remove_dir_all(&folder).expect("it is there");
    }

    #[test]
    fn a_deleted_file_is_made_anew_or_given_up() {
        let folder = std::env::temp_dir().join(format!("temblor-absent-{}", std::process::id()));
        for (absent, wanted) in [
            (Absent::Unseen, [None, None]),
            (Absent::Made, [Some("two\n"), None]),
            (Absent::Elsewhere("lost".to_string()), [None, Some("two\n")]),
        ] {
            fs::create_dir_all(&folder).expect("it can be made");
            fs::write(folder.join("a"), "").expect("it can be written");
            let mut sink =
                FileSink::many(&folder, FileMode::Append, Care { absent, ..Care::default() });
            sink.write("a", b"one\n").expect("it can be written");
            fs::remove_file(folder.join("a")).expect("it was written");
            sink.write("a", b"two\n").expect("it can be written");
            let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
            assert_eq!([read("a"), read("lost")], wanted.map(|text| text.map(str::to_string)));
            fs::remove_dir_all(&folder).expect("it is there");
        }
    }
}
