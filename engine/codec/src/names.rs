//! Codecs by their names, as programs and the command line write them.

use crate::decode::InputCodec;
use crate::encode::{Encoding, OutputCodec};
use crate::format::{FORMATS, Format};
use temblor_runtime::framing::Framing;

/// Names of codecs that read, besides those of the formats.
const READING: &[(&str, InputCodec)] = &[
    ("json", InputCodec::Json),
    ("lines", InputCodec::String),
    ("string", InputCodec::String),
    ("syslog-devices", InputCodec::Format(Format::SyslogDevices)),
];
/// The codec that writes texts and bytes as they are, without a newline behind them.
const RAW: &str = "raw";
/// Names of codecs that write, besides those of the formats.
const WRITING: &[(&str, OutputCodec)] = &[
    ("json", OutputCodec::Json),
    ("lines", OutputCodec::String),
    ("pretty-json", OutputCodec::PrettyJson),
    (RAW, OutputCodec::Format(Format::Binary)),
    ("sorted-json", OutputCodec::SortedJson),
    ("string", OutputCodec::String),
    ("syslog-devices", OutputCodec::Format(Format::SyslogDevices)),
    ("with-port", OutputCodec::WithPort),
];

/// The names of all codecs that read, in the order of the alphabet.
#[must_use]
pub fn reading() -> Vec<&'static str> {
    sorted(READING.iter().map(|(name, _)| *name))
}

/// The names of all codecs that write, in the order of the alphabet.
#[must_use]
pub fn writing() -> Vec<&'static str> {
    sorted(WRITING.iter().map(|(name, _)| *name))
}

fn sorted(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut all: Vec<_> = names.chain(FORMATS.iter().map(|(name, _)| *name)).collect();
    all.sort_unstable();
    all
}

fn format(name: &str) -> Option<Format> {
    FORMATS.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
}

/// The codec of this name that reads.
#[must_use]
pub fn reader(name: &str) -> Option<InputCodec> {
    let known = READING.iter().find(|(known, _)| *known == name).map(|(_, codec)| *codec);
    known.or_else(|| format(name).map(InputCodec::Format))
}

/// The codec of this name that writes, with what ends an event where the program does not say.
#[must_use]
pub fn writer(name: &str) -> Option<Encoding> {
    let known = WRITING.iter().find(|(known, _)| *known == name).map(|(_, codec)| *codec);
    let codec = known.or_else(|| format(name).map(OutputCodec::Format))?;
    let is_bare = name == RAW || matches!(codec, OutputCodec::Format(one) if one.is_bytes());
    Some(Encoding { codec, post: is_bare.then(|| Box::from([])) })
}

/// How an input is cut into messages where the program does not say.
#[must_use]
pub fn framing(codec: InputCodec) -> Framing {
    match codec {
        InputCodec::Format(format) if format.spans_lines() => Framing::Whole,
        _ => Framing::Lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_has_its_codec() {
        for name in reading() {
            assert!(reader(name).is_some(), "{name}");
        }
        for name in writing() {
            assert!(writer(name).is_some(), "{name}");
        }
        assert!(reader("jsno").is_none() && writer("jsno").is_none());
    }
}
