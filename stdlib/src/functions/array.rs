//! `std::array` as tremor has it. No function changes its argument: each builds a new array.

use crate::declare::{Outcome, adding, integer, items, pure, text, text_in, value, warned};
use crate::declare::{finish, json_text};
use std::fmt::Write;
use temblor_lang::builtin::{Addition, Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Bool, Integer, String};
use temblor_lang::value::{ArrayBuilder, JsonStyle, Value, deeper, total_order};

/// Floats nearer to each other than this many representable steps count as the same.
const FLOAT_STEPS_MAX: u64 = 4;

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::array::len",
        &[("array", Array)],
        Integer,
        "The number of elements.",
        &["array::len([1, 2, 3]) == 3", "array::len([]) == 0"],
        |_, arguments| value(arguments, 0).size().map(integer).ok_or(CallError::BadType),
    ),
    pure(
        "std::array::is_empty",
        &[("array", Array)],
        Bool,
        "Whether the array has no element.",
        &["array::is_empty([])", "not array::is_empty([null])"],
        |_, arguments| {
            value(arguments, 0).size().map(|size| Value::Bool(size == 0)).ok_or(CallError::BadType)
        },
    ),
    pure(
        "std::array::contains",
        &[("array", Array), ("element", Any)],
        Bool,
        "Whether some element is the same as `element`. The comparison is strict: an integer is \
         never the same as a float, a string never the same as bytes.",
        &[
            "array::contains([1, 2], 2)",
            "array::contains([2.0], 2) == false",
            r#"array::contains([{"a": 1}], {"a": 1})"#,
        ],
        contains,
    ),
    warned(
        "`array::push(a, v)` can be written `a + [v]`, which is faster",
        adding(
            Addition::Element,
            pure(
                "std::array::push",
                &[("array", Array), ("element", Any)],
                Array,
                "The array with `element` as its new last element.",
                &["array::push([1], 2) == [1, 2]"],
                |call, arguments| {
                    let array = items(call, arguments, 0)?;
                    let mut result = call.arena.array_builder(array.len() + 1);
                    result.extend(array);
                    result.push(value(arguments, 1));
                    Ok(result.finish())
                },
            ),
        ),
    ),
    warned(
        "`array::concatenate(a, b)` can be written `a + b`, which is faster",
        adding(
            Addition::Whole,
            pure(
                "std::array::concatenate",
                &[("left", Array), ("right", Array)],
                Array,
                "The elements of `left`, then those of `right`.",
                &["array::concatenate([1], [2, 3]) == [1, 2, 3]"],
                |call, arguments| {
                    let (left, right) = (items(call, arguments, 0)?, items(call, arguments, 1)?);
                    let mut result = call.arena.array_builder(left.len() + right.len());
                    result.extend(left);
                    result.extend(right);
                    Ok(result.finish())
                },
            ),
        ),
    ),
    pure(
        "std::array::zip",
        &[("left", Array), ("right", Array)],
        Array,
        "Pairs the elements of two arrays of the same length.",
        &[r#"array::zip(["a", "b"], [1, 2]) == [["a", 1], ["b", 2]]"#],
        zip,
    ),
    pure(
        "std::array::unzip",
        &[("array", Array)],
        Array,
        "Splits pairs into an array of the firsts and one of the seconds.",
        &[r#"array::unzip([["a", 1], ["b", 2]]) == [["a", "b"], [1, 2]]"#],
        unzip,
    ),
    pure(
        "std::array::flatten",
        &[("value", Any)],
        Array,
        "Opens arrays within arrays at every depth. A value that is no array gives an array of \
         just that value; records are not opened.",
        &["array::flatten([1, [2, [3, []]]]) == [1, 2, 3]", "array::flatten(1) == [1]"],
        |call, arguments| {
            let mut result = call.arena.array_builder(0);
            flatten_into(call, value(arguments, 0), &mut result);
            Ok(result.finish())
        },
    ),
    pure(
        "std::array::coalesce",
        &[("array", Array)],
        Array,
        "The elements that are not `null`.",
        &["array::coalesce([null, 1, null, false]) == [1, false]"],
        |call, arguments| {
            let kept = items(call, arguments, 0)?.iter().copied();
            Ok(call.arena.array(kept.filter(|item| !matches!(item, Value::Null))))
        },
    ),
    pure(
        "std::array::join",
        &[("array", Array), ("separator", String)],
        String,
        "The elements as text with `separator` between them. Numbers take their shortest form; \
         arrays and records within the array become JSON.",
        &[
            r#"array::join(["a", 1, 1.0, null, true], "-") == "a-1-1-null-true""#,
            r#"array::join([], ",") == """#,
        ],
        join,
    ),
    pure(
        "std::array::sort",
        &[("array", Array)],
        Array,
        "The elements in ascending order: records, arrays, strings, numbers, booleans, `null`.",
        &[
            "array::sort([3, 1, 2]) == [1, 2, 3]",
            r#"array::sort([null, true, 1, "a"]) == ["a", 1, true, null]"#,
        ],
        |call, arguments| {
            let items = items(call, arguments, 0)?;
            if !call.arena.admits_walk(Value::Array(items)) {
                return Ok(Value::Null);
            }
            let sorted = call.arena.values_mut(items);
            sorted.sort_by(|left, right| total_order(*left, *right));
            Ok(Value::Array(sorted))
        },
    ),
    pure(
        "std::array::reverse",
        &[("array", Array)],
        Array,
        "The elements from last to first.",
        &["array::reverse([1, 2, 3]) == [3, 2, 1]"],
        |call, arguments| Ok(call.arena.array(items(call, arguments, 0)?.iter().rev().copied())),
    ),
];

fn contains<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let wanted = value(arguments, 1);
    if !call.arena.admits_walk(value(arguments, 0)) || !call.arena.admits_walk(wanted) {
        return Ok(Value::Null);
    }
    let found = items(call, arguments, 0)?.iter().any(|item| is_same(call, *item, wanted));
    Ok(Value::Bool(found))
}

