//! A dictionary that follows its file. The file is looked at from the first event on, so that a configuration
//! that is only checked watches nothing.

use super::dictionary::{self, Entry};
use super::search::{Matching, Search};
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, Once, PoisonError, RwLock};
use std::time::Duration;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_pipeline::lookup::{Reloaded, Watch};
use temblor_runtime::console::warn;

/// Where a dictionary is and what is made of it.
#[derive(Debug)]
pub(super) struct DictionaryFile {
    path: String,
    matching: Matching,
    /// Whether keys that have gone from the file stay.
    merges: bool,
    /// The file before it is read.
    watch: Watch,
}

impl DictionaryFile {
    /// To be made before the file is read, so that no change is missed.
    pub(super) fn new(path: &str, matching: Matching, merges: bool) -> Self {
        let watch = Watch::of(Path::new(path));
        Self { path: path.to_string(), matching, merges, watch }
    }
}

/// The dictionary.
#[derive(Debug)]
pub(super) struct Refreshed {
    file: DictionaryFile,
    every: Duration,
    search: RwLock<Arc<Search>>,
    /// All that was ever in the file; empty unless changes are merged.
    entries: Mutex<Vec<Entry>>,
    first_event: Once,
}

impl Refreshed {
    /// With what the file holds now.
    pub(super) fn new(
        file: DictionaryFile,
        every: Duration,
        entries: Vec<Entry>,
        search: Search,
    ) -> Arc<Self> {
        let entries = if file.merges { entries } else { Vec::new() };
        Arc::new(Self {
            file,
            every,
            search: RwLock::new(Arc::new(search)),
            entries: Mutex::new(entries),
            first_event: Once::new(),
        })
    }

    /// What stands for `text` in the newest dictionary.
    pub(super) fn find<'a>(
        self: &Arc<Self>,
        text: &str,
        event: &LogEvent<'_>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Option<Datum<'a>> {
        self.first_event.call_once(|| {
            if let Err(reason) = self.file.watch.start(self, self.every) {
                warn(&format!("{} is not read again: {reason}", self.file.path));
            }
        });
        let search = self.search.read().unwrap_or_else(PoisonError::into_inner).clone();
        search.find(text, event, arena, now).map(|found| found.copy_into(arena))
    }
}

impl Reloaded for Refreshed {
    fn path(&self) -> &Path {
        Path::new(&self.file.path)
    }

    fn called(&self) -> &'static str {
        "the dictionary of `translate`"
    }

    fn reload(&self) -> Result<(), String> {
        let read = dictionary::read(&self.file.path)?;
        let mut kept = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = if self.file.merges { merged(&kept, read) } else { read };
        let mut wrong = None;
        let search = Search::build(&entries, self.file.matching, |text, reason| {
            wrong.get_or_insert_with(|| format!("`{text}` is no pattern: {reason}"));
        });
        if let Some(reason) = wrong {
            return Err(format!("{}: {reason}", self.file.path));
        }
        if self.file.merges {
            *kept = entries;
        }
        *self.search.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(search);
        Ok(())
    }
}

/// The old entries with their new values, and the new ones behind them.
fn merged(old: &[Entry], new: Vec<Entry>) -> Vec<Entry> {
    let mut all = old.to_vec();
    let mut places: HashMap<String, usize> =
        old.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
    for (key, value) in new {
        match places.get(&key) {
            Some(at) => all[*at].1 = value,
            None => {
                places.insert(key.clone(), all.len());
                all.push((key, value));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of this test alone, gone with its end.
    struct Words(String);

    impl Words {
        fn write(&self, text: &str) {
            std::fs::write(&self.0, text).unwrap();
        }
    }

    impl Drop for Words {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    /// A dictionary in a file of its own, as it is before its first event.
    fn refreshed(name: &str, text: &str, merges: bool, regex: bool) -> (Words, Arc<Refreshed>) {
        let name = format!("temblor-words-{}-{name}.yml", std::process::id());
        let name = std::env::temp_dir().join(name).display().to_string();
        let words = Words(name.clone());
        words.write(text);
        let matching = Matching { exact: true, regex };
        let file = DictionaryFile::new(&name, matching, merges);
        let entries = dictionary::read(&name).unwrap();
        let search = Search::build(&entries, matching, |text, _| panic!("{text}"));
        (words, Refreshed::new(file, Duration::from_millis(20), entries, search))
    }

    fn found(table: &Arc<Refreshed>, text: &str) -> Option<String> {
        let now = DateTime::<Utc>::UNIX_EPOCH;
        let event = LogEvent::new(Default::default(), now);
        table.find(text, &event, &Arena::new(), now).map(|found| found.text())
    }

    #[test]
    fn what_has_gone_stays_when_changes_are_merged() {
        for (merges, old) in [(true, Some("one")), (false, None)] {
            let (words, table) = refreshed("merged", "a: one\nb: two\n", merges, false);
            words.write("b: 2\nc: [x, y]\n");
            table.reload().unwrap();
            assert_eq!(found(&table, "a").as_deref(), old, "merges: {merges}");
            assert_eq!(found(&table, "b").as_deref(), Some("2"));
            assert_eq!(found(&table, "c").as_deref(), Some("x,y"));
        }
    }

    #[test]
    fn the_file_is_looked_at_by_itself_from_the_first_event_on() {
        let (words, table) = refreshed("seen", "a: one\n", true, false);
        assert_eq!(found(&table, "a").as_deref(), Some("one"));
        words.write("a: another one\n");
        let start = std::time::Instant::now();
        while found(&table, "a").as_deref() != Some("another one") {
            assert!(start.elapsed() < Duration::from_secs(20), "the change was never seen");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn what_cannot_be_used_changes_nothing() {
        let (words, table) = refreshed("kept", "a: one\n", false, true);
        words.write("\"a(\": two\n");
        let reason = table.reload().unwrap_err();
        assert!(reason.contains("kept.yml: `a(` is no pattern: "), "{reason}");
        words.write("a: [1\n");
        let reason = table.reload().unwrap_err();
        assert!(reason.contains("kept.yml"), "{reason}");
        std::fs::remove_file(&words.0).unwrap();
        assert!(table.reload().is_err());
        assert_eq!(found(&table, "a").as_deref(), Some("one"));
    }
}
