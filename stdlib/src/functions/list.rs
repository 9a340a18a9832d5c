//! What `std::array` and `std::record` offer beyond tremor: picking, ordering, grouping and
//! adding up. Elements that a function cannot use are an error, never skipped in silence.

use super::members;
use crate::declare::{Outcome, Params, count, integer, items, optional, plain_text, pure};
use crate::declare::{record, text, text_or, value};
use halfbrown::HashMap;
use std::cmp::Ordering;
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Integer, Number, Record};
use temblor_lang::value::{ArrayBuilder, Key, Kind, RecordBuilder, Value};
use temblor_lang::value::{deeper, equal, hash128, total_order};

const ARRAY: Params = &[("array", Kind::Array)];

/// The functions of this kind.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::array::first",
        ARRAY,
        Any,
        "The first element; `null` when there is none.",
        &["array::first([1, 2]) == 1", "array::first([]) == null"],
        |call, arguments| Ok(items(call, arguments, 0)?.first().copied().unwrap_or(Value::Null)),
    ),
    pure(
        "std::array::last",
        ARRAY,
        Any,
        "The last element; `null` when there is none.",
        &["array::last([1, 2]) == 2", "array::last([]) == null"],
        |call, arguments| Ok(items(call, arguments, 0)?.last().copied().unwrap_or(Value::Null)),
    ),
    pure(
        "std::array::unique",
        ARRAY,
        Array,
        "The elements without those that are equal to an earlier one.",
        &[r#"array::unique([1, "a", 1.0, "a", null]) == [1, "a", null]"#],
        unique,
    ),
    pure(
        "std::array::min",
        ARRAY,
        Any,
        "The smallest element in the order of `array::sort`; `null` when there is none.",
        &["array::min([3, 1, 2]) == 1", "array::min([]) == null"],
        |call, arguments| {
            let least = items(call, arguments, 0)?.iter().min_by(|l, r| total_order(**l, **r));
            Ok(least.copied().unwrap_or(Value::Null))
        },
    ),
    pure(
        "std::array::max",
        ARRAY,
        Any,
        "The largest element in the order of `array::sort`; `null` when there is none.",
        &["array::max([3, 1, 2]) == 3"],
        |call, arguments| {
            let most = items(call, arguments, 0)?.iter().max_by(|l, r| total_order(**l, **r));
            Ok(most.copied().unwrap_or(Value::Null))
        },
    ),
    pure(
        "std::array::sum",
        ARRAY,
        Number,
        "The sum of numbers: an integer when all are, else a float. An error on anything that is \
         no number, and when integers leave the range of 64 bits.",
        &["array::sum([1, 2, 3]) == 6", "array::sum([1, 0.5]) == 1.5", "array::sum([]) == 0"],
        sum,
    ),
    pure(
        "std::array::mean",
        ARRAY,
        Any,
        "The mean of numbers as a float; `null` when there is none.",
        &["array::mean([1, 2]) == 1.5", "array::mean([]) == null"],
        |call, arguments| {
            let items = items(call, arguments, 0)?;
            let total = total(items)?;
            let mean = Value::Float(total / items.len() as f64);
            Ok(if items.is_empty() { Value::Null } else { mean })
        },
    ),
    pure(
        "std::array::compact",
        ARRAY,
        Array,
        "The elements that are neither `null` nor an empty string, array or record.",
        &[r#"array::compact([null, "", 0, [], {}, "a"]) == [0, "a"]"#],
        |call, arguments| {
            let items = items(call, arguments, 0)?.iter().copied();
            Ok(call.arena.array(items.filter(|item| !is_blank(*item))))
        },
    ),
    optional(
        1,
        pure(
            "std::array::slice",
            &[("array", Array), ("start", Integer), ("finish", Integer)],
            Array,
            "The elements from `start` up to, not including, `finish` or the end. Negative \
             positions count from the end; what lies outside is not there.",
            &[
                "array::slice([1, 2, 3, 4], 1, 3) == [2, 3]",
                "array::slice([1, 2, 3], -2) == [2, 3]",
                "array::slice([1], 5, 9) == []",
            ],
            slice,
        ),
    ),
    pure(
        "std::array::index_of",
        &[("array", Array), ("element", Any)],
        Any,
        "Where the first element equal to `element` stands, counted from 0; `null` when there is \
         none.",
        &[r#"array::index_of(["a", "b"], "b") == 1"#, "array::index_of([], 1) == null"],
        |call, arguments| {
            let wanted = value(arguments, 1);
            if !call.arena.admits_walk(value(arguments, 0)) || !call.arena.admits_walk(wanted) {
                return Ok(Value::Null);
            }
            let at = items(call, arguments, 0)?.iter().position(|item| equal(*item, wanted));
            Ok(at.map_or(Value::Null, integer))
        },
    ),
    pure(
        "std::array::chunks",
        &[("array", Array), ("size", Integer)],
        Array,
        "The elements in arrays of `size` each; the last may be shorter.",
        &["array::chunks([1, 2, 3], 2) == [[1, 2], [3]]"],
        |call, arguments| {
            let (items, size) = (items(call, arguments, 0)?, count(arguments, 1)?);
            if size == 0 {
                return Err(CallError::failed("chunks hold at least one element"));
            }
            Ok(call.arena.array(items.chunks(size).map(Value::Array)))
        },
    ),
    pure(
        "std::array::group_by",
        &[("array", Array), ("key", Any)],
        Record,
        "The records of an array in groups: under each value of the field `key`, as text, the \
         array of records that have it. Records without the field are left out.",
        &[
            r#"array::group_by([{"k": "a", "n": 1}, {"k": "b"}, {"k": "a"}], "k") == {"a": [{"k": "a", "n": 1}, {"k": "a"}], "b": [{"k": "b"}]}"#,
        ],
        group_by,
    ),
    pure(
        "std::array::sort_by",
        &[("array", Array), ("key", Any)],
        Array,
        "The records of an array in ascending order of their field `key`; those without it come \
         last. Equal ones keep their order.",
        &[r#"array::sort_by([{"n": 2}, {}, {"n": 1}], "n") == [{"n": 1}, {"n": 2}, {}]"#],
        sort_by,
    ),
    pure(
        "std::array::pluck",
        &[("array", Array), ("key", Any)],
        Array,
        "The field `key` of each record of an array; `null` where there is none.",
        &[r#"array::pluck([{"a": 1}, {}], "a") == [1, null]"#],
        |call, arguments| {
            let items = items(call, arguments, 0)?;
            let key = key(arguments)?;
            Ok(call.arena.array(items.iter().map(|item| item.get(&key).unwrap_or(Value::Null))))
        },
    ),
    pure(
        "std::array::difference",
        &[("left", Array), ("right", Array)],
        Array,
        "The elements of `left` that are equal to none of `right`.",
        &["array::difference([1, 2, 3], [2]) == [1, 3]"],
        |call, arguments| {
            let (left, right) = (items(call, arguments, 0)?, items(call, arguments, 1)?);
            Ok(call.arena.array(members::parted(call.arena, left, right, false)?))
        },
    ),
    pure(
        "std::array::intersection",
        &[("left", Array), ("right", Array)],
        Array,
        "The elements of `left` that are equal to some element of `right`.",
        &["array::intersection([1, 2, 3], [3, 2]) == [2, 3]"],
        |call, arguments| {
            let (left, right) = (items(call, arguments, 0)?, items(call, arguments, 1)?);
            Ok(call.arena.array(members::parted(call.arena, left, right, true)?))
        },
    ),
    pure(
        "std::record::zip",
        &[("keys", Array), ("values", Array)],
        Record,
        "A record of an array of names and an array of values, such as a line of a table and its \
         columns. Names beyond the last value get `null`; values beyond the last name are left \
         out.",
        &[r#"record::zip(["a", "b"], [1]) == {"a": 1, "b": null}"#],
        zip,
    ),
    pure(
        "std::record::compact",
        &[("record", Record)],
        Record,
        "The fields that are neither `null` nor an empty string, array or record.",
        &[r#"record::compact({"a": null, "b": "", "c": 0}) == {"c": 0}"#],
        |call, arguments| {
            let fields = record(call, arguments, 0)?;
            let mut result = call.arena.record_builder(fields.len());
            fields
                .iter()
                .filter(|(_, value)| !is_blank(*value))
                .for_each(|(key, value)| result.append(key, value));
            Ok(result.finish())
        },
    ),
    pure(
        "std::record::without",
        &[("record", Record), ("keys", Array)],
        Record,
        "The record without the fields that `keys` names.",
        &[r#"record::without({"a": 1, "b": 2}, ["a"]) == {"b": 2}"#],
        |call, arguments| {
            let (fields, keys) = (record(call, arguments, 0)?, items(call, arguments, 1)?);
            let mut left_out = vec![false; fields.len()];
            for at in keys.iter().filter_map(|key| fields.position(key.as_str()?)) {
                left_out[at] = true;
            }
            let mut result = call.arena.record_builder(fields.len());
            for (field, _) in fields.entries().iter().zip(left_out).filter(|(_, out)| !*out) {
                result.append_key(&field.name(), field.value);
            }
            Ok(result.finish())
        },
    ),
    optional(
        1,
        pure(
            "std::record::flatten",
            &[("record", Record), ("separator", Kind::String)],
            Record,
            "One record of all the fields within, named by their way there, joined by `.` or \
             `separator`. Arrays stay as they are.",
            &[r#"record::flatten({"a": {"b": 1, "c": {"d": 2}}}) == {"a.b": 1, "a.c.d": 2}"#],
            flatten,
        ),
    ),
];

/// A key for fields of records, hashed once.
fn key<'a>(arguments: &[Value<'a>]) -> Result<Key<'a>, CallError> {
    text(arguments, 1).map(Key::new)
}

fn is_blank(value: Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Str(text) => text.is_empty(),
        other => other.size() == Some(0),
    }
}

fn holds(items: &[Value<'_>], wanted: Value<'_>) -> bool {
    items.iter().any(|item| equal(*item, wanted))
}

fn unique<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    /// Up to this many elements, comparing each with each is faster than hashing.
    const PAIRWISE_MAX: usize = 16;
    if !call.arena.admits_walk(value(arguments, 0)) {
        return Ok(Value::Null);
    }
    let items = items(call, arguments, 0)?;
    let mut result = call.arena.array_builder(items.len());
    if items.len() <= PAIRWISE_MAX {
        for (at, item) in items.iter().enumerate() {
            if !holds(&items[..at], *item) {
                result.push(*item);
            }
        }
        return Ok(result.finish());
    }
    let mut seen: HashMap<u128, ()> = HashMap::with_capacity(items.len());
    for item in items {
        if seen.insert(hash128(*item), ()).is_none() {
            result.push(*item);
        }
    }
    Ok(result.finish())
}

fn sum<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let items = items(call, arguments, 0)?;
    if items.iter().any(|item| matches!(item, Value::Float(_))) {
        return total(items).map(Value::Float);
    }
    let mut total: i128 = 0;
    for item in items {
        total += match item {
            Value::Int(number) => i128::from(*number),
            Value::UInt(number) => i128::from(*number),
            other => return Err(no_number(*other)),
        };
    }
    u64::try_from(total)
        .map(Value::UInt)
        .or_else(|_| i64::try_from(total).map(Value::Int))
        .map_err(|_| CallError::failed("the sum leaves the range of integers"))
}

fn total(items: &[Value<'_>]) -> Result<f64, CallError> {
    items.iter().try_fold(0.0, |total, item| {
        item.as_f64().map(|number| total + number).ok_or_else(|| no_number(*item))
    })
}

#[cold]
fn no_number(value: Value<'_>) -> CallError {
    CallError::failed(format!(
        "the array holds something that is no number: {}",
        value.kind().name()
    ))
}

fn slice<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let items = items(call, arguments, 0)?;
    let place = |at: usize| -> Result<usize, CallError> {
        let Some(given) = arguments.get(at) else { return Ok(items.len()) };
        let position = given.as_i64().ok_or(CallError::BadType)?;
        let distance = usize::try_from(position.unsigned_abs()).unwrap_or(usize::MAX);
        let at = if position < 0 { items.len().saturating_sub(distance) } else { distance };
        Ok(at.min(items.len()))
    };
    let (start, end) = (place(1)?, place(2)?);
    Ok(Value::Array(items.get(start..end).unwrap_or_default()))
}

fn group_by<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let items = items(call, arguments, 0)?;
    let key = key(arguments)?;
    let mut places: HashMap<&'a str, usize> = HashMap::new();
    let mut groups: Vec<(&'a str, ArrayBuilder<'a>)> = Vec::new();
    for item in items {
        let Some(value) = item.get(&key) else { continue };
        let name = plain_text(call.arena, value);
        let at = *places.entry(name).or_insert(groups.len());
        if at == groups.len() {
            groups.push((name, call.arena.array_builder(1)));
        }
        groups[at].1.push(*item);
    }
    let mut result = call.arena.record_builder(groups.len());
    groups.into_iter().for_each(|(name, group)| result.append(name, group.finish()));
    Ok(result.finish())
}

fn sort_by<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let key = key(arguments)?;
    if !call.arena.admits_walk(value(arguments, 0)) {
        return Ok(Value::Null);
    }
    let mut sorted: Vec<_> =
        items(call, arguments, 0)?.iter().map(|item| (item.get(&key), *item)).collect();
    sorted.sort_by(|(left, _), (right, _)| match (left, right) {
        (Some(left), Some(right)) => total_order(*left, *right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
    Ok(call.arena.array(sorted.into_iter().map(|(_, item)| item)))
}

fn zip<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (keys, values) = (items(call, arguments, 0)?, items(call, arguments, 1)?);
    let mut result = call.arena.record_builder(keys.len());
    for (at, key) in keys.iter().enumerate() {
        let Some(key) = key.as_str() else {
            return Err(CallError::failed("the names of fields are strings"));
        };
        result.insert(key, value(values, at));
    }
    Ok(result.finish())
}

fn flatten<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let separator = text_or(arguments, 1, ".")?;
    let mut result = call.arena.record_builder(8);
    let mut prefix = std::string::String::new();
    flatten_into(call, (&mut prefix, separator), record(call, arguments, 0)?, &mut result);
    Ok(result.finish())
}

fn flatten_into<'a>(
    call: &Call<'a>,
    (prefix, separator): (&mut std::string::String, &str),
    record: &'a temblor_lang::value::Record<'a>,
    result: &mut RecordBuilder<'a>,
) {
    for (key, value) in record.iter() {
        if call.arena.is_spent() {
            return;
        }
        let length = prefix.len();
        if !prefix.is_empty() {
            prefix.push_str(separator);
        }
        match value.as_record(call.arena) {
            Some(inner) if !inner.is_empty() => {
                prefix.push_str(key);
                deeper(|| flatten_into(call, (prefix, separator), inner, result));
            }
            _ if length == 0 => result.insert(key, value),
            _ => result.insert(call.arena.concat(prefix, key), value),
        }
        prefix.truncate(length);
    }
}
