//! tremor's `dns_client`: events that are questions, and events that are answers.
//!
//! Invariant: an answer is an array of records `{TYPE: value, "ttl": seconds}`, with the `$correlation` of its
//! question.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hickory_resolver::proto::rr::{Record, RecordType};
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::error::Error;
use temblor_runtime::intake::Messages;
use temblor_runtime::outlet::{Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use tokio::task::JoinSet;

use super::{Servers, name_of, shown};
use crate::asking::Trouble;
use crate::outbound::{Task, TaskSink};

/// How long a question may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Questions at the same time.
const QUESTIONS_MAX: usize = 64;

/// Questions and answers.
pub static DNS_CLIENT: Connector = Connector {
    kind: "dns_client",
    notation: Notation::Tremor,
    doc: "Looks names up by the servers of the system. An event `{\"lookup\": \"name\"}` or \
          `{\"lookup\": {\"name\", \"type\"}}` is answered on `out` by an array of records, `{\"A\": \"192.0.2.1\", \
          \"ttl\": 60}` each; a question that fails goes to `err`.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[Setting::new(
        "correlation",
        Takes::Hidden("$correlation"),
        "Comes back with the answer.",
    )],
    codec: CodecUse::Structured,
    writes_lines: true,
    gives: &["out"],
    meta: &[],
    examples: &[],
    build,
};

fn build(_: &Build<'_>) -> Result<Built, Wrong> {
    let (errors, answers) = (Feedback::new(), Feedback::new());
    let servers = Servers { addresses: Vec::new(), timeout: TIMEOUT, made: OnceLock::new() };
    let client = Client {
        servers: Arc::new(servers),
        errors: Arc::clone(&errors),
        answers: Arc::clone(&answers),
    };
    let sink = BuiltSink { answers: Some(answers), ..BuiltSink::of_events(client, errors) };
    Ok(Built { sink: Some(sink), ..Built::default() })
}

#[derive(Clone, Debug)]
struct Client {
    servers: Arc<Servers>,
    errors: Arc<Feedback>,
    answers: Arc<Feedback>,
}

impl OpenSink for Client {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let client = self.clone();
        let work = move |outlet, _| -> Task { Box::pin(client.run(outlet)) };
        Ok(Box::new(TaskSink::new(work)))
    }
}

impl Client {
    async fn run(self, outlet: Arc<Outlet>) {
        let mut under_way = JoinSet::new();
        while let Some(parcel) = outlet.take().await {
            let client = self.clone();
            under_way.spawn(async move { client.answer(parcel).await });
            while under_way.len() >= QUESTIONS_MAX {
                under_way.join_next().await;
            }
        }
        while under_way.join_next().await.is_some() {}
    }

    async fn answer(self, parcel: Parcel) {
        let (mut messages, mut refused) = (Messages::default(), Vec::new());
        for event in 0..parcel.events().len() {
            match self.ask(parcel.event(event)).await {
                Ok(answer) => {
                    let meta = correlation(parcel.attribute(event, 0));
                    messages.push(&meta, answer.as_bytes());
                }
                Err(reason) => refused.push(Refusal { event, reason, details: String::new() }),
            }
        }
        let asked: Vec<_> =
            refused.iter().map(|one| correlation(parcel.attribute(one.event, 0))).collect();
        let mut asked = asked.into_iter();
        let meta = |_: &Refusal| asked.next().unwrap_or_default();
        parcel.answer_about(messages, &self.answers, &refused, meta, &self.errors);
    }

    async fn ask(&self, event: &[u8]) -> Result<String, String> {
        let (name, kind) = question(event)?;
        let reason = |trouble| match trouble {
            Trouble::ForNow(reason, _) | Trouble::ForGood(reason) => reason,
        };
        let name = name_of(&name, kind).map_err(reason)?;
        let records = self.servers.records(name, kind).await.map_err(reason)?;
        let records: Vec<_> = records.iter().map(record).collect();
        Ok(serde_json::Value::from(records).to_string())
    }
}

/// The metadata of what comes back for a question with this `$correlation`.
fn correlation(of: Option<&str>) -> String {
    let of = of.filter(|one| *one != "null");
    of.map(|one| format!("{{\"correlation\":{one}}}")).unwrap_or_default()
}

/// The name and the kind of record that an event asks for.
fn question(event: &[u8]) -> Result<(String, RecordType), String> {
    let wrong =
        || "expected {\"lookup\": \"name\"} or {\"lookup\": {\"name\", \"type\"}}".to_string();
    let event: serde_json::Value = serde_json::from_slice(event).map_err(|_| wrong())?;
    let lookup = event.get("lookup").ok_or_else(wrong)?;
    if let Some(name) = lookup.as_str() {
        return Ok((name.to_string(), RecordType::A));
    }
    let name = lookup.get("name").and_then(serde_json::Value::as_str).ok_or_else(wrong)?;
    let kind = match lookup.get("type").and_then(serde_json::Value::as_str) {
        None => RecordType::A,
        Some(text) => {
            text.to_uppercase().parse().map_err(|_| format!("`{text}` is no type of record"))?
        }
    };
    Ok((name.to_string(), kind))
}

/// `{"A": "192.0.2.1", "ttl": 60}`
fn record(record: &Record) -> serde_json::Value {
    let mut fields = serde_json::Map::new();
    fields.insert(record.record_type().to_string(), shown(&record.data).into());
    fields.insert("ttl".to_string(), record.ttl.into());
    serde_json::Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_name_a_type_or_mean_addresses() {
        let asked = |text: &str| question(text.as_bytes());
        assert_eq!(
            asked(r#"{"lookup":"a.example"}"#),
            Ok(("a.example".to_string(), RecordType::A))
        );
        let mail = asked(r#"{"lookup":{"name":"a.example","type":"mx"}}"#);
        assert_eq!(mail, Ok(("a.example".to_string(), RecordType::MX)));
        for text in ["7", "{}", r#"{"lookup":{}}"#, r#"{"lookup":{"name":"a","type":"Q?"}}"#] {
            assert!(asked(text).is_err(), "{text}");
        }
    }
}
