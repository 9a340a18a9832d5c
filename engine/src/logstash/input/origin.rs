//! Where the frames of an input come from: a source of the engine, or other pipelines.

use super::declaration::Kind;
use super::files;
use super::intake::Intake;
use crate::codec::Format;
use crate::framing::Framing;
use crate::logstash::codec::Decoder;
use crate::logstash::complain;
use crate::logstash::options::Arguments;
use crate::pipeline::InputCodec;
use crate::source::SourceConfig;
use crate::source::command::CommandConfig;
use crate::source::repeat::RepeatConfig;

/// Where an input's frames come from.
#[derive(Debug)]
pub enum Origin {
    /// From a source of the engine.
    Source(Box<SourceConfig>, InputCodec),
    /// From the pipelines that send to this address.
    Address(String),
}

impl Origin {
    /// Reads the options that say where frames come from.
    pub(super) fn of(
        kind: Kind,
        arguments: &mut Arguments<'_>,
        intake: Option<&Intake>,
    ) -> Option<Self> {
        let bytes = InputCodec::Format(Format::Binary);
        let framing = match intake {
            Some(intake) if intake.decoder.reads_messages() => Framing::Whole,
            Some(Intake { decoder: Decoder { delimiter: Some(byte), .. }, .. }) => {
                Framing::Separated(*byte)
            }
            _ => Framing::Lines,
        };
        let source = match kind {
            Kind::Pipeline => return Some(Origin::Address(arguments.text("address")?)),
            Kind::Stdin => (SourceConfig::Stdin { framing }, bytes),
            Kind::File => (files::source(arguments, framing)?, bytes),
            Kind::Generator => (SourceConfig::Repeat(generator(arguments)), InputCodec::Json),
            Kind::Heartbeat => {
                let seconds = arguments.number("interval").unwrap_or(60.0).max(0.001);
                let count = arguments.number("count").filter(|count| *count >= 0.0);
                let config = SourceConfig::Metronome {
                    interval: nanoseconds(seconds),
                    count: count.map(|count| count as u64),
                };
                (config, InputCodec::Json)
            }
            Kind::Command => {
                let is_pipe = arguments.plugin == "pipe";
                let every = arguments.number("interval").map(nanoseconds);
                if !is_pipe && every.is_none() {
                    let span = arguments.span;
                    arguments.complain(match arguments.get("schedule") {
                        None => complain::missing_option("exec", "interval", span),
                        Some(schedule) => {
                            let help = "say `interval`, in seconds, instead of `schedule`";
                            complain::missing_plugin(
                                "input",
                                "exec (its schedule)",
                                schedule.span,
                                help,
                            )
                        }
                    });
                    return None;
                }
                let config = CommandConfig {
                    command: arguments.text("command")?,
                    every_ns: every.unwrap_or(PIPE_PAUSE_NS),
                    framing: if is_pipe { framing } else { Framing::Whole },
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

fn generator(arguments: &mut Arguments<'_>) -> RepeatConfig {
    let lines: Vec<String> = match arguments.texts("lines") {
        Some(lines) if !lines.is_empty() => lines.into_iter().map(|(line, _)| line).collect(),
        _ => vec![arguments.text("message").unwrap_or_else(|| "Hello world!".to_string())],
    };
    let count = |name: &str| arguments.number(name).map_or(0, |number| number.max(0.0) as u64);
    RepeatConfig { lines, count: count("count"), times: count("threads").max(1) }
}
