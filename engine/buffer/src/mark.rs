//! The mark: up to which record everything has been dealt with, in a small file of two places that are
//! written by turns.
//!
//! Invariant: one of the two places is whole at any moment, so that a mark is old at the worst, never wrong.

use std::fs::{File, OpenOptions};
use std::io::Result;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

/// The name of the file.
pub const NAME: &str = "mark";
/// Length of a place, in bytes.
const PLACE_BYTES: usize = 40;

/// A place in a buffer: all records before it have been dealt with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The number of the next record.
    pub sequence: u64,
    /// The segment that it is looked for in, by the number of its first record.
    pub segment: u64,
    /// Where in the segment, in bytes.
    pub offset: u64,
}

/// Keeps the mark of a directory.
#[derive(Debug)]
pub struct Marker {
    file: File,
    /// Counts the writings: the place with the higher number is the younger one.
    turn: u64,
}

impl Marker {
    /// Opens the file, making it where there is none, and gives the mark that it holds; none when there is no
    /// whole one.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(directory: &Path) -> Result<(Self, Option<Mark>)> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(directory.join(NAME))?;
        if file.metadata()?.len() < 2 * PLACE_BYTES as u64 {
            // A disk that is full later still has room for both places.
            file.write_all_at(&[0; 2 * PLACE_BYTES], 0)?;
        }
        let found = read(&file);
        let turn = found.map_or(0, |(turn, _)| turn + 1);
        Ok((Self { file, turn }, found.map(|(_, mark)| mark)))
    }

    /// Writes the mark.
    ///
    /// # Errors
    /// It cannot be written; the one before stays.
    pub fn write(&mut self, mark: Mark) -> Result<()> {
        let mut bytes = [0; PLACE_BYTES];
        for (index, number) in
            [self.turn, mark.sequence, mark.segment, mark.offset].iter().enumerate()
        {
            bytes[index * 8..index * 8 + 8].copy_from_slice(&number.to_le_bytes());
        }
        let sum = xxh3_64(&bytes[..32]);
        bytes[32..].copy_from_slice(&sum.to_le_bytes());
        self.file.write_all_at(&bytes, self.turn % 2 * PLACE_BYTES as u64)?;
        self.turn += 1;
        Ok(())
    }
}

/// The mark of a directory, for those who only look.
#[must_use]
pub fn look(directory: &Path) -> Option<Mark> {
    let file = File::open(directory.join(NAME)).ok()?;
    read(&file).map(|(_, mark)| mark)
}

/// The younger of the whole places.
fn read(file: &File) -> Option<(u64, Mark)> {
    let place = |index: u64| {
        let mut bytes = [0; PLACE_BYTES];
        file.read_exact_at(&mut bytes, index * PLACE_BYTES as u64).ok()?;
        let long =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let mark = Mark { sequence: long(8), segment: long(16), offset: long(24) };
        (long(32) == xxh3_64(&bytes[..32])).then_some((long(0), mark))
    };
    [0, 1].into_iter().filter_map(place).max_by_key(|(turn, _)| *turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_testing::Folder;

    fn mark(sequence: u64) -> Mark {
        Mark { sequence, segment: 1, offset: 2 }
    }

    #[test]
    fn the_younger_whole_place_counts() {
        let folder = Folder::new();
        let (mut marker, none) = Marker::open(folder.path()).unwrap();
        assert_eq!(none, None);
        (1..=5).for_each(|number| marker.write(mark(number)).unwrap());
        assert_eq!(look(folder.path()), Some(mark(5)));
        // The fifth stands in the first place; without it the fourth holds.
        let mut bytes = std::fs::read(folder.file(NAME)).unwrap();
        bytes[9] ^= 1;
        std::fs::write(folder.file(NAME), &bytes).unwrap();
        let (mut marker, found) = Marker::open(folder.path()).unwrap();
        assert_eq!(found, Some(mark(4)));
        marker.write(mark(6)).unwrap();
        assert_eq!(look(folder.path()), Some(mark(6)));
        std::fs::write(folder.file(NAME), b"garbage").unwrap();
        assert_eq!(look(folder.path()), None);
    }
}
