//! `std::range`: arrays of consecutive integers. Their length is bounded by [`LENGTH_MAX`].

use crate::declare::{Outcome, items, pure, value};
use std::cmp::Ordering;
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Bool, Integer};
use temblor_lang::value::{Value, order};

/// The largest number of elements that `range::range` makes (half a gigabyte of values).
const LENGTH_MAX: u64 = 1 << 24;

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::range::range",
        &[("start", Integer), ("finish", Integer)],
        Array,
        "The integers from `start` up to, not including, `finish`; none when `start` is not \
         below `finish`. At most 16,777,216 of them.",
        &["range::range(1, 4) == [1, 2, 3]", "range::range(2, 2) == []"],
        range,
    ),
    pure(
        "std::range::contains",
        &[("range", Array), ("number", Any)],
        Bool,
        "Whether `number` is not below the first and not above the last element of `range`.",
        &["range::contains(range::range(1, 4), 3)", "not range::contains([], 1)"],
        contains,
    ),
];

fn range<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (first, last) = (value(arguments, 0), value(arguments, 1));
    if let (Some(start), Some(end)) = (first.as_u64(), last.as_u64()) {
        check_length(end.saturating_sub(start))?;
        return Ok(call.arena.array((start..end).map(Value::UInt)));
    }
    if let (Some(start), Some(end)) = (first.as_i64(), last.as_i64()) {
        check_length(if start < end { end.abs_diff(start) } else { 0 })?;
        return Ok(call.arena.array((start..end).map(Value::Int)));
    }
    Err(CallError::BadType)
}

fn check_length(length: u64) -> Result<(), CallError> {
    if length > LENGTH_MAX {
        return Err(CallError::failed(format!(
            "a range has at most {LENGTH_MAX} elements, not {length}"
        )));
    }
    Ok(())
}

fn contains<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (range, number) = (items(call, arguments, 0)?, value(arguments, 1));
    let [first, .., last] = range else {
        return match range {
            [only] => Ok(Value::Bool(compare(*only, number)? == Some(Ordering::Equal))),
            _ => Ok(Value::Bool(false)),
        };
    };
    let above = matches!(compare(*first, number)?, Some(Ordering::Less | Ordering::Equal));
    Ok(Value::Bool(
        above && matches!(compare(number, *last)?, Some(Ordering::Less | Ordering::Equal)),
    ))
}

fn compare(left: Value<'_>, right: Value<'_>) -> Result<Option<Ordering>, CallError> {
    order(left, right).map_err(|_| {
        CallError::failed(format!(
            "{} and {} have no order",
            left.kind().name(),
            right.kind().name()
        ))
    })
}
