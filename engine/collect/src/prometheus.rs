//! `prometheus`: samples by remote write, version 1 (protobuf, compressed by Snappy).
//!
//! Invariant: samples of one series leave in the order in which they came.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE};
use hyper::{HeaderMap, Request, StatusCode};
use prost::Message;
use serde_json::Value;
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::task_sink;
use temblor_wire::retry::{RETRY, Retry};

use crate::client::{self, Client};
use crate::dial;
use crate::parcels::{self, Parcels};

/// Samples of one request.
const SAMPLES_MAX: u64 = 2000;
/// Bytes of the events of one request.
const BYTES_MAX: usize = 4 << 20;
/// The label that holds the name of a metric.
const NAME: &str = "__name__";

/// Remote write.
pub(crate) static PROMETHEUS: Connector = Connector {
    kind: "prometheus",
    notation: Notation::Temblor,
    doc: "Samples to Prometheus, or what speaks its remote write (version 1). Events are `{\"name\", \"value\", \
          \"labels\", \"time\"}`: labels are a record, the time is in nanoseconds, and in the present where there is \
          none. Samples are confirmed when the server has answered 2xx; 429 and 5xx are tried again; what it refuses, \
          and events that are no samples, come back on `err`.",
    ends: Ends::Sink,
    address: Some("\"http://HOST:PORT/api/v1/write\""),
    source: &[],
    sink: &[
        Setting::new("headers", Takes::Map, "Further headers of each request."),
        dial::TIMEOUT,
        dial::TLS_CLIENT,
        Setting::new("retry", Takes::Record(RETRY), "The waits between attempts."),
    ],
    codec: CodecUse::Structured,
    writes_lines: false,
    gives: &[],
    meta: &[],
    examples: &[r#"sink kept into prometheus "http://127.0.0.1:9090/api/v1/write"; in |> kept"#],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let (url, warnings) = client::base(settings.text("address"), settings)?;
    let errors = Feedback::new();
    let sending = Sending {
        client: client::of_settings(settings, false)?,
        url,
        headers: client::headers(settings)?,
        timeout: settings.duration("timeout"),
        retry: Retry::of_settings(settings.record("retry")),
        errors: Arc::clone(&errors),
    };
    let sink = Some(BuiltSink::of_events(sending, errors));
    Ok(Built { sink, warnings, ..Built::default() })
}

/// `prometheus.WriteRequest`.
#[derive(Clone, PartialEq, Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    series: Vec<Series>,
}

/// `prometheus.TimeSeries`.
#[derive(Clone, PartialEq, Message)]
struct Series {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    /// Milliseconds since 1970.
    #[prost(int64, tag = "2")]
    timestamp: i64,
}

#[derive(Clone, Debug)]
struct Sending {
    client: Client,
    url: String,
    headers: HeaderMap,
    timeout: Duration,
    retry: Retry,
    errors: Arc<Feedback>,
}

impl OpenSink for Sending {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::run))
    }
}

/// Labels in the order of their names, as the protocol wants them.
type Labels = BTreeMap<String, String>;

impl Sending {
    async fn run(mut self, outlet: Arc<Outlet>, desk: Desk) {
        while let Some(mut parcels) = Parcels::take(&outlet, SAMPLES_MAX, BYTES_MAX).await {
            let (body, taken) = gather(&mut parcels);
            if taken.is_empty() {
                parcels.confirm(&self.errors).await;
                continue;
            }
            match self.deliver(body, &desk).await {
                Ok(None) => parcels.confirm(&self.errors).await,
                Ok(Some(refusal)) => {
                    taken.into_iter().for_each(|index| parcels.refuse(index, refusal.clone()));
                    parcels.confirm(&self.errors).await;
                }
                Err(error) => parcels.fail(&error),
            }
        }
    }

    /// Sends until there is an answer that stays: what was refused for good, if anything was.
    async fn deliver(&mut self, body: Bytes, desk: &Desk) -> Result<Option<String>, Error> {
        loop {
            let error = match self.attempt(body.clone()).await {
                Ok(refusal) => {
                    self.retry.succeed();
                    return Ok(refusal);
                }
                Err(reason) => {
                    let help = "check the URL, and that the server takes remote write";
                    Error::output(self.url.clone(), reason, help)
                }
            };
            if !parcels::wait(&mut self.retry, desk, &error).await {
                return Err(error);
            }
        }
    }

