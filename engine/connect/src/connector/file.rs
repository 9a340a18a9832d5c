//! `file`: files to read, once or as they grow, and files to write, one or many.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Template, Wrong,
};
use temblor_runtime::disk::Durability;
use temblor_runtime::source::OpenSource;

use super::{beside_preprocessors, framing};
use crate::sink::{Care, FileMode, SinkConfig};
use crate::source::SourceConfig;
use crate::source::chained::ChainedConfig;
use crate::source::file::FileConfig;
use crate::source::tail::{TailConfig, files};

/// Bytes that can be read at once, at the most.
const CHUNK_BYTES_MAX: usize = 16 << 20;
/// What a source reads when preprocessors do not read it.
const ONLY_PLAIN: [&str; 7] =
    ["framing", "separator", "patterns", "exclude", "follow", "start", "every"];

/// Files in Temblor programs.
pub(super) static FILE: Connector = Connector {
    kind: "file",
    notation: Notation::Temblor,
    doc: "Files. A source reads them one after the other in the order of their names; what is packed with gzip, zstd or \
          xz is unpacked. With `follow` it waits for more at their ends, and for new files. A sink writes one file, or, \
          with `#{event.…}` in the path, the file that each event chooses, below the directory that the path begins \
          with.",
    ends: Ends::Both,
    address: Some("\"PATH\": a path; of a source also a pattern such as \"logs/*.log\""),
    source: &[
        Setting::new("address", Takes::Text, "A path or a pattern, instead of `patterns`."),
        Setting::new("patterns", Takes::Texts, "Paths or patterns, instead of the address."),
        Setting::new("exclude", Takes::Texts, "Patterns of file names that are left out."),
        Setting::new("follow", Takes::Flag, "Whether files are read on as they grow, and new files of the patterns are.")
            .or("false"),
        Setting::new(
            "start",
            Takes::Word(&["beginning", "end"]),
            "With `follow`: where files are read from that are there already.",
        )
        .or("end"),
        Setting::new("every", Takes::Duration, "With `follow`: how often files are looked at.").or("1s"),
    ],
    sink: &[
        Setting::new("address", Takes::PathTemplate, "The path; `#{…}` in it is evaluated for each event.")
            .required(),
        Setting::new(
            "mode",
            Takes::Word(&["append", "overwrite", "truncate"]),
            "What becomes of what the file holds: it is kept, written over from the beginning, or thrown away.",
        )
        .or("append"),
        Setting::new(
            "durability",
            Takes::Word(&["flush", "fsync"]),
            "What it means that bytes are written: they survive the end of the process, or a failure of power, too.",
        )
        .or("flush"),
    ],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &[
        "source log from file \"logs/*.log\" with codec = \"string\", follow = true end;\n\
         sink hosts into file \"out/#{event.host}.ndjson\";\nlog |> parse grok \"%{HOSTNAME:host}\" |> hosts;",
    ],
    build: |what| match what.ends {
        Ends::Source => source(what),
        _ => Ok(Built { sink: Some(sink(what)), ..Built::default() }),
    },
};

fn source(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let address = settings.optional_text("address");
    let config = if what.preprocessors.is_empty() {
        let patterns = match (settings.texts("patterns"), address) {
            ([], Some(address)) => vec![address.to_string()],
            ([], None) => return Err(no_path()),
            (patterns, _) => patterns.to_vec(),
        };
        plain_source(what, patterns)?
    } else {
        beside_preprocessors(what, &ONLY_PLAIN)?;
        let path = PathBuf::from(address.ok_or_else(no_path)?);
        SourceConfig::Chained(ChainedConfig::once(Some(path), what.preprocessors.to_vec()))
    };
    Ok(Built { source: Some(Arc::new(config)), ..Built::default() })
}

fn no_path() -> Wrong {
    let help = "such as: source log from file \"access.log\"";
    Wrong::at("address", "`file` needs the path of a file", help)
}

fn plain_source(what: &Build<'_>, patterns: Vec<String>) -> Result<SourceConfig, Wrong> {
    let settings = what.settings;
    let (exclude, framing) = (settings.texts("exclude").to_vec(), framing(what)?);
    if settings.flag("follow") {
        let every_ns = positive(what, "every")?;
        return Ok(SourceConfig::Tail(TailConfig {
            patterns,
            exclude,
            framing,
            from_beginning: settings.text("start") == "beginning",
            every_ns,
            discover_ns: every_ns,
            age_max: None,
        }));
    }
    let patterns = match exclude.is_empty() {
        true => patterns,
        false => {
            let found = files(&patterns, &exclude);
            found.iter().map(|path| path.display().to_string()).collect()
        }
    };
    Ok(SourceConfig::File(FileConfig::once(patterns, framing)))
}

