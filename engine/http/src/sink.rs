//! `http` as a sink, and tremor's `http_client`: events become requests, answers become events again.
//!
//! Invariant: an event is confirmed when a request that held it was answered with status 2xx; a refusal goes
//! to `err` with the status and what the server said.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use temblor_declare::order::OF_REQUESTS;
use temblor_declare::{Build, BuiltSink, Setting, Takes, Wrong};
use temblor_runtime::batch::Origin;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::admission::{Admission, Fault};
use temblor_wire::outbound::{Task, TaskSink};
use temblor_wire::retry::{RETRY, Retry};
use temblor_wire::tls::TLS;

use crate::auth::{AUTH, Credentials};
use crate::client::{Client, Got, TIMEOUT};
use crate::content::gzip;
use crate::indexing::Indexing;
use crate::load::{BATCH_BYTES, BATCH_EVENTS, CONCURRENCY, Deliver, Item, Load, Portions, drive};
use crate::meta::Headers;
use crate::reply;
use crate::source::{check_headers, header};
use crate::target::Target;
use crate::{answering, hec, streams};

/// Settings of the sink.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::new("url", Takes::PerEvent, "The URL for an event, instead of the address."),
    Setting::new("method", Takes::PerEvent, "The method.").or("POST"),
    Setting::new("headers", Takes::PerEventJson, "A record of headers."),
    Setting::new("correlation", Takes::Hidden("$correlation"), "Comes back with the answer."),
    Setting::new(
        "batch",
        Takes::Word(&["ndjson", "json_array", "single"]),
        "What a request holds: events behind each other with a newline after each, an array of events, or one \
         event.",
    )
    .or("ndjson"),
    BATCH_EVENTS,
    BATCH_BYTES,
    CONCURRENCY,
    OF_REQUESTS,
    Setting::new("compression", Takes::Word(&["none", "gzip"]), "How bodies are compressed.").or("none"),
    Setting::new("content_type", Takes::Text, "The type of the content, unless `headers` has it."),
    Setting::new("auth", Takes::Record(AUTH), "The credentials that each request shows."),
    Setting::new("tls", Takes::Record(TLS), "How servers are checked, and a certificate of our own."),
    TIMEOUT,
    Setting::new(
        "retry",
        Takes::Record(RETRY),
        "The waits between attempts after broken connections and status 408, 425, 429 and 5xx.",
    ),
];

/// How events form bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Behind each other, with a newline after each.
    Lines,
    /// An array.
    Array,
    /// One event for each request.
    Single,
    /// Streams of log lines, by their labels.
    Loki,
    /// Events of Splunk's collector.
    Hec,
}

/// Whose metadata says how an event is sent, and comes with answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Attributes `url`, `method`, `headers`, `$correlation`.
    Own,
    /// Attributes `$http_client.request`, `$correlation`.
    Tremor,
    /// A collector of logs: every event goes the same way.
    Collector,
}

/// A sink of requests.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// Whom it asks.
    pub target: Target,
    /// How.
    pub client: Client,
    /// The method, where the event does not say.
    pub method: Method,
    /// Headers of every request.
    pub headers: HeaderMap,
    /// How bodies are formed.
    pub form: Form,
    /// How much goes together.
    pub(crate) portions: Portions,
    /// Whether bodies are compressed.
    pub gzip: bool,
    /// The waits between attempts.
    pub retry: Retry,
    /// Whose metadata is used.
    pub(crate) manner: Manner,
    /// How a collector is asked whether it has indexed what it took, if it is.
    pub(crate) indexing: Option<Indexing>,
    /// Where refusals go.
    pub errors: Arc<Feedback>,
    /// Where answers go.
    pub answers: Arc<Feedback>,
}

