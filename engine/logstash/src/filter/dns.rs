//! `dns`: asks for addresses of names and for names of addresses. Answers and failures are remembered,
//! and every question has a time limit; nothing is asked twice while an answer holds. The questions of a
//! batch go out together before its first event needs an answer.

mod answers;
mod wire;

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option};
use answers::{Answers, Limit};
use chrono::{DateTime, Duration, Utc};
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use wire::{Answer, Question};

/// `dns`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "dns",
    doc: "Asks for the addresses of names, and the names of addresses.",
    options: &[
        option("resolve", Takes::List, "Fields with names."),
        option("reverse", Takes::List, "Fields with addresses."),
        option(
            "action",
            Takes::OneOf(&["append", "replace"]),
            "Whether the answer is added or stands in its place.",
        ),
        option("nameserver", Takes::Anything, "Servers to ask; else those of the system."),
        option("timeout", Takes::Number, "Seconds to wait for an answer."),
        option("max_retries", Takes::Number, "How often to ask again."),
        option("hit_cache_size", Takes::Number, "Answers that are remembered."),
        option("hit_cache_ttl", Takes::Number, "For how many seconds."),
        option("failed_cache_size", Takes::Number, "Failures that are remembered."),
        option("failed_cache_ttl", Takes::Number, "For how many seconds."),
        option("hostsfile", Takes::List, "Files with names and addresses."),
        option("tag_on_timeout", Takes::List, "The tags of questions without an answer."),
    ],
    make,
};

/// Answers are remembered up to this number when nobody says more.
const CACHE_DEFAULT: usize = 10_000;
/// The longest wait for one answer, in seconds.
const TIMEOUT_SECONDS_MAX: f64 = 30.0;

#[derive(Debug)]
struct Dns {
    resolve: Vec<FieldRef>,
    reverse: Vec<FieldRef>,
    replace: bool,
    servers: Vec<SocketAddr>,
    timeout: std::time::Duration,
    tries: u32,
    answers: Answers,
    /// Names and addresses of files.
    hosts: HashMap<String, String>,
    tags: Vec<String>,
}

/// Whether questions are asked or, ahead of their events, only noted.
enum Mode {
    Asking,
    Noting(HashSet<Question>),
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let mut fields = |name: &str| -> Vec<FieldRef> {
        let texts = arguments.texts(name).unwrap_or_default();
        texts.iter().filter_map(|(text, _)| FieldRef::parse(text).ok()).collect()
    };
    let (resolve, reverse) = (fields("resolve"), fields("reverse"));
    let named = match arguments.pairs("nameserver") {
        pairs if !pairs.is_empty() => pairs
            .iter()
            .find(|(key, _)| key == "address")
            .map(|(_, value)| {
                value.items().iter().filter_map(|one| one.text()).map(str::to_string).collect()
            })
            .unwrap_or_default(),
        _ => arguments
            .texts("nameserver")
            .unwrap_or_default()
            .into_iter()
            .map(|(text, _)| text)
            .collect::<Vec<_>>(),
    };
    let servers = if named.is_empty() { wire::system_servers() } else { wire::servers(&named) };
    let files = arguments.texts("hostsfile");
    let files = files.unwrap_or_else(|| vec![("/etc/hosts".to_string(), arguments.span)]);
    let mut hosts = HashMap::new();
    for (file, _) in files {
        if let Ok(text) = std::fs::read_to_string(&file) {
            wire::read_hosts(&text, &mut hosts);
        }
    }
    let seconds = |name: &str, default: f64| arguments.number(name).unwrap_or(default);
    let limit = |size: &str, keep: &str, keep_default: f64| Limit {
        size: arguments.number(size).map_or(CACHE_DEFAULT, |size| size as usize),
        keep: Duration::milliseconds((seconds(keep, keep_default) * 1e3) as i64),
    };
    let answers = Answers::new(
        limit("hit_cache_size", "hit_cache_ttl", 60.0),
        limit("failed_cache_size", "failed_cache_ttl", 5.0),
        arguments.number("failed_cache_size").is_some_and(|size| size > 0.0),
    );
    let timeout = seconds("timeout", 0.5).clamp(0.001, TIMEOUT_SECONDS_MAX);
    Some(Box::new(Dns {
        resolve,
        reverse,
        replace: arguments.text("action").as_deref() == Some("replace"),
        servers,
        timeout: std::time::Duration::from_secs_f64(timeout),
        tries: 1 + seconds("max_retries", 2.0).clamp(0.0, 10.0) as u32,
        answers,
        hosts,
        tags: arguments.tags("tag_on_timeout", "_dnstimeout"),
    }))
}

