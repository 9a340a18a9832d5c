//! Named constructors of diagnostics about graphs. Codes `E05xx` are used in the engine only.

use temblor_lang::diagnostic::{Class, Diagnostic};
use temblor_lang::span::Span;

pub fn not_defined<'n>(
    what: &str,
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0501", span, format!("the {what} `{name}` is not defined"))
        .with_nearest(name, known)
}

pub fn stream_not_defined<'n>(
    name: &str,
    port: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    let message = format!("stream used in `from` or `into` is not defined: {name}/{port}");
    Diagnostic::error("E0502", span, message).with_nearest(name, known)
}

pub fn cycle(names: &[&str], span: Span) -> Diagnostic {
    Diagnostic::error("E0503", span, format!("the graph has a cycle: {}", names.join(" -> ")))
}

pub fn name_taken(what: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0504", span, format!("the name `{name}` is already in use, for a {what}"))
}

pub fn unknown_operator<'n>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0505", span, format!("unknown operator `{name}`")).with_nearest(name, known)
}

pub fn unknown_setting<'n>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0506", span, format!("unknown setting `{name}`")).with_nearest(name, known)
}

pub fn missing_setting(name: &str, doc: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0507", span, format!("the setting `{name}` is missing")).with_help(doc)
}

pub fn missing_argument(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0508", span, format!("missing required argument: {name}"))
        .with_help(format!("give it: `with {name} = … end`"))
}

pub fn unknown_argument<'n>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0509", span, format!("unknown argument: {name}")).with_nearest(name, known)
}

pub fn bad_setting(name: &str, expected: &str, got: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0510", span, format!("`{name}` must be {expected}, got {got}"))
}

pub fn bad_window(message: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0511", span, message.to_string())
}

pub fn window_kind<'n>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0523", span, format!("there is no kind of window `{name}`"))
        .with_nearest(name, known)
}

pub fn reserved_port(span: Span) -> Diagnostic {
    Diagnostic::error("E0512", span, "the port `in` is reserved for the unnamed script")
}

pub fn port_defined_already(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0513", span, format!("there is a script for the port `{name}` already"))
}

pub fn only_tick(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0514", span, format!("windows have scripts from `tick` only, not `{name}`"))
}

pub fn unknown_port<'n>(
    node: &str,
    port: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0515", span, format!("`{node}` has no port `{port}`"))
        .with_nearest(port, known)
}

pub fn nested_too_deep(limit: usize, span: Span) -> Diagnostic {
    Diagnostic::error("E0516", span, format!("more than {limit} pipelines are nested"))
}

pub fn unexpected_value(word: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0517", span, format!("`{word}` takes no further value here"))
}

pub fn not_a_path(span: Span) -> Diagnostic {
    Diagnostic::error("E0518", span, "this must be a name or a path with constant keys")
}

pub fn unused(what: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("E0521", Class::General, span, format!("the {what} `{name}` is never used"))
}

pub fn unconnected(what: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "E0522",
        Class::General,
        span,
        format!("the {what} `{name}` is not connected to anything"),
    )
    .with_help("add a `connect` statement, or leave it out")
}

pub fn select_without_end(span: Span) -> Diagnostic {
    Diagnostic::error("E0525", span, "a `select` in a query needs `from` and `into`")
        .with_help("write `select event from in into out`")
}

/// A key in `with` of a connector that there is not.
#[must_use]
pub fn connector_setting(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0506", span, format!("connectors have no setting `{name}`"))
        .with_help(format!("the settings are {}", super::CONNECTOR_KEYS.join(", ")))
}

pub fn misplaced(what: &str, rule: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0523", span, format!("a {what} is not defined here"))
        .with_help(rule.to_string())
}

pub fn connector_in_pipeline(span: Span) -> Diagnostic {
    Diagnostic::error("E0523", span, "pipelines create streams, scripts, operators and pipelines")
        .with_help("create the connector in a flow, and connect it to a port of the pipeline")
}

pub fn operator_path(path: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0523", span, format!("`{path}` cannot be the name of a kind of operators"))
        .with_help("they have two words, such as `generic::batch`")
}

pub fn not_in_flow(span: Span) -> Diagnostic {
    Diagnostic::error("E0523", span, "flows create connectors and pipelines only")
        .with_help("create it inside of a pipeline")
}