/// Makes the sink.
///
/// # Errors
/// A setting that is wrong.
pub(crate) fn build(what: &Build<'_>) -> Result<(BuiltSink, Vec<String>), Wrong> {
    let settings = what.settings;
    let target = Target::parse(settings.text("address"), None, "address")?;
    let auth = Credentials::of_settings(settings)?;
    let (form, kind) = match settings.text("batch") {
        "json_array" => (Form::Array, "application/json"),
        "single" => (Form::Single, "application/json"),
        _ => (Form::Lines, "application/x-ndjson"),
    };
    let kind = settings.optional_text("content_type").unwrap_or(kind).to_string();
    check_headers(&[("content-type".to_string(), kind.clone())], "content_type")?;
    let mut headers = HeaderMap::new();
    headers.extend(header("content-type", &kind).map(|(name, value)| (Some(name), value)));
    let mut warnings = add_auth(auth.as_ref(), &[&target], &mut headers);
    warnings.extend(Client::warning(settings, &[&target]));
    let mut portions = Portions::of_settings(settings, SETTINGS)?;
    if form == Form::Single {
        portions.events_max = 1;
    }
    let requests = Requests {
        client: Client::of_settings(settings, &[&target])?,
        target,
        method: Method::POST,
        headers,
        form,
        portions,
        gzip: settings.text("compression") == "gzip",
        retry: Retry::of_settings(settings.record("retry")),
        manner: Manner::Own,
        indexing: None,
        errors: Feedback::new(),
        answers: Feedback::new(),
    };
    Ok((requests.built(), warnings))
}

/// Adds credentials to headers, and warns of those that anybody in between can read.
#[must_use]
pub(crate) fn add_auth(
    auth: Option<&Credentials>,
    targets: &[&Target],
    headers: &mut HeaderMap,
) -> Vec<String> {
    let Some(value) = auth.and_then(|auth| auth.header().ok()) else { return Vec::new() };
    headers.insert(AUTHORIZATION, value);
    let open = targets.iter().filter(|target| !target.is_safe());
    open.map(|target| {
        format!("credentials go to {target} without TLS: anybody in between can read them")
    })
    .collect()
}

impl Requests {
    /// Whether an answer says that a request holds a bad event.
    fn is_spoilt(&self, got: &Got) -> bool {
        self.manner == Manner::Collector && got.status == StatusCode::BAD_REQUEST
    }

    /// The sink with its ways back.
    #[must_use]
    pub(crate) fn built(self) -> BuiltSink {
        let (errors, answers) = (Arc::clone(&self.errors), Arc::clone(&self.answers));
        BuiltSink { answers: Some(answers), ..BuiltSink::of_events(self, errors) }
    }
}

impl OpenSink for Requests {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let requests = self.clone();
        let work = move |outlet: Arc<Outlet>, desk: Desk| -> Task {
            let portions = requests.portions;
            let admission = Admission::new(portions.concurrency, &requests.retry, &desk);
            let (desk, admitted) = (desk, Arc::clone(&admission));
            let sender = Arc::new(Sender { requests, desk, admission });
            Box::pin(drive(outlet, portions, admitted, sender))
        };
        Ok(Box::new(TaskSink::new(work)))
    }
}

/// Sends the loads of one run.
struct Sender {
    requests: Requests,
    desk: Desk,
    admission: Arc<Admission>,
}

/// Where and how a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The method.
    pub(crate) method: Method,
    /// The URI.
    pub(crate) uri: Uri,
    /// All headers but those of the body.
    pub(crate) headers: HeaderMap,
}

/// What became of a request.
enum Outcome {
    Done,
    Refused(String, String),
    TooLarge,
    GivenUp(Error),
}

impl Deliver for Sender {
    async fn deliver(&self, mut load: Load) {
        let mut waiting = self.requests_of(&mut load);
        while let Some((way, items)) = waiting.pop_front() {
            match self.send(&way, &items, &load).await {
                Outcome::Done => {}
                Outcome::TooLarge => {
                    // The server takes less at a time: two halves in its place.
                    let second = items[items.len() / 2..].to_vec();
                    waiting.push_front((way.clone(), second));
                    waiting.push_front((way, items[..items.len() / 2].to_vec()));
                }
                Outcome::Refused(reason, details) => {
                    for item in items {
                        load.refuse(item, reason.clone(), details.clone());
                    }
                }
                Outcome::GivenUp(error) => return load.fail(&error, &self.requests.errors),
            }
        }
        load.settle(&self.requests.errors).await;
    }
}