/// Strict equality: see `array::contains`.
pub(super) fn is_same<'a>(call: &Call<'a>, left: Value<'a>, right: Value<'a>) -> bool {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => is_same_float(left, right),
        (Value::Float(_), _) | (_, Value::Float(_)) => false,
        (Value::Str(_), Value::Bytes(_)) | (Value::Bytes(_), Value::Str(_)) => false,
        _ if left.size().is_some() => deeper(|| is_same_tree(call, left, right)),
        _ => left == right,
    }
}

fn is_same_tree<'a>(call: &Call<'a>, left: Value<'a>, right: Value<'a>) -> bool {
    if let (Some(left), Some(right)) = (left.as_array(call.arena), right.as_array(call.arena)) {
        return left.len() == right.len()
            && left.iter().zip(right).all(|(left, right)| is_same(call, *left, *right));
    }
    match (left.as_record(call.arena), right.as_record(call.arena)) {
        (Some(left), Some(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, item)| {
                    right.get(key).is_some_and(|other| is_same(call, item, other))
                })
        }
        _ => false,
    }
}

fn is_same_float(left: f64, right: f64) -> bool {
    let steps = left.to_bits().abs_diff(right.to_bits());
    left == right
        || (left - right).abs() <= f64::EPSILON
        || (left.is_sign_negative() == right.is_sign_negative()
            && left.is_finite()
            && right.is_finite()
            && steps <= FLOAT_STEPS_MAX)
}

fn zip<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (left, right) = (items(call, arguments, 0)?, items(call, arguments, 1)?);
    if left.len() != right.len() {
        return Err(CallError::failed(format!(
            "arrays to zip must be of one length, but they have {} and {} elements",
            left.len(),
            right.len()
        )));
    }
    let pairs = left.iter().zip(right);
    Ok(call.arena.array(pairs.map(|(left, right)| call.arena.array([*left, *right]))))
}

fn unzip<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let pairs = items(call, arguments, 0)?;
    let mut firsts = call.arena.array_builder(pairs.len());
    let mut seconds = call.arena.array_builder(pairs.len());
    for pair in pairs {
        let Some([first, second]) = pair.as_array(call.arena) else {
            return Err(CallError::failed(format!(
                "only arrays of two elements can be unzipped, not {}",
                json_text(call.arena, *pair, JsonStyle::Compact)
            )));
        };
        firsts.push(*first);
        seconds.push(*second);
    }
    Ok(call.arena.array([firsts.finish(), seconds.finish()]))
}

fn flatten_into<'a>(call: &Call<'a>, value: Value<'a>, result: &mut ArrayBuilder<'a>) {
    match value.as_array(call.arena) {
        Some(_) if call.arena.is_spent() => {}
        Some(items) => {
            call.arena.step(items.len());
            deeper(|| items.iter().for_each(|item| flatten_into(call, *item, result)));
        }
        None => result.push(value),
    }
}

fn join<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let separator = text(arguments, 1)?;
    let mut result = text_in(call.arena, 0);
    for (at, item) in items(call, arguments, 0)?.iter().enumerate() {
        if at > 0 {
            result.push_str(separator);
        }
        match item {
            Value::Str(text) => result.push_str(text),
            Value::Float(number) => {
                write!(result, "{number}").expect("writing into memory does not fail");
            }
            other => result.push_str(json_text(call.arena, *other, JsonStyle::Compact)),
        }
    }
    Ok(finish(result))
}
