//! What is pushed to Loki as Protocol Buffers: what Promtail, the agents of Grafana and most others send.
//!
//! Invariant: nothing is unpacked before it is known that it is not too large.

use prost::Message;
use serde_json::{Map, Value};

use super::{Line, labels};

/// `logproto.PushRequest`: the fields that carry something.
#[derive(Clone, PartialEq, Message)]
struct PushRequest {
    #[prost(message, repeated, tag = "1")]
    streams: Vec<Stream>,
}

#[derive(Clone, PartialEq, Message)]
struct Stream {
    /// Labels as Prometheus writes them: `{job="app"}`.
    #[prost(string, tag = "1")]
    labels: String,
    #[prost(message, repeated, tag = "2")]
    entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
struct Entry {
    #[prost(message, optional, tag = "1")]
    timestamp: Option<Timestamp>,
    #[prost(string, tag = "2")]
    line: String,
    #[prost(message, repeated, tag = "3")]
    metadata: Vec<Pair>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Timestamp {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanoseconds: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Pair {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// Gives each line of a body, which snappy has compressed, to `take`.
///
/// # Errors
/// Why the body cannot be read.
pub(super) fn read(
    body: &[u8],
    bytes_max: usize,
    take: impl FnMut(Line<'_>),
) -> Result<(), String> {
    let damaged = |error| format!("the body is not compressed by snappy: {error}");
    let bytes = snap::raw::decompress_len(body).map_err(damaged)?;
    if bytes > bytes_max {
        return Err(format!(
            "decompressed, the body has {bytes} bytes; {bytes_max} are taken (`max_decompressed`)"
        ));
    }
    let plain = snap::raw::Decoder::new().decompress_vec(body).map_err(damaged)?;
    let request = PushRequest::decode(plain.as_slice());
    lines(&request.map_err(|error| format!("the body is no push request: {error}"))?, take)
}

fn lines(request: &PushRequest, mut take: impl FnMut(Line<'_>)) -> Result<(), String> {
    for stream in &request.streams {
        let labels = labels::parse(&stream.labels)?.to_string();
        for entry in &stream.entries {
            let metadata = (!entry.metadata.is_empty()).then(|| {
                let pairs = entry.metadata.iter();
                let pairs = pairs.map(|pair| (pair.name.clone(), Value::from(pair.value.as_str())));
                Value::Object(pairs.collect::<Map<_, _>>()).to_string()
            });
            let time_ns = entry.timestamp.map_or(Ok(0), nanoseconds)?;
            let metadata = metadata.as_deref();
            take(Line { labels: &labels, time_ns, line: &entry.line, metadata });
        }
    }
    Ok(())
}

fn nanoseconds(time: Timestamp) -> Result<u64, String> {
    let wrong = || format!("{}.{:09} is no time after 1970", time.seconds, time.nanoseconds);
    let seconds = u64::try_from(time.seconds).map_err(|_| wrong())?;
    let rest = u64::try_from(time.nanoseconds).map_err(|_| wrong())?;
    seconds.checked_mul(1_000_000_000).and_then(|all| all.checked_add(rest)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(labels: &str, seconds: i64) -> Vec<u8> {
        let pair = Pair { name: "k".to_string(), value: "v".to_string() };
        let entry = |line: &str, metadata| Entry {
            timestamp: Some(Timestamp { seconds, nanoseconds: 5 }),
            line: line.to_string(),
            metadata,
        };
        let entries = vec![entry("one", Vec::new()), entry("two", vec![pair])];
        let streams = vec![Stream { labels: labels.to_string(), entries }];
        let plain = PushRequest { streams }.encode_to_vec();
        snap::raw::Encoder::new().compress_vec(&plain).unwrap()
    }

    #[test]
    fn lines_come_with_their_labels_and_times() {
        let mut found = Vec::new();
        let take = |line: Line<'_>| {
            let Line { labels, time_ns, line, metadata } = line;
            found.push(format!("{labels} {time_ns} {line} {metadata:?}"));
        };
        read(&request("{a=\"b\", c=\"d\"}", 2), 1 << 20, take).unwrap();
        assert_eq!(
            found,
            [
                r#"{"a":"b","c":"d"} 2000000005 one None"#,
                r#"{"a":"b","c":"d"} 2000000005 two Some("{\"k\":\"v\"}")"#
            ]
        );
    }

    #[test]
    fn what_is_no_push_is_told_and_bombs_are_not_unpacked() {
        let said = |body: &[u8], most| read(body, most, |_| {}).unwrap_err();
        assert!(said(b"{\"streams\":[]}", 1 << 20).contains("snappy"));
        assert!(said(&request("{a=\"b\"}", 2), 10).contains("10 are taken"));
        assert!(said(&request("{a=b}", 2), 1 << 20).contains("labels"));
        assert!(said(&request("{a=\"b\"}", -2), 1 << 20).contains("no time"));
        let garbage = snap::raw::Encoder::new().compress_vec(&[0xff; 100]).unwrap();
        assert!(said(&garbage, 1 << 20).contains("no push request"));
        let bomb = snap::raw::Encoder::new().compress_vec(&vec![0; 2 << 20]).unwrap();
        assert!(said(&bomb, 1 << 20).contains("2097152 bytes"));
        let whole = request("{a=\"b\"}", 2);
        for end in 0..whole.len() {
            assert!(read(&whole[..end], 1 << 20, |_| {}).is_err(), "cut at {end}");
        }
    }
}
