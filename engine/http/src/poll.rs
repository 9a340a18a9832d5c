//! `http_poll`: URLs that are asked for again and again; each answer becomes events.
//!
//! Invariant: one round ends before the next begins, so that a server that is slow is never asked twice at once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono_tz::Tz;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderMap};
use serde_json::Value;
use temblor_connect::source::crononome::Crontab;
use temblor_declare::{
    Build, Built, CodecUse, Connector, Ends, Notation, Setting, Settings, Takes, Wrong,
};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::clock::system_time;
use temblor_runtime::error::Error;
use temblor_runtime::intake::Messages;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::tls::TLS;
use tokio::time::Instant;

use crate::auth::{AUTH, Credentials};
use crate::client::{Client, Got, TIMEOUT};
use crate::json::{push_entry, push_key};
use crate::messages::{Body, Reading};
use crate::meta::{Headers, push_headers};
use crate::sink::add_auth;
use crate::source::header;
use crate::target::Target;

/// URLs of one source, at the most.
pub(crate) const URLS_MAX: usize = 1000;
/// The name of a URL that has none.
const NAMELESS: &str = "url";

/// Answers of servers that are asked again and again.
pub(crate) static HTTP_POLL: Connector = Connector {
    kind: "http_poll",
    notation: Notation::Temblor,
    doc: "Asks for URLs again and again, and makes events of the bodies as `http` does: by their type of content, or \
          by `codec`. `$http_poll` tells `name`, `request` (`method`, `url`), `response` (`status`, `message`, \
          `headers`), `took_ns` and `took_s`. Every answer is taken, whatever its status. A request without an \
          answer is shown and counted, or with `failures` an event `{}` with `$http_poll.error`.",
    ends: Ends::Source,
    address: Some("\"URL\": what is asked for; further ones stand in `urls`"),
    source: &[
        Setting::new("address", Takes::Text, "A URL; none when all stand in `urls`."),
        Setting::new(
            "urls",
            Takes::Any,
            "A record of further URLs by name: a text, or `{\"url\", \"method\", \"headers\", \"query\", \"body\", \
             \"user\", \"password\"}`.",
        ),
        Setting::new("every", Takes::Duration, "From the start of a round to that of the next.")
            .or("60s"),
        Setting::new(
            "schedule",
            Takes::Text,
            "A line of a crontab instead of `every`: `*/5 * * * *`, with seconds in front and a zone behind \
             where they are wanted.",
        ),
        Setting::new(
            "times",
            Takes::Whole { least: 1, most: u64::MAX },
            "The source ends after so many rounds. Without it, it never ends.",
        ),
        Setting::new("method", Takes::Text, "The method.").or("GET"),
        Setting::new("headers", Takes::Map, "Headers of each request."),
        Setting::new("failures", Takes::Flag, "Whether a request without an answer is an event."),
        Setting::new("auth", Takes::Record(AUTH), "The credentials that each request shows."),
        Setting::new(
            "tls",
            Takes::Record(TLS),
            "How servers are checked, and a certificate of our own.",
        ),
        TIMEOUT,
    ],
    sink: &[],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &["http_poll"],
    examples: &[
        r#"source health from http_poll "http://127.0.0.1:9600/_node/stats" with every = "10s" end;
health |> where $http_poll.response.status == 200 |> out"#,
        r#"source prices from http_poll "https://shop.example/prices" with schedule = "*/5 * * * *" end; prices |> out"#,
    ],
    build,
};

/// One URL, and how it is asked for.
#[derive(Clone, Debug)]
struct Page {
    name: String,
    target: Target,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
}

/// When rounds begin.
#[derive(Clone, Debug)]
enum Rhythm {
    Every(Duration),
    Table(Crontab),
}

