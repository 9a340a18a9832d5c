//! Named constructors of run-time errors. Codes `E04xx` are used here and nowhere else.

use crate::builtin::{CallError, Function};
use crate::diagnostic::nearest;
use crate::error::EvalError;
use crate::span::Span;
use crate::value::{Arena, EVENT_BYTES_MAX, EVENT_STEPS_MAX, Excess, Kind, Value, to_json};

/// Values longer than this are cut in messages.
const SHOWN_CHARS_MAX: usize = 80;

/// The value as it is shown in a message.
fn shown(value: Value<'_>) -> String {
    /// Values that take more than this to write are not written for their first letters.
    const SHOWN_BYTES_MAX: usize = 1 << 20;
    if !Arena::limited(SHOWN_BYTES_MAX, SHOWN_BYTES_MAX).admits_copy(value) {
        return format!("a large {}", value.kind().name());
    }
    let text = to_json(value);
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cold]
pub(crate) fn missing_key(noun: &str, key: &str, container: Value<'_>, span: Span) -> EvalError {
    let error = EvalError::new("E0401", format!("non existing {noun} key `{key}`")).at(span);
    let near = match container {
        Value::Record(record) => nearest(key, record.iter().map(|(key, _)| key)),
        Value::Lazy(lazy) => nearest(key, lazy.raw_fields().map(|(key, _)| key)),
        Value::Edited(edited) => nearest(key, edited.fields().map(|(key, _)| key)),
        _ => None,
    };
    match near {
        Some(name) => error.with_help(format!("did you mean `{name}`?")),
        None => error.with_help("test with `present`, or give a default with `??`"),
    }
}

#[cold]
pub(crate) fn missing_local(name: &str, span: Span) -> EvalError {
    EvalError::new("E0402", format!("non existing local `{name}`"))
        .at(span)
        .with_help("it has no value here: assign it with `let` on every way to this place")
}

#[cold]
pub(crate) fn conflicting_type(got: Kind, expected: &str, span: Span) -> EvalError {
    EvalError::new(
        "E0403",
        format!("conflicting types, got {} but expected {expected}", got.name()),
    )
    .at(span)
}

#[cold]
pub(crate) fn index_out_of_bounds(index: usize, length: usize, span: Span) -> EvalError {
    EvalError::new("E0404", format!("index {index} out of bounds, the array has {length} elements"))
        .at(span)
}

#[cold]
pub(crate) fn bad_index(value: Value<'_>, span: Span) -> EvalError {
    EvalError::new("E0405", format!("bad array index {}", shown(value)))
        .at(span)
        .with_help("an index is a whole number from 0")
}

#[cold]
pub(crate) fn bad_range(start: usize, end: usize, length: usize, span: Span) -> EvalError {
    let message = if end < start {
        format!("range {start}:{end} is reversed")
    } else {
        format!("range {start}:{end} is out of bounds, the array has {length} elements")
    };
    EvalError::new("E0406", message).at(span)
}

#[cold]
pub(crate) fn not_assignable(what: &str, span: Span) -> EvalError {
    EvalError::new("E0407", format!("can't assign to {what}"))
        .at(span)
        .with_help("assign to a local, `event`, `state` or a key of `$`")
}

#[cold]
pub(crate) fn assign_to_array(span: Span) -> EvalError {
    EvalError::new("E0408", "it is not supported to assign a value into an array")
        .at(span)
        .with_help("build a new array: `let a = a[0:2] + [value]`")
}

#[cold]
pub(crate) fn no_clause(target: Value<'_>, span: Span) -> EvalError {
    EvalError::new("E0409", format!("no clause matched {}", shown(target)))
        .at(span)
        .with_help("add a last arm `case _ => …`")
}

#[cold]
pub(crate) fn key_exists(key: &str, span: Span) -> EvalError {
    EvalError::new("E0410", format!("the key `{key}` exists already"))
        .at(span)
        .with_help("use `upsert` to set it in any case")
}

#[cold]
pub(crate) fn update_missing(key: &str, span: Span) -> EvalError {
    EvalError::new("E0411", format!("the key `{key}` that is to be updated does not exist"))
        .at(span)
        .with_help("use `upsert` to set it in any case")
}

#[cold]
pub(crate) fn bad_fold(op: &str, kind: Kind, span: Span) -> EvalError {
    EvalError::new("E0412", format!("invalid fold operation `{op}` into {}", kind.name())).at(span)
}