/// The question was not answered in time.
struct TimedOut;

impl Filter for Dns {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Mode::Asking))
    }

    fn remembers_only_to_be_fast(&self) -> bool {
        true
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn notes(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Mode::Noting(HashSet::new())))
    }

    fn noted(&self, notes: Box<dyn Any + Send>, now: DateTime<Utc>) {
        let Ok(notes) = notes.downcast::<Mode>() else { return };
        let Mode::Noting(questions) = *notes else { return };
        let questions: Vec<Question> = questions.into_iter().collect();
        let answers = wire::ask_all(&questions, &self.servers, self.timeout, self.tries);
        self.answers.keep_ahead(questions.into_iter().zip(answers).collect(), now);
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let all = [(&self.resolve, false), (&self.reverse, true)];
        if let Some(Mode::Noting(questions)) = turn.memory.downcast_mut() {
            for (fields, reverse) in all {
                let asked = fields.iter().filter_map(|field| ask_for(event.get(field)?, reverse));
                questions.extend(
                    asked
                        .map(|(_, question, _)| question)
                        .filter(|question| !self.hosts.contains_key(&question.text()))
                        .filter(|question| !self.answers.knows(question, turn.now)),
                );
            }
            return Outcome::Unmatched;
        }
        for (fields, reverse) in all {
            for field in fields {
                match self.field(field, reverse, event, turn) {
                    Ok(true) => {}
                    // As in Logstash, what is no question ends the filter.
                    Ok(false) => return Outcome::Unmatched,
                    Err(TimedOut) => return turn.fail(event, &self.tags),
                }
            }
        }
        Outcome::Matched
    }
}

impl Dns {
    /// Whether the field was answered.
    fn field<'a>(
        &'a self,
        field: &FieldRef,
        reverse: bool,
        event: &mut LogEvent<'a>,
        turn: &mut Turn<'a, '_>,
    ) -> Result<bool, TimedOut> {
        let arena = turn.arena;
        let (text, question, listed) = match event.get(field) {
            None | Some(Datum::Null) => return Ok(true),
            Some(value) => match ask_for(value, reverse) {
                Some(asked) => asked,
                None => return Ok(false),
            },
        };
        let Some(found) = self.ask(question, turn.now)? else { return Ok(false) };
        let found = Datum::Str(arena.str(&found));
        let value = match (self.replace, listed) {
            (true, false) => found,
            (true, true) => Datum::List(vec![found]),
            (false, _) => Datum::List(vec![Datum::Str(text), found]),
        };
        Ok(event.set(field, value, arena).is_ok())
    }

    /// The answer, unless there is none.
    fn ask(&self, question: Question, now: DateTime<Utc>) -> Result<Option<String>, TimedOut> {
        if let Some(found) = self.hosts.get(&question.text()) {
            return Ok(Some(found.clone()));
        }
        if let Some(known) = self.answers.tell(&question, now) {
            return known;
        }
        let one = std::slice::from_ref(&question);
        let asked = wire::ask_all(one, &self.servers, self.timeout, self.tries);
        let answer = asked.into_iter().next().unwrap_or(Answer::Silence);
        self.answers.keep(question, answer.clone(), now);
        match answer {
            Answer::Found(text) => Ok(Some(text)),
            Answer::Nothing => Ok(None),
            Answer::Silence => Err(TimedOut),
        }
    }
}

/// What a value asks for: its text, the question, and whether it is in a list. Nothing where it is no
/// question.
fn ask_for<'a>(value: &Datum<'a>, reverse: bool) -> Option<(&'a str, Question, bool)> {
    let (text, listed) = match value {
        Datum::Str(text) => (*text, false),
        Datum::List(items) => match items.as_slice() {
            [Datum::Str(text)] => (*text, true),
            _ => return None,
        },
        _ => return None,
    };
    let question = match reverse {
        true => Question::Name(text.parse::<IpAddr>().ok()?),
        false => Question::Address(text.to_string()),
    };
    Some((text, question, listed))
}
