//! The bulk interface of OpenSearch and Elasticsearch: what is sent for an event, and what comes back.
//!
//! Invariant: each event of a request has one outcome, by its place in the answer.

use serde::Deserialize;

use crate::client::may_go_well_later;
use crate::json::{push_entry, push_key, text};

/// What is done with an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Action {
    /// Writes a document, over one with the same id.
    #[default]
    Index,
    /// Writes a document, unless there is one with the same id.
    Create,
    /// Changes fields of a document.
    Update,
    /// Removes a document.
    Delete,
}

/// The names of the actions.
const ACTIONS: [(&str, Action); 4] = [
    ("index", Action::Index),
    ("create", Action::Create),
    ("update", Action::Update),
    ("delete", Action::Delete),
];

impl Action {
    /// The action of this name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn of(name: &str) -> Result<Self, String> {
        let found = ACTIONS.iter().find(|(known, _)| *known == name).map(|(_, action)| *action);
        found.ok_or_else(|| format!("`{name}` is no action: index, create, update, delete are"))
    }

    fn name(self) -> &'static str {
        ACTIONS.iter().find(|(_, action)| *action == self).map_or("index", |(name, _)| *name)
    }
}

/// What is said of an event in front of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head<'a> {
    /// What is done.
    pub action: Action,
    /// Fields with texts: `_index`, `_id`, `routing`, `pipeline` …
    pub texts: Vec<(&'static str, &'a str)>,
    /// Fields with JSON: `version` …
    pub values: Vec<(&'static str, String)>,
}

/// Appends what is sent for an event.
///
/// # Errors
/// The event cannot be a document, or cannot be found.
pub(crate) fn push(
    head: &Head<'_>,
    event: &[u8],
    upsert: bool,
    raw: bool,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let has_id = head.texts.iter().any(|(name, _)| *name == "_id");
    if matches!(head.action, Action::Update | Action::Delete) && !has_id {
        return Err(format!("the action `{}` needs an id", head.action.name()));
    }
    if head.action != Action::Delete && event.first() != Some(&b'{') {
        return Err("a document must be a record".to_string());
    }
    let mut line = "{".to_string();
    push_key(head.action.name(), &mut line);
    line.push('{');
    for (name, value) in &head.texts {
        push_entry(name, value, &mut line);
    }
    for (name, value) in &head.values {
        push_key(name, &mut line);
        line.push_str(value);
    }
    line.push_str("}}\n");
    out.extend_from_slice(line.as_bytes());
    match head.action {
        Action::Delete => {}
        Action::Update if !raw => {
            out.extend_from_slice(b"{\"doc\":");
            out.extend_from_slice(event);
            let end: &[u8] = if upsert { b",\"doc_as_upsert\":true}\n" } else { b"}\n" };
            out.extend_from_slice(end);
        }
        _ => {
            out.extend_from_slice(event);
            out.push(b'\n');
        }
    }
    Ok(())
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is done.
    Done,
    /// It may be done later.
    Later(String),
    /// It is refused for good.
    Refused {
        /// Why, as a sentence.
        reason: String,
        /// Status, index, id and error, as a JSON record.
        details: String,
    },
}

#[derive(Deserialize)]
struct Verdict {
    errors: bool,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    items: Vec<std::collections::BTreeMap<&'a str, serde_json::Value>>,
}

/// The fates of the events of a request; `again` says that it may have been sent before, so that a
/// document that is already there is our own.
///
/// # Errors
/// The answer is not that of a bulk request with so many events.
pub(crate) fn fates(
    body: &[u8],
    events: usize,
    again: bool,
) -> Result<Vec<(Fate, serde_json::Value)>, String> {
    let answer: Answer<'_> = serde_json::from_slice(body)
        .map_err(|error| format!("the answer is none to a bulk request: {error}"))?;
    if answer.items.len() != events {
        let found = answer.items.len();
        return Err(format!("the answer speaks of {found} events, not of {events}"));
    }
    let fate = |item: std::collections::BTreeMap<&str, serde_json::Value>| {
        let (action, item) = item.into_iter().next().unwrap_or_default();
        (fate(action, &item, again), item)
    };
    Ok(answer.items.into_iter().map(fate).collect())
}

