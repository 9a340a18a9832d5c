//! Postprocessors: what is done to encoded events before a sink gets them.

use temblor_codec::interceptor::{Packing, Postprocessor};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Span;

use super::{Interceptor, SEPARATOR, make, packing, separator};
use crate::connector::Wrong;
use crate::setting::{Setting, Takes};
use crate::settings::{Named, Settings};

/// The postprocessor that compresses what a sink gets as one stream.
const STREAMING: &str = "streaming-compress";

/// How a sink's bytes are compressed as one stream, and with which level.
pub type Stream = (Packing, Option<i64>);

/// The postprocessors of a sink.
#[derive(Debug, Default)]
pub struct After {
    /// What happens to each encoded event, in order.
    pub each: Vec<Postprocessor>,
    /// How the sink's bytes are compressed as one stream.
    pub stream: Option<Stream>,
}

/// How something is compressed.
pub(super) static COMPRESSION: &[Setting] = &[
    Setting::new(
        "algorithm",
        Takes::Word(&["br", "gzip", "lz4", "snappy", "xz2", "zlib", "zstd"]),
        "How it is packed.",
    )
    .required(),
    Setting::new(
        "level",
        Takes::Signed { least: -7, most: 22 },
        "How much work it may take: 0 to 9 of `xz2`, -7 to 22 of `zstd`, 0 to 16 of `lz4`.",
    ),
];

/// All postprocessors, in the order of the alphabet.
pub static POSTPROCESSORS: &[Interceptor<Postprocessor>] = &[
    plain("base64", "Encodes as base64.", |_| Ok(Postprocessor::Base64)),
    Interceptor {
        name: "chunk",
        doc: "Joins events to chunks. Must be the last.",
        settings: &[Setting::new(
            "max_bytes",
            Takes::Whole { least: 1, most: u64::MAX },
            "The longest chunk, in bytes.",
        )
        .required()],
        build: |settings| Ok(Postprocessor::Join { bytes_max: settings.size("max_bytes") }),
    },
    Interceptor {
        name: "collect",
        doc: "Joins what is put out together. Must be the last.",
        settings: &[Setting::new(
            "max_bytes",
            Takes::Whole { least: 0, most: u64::MAX },
            "Has no effect: what is put out at once is joined, whatever its length, and nothing is held back for more.",
        )
        .or("0")],
        build: |_| Ok(Postprocessor::Join { bytes_max: 0 }),
    },
    Interceptor {
        name: "compress",
        doc: "Compresses each event by itself.",
        settings: COMPRESSION,
        build: |settings| {
            let (packing, level) = compression(settings)?;
            Ok(Postprocessor::Compress(packing, level))
        },
    },
    plain("gelf-chunking", "Cuts long events into chunks of GELF.", |_| {
        Ok(Postprocessor::GelfChunking)
    }),
    plain("ingest-ns", "Puts the time of ingest in front, eight bytes, big-endian.", |_| {
        Ok(Postprocessor::IngestNs)
    }),
    plain("length-prefixed", "Puts the length in front, eight bytes, big-endian.", |_| {
        Ok(Postprocessor::LengthPrefixed)
    }),
    Interceptor {
        name: "separate",
        doc: "Puts a byte behind each event.",
        settings: &[SEPARATOR],
        build: |settings| Ok(Postprocessor::Separate(separator(settings)?)),
    },
    Interceptor {
        name: STREAMING,
        doc: "Compresses all that the sink gets as one stream. Must be the last.",
        settings: COMPRESSION,
        build: |_| Err(out_of_place(STREAMING)),
    },
    plain("textual-length-prefixed", "Puts the length in digits in front: `5 hello`.", |_| {
        Ok(Postprocessor::TextualLengthPrefixed)
    }),
];

/// One that has no settings.
const fn plain(
    name: &'static str,
    doc: &'static str,
    build: fn(&Settings) -> Result<Postprocessor, Wrong>,
) -> Interceptor<Postprocessor> {
    Interceptor { name, doc, settings: &[], build }
}

fn out_of_place(name: &str) -> Wrong {
    let message = format!("`{name}` must be the last postprocessor");
    Wrong { setting: None, message, help: String::new() }
}

/// The postprocessors that a program names; what is wrong is reported.
pub fn chain(named: &[Named], span: Span, diagnostics: &mut Vec<Diagnostic>) -> After {
    let (stream, named) = match named.split_last() {
        Some((last, rest)) if last.name == STREAMING => (streaming(last, span, diagnostics), rest),
        _ => (None, named),
    };
    let last = named.len().saturating_sub(1);
    let is_early = |at: usize, one: &Named| {
        at < last && matches!(one.name.as_str(), "chunk" | "collect") || one.name == STREAMING
    };
    let mut each = Vec::with_capacity(named.len());
    for (at, one) in named.iter().enumerate() {
        if is_early(at, one) {
            diagnostics.push(out_of_place(&one.name).diagnostic(&Settings::new(span)));
        }
        if one.name != STREAMING {
            each.extend(make("postprocessor", POSTPROCESSORS, one, span, diagnostics));
        }
    }
    After { each, stream }
}

fn streaming(named: &Named, span: Span, diagnostics: &mut Vec<Diagnostic>) -> Option<Stream> {
    let config = named.config.as_deref();
    let settings = crate::read::constants(COMPRESSION, config, span, diagnostics)?;
    let checked = compression(&settings).and_then(|stream| match stream.0 {
        Packing::Xz | Packing::Zstd => Ok(stream),
        _ => {
            let message = format!("the algorithm of `{STREAMING}` must be xz2 or zstd");
            Err(Wrong::at("algorithm", message, ""))
        }
    });
    match checked {
        Ok(stream) => Some(stream),
        Err(wrong) => {
            diagnostics.push(wrong.diagnostic(&settings));
            None
        }
    }
}

/// The algorithm of `compress` and its like, and its level.
fn compression(settings: &Settings) -> Result<Stream, Wrong> {
    let name = settings.text("algorithm");
    let packing = packing(name);
    let Some(level) = settings.optional_signed("level") else { return Ok((packing, None)) };
    let message = match packing.levels() {
        None => format!("`level` cannot be set: `{name}` has no levels"),
        Some((least, most)) if (least..=most).contains(&level) => {
            return Ok((packing, Some(level)));
        }
        Some((least, most)) => {
            format!("`level` must be a whole number from {least} to {most}, got {level}")
        }
    };
    Err(Wrong::at("level", message, ""))
}
