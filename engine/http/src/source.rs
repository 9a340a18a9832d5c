//! `http` as a source: requests become events, and are answered when these have got where they should.
//!
//! Invariant: status 2xx says that all events of the request are acknowledged (or, with `answer =
//! "at_once"`, taken in); with any other status the client still has them.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{ALLOW, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{Request, StatusCode};
use temblor_declare::{Build, Built, Setting, Takes, Wrong};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::intake::{Arrival, Receipt};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::address::Address;
use temblor_wire::tls::TLS;
use tokio::sync::Semaphore;

use crate::auth::{AUTH, Credentials};
use crate::bounds::{
    BODY_TIMEOUT, Bounds, HEADER_TIMEOUT, MAX_BODY, MAX_CONNECTIONS, MAX_DECOMPRESSED, MAX_HEADER,
    MAX_REQUESTS, WAIT,
};
use crate::messages::{Body, Reading};
use crate::meta;
use crate::pending::{self, Answer, Ticket};
use crate::receive::{self, Room};
use crate::respond::{Reply, bare, because, later, with};
use crate::safe::Safe;
use crate::server::{self, Handler, Peer, Server};

/// Settings of the source.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::new(
        "answer",
        Takes::Word(&["written", "at_once", "program"]),
        "When a request is answered: when its events have got where they should, as soon as they are taken in, \
         or when the program sends an event with its `$http.request_id` to a sink of the kind `reply`.",
    )
    .or("written"),
    Setting::new(
        "answer_timeout",
        Takes::Duration,
        "How long a request waits for its answer; then it is answered with status 504.",
    )
    .or("30s"),
    Setting::new(
        "paths",
        Takes::Texts,
        "Paths that are taken; one that ends with `*` stands for all that begin so. Others are answered with \
         status 404. Without it all are taken.",
    ),
    Setting::new(
        "methods",
        Takes::Texts,
        "Methods that are taken; others are answered with status 405. Without it POST and PUT, and all when \
         the program answers.",
    ),
    Setting::new(
        "status",
        Takes::Whole { least: 200, most: 299 },
        "The status of a request whose events were taken.",
    )
    .or("200"),
    Setting::new("response_headers", Takes::Map, "Headers of every answer to a request that was taken."),
    Setting::new("response_body", Takes::Text, "The body of every answer to a request that was taken."),
    Setting::new("auth", Takes::Record(AUTH), "What a request must show; else the answer is status 401."),
    Setting::new("tls", Takes::Record(TLS), "Makes it HTTPS: at least `cert` and `key`."),
    MAX_CONNECTIONS,
    MAX_REQUESTS,
    MAX_HEADER,
    MAX_BODY,
    MAX_DECOMPRESSED,
    HEADER_TIMEOUT,
    BODY_TIMEOUT,
    WAIT,
];

/// When a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answering {
    /// When its events have got where they should.
    Written,
    /// When they are taken in.
    AtOnce,
    /// When the program says so.
    Program,
}

/// Who has designed the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// This engine: `$http`.
    Own,
    /// tremor: `$http_server`, and its statuses.
    Tremor,
}

/// What a source does with requests.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    /// What the program calls it.
    pub name: Arc<str>,
    /// Where it listens.
    pub server: Server,
    /// Whose metadata it gives.
    pub(crate) manner: Manner,
    /// When it answers.
    pub answering: Answering,
    /// How long an answer may take.
    pub answer_timeout: Duration,
    /// How bodies become events.
    pub reading: Reading,
    /// Paths that are taken; all when there are none.
    pub paths: Vec<String>,
    /// Methods that are taken; all when there are none.
    pub methods: Vec<String>,
    /// What a request must show.
    pub auth: Option<Credentials>,
    /// The answer to a request that was taken.
    pub accepted: Answer,
}

