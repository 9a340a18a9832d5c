//! `http`: asks a server about an event and keeps the answer. What only reads (GET, HEAD) is asked for all events
//! of a batch together, before its first event needs an answer.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Setting, SettingKind, Takes, option, required};
use chrono::{DateTime, Utc};
use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use temblor_connect::asking::{self, Answer, AskHttp, HttpManners, Question};
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// `http`
pub(super) static DECLARATION: Declaration = Declaration {
    name: "http",
    doc: "Asks a server by HTTP, and keeps the answer in the event.",
    options: &[
        required("url", Takes::Text, "What is asked for; may hold `%{field}`."),
        option(
            "verb",
            Takes::OneOf(&["GET", "HEAD", "PATCH", "DELETE", "POST", "PUT"]),
            "The method (GET).",
        ),
        option("headers", Takes::Hash, "Headers; may hold `%{field}`."),
        option("query", Takes::Hash, "Parameters behind the URL; may hold `%{field}`."),
        option("body", Takes::Anything, "The body: a text, or a hash that becomes JSON."),
        option("body_format", Takes::OneOf(&["text", "json"]), "How a body is written (text)."),
        option("target_body", Takes::Text, "The field of the answer (body)."),
        option("target_headers", Takes::Text, "The field of its headers (headers)."),
        option("tag_on_request_failure", Takes::List, "Tags of requests without a good answer."),
        option("tag_on_json_failure", Takes::List, "Tags of answers that are no JSON."),
        option("user", Takes::Text, "The user of Basic authentication."),
        option("password", Takes::Text, "Its password."),
        option("request_timeout", Takes::Number, "Seconds that an answer may take (60)."),
        option("automatic_retries", Takes::Number, "How often a request is sent again (1)."),
        option("ssl_certificate_authorities", Takes::List, "Files of authorities (PEM)."),
        option(
            "ssl_verification_mode",
            Takes::OneOf(&["full", "none"]),
            "Whether servers are checked.",
        ),
        option("ssl_enabled", Takes::Flag, "Accepted; the URL says it."),
        option("follow_redirects", Takes::Flag, "Accepted; redirects are not followed."),
        option("connect_timeout", Takes::Number, "Accepted."),
        option("socket_timeout", Takes::Number, "Accepted."),
        option("pool_max", Takes::Number, "Accepted."),
        option("pool_max_per_route", Takes::Number, "Accepted."),
        option("keepalive", Takes::Flag, "Accepted; connections are kept."),
        option("cookies", Takes::Flag, "Accepted; cookies are not kept."),
        option("retry_non_idempotent", Takes::Flag, "Accepted."),
        option("validate_after_inactivity", Takes::Number, "Accepted."),
    ],
    make,
};

/// What stands in the place of a body.
#[derive(Debug)]
enum Body {
    None,
    Text(Template),
    Hash(Vec<(String, Template)>),
}

#[derive(Debug)]
struct Http {
    client: Option<Arc<dyn AskHttp>>,
    url: Template,
    verb: String,
    headers: Vec<(String, Template)>,
    query: Vec<(String, Template)>,
    body: Body,
    is_json: bool,
    target_body: FieldRef,
    target_headers: FieldRef,
    failed: Vec<String>,
    no_json: Vec<String>,
    /// Answers that were asked for ahead of their events.
    ahead: Mutex<HashMap<Question, VecDeque<Result<Answer, String>>>>,
}

/// Whether questions are asked or, ahead of their events, only noted.
enum Mode {
    Asking,
    Noting(Vec<Question>),
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let ecs = arguments.ecs.is_on();
    let (body, headers) = match ecs {
        true => ("[http][response][body]", "[@metadata][filter][http][response][headers]"),
        false => ("body", "headers"),
    };
    let target_body = arguments.field("target_body", body)?;
    let target_headers = arguments.field("target_headers", headers)?;
    let seconds = arguments.number("request_timeout").unwrap_or(60.0).clamp(0.001, 3600.0);
    let authorities = arguments.words("ssl_certificate_authorities").unwrap_or_default();
    let manners = HttpManners {
        timeout: Duration::from_secs_f64(seconds),
        attempts: 1 + arguments.number("automatic_retries").unwrap_or(1.0).clamp(0.0, 100.0) as u64,
        authorities: authorities.into_iter().next(),
        verifies: arguments.text("ssl_verification_mode").as_deref() != Some("none"),
        secures: !arguments.text("url").is_some_and(|url| url.starts_with("http://")),
    };
    let client = match asking::http().map(|open| open(&manners)) {
        // A tool that only reads configurations has no client, and asks nobody.
        None => None,
        Some(Ok(client)) => Some(client),
        Some(Err(reason)) => {
            let place = arguments.place("url");
            arguments.complain(complain::bad_value("url", place, &format!("reachable: {reason}")));
            return None;
        }
    };
    let templates = |arguments: &Arguments<'_>, name: &str| -> Vec<(String, Template)> {
        let pairs = arguments.pairs(name).into_iter();
        pairs.filter_map(|(name, value)| Some((name, Template::parse(value.text()?)))).collect()
    };
    let mut all = templates(arguments, "headers");
    if let Some(user) = arguments.text("user") {
        use base64::Engine as _;
        let password = arguments.text("password").unwrap_or_default();
        let coded = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
        all.push(("Authorization".to_string(), Template::literal(&format!("Basic {coded}"))));
    }
    let body = match arguments.get("body") {
        None => Body::None,
        Some(Setting { kind: SettingKind::Hash(_), .. }) => {
            Body::Hash(templates(arguments, "body"))
        }
        Some(setting) => Body::Text(Template::parse(setting.text().unwrap_or_default())),
    };
    Some(Box::new(Http {
        client,
        url: Template::parse(&arguments.text("url")?),
        verb: arguments.text("verb").unwrap_or_else(|| "GET".to_string()),
        headers: all,
        query: templates(arguments, "query"),
        body,
        is_json: arguments.text("body_format").as_deref() == Some("json"),
        target_body,
        target_headers,
        failed: arguments.tags("tag_on_request_failure", "_httprequestfailure"),
        no_json: arguments.tags("tag_on_json_failure", "_jsonparsefailure"),
        ahead: Mutex::default(),
    }))
}

