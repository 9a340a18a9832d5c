//! Named constructors of diagnostics about graphs. Codes `E05xx` are used in the engine only.

use crate::operator::ERR;
use temblor_declare::read;
use temblor_declare::shared::FLOW;
use temblor_lang::diagnostic::{Class, Diagnostic};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::Ident;

pub(super) fn not_defined<'n>(
    what: &str,
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0501", span, format!("the {what} `{name}` is not defined"))
        .with_nearest(name, known)
}

pub(super) fn stream_not_defined<'n>(
    name: &str,
    port: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    let message = format!("stream used in `from` or `into` is not defined: {name}/{port}");
    Diagnostic::error("E0502", span, message).with_nearest(name, known)
}

pub(super) fn unknown_name(name: &Ident, known: Vec<&str>) -> Diagnostic {
    let text = &name.text;
    let message =
        format!("`{text}` is no step, and no stream, port or sink is declared by this name");
    let complaint = Diagnostic::error("E0530", name.span, message).with_nearest(text, known);
    match complaint.help {
        Some(_) => complaint,
        None => complaint.with_help(format!(
            "declare it, `create stream {text};` or `sink {text} into …`, or write `out/{text}` for \
             an output of the program"
        )),
    }
}

pub(super) fn created_later(name: &Ident) -> Diagnostic {
    let message = format!("`{}` is created further down", name.text);
    Diagnostic::error("E0530", name.span, message)
        .with_help("move its `create` in front of the chains that use it")
}

pub(super) fn step_as_port(name: &Ident) -> Diagnostic {
    let message = format!("`{}` is a step, but here stands where events go", name.text);
    Diagnostic::error("E0530", name.span, message).with_help(
        "name a stream, port or sink, and begin a chain with it: `else rest`, `rest |> …`",
    )
}

pub(super) fn misspelt_port(name: &Ident, near: &str) -> Diagnostic {
    let message = format!("no stream, port or sink is declared as `{}`", name.text);
    Diagnostic::error("E0530", name.span, message).with_help(format!("did you mean `{near}`?"))
}

pub(super) fn nothing_comes(before: Span, here: Span) -> Diagnostic {
    Diagnostic::error("E0531", here, "no event comes here")
        .with_place(before, "this step lets none go on")
        .with_help("let the chain end there, or begin one of its own with the stream that you mean")
}

pub(super) fn leads_nowhere(word: &str, port: &Ident) -> Diagnostic {
    let name = &port.text;
    let message = format!("what `{word}` sends to `{name}` leads nowhere");
    Diagnostic::error("E0531", port.span, message)
        .with_help(format!("declare it: `create stream {name};`, or `sink {name} into …`"))
}

pub(super) fn wrong_way(name: &str, is_input: bool, span: Span) -> Diagnostic {
    let (message, help) = match is_input {
        true => (
            format!("`{name}` is an input: events come from it, and none can be sent to it"),
            "make a stream for them, `create stream again;`, and read that, too".to_string(),
        ),
        false => (
            format!("`{name}` is an output: events leave by it, and none can be read from it"),
            match name {
                ERR => {
                    "say where failed events go by `sink err into …`, or take those of one step \
                        with `else`"
                        .to_string()
                }
                _ => {
                    format!("make a stream, `create stream again;`, and send to `{name}` behind it")
                }
            },
        ),
    };
    Diagnostic::error("E0532", span, message).with_help(help)
}

pub(super) fn dead_end(name: &str, span: Span) -> Diagnostic {
    let message = format!("events go into `{name}`, and nothing comes of them");
    Diagnostic::warning("E0533", Class::General, span, message)
        .with_help(format!("go on with it: `{name} |> out`"))
}

pub(super) fn dead_port(name: &str, span: Span) -> Diagnostic {
    let message = format!("events go to the port `{name}`, and nothing is connected to it");
    Diagnostic::warning("E0533", Class::General, span, message)
        .with_help("connect it, or leave out what sends events there: they are not processed")
}

pub(super) fn cycle(names: &[&str], span: Span) -> Diagnostic {
    Diagnostic::error("E0503", span, format!("the graph has a cycle: {}", names.join(" -> ")))
}

pub(super) fn name_taken(what: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0504", span, format!("the name `{name}` is already in use, for a {what}"))
}

pub(super) fn unknown_operator<'n>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    let complaint = Diagnostic::error("E0505", span, format!("unknown operator `{name}`"));
    if name == super::THROUGH {
        return complaint.with_help(
            "a process stands in a chain itself, as `through \"command\" else place with … end`, and in no arm: \
             lead the events of the arm into a stream",
        );
    }
    if name == super::PARTITION {
        let message = "`partition` needs a key and a topic";
        return Diagnostic::error("E0505", span, message).with_help(
            "events meet by key as `partition by event.user using \"kafka://HOST:PORT\" with topic = \"…\", \
             group = \"…\" end`, in a chain itself and in no arm",
        );
    }
    complaint.with_nearest(name, known)
}

pub(super) fn unknown_setting<'n>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    read::complain::unknown(name, span, known)
}

pub(super) fn missing_argument(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0508", span, format!("missing required argument: {name}"))
        .with_help(format!("give it: `with {name} = … end`"))
}