/// Makes the source.
///
/// # Errors
/// A setting that is wrong.
pub(crate) fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let address = Address::parse(settings.text("address"), "address")?;
    let tls = Safe::of_settings(settings.record("tls"), &["h2", "http/1.1"])?;
    let auth = Credentials::of_settings(settings)?;
    let answering = match settings.text("answer") {
        "at_once" => Answering::AtOnce,
        "program" => Answering::Program,
        _ => Answering::Written,
    };
    let mut methods: Vec<_> =
        settings.texts("methods").iter().map(|one| one.to_uppercase()).collect();
    if methods.is_empty() && answering != Answering::Program {
        methods = vec!["POST".to_string(), "PUT".to_string()];
    }
    let accepted = Answer {
        status: settings.optional_whole("status").and_then(|status| u16::try_from(status).ok()),
        headers: settings.map("response_headers").to_vec(),
        body: settings.optional_text("response_body").unwrap_or_default().as_bytes().to_vec(),
    };
    check_headers(&accepted.headers, "response_headers")?;
    let warnings = server::warning(&address, tls.is_some(), auth.is_some()).into_iter().collect();
    let intake = Intake {
        name: Arc::from(what.name),
        server: Server {
            address,
            tls,
            bounds: Bounds::of_settings(settings),
            notes: Arc::default(),
        },
        manner: Manner::Own,
        answering,
        answer_timeout: settings.duration("answer_timeout"),
        reading: Reading {
            codec: what.codec,
            framing: what.framing,
            framing_is_chosen: what.framing_is_chosen,
            preprocessors: what.preprocessors.to_vec(),
            whole: answering == Answering::Program,
        },
        paths: settings.texts("paths").to_vec(),
        methods,
        auth,
        accepted,
    };
    Ok(Built { source: Some(Arc::new(intake)), sink: None, warnings })
}

/// Whether these can be headers.
///
/// # Errors
/// The first that cannot.
pub(crate) fn check_headers(
    headers: &[(String, String)],
    setting: &'static str,
) -> Result<(), Wrong> {
    for (name, value) in headers {
        if header(name, value).is_none() {
            let help = "names are letters, digits and dashes; values have no line ends";
            return Err(Wrong::at(setting, format!("`{name}` cannot be a header"), help));
        }
    }
    Ok(())
}

/// A header, if the texts can be one.
#[must_use]
pub(crate) fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    Some((name, HeaderValue::from_str(value).ok()?))
}

impl OpenSource for Intake {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Intake {
    fn name(&self) -> String {
        self.server.address.to_string()
    }

    fn listens(&self) -> bool {
        true
    }

    fn try_listen(&self) -> Result<(), Error> {
        temblor_wire::inbound::try_listen(&self.server.address)
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let requests = Semaphore::new(self.server.bounds.requests_max.min(Semaphore::MAX_PERMITS));
        let desk = Arc::new(Reception {
            intake: self.clone(),
            origin: self.server.address.to_string(),
            feed: feed.clone(),
            room: Room::default(),
            requests,
        });
        feed.network.handle()?.block_on(server::serve(&self.server, feed, desk))
    }
}

/// Answers the requests of one source.
struct Reception {
    intake: Intake,
    /// What messages call it.
    origin: String,
    feed: Feed,
    room: Room,
    /// A place for each request.
    requests: Semaphore,
}

impl Handler for Reception {
    async fn handle(&self, request: Request<Incoming>, peer: Peer) -> Reply {
        let (parts, incoming) = request.into_parts();
        match self.take(&parts, incoming, peer).await {
            Ok(reply) | Err(reply) => reply,
        }
    }
}

impl Reception {
    async fn take(&self, parts: &Parts, incoming: Incoming, peer: Peer) -> Result<Reply, Reply> {
        self.admit(parts)?;
        let Ok(_place) = self.requests.try_acquire() else {
            self.feed.stats.add_dropped("http_too_many_requests", 1);
            let reason = "too many requests at the same time; send it again";
            return Err(later(StatusCode::TOO_MANY_REQUESTS, reason));
        };
        let bounds = &self.intake.server.bounds;
        let body =
            receive::body(incoming, &parts.headers, bounds, &self.room, &self.feed.stats).await?;
        let Body { arrival, wrong } = self.intake.reading.read(&parts.headers, body);
        let Some(arrival) = arrival else { return Ok(self.accepted()) };
        let waits = self.intake.answering == Answering::Program && wrong.is_none();
        let ticket = waits.then(|| pending::wait(&self.intake.name));
        let id = ticket.as_ref().map_or_else(pending::next_id, |ticket| ticket.id);
        let receipt = self.hand_over(arrival, self.meta(parts, id, peer)).await?;
        if let Some(wrong) = wrong {
            let _ = receipt.settled().await;
            self.feed.stats.add_error("http_bad_body");
            return Err(because(StatusCode::BAD_REQUEST, wrong));
        }
        match (ticket, self.intake.answering) {
            (Some(ticket), _) => self.answered(ticket, receipt, parts).await,
            (None, Answering::AtOnce) => Ok(self.accepted()),
            (None, _) => self.written(receipt).await,
        }
    }

