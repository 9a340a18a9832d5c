//! The short way to declare a function, and the reading of its arguments. Reading never panics:
//! an argument of another kind than declared is [`CallError::BadType`].

use std::cell::RefCell;
use temblor_lang::builtin::{Addition, Arity, Call, CallError, Function, FunctionCode, Purity};
use temblor_lang::value::{
    Arena, JsonStyle, Kind, Record, TextBuilder, Value, push_json, push_text,
};

/// What the code of a function gives back.
pub(crate) type Outcome<'a> = Result<Value<'a>, CallError>;

/// Name and kind of each parameter.
pub(crate) type Params = &'static [(&'static str, Kind)];

/// A function whose result depends on its arguments alone.
pub(crate) const fn pure(
    path: &'static str,
    params: Params,
    returns: Kind,
    doc: &'static str,
    examples: &'static [&'static str],
    call: FunctionCode,
) -> Function {
    let (arity, purity, addition) = (Arity::Exact, Purity::Pure, Addition::None);
    Function { path, params, arity, returns, purity, addition, doc, examples, warning: None, call }
}

/// A function that depends on the event, on time or on chance.
pub(crate) const fn impure(
    path: &'static str,
    params: Params,
    returns: Kind,
    doc: &'static str,
    examples: &'static [&'static str],
    call: FunctionCode,
) -> Function {
    Function { purity: Purity::Impure, ..pure(path, params, returns, doc, examples, call) }
}

/// The same function with its last `count` parameters optional.
pub(crate) const fn optional(count: usize, function: Function) -> Function {
    Function { arity: Arity::Optional(count), ..function }
}

/// The same function with its last parameter repeatable.
pub(crate) const fn variadic(function: Function) -> Function {
    Function { arity: Arity::Variadic, ..function }
}

/// The same function, which does nothing but add to its first argument.
pub(crate) const fn adding(addition: Addition, function: Function) -> Function {
    Function { addition, ..function }
}

/// The same function with a performance warning for `check`.
pub(crate) const fn warned(warning: &'static str, function: Function) -> Function {
    Function { warning: Some(warning), ..function }
}

/// The argument at `at`, `null` when it was left out.
pub(crate) fn value<'a>(arguments: &[Value<'a>], at: usize) -> Value<'a> {
    arguments.get(at).copied().unwrap_or(Value::Null)
}

/// The string at `at`.
pub(crate) fn text<'a>(arguments: &[Value<'a>], at: usize) -> Result<&'a str, CallError> {
    value(arguments, at).as_str().ok_or(CallError::BadType)
}

/// The string at `at`, or `otherwise` when it was left out.
pub(crate) fn text_or<'a>(
    arguments: &[Value<'a>],
    at: usize,
    otherwise: &'a str,
) -> Result<&'a str, CallError> {
    if at < arguments.len() { text(arguments, at) } else { Ok(otherwise) }
}

/// The string or the bytes at `at`, as bytes.
pub(crate) fn octets<'a>(arguments: &[Value<'a>], at: usize) -> Result<&'a [u8], CallError> {
    value(arguments, at).as_bytes().ok_or(CallError::BadType)
}

/// The bytes at `at`; a string is not accepted.
pub(crate) fn bytes<'a>(arguments: &[Value<'a>], at: usize) -> Result<&'a [u8], CallError> {
    match value(arguments, at) {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(CallError::BadType),
    }
}

/// The elements of the array at `at`.
pub(crate) fn items<'a>(
    call: &Call<'a>,
    arguments: &[Value<'a>],
    at: usize,
) -> Result<&'a [Value<'a>], CallError> {
    value(arguments, at).as_array(call.arena).ok_or(CallError::BadType)
}

/// The record at `at`.
pub(crate) fn record<'a>(
    call: &Call<'a>,
    arguments: &[Value<'a>],
    at: usize,
) -> Result<&'a Record<'a>, CallError> {
    value(arguments, at).as_record(call.arena).ok_or(CallError::BadType)
}

/// The number at `at` as a float.
pub(crate) fn number(arguments: &[Value<'_>], at: usize) -> Result<f64, CallError> {
    value(arguments, at).as_f64().ok_or(CallError::BadType)
}

/// The integer at `at`, which must not be negative.
pub(crate) fn unsigned(arguments: &[Value<'_>], at: usize) -> Result<u64, CallError> {
    value(arguments, at).as_u64().ok_or(CallError::BadType)
}

/// The integer at `at`, within the signed range.
pub(crate) fn signed(arguments: &[Value<'_>], at: usize) -> Result<i64, CallError> {
    value(arguments, at).as_i64().ok_or(CallError::BadType)
}

/// The count or index at `at`.
pub(crate) fn count(arguments: &[Value<'_>], at: usize) -> Result<usize, CallError> {
    value(arguments, at).as_usize().ok_or(CallError::BadType)
}

/// A size as a value.
pub(crate) fn integer<'a>(size: usize) -> Value<'a> {
    Value::UInt(size as u64)
}

/// An empty text in the arena with room for `capacity` bytes.
pub(crate) fn text_in(arena: &Arena, capacity: usize) -> TextBuilder<'_> {
    arena.text_builder(capacity)
}

/// The finished text as a value.
pub(crate) fn finish(text: TextBuilder<'_>) -> Value<'_> {
    text.finish()
}

/// `value` as JSON text in the arena.
pub(crate) fn json_text<'a>(arena: &'a Arena, value: Value<'_>, style: JsonStyle) -> &'a str {
    if !arena.admits_copy(value) {
        return "";
    }
    written(arena, |out| push_json(out, value, style))
}

/// `value` as text in the arena: a string as it is, anything else as JSON.
pub(crate) fn plain_text<'a>(arena: &'a Arena, value: Value<'a>) -> &'a str {
    match value {
        Value::Str(text) => text,
        _ if !arena.admits_copy(value) => "",
        _ => written(arena, |out| push_text(out, value)),
    }
}

/// Copies into the arena what `write` puts into a buffer that is kept from call to call.
fn written(arena: &Arena, write: impl FnOnce(&mut Vec<u8>)) -> &str {
    thread_local! {
        static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    /// A buffer that one huge value has stretched beyond this is given back.
    const SCRATCH_BYTES_MAX: usize = 1 << 20;
    SCRATCH.with_borrow_mut(|buffer| {
        buffer.clear();
        write(buffer);
        let text = arena.str(std::str::from_utf8(buffer).expect("JSON output is UTF-8"));
        if buffer.capacity() > SCRATCH_BYTES_MAX {
            *buffer = Vec::new();
        }
        text
    })
}
