//! Preprocessors: what is done to bytes before they are messages.

use temblor_codec::InputCodec;
use temblor_codec::interceptor::{MESSAGE_BYTES_MAX, Preprocessor};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Span;
use temblor_runtime::framing::Framing;

use super::{Interceptor, SEPARATOR, make, packing, separator};
use crate::setting::{Setting, Takes};
use crate::settings::Named;

/// What a packed input is looked at for when no algorithm is named.
const AUTODETECT: &str = "autodetect";

/// All preprocessors, in the order of the alphabet.
pub static PREPROCESSORS: &[Interceptor<Preprocessor>] = &[
    Interceptor {
        name: "base64",
        doc: "Decodes base64.",
        settings: &[],
        build: |_| Ok(Preprocessor::Base64),
    },
    Interceptor {
        name: "decompress",
        doc: "Unpacks each message.",
        settings: &[Setting::new(
            "algorithm",
            Takes::Word(&["br", "gzip", "lz4", "snappy", "xz2", "zlib", "zstd", AUTODETECT]),
            "How messages are packed; `autodetect` is what their first bytes say.",
        )
        .or(AUTODETECT)],
        build: |settings| match settings.text("algorithm") {
            AUTODETECT => Ok(Preprocessor::Decompress(None)),
            name => Ok(Preprocessor::Decompress(Some(packing(name)))),
        },
    },
    Interceptor {
        name: "gelf-chunking",
        doc: "Joins chunks of GELF to messages.",
        settings: &[],
        build: |_| Ok(Preprocessor::GelfChunking),
    },
    Interceptor {
        name: "ingest-ns",
        doc: "Takes the time of ingest from the first eight bytes of a message, big-endian.",
        settings: &[],
        build: |_| Ok(Preprocessor::IngestNs),
    },
    Interceptor {
        name: "length-prefixed",
        doc: "Cuts at lengths of eight bytes in front of messages, big-endian.",
        settings: &[],
        build: |_| Ok(Preprocessor::LengthPrefixed),
    },
    Interceptor {
        name: "remove-empty",
        doc: "Leaves empty messages out.",
        settings: &[],
        build: |_| Ok(Preprocessor::RemoveEmpty),
    },
    Interceptor {
        name: "separate",
        doc: "Cuts at a byte.",
        settings: &[
            SEPARATOR,
            Setting::new(
                "max_length",
                Takes::Whole { least: 1, most: u64::MAX },
                "Messages of more bytes are left out.",
            ),
            Setting::new("buffered", Takes::Flag, "Whether a message may go on in the next chunk.")
                .or("true"),
        ],
        build: |settings| {
            let most = settings.optional_whole("max_length").unwrap_or(u64::MAX);
            let most = usize::try_from(most).unwrap_or(MESSAGE_BYTES_MAX);
            Ok(Preprocessor::Separate {
                separator: separator(settings)?,
                length_max: most.min(MESSAGE_BYTES_MAX),
                buffered: settings.flag("buffered"),
            })
        },
    },
    Interceptor {
        name: "textual-length-prefixed",
        doc: "Cuts at lengths in digits in front of messages: `5 hello`.",
        settings: &[],
        build: |_| Ok(Preprocessor::TextualLengthPrefixed),
    },
];

/// The preprocessors that a program names, in order; what is wrong is reported.
pub fn chain(named: &[Named], span: Span, diagnostics: &mut Vec<Diagnostic>) -> Vec<Preprocessor> {
    let one = |named| make("preprocessor", PREPROCESSORS, named, span, diagnostics);
    named.iter().filter_map(one).collect()
}

/// The framing that does the same as a chain, without the work of one.
#[must_use]
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
