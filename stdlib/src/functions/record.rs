//! `std::record` as tremor has it. Results keep the order in which fields came.

use crate::declare::{
    Outcome, adding, integer, items, json_text, pure, record, text, value, warned,
};
use temblor_lang::builtin::{Addition, Call, CallError, Function};
use temblor_lang::value::Kind::{Array, Bool, Integer, Record, String};
use temblor_lang::value::{JsonStyle, Value};

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::record::len",
        &[("record", Record)],
        Integer,
        "The number of fields.",
        &[r#"record::len({"a": 1, "b": 2}) == 2"#],
        |_, arguments| value(arguments, 0).size().map(integer).ok_or(CallError::BadType),
    ),
    pure(
        "std::record::is_empty",
        &[("record", Record)],
        Bool,
        "Whether the record has no field.",
        &["record::is_empty({})"],
        |_, arguments| {
            value(arguments, 0).size().map(|size| Value::Bool(size == 0)).ok_or(CallError::BadType)
        },
    ),
    warned(
        "`record::contains(r, k)` can be written `present r[k]`, which is faster",
        pure(
            "std::record::contains",
            &[("record", Record), ("key", String)],
            Bool,
            "Whether there is a field named `key`, whatever its value.",
            &[r#"record::contains({"a": null}, "a")"#],
            |call, arguments| {
                let found = record(call, arguments, 0)?.get(text(arguments, 1)?).is_some();
                Ok(Value::Bool(found))
            },
        ),
    ),
    pure(
        "std::record::keys",
        &[("record", Record)],
        Array,
        "The names of the fields.",
        &[r#"record::keys({"a": 1, "b": 2}) == ["a", "b"]"#],
        |call, arguments| {
            let record = record(call, arguments, 0)?;
            Ok(call.arena.array(record.iter().map(|(key, _)| Value::Str(key))))
        },
    ),
    pure(
        "std::record::values",
        &[("record", Record)],
        Array,
        "The values of the fields.",
        &[r#"record::values({"a": 1, "b": 2}) == [1, 2]"#],
        |call, arguments| {
            let record = record(call, arguments, 0)?;
            Ok(call.arena.array(record.iter().map(|(_, value)| value)))
        },
    ),
    pure(
        "std::record::to_array",
        &[("record", Record)],
        Array,
        "A pair of name and value for each field.",
        &[r#"record::to_array({"a": 1}) == [["a", 1]]"#],
        |call, arguments| {
            let fields = record(call, arguments, 0)?.iter();
            Ok(call.arena.array(fields.map(|(key, v)| call.arena.array([Value::Str(key), v]))))
        },
    ),
    pure(
        "std::record::from_array",
        &[("pairs", Array)],
        Record,
        "A record of pairs of name and value; of equal names the last counts.",
        &[r#"record::from_array([["a", 1], ["b", 2]]) == {"a": 1, "b": 2}"#],
        from_array,
    ),
    pure(
        "std::record::extract",
        &[("record", Record), ("keys", Array)],
        Record,
        "Only the fields that `keys` names. Names that are not there, and elements of `keys` \
         that are no strings, do not matter.",
        &[r#"record::extract({"a": 1, "b": 2}, ["b", "c", 3]) == {"b": 2}"#],
        extract,
    ),
    warned(
        "`record::combine(a, b)` can be written `merge a of b end`, which is faster",
        adding(
            Addition::Whole,
            pure(
                "std::record::combine",
                &[("left", Record), ("right", Record)],
                Record,
                "The fields of both records; where both have a field, the value of `right`.",
                &[r#"record::combine({"a": 1, "b": 1}, {"b": 2}) == {"a": 1, "b": 2}"#],
                |call, arguments| {
                    let (left, right) = (record(call, arguments, 0)?, record(call, arguments, 1)?);
                    let mut result = call.arena.record_builder(left.len() + right.len());
                    left.iter().chain(right.iter()).for_each(|(key, v)| result.insert(key, v));
                    Ok(result.finish())
                },
            ),
        ),
    ),
    pure(
        "std::record::rename",
        &[("record", Record), ("names", Record)],
        Record,
        "The record with its fields renamed: `names` gives the new name for each old one. New \
         names that are no strings do not matter.",
        &[r#"record::rename({"a": 1, "b": 2}, {"a": "x", "b": 3}) == {"x": 1, "b": 2}"#],
        |call, arguments| {
            let (fields, names) = (record(call, arguments, 0)?, record(call, arguments, 1)?);
            let mut result = call.arena.record_builder(fields.len());
            for (key, value) in fields.iter() {
                result.insert(names.get(key).and_then(Value::as_str).unwrap_or(key), value);
            }
            Ok(result.finish())
        },
    ),
];

fn from_array<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let pairs = items(call, arguments, 0)?;
    let mut result = call.arena.record_builder(pairs.len());
    for pair in pairs {
        let Some([Value::Str(key), value]) = pair.as_array(call.arena) else {
            return Err(CallError::failed(format!(
                "a record is made of pairs of a string and a value, not of {}",
                json_text(call.arena, *pair, JsonStyle::Compact)
            )));
        };
        result.insert(key, *value);
    }
    Ok(result.finish())
}

fn extract<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (fields, keys) = (record(call, arguments, 0)?, items(call, arguments, 1)?);
    let mut taken = vec![false; fields.len()];
    for key in keys {
        if let Value::Str(key) = key
            && let Some(at) = fields.position(key)
        {
            taken[at] = true;
        }
    }
    let mut result = call.arena.record_builder(keys.len().min(fields.len()));
    for (field, _) in fields.entries().iter().zip(taken).filter(|(_, taken)| *taken) {
        result.append_key(&field.name(), field.value);
    }
    Ok(result.finish())
}
