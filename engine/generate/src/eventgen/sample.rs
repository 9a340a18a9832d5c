//! The sample file of a stanza: found by its name or by a regex over names, raw or with columns.

use regex::Regex;
use std::path::{Path, PathBuf};
use temblor_lang::value::{Arena, push_text};
use temblor_stdlib::formats::csv::{Csv, CsvOptions};

/// The column of a CSV sample that holds the events.
const RAW: &str = "_raw";

/// The files that a stanza's name stands for: one of this name, or all that it matches as a regex.
///
/// # Errors
/// When there is none.
pub(super) fn files(name: &str, directory: &Path) -> Result<Vec<PathBuf>, String> {
    let exact = directory.join(name);
    let missing =
        || format!("{}: there is no such file, and no name that it matches", exact.display());
    if exact.is_file() {
        return Ok(vec![exact]);
    }
    let regex = Regex::new(&format!("^(?:{name})$")).map_err(|_| missing())?;
    let entries = std::fs::read_dir(directory).map_err(|_| missing())?;
    let matches = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_file() && regex.is_match(&name)
    };
    let mut found: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(matches).collect();
    found.sort();
    if found.is_empty() { Err(missing()) } else { Ok(found) }
}

/// The events of a CSV sample: what stands in the column `_raw` of each row.
///
/// # Errors
/// When the text is no CSV with that column.
pub(super) fn csv_events(text: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "the sample is not UTF-8".to_string())?;
    let csv = Csv::compile(&CsvOptions { strict: true, ..CsvOptions::default() })?;
    let arena = Arena::new();
    let mut column = None;
    let mut events = Vec::new();
    for record in records(text) {
        let row = csv.parse(record, &arena).map_err(|error| error.to_string())?;
        let cells = row.as_array(&arena).unwrap_or_default();
        let Some(column) = column else {
            let found = cells.iter().position(|cell| cell.as_str() == Some(RAW));
            column = Some(found.ok_or("the first row of a CSV sample must name a column `_raw`")?);
            continue;
        };
        let mut event = Vec::new();
        cells.get(column).inspect(|cell| push_text(&mut event, **cell));
        events.push(event);
    }
    Ok(events)
}

/// The records of a CSV text: lines, together as long as a quotation is open.
fn records(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut is_quoted = false;
        let is_end = |character: char| {
            is_quoted ^= character == '"';
            character == '\n' && !is_quoted
        };
        let end = rest.find(is_end).map_or(rest.len(), |at| at + 1);
        let (record, after) = rest.split_at(end);
        rest = after;
        (!record.is_empty()).then(|| record.trim_end_matches(['\r', '\n']))
    })
    .filter(|record| !record.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_events_are_taken_from_their_column() {
        let text = b"host,_raw,source\na,\"one, \"\"quoted\"\"\nsecond line\",x\n\nb,two,y\n";
        let events = csv_events(text).unwrap();
        assert_eq!(events, [&b"one, \"quoted\"\nsecond line"[..], b"two"]);
        assert!(csv_events(b"host,raw\na,b\n").unwrap_err().contains("_raw"));
        assert!(csv_events(b"_raw\n\"a\" b\n").is_err());
    }
}
