//! The files that generators read: samples, tables and the rows of tokens.

use super::super::records;
use super::super::replacement::Rows;
use super::super::sample::{SampleEvent, cut};
use super::{Draft, Read, wrong};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use temblor_runtime::limits::LOOKUP_BYTES_MAX;
use xxhash_rust::xxh3::xxh3_64;

/// The column of a CSV sample that holds the events.
const RAW: &str = "_raw";

/// Columns that say something of the event beside it.
const FIELDS: [&str; 4] = ["host", "source", "sourcetype", "index"];

/// Reads a file that is kept in memory.
///
/// # Errors
/// When it cannot be read, or is too large.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > LOOKUP_BYTES_MAX {
        return Err(format!("{}: larger than {LOOKUP_BYTES_MAX} bytes", path.display()));
    }
    std::fs::read(path).map_err(failed)
}

/// Files of rows that were read; tokens of one file share it.
#[derive(Default)]
pub(super) struct Shelf(HashMap<String, Arc<Rows>>);

impl Shelf {
    /// The rows of a file.
    pub(super) fn rows(&mut self, path: &str) -> Result<Arc<Rows>, String> {
        if let Some(rows) = self.0.get(path) {
            return Ok(Arc::clone(rows));
        }
        let rows = Rows::of(&read_file(Path::new(path))?, xxh3_64(path.as_bytes()));
        let rows = Arc::new(rows.map_err(|reason| format!("{path}: {reason}"))?);
        self.0.insert(path.to_string(), Arc::clone(&rows));
        Ok(rows)
    }
}

impl<'s> Draft<'s> {
    pub(super) fn file(&self) -> Read<&'s str> {
        self.text("file").map_or_else(|| wrong("file", "the path of a file is missing"), Ok)
    }

    /// Whether the file is a table with columns.
    pub(super) fn is_csv(&self) -> Read<bool> {
        match self.text("sampletype") {
            None | Some("raw") => Ok(false),
            Some("csv") => Ok(true),
            Some(other) => wrong("sampletype", format!("`{other}` is neither raw nor csv")),
        }
    }

    /// The events of the file, and whether each of them is a line of it.
    pub(super) fn events(&self) -> Read<Vec<SampleEvent>> {
        let path = self.file()?;
        let text = read_file(Path::new(path)).or_else(|reason| wrong("file", reason))?;
        let events = if self.is_csv()? {
            let time_field = self.text("time_field");
            let events = table(&text, time_field);
            events.or_else(|reason| wrong("file", format!("{path}: {reason}")))?
        } else {
            let breaker = self.finder("breaker")?;
            cut(&text, breaker.as_ref()).into_iter().map(SampleEvent::of).collect()
        };
        match events.iter().any(|event| !event.raw.is_empty()) {
            true => Ok(events),
            false => wrong("file", format!("{path}: there is no event")),
        }
    }
}

/// The events of a CSV sample: what stands in the column `_raw` of each row, and what columns say beside it.
fn table(text: &[u8], time_field: Option<&str>) -> Result<Vec<SampleEvent>, String> {
    let mut rows = records::csv(text).into_iter();
    let names = rows.next().unwrap_or_default();
    let column = |name: &str| names.iter().position(|known| known.trim_ascii() == name.as_bytes());
    let raw = column(RAW).ok_or("the first row of a CSV sample must name a column `_raw`")?;
    let fields = FIELDS.map(column);
    let time = time_field.filter(|name| *name != RAW).and_then(column);
    let event = |row: Vec<Vec<u8>>| {
        let text = |at: Option<usize>| {
            let cell = row.get(at?).filter(|cell| !cell.is_empty())?;
            Some(String::from_utf8_lossy(cell).into_owned().into_boxed_str())
        };
        let fields = fields.map(text);
        let time = time.and_then(|at| row.get(at).cloned());
        let raw = row.get(raw).map_or(Vec::new(), |cell| cell.trim_ascii_end().to_vec());
        SampleEvent { raw, time, fields }
    };
    Ok(rows.map(event).filter(|event| !event.raw.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_their_fields_are_taken_from_their_columns() {
        let text = b"host,_raw,_time\r\na,\"one, \"\"quoted\"\"\nsecond line\",5\n\nb,two\n,\"\" bad\"row,6\nx\n";
        let events = table(text, Some("_time")).unwrap();
        let raws: Vec<_> = events.iter().map(|event| event.raw.as_slice()).collect();
        assert_eq!(raws, [&b"one, \"quoted\"\nsecond line"[..], b"two", b" bad\"row"]);
        assert_eq!(events[0].fields[0].as_deref(), Some("a"));
        assert_eq!(events[0].time.as_deref(), Some(&b"5"[..]));
        assert_eq!((&events[1].time, &events[2].fields[0]), (&None, &None));
        assert!(table(b"host,raw\na,b\n", None).unwrap_err().contains("_raw"));
    }
}