/// The source.
#[derive(Clone, Debug)]
struct Poll {
    pages: Vec<Page>,
    client: Client,
    rhythm: Rhythm,
    times: Option<u64>,
    failures: bool,
    reading: Reading,
}

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let method = method(settings.text("method"), "method")?;
    let mut headers = HeaderMap::new();
    for (name, value) in settings.map("headers") {
        add_header(&mut headers, name, value, "headers")?;
    }
    let mut pages = Vec::new();
    if let Some(url) = settings.optional_text("address") {
        let target = Target::parse(url, None, "address")?;
        let (name, headers) = (NAMELESS.to_string(), headers.clone());
        pages.push(Page { name, target, method: method.clone(), headers, body: Bytes::new() });
    }
    pages.extend(further(settings, &method, &headers)?);
    if pages.is_empty() || pages.len() > URLS_MAX {
        let message = format!("a source asks for 1 to {URLS_MAX} URLs, not {}", pages.len());
        return Err(Wrong::at("urls", message, ""));
    }
    let auth = Credentials::of_settings(settings)?;
    let mut warnings = Vec::new();
    for page in &mut pages {
        if !page.headers.contains_key(AUTHORIZATION) {
            warnings.extend(add_auth(auth.as_ref(), &[&page.target], &mut page.headers));
        }
    }
    let targets: Vec<_> = pages.iter().map(|page| &page.target).collect();
    warnings.extend(Client::warning(settings, &targets));
    let poll = Poll {
        client: Client::of_settings(settings, &targets)?,
        rhythm: rhythm(settings)?,
        times: settings.optional_whole("times"),
        failures: settings.flag("failures"),
        reading: Reading {
            codec: what.codec,
            framing: what.framing,
            framing_is_chosen: what.framing_is_chosen,
            preprocessors: what.preprocessors.to_vec(),
            whole: false,
        },
        pages,
    };
    Ok(Built { source: Some(Arc::new(poll)), sink: None, warnings })
}

fn rhythm(settings: &Settings) -> Result<Rhythm, Wrong> {
    let Some(text) = settings.optional_text("schedule") else {
        return Ok(Rhythm::Every(settings.duration("every").max(Duration::from_millis(1))));
    };
    let table = Crontab::parse(text, Tz::UTC);
    let help = "such as \"*/5 * * * *\"";
    table.map(Rhythm::Table).map_err(|reason| Wrong::at("schedule", reason, help))
}

fn method(text: &str, setting: &'static str) -> Result<Method, Wrong> {
    Method::from_bytes(text.to_uppercase().as_bytes())
        .map_err(|_| Wrong::at(setting, format!("`{text}` is no method of HTTP"), "such as GET"))
}

fn add_header(
    headers: &mut HeaderMap,
    name: &str,
    value: &str,
    setting: &'static str,
) -> Result<(), Wrong> {
    let wrong = || Wrong::at(setting, format!("`{name}` cannot be a header"), "");
    let (name, value) = header(name, value).ok_or_else(wrong)?;
    headers.insert(name, value);
    Ok(())
}

/// The pages of the setting `urls`.
fn further(settings: &Settings, usual: &Method, common: &HeaderMap) -> Result<Vec<Page>, Wrong> {
    let help = "write urls = {\"name\": \"http://host/path\"}";
    let wrong = |message: &str| Wrong::at("urls", message.to_string(), help);
    let Some(json) = settings.json("urls") else { return Ok(Vec::new()) };
    let Ok(Value::Object(urls)) = serde_json::from_str(json) else {
        return Err(wrong("`urls` must be a record of URLs by name"));
    };
    let mut pages = Vec::new();
    for (name, value) in urls {
        let field = |name: &str| value.get(name).and_then(Value::as_str);
        let url = value.as_str().or_else(|| field("url"));
        let url = url.ok_or_else(|| wrong(&format!("`{name}` has no URL")))?;
        let mut target = Target::parse(url, None, "urls")?;
        let mut headers = common.clone();
        let records = |name: &str| value.get(name).and_then(Value::as_object).into_iter().flatten();
        for (name, value) in records("headers") {
            add_header(&mut headers, name, value.as_str().unwrap_or_default(), "urls")?;
        }
        for (name, value) in records("query") {
            let mark = if target.path.contains('?') { '&' } else { '?' };
            let plain = |text: &str| text.bytes().map(escaped).collect::<String>();
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            target.path.push_str(&format!("{mark}{}={}", plain(name), plain(&value)));
        }
        if let Some(user) = field("user") {
            let auth = Credentials::basic(user, field("password").unwrap_or_default());
            let value = auth.header().map_err(|_| wrong("the password cannot be in a header"))?;
            headers.insert(AUTHORIZATION, value);
        }
        let method =
            field("method").map_or_else(|| Ok(usual.clone()), |text| method(text, "urls"))?;
        let body = Bytes::from(field("body").unwrap_or_default().to_string());
        pages.push(Page { name, target, method, headers, body });
    }
    Ok(pages)
}

