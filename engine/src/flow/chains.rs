//! Codecs and interceptors of connectors by their names.

use super::settings::{Named, Settings, complain};
use crate::codec::FORMATS;
use crate::framing::Framing;
use crate::interceptor::{MESSAGE_BYTES_MAX, Packing, Postprocessor, Preprocessor};
use crate::pipeline::{InputCodec, OutputCodec};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::Compiler;
use temblor_lang::value::Arena;

/// Codecs of tremor that are not part of this build.
const CODECS_MISSING: [&str; 2] = ["avro", "confluent-schema-registry"];
const PREPROCESSORS: [&str; 7] = [
    "base64",
    "decompress",
    "gelf-chunking",
    "length-prefixed",
    "remove-empty",
    "separate",
    "textual-length-prefixed",
];
const PREPROCESSORS_MISSING: [&str; 1] = ["ingest-ns"];
const POSTPROCESSORS: [&str; 9] = [
    "base64",
    "chunk",
    "collect",
    "compress",
    "gelf-chunking",
    "ingest-ns",
    "length-prefixed",
    "separate",
    "textual-length-prefixed",
];
const POSTPROCESSORS_MISSING: [&str; 1] = ["streaming-compress"];
const PACKINGS: &[(&str, Packing)] = &[
    ("gzip", Packing::Gzip),
    ("xz2", Packing::Xz),
    ("zlib", Packing::Zlib),
    ("zstd", Packing::Zstd),
];
const PACKINGS_MISSING: [&str; 3] = ["br", "lz4", "snappy"];

/// Reports a name that cannot be used: one that this build does not have, or nobody has.
pub fn unknown(
    what: &str,
    named: &Named<'_>,
    known: &[&str],
    missing: &[&str],
    compiler: &mut Compiler<'_>,
) {
    let name = named.name;
    compiler.diagnostics.push(if missing.contains(&name) {
        let message = format!("{what} `{name}` is known but not part of this build yet");
        Diagnostic::error("E0524", named.span, message)
            .with_help(format!("this build has {}", known.join(", ")))
    } else {
        let message = format!("unknown {what} `{name}`");
        Diagnostic::error("E0519", named.span, message)
            .with_nearest(name, known.iter().chain(missing).copied())
    });
}

/// The codec in both directions; JSON when none is set.
pub fn codec(settings: &Settings, compiler: &mut Compiler<'_>) -> (InputCodec, OutputCodec) {
    let arena = Arena::new();
    let Some(named) = settings.codec(&arena, compiler) else {
        return (InputCodec::Json, OutputCodec::Json);
    };
    match named.name {
        "json" => {
            let config = named.config(&["mode"], compiler);
            match config.text("mode", compiler) {
                None | Some("unsorted") => (InputCodec::Json, OutputCodec::Json),
                Some("sorted") => (InputCodec::Json, OutputCodec::SortedJson),
                Some(other) => {
                    let message = format!("`mode` must be sorted or unsorted, got {other}");
                    complain(compiler, named.span, message);
                    (InputCodec::Json, OutputCodec::Json)
                }
            }
        }
        "string" => (InputCodec::String, OutputCodec::String),
        name => match FORMATS.iter().find(|(known, _)| *known == name) {
            Some((_, format)) => (InputCodec::Format(*format), OutputCodec::Format(*format)),
            None => {
                let names = FORMATS.iter().map(|(name, _)| *name);
                let known: Vec<_> = names.chain(["json", "string"]).collect();
                unknown("codec", &named, &known, &CODECS_MISSING, compiler);
                (InputCodec::Json, OutputCodec::Json)
            }
        },
    }
}

/// The preprocessors, in order.
pub fn preprocessors(settings: &Settings, compiler: &mut Compiler<'_>) -> Vec<Preprocessor> {
    let arena = Arena::new();
    let named = settings.interceptors("preprocessors", &arena, compiler);
    named.iter().filter_map(|one| preprocessor(one, compiler)).collect()
}

