//! `dns`: asks for addresses of names and for names of addresses. Answers and failures are remembered,
//! and every question has a time limit; nothing is asked twice while an answer holds.

mod wire;

use super::{Declaration, Filter, Outcome, Turn};
use crate::logstash::datum::Datum;
use crate::logstash::event::LogEvent;
use crate::logstash::options::{Arguments, Takes, option};
use crate::logstash::reference::FieldRef;
use chrono::{DateTime, Duration, Utc};
use std::any::Any;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use wire::{Answer, Question};

/// `dns`
pub static DECLARATION: Declaration = Declaration {
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
    hit: (usize, Duration),
    failed: (usize, Duration),
    /// Names and addresses of files.
    hosts: HashMap<String, String>,
    tags: Vec<String>,
}

/// Answers until when; none for a failure.
type Cache = HashMap<String, (Option<String>, DateTime<Utc>)>;

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
    let size = |name: &str| arguments.number(name).map_or(CACHE_DEFAULT, |size| size as usize);
    let span = |seconds: f64| Duration::milliseconds((seconds * 1e3) as i64);
    let timeout = seconds("timeout", 0.5).clamp(0.001, TIMEOUT_SECONDS_MAX);
    Some(Box::new(Dns {
        resolve,
        reverse,
        replace: arguments.text("action").as_deref() == Some("replace"),
        servers,
        timeout: std::time::Duration::from_secs_f64(timeout),
        tries: 1 + seconds("max_retries", 2.0).clamp(0.0, 10.0) as u32,
        hit: (size("hit_cache_size"), span(seconds("hit_cache_ttl", 60.0))),
        failed: (size("failed_cache_size"), span(seconds("failed_cache_ttl", 5.0))),
        hosts,
        tags: arguments.tags("tag_on_timeout", "_dnstimeout"),
    }))
}

/// The question was not answered in time.
struct TimedOut;

impl Filter for Dns {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Cache::new()))
    }

    fn remembers_only_to_be_fast(&self) -> bool {
        true
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let all = [(&self.resolve, false), (&self.reverse, true)];
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
        let (text, listed) = match event.get(field) {
            Some(Datum::Str(text)) => (*text, false),
            Some(Datum::List(items)) => match items.as_slice() {
                [Datum::Str(text)] => (*text, true),
                _ => return Ok(false),
            },
            None | Some(Datum::Null) => return Ok(true),
            _ => return Ok(false),
        };
        let address = text.parse::<IpAddr>();
        let question = match (reverse, address) {
            (true, Ok(address)) => Question::Name(address),
            (false, _) => Question::Address(text.to_string()),
            (true, Err(_)) => return Ok(false),
        };
        let cache = turn.memory.downcast_mut::<Cache>().expect("the memory of this filter");
        let Some(found) = self.ask(&question, turn.now, cache)? else { return Ok(false) };
        let found = Datum::Str(arena.str(&found));
        let value = match (self.replace, listed) {
            (true, false) => found,
            (true, true) => Datum::List(vec![found]),
            (false, _) => Datum::List(vec![Datum::Str(text), found]),
        };
        Ok(event.set(field, value, arena).is_ok())
    }

    fn ask(
        &self,
        question: &Question,
        now: DateTime<Utc>,
        cache: &mut Cache,
    ) -> Result<Option<String>, TimedOut> {
        let key = question.text();
        if let Some(found) = self.hosts.get(&key) {
            return Ok(Some(found.clone()));
        }
        if let Some((found, until)) = cache.get(&key)
            && *until > now
        {
            return Ok(found.clone());
        }
        let mut answer = Answer::Silence;
        for turn in 0..self.tries {
            for server in &self.servers {
                answer = wire::ask(question, *server, self.timeout);
                if answer != Answer::Silence {
                    break;
                }
            }
            if answer != Answer::Silence || turn + 1 == self.tries {
                break;
            }
        }
        let found = match &answer {
            Answer::Found(text) => Some(text.clone()),
            Answer::Nothing | Answer::Silence => None,
        };
        let (size, keep) = if found.is_some() { self.hit } else { self.failed };
        if size > 0 {
            if cache.len() >= size {
                cache.retain(|_, (_, until)| *until > now);
            }
            if cache.len() >= size {
                cache.clear();
            }
            cache.insert(key, (found.clone(), now + keep));
        }
        if answer == Answer::Silence { Err(TimedOut) } else { Ok(found) }
    }
}