/// Nanoseconds of a duration that cannot be 0.
pub(super) fn positive(what: &Build<'_>, name: &'static str) -> Result<u64, Wrong> {
    let time = what.settings.duration(name);
    match u64::try_from(time.as_nanos()) {
        Ok(nanoseconds) if time > Duration::ZERO => Ok(nanoseconds),
        _ => Err(Wrong::at(name, format!("`{name}` must be longer than 0"), "such as 10s")),
    }
}

fn sink(what: &Build<'_>) -> BuiltSink {
    let mode = file_mode(what.settings.text("mode"));
    let durability = match what.settings.text("durability") {
        "fsync" => Durability::Fsync,
        _ => Durability::Flush,
    };
    let care = Care { durability, ..Care::default() };
    let (config, place) = match what.settings.template("address") {
        Some(Template::PerEvent { directory, formula }) => {
            let directory = PathBuf::from(directory);
            let config = SinkConfig::Files { directory, mode, care };
            (config, Some(Arc::clone(formula)))
        }
        Some(Template::Constant(path)) => {
            (SinkConfig::File { path: PathBuf::from(path), mode, care }, None)
        }
        None => unreachable!("the address of a sink is required"),
    };
    BuiltSink { place, ..BuiltSink::of_stream(config.packed(what.stream)) }
}

fn one_file(path: &str, mode: FileMode) -> SinkConfig {
    SinkConfig::File { path: PathBuf::from(path), mode, care: Care::default() }
}

fn file_mode(word: &str) -> FileMode {
    match word {
        "overwrite" => FileMode::Overwrite,
        "append" => FileMode::Append,
        _ => FileMode::Truncate,
    }
}

/// Files in flows.
pub(super) static TREMOR_FILE: Connector = Connector {
    kind: "file",
    notation: Notation::Tremor,
    doc: "One file. Its `mode` says whether it is a source or a sink.",
    ends: Ends::Both,
    address: None,
    source: &[
        Setting::new("path", Takes::Text, "The path of the file.").required(),
        Setting::new(
            "mode",
            Takes::Word(&["read", "truncate", "append", "overwrite", "write"]),
            "Whether it is read, or what becomes of what it holds: it is thrown away (`write` is the same), kept, or \
             written over.",
        )
        .required(),
        CHUNK_SIZE,
    ],
    sink: &[],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &[],
    examples: &[],
    build: |what| {
        let (path, mode) = (what.settings.text("path"), what.settings.text("mode"));
        if mode == "read" {
            let source = Some(reading(Some(path), what));
            return Ok(Built { source, ..Built::default() });
        }
        let config = one_file(path, file_mode(mode)).packed(what.stream);
        Ok(Built { sink: Some(BuiltSink::of_stream(config)), ..Built::default() })
    },
};

/// How much of a file is read at once.
pub(super) const CHUNK_SIZE: Setting = Setting::new(
    "chunk_size",
    Takes::Whole { least: 1, most: u64::MAX },
    "Bytes that are read at once; 8192 unless set, 16 MiB at the most.",
);

/// The source of a file, or of standard input, in a flow.
pub(super) fn reading(path: Option<&str>, what: &Build<'_>) -> Arc<dyn OpenSource> {
    let framing = what.framing_is_chosen.then_some(what.framing);
    Arc::new(match (framing, path) {
        (Some(framing), Some(path)) => {
            SourceConfig::File(FileConfig::once(vec![path.to_string()], framing))
        }
        (Some(framing), None) => SourceConfig::Stdin { framing },
        (None, path) => {
            let once = ChainedConfig::once(path.map(PathBuf::from), what.preprocessors.to_vec());
            SourceConfig::Chained(ChainedConfig { chunk_bytes: chunk_bytes(what), ..once })
        }
    })
}

/// How much is read at once.
pub(super) fn chunk_bytes(what: &Build<'_>) -> usize {
    let bytes = what.settings.optional_whole("chunk_size");
    let bytes = bytes.map(|bytes| usize::try_from(bytes).unwrap_or(CHUNK_BYTES_MAX));
    bytes.unwrap_or(ChainedConfig::CHUNK_BYTES).min(CHUNK_BYTES_MAX)
}
