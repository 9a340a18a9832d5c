//! What an operator remembers, as rows of a table that a person can read and change: `:state` of the
//! REPL. Nothing here is used while events run.

use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Key, RecordBuilder, Value};

/// What is remembered of one key.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The hash that the key is found by.
    pub hash: u128,
    /// The key itself, where it is kept.
    pub key: Option<Value<'a>>,
    /// A record of what is remembered; times are in nanoseconds since 1970-01-01 UTC.
    pub columns: Value<'a>,
}

impl<'a> Row<'a> {
    /// A row of a key that is known by its hash only.
    #[must_use]
    pub fn new(hash: u128, columns: &[(&'a str, Value<'a>)], arena: &'a Arena) -> Self {
        let mut record = arena.record_builder(columns.len());
        columns.iter().for_each(|(name, value)| record.append(name, *value));
        Self { hash, key: None, columns: record.finish() }
    }

    /// The row with the fields of `changes` in the place of its own.
    ///
    /// # Errors
    /// When `changes` is no record, or names what is no column.
    pub fn changed(self, changes: Value<'a>, arena: &'a Arena) -> Result<Self, CallError> {
        let record = |value: Value<'a>| {
            value.as_record(arena).ok_or_else(|| CallError::failed("a row is a record of columns"))
        };
        let (old, changes) = (record(self.columns)?, record(changes)?);
        let mut columns = RecordBuilder::from_record(arena, old, 0);
        for (name, value) in changes.iter() {
            if old.get(name).is_none() {
                let known = old.iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
                return Err(CallError::failed(format!("there is no column `{name}`: {known}")));
            }
            columns.insert(name, value);
        }
        Ok(Self { columns: columns.finish(), ..self })
    }
}

/// A column that is a whole number.
///
/// # Errors
/// When it is missing or something else.
pub fn whole(columns: Value<'_>, name: &str) -> Result<u64, CallError> {
    let value = columns.get(&Key::new(name)).and_then(Value::as_u64);
    value.ok_or_else(|| CallError::failed(format!("`{name}` has to be a whole number from 0")))
}

/// A column that is a number.
///
/// # Errors
/// When it is missing or something else.
pub fn number(columns: Value<'_>, name: &str) -> Result<f64, CallError> {
    let value = columns.get(&Key::new(name)).and_then(Value::as_f64);
    value.ok_or_else(|| CallError::failed(format!("`{name}` has to be a number")))
}