fn preprocessor(named: &Named<'_>, compiler: &mut Compiler<'_>) -> Option<Preprocessor> {
    let keys: &[&str] = match named.name {
        "separate" => &["separator", "max_length", "buffered"],
        "decompress" => &["algorithm"],
        _ => &[],
    };
    let config = named.config(keys, compiler);
    Some(match named.name {
        "separate" => Preprocessor::Separate {
            separator: separator(config.text("separator", compiler), named, compiler),
            length_max: config
                .whole("max_length", 1, compiler)
                .and_then(|length| usize::try_from(length).ok())
                .map_or(MESSAGE_BYTES_MAX, |length| length.min(MESSAGE_BYTES_MAX)),
            buffered: config.flag("buffered", compiler).unwrap_or(true),
        },
        "remove-empty" => Preprocessor::RemoveEmpty,
        "base64" => Preprocessor::Base64,
        "decompress" => match config.text("algorithm", compiler) {
            None | Some("autodetect") => Preprocessor::Decompress(None),
            Some(name) => Preprocessor::Decompress(Some(packing(name, named, compiler)?)),
        },
        "length-prefixed" => Preprocessor::LengthPrefixed,
        "textual-length-prefixed" => Preprocessor::TextualLengthPrefixed,
        "gelf-chunking" => Preprocessor::GelfChunking,
        _ => {
            unknown("preprocessor", named, &PREPROCESSORS, &PREPROCESSORS_MISSING, compiler);
            return None;
        }
    })
}

/// The postprocessors, in order.
pub fn postprocessors(settings: &Settings, compiler: &mut Compiler<'_>) -> Vec<Postprocessor> {
    let arena = Arena::new();
    let named = settings.interceptors("postprocessors", &arena, compiler);
    let last = named.len().saturating_sub(1);
    for one in named.iter().take(last) {
        if matches!(one.name, "chunk" | "collect") {
            let message = format!("`{}` must be the last postprocessor", one.name);
            complain(compiler, one.span, message);
        }
    }
    named.iter().filter_map(|one| postprocessor(one, compiler)).collect()
}

fn postprocessor(named: &Named<'_>, compiler: &mut Compiler<'_>) -> Option<Postprocessor> {
    let keys: &[&str] = match named.name {
        "separate" => &["separator"],
        "chunk" | "collect" => &["max_bytes"],
        "compress" => &["algorithm", "level"],
        _ => &[],
    };
    let config = named.config(keys, compiler);
    Some(match named.name {
        "separate" => {
            Postprocessor::Separate(separator(config.text("separator", compiler), named, compiler))
        }
        "base64" => Postprocessor::Base64,
        "length-prefixed" => Postprocessor::LengthPrefixed,
        "textual-length-prefixed" => Postprocessor::TextualLengthPrefixed,
        "ingest-ns" => Postprocessor::IngestNs,
        "gelf-chunking" => Postprocessor::GelfChunking,
        "collect" => Postprocessor::Join { bytes_max: 0 },
        "chunk" => match config.whole("max_bytes", 1, compiler) {
            Some(most) => {
                Postprocessor::Join { bytes_max: usize::try_from(most).unwrap_or(usize::MAX) }
            }
            None => {
                config.missing("max_bytes", "the longest chunk, in bytes", compiler);
                return None;
            }
        },
        "compress" => match config.text("algorithm", compiler) {
            Some("xz2") => {
                let message = "`xz2` is read but not written by this build".to_string();
                complain(compiler, named.span, message);
                return None;
            }
            Some(name) => Postprocessor::Compress(packing(name, named, compiler)?),
            None => {
                config.missing("algorithm", "such as gzip or zstd", compiler);
                return None;
            }
        },
        _ => {
            unknown("postprocessor", named, &POSTPROCESSORS, &POSTPROCESSORS_MISSING, compiler);
            return None;
        }
    })
}

fn separator(given: Option<&str>, named: &Named<'_>, compiler: &mut Compiler<'_>) -> u8 {
    match given.map(str::as_bytes) {
        None => b'\n',
        Some([byte]) => *byte,
        Some(_) => {
            complain(compiler, named.span, "`separator` must be one byte".to_string());
            b'\n'
        }
    }
}

fn packing(name: &str, named: &Named<'_>, compiler: &mut Compiler<'_>) -> Option<Packing> {
    let found = PACKINGS.iter().find(|(known, _)| *known == name).map(|(_, packing)| *packing);
    if found.is_none() {
        let known: Vec<_> = PACKINGS.iter().map(|(name, _)| *name).collect();
        let named = Named::plain_at(name, named.span);
        unknown("algorithm", &named, &known, &PACKINGS_MISSING, compiler);
    }
    found
}

/// The framing that does the same as a chain, without the work of one.
pub fn framing(chain: &[Preprocessor], codec: InputCodec) -> Option<Framing> {
    let first = match chain {
        [one] => one,
        // Blank frames are no JSON events anyway.
        [one, Preprocessor::RemoveEmpty] if codec == InputCodec::Json => one,
        _ => return None,
    };
    match first {
        Preprocessor::Separate { separator, length_max: MESSAGE_BYTES_MAX, buffered: true } => {
            Some(Framing::Separated(*separator))
        }
        _ => None,
    }
}
