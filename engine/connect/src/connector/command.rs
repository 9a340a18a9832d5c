//! `command`: what a command of the shell writes, and what it reads.

use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Template, Wrong,
};

use super::file::positive;
use super::framing;
use crate::sink::SinkConfig;
use crate::source::SourceConfig;
use crate::source::command::{CommandConfig, Rhythm};

/// Commands in Temblor programs.
pub(super) static COMMAND: Connector = Connector {
    kind: "command",
    notation: Notation::Temblor,
    doc: "A command that the shell runs. A source runs it over and over and reads what it writes. A sink starts it with \
          the first event and writes to its input; with `#{event.…}` in the command each event chooses its own. What a \
          command has not read when it ends badly is not delivered.",
    ends: Ends::Both,
    address: Some("\"COMMAND\": what the shell runs"),
    source: &[Setting::new("interval", Takes::Duration, "The time from one start to the next.")
        .required()],
    sink: &[Setting::new(
        "address",
        Takes::Template,
        "What the shell runs; `#{…}` in it is evaluated for each event.",
    )
    .required()],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &[
        "source load from command \"cat /proc/loadavg\" with interval = 10s, codec = \"string\" end;\nload |> out;",
        "sink sorted into command \"sort\" with codec = \"string\", queue_bytes = \"1MiB\" end;\nin |> sorted;",
    ],
    build: |what| match what.ends {
        Ends::Source => source(what),
        _ => Ok(Built { sink: Some(sink(what)), ..Built::default() }),
    },
};

fn source(what: &Build<'_>) -> Result<Built, Wrong> {
    let help = "a command is cut by `framing` and `separator`";
    what.refuse(&["preprocessors"], "command", help)?;
    let config = SourceConfig::Command(CommandConfig {
        command: what.settings.text("address").to_string(),
        rhythm: Rhythm::Every(positive(what, "interval")?),
        framing: framing(what)?,
        reports: false,
    });
    Ok(Built { source: Some(Arc::new(config)), ..Built::default() })
}

fn sink(what: &Build<'_>) -> BuiltSink {
    let (command, place) = match what.settings.template("address") {
        Some(Template::Constant(command)) => (command.clone(), None),
        Some(Template::PerEvent { formula, .. }) => (String::new(), Some(Arc::clone(formula))),
        None => unreachable!("the address of a sink is required"),
    };
    let config = SinkConfig::Command { command, idle_max: None }.packed(what.stream);
    BuiltSink { place, has_queue: true, ..BuiltSink::of_stream(config) }
}
