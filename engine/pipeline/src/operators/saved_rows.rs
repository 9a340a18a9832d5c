//! Tables of operators that save their state as an array of records, each with its hash and its time:
//! a row is changed in what would be saved, and the operator restores the whole.

use crate::operator::Operator;
use crate::row::Row;
use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Key, RecordBuilder, Value};

/// Where a saved record has the hash of its key, as 32 hexadecimal digits.
const HASH: &str = "key";
/// Where a saved record has the time by which records are in order.
const TIME: &str = "at_ns";

/// All rows.
pub(super) fn rows<'a, O: Operator>(
    operator: &O,
    state: &O::State,
    arena: &'a Arena,
) -> Vec<Row<'a>> {
    let row = |saved: &Value<'a>| {
        let mut columns = RecordBuilder::from_record(arena, saved.as_record(arena)?, 0);
        columns.remove(HASH);
        Some(Row { hash: hash_of(*saved)?, key: None, columns: columns.finish() })
    };
    let saved = Operator::save(operator, state, arena);
    saved.as_array(arena).unwrap_or_default().iter().filter_map(row).collect()
}

/// Puts other columns into the row of a key; adds it if there is none.
pub(super) fn amend<O: Operator>(
    operator: &O,
    state: &mut O::State,
    hash: u128,
    columns: Value<'_>,
) -> Result<(), CallError> {
    let arena = Arena::new();
    let columns = columns.copy_into(&arena);
    let wrong = || CallError::failed("a row is a record of columns");
    let columns = columns.as_record(&arena).ok_or_else(wrong)?;
    let mut record = RecordBuilder::from_record(&arena, columns, 1);
    record.insert(HASH, Value::Str(arena.format(format_args!("{hash:032x}"))));
    let mut records = others(Operator::save(operator, state, &arena), hash, &arena);
    records.push(record.finish());
    records.sort_by_key(|saved| saved.get(&Key::new(TIME)).and_then(Value::as_u64));
    *state = Operator::restore(operator, arena.array(records))?;
    Ok(())
}

/// Forgets a key; whether it was there.
pub(super) fn forget<O: Operator>(operator: &O, state: &mut O::State, hash: u128) -> bool {
    let arena = Arena::new();
    let saved = Operator::save(operator, state, &arena);
    let others = others(saved, hash, &arena);
    let known = saved.size() != Some(others.len());
    if known && let Ok(without) = Operator::restore(operator, arena.array(others)) {
        *state = without;
    }
    known
}

/// The records of other keys, in their order.
fn others<'a>(saved: Value<'a>, hash: u128, arena: &'a Arena) -> Vec<Value<'a>> {
    let all = saved.as_array(arena).unwrap_or_default().iter().copied();
    all.filter(|saved| hash_of(*saved) != Some(hash)).collect()
}

fn hash_of(saved: Value<'_>) -> Option<u128> {
    u128::from_str_radix(saved.get(&Key::new(HASH))?.as_str()?, 16).ok()
}