/// Whether the answer says that all went well.
#[must_use]
pub(crate) fn all_went_well(body: &[u8]) -> bool {
    serde_json::from_slice::<Verdict>(body).is_ok_and(|verdict| !verdict.errors)
}

fn fate(action: &str, item: &serde_json::Value, again: bool) -> Fate {
    let status = item.get("status").and_then(serde_json::Value::as_u64).unwrap_or(0);
    let status = u16::try_from(status).unwrap_or(0);
    let error = item.get("error").filter(|error| !error.is_null());
    if (200..300).contains(&status) && error.is_none() {
        return Fate::Done;
    }
    let is_ours = status == 409 && action == "create" && again;
    // What is not there need not be removed.
    let is_gone = status == 404 && action == "delete" && error.is_none();
    if is_ours || is_gone {
        return Fate::Done;
    }
    let reason = sentence(status, error);
    if may_go_well_later(status) {
        return Fate::Later(reason);
    }
    let mut details = "{".to_string();
    push_key("status", &mut details);
    details.push_str(&status.to_string());
    for (name, key) in [("index", "_index"), ("id", "_id")] {
        if let Some(value) = item.get(key).filter(|value| !value.is_null()) {
            push_key(name, &mut details);
            details.push_str(&value.to_string());
        }
    }
    push_key("reason", &mut details);
    details.push_str(&error.map_or_else(|| text(""), ToString::to_string));
    details.push('}');
    Fate::Refused { reason, details }
}

/// `mapper_parsing_exception: failed to parse …: cause`.
fn sentence(status: u16, error: Option<&serde_json::Value>) -> String {
    let mut words = Vec::new();
    let mut next = error;
    while let Some(error) = next {
        match error {
            serde_json::Value::String(text) => words.push(text.clone()),
            _ => {
                let part = |name: &str| error.get(name).and_then(serde_json::Value::as_str);
                words.extend(
                    [part("type"), part("reason")].into_iter().flatten().map(str::to_string),
                );
            }
        }
        next = error.get("caused_by");
    }
    match words.is_empty() {
        true => format!("refused with status {status}"),
        false => format!("refused with status {status}: {}", words.join(": ")),
    }
}

/// The name of what an answer says was done.
#[must_use]
pub(crate) fn action_of(said: &serde_json::Value) -> &'static str {
    match said.get("result").and_then(serde_json::Value::as_str) {
        Some("created") => "create",
        Some("deleted" | "not_found") => "delete",
        Some("noop") => "update",
        _ => "index",
    }
}

/// The fields of `$elastic` that go in front of an event.
const TREMOR_FIELDS: [&str; 11] = [
    "_index",
    "_type",
    "_id",
    "pipeline",
    "routing",
    "version",
    "version_type",
    "retry_on_conflict",
    "if_primary_term",
    "if_seq_no",
    "timeout",
];

