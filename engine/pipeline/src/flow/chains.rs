//! Codecs and interceptors of connectors by their names.

use super::settings::{Named, Settings, complain};
use temblor_codec::interceptor::{
    MESSAGE_BYTES_MAX, PACKINGS, PLAIN_POSTPROCESSORS, PREPROCESSORS, Packing, Postprocessor,
    Preprocessor,
};
use temblor_codec::{Encoding, InputCodec, OutputCodec};
use temblor_codec::{FORMATS, names};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::Compiler;
use temblor_lang::value::Arena;
use temblor_runtime::framing::Framing;

/// Codecs of tremor that are not part of this build.
const CODECS_MISSING: [&str; 2] = ["avro", "confluent-schema-registry"];
/// The postprocessors that need a configuration.
const POSTPROCESSORS_CONFIGURED: [&str; 3] = ["chunk", "compress", STREAMING];
/// The postprocessor that compresses what a sink gets as one stream.
const STREAMING: &str = "streaming-compress";

/// The postprocessors of a connector.
#[derive(Debug, Default)]
pub struct After {
    /// What happens to each encoded event, in order.
    pub each: Vec<Postprocessor>,
    /// How the sink's bytes are compressed as one stream, and with which level.
    pub stream: Option<(Packing, Option<i64>)>,
}

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
        let complaint = Diagnostic::error("E0519", named.span, message);
        match EARLIER.iter().find(|(earlier, _)| *earlier == name) {
            Some((_, now)) => complaint.with_help(format!("since tremor 0.13 this is `{now}`")),
            None => complaint.with_known(name, known),
        }
    });
}

/// Names of tremor 0.12, and what is written instead.
const EARLIER: [(&str, &str); 9] = [
    ("json-sorted", r#"{"name": "json", "config": {"mode": "sorted"}}"#),
    ("lines", "separate"),
    ("lines-no-buffer", r#"{"name": "separate", "config": {"buffered": false}}"#),
    (
        "lines-cr-no-buffer",
        r#"{"name": "separate", "config": {"separator": "\r", "buffered": false}}"#,
    ),
    ("lines-null", r#"{"name": "separate", "config": {"separator": "\u0000"}}"#),
    ("lines-pipe", r#"{"name": "separate", "config": {"separator": "|"}}"#),
    ("delimited", "separate"),
    ("length-prefix", "length-prefixed"),
    ("textual-length-prefix", "textual-length-prefixed"),
];

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

/// How a source of a Temblor file reads its messages; JSON when it does not say.
pub fn reader(settings: &Settings, compiler: &mut Compiler<'_>) -> InputCodec {
    let arena = Arena::new();
    match settings.codec(&arena, compiler) {
        Some(named) if named.is_plain() => names::reader(named.name).unwrap_or_else(|| {
            unknown("codec", &named, &names::reading(), &CODECS_MISSING, compiler);
            InputCodec::Json
        }),
        _ => codec(settings, compiler).0,
    }
}

/// How a sink of a Temblor file writes events.
pub fn writer(settings: &Settings, compiler: &mut Compiler<'_>) -> Encoding {
    let arena = Arena::new();
    match settings.codec(&arena, compiler) {
        Some(named) if named.is_plain() => names::writer(named.name).unwrap_or_else(|| {
            unknown("codec", &named, &names::writing(), &CODECS_MISSING, compiler);
            Encoding::default()
        }),
        _ => Encoding { codec: codec(settings, compiler).1, post: None },
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
        "decompress" => match config.text("algorithm", compiler) {
            None | Some("autodetect") => Preprocessor::Decompress(None),
            Some(name) => Preprocessor::Decompress(Some(packing(name, named, compiler)?)),
        },
        _ => plain("preprocessor", named, PREPROCESSORS, &[], compiler)?,
    })
}

/// The postprocessors.
pub fn postprocessors(settings: &Settings, compiler: &mut Compiler<'_>) -> After {
    let arena = Arena::new();
    let mut named = settings.interceptors("postprocessors", &arena, compiler);
    let stream = named.pop_if(|last| last.name == STREAMING);
    let stream = stream.and_then(|named| streaming(&named, compiler));
    let last = named.len().saturating_sub(1);
    for (at, one) in named.iter().enumerate() {
        if one.name == STREAMING || (at < last && matches!(one.name, "chunk" | "collect")) {
            let message = format!("`{}` must be the last postprocessor", one.name);
            complain(compiler, one.span, message);
        }
    }
    let each = named.iter().filter(|one| one.name != STREAMING);
    After { each: each.filter_map(|one| postprocessor(one, compiler)).collect(), stream }
}

fn streaming(named: &Named<'_>, compiler: &mut Compiler<'_>) -> Option<(Packing, Option<i64>)> {
    let (packing, level) = compression(named, compiler)?;
    if !matches!(packing, Packing::Xz | Packing::Zstd) {
        let message = format!("the algorithm of `{STREAMING}` must be xz2 or zstd");
        complain(compiler, named.span, message);
    }
    Some((packing, level))
}

/// The algorithm of `compress` and its like, and its level.
fn compression(named: &Named<'_>, compiler: &mut Compiler<'_>) -> Option<(Packing, Option<i64>)> {
    let config = named.config(&["algorithm", "level"], compiler);
    let Some(name) = config.text("algorithm", compiler) else {
        config.missing("algorithm", "such as gzip or zstd", compiler);
        return None;
    };
    let packing = packing(name, named, compiler)?;
    let level = match packing.levels() {
        Some((least, most)) => config.within("level", least, most, compiler),
        None => config.refused("level", &format!("`{name}` has no levels"), compiler),
    };
    Some((packing, level))
}

fn postprocessor(named: &Named<'_>, compiler: &mut Compiler<'_>) -> Option<Postprocessor> {
    let keys: &[&str] = match named.name {
        "separate" => &["separator"],
        "chunk" | "collect" => &["max_bytes"],
        "compress" => {
            let (packing, level) = compression(named, compiler)?;
            return Some(Postprocessor::Compress(packing, level));
        }
        _ => &[],
    };
    let config = named.config(keys, compiler);
    Some(match named.name {
        "separate" => {
            Postprocessor::Separate(separator(config.text("separator", compiler), named, compiler))
        }
        "chunk" => match config.whole("max_bytes", 1, compiler) {
            Some(most) => {
                Postprocessor::Join { bytes_max: usize::try_from(most).unwrap_or(usize::MAX) }
            }
            None => {
                config.missing("max_bytes", "the longest chunk, in bytes", compiler);
                return None;
            }
        },
        _ => plain(
            "postprocessor",
            named,
            PLAIN_POSTPROCESSORS,
            &POSTPROCESSORS_CONFIGURED,
            compiler,
        )?,
    })
}

/// What this name stands for in a table; when it is neither there nor one of `others`, this is said.
fn plain<T>(
    what: &str,
    named: &Named<'_>,
    table: impl IntoIterator<Item = (&'static str, T)>,
    others: &[&'static str],
    compiler: &mut Compiler<'_>,
) -> Option<T> {
    let mut known = others.to_vec();
    for (name, meaning) in table {
        if name == named.name {
            return Some(meaning);
        }
        known.push(name);
    }
    known.sort_unstable();
    unknown(what, named, &known, &[], compiler);
    None
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
    plain("algorithm", &Named::plain_at(name, named.span), PACKINGS.iter().copied(), &[], compiler)
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