pub(super) fn unknown_argument<'n>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0509", span, format!("unknown argument: {name}")).with_nearest(name, known)
}

/// A word of a step that is none of those which stand there.
pub(super) fn unknown_choice(setting: &str, name: &Ident, words: &[&str]) -> Diagnostic {
    let message = format!("there is no {setting} `{}`", name.text);
    Diagnostic::error("E0510", name.span, message).with_known(&name.text, words)
}

/// A statement reads from `in`, which nothing feeds beside declared sources.
pub(super) fn hungry_input(source: &str, span: Span) -> Diagnostic {
    let message =
        "no events come into `in`: this file declares its sources, and none of them is called `in`";
    Diagnostic::warning("W0528", Class::Behaviour, span, message)
        .with_help(format!("begin with `{source} |> …`, or call a source `in`"))
}

/// `source tcp` is no step, and not a whole declaration.
pub(super) fn declaration_as_step(role: &str, span: Span) -> Diagnostic {
    let example = match role {
        "source" => "source lines from file \"in.log\" with codec = \"string\" end;",
        "sink" => "sink lines into file \"out.ndjson\";",
        _ => "table hosts from file \"hosts.csv\";",
    };
    Diagnostic::error("E0505", span, format!("`{role}` declares something, and is no step"))
        .with_help(format!("write the name, the kind and the place: `{example}`"))
}

pub(super) fn bad_window(message: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0511", span, message.to_string())
}

pub(super) fn window_kind<'n>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0523", span, format!("there is no kind of window `{name}`"))
        .with_nearest(name, known)
}

pub(super) fn reserved_port(span: Span) -> Diagnostic {
    Diagnostic::error("E0512", span, "the port `in` is reserved for the unnamed script")
}

pub(super) fn port_defined_already(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0513", span, format!("there is a script for the port `{name}` already"))
}

pub(super) fn only_tick(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0514", span, format!("windows have scripts from `tick` only, not `{name}`"))
}

pub(super) fn unknown_port<'n>(
    node: &str,
    port: &str,
    span: Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0515", span, format!("`{node}` has no port `{port}`"))
        .with_nearest(port, known)
}

pub(super) fn nested_too_deep(limit: usize, span: Span) -> Diagnostic {
    Diagnostic::error("E0516", span, format!("more than {limit} pipelines are nested"))
}

pub(super) fn unexpected_value(word: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0517", span, format!("`{word}` takes no further value here"))
}

pub(super) fn lookup_without_name(span: Span) -> Diagnostic {
    Diagnostic::error("E0517", span, "`lookup` needs the name of a sink that gives answers")
        .with_help("such as: sink names into dns \"system\" with name = event.ip end; in |> lookup names |> out")
}

pub(super) fn lookup_of_no_sink(name: &Ident) -> Diagnostic {
    let text = &name.text;
    Diagnostic::error("E0530", name.span, format!("no sink `{text}` is declared"))
        .with_help(format!("declare it: sink {text} into dns \"system\" with name = event.ip end;"))
}

pub(super) fn asked_twice(name: &Ident) -> Diagnostic {
    let text = &name.text;
    let message = format!("`lookup {text}` is there twice: both would get the answers of both");
    Diagnostic::error("E0502", name.span, message).with_help("declare a sink for each of them")
}

pub(super) fn not_a_path(span: Span) -> Diagnostic {
    Diagnostic::error("E0518", span, "this must be a name or a path with constant keys")
}

pub(super) fn unused(what: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("E0521", Class::General, span, format!("the {what} `{name}` is never used"))
}

pub(super) fn unconnected(what: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "E0522",
        Class::General,
        span,
        format!("the {what} `{name}` is not connected to anything"),
    )
    .with_help("add a `connect` statement, or leave it out")
}

pub(super) fn select_without_end(span: Span) -> Diagnostic {
    Diagnostic::error("E0525", span, "a `select` in a query needs `from` and `into`")
        .with_help("write `select event from in into out`")
}

/// A key in `with` of a connector that there is not.
#[must_use]
pub fn connector_setting(name: &str, span: Span) -> Diagnostic {
    let known: Vec<_> = FLOW.iter().map(|row| row.name).collect();
    Diagnostic::error("E0506", span, format!("connectors have no setting `{name}`"))
        .with_help(format!("the settings are {}", known.join(", ")))
}

pub(super) fn misplaced(what: &str, rule: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0523", span, format!("a {what} is not defined here"))
        .with_help(rule.to_string())
}

pub(super) fn connector_in_pipeline(span: Span) -> Diagnostic {
    Diagnostic::error("E0523", span, "pipelines create streams, scripts, operators and pipelines")
        .with_help("create the connector in a flow, and connect it to a port of the pipeline")
}

pub(super) fn operator_path(path: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0523", span, format!("`{path}` cannot be the name of a kind of operators"))
        .with_help("they have two words, such as `generic::batch`")
}

pub(super) fn not_in_flow(span: Span) -> Diagnostic {
    Diagnostic::error("E0523", span, "flows create connectors and pipelines only")
        .with_help("create it inside of a pipeline")
}
