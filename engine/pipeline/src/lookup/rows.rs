//! The rows of a lookup table, read from CSV or JSON. Each row is a record; its key stands apart.

use crate::store::footprint;
use std::path::Path;
use temblor_lang::value::{Arena, Frozen, Key, Value};
use temblor_runtime::limits::{LOOKUP_BYTES_MAX, LOOKUP_ROWS_MAX};
use temblor_stdlib::formats::csv::{ColumnType, Csv, CsvOptions};
use temblor_stdlib::formats::json;

/// The rows in the order of the file.
#[derive(Debug)]
pub(super) struct Rows {
    /// Arrays of the key, the end of the range or null, and the row.
    all: Frozen,
    bytes: usize,
}

/// The name of the value of a JSON record whose values are no records.
const VALUE: &str = "value";

impl Rows {
    pub(super) fn read(
        path: &Path,
        key: Option<&str>,
        until: Option<&str>,
    ) -> Result<Self, String> {
        let size = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
        if size > LOOKUP_BYTES_MAX {
            return Err(format!(
                "a lookup table may have {LOOKUP_BYTES_MAX} bytes, this has {size}"
            ));
        }
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes)
            .map_err(|error| format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to()))?;
        let text = text.trim_start_matches('\u{feff}');
        let arena = Arena::new();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        let rows = match ending.to_ascii_lowercase().as_str() {
            "csv" => csv(text, b',', key, until, &arena)?,
            "tsv" => csv(text, b'\t', key, until, &arena)?,
            "json" => json_rows(text, key, until, &arena)?,
            "ndjson" | "jsonl" => lines(text, key, until, &arena)?,
            _ => return Err("expected a .csv, .tsv, .json, .ndjson or .jsonl file".to_string()),
        };
        if rows.len() > LOOKUP_ROWS_MAX {
            return Err(format!("a lookup table may have {LOOKUP_ROWS_MAX} rows"));
        }
        Ok(Self::of(&rows))
    }

    /// The rows of a record, given as JSON, whose names are the keys.
    pub(super) fn of_record(record: &str) -> Result<Self, String> {
        let arena = Arena::new();
        json_rows(record, None, None, &arena).map(|rows| Self::of(&rows))
    }

    fn of(rows: &[Value<'_>]) -> Self {
        let all = Value::Array(rows);
        Self { all: Frozen::new(all), bytes: footprint(all) }
    }

    pub(super) fn len(&self) -> usize {
        self.all.get().size().unwrap_or(0)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn part(&self, row: usize, part: usize) -> Value<'_> {
        self.all.get().at(row).and_then(|row| row.at(part)).unwrap_or(Value::Null)
    }

    pub(super) fn key(&self, row: usize) -> Value<'_> {
        self.part(row, 0)
    }

    pub(super) fn until(&self, row: usize) -> Value<'_> {
        self.part(row, 1)
    }

    pub(super) fn row(&self, row: usize) -> Value<'_> {
        self.part(row, 2)
    }

    /// The row, or the value of one that was no record.
    pub(super) fn value(&self, row: usize) -> Value<'_> {
        let row = self.row(row);
        match (row.size(), row.get(&Key::new(VALUE))) {
            (Some(1), Some(value)) => value,
            _ => row,
        }
    }
}

fn line_error(number: usize, reason: impl std::fmt::Display) -> String {
    format!("line {}: {reason}", number + 1)
}

fn csv<'a>(
    text: &'a str,
    separator: u8,
    key: Option<&str>,
    until: Option<&str>,
    arena: &'a Arena,
) -> Result<Vec<Value<'a>>, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut options = CsvOptions { separator, strict: true, ..CsvOptions::default() };
    let (number, head) =
        lines.next().ok_or("the file is empty; expected a line of column names")?;
    let head = Csv::compile(&options)?.parse(head, arena).map_err(|e| line_error(number, e))?;
    let names: Vec<&str> = head
        .as_array(arena)
        .unwrap_or(&[])
        .iter()
        .filter_map(|name| name.as_str().map(str::trim))
        .collect();
    options.columns = names.iter().map(|name| ((*name).to_string(), ColumnType::Text)).collect();
    let csv = Csv::compile(&options)?;
    let key = key.or(names.first().copied()).unwrap_or("");
    let known = |name: &str| match names.contains(&name) {
        true => Ok(()),
        false => Err(format!("there is no column `{name}`; there are {}", names.join(", "))),
    };
    known(key)?;
    until.map_or(Ok(()), known)?;
    lines
        .map(|(number, line)| {
            let row = csv.parse(line, arena).map_err(|error| line_error(number, error))?;
            entry(row, key, until, arena).map_err(|reason| line_error(number, reason))
        })
        .collect()
}

fn lines<'a>(
    text: &'a str,
    key: Option<&str>,
    until: Option<&str>,
    arena: &'a Arena,
) -> Result<Vec<Value<'a>>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let row = json::parse(line, arena).map_err(|error| line_error(number, error))?;
            keyed(row, key, until, arena).map_err(|reason| line_error(number, reason))
        })
        .collect()
}

/// An array of records, or a record whose names are the keys.
fn json_rows<'a>(
    text: &'a str,
    key: Option<&str>,
    until: Option<&str>,
    arena: &'a Arena,
) -> Result<Vec<Value<'a>>, String> {
    let value = json::parse(text, arena).map_err(|error| error.to_string())?;
    if let Some(rows) = value.as_array(arena) {
        let rows = rows.iter().enumerate();
        return rows
            .map(|(number, row)| {
                keyed(*row, key, until, arena).map_err(|e| format!("row {}: {e}", number + 1))
            })
            .collect();
    }
    let Some(record) = value.as_record(arena) else {
        return Err("expected an array of records, or a record".to_string());
    };
    let rows = record.iter().map(|(name, row)| {
        let row = match row.as_record(arena) {
            Some(_) => row,
            None => {
                let mut record = arena.record_builder(1);
                record.append(VALUE, row);
                record.finish()
            }
        };
        let until = until.and_then(|until| row.get(&Key::new(until))).unwrap_or(Value::Null);
        arena.array([Value::Str(name), until, row])
    });
    Ok(rows.collect())
}

/// A row of JSON, whose key is in its first field unless said otherwise.
fn keyed<'a>(
    row: Value<'a>,
    key: Option<&str>,
    until: Option<&str>,
    arena: &'a Arena,
) -> Result<Value<'a>, String> {
    let record = row.as_record(arena).ok_or("expected a record")?;
    let first = || record.entries().first().map(|entry| entry.key);
    let key = key.or_else(first).ok_or("the record is empty")?;
    entry(row, key, until, arena)
}

fn entry<'a>(
    row: Value<'a>,
    key: &str,
    until: Option<&str>,
    arena: &'a Arena,
) -> Result<Value<'a>, String> {
    let field =
        |name: &str| row.get(&Key::new(name)).ok_or_else(|| format!("there is no field `{name}`"));
    let until = match until {
        Some(until) => field(until)?,
        None => Value::Null,
    };
    Ok(arena.array([field(key)?, until, row]))
}
