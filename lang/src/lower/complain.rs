//! Named constructors of compile-time diagnostics. Codes `E03xx` and `W06xx` are used here and
//! nowhere else.

use super::fold::{FOLDED_BYTES_MAX, FOLDED_STEPS_MAX};
use crate::diagnostic::{Class, Diagnostic, nearest};
use crate::error::EvalError;
use crate::span::Span;
use crate::value::Excess;

pub(crate) fn not_constant(span: Span) -> Diagnostic {
    Diagnostic::error("E0301", span, "this expression isn't constant").with_help(
        "literals, operators, constants and calls of pure functions are; match, for, patch, merge, \
         event and args of others are not",
    )
}

/// An error of evaluation that is certain, since all operands are known.
pub(crate) fn folding(error: &EvalError, span: Span) -> Diagnostic {
    let place = error.span().unwrap_or(span);
    let diagnostic = Diagnostic::error(error.code(), place, error.message());
    match error.help() {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

/// The constants take more than they may.
#[cold]
pub(crate) fn folded_too_much(excess: Excess, span: Span) -> EvalError {
    let what = match excess {
        Excess::Bytes => format!("{} MiB of memory", FOLDED_BYTES_MAX >> 20),
        Excess::Steps => format!("{} million steps", FOLDED_STEPS_MAX / 1_000_000),
    };
    EvalError::new("E0444", format!("the constants of the program take more than {what}"))
        .at(span)
        .with_help(
            "look for one that holds another twice again and again, or compute it in the run",
        )
}

pub(super) fn duplicate(what: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0302", span, format!("the {what} `{name}` is defined already"))
        .with_help("give one of them another name")
}

pub(crate) fn unknown_table<'n>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    let complaint = Diagnostic::error("E0327", span, format!("there is no lookup table `{name}`"));
    let complaint = complaint.with_nearest(name, known);
    match complaint.help {
        Some(_) => complaint,
        None => complaint.with_help(format!("declare it: table {name} from file \"{name}.csv\"")),
    }
}

pub(crate) fn undefined_function<'n>(
    path: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0303", span, format!("undefined function `{path}`"))
        .with_nearest(path, known)
}

/// A function or aggregate by its last name alone.
pub(crate) fn function_without_module(name: &str, path: &str, span: Span) -> Diagnostic {
    let path = path.strip_prefix("std::").unwrap_or(path);
    Diagnostic::error("E0303", span, format!("undefined function `{name}`"))
        .with_help(format!("did you mean `{path}`?"))
}

pub(crate) fn undefined_constant<'n>(
    path: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0304", span, format!("undefined constant `{path}`"))
        .with_nearest(path, known)
}

pub(crate) fn unknown_variable(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0330", span, format!("the environment has no variable `{name}`"))
        .with_help(format!("set it, or give a default: `env::{name} ?? \"…\"`"))
}

pub(crate) fn module_not_found<'n>(
    path: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0305", span, format!("module `{path}` not found")).with_nearest(path, known)
}

pub(crate) fn module_not_used<'n>(
    name: &str,
    span: Span,
    used: impl IntoIterator<Item = &'n str>,
    library: &[&'n str],
) -> Diagnostic {
    let complaint = Diagnostic::error("E0306", span, format!("module `{name}` is not in use here"));
    let full = format!("std::{name}");
    if library.contains(&full.as_str()) {
        return complaint.with_help(format!("add `use {full};` in front"));
    }
    let short = library.iter().filter_map(|path| path.strip_prefix("std::"));
    match nearest(name, used.into_iter().chain(short)) {
        Some(near) => complaint.with_help(format!("did you mean `{near}`?")),
        None => complaint
            .with_help(format!("add a `use` of the module that is to be called `{name}` in front")),
    }
}

pub(crate) fn cyclic_module(cycle: &[String], span: Span) -> Diagnostic {
    Diagnostic::error("E0307", span, format!("modules use each other: {}", cycle.join(" -> ")))
}

pub(crate) fn modules_too_deep(limit: usize, span: Span) -> Diagnostic {
    Diagnostic::error("E0308", span, format!("more than {limit} modules use each other in a row"))
}

