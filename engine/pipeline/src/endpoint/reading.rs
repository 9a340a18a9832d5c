//! How a source of a Temblor file turns bytes into messages: its codec, framing and preprocessors.

use crate::connected::Reading;
use temblor_codec::names;
use temblor_declare::{CodecUse, Connector, Settings, codec, interceptor};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::Compiler;
use temblor_runtime::framing::Framing;

/// What the settings of a source say, or the codec where they do not.
pub(super) fn reading(
    connector: &Connector,
    settings: &Settings,
    compiler: &mut Compiler<'_>,
) -> Reading {
    refuse_codec(connector, settings, compiler);
    let diagnostics = &mut compiler.diagnostics;
    let codec = match (connector.codec, settings.named("codec").first()) {
        (CodecUse::Structured | CodecUse::Letters, _) => temblor_codec::InputCodec::Json,
        (CodecUse::Default(name), None) => names::reader(name).unwrap_or_default(),
        (_, named) => codec::reader(named, settings.span_of("codec"), diagnostics),
    };
    let chosen = framing(settings);
    let named = settings.named("preprocessors");
    let span = settings.span_of("preprocessors");
    Reading {
        codec,
        framing: chosen.unwrap_or_else(|| names::framing(codec)),
        framing_is_chosen: chosen.is_some(),
        preprocessors: interceptor::before::chain(named, span, diagnostics),
        stream: None,
    }
}

/// The framing that the program chooses, if it does.
fn framing(settings: &Settings) -> Option<Framing> {
    if let Some(byte) = settings.optional_whole("separator") {
        return Some(Framing::Separated(u8::try_from(byte).expect("the row says 0 to 255")));
    }
    Some(match settings.optional_text("framing")? {
        "octet" => Framing::Counted,
        "whole" => Framing::Whole,
        _ => Framing::Lines,
    })
}

/// Reports a codec of a connector that gives and takes values.
pub(super) fn refuse_codec(
    connector: &Connector,
    settings: &Settings,
    compiler: &mut Compiler<'_>,
) {
    let has_none = matches!(connector.codec, CodecUse::Structured | CodecUse::Letters);
    if has_none && settings.says("codec") {
        let message = format!("`{}` gives and takes values; it has no codec", connector.kind);
        let span = settings.span_of("codec");
        compiler.diagnostics.push(Diagnostic::error("E0510", span, message));
    }
}
