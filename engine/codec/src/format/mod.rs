//! Codecs of connectors besides JSON and plain strings: each reads one message into a value and
//! writes one value as a message. A message that a codec cannot read is an error of its own only.

mod binary;
mod binflux;
mod msgpack;

use std::sync::LazyLock;
use temblor_lang::value::{Arena, Value, push_text};
use temblor_stdlib::formats::csv::{Csv, CsvOptions};
use temblor_stdlib::formats::syslog::SyslogDialect;
use temblor_stdlib::formats::{dogstatsd, graphite, influx, statsd, syslog, yaml};

/// Values inside of values that a binary codec reads, at the most.
const DEPTH_MAX: usize = 512;

/// A format of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `binary`: the bytes themselves.
    Binary,
    /// `null`: nothing.
    Null,
    /// `csv`: one line of fields.
    Csv,
    /// `influx`: line protocol.
    Influx,
    /// `binflux`: points of InfluxDB as bytes.
    Binflux,
    /// `statsd`
    Statsd,
    /// `dogstatsd`: metrics, events and service checks.
    Dogstatsd,
    /// `syslog`: RFC 5424 and RFC 3164.
    Syslog,
    /// `syslog-devices`: the same, and what devices send instead.
    SyslogDevices,
    /// `graphite-plaintext`
    Graphite,
    /// `msgpack`: <https://github.com/msgpack/msgpack/blob/master/spec.md>
    MessagePack,
    /// `yaml`: one document of YAML 1.2.
    Yaml,
    /// `tremor`: tagged values, numbers in network order.
    Tremor,
}

static CSV: LazyLock<Csv> = LazyLock::new(|| {
    Csv::compile(&CsvOptions::default()).expect("comma and double quote are different")
});

impl Format {
    /// Whether its messages are bytes that a newline cannot separate.
    #[must_use]
    pub fn is_bytes(self) -> bool {
        matches!(self, Format::Binflux | Format::MessagePack | Format::Tremor)
    }

    /// Whether a message may hold newlines, so that an input without other framing is one message.
    #[must_use]
    pub fn spans_lines(self) -> bool {
        self.is_bytes() || self == Format::Yaml
    }

    /// Reads a message; `None` when it holds no event (a comment).
    ///
    /// # Errors
    /// A sentence about the message.
    pub fn decode<'a>(
        self,
        message: &'a [u8],
        ingest_ns: u64,
        arena: &'a Arena,
    ) -> Result<Option<Value<'a>>, String> {
        let text = || {
            std::str::from_utf8(message)
                .map_err(|error| format!("not UTF-8: byte {} is invalid", error.valid_up_to()))
        };
        let value = match self {
            Format::Binary => Value::Bytes(message),
            Format::Null => Value::Null,
            Format::Csv if message.is_empty() => return Ok(None),
            Format::Csv => CSV.parse(text()?, arena).map_err(|error| error.to_string())?,
            Format::Influx => {
                return influx::parse(text()?, ingest_ns, arena).map_err(|error| error.to_string());
            }
            Format::Binflux => binflux::decode(message, arena)?,
            Format::Statsd => statsd::parse(text()?, arena).map_err(|error| error.to_string())?,
            Format::Dogstatsd => {
                dogstatsd::parse(text()?, arena).map_err(|error| error.to_string())?
            }
            Format::Yaml => yaml::parse(text()?, arena).map_err(|error| error.to_string())?,
            Format::Syslog => syslog::parse(text()?, SyslogDialect::Lenient, ingest_ns, arena)
                .map_err(|error| error.to_string())?,
            Format::SyslogDevices => syslog::read_device(text()?, ingest_ns, arena),
            Format::Graphite => {
                graphite::parse(text()?, ingest_ns, arena).map_err(|error| error.to_string())?
            }
            Format::MessagePack => msgpack::decode(message, arena)?,
            Format::Tremor => binary::decode(message, arena)?,
        };
        Ok(Some(value))
    }

    /// Appends a value as a message.
    ///
    /// # Errors
    /// A sentence about the value; `out` may then end in a part of the message.
    pub fn encode(self, value: Value<'_>, ingest_ns: u64, out: &mut Vec<u8>) -> Result<(), String> {
        let arena = Arena::new();
        let value = value.copy_into(&arena);
        let done = match self {
            Format::Null => Ok(()),
            Format::Binary => {
                match value {
                    Value::Bytes(bytes) => out.extend_from_slice(bytes),
                    value => push_text(out, value),
                }
                Ok(())
            }
            Format::Csv => CSV.encode(value, &arena, out),
            Format::Influx => influx::encode(value, &arena, out),
            Format::Binflux => return binflux::encode(value, &arena, out),
            Format::Statsd => statsd::encode(value, &arena, out),
            Format::Dogstatsd => dogstatsd::encode(value, &arena, out),
            Format::Yaml => {
                yaml::encode(value, &arena, out);
                Ok(())
            }
            Format::Syslog => syslog::encode(value, SyslogDialect::Lenient, ingest_ns, &arena, out),
            Format::SyslogDevices => {
                syslog::encode(value, SyslogDialect::Strict, ingest_ns, &arena, out)
            }
            Format::Graphite => graphite::encode(value, &arena, out),
            Format::MessagePack => return msgpack::encode(value, &arena, out),
            Format::Tremor => {
                binary::encode(value, &arena, out);
                Ok(())
            }
        };
        done.map_err(|error| error.to_string())
    }
}