pub(crate) fn bad_arity(
    name: &str,
    got: usize,
    least: usize,
    most: Option<usize>,
    span: Span,
) -> Diagnostic {
    let wanted = match most {
        Some(most) if most == least => least.to_string(),
        Some(most) => format!("{least} to {most}"),
        None => format!("at least {least}"),
    };
    let noun = if wanted == "1" { "argument" } else { "arguments" };
    let are = if got == 1 { "is" } else { "are" };
    Diagnostic::error("E0309", span, format!("{name} takes {wanted} {noun}, {got} {are} given"))
}

pub(crate) fn nested_binding(span: Span) -> Diagnostic {
    Diagnostic::error("E0310", span, "a binding cannot stand directly inside a binding")
        .with_help("bind once and assign the second name with `let`")
}

pub(crate) fn bad_extractor(reason: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0311", span, format!("invalid tilde predicate pattern: {reason}"))
}

pub(crate) fn unknown_extractor<'n>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0312", span, format!("unknown extractor `{name}`"))
        .with_nearest(name, known)
}

pub(crate) fn recur_not_in_tail(span: Span) -> Diagnostic {
    Diagnostic::error("E0313", span, "recur is not in tail position")
        .with_help("it must be the last expression of the function, or of an arm of its last match")
}

pub(crate) fn emit_in_function(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0314", span, format!("`{what}` is not possible here"))
        .with_help("functions and conditions give a value; emit and drop in the script itself")
}

pub(crate) fn aggregate_in_aggregate(span: Span) -> Diagnostic {
    Diagnostic::error("E0315", span, "an aggregate cannot be called inside an aggregate")
}

pub(crate) fn aggregate_without_window(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0316", span, format!("the aggregate `{name}` can only be called in the target or `having` of a select with a window"))
        .with_help("add a window: `from in[window]`")
}

pub(crate) fn local_in_select(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0317", span, format!("local variables are not allowed here: `{name}`"))
        .with_help("read from `event`, `$`, `args`, `group` or a constant")
}

pub(crate) fn event_not_allowed(span: Span) -> Diagnostic {
    Diagnostic::error("E0318", span, "references to `event` or `$` are not allowed in this context")
        .with_help("put it into an aggregate, such as `aggr::win::last(event)`, or into `group by`")
}

pub(crate) fn event_assignment(span: Span) -> Diagnostic {
    Diagnostic::error("E0319", span, "`event` and `$` cannot be assigned here")
}

pub(crate) fn bad_segment(kind: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0322",
        span,
        format!("conflicting types, got {kind} but expected string or integer"),
    )
}

pub(crate) fn bad_bound(kind: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0325", span, format!("the bound of a range cannot be this {kind}"))
        .with_help("a bound is a whole number from 0")
}

pub(crate) fn reversed_range(start: usize, end: usize, span: Span) -> Diagnostic {
    Diagnostic::error("E0326", span, format!("the range {start}:{end} is reversed"))
        .with_help(format!("write {end}:{start}; the second bound is not taken itself"))
}

pub(crate) fn recur_outside(span: Span) -> Diagnostic {
    Diagnostic::error("E0323", span, "recur is only possible in a function")
}

pub(crate) fn unexpected_definition(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0324", span, format!("{what} cannot stand here"))
}

pub(crate) fn lower_case_constant(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0601",
        Class::Consistency,
        span,
        format!("constants are UPPER_CASE, `{name}` is not"),
    )
}

pub(crate) fn no_default(span: Span) -> Diagnostic {
    Diagnostic::warning("W0602", Class::Behaviour, span, "this match has no default arm")
        .with_help("add `case _ => …` so that no event fails here")
}

pub(crate) fn unreachable_arm(span: Span, default: Span) -> Diagnostic {
    Diagnostic::warning("W0603", Class::Behaviour, span, "this arm is never reached")
        .with_place(default, "this one takes everything")
}

pub(crate) fn repeated_arm(span: Span, earlier: Span) -> Diagnostic {
    Diagnostic::warning("W0603", Class::Behaviour, span, "this arm is never reached")
        .with_place(earlier, "this one takes the same")
}

