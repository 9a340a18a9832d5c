//! Codecs of inputs and outputs: from frames to events, and from events to bytes. A frame that cannot
//! be read still becomes an event, with a tag that says so.

mod bulk;
mod cef;
mod csv;
mod decode;
mod encode;
mod multiline;
mod rubydebug;

pub use decode::Decoder;

pub(crate) use decode::DecodeState;

pub(crate) use decode::Moment;
pub(crate) use encode::Encoder;

use super::catalog::Stock;
use super::options::{Arguments, OptionSpec, Setting, SettingKind, Takes, option, required};
use super::syntax::tree::{Plugin, Word};
use temblor_lang::span::Span;

/// A codec as it is declared.
#[derive(Debug)]
pub struct CodecDeclaration {
    /// Its name.
    pub name: &'static str,
    /// Its options.
    pub options: &'static [OptionSpec],
}

const CHARSET: OptionSpec = option("charset", Takes::Text, "How bytes are letters (UTF-8).");
const FORMAT: OptionSpec = option("format", Takes::Text, "The text of an event that is written.");
const TARGET: OptionSpec = option("target", Takes::Text, "The field that holds what was read.");
const DELIMITER: OptionSpec = option("delimiter", Takes::Text, "What ends an event (a newline).");
/// The options that every codec has.
pub const COMMON: &[OptionSpec] = &[
    option("id", Takes::Text, "The name of the codec in reports."),
    option("enable_metric", Takes::Flag, "Accepted; counts are always kept."),
    option("ecs_compatibility", Takes::OneOf(&["disabled", "v1", "v8"]), "Which field names."),
];

/// All codecs that are here.
pub static CODECS: &[CodecDeclaration] = &[
    CodecDeclaration { name: "plain", options: &[CHARSET, FORMAT] },
    CodecDeclaration { name: "line", options: &[CHARSET, FORMAT, DELIMITER] },
    CodecDeclaration { name: "java_plain", options: &[CHARSET, FORMAT] },
    CodecDeclaration { name: "java_line", options: &[CHARSET, FORMAT, DELIMITER] },
    CodecDeclaration { name: "json", options: &[CHARSET, TARGET] },
    CodecDeclaration { name: "json_lines", options: &[CHARSET, TARGET, DELIMITER, DECODE_BYTES] },
    CodecDeclaration {
        name: "multiline",
        options: &[
            required("pattern", Takes::Text, "What is looked for in a line; may hold %{NAME}."),
            required("what", Takes::OneOf(&["previous", "next"]), "Where such a line belongs."),
            option("negate", Takes::Flag, "Whether lines without the pattern are meant."),
            option("max_lines", Takes::Number, "Lines of an event, at the most (500)."),
            option("max_bytes", Takes::Text, "Bytes of an event, at the most (10 MiB)."),
            option("auto_flush_interval", Takes::Number, "Seconds until an event is complete."),
            option("multiline_tag", Takes::Text, "The tag of events of several lines."),
            option("patterns_dir", Takes::List, "Folders with patterns."),
            CHARSET,
        ],
    },
    CodecDeclaration {
        name: "rubydebug",
        options: &[option("metadata", Takes::Flag, "Whether @metadata is shown.")],
    },
    CodecDeclaration { name: "dots", options: &[] },
    CodecDeclaration { name: "jdots", options: &[] },
    CodecDeclaration {
        name: "csv",
        options: &[
            option("columns", Takes::List, "Names of the columns."),
            option("separator", Takes::Text, "What stands between columns (a comma)."),
            option("quote_char", Takes::Text, "What texts are quoted with."),
            option("autogenerate_column_names", Takes::Flag, "Whether columns get names."),
            option("autodetect_column_names", Takes::Flag, "Whether the first line names them."),
            option("skip_empty_columns", Takes::Flag, "Whether empty columns are left out."),
            option("include_headers", Takes::Flag, "Whether names are written first."),
            option("convert", Takes::Hash, "Kinds of columns."),
            CHARSET,
            TARGET,
        ],
    },
    CodecDeclaration {
        name: "cef",
        options: &[
            option("vendor", Takes::Text, "Vendor in what is written (Elasticsearch)."),
            option("product", Takes::Text, "Product in what is written (Logstash)."),
            option("version", Takes::Text, "Version in what is written (1.0)."),
            option("signature", Takes::Text, "Signature in what is written (Logstash)."),
            option("name", Takes::Text, "Name in what is written (Logstash)."),
            option("severity", Takes::Text, "Severity in what is written (6)."),
            option("fields", Takes::List, "Fields of the extension that is written."),
            option("reverse_mapping", Takes::Flag, "Whether long names become short."),
            option("raw_data_field", Takes::Text, "The field for the text as it came."),
            option("default_timezone", Takes::Text, "The zone of times without one."),
            option("locale", Takes::Text, "The language of months."),
            option("device", Takes::OneOf(&["observer", "host"]), "What `device…` stands for."),
            DELIMITER,
        ],
    },
    CodecDeclaration { name: "msgpack", options: &[FORMAT, TARGET] },
    CodecDeclaration { name: "es_bulk", options: &[TARGET] },
    CodecDeclaration { name: "gzip_lines", options: &[CHARSET] },
];

const DECODE_BYTES: OptionSpec =
    option("decode_size_limit_bytes", Takes::Number, "Bytes of a line, at the most.");

/// The codec that a plugin names, as a plugin of its own.
fn named(setting: &Setting) -> Option<Plugin> {
    match &setting.kind {
        SettingKind::Codec(plugin) => Some(plugin.clone()),
        _ => Some(bare(setting.text()?, setting.span)),
    }
}

fn bare(name: &str, span: Span) -> Plugin {
    let name = Word { text: name.to_string(), span };
    Plugin { name, options: Vec::new(), span }
}

/// Checks the codec that a plugin names, or the usual one, and hands its options to `make`; `None` when
/// it is not here or wrong, which has been said.
fn with_codec<T>(
    arguments: &mut Arguments<'_>,
    usual: &str,
    make: impl FnOnce(&str, &mut Arguments<'_>) -> Option<T>,
) -> Option<T> {
    let (settings, ecs) = (arguments.settings, arguments.ecs);
    let plugin = match arguments.get("codec") {
        Some(setting) => named(setting)?,
        None => bare(usual, arguments.span),
    };
    let name = &*plugin.name.text;
    let declaration = CODECS.iter().find(|one| one.name == name);
    arguments.with_diagnostics(|diagnostics| match declaration {
        Some(CodecDeclaration { options, .. }) => {
            Arguments::build(&plugin, (options, COMMON), settings, diagnostics, |arguments| {
                arguments.inherit(ecs);
                make(name, arguments)
            })
        }
        None => {
            let here: Vec<_> = CODECS.iter().map(|one| one.name).collect();
            let help = "use another codec, or run with --stdin or --stdout, which need none";
            let stock = Stock { kind: "codec", here: &here, common: COMMON, help };
            stock.absent(&plugin, settings, diagnostics, |_| {});
            None
        }
    })
}