    async fn attempt(&self, body: Bytes) -> Result<Option<String>, String> {
        let mut request = Request::post(&self.url)
            .header(CONTENT_TYPE, "application/x-protobuf")
            .header(CONTENT_ENCODING, "snappy")
            .header("x-prometheus-remote-write-version", "0.1.0");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body)).map_err(|error| error.to_string())?;
        let answer = self.client.send(request, self.timeout).await?;
        let text = String::from_utf8_lossy(&answer.body[..answer.body.len().min(500)]);
        match answer.status {
            status if status.is_success() => Ok(None),
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                Err(format!("answered {status}: {}", text.trim()))
            }
            status => Ok(Some(format!("the server answered {status}: {}", text.trim()))),
        }
    }
}

/// The request of all events that are samples, and which these are; others are refused.
fn gather(parcels: &mut Parcels) -> (Bytes, Vec<(usize, usize)>) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let (mut series, mut taken): (BTreeMap<Labels, Vec<Sample>>, Vec<_>) = Default::default();
    let indices: Vec<_> = parcels.indices().collect();
    for index in indices {
        match sample(parcels.event(index), now) {
            Ok((labels, sample)) => {
                series.entry(labels).or_default().push(sample);
                taken.push(index);
            }
            Err(reason) => parcels.refuse(index, reason),
        }
    }
    let label = |(name, value)| Label { name, value };
    let one = |(labels, samples): (Labels, Vec<Sample>)| {
        let labels = labels.into_iter().map(label).collect();
        Series { labels, samples }
    };
    let request = WriteRequest { series: series.into_iter().map(one).collect() };
    let packed = snap::raw::Encoder::new().compress_vec(&request.encode_to_vec());
    (packed.expect("requests are far below 4 GiB").into(), taken)
}

fn sample(event: &[u8], now: i64) -> Result<(Labels, Sample), String> {
    let event: Value = serde_json::from_slice(event).map_err(|error| error.to_string())?;
    let name = event["name"].as_str().filter(|name| is_name(name, true));
    let name = name.ok_or("a sample has a `name` of letters, digits, `_` and `:`")?;
    let value = event["value"].as_f64().ok_or("a sample has a `value`, a number")?;
    let timestamp = match &event["time"] {
        Value::Null => now,
        time => {
            time.as_i64().ok_or("the `time` of a sample is a number of nanoseconds")? / 1_000_000
        }
    };
    let mut labels = Labels::from([(NAME.to_string(), name.to_string())]);
    for (name, value) in event["labels"].as_object().into_iter().flatten() {
        if !is_name(name, false) || name == NAME {
            return Err(format!("`{name}` is no name of a label: letters, digits and `_`"));
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        labels.insert(name.clone(), text);
    }
    Ok((labels, Sample { value, timestamp }))
}

/// Whether a name may be that of a metric, or of a label.
fn is_name(name: &str, may_have_colons: bool) -> bool {
    let fits =
        |one: char| one.is_ascii_alphanumeric() || one == '_' || (may_have_colons && one == ':');
    name.chars().all(fits) && name.starts_with(|one: char| !one.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_become_samples_with_sorted_labels() {
        let event =
            br#"{"name":"hits","value":3,"labels":{"z":"1","a":2},"time":1700000000123456789}"#;
        let (labels, sample) = super::sample(event, 5).unwrap();
        let labels: Vec<_> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(labels, ["__name__=hits", "a=2", "z=1"]);
        assert_eq!(sample, Sample { value: 3.0, timestamp: 1_700_000_000_123 });
        assert_eq!(super::sample(br#"{"name":"x","value":0.5}"#, 5).unwrap().1.timestamp, 5);
    }

    #[test]
    fn other_events_are_none() {
        for event in [
            "7",
            r#"{"value":1}"#,
            r#"{"name":"a b","value":1}"#,
            r#"{"name":"1","value":1}"#,
            r#"{"name":"a","value":"1"}"#,
            r#"{"name":"a","value":1,"time":"now"}"#,
            r#"{"name":"a","value":1,"labels":{"a:b":1}}"#,
            r#"{"name":"a","value":1,"labels":{"__name__":"b"}}"#,
        ] {
            assert!(sample(event.as_bytes(), 0).is_err(), "{event}");
        }
    }
}