impl Sender {
    /// The events of a load by the requests that they form.
    fn requests_of(&self, load: &mut Load) -> VecDeque<(Way, Vec<Item>)> {
        let mut groups: Vec<(Way, Vec<Item>)> = Vec::new();
        for item in load.items() {
            match self.way(load, item) {
                Ok(way) => match groups.last_mut().filter(|(last, _)| *last == way) {
                    Some((_, items)) => items.push(item),
                    None => groups.push((way, vec![item])),
                },
                Err(reason) => load.refuse(item, reason, String::new()),
            }
        }
        let mut requests = VecDeque::new();
        for (way, items) in groups {
            let cut = load.portions(&items, self.requests.portions);
            requests.extend(cut.into_iter().map(|items| (way.clone(), items.to_vec())));
        }
        requests
    }

    fn way(&self, load: &Load, item: Item) -> Result<Way, String> {
        let tremors;
        let (url, method, headers) = match self.requests.manner {
            Manner::Own => (
                load.attribute(item, 0),
                load.attribute(item, 1),
                load.attribute(item, 2).filter(|json| *json != "null"),
            ),
            Manner::Tremor => {
                let meta = load.attribute(item, 0).unwrap_or("null");
                tremors = Tremors::of(meta)?;
                (tremors.url.as_deref(), tremors.method.as_deref(), tremors.headers.as_deref())
            }
            Manner::Collector => {
                let headers = self.collector(load, item)?;
                let (method, uri) =
                    (Method::POST, self.requests.target.uri(&self.requests.target.path)?);
                return Ok(Way { method, uri, headers });
            }
        };
        let requests = &self.requests;
        let target = match url {
            Some(url) => &Target::parse(url, None, "url").map_err(|wrong| wrong.message)?,
            None => &requests.target,
        };
        let method = match method {
            Some(text) => Method::from_bytes(text.to_uppercase().as_bytes())
                .map_err(|_| format!("`{text}` is no method of HTTP"))?,
            None => requests.method.clone(),
        };
        let mut all = requests.headers.clone();
        if target.address != requests.target.address {
            // Credentials are for the server of the address alone.
            all.remove(AUTHORIZATION);
        }
        for (name, value) in headers.map_or_else(|| Ok(Vec::new()), reply::headers)? {
            let (name, value) =
                header(&name, &value).ok_or_else(|| format!("`{name}` cannot be a header"))?;
            all.insert(name, value);
        }
        Ok(Way { method, uri: target.uri(&target.path)?, headers: all })
    }

    /// The headers of a request to a collector, for an event that it can take.
    fn collector(&self, load: &Load, item: Item) -> Result<HeaderMap, String> {
        let mut headers = self.requests.headers.clone();
        match self.requests.form {
            Form::Loki => streams::add_tenant(load, item, &mut headers)?,
            _ => hec::check(load, item)?,
        }
        Ok(headers)
    }