    /// Whether a request may come in at all.
    fn admit(&self, parts: &Parts) -> Result<(), Reply> {
        let Intake { paths, methods, auth, .. } = &self.intake;
        if let Some(auth) = auth
            && !auth.are_shown_in(&parts.headers)
        {
            self.feed.stats.add_dropped("http_unauthorized", 1);
            let reply = because(StatusCode::UNAUTHORIZED, "credentials are missing or wrong");
            return Err(with(reply, WWW_AUTHENTICATE, auth.challenge()));
        }
        let path = parts.uri.path();
        let is_taken = |taken: &String| match taken.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => path == taken,
        };
        if !paths.is_empty() && !paths.iter().any(is_taken) {
            self.feed.stats.add_dropped("http_unknown_path", 1);
            return Err(because(StatusCode::NOT_FOUND, "nobody takes events at this path"));
        }
        if !methods.is_empty() && !methods.iter().any(|one| *one == parts.method.as_str()) {
            self.feed.stats.add_dropped("http_unknown_method", 1);
            let allowed = methods.join(", ");
            let reply =
                because(StatusCode::METHOD_NOT_ALLOWED, format!("send events with {allowed}"));
            let allowed = HeaderValue::from_str(&allowed);
            return Err(with(reply, ALLOW, allowed.unwrap_or(HeaderValue::from_static("POST"))));
        }
        Ok(())
    }

    fn meta(&self, parts: &Parts, id: u64, peer: Peer) -> String {
        match self.intake.manner {
            Manner::Own => {
                let secret = self.intake.auth.is_some();
                meta::of_request(parts, id, peer.address, peer.tls, secret)
            }
            Manner::Tremor => meta::of_tremor_request(parts, id, peer.tls),
        }
    }

    async fn hand_over(&self, arrival: Arrival, meta: String) -> Result<Receipt, Reply> {
        let origin = Origin::with_meta(self.origin.clone(), meta);
        let handing = self.feed.hand_over(arrival, &origin);
        match tokio::time::timeout(self.intake.server.bounds.wait, handing).await {
            Ok(Ok(receipt)) => Ok(receipt),
            Ok(Err(_)) => Err(later(StatusCode::SERVICE_UNAVAILABLE, "the program is ending")),
            Err(_) => {
                self.feed.stats.add_dropped("http_no_room", 1);
                let reason = "the program takes no more for now; send it again";
                Err(later(StatusCode::SERVICE_UNAVAILABLE, reason))
            }
        }
    }

    async fn written(&self, receipt: Receipt) -> Result<Reply, Reply> {
        match tokio::time::timeout(self.intake.answer_timeout, receipt.settled()).await {
            Ok(true) => Ok(self.accepted()),
            Ok(false) => {
                self.feed.stats.add_error("http_not_written");
                let reason = "the events could not be written; send them again";
                Err(later(StatusCode::SERVICE_UNAVAILABLE, reason))
            }
            Err(_) => {
                Err(self.late("the events were not written within their time; they may still be"))
            }
        }
    }

    async fn answered(
        &self,
        mut ticket: Ticket,
        receipt: Receipt,
        parts: &Parts,
    ) -> Result<Reply, Reply> {
        let answer = async {
            tokio::select! {
                biased;
                answer = &mut ticket.answer => return answer.ok(),
                settled = receipt.settled() => if !settled { return None },
            }
            // All that stems from the request is done, but the program may have kept its number.
            (&mut ticket.answer).await.ok()
        };
        match tokio::time::timeout(self.intake.answer_timeout, answer).await {
            Ok(Some(answer)) => Ok(self.reply(answer, parts.method.as_str())),
            Ok(None) => {
                let reason = "the program could not deal with the request";
                Err(because(StatusCode::INTERNAL_SERVER_ERROR, reason))
            }
            Err(_) => Err(self.late("the program has not answered within its time")),
        }
    }

    fn late(&self, reason: &str) -> Reply {
        self.feed.stats.add_error("http_answer_too_late");
        because(StatusCode::GATEWAY_TIMEOUT, reason)
    }

    fn accepted(&self) -> Reply {
        self.reply(self.intake.accepted.clone(), "")
    }

    /// An answer as the program wants it. tremor's default status depends on the method.
    fn reply(&self, answer: Answer, method: &str) -> Reply {
        let status = match (answer.status, self.intake.manner, method) {
            (Some(status), ..) => StatusCode::from_u16(status).unwrap_or(StatusCode::OK),
            (None, Manner::Tremor, "POST") => StatusCode::CREATED,
            (None, Manner::Tremor, "DELETE") => StatusCode::NO_CONTENT,
            (None, ..) => StatusCode::OK,
        };
        let mut reply = bare(status);
        let has_body = status != StatusCode::NO_CONTENT && status != StatusCode::NOT_MODIFIED;
        if has_body {
            *reply.body_mut() = answer.body.into();
        }
        for (name, value) in &answer.headers {
            if let Some((name, value)) = header(name, value) {
                reply.headers_mut().append(name, value);
            }
        }
        reply
    }
}
