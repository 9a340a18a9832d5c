//! Sources and sinks of this machine as statements of the Temblor file.

use super::notation::{setting, text};
use crate::input::Origin;
use crate::options::{Setting, SettingKind};
use std::fmt::Write;
use temblor_connect::sink::{FileMode, SinkConfig};
use temblor_connect::source::SourceConfig;
use temblor_connect::source::command::{CommandConfig, Rhythm};
use temblor_connect::source::repeat::RepeatConfig;
use temblor_runtime::framing::Framing;

/// `source … from …;`
pub(super) fn source_text(name: &str, config: &SourceConfig) -> String {
    let framed = |framing: &Framing| match framing {
        Framing::Whole => ", framing = \"whole\"".to_string(),
        Framing::Separated(byte) => format!(", separator = {byte}"),
        Framing::Counted => ", framing = \"octet\"".to_string(),
        Framing::Lines | Framing::Prefixed | Framing::Annotated => String::new(),
    };
    let (kind, settings) = match config {
        SourceConfig::Stdin { framing } => {
            ("stdin".to_string(), format!("codec = \"binary\"{}", framed(framing)))
        }
        SourceConfig::File(file) => (
            format!("file {}", text(file.patterns.first().map_or("", String::as_str))),
            format!(
                "codec = \"binary\", patterns = {}{}",
                texts(&file.patterns),
                framed(&file.framing)
            ),
        ),
        SourceConfig::Tail(tail) => {
            let mut settings = String::from("codec = \"binary\", follow = true");
            if tail.from_beginning {
                settings.push_str(", start = \"beginning\"");
            }
            if tail.patterns.len() > 1 {
                let _ = write!(settings, ", patterns = {}", texts(&tail.patterns));
            }
            if !tail.exclude.is_empty() {
                let _ = write!(settings, ", exclude = {}", texts(&tail.exclude));
            }
            let _ =
                write!(settings, ", every = {}{}", seconds(tail.every_ns), framed(&tail.framing));
            (format!("file {}", text(tail.patterns.first().map_or("", String::as_str))), settings)
        }
        SourceConfig::Repeat(repeat) => (
            "repeat".to_string(),
            format!(
                "lines = {}, count = {}, times = {}",
                texts(&repeat.lines),
                repeat.count,
                repeat.times
            ),
        ),
        SourceConfig::Metronome { interval, count } => {
            let count = count.map_or_else(String::new, |count| format!(", count = {count}"));
            ("metronome".to_string(), format!("interval = {}{count}", seconds(*interval)))
        }
        SourceConfig::Command(command) => {
            // A time table is no interval, and is not converted.
            let Rhythm::Every(every_ns) = command.rhythm else { return String::new() };
            let settings = format!(
                "codec = \"binary\", interval = {}{}",
                seconds(every_ns),
                framed(&command.framing)
            );
            (format!("command {}", text(&command.command)), settings)
        }
        SourceConfig::Chained(_) | SourceConfig::Crononome(_) => {
            return String::new();
        }
    };
    format!("# {{place}}\nsource {name} from {kind} with {settings} end;\n")
}

/// `sink … into …;`
pub(super) fn sink_text(
    name: &str,
    config: &SinkConfig,
    encoded: bool,
    placed: bool,
    gzip: bool,
) -> String {
    let mut settings: Vec<String> = Vec::new();
    if encoded {
        settings.push("codec = \"raw\"".to_string());
    }
    let kind = match config {
        SinkConfig::Stdout => "stdout".to_string(),
        SinkConfig::File { path, mode, .. } => {
            if *mode == FileMode::Truncate {
                settings.push("mode = \"truncate\"".to_string());
            }
            format!("file {}", text(&path.display().to_string()))
        }
        SinkConfig::Files { directory, mode, .. } => {
            if *mode == FileMode::Truncate {
                settings.push("mode = \"truncate\"".to_string());
            }
            let folder =
                text(&format!("{}/", directory.display().to_string().trim_end_matches('/')));
            format!("file {}#{{$place}}\"", folder.trim_end_matches('"'))
        }
        SinkConfig::Command { .. } if placed => "command \"#{$place}\"".to_string(),
        SinkConfig::Command { command, .. } => format!("command {}", text(command)),
        _ => "null".to_string(),
    };
    if gzip {
        settings.push("compression = \"gzip\"".to_string());
    }
    let settings = match settings.len() {
        0 => String::new(),
        _ => format!(" with {} end", settings.join(", ")),
    };
    format!("# {{place}}\nsink {name} into {kind}{settings};\n")
}

/// Why a source cannot be said in a Temblor file.
pub(super) fn not_convertible(origin: &Origin) -> Option<&'static str> {
    let Origin::Source(config, _) = origin else { return None };
    match &**config {
        SourceConfig::Command(CommandConfig { rhythm: Rhythm::Table(_), .. }) => {
            Some("commands are run at an `interval`; there is no time table for them")
        }
        SourceConfig::Repeat(RepeatConfig { per_second: Some(_), .. }) => {
            Some("`repeat` gives its lines as fast as they are taken; `eps` needs a generator")
        }
        _ => None,
    }
}

/// What a source does not do as the input does.
pub(super) fn source_remark(config: &SourceConfig) -> Option<&'static str> {
    match config {
        SourceConfig::File(file) if file.completion.acts() => {
            Some("the files that are there at conversion are read, and stay")
        }
        SourceConfig::File(_) => Some("the files that are there at conversion are read"),
        SourceConfig::Tail(_) => Some("places in files are kept with --state, not in a sincedb"),
        SourceConfig::Command(_) => Some("exit status and duration of the command are not kept"),
        _ => None,
    }
}

fn seconds(nanoseconds: u64) -> String {
    let millis = nanoseconds / 1_000_000;
    if millis.is_multiple_of(1000) {
        format!("\"{}s\"", millis / 1000)
    } else {
        format!("\"{millis}ms\"")
    }
}

fn texts(items: &[String]) -> String {
    let span = temblor_lang::span::Span::default();
    let item = |one: &String| Setting { span, kind: SettingKind::Text(one.clone()) };
    let kind = SettingKind::List(items.iter().map(item).collect());
    setting(&Setting { span, kind }, 2)
}
