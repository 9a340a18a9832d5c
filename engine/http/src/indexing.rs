//! Whether a collector of Splunk has indexed what it has taken: acknowledgement ids, from the sender's side.
//!
//! Invariant: events count as delivered when their id is acknowledged, and are sent again when it is not within
//! its time.

use std::time::Duration;

use bytes::Bytes;
use hyper::{Method, Uri};
use temblor_declare::Settings;
use tokio::time::Instant;

use crate::client::{Client, Got};
use crate::sink::{Form, Way};

/// The first wait between two questions; each is longer than the one before.
const WAIT_MIN: Duration = Duration::from_millis(100);
/// The longest wait between two questions.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// How a collector is asked.
#[derive(Clone, Debug)]
pub(crate) struct Indexing {
    /// What is not acknowledged within this time is sent again.
    pub(crate) timeout: Duration,
}

impl Indexing {
    /// As the settings of a collector say, if they ask for it.
    #[must_use]
    pub(crate) fn of_settings(settings: &Settings, form: Form) -> Option<Self> {
        let asks = form == Form::Hec && settings.flag("acknowledge");
        asks.then(|| Self { timeout: settings.duration("acknowledge_timeout") })
    }

    /// Waits until the request that was answered so is acknowledged.
    ///
    /// # Errors
    /// Why it is not, as a part of a sentence.
    pub(crate) async fn wait(&self, client: &Client, way: &Way, got: &Got) -> Result<(), String> {
        let answer: serde_json::Value = serde_json::from_slice(&got.body).unwrap_or_default();
        let id = answer.get("ackId").and_then(serde_json::Value::as_u64);
        let id = id.ok_or("the answer has no `ackId`: the token has no indexer acknowledgement")?;
        let uri = place(&way.uri)?;
        let body = Bytes::from(format!("{{\"acks\":[{id}]}}"));
        let (began, mut wait) = (Instant::now(), WAIT_MIN);
        while began.elapsed() < self.timeout {
            let said = client.send(&Method::POST, &uri, &way.headers, body.clone()).await;
            // A question that goes wrong is put again: the events are with the collector.
            if said.is_ok_and(|got| got.status.is_success() && is_acknowledged(&got.body, id)) {
                return Ok(());
            }
            tokio::time::sleep(wait.min(self.timeout)).await;
            wait = (wait * 2).min(WAIT_MAX);
        }
        Err(format!("events were not indexed within {:?} (`acknowledge_timeout`)", self.timeout))
    }
}

/// Where acknowledgements are asked for: beside the place that events are sent to.
fn place(events: &Uri) -> Result<Uri, String> {
    let path = events.path();
    let root = path.find("/services/collector").map_or("", |at| &path[..at]);
    let authority = events.authority().map_or("", |authority| authority.as_str());
    let scheme = events.scheme_str().unwrap_or("http");
    let text = format!("{scheme}://{authority}{root}/services/collector/ack");
    text.parse().map_err(|error: hyper::http::uri::InvalidUri| error.to_string())
}

fn is_acknowledged(body: &[u8], id: u64) -> bool {
    let answer: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let told = answer.get("acks").and_then(|acks| acks.get(id.to_string()));
    told.and_then(serde_json::Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements_are_asked_for_beside_the_events() {
        let events: Uri = "https://h:8088/x/services/collector/event".parse().unwrap();
        assert_eq!(place(&events).unwrap(), "https://h:8088/x/services/collector/ack");
        assert!(is_acknowledged(br#"{"acks":{"7":true}}"#, 7));
        for body in ["", r#"{"acks":{"7":false}}"#, r#"{"acks":{"8":true}}"#] {
            assert!(!is_acknowledged(body.as_bytes(), 7), "{body}");
        }
    }
}
