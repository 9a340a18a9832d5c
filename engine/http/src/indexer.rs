//! Sends events to an index by bulk requests, until each has its outcome.
//!
//! Invariant: an event is confirmed when the answer says that its own action went well; only what was refused
//! for now is sent again.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use hyper::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use temblor_declare::BuiltSink;
use temblor_runtime::batch::Origin;
use temblor_runtime::error::Error;
use temblor_runtime::intake::Messages;
use temblor_runtime::outlet::{Desk, Feedback, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::admission::{Admission, Attempts, Fault, Turn};
use temblor_wire::outbound::{Task, TaskSink};
use temblor_wire::retry::Retry;

use crate::answering::details;
use crate::bulk::{self, Action, Fate, Head, action_of, tremors};
use crate::client::{Client, Got};
use crate::content::gzip;
use crate::json::{push_entry, push_key};
use crate::load::{Deliver, Item, Load, Portions, drive};
use crate::nodes::Nodes;
use crate::source::header;

/// Attributes of an event, by their place among the settings that are evaluated for each event.
const INDEX: usize = 0;
const ID: usize = 1;
const ACTION: usize = 2;
const ROUTING: usize = 3;
const PIPELINE: usize = 4;
const POSITION: usize = 5;

/// Who says what is done with an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The attributes of this file.
    Own,
    /// The attributes `$elastic` and `$correlation`.
    Tremor {
        /// The index where the event does not say.
        index: Option<String>,
        /// Whether answers hold the event.
        with_payload: bool,
    },
}

/// A sink of documents.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    /// Whether events without an id get one from their place in their input.
    pub idempotent: bool,
    /// Asks the nodes.
    pub client: Client,
    /// The nodes.
    pub nodes: Arc<Nodes>,
    /// Headers of each request.
    pub headers: HeaderMap,
    /// What is done where the event does not say.
    pub default: Action,
    /// Whether `update` makes a document.
    pub upsert: bool,
    /// Whether requests are compressed.
    pub gzip: bool,
    /// How much goes together.
    pub(crate) portions: Portions,
    /// The waits between attempts.
    pub retry: Retry,
    /// Who says what is done.
    pub(crate) manner: Manner,
    /// Where refusals go.
    pub errors: Arc<Feedback>,
    /// Where answers go.
    pub answers: Arc<Feedback>,
}

impl Bulk {
    /// The sink with its ways back.
    #[must_use]
    pub(crate) fn built(self) -> BuiltSink {
        let (errors, answers) = (Arc::clone(&self.errors), Arc::clone(&self.answers));
        BuiltSink { answers: Some(answers), ..BuiltSink::of_events(self, errors) }
    }
}

impl OpenSink for Bulk {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let bulk = self.clone();
        let work = move |outlet: Arc<Outlet>, desk: Desk| -> Task {
            Box::pin(async move {
                let portions = bulk.portions;
                let admission = Admission::new(portions.concurrency, &bulk.retry, &desk);
                let admitted = Arc::clone(&admission);
                let indexer = Arc::new(Indexer { bulk, desk, admission });
                let greeter = Arc::clone(&indexer);
                let greeting = tokio::spawn(async move { greeter.greet().await });
                drive(outlet, portions, admitted, indexer).await;
                greeting.abort();
            })
        };
        Ok(Box::new(TaskSink::new(work)))
    }
}

/// Sends the loads of one run.
struct Indexer {
    bulk: Bulk,
    desk: Desk,
    admission: Arc<Admission>,
}

/// A load on its way.
struct Way {
    load: Load,
    attempts: Attempts,
    /// Whether something of it may have been sent before.
    again: bool,
}

/// Why a part of a load was not sent.
enum Stuck {
    /// It is to be sent in smaller parts.
    TooLarge(Vec<Item>),
    /// It is refused as a whole.
    Refused(Vec<Item>, Got),
    /// It is given up.
    GivenUp(Error),
}

impl Deliver for Indexer {
    async fn deliver(&self, load: Load) {
        let items = load.items();
        // An earlier run may have sent it.
        let again = self.bulk.idempotent;
        // The nodes stand for one peer.
        let attempts = self.admission.attempts("");
        let mut way = Way { load, attempts, again };
        let mut waiting: Vec<Vec<Item>> = way
            .load
            .portions(&items, self.bulk.portions)
            .into_iter()
            .map(<[Item]>::to_vec)
            .collect();
        waiting.reverse();
        while let Some(items) = waiting.pop() {
            match self.send(&mut way, items).await {
                Ok(()) => {}
                Err(Stuck::TooLarge(items)) => {
                    waiting.push(items[items.len() / 2..].to_vec());
                    waiting.push(items[..items.len() / 2].to_vec());
                }
                Err(Stuck::Refused(items, got)) => {
                    for item in items {
                        let reason = format!("the server {}", got.sentence());
                        way.load.refuse(item, reason, details(&got));
                    }
                }
                Err(Stuck::GivenUp(error)) => return way.load.fail(&error, &self.bulk.errors),
            }
        }
        way.load.settle(&self.bulk.errors).await;
    }
}

