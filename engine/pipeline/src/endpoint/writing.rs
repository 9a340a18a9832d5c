//! How a sink of a Temblor file turns events into bytes, and how much may wait for it.

use super::reading::refuse_codec;
use temblor_codec::interceptor::{Packing, Postprocessor};
use temblor_codec::{Encoding, OutputCodec, names};
use temblor_declare::interceptor::after::{self, Stream};
use temblor_declare::{BuiltSink, CodecUse, Connector, Settings, codec};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::Compiler;

/// What the settings of a sink say.
pub(super) struct Writing {
    /// How each event is written.
    pub encoding: Encoding,
    /// How all that the sink gets is compressed as one stream.
    pub stream: Option<Stream>,
}

/// Reads codec, postprocessors and compression.
pub(super) fn writing(
    connector: &Connector,
    settings: &Settings,
    compiler: &mut Compiler<'_>,
) -> Writing {
    refuse_codec(connector, settings, compiler);
    let diagnostics = &mut compiler.diagnostics;
    let mut encoding = match (connector.codec, settings.named("codec").first()) {
        (CodecUse::Structured, _) => Encoding { codec: OutputCodec::Json, post: None },
        (CodecUse::Letters, _) => Encoding { codec: OutputCodec::Letter, post: None },
        (CodecUse::Default(name), None) => names::writer(name).unwrap_or_default(),
        (_, named) => codec::writer(named, settings.span_of("codec"), diagnostics),
    };
    let named = settings.named("postprocessors");
    let after = after::chain(named, settings.span_of("postprocessors"), diagnostics);
    if settings.says("postprocessors") {
        encoding.post = Some(after.each.into_boxed_slice());
    } else if !connector.writes_lines {
        encoding.post = Some(Box::from([]));
    }
    Writing { encoding, stream: after.stream }
}

/// What only some sinks take: a compression of the whole. What goes with others is reported.
pub(super) fn fit(
    connector: &Connector,
    sink: &BuiltSink,
    settings: &Settings,
    writing: &mut Writing,
    compiler: &mut Compiler<'_>,
) {
    let refuse = |name: &str, message: &str, help: &str| {
        let message = format!("{message} `{}`", connector.kind);
        Diagnostic::error("E0510", settings.span_of(name), message).with_help(help)
    };
    if !sink.is_stream && writing.stream.is_some() {
        let message = "`streaming-compress` does not go with";
        let help = "it compresses files, commands and standard output; `compress` packs each event";
        compiler.diagnostics.push(refuse("postprocessors", message, help));
    }
    if sink.is_stream && settings.optional_text("compression") == Some("gzip") {
        let each = writing.encoding.post.take();
        let mut each = each.map_or_else(|| vec![Postprocessor::Separate(b'\n')], <[_]>::into_vec);
        each.push(Postprocessor::Compress(Packing::Gzip, None));
        writing.encoding.post = Some(each.into_boxed_slice());
    }
}
