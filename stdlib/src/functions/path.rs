//! `std::path`: reading by a path that is known only at run time. A path that leads nowhere gives
//! the default, never an error.

use crate::declare::{Outcome, pure, value};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::Any;
use temblor_lang::value::Value;

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[pure(
    "std::path::try_default",
    &[("base", Any), ("segments", Any), ("otherwise", Any)],
    Any,
    "What the path `segments`, an array of names and indexes, leads to from `base`, a record, an \
     array or `null`; `otherwise` when there is no such thing. Segments that are no name for a \
     record as first ones are skipped.",
    &[
        r#"path::try_default({"a": [1, 2]}, ["a", 1], 0) == 2"#,
        r#"path::try_default({"a": [1, 2]}, ["b"], 0) == 0"#,
        "path::try_default(null, [0], 9) == 9",
    ],
    try_default,
)];

fn try_default<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (base, otherwise) = (value(arguments, 0), value(arguments, 2));
    if matches!(base, Value::Null) {
        return Ok(otherwise);
    }
    if base.size().is_none() {
        return Err(CallError::failed("the base of a path is a record, an array or null"));
    }
    let Some(segments) = value(arguments, 1).as_array(call.arena) else {
        return Err(CallError::failed("the segments of a path are an array"));
    };
    let (mut reached, mut steps) = (base, 0);
    for segment in segments {
        let next = match (reached.as_record(call.arena), segment.as_str()) {
            (Some(record), Some(name)) => record.get(name),
            _ if reached.as_array(call.arena).is_some() => {
                segment.as_usize().and_then(|index| reached.at(index))
            }
            // Tremor steps over such a segment, and notices only when others have been taken.
            _ => continue,
        };
        match next {
            Some(next) => reached = next,
            None => return Ok(otherwise),
        }
        steps += 1;
    }
    let is_partial = steps > 0 && steps < segments.len();
    Ok(if is_partial { otherwise } else { reached })
}
