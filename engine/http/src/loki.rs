//! `loki`: events become lines of log streams (Grafana Loki's push interface).
//!
//! Invariant: a line that Loki takes twice, with the same time and labels, is one line there, so that sending
//! again does no harm.

use hyper::header::{HeaderMap, HeaderValue};
use temblor_declare::order::OF_REQUESTS;
use temblor_declare::{Build, Built, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong};
use temblor_runtime::outlet::Feedback;
use temblor_wire::retry::{RETRY, Retry};
use temblor_wire::tls::TLS;

use crate::auth::{AUTH, Credentials};
use crate::client::{Client, TIMEOUT};
use crate::indexing::Indexing;
use crate::load::{BATCH_BYTES, BATCH_EVENTS, CONCURRENCY, Portions};
use crate::sink::{Form, Manner, Requests, add_auth};
use crate::target::Target;
use crate::{hec, loki_source};

/// Where lines are sent to, unless the URL has a path.
const PATH: &str = "/loki/api/v1/push";
/// Lines in Loki.
pub(crate) static LOKI: Connector = Connector {
    kind: "loki",
    notation: Notation::Temblor,
    doc: "Lines of log streams of Grafana Loki. A source takes what is pushed to `/loki/api/v1/push` as JSON or as Protocol \
          Buffers (what Promtail and Grafana's agents send), each line a text, and answers when all lines have got where they should; `$loki` tells `labels`, `timestamp` and \
          `tenant`. A sink pushes lines. Use few labels with few values; what differs from event to event \
          belongs into the line. What Loki refuses (a label name, a line that is too old) goes to `err`.",
    ends: Ends::Both,
    address: Some(
        "\"URL\": where Loki is, such as http://127.0.0.1:3100; \"HOST:PORT\": where to listen",
    ),
    source: loki_source::SETTINGS,
    sink: &[
        Setting::new(
            "labels",
            Takes::PerEventJson,
            "A record of labels; {\"job\": \"temblor\"} without it.",
        ),
        Setting::new("line", Takes::PerEvent, "The line; the whole event as JSON without it."),
        Setting::new(
            "timestamp",
            Takes::PerEvent,
            "The time of the line in nanoseconds since 1970; the time of sending without it.",
        ),
        Setting::new("tenant", Takes::PerEvent, "The tenant (`X-Scope-OrgID`)."),
        BATCH_EVENTS,
        BATCH_BYTES,
        CONCURRENCY,
        OF_REQUESTS,
        Setting::new("compression", Takes::Word(&["none", "gzip"]), "How requests are compressed.")
            .or("gzip"),
        Setting::new("auth", Takes::Record(AUTH), "The credentials that each request shows."),
        Setting::new(
            "tls",
            Takes::Record(TLS),
            "How the server is checked, and a certificate of our own.",
        ),
        TIMEOUT,
        Setting::new("retry", Takes::Record(RETRY), "The waits between attempts."),
    ],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &["loki"],
    examples: &[
        r#"sink logs into loki "http://127.0.0.1:3100" with
  labels = {"job": "app", "level": event.level}, line = event.message
end;
in |> logs"#,
        r#"source agents from loki "127.0.0.1:3100"; agents |> set event = {"line": event, "labels": $loki.labels} |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    if what.ends == Ends::Source {
        return loki_source::build(what);
    }
    collector(what, (LOKI.sink, None), PATH, Form::Loki, "application/json")
}

/// A sink that sends to a collector of logs, with the rows of its settings; `auth` stands for the setting, if it is
/// given.
///
/// # Errors
/// A setting that is wrong.
pub(crate) fn collector(
    what: &Build<'_>,
    (rows, auth): (&[Setting], Option<Credentials>),
    path: &str,
    form: Form,
    kind: &'static str,
) -> Result<Built, Wrong> {
    let settings = what.settings;
    let mut target = Target::parse(settings.text("address"), None, "address")?;
    if target.path == "/" {
        target.path = path.to_string();
    }
    let auth = match auth {
        Some(auth) => Some(auth),
        None => Credentials::of_settings(settings)?,
    };
    let mut headers = HeaderMap::new();
    headers.insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if form == Form::Hec {
        let channel = HeaderValue::from_str(&hec::channel()).expect("a UUID is plain text");
        headers.insert("x-splunk-request-channel", channel);
    }
    let mut warnings = add_auth(auth.as_ref(), &[&target], &mut headers);
    warnings.extend(Client::warning(settings, &[&target]));
    let requests = Requests {
        client: Client::of_settings(settings, &[&target])?,
        target,
        method: hyper::Method::POST,
        headers,
        form,
        portions: Portions::of_settings(settings, rows)?,
        gzip: settings.text("compression") == "gzip",
        retry: Retry::of_settings(settings.record("retry")),
        manner: Manner::Collector,
        indexing: Indexing::of_settings(settings, form),
        errors: Feedback::new(),
        answers: Feedback::new(),
    };
    let mut sink = requests.built();
    sink.answers = None;
    Ok(Built { sink: Some(sink), source: None, warnings })
}