    async fn send(&self, way: &Way, items: &[Item], load: &Load) -> Outcome {
        let requests = &self.requests;
        let (mut headers, body) = (way.headers.clone(), self.body(items, load));
        let body = if requests.gzip && !body.is_empty() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            Bytes::from(gzip(&body))
        } else {
            Bytes::from(body)
        };
        let peer = way.uri.authority().map_or("", |peer| peer.as_str());
        let mut attempts = self.admission.attempts(peer);
        loop {
            let turn = match attempts.turn().await {
                Ok(turn) => turn,
                Err(error) => return Outcome::GivenUp(error),
            };
            let sent = requests.client.send(&way.method, &way.uri, &headers, body.clone()).await;
            let (reason, fault) = match sent {
                Ok(got) if !got.is_for_now() => match self.end(way, items, load, &got).await {
                    Ok(outcome) => {
                        turn.answered();
                        return outcome;
                    }
                    Err(reason) => (reason, Fault::Broken(None)),
                },
                // What the status means is for the program to say.
                Ok(got) if requests.manner == Manner::Tremor => {
                    turn.answered();
                    self.answer(way, items, load, &got).await;
                    return Outcome::Done;
                }
                Ok(got) => (got.sentence(), got.fault()),
                Err(reason) if requests.manner == Manner::Tremor => {
                    turn.answered();
                    return Outcome::Refused(format!("{}: {reason}", way.uri), String::new());
                }
                Err(reason) => (reason, Fault::Broken(None)),
            };
            let help = "it is sent again; look at the server's log";
            let error = Error::output(way.uri.to_string(), reason, help);
            if let Err(error) = attempts.failed(turn, fault, error).await {
                return Outcome::GivenUp(error);
            }
        }
    }

    /// What an answer means for a request that will not be sent as it was again.
    ///
    /// # Errors
    /// It is to be sent again: what was taken is not where it should be.
    async fn end(
        &self,
        way: &Way,
        items: &[Item],
        load: &Load,
        got: &Got,
    ) -> Result<Outcome, String> {
        let requests = &self.requests;
        if got.status.is_success() {
            match &requests.indexing {
                Some(indexing) => indexing.wait(&requests.client, way, got).await?,
                None => self.answer(way, items, load, got).await,
            }
            return Ok(Outcome::Done);
        }
        // One bad event spoils a request to a collector: it is found by halves.
        let is_too_large = got.status == StatusCode::PAYLOAD_TOO_LARGE || requests.is_spoilt(got);
        if is_too_large && items.len() > 1 {
            return Ok(Outcome::TooLarge);
        }
        if requests.manner == Manner::Tremor {
            self.answer(way, items, load, got).await;
            return Ok(Outcome::Done);
        }
        let reason = format!("the server {}", got.sentence());
        Ok(Outcome::Refused(reason, answering::details(got)))
    }

    fn body(&self, items: &[Item], load: &Load) -> Vec<u8> {
        let bytes: usize = items.iter().map(|item| load.event(*item).len() + 1).sum();
        let mut body = Vec::with_capacity(bytes + 2);
        match self.requests.form {
            Form::Loki => streams::push(load, items, &mut body),
            Form::Hec => items.iter().for_each(|item| hec::push(load, *item, &mut body)),
            Form::Single => items.iter().for_each(|item| body.extend_from_slice(load.event(*item))),
            Form::Lines => {
                for item in items {
                    body.extend_from_slice(load.event(*item));
                    body.push(b'\n');
                }
            }
            Form::Array => {
                body.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        body.push(b',');
                    }
                    body.extend_from_slice(load.event(*item));
                }
                body.push(b']');
            }
        }
        body
    }

    /// Gives an answer to the program, if it takes answers.
    async fn answer(&self, way: &Way, items: &[Item], load: &Load, got: &Got) {
        let Some(feed) = self.requests.answers.feed() else { return };
        let (name, hidden) = match self.requests.manner {
            Manner::Own => (("http", Headers::Plain), 3),
            Manner::Tremor => (("http_client", Headers::Arrays), 1),
            Manner::Collector => return,
        };
        let correlation = match items {
            [item] => load.attribute(*item, hidden).filter(|one| *one != "null"),
            _ => None,
        };
        let way = (&way.method, &way.uri, &way.headers);
        let event = answering::event(name, way, got, correlation);
        // A run that is over takes no answers any more.
        let _ = feed.hand_over_unwatched(event, &Origin::named(&*self.desk.name)).await;
    }
}

/// `$http_client` of an event: `{"request": {"method", "url", "headers"}}`.
struct Tremors {
    url: Option<String>,
    method: Option<String>,
    headers: Option<String>,
}

impl Tremors {
    fn of(meta: &str) -> Result<Self, String> {
        let meta: serde_json::Value =
            serde_json::from_str(meta).map_err(|error| error.to_string())?;
        let request = meta.get("request");
        let field = |name: &str| request.and_then(|request| request.get(name));
        let words = |name: &str| match field(name) {
            Some(serde_json::Value::String(text)) => Some(text.clone()),
            _ => None,
        };
        let headers = field("headers").map(ToString::to_string);
        Ok(Self { url: words("url"), method: words("method"), headers })
    }
}
