//! Sinks that answer requests: `reply` of `.tmb` files, and what tremor's `http_server` takes.
//!
//! Invariant: an answer is confirmed when it has been handed to the request that waits for it; an answer that
//! nobody waits for goes to `err`.

use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::{Task, TaskSink};

use crate::pending::{self, Answer};
use crate::source::header;

/// Answers to the requests of an `http` source.
pub(crate) static REPLY: Connector = Connector {
    kind: "reply",
    notation: Notation::Temblor,
    doc: "Answers requests of the `http` source of the name behind the kind, which is set to `answer = \
          \"program\"`: each event answers the request whose `$http.request_id` is in its metadata, with itself \
          as the body. An answer that nobody waits for any more goes to `err`.",
    ends: Ends::Sink,
    address: Some("\"SOURCE\": the name of the source whose requests are answered"),
    source: &[],
    sink: &[
        Setting::new("status", Takes::PerEvent, "The status of the answer.").or("200"),
        Setting::new("headers", Takes::PerEventJson, "A record of headers of the answer."),
        Setting::new(
            "content_type",
            Takes::Text,
            "The type of the content, unless `headers` has it.",
        )
        .or("application/json"),
        Setting::new(
            "request_id",
            Takes::Hidden("$http.request_id"),
            "The request that is answered.",
        ),
    ],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &[],
    examples: &[r#"source in from http "127.0.0.1:8080" with answer = "program" end;
sink back into reply "in" with status = (match event.ok of case true => 200 case _ => 422 end) end;
in |> set event.ok = present event.user |> back"#],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let errors = Feedback::new();
    let replies = Replies {
        source: Arc::from(what.settings.text("address")),
        content_type: what.settings.text("content_type").to_string(),
        form: Form::Own,
        errors: Arc::clone(&errors),
    };
    Ok(Built { sink: Some(BuiltSink::of_events(replies, errors)), ..Built::default() })
}

/// How an event says what it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Attributes: status, headers, number of the request.
    Own,
    /// One attribute: the record `$http_server`.
    Tremor,
}

/// A sink of answers.
#[derive(Clone, Debug)]
pub(crate) struct Replies {
    /// The source whose requests are answered.
    pub source: Arc<str>,
    /// The type of the content where the event does not say.
    pub content_type: String,
    /// How events say what they answer.
    pub form: Form,
    /// Where answers go that nobody waits for.
    pub errors: Arc<Feedback>,
}

impl OpenSink for Replies {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let replies = self.clone();
        let work = move |outlet, _: Desk| -> Task { Box::pin(replies.run(outlet)) };
        Ok(Box::new(TaskSink::new(work)))
    }
}

impl Replies {
    async fn run(self, outlet: Arc<Outlet>) {
        while let Some(parcel) = outlet.take().await {
            let answer_one = |event| {
                let answered = self.answer(&parcel, event);
                let refusal = |reason| Refusal { event, reason, details: String::new() };
                answered.err().map(refusal)
            };
            let refused: Vec<_> = (0..parcel.events().len()).filter_map(answer_one).collect();
            parcel.confirm_except(&refused, &self.errors);
        }
    }

    fn answer(&self, parcel: &Parcel, event: usize) -> Result<(), String> {
        let (id, mut answer) = match self.form {
            Form::Own => own(parcel, event)?,
            Form::Tremor => tremors(parcel, event)?,
        };
        let is_typed = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
        if !answer.headers.iter().any(is_typed) {
            answer.headers.push(("content-type".to_string(), self.content_type.clone()));
        }
        for (name, value) in &answer.headers {
            header(name, value).ok_or_else(|| format!("`{name}` cannot be a header"))?;
        }
        pending::answer(&self.source, &id, answer)
    }
}

fn own(parcel: &Parcel, event: usize) -> Result<(String, Answer), String> {
    let id = parcel.attribute(event, 2).filter(|id| *id != "null");
    let id = id.ok_or("the event has no `$http.request_id`: it stems from no request")?.to_string();
    let status = parcel.attribute(event, 0).map(status).transpose()?;
    let headers = parcel.attribute(event, 1).map_or_else(|| Ok(Vec::new()), headers)?;
    let body = parcel.event(event).to_vec();
    Ok((id, Answer { status, headers, body }))
}

/// `$http_server` of an event: `{"request_id": …, "response": {"status": …, "headers": {…}}}`.
fn tremors(parcel: &Parcel, event: usize) -> Result<(String, Answer), String> {
    let missing = "the event has no `$http_server.request_id`: it stems from no request";
    let meta = parcel.attribute(event, 0).ok_or(missing)?;
    let meta: serde_json::Value = serde_json::from_str(meta).map_err(|error| error.to_string())?;
    let id = meta.get("request_id").filter(|id| !id.is_null()).ok_or(missing)?.to_string();
    let response = meta.get("response");
    let given = response.and_then(|response| response.get("status")).map(ToString::to_string);
    let status = given.as_deref().map(status).transpose()?;
    let given = response.and_then(|response| response.get("headers")).map(ToString::to_string);
    let headers = given.as_deref().map_or_else(|| Ok(Vec::new()), headers)?;
    Ok((id, Answer { status, headers, body: parcel.event(event).to_vec() }))
}

fn status(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|number| (200..600).contains(number));
    number.ok_or_else(|| format!("`{text}` is no status of an answer: 200 to 599 are"))
}

/// A record of headers, with texts, numbers or arrays of texts as values.
///
/// # Errors
/// It is no record.
pub(crate) fn headers(json: &str) -> Result<Vec<(String, String)>, String> {
    let value: serde_json::Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let record = match &value {
        serde_json::Value::Null => return Ok(Vec::new()),
        serde_json::Value::Object(record) => record,
        other => return Err(format!("headers must be a record, got {other}")),
    };
    let mut headers = Vec::new();
    for (name, value) in record {
        match value {
            serde_json::Value::Array(values) => {
                headers.extend(values.iter().map(|value| (name.clone(), plain(value))));
            }
            serde_json::Value::Null => {}
            value => headers.push((name.clone(), plain(value))),
        }
    }
    Ok(headers)
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_a_record_of_texts() {
        let read = |json| headers(json).map(|found| format!("{found:?}"));
        let wanted = r#"[("a", "1"), ("b", "x"), ("b", "y"), ("c", "true")]"#;
        assert_eq!(read(r#"{"a":1,"b":["x","y"],"c":true,"d":null}"#).as_deref(), Ok(wanted));
        assert!(read("[1]").unwrap_err().contains("must be a record"));
        assert_eq!(status("201"), Ok(201));
        assert!(status("99").is_err() && status("ok").is_err());
    }
}