#[cold]
pub(super) fn binary(op: &str, left: Kind, right: Kind, span: Span) -> EvalError {
    let error = EvalError::new(
        "E0413",
        format!("the operation `{op}` is not defined for {} and {}", left.name(), right.name()),
    )
    .at(span);
    if op == "+" && (left == Kind::String || right == Kind::String) {
        return error.with_help("there is no implicit conversion: interpolate, `\"#{value}\"`");
    }
    error
}

#[cold]
pub(crate) fn unary(op: &str, kind: Kind, span: Span) -> EvalError {
    EvalError::new("E0414", format!("the operation `{op}` is not defined for {}", kind.name()))
        .at(span)
}

#[cold]
pub(super) fn overflow(op: &str, left: Value<'_>, right: Value<'_>, span: Span) -> EvalError {
    EvalError::new(
        "E0415",
        format!("`{} {op} {}` caused an over- or underflow", shown(left), shown(right)),
    )
    .at(span)
}

#[cold]
pub(crate) fn zero_divisor(op: &str, span: Span) -> EvalError {
    EvalError::new("E0416", format!("`{op}` must have a non zero right-hand side")).at(span)
}

#[cold]
pub(crate) fn bad_shift(span: Span) -> EvalError {
    EvalError::new("E0417", "a shift must be by 0 to 63 bits").at(span)
}

#[cold]
pub(super) fn call(
    function: &Function,
    error: &CallError,
    arguments: &[Value<'_>],
    span: Span,
) -> EvalError {
    let kinds: Vec<_> = arguments.iter().map(|argument| argument.kind().name()).collect();
    let wanted: Vec<_> =
        function.params.iter().map(|(name, kind)| format!("{name}: {}", kind.name())).collect();
    let name = function.path.strip_prefix("std::").unwrap_or(function.path);
    let signature = format!("{name}({})", wanted.join(", "));
    match error {
        CallError::BadType => EvalError::new(
            "E0418",
            format!(
                "bad type passed to function {name}/{}: ({})",
                arguments.len(),
                kinds.join(", ")
            ),
        )
        .with_help(format!("it takes {signature}")),
        CallError::BadArity => EvalError::new(
            "E0419",
            format!("bad arity: {name} called with {} arguments", arguments.len()),
        )
        .with_help(format!("it takes {signature}")),
        CallError::Failed(reason) => EvalError::new("E0420", format!("{name}: {reason}")),
    }
    .at(span)
}

#[cold]
pub(super) fn spent(excess: Option<Excess>, span: Span) -> EvalError {
    used_up(excess).at(span)
}

pub(super) fn used_up(excess: Option<Excess>) -> EvalError {
    match excess {
        Some(Excess::Bytes) | None => EvalError::new(
            "E0442",
            format!(
                "the program needs more than {} MiB of memory for this event",
                EVENT_BYTES_MAX >> 20
            ),
        )
        .with_help("look for a value that holds itself twice again and again, or keep less of it"),
        Some(Excess::Steps) => EvalError::new(
            "E0443",
            format!(
                "the program takes more than {} million steps for this event",
                EVENT_STEPS_MAX / 1_000_000
            ),
        )
        .with_help(
            "look for a loop within a loop over all of a long value, or for a costly pattern",
        ),
    }
}

#[cold]
pub(crate) fn recursion_limit(limit: usize, span: Span) -> EvalError {
    EvalError::new("E0421", format!("recursion limit reached ({limit})")).at(span)
}

#[cold]
pub(crate) fn not_an_integer(signed: bool, value: Value<'_>, span: Span) -> EvalError {
    let kind = if signed { "a signed" } else { "an unsigned" };
    EvalError::new("E0422", format!("not {kind} integer: {}", shown(value))).at(span)
}

#[cold]
pub(crate) fn too_few_bytes(wanted: u32, got: usize, span: Span) -> EvalError {
    EvalError::new("E0423", format!("binary too short: {wanted} bytes wanted, {got} there"))
        .at(span)
}

#[cold]
pub(crate) fn not_bool(value: Value<'_>, what: &str, span: Span) -> EvalError {
    EvalError::new("E0424", format!("{what} must be a bool, got {}", value.kind().name())).at(span)
}

#[cold]
pub(crate) fn not_bool_here(value: Value<'_>, what: &str) -> EvalError {
    EvalError::new("E0424", format!("{what} must be a bool, got {}", value.kind().name()))
}
