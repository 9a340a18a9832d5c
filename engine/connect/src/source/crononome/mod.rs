//! The `crononome` source: an event each time that an entry of a time table is due, in UTC. With the
//! virtual clock the events come one right after the other and put the clock forward.
//!
//! Invariant: entries that are due at the same second come in the order of the table.

mod crontab;
mod expression;

pub use crontab::Crontab;
pub use expression::Expression;

use crate::source::metronome::Beats;
use temblor_runtime::error::Error;
use temblor_runtime::source::Source;
use temblor_runtime::source::feed::Feed;

/// One entry of the time table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What its events are called.
    pub name: String,
    /// When they come.
    pub expression: Expression,
    /// What they carry: JSON text, when they carry anything.
    pub payload: Option<String>,
}

/// Gives `{"connector": "crononome", "ingest_ns": …, "id": …, "trigger": {"name": …, "payload": …}}`.
pub(crate) struct CrononomeSource {
    entries: Vec<Entry>,
}

impl CrononomeSource {
    /// With at least one entry.
    pub(crate) fn new(entries: Vec<Entry>) -> Self {
        Self { entries }
    }

    /// The times behind `now`, the first first; only the first of each entry.
    fn due(&self, now: u64) -> Option<(u64, Vec<&Entry>)> {
        let times =
            self.entries.iter().filter_map(|entry| Some((entry.expression.next(now)?, entry)));
        let times: Vec<_> = times.collect();
        let first = times.iter().map(|(time, _)| *time).min()?;
        let due = times.into_iter().filter(|(time, _)| *time == first).map(|(_, entry)| entry);
        Some((first, due.collect()))
    }
}

impl Source for CrononomeSource {
    fn name(&self) -> String {
        "crononome".to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let mut beats = Beats::new(self.name(), feed);
        let mut id: u64 = 0;
        let mut last = beats.start;
        while let Some((due, entries)) = self.due(last) {
            let Some(now) = beats.wait(due)? else { break };
            for entry in entries {
                if beats.send(&line(entry, now, id), now).is_err() {
                    return Ok(());
                }
                id += 1;
            }
            last = due;
        }
        Ok(())
    }
}

fn line(entry: &Entry, now: u64, id: u64) -> String {
    let mut name = Vec::new();
    temblor_lang::value::push_json_string(&mut name, &entry.name);
    let name = String::from_utf8_lossy(&name);
    let payload =
        entry.payload.as_ref().map_or(String::new(), |json| format!(",\"payload\":{json}"));
    let trigger = format!("{{\"name\":{name}{payload}}}");
    format!(
        "{{\"connector\":\"crononome\",\"ingest_ns\":{now},\"id\":{id},\"trigger\":{trigger}}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_due_together_come_in_their_order() {
        let entry = |name: &str, text| Entry {
            name: name.to_string(),
            expression: Expression::parse(text).unwrap(),
            payload: (name == "b").then(|| "[1]".to_string()),
        };
        let entries = vec![entry("a", "*/2 * * * * *"), entry("b", "* * * * * *")];
        let source = CrononomeSource::new(entries);
        let names = |now: u64| {
            let (time, due) = source.due(now * 1_000_000_000).unwrap();
            let names: Vec<_> = due.iter().map(|entry| entry.name.as_str()).collect();
            (time / 1_000_000_000, names.join(" "))
        };
        assert_eq!(names(0), (1, "b".to_string()));
        assert_eq!(names(1), (2, "a b".to_string()));
        let text = line(&source.entries[1], 7, 3);
        let wanted = r#"{"connector":"crononome","ingest_ns":7,"id":3,"trigger":{"name":"b","payload":[1]}}"#;
        assert_eq!(text.trim_end(), wanted);
    }
}