pub(crate) fn redundant_field(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0604",
        Class::Behaviour,
        span,
        format!("`{name}` is asked for twice; the later result overwrites the earlier"),
    )
}

pub(crate) fn contradictory_field(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0605",
        Class::Behaviour,
        span,
        format!("`{name}` must be absent and is tested as well: this can never match"),
    )
}

pub(super) fn slow(what: &str, advice: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("W0606", Class::Performance, span, format!("`{what}` is slow"))
        .with_help(advice)
}

pub(crate) fn experimental_fold(span: Span) -> Diagnostic {
    Diagnostic::warning("W0607", Class::General, span, "`use` in a comprehension is experimental")
}

pub(crate) fn unused_value(span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0608",
        Class::Behaviour,
        span,
        "the value is not used, so the expression is never evaluated",
    )
    .with_help("assign it with `let`, or remove it")
}

pub(crate) fn user_arity(name: &str, got: usize, wanted: usize, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0609",
        Class::Behaviour,
        span,
        format!("`{name}` has {wanted} parameters, {got} arguments are given"),
    )
}

pub(crate) fn case_arity(got: usize, wanted: usize, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0613",
        Class::Behaviour,
        span,
        format!("the function has {wanted} parameters, this case {got} patterns: it never matches"),
    )
}

pub(crate) fn last_is_assignment(span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0611",
        Class::Behaviour,
        span,
        "the assigned value becomes the event, since this is the end of the script",
    )
    .with_help("end the script with `event` if that is not meant")
}

pub(crate) fn unknown_local(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0612",
        Class::Behaviour,
        span,
        format!("nothing assigns `{name}`: this fails when it is run"),
    )
}

pub(crate) fn unwritten<'n>(
    place: &str,
    field: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    let message = format!("nothing writes `{place}`");
    let complaint = Diagnostic::warning("W0622", Class::Behaviour, span, message);
    match nearest(field, known) {
        Some(name) => complaint.with_help(format!("did you mean `{name}`?")),
        None => complaint.with_help("it is never there; assign it with `let`, or leave it out"),
    }
}

pub(crate) fn hidden_binding(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0614",
        Class::Behaviour,
        span,
        format!("`{name}` stands for the constant, not for what is bound here"),
    )
    .with_help("give the binding another name")
}

pub(crate) fn unread_binding(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0615",
        Class::General,
        span,
        format!("nothing reads the binding `{name}`"),
    )
    .with_help("leave it out: patterns need no name")
}

pub(crate) fn unread_local(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("W0616", Class::General, span, format!("nothing reads the local `{name}`"))
        .with_help(format!("leave it out; a field of the event is written `event.{name}`"))
}

pub(crate) fn never_equal(left: &str, right: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0617",
        Class::Behaviour,
        span,
        format!("this {left} and this {right} are never equal"),
    )
}

pub(crate) fn never_matches(kind: &str, pattern: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0617",
        Class::Behaviour,
        span,
        format!("{} never matches {pattern}", with_article(kind)),
    )
}

pub(crate) fn never_bool(kind: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0618",
        Class::Behaviour,
        span,
        format!("this condition is always {}: it fails when it is reached", with_article(kind)),
    )
}

pub(crate) fn wrong_kind(what: &str, kind: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "W0619",
        Class::Behaviour,
        span,
        format!("{what} cannot be {}: this fails when it is reached", with_article(kind)),
    )
}

pub(crate) fn never_reached(span: Span, leaving: Span) -> Diagnostic {
    Diagnostic::warning("W0621", Class::Behaviour, span, "this is never reached")
        .with_place(leaving, "the script ends here")
}

pub(crate) fn loose_default(op: &str, span: Span) -> Diagnostic {
    let message = format!("`??` binds less than `{op}`: all of this is the default");
    Diagnostic::warning("W0630", Class::Behaviour, span, message).with_help(format!(
        "write `(a ?? b) {op} c`, or put the default in brackets if it is meant so"
    ))
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" | "bytes" => kind.to_string(),
        "integer" | "array" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}
