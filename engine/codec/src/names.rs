//! Codecs: one row each, by the names that programs and the command line write.
//!
//! Invariant: a name that only reads or only writes says so in its row.

use crate::decode::InputCodec;
use crate::encode::{Encoding, OutputCodec};
use crate::format::Format;
use temblor_runtime::framing::Framing;

/// A codec.
#[derive(Debug)]
pub struct Codec {
    /// What it is called.
    pub name: &'static str,
    /// For the manual: what a message is.
    pub doc: &'static str,
    /// How it reads, if it does.
    pub reads: Option<InputCodec>,
    /// How it writes, if it does.
    pub writes: Option<OutputCodec>,
}

/// The codec that writes texts and bytes as they are, without a newline behind them.
const RAW: &str = "raw";

/// All codecs, in the order of the alphabet.
pub const CODECS: &[Codec] = &[
    of_format("binary", Format::Binary, "Bytes. Strings and bytes are written as they are."),
    of_format(
        "binflux",
        Format::Binflux,
        "A point of InfluxDB as bytes. An input is one message, unless preprocessors cut it.",
    ),
    of_format(
        "csv",
        Format::Csv,
        "A line of fields (RFC 4180), read as an array of strings and written from an array of scalars.",
    ),
    of_format("dogstatsd", Format::Dogstatsd, "A metric, event or service check of DogStatsD."),
    of_format("graphite-plaintext", Format::Graphite, "A line of Graphite's plaintext protocol."),
    of_format("influx", Format::Influx, "A line of InfluxDB's line protocol."),
    Codec {
        name: "json",
        doc: "A JSON value (RFC 8259), written compactly.",
        reads: Some(InputCodec::Json),
        writes: Some(OutputCodec::Json),
    },
    Codec {
        name: "lines",
        doc: "A text: another name of `string`.",
        reads: Some(InputCodec::String),
        writes: Some(OutputCodec::String),
    },
    of_format(
        "msgpack",
        Format::MessagePack,
        "A value of MessagePack. An input is one message, unless preprocessors cut it.",
    ),
    of_format("null", Format::Null, "Nothing: `null` is read of anything, and nothing is written."),
    only_writes("pretty-json", OutputCodec::PrettyJson, "A JSON value over several lines."),
    only_writes(
        RAW,
        OutputCodec::Format(Format::Binary),
        "Strings and bytes as they are, without a newline behind.",
    ),
    only_writes("sorted-json", OutputCodec::SortedJson, "A JSON value whose keys are sorted."),
    of_format("statsd", Format::Statsd, "A metric of StatsD."),
    Codec {
        name: "string",
        doc: "A text. What is no string is written as JSON.",
        reads: Some(InputCodec::String),
        writes: Some(OutputCodec::String),
    },
    of_format("syslog", Format::Syslog, "A message of RFC 5424 or RFC 3164."),
    of_format(
        "syslog-devices",
        Format::SyslogDevices,
        "A message of RFC 5424 or RFC 3164, or what devices send instead: no host, no time, Cisco's forms. Never fails to read; writes `user.notice` where nothing else is said.",
    ),
    of_format(
        "tremor",
        Format::Tremor,
        "A value in tremor's binary form. An input is one message, unless preprocessors cut it.",
    ),
    only_writes("with-port", OutputCodec::WithPort, "`{\"port\", \"event\"}` as JSON."),
    of_format("yaml", Format::Yaml, "A document of YAML 1.2. An input is one message."),
];

const fn of_format(name: &'static str, format: Format, doc: &'static str) -> Codec {
    let (reads, writes) = (InputCodec::Format(format), OutputCodec::Format(format));
    Codec { name, doc, reads: Some(reads), writes: Some(writes) }
}

const fn only_writes(name: &'static str, codec: OutputCodec, doc: &'static str) -> Codec {
    Codec { name, doc, reads: None, writes: Some(codec) }
}

/// The row of a name.
#[must_use]
pub fn codec(name: &str) -> Option<&'static Codec> {
    CODECS.iter().find(|row| row.name == name)
}

/// The names of all codecs that read, in the order of the alphabet.
#[must_use]
pub fn reading() -> Vec<&'static str> {
    CODECS.iter().filter(|row| row.reads.is_some()).map(|row| row.name).collect()
}

/// The names of all codecs that write, in the order of the alphabet.
#[must_use]
pub fn writing() -> Vec<&'static str> {
    CODECS.iter().filter(|row| row.writes.is_some()).map(|row| row.name).collect()
}

/// The codec of this name that reads.
#[must_use]
pub fn reader(name: &str) -> Option<InputCodec> {
    codec(name)?.reads
}

/// The codec of this name that writes, with what ends an event where the program does not say.
#[must_use]
pub fn writer(name: &str) -> Option<Encoding> {
    let codec = codec(name)?.writes?;
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
    fn names_are_sorted_and_each_reads_or_writes() {
        assert!(CODECS.is_sorted_by(|one, next| one.name < next.name));
        for row in CODECS {
            assert!(row.reads.is_some() || row.writes.is_some(), "{}", row.name);
        }
        assert!(reader("sorted-json").is_none() && writer("sorted-json").is_some());
        assert!(reader("jsno").is_none() && writer("jsno").is_none());
    }
}