impl Filter for Http {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Mode::Asking))
    }

    fn remembers_only_to_be_fast(&self) -> bool {
        true
    }

    fn looks_ahead(&self) -> bool {
        matches!(&*self.verb, "GET" | "HEAD")
    }

    fn notes(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Mode::Noting(Vec::new())))
    }

    fn noted(&self, notes: Box<dyn Any + Send>, _: DateTime<Utc>) {
        let Ok(notes) = notes.downcast::<Mode>() else { return };
        let Mode::Noting(questions) = *notes else { return };
        let Some(client) = &self.client else { return };
        let answers = client.ask(&questions);
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        // What was asked for and then not needed is of the batch before.
        ahead.clear();
        for (question, answer) in questions.into_iter().zip(answers) {
            ahead.entry(question).or_default().push_back(answer);
        }
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let question = self.question(event, turn);
        if let Some(Mode::Noting(questions)) = turn.memory.downcast_mut() {
            questions.push(question);
            return Outcome::Unmatched;
        }
        let known = {
            let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
            ahead.get_mut(&question).and_then(VecDeque::pop_front)
        };
        let ask = |client: &Arc<dyn AskHttp>| client.ask(std::slice::from_ref(&question)).pop();
        let answer = known.or_else(|| self.client.as_ref().and_then(ask));
        match answer {
            Some(Ok(answer)) if (200..300).contains(&answer.status) => {
                self.keep(&answer, event, turn)
            }
            _ => turn.fail(event, &self.failed),
        }
    }
}

impl Http {
    fn question<'a>(&'a self, event: &LogEvent<'a>, turn: &Turn<'a, '_>) -> Question {
        let text = |template: &'a Template| template.render(event, turn.arena, turn.now);
        let mut url = text(&self.url).to_string();
        for (name, value) in &self.query {
            url.push(if url.contains('?') { '&' } else { '?' });
            push_escaped(name, &mut url);
            url.push('=');
            push_escaped(text(value), &mut url);
        }
        let mut headers: Vec<_> = self
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), text(value).to_string()))
            .collect();
        let body = match &self.body {
            Body::None => String::new(),
            Body::Text(template) => text(template).to_string(),
            Body::Hash(entries) => {
                let mut map = Map::default();
                for (name, value) in entries {
                    map.insert(name, Datum::Str(text(value)));
                }
                let mut out = String::new();
                Datum::Map(map).push_json(&mut out);
                out
            }
        };
        let says = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        if !matches!(self.body, Body::None) && !says("content-type") {
            let kind = if self.is_json { "application/json" } else { "text/plain" };
            headers.push(("content-type".to_string(), kind.to_string()));
        }
        Question { method: self.verb.clone(), url, headers, body }
    }

    /// Writes an answer into the event.
    fn keep<'a>(
        &'a self,
        answer: &Answer,
        event: &mut LogEvent<'a>,
        turn: &mut Turn<'a, '_>,
    ) -> Outcome {
        let arena = turn.arena;
        let mut headers = Map::default();
        for (name, value) in &answer.headers {
            headers.insert(arena.str(name), Datum::Str(arena.str(value)));
        }
        let kind = answer.headers.iter().find(|(name, _)| name == "content-type");
        let kind = kind.map_or("", |(_, value)| value.split(';').next().unwrap_or_default().trim());
        let text = arena.str(answer.body.trim());
        let body = match kind {
            "application/json" => super::read_json(text, arena),
            _ => Some(Datum::Str(text)),
        };
        // What stands in the way stays.
        let _ = event.set(&self.target_headers, Datum::Map(headers), arena);
        match body {
            Some(body) => {
                let _ = event.set(&self.target_body, body, arena);
                Outcome::Matched
            }
            None => turn.fail(event, &self.no_json),
        }
    }
}

/// A text as part of a query (RFC 3986).
fn push_escaped(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
}