/// Reads numbers and parts off the front of a message.
struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (head, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| format!("the message ends where {count} more bytes should be"))?;
        self.rest = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn text(&mut self, count: usize) -> Result<&'a str, String> {
        std::str::from_utf8(self.take(count)?).map_err(|error| format!("not UTF-8: {error}"))
    }

    /// A number of parts, each of which takes at least one byte.
    fn count(&self, count: u64) -> Result<usize, String> {
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= self.rest.len())
            .ok_or_else(|| format!("a length of {count} is more than the message holds"))
    }

    fn end(&self) -> Result<(), String> {
        match self.rest.len() {
            0 => Ok(()),
            count => Err(format!("{count} bytes follow the value")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;
    use temblor_stdlib::formats::json;

    #[test]
    fn values_survive_binary_formats() {
        let arena = Arena::new();
        let long = "x".repeat(70_000);
        let text = format!(
            r#"{{"a":[1,-1,-33,200,70000,5000000000,-70000,-5000000000,1.5,null,true,false],
                "b":{{"c":"d","é":""}},"long":"{long}","many":[{}0]}}"#,
            "1,".repeat(40)
        );
        let value = json::parse(&text, &arena).expect("it is JSON");
        for format in [Format::MessagePack, Format::Tremor] {
            let mut message = Vec::new();
            format.encode(value, 0, &mut message).unwrap();
            let back = format.decode(&message, 0, &arena).unwrap().expect("an event");
            assert_eq!(to_json(back), to_json(value), "{format:?}");
            for cut in (0..message.len().min(300)).chain([message.len() - 1]) {
                assert!(format.decode(&message[..cut], 0, &arena).is_err(), "{format:?} {cut}");
            }
        }
    }

    #[test]
    fn hostile_messages_are_errors() {
        let arena = Arena::new();
        let deep = vec![0x91; 100_000];
        let error = Format::MessagePack.decode(&deep, 0, &arena).unwrap_err();
        assert!(error.contains("nested"), "{error}");
        assert!(Format::MessagePack.decode(&[0xdd, 255, 255, 255, 255], 0, &arena).is_err());
        assert!(Format::MessagePack.decode(&[0xc1], 0, &arena).is_err());
        assert!(Format::Tremor.decode(&[0, 0, 9, 255, 255], 0, &arena).is_err());
        assert!(Format::Tremor.decode(&[1, 0, 0], 0, &arena).is_err());
    }

    #[test]
    fn text_formats_do_as_tremor_does() {
        let arena = Arena::new();
        let read = |format: Format, text: &'static str| {
            let value = format.decode(text.as_bytes(), 7, &arena).unwrap();
            value.map_or("none".to_string(), to_json)
        };
        assert_eq!(read(Format::Csv, r#"a,"b,c",3"#), r#"["a","b,c","3"]"#);
        assert_eq!(read(Format::Influx, "# nothing"), "none");
        assert_eq!(read(Format::Null, "x"), "null");
        assert_eq!(
            read(Format::Graphite, "a.b 1.5 -1"),
            r#"{"metric":"a.b","value":1.5,"timestamp":7}"#
        );
        let mut out = Vec::new();
        assert!(Format::Statsd.encode(Value::Null, 0, &mut out).is_err());
    }
}