impl Indexer {
    /// Appends what is sent for an event.
    fn push(&self, load: &Load, item: Item, out: &mut Vec<u8>) -> Result<(), String> {
        let event = load.event(item);
        match &self.bulk.manner {
            Manner::Own => {
                let action = load.attribute(item, ACTION).map(Action::of).transpose()?;
                let index = load.attribute(item, INDEX).filter(|index| !index.is_empty());
                // Who has an id keeps it.
                let has_id = load.attribute(item, ID).is_some_and(|id| !id.is_empty());
                let id = if self.bulk.idempotent && !has_id { POSITION } else { ID };
                let mut texts = vec![("_index", index.ok_or("the event has no `index`")?)];
                for (name, attribute) in [("_id", id), ("routing", ROUTING), ("pipeline", PIPELINE)]
                {
                    let value = load.attribute(item, attribute).filter(|value| !value.is_empty());
                    texts.extend(value.map(|value| (name, value)));
                }
                let action = action.unwrap_or(self.bulk.default);
                bulk::push(
                    &Head { action, texts, values: Vec::new() },
                    event,
                    self.bulk.upsert,
                    false,
                    out,
                )
            }
            Manner::Tremor { index, .. } => {
                let meta = load.attribute(item, 0).unwrap_or("null");
                tremors(meta, index.as_deref(), event, out)
            }
        }
    }

    /// Sends a part of a load until each of its events is done or refused.
    async fn send(&self, way: &mut Way, mut items: Vec<Item>) -> Result<(), Stuck> {
        while !items.is_empty() {
            let (mut body, mut sent) = (Vec::new(), Vec::with_capacity(items.len()));
            for item in items {
                match self.push(&way.load, item, &mut body) {
                    Ok(()) => sent.push(item),
                    Err(reason) => way.load.refuse(item, reason, String::new()),
                }
            }
            items = sent;
            if items.is_empty() {
                break;
            }
            let (turn, got) = self.ask(way, body, &items).await?;
            let is_first = !way.again;
            way.again = true;
            if self.bulk.answers.feed().is_none() && bulk::all_went_well(&got.body) {
                way.attempts.succeed();
                turn.answered();
                return Ok(());
            }
            let (left, reason) = self.sort(way, &items, &got, !is_first).await;
            if left.is_empty() {
                way.attempts.succeed();
                turn.answered();
            } else {
                let help = "only the events that were refused are sent again";
                let reason = format!("{} of {} events: {reason}", left.len(), items.len());
                self.pause(way, turn, Fault::Busy(None), (&reason, help)).await?;
            }
            items = left;
        }
        Ok(())
    }

    /// The events that are to be sent again, and why the first of them is.
    async fn sort(
        &self,
        way: &mut Way,
        items: &[Item],
        got: &Got,
        again: bool,
    ) -> (Vec<Item>, String) {
        let fates = match bulk::fates(&got.body, items.len(), again) {
            Ok(fates) => fates,
            // Something in between has answered.
            Err(reason) => return (items.to_vec(), reason),
        };
        let (mut left, mut why) = (Vec::new(), String::new());
        for (item, (fate, said)) in items.iter().zip(fates) {
            match fate {
                Fate::Done => self.answer(way, *item, &said).await,
                Fate::Refused { reason, details } => way.load.refuse(*item, reason, details),
                Fate::Later(reason) => {
                    why = reason;
                    left.push(*item);
                }
            }
        }
        (left, why)
    }

