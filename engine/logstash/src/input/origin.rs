//! Where the frames of an input come from: a source of the engine, or other pipelines.

use super::declaration::Kind;
use super::files;
use super::intake::Intake;
use crate::complain;
use crate::network::Sources;
use crate::options::Arguments;
use temblor_codec::Format;
use temblor_codec::InputCodec;
use temblor_connect::source::SourceConfig;
use temblor_connect::source::command::{CommandConfig, Rhythm};
use temblor_connect::source::crononome::Crontab;
use temblor_connect::source::repeat::RepeatConfig;
use temblor_runtime::framing::Framing;

/// Where an input's frames come from.
#[derive(Debug)]
pub enum Origin {
    /// From a source of the engine.
    Source(Box<SourceConfig>, InputCodec),
    /// From the pipelines that send to this address.
    Address(String),
    /// From connectors.
    Network(Sources),
}

impl Origin {
    /// Reads the options that say where frames come from.
    pub(super) fn of(
        kind: Kind,
        arguments: &mut Arguments<'_>,
        intake: Option<&Intake>,
    ) -> Option<Self> {
        let bytes = InputCodec::Format(Format::Binary);
        let framing = intake.map_or(Framing::Lines, Intake::framing);
        let source = match kind {
            Kind::Network(_) => return None,
            Kind::Pipeline => return Some(Origin::Address(arguments.text("address")?)),
            Kind::Stdin => (SourceConfig::Stdin { framing }, bytes),
            Kind::File => (files::source(arguments, framing)?, bytes),
            Kind::Generator => (SourceConfig::Repeat(generator(arguments)), InputCodec::Json),
            Kind::Exec => {
                // The output of a command comes with its exit status.
                (SourceConfig::Command(exec(arguments)?), InputCodec::Format(Format::MessagePack))
            }
            Kind::Heartbeat => {
                let seconds = arguments.number("interval").unwrap_or(60.0).max(0.001);
                let count = arguments.number("count").filter(|count| *count >= 0.0);
                let config = SourceConfig::Metronome {
                    interval: nanoseconds(seconds),
                    count: count.map(|count| count as u64),
                };
                (config, InputCodec::Json)
            }
            Kind::Pipe => {
                let config = CommandConfig {
                    command: arguments.text("command")?,
                    rhythm: Rhythm::Every(PIPE_PAUSE_NS),
                    framing,
                    reports: false,
                };
                (SourceConfig::Command(config), bytes)
            }
        };
        Some(Origin::Source(Box::new(source.0), source.1))
    }
}

/// A pipe's command that has ended is run again after ten seconds.
const PIPE_PAUSE_NS: u64 = 10_000_000_000;

pub(super) fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

fn exec(arguments: &mut Arguments<'_>) -> Option<CommandConfig> {
    let every = arguments.number("interval").map(nanoseconds);
    let rhythm = match (every, arguments.text("schedule")) {
        (Some(every_ns), None) => Rhythm::Every(every_ns),
        (None, Some(text)) => Rhythm::Table(Box::new(schedule(&text, arguments)?)),
        (None, None) => {
            let span = arguments.span;
            let help = "say `schedule`, as a crontab does, or `interval`, in seconds";
            let complaint = complain::missing_option("exec", "interval", span).with_help(help);
            arguments.complain(complaint);
            return None;
        }
        (Some(_), Some(_)) => {
            let place = arguments.place("schedule");
            let wanted = "left out where `interval` is there";
            arguments.complain(complain::bad_value("schedule", place, wanted));
            return None;
        }
    };
    let command = arguments.text("command")?;
    Some(CommandConfig { command, rhythm, framing: Framing::Whole, reports: true })
}

/// A time table, in the zone of the process unless it says one.
fn schedule(text: &str, arguments: &mut Arguments<'_>) -> Option<Crontab> {
    let zone = arguments.settings.variables.get("TZ").and_then(|name| name.parse().ok());
    Crontab::parse(text, zone.unwrap_or(chrono_tz::Tz::UTC))
        .map_err(|reason| {
            let place = arguments.place("schedule");
            let wanted = format!("a time table: {reason}");
            arguments.complain(complain::bad_value("schedule", place, &wanted));
        })
        .ok()
}

fn generator(arguments: &mut Arguments<'_>) -> RepeatConfig {
    let lines: Vec<String> = match arguments.texts("lines") {
        Some(lines) if !lines.is_empty() => lines.into_iter().map(|(line, _)| line).collect(),
        _ => vec![arguments.text("message").unwrap_or_else(|| "Hello world!".to_string())],
    };
    let count = |name: &str| arguments.number(name).map_or(0, |number| number.max(0.0) as u64);
    let per_second = arguments.number("eps").filter(|rate| *rate > 0.0);
    RepeatConfig { lines, count: count("count"), times: count("threads").max(1), per_second }
}
