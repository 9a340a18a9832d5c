//! What Logstash is told to keep on disk: the queue between inputs and filters, and dead letters.
//!
//! Invariant: a value that is none leaves the setting as it was.

use std::path::PathBuf;

/// Bytes of a queue, or of dead letters, when nothing is said (`1024mb`).
const BYTES_DEFAULT: u64 = 1 << 30;

/// Settings of `logstash.yml`, or of one pipeline, about what is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keeping {
    /// `queue.type: persisted`
    pub queue_on_disk: bool,
    /// `queue.max_bytes`
    queue_bytes: Option<u64>,
    /// `queue.checkpoint.writes: 1`: each event is on the disk before it counts as kept.
    pub syncs_each: bool,
    /// `dead_letter_queue.enable`
    keeps_letters: bool,
    /// `dead_letter_queue.max_bytes`
    letter_bytes: Option<u64>,
    /// `dead_letter_queue.storage_policy: drop_older`
    pub drops_older: bool,
    /// `path.dead_letter_queue`
    letters: Option<PathBuf>,
    /// `path.data`
    data: Option<PathBuf>,
}

impl Keeping {
    /// Takes one setting up.
    pub(crate) fn adjust(&mut self, key: &str, text: &str) {
        match key {
            "queue.type" => self.queue_on_disk = text == "persisted",
            "queue.max_bytes" => self.queue_bytes = bytes(text).or(self.queue_bytes),
            "queue.checkpoint.writes" => self.syncs_each = text == "1",
            "dead_letter_queue.enable" => self.keeps_letters = text == "true",
            "dead_letter_queue.max_bytes" => self.letter_bytes = bytes(text).or(self.letter_bytes),
            "dead_letter_queue.storage_policy" => self.drops_older = text == "drop_older",
            "path.dead_letter_queue" => self.letters = Some(text.into()),
            "path.data" => self.data = Some(text.into()),
            _ => {}
        }
    }

    /// Bytes of the queue on disk.
    #[must_use]
    pub fn queue_bytes(&self) -> u64 {
        self.queue_bytes.unwrap_or(BYTES_DEFAULT)
    }

    /// The folder of dead letters and their bytes, if some are kept.
    #[must_use]
    pub fn letters(&self) -> Option<(PathBuf, u64)> {
        let below = |data: &PathBuf| data.join("dead_letter_queue");
        let folder = self.letters.clone().or_else(|| self.data.as_ref().map(below));
        let folder = folder.unwrap_or_else(|| PathBuf::from("data/dead_letter_queue"));
        self.keeps_letters.then(|| (folder, self.letter_bytes.unwrap_or(BYTES_DEFAULT)))
    }
}

/// A size as Logstash writes it: `1024mb`, `4gb`, `512`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim() {
        "" | "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        "t" | "tb" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_what_is_none_changes_nothing() {
        assert_eq!(bytes("1024mb"), Some(1 << 30));
        assert_eq!(bytes("4GB"), Some(4 << 30));
        assert_eq!(bytes("77"), Some(77));
        assert_eq!((bytes("much"), bytes("1xb"), bytes("99999999tb")), (None, None, None));
        let mut keeping = Keeping::default();
        keeping.adjust("queue.max_bytes", "64kb");
        keeping.adjust("queue.max_bytes", "plenty");
        assert_eq!(keeping.queue_bytes(), 64 << 10);
    }

    #[test]
    fn letters_are_kept_where_logstash_would_keep_them() {
        let mut keeping = Keeping::default();
        keeping.adjust("path.data", "/var/lib/logstash");
        assert_eq!(keeping.letters(), None);
        keeping.adjust("dead_letter_queue.enable", "true");
        let folder = PathBuf::from("/var/lib/logstash/dead_letter_queue");
        assert_eq!(keeping.letters(), Some((folder, 1 << 30)));
        keeping.adjust("path.dead_letter_queue", "letters");
        assert_eq!(keeping.letters(), Some(("letters".into(), 1 << 30)));
    }
}