    /// Sends a body until a node answers it with status 2xx.
    async fn ask(
        &self,
        way: &mut Way,
        body: Vec<u8>,
        items: &[Item],
    ) -> Result<(Turn, Got), Stuck> {
        let mut headers = self.bulk.headers.clone();
        headers.extend(
            header("content-type", "application/x-ndjson").map(|(name, value)| (Some(name), value)),
        );
        let body = if self.bulk.gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            Bytes::from(gzip(&body))
        } else {
            Bytes::from(body)
        };
        'turn: loop {
            let turn = way.attempts.turn().await.map_err(Stuck::GivenUp)?;
            loop {
                let (node, _) = self.bulk.nodes.choose(Instant::now());
                let target = self.bulk.nodes.target(node);
                let uri = target.below("/_bulk").expect("the URL was read before");
                let sent = self.bulk.client.send(&Method::POST, &uri, &headers, body.clone()).await;
                let (reason, help, fault) = match sent {
                    Ok(got) if got.status.is_success() => {
                        self.bulk.nodes.succeeded(node);
                        return Ok((turn, got));
                    }
                    Ok(got) if got.status == StatusCode::PAYLOAD_TOO_LARGE && items.len() > 1 => {
                        turn.answered();
                        return Err(Stuck::TooLarge(items.to_vec()));
                    }
                    Ok(got) if matches!(got.status.as_u16(), 401 | 403) => {
                        let help = "set `auth` to credentials that may write there";
                        (got.sentence(), help, Fault::Broken(None))
                    }
                    Ok(got) if !got.is_for_now() => {
                        turn.answered();
                        return Err(Stuck::Refused(items.to_vec(), got));
                    }
                    Ok(got) if got.status == StatusCode::TOO_MANY_REQUESTS => {
                        let help = "the cluster has too much to do; it is sent again";
                        (got.sentence(), help, got.fault())
                    }
                    // The request may have been dealt with, although its answer was lost.
                    other => {
                        way.again = true;
                        if self.bulk.nodes.failed(node, Instant::now()) {
                            self.desk.stats.add_error("node_failed");
                            continue;
                        }
                        match other {
                            Ok(got) => {
                                let help = "it is sent again; look at the log of the node";
                                (got.sentence(), help, got.fault())
                            }
                            Err(reason) => {
                                let help = "it is sent again; is the node running?";
                                (format!("{target}: {reason}"), help, Fault::Broken(None))
                            }
                        }
                    }
                };
                self.pause(way, turn, fault, (&reason, help)).await?;
                continue 'turn;
            }
        }
    }

    /// Waits before the next attempt, if there is to be one.
    async fn pause(
        &self,
        way: &mut Way,
        turn: Turn,
        fault: Fault,
        (reason, help): (&str, &str),
    ) -> Result<(), Stuck> {
        let error = Error::output(&*self.desk.name, reason, help);
        way.attempts.failed(turn, fault, error).await.map_err(Stuck::GivenUp)
    }

    /// Gives an answer to the program, if it takes answers.
    async fn answer(&self, way: &Way, item: Item, said: &serde_json::Value) {
        let Some(feed) = self.bulk.answers.feed() else { return };
        let mut meta = "{".to_string();
        push_key("elastic", &mut meta);
        meta.push_str("{\"success\":true");
        let names =
            [("_id", "_id"), ("_index", "_index"), ("_type", "_type"), ("_version", "version")];
        for (name, shown) in names {
            if let Some(value) = said.get(name) {
                push_key(shown, &mut meta);
                meta.push_str(&value.to_string());
            }
        }
        meta.push('}');
        let mut body = "{".to_string();
        push_entry("action", action_of(said), &mut body);
        push_key("success", &mut body);
        body.push_str("true");
        if let Manner::Tremor { with_payload, .. } = self.bulk.manner {
            if let Some(correlation) = way.load.attribute(item, 1).filter(|one| *one != "null") {
                push_key("correlation", &mut meta);
                meta.push_str(correlation);
            }
            if with_payload {
                push_key("payload", &mut body);
                body.push_str(&String::from_utf8_lossy(way.load.event(item)));
            }
        }
        meta.push('}');
        body.push('}');
        let mut messages = Messages::default();
        messages.push(&meta, body.as_bytes());
        let origin = Origin::named(&*self.desk.name);
        // A run that is over takes no answers any more.
        let _ = feed.hand_over_unwatched(messages.take(), &origin).await;
    }

    /// Asks who is there, and warns of what is not known to take what is sent.
    async fn greet(&self) {
        let (node, _) = self.bulk.nodes.choose(Instant::now());
        let target = self.bulk.nodes.target(node);
        let Ok(uri) = target.below("/") else { return };
        let sent =
            self.bulk.client.send(&Method::GET, &uri, &self.bulk.headers, Bytes::new()).await;
        // Who does not answer will be complained of by the first events.
        let Ok(got) = sent else { return };
        if let Some(warning) = greeting(&got) {
            self.desk.console.message(&format!("warning: {target}: {warning}"));
        }
    }
}

/// What a warning says of a node, from its answer to `GET /`.
fn greeting(got: &Got) -> Option<String> {
    if !got.status.is_success() {
        return Some(format!("the node {}", got.sentence()));
    }
    let said: serde_json::Value = serde_json::from_slice(&got.body).unwrap_or_default();
    let version = said.get("version");
    let field = |name: &str| {
        version.and_then(|version| version.get(name)).and_then(serde_json::Value::as_str)
    };
    let Some(number) = field("number") else {
        return Some("it does not answer as OpenSearch or Elasticsearch does".to_string());
    };
    let major: u32 = number.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
    let is_opensearch = field("distribution") == Some("opensearch");
    (major < 7 && !is_opensearch)
        .then(|| format!("Elasticsearch {number} is older than 7 and wants types of documents"))
}