/// Appends what is sent for an event with the metadata `$elastic`.
///
/// # Errors
/// The event cannot be a document, or cannot be found.
pub(crate) fn tremors(
    meta: &str,
    index: Option<&str>,
    event: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let meta: serde_json::Value = serde_json::from_str(meta).map_err(|error| error.to_string())?;
    let action = match meta.get("action") {
        Some(serde_json::Value::String(name)) => Action::of(name)?,
        _ => Action::Index,
    };
    let (mut texts, mut values) = (Vec::new(), Vec::new());
    for name in TREMOR_FIELDS {
        match meta.get(name) {
            Some(serde_json::Value::String(text)) => texts.push((name, text.as_str())),
            Some(serde_json::Value::Null) | None => {}
            Some(other) => values.push((name, other.to_string())),
        }
    }
    if !texts.iter().any(|(name, _)| *name == "_index") {
        texts.push(("_index", index.ok_or("neither `index` nor `$elastic._index` says where to")?));
    }
    let raw = meta.get("raw_payload").and_then(serde_json::Value::as_bool).unwrap_or(false);
    push(&Head { action, texts, values }, event, false, raw, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(head: &Head<'_>, event: &str, upsert: bool) -> Result<String, String> {
        let mut out = Vec::new();
        push(head, event.as_bytes(), upsert, false, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn each_action_is_sent_as_the_interface_wants_it() {
        let head = |action| Head {
            action,
            texts: vec![("_index", "a\"b"), ("_id", "7")],
            values: Vec::new(),
        };
        let event = r#"{"a":1}"#;
        for (action, upsert, wanted) in [
            (
                Action::Index,
                false,
                "{\"index\":{\"_index\":\"a\\\"b\",\"_id\":\"7\"}}\n{\"a\":1}\n",
            ),
            (
                Action::Update,
                false,
                "{\"update\":{\"_index\":\"a\\\"b\",\"_id\":\"7\"}}\n{\"doc\":{\"a\":1}}\n",
            ),
            (
                Action::Update,
                true,
                "{\"update\":{\"_index\":\"a\\\"b\",\"_id\":\"7\"}}\n{\"doc\":{\"a\":1},\"doc_as_upsert\":true}\n",
            ),
            (Action::Delete, false, "{\"delete\":{\"_index\":\"a\\\"b\",\"_id\":\"7\"}}\n"),
        ] {
            assert_eq!(sent(&head(action), event, upsert).as_deref(), Ok(wanted));
        }
        let bare = Head { action: Action::Delete, ..Head::default() };
        assert_eq!(sent(&bare, event, false), Err("the action `delete` needs an id".to_string()));
        assert_eq!(
            sent(&Head::default(), "[1]", false),
            Err("a document must be a record".to_string())
        );
        assert!(Action::of("upsert").unwrap_err().contains("no action"));
    }

    #[test]
    fn each_event_has_its_own_fate() {
        let body = br#"{"took":1,"errors":true,"items":[
            {"index":{"_index":"i","_id":"1","status":201}},
            {"index":{"_index":"i","_id":"2","status":400,"error":{"type":"mapper_parsing_exception",
              "reason":"failed to parse field [a]","caused_by":{"type":"x","reason":"y"}}}},
            {"index":{"_index":"i","_id":"3","status":429,"error":{"type":"es_rejected","reason":"full"}}},
            {"create":{"_index":"i","_id":"4","status":409,"error":{"type":"conflict","reason":"there"}}},
            {"delete":{"_index":"i","_id":"5","status":404,"result":"not_found"}}]}"#;
        assert!(!all_went_well(body));
        let found = |again| {
            fates(body, 5, again).unwrap().into_iter().map(|(fate, _)| fate).collect::<Vec<_>>()
        };
        let first = found(false);
        assert_eq!((&first[0], &first[4]), (&Fate::Done, &Fate::Done));
        assert_eq!(first[2], Fate::Later("refused with status 429: es_rejected: full".to_string()));
        let Fate::Refused { reason, details } = &first[1] else { panic!("{:?}", first[1]) };
        let wanted =
            "refused with status 400: mapper_parsing_exception: failed to parse field [a]: x: y";
        assert_eq!(reason, wanted);
        assert!(
            details.starts_with(r#"{"status":400,"index":"i","id":"2","reason":{"#),
            "{details}"
        );
        assert!(matches!(first[3], Fate::Refused { .. }));
        assert_eq!(found(true)[3], Fate::Done);
        assert!(fates(body, 4, false).unwrap_err().contains("speaks of 5 events"));
        assert!(fates(b"<html>", 1, false).is_err());
        assert!(all_went_well(br#"{"took":1,"errors":false,"items":[]}"#));
    }
}