/// A byte as part of a query (RFC 3986).
fn escaped(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    }
}

impl OpenSource for Poll {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Poll {
    fn name(&self) -> String {
        self.pages.first().map_or_else(String::new, |page| page.target.to_string())
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        feed.network.handle()?.block_on(async {
            let mut rounds = 0;
            let mut next = Instant::now();
            if let Rhythm::Table(_) = self.rhythm {
                next += self.wait(next);
            }
            while self.times.is_none_or(|times| rounds < times) {
                tokio::select! {
                    () = tokio::time::sleep_until(next) => {}
                    () = feed.stop.asked() => break,
                }
                let began = Instant::now();
                tokio::select! {
                    () = self.round(feed) => {}
                    () = feed.stop.asked() => break,
                }
                rounds += 1;
                next = began + self.wait(began);
            }
            Ok(())
        })
    }
}

impl Poll {
    /// The time from the start of a round to that of the next.
    fn wait(&self, began: Instant) -> Duration {
        match &self.rhythm {
            Rhythm::Every(time) => *time,
            Rhythm::Table(table) => {
                let now = system_time();
                let due = table.next(now).unwrap_or(u64::MAX);
                began.elapsed() + Duration::from_nanos(due.saturating_sub(now))
            }
        }
    }

    /// Asks for all pages at once.
    async fn round(&self, feed: &Feed) {
        let asked: FuturesUnordered<_> =
            self.pages.iter().map(|page| self.page(page, feed)).collect();
        asked.collect::<Vec<()>>().await;
    }

    async fn page(&self, page: &Page, feed: &Feed) {
        let place = page.target.to_string();
        let began = Instant::now();
        let got = match page.target.uri(&page.target.path) {
            Ok(uri) => self.client.send(&page.method, &uri, &page.headers, page.body.clone()).await,
            Err(reason) => Err(reason),
        };
        let took = began.elapsed();
        match got {
            Ok(got) => {
                let meta = meta(page, took, Some(&got), None);
                let Body { arrival, .. } = self.reading.read(&got.headers, got.body.to_vec());
                let Some(arrival) = arrival else { return };
                let origin = Origin::with_meta(place, meta);
                // A run that is over takes no answers any more.
                let _ = feed.hand_over_unwatched(arrival, &origin).await;
            }
            Err(reason) if self.failures => {
                feed.stats.add_error("http_poll");
                let mut messages = Messages::default();
                messages.push(&meta(page, took, None, Some(&reason)), b"{}");
                let _ = feed.hand_over_unwatched(messages.take(), &Origin::named(place)).await;
            }
            Err(reason) => {
                let help = "it is asked again in the next round";
                feed.trouble(Error::input(place, reason, help));
            }
        }
    }
}

/// `{"http_poll": {…}}` of an answer, or of a request without one.
fn meta(page: &Page, took: Duration, got: Option<&Got>, error: Option<&str>) -> String {
    let mut meta = "{\"http_poll\":{".to_string();
    push_entry("name", &page.name, &mut meta);
    push_entry("host", &page.target.address.host, &mut meta);
    push_key("request", &mut meta);
    meta.push('{');
    push_entry("method", page.method.as_str(), &mut meta);
    let url = page.target.uri(&page.target.path).map(|uri| uri.to_string());
    push_entry("url", &url.unwrap_or_default(), &mut meta);
    meta.push('}');
    push_key("took_ns", &mut meta);
    meta.push_str(&took.as_nanos().to_string());
    push_key("took_s", &mut meta);
    meta.push_str(&format!("{:.6}", took.as_secs_f64()));
    if let Some(got) = got {
        push_key("response", &mut meta);
        meta.push('{');
        push_key("status", &mut meta);
        meta.push_str(got.status.as_str());
        push_entry("message", got.status.canonical_reason().unwrap_or_default(), &mut meta);
        push_key("headers", &mut meta);
        push_headers(&got.headers, Headers::Plain, false, &mut meta);
        meta.push('}');
    }
    if let Some(error) = error {
        push_entry("error", error, &mut meta);
    }
    meta.push_str("}}");
    meta
}
