//! The declarations of built-in functions and aggregates as text: `string::split(text: string, …) -> array`.
//!
//! Invariant: each parameter is found again at the bytes that are given with the text.

use std::fmt::Write;
use temblor_lang::builtin::{Aggregate, Arity, Function};
use temblor_lang::value::Kind;

/// `string::split(text: string, separator: string) -> array`, and the bytes at which each parameter begins and ends.
#[must_use]
pub(crate) fn signature(function: &Function) -> (String, Vec<(usize, usize)>) {
    let path = function.path.strip_prefix("std::").unwrap_or(function.path);
    declaration(path, (function.params, function.arity), function.returns)
}

/// As [`signature`], for an aggregate.
#[must_use]
pub(crate) fn aggregate_signature(aggregate: &Aggregate) -> (String, Vec<(usize, usize)>) {
    declaration(aggregate.path, (aggregate.params, aggregate.arity), aggregate.returns)
}

fn declaration(
    path: &str,
    (params, arity): (&[(&str, Kind)], Arity),
    returns: Kind,
) -> (String, Vec<(usize, usize)>) {
    let mut text = format!("{path}(");
    let mut places = Vec::new();
    let optional_from = match arity {
        Arity::Optional(count) => params.len() - count,
        _ => params.len(),
    };
    for (at, (name, kind)) in params.iter().enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        let start = text.len();
        let _ = write!(text, "{name}: {}", kind.name());
        if at >= optional_from {
            text.push('?');
        }
        if arity == Arity::Variadic && at + 1 == params.len() {
            text.push_str(" …");
        }
        places.push((start, text.len()));
    }
    let _ = write!(text, ") -> {}", returns.name());
    (text, places)
}
