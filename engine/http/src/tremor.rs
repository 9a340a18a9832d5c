//! The connectors of tremor that speak HTTP: `http_server`, `http_client`, `elastic`.
//!
//! Invariant: names, defaults, metadata and statuses are tremor's; bounds are ours.

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use hyper::header::{HeaderMap, HeaderValue};
use temblor_declare::order::Order;
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Given, Notation, Setting, Settings, Takes,
    Wrong,
};
use temblor_runtime::outlet::Feedback;
use temblor_wire::retry::Retry;

use crate::auth::Credentials;
use crate::bounds::Bounds;
use crate::bulk::Action;
use crate::client::Client;
use crate::indexer::{self, Bulk};
use crate::load::Portions;
use crate::messages::Reading;
use crate::nodes::Nodes;
use crate::pending::Answer;
use crate::reply::{self, Form, Replies};
use crate::safe::Safe;
use crate::server::{Server, warning};
use crate::sink::{self, Requests, add_auth};
use crate::source::{Answering, Intake, Manner, header};
use crate::target::Target;

/// How long a request waits for the answer of the program.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Events of one bulk request.
const BULK_EVENTS_MAX: usize = 1000;
/// Bytes of one bulk request.
const BULK_BYTES_MAX: usize = 5 << 20;

const URL: Setting =
    Setting::new("url", Takes::Text, "Where to listen, or whom to ask.").required();
const MIME: Setting = Setting::new(
    "mime_mapping",
    Takes::Any,
    "Codecs by types of content. Only the connector's own is used.",
);
const TLS: Setting =
    Setting::new("tls", Takes::Any, "`true`, or a record with `cafile`, `domain`, `cert`, `key`.");
const AUTH: Setting =
    Setting::new("auth", Takes::Any, "`none`, `basic`, `bearer` or `elastic_api_key`.");
const HEADERS: Setting = Setting::new("headers", Takes::Any, "Headers of each request.");
const TIMEOUT: Setting =
    Setting::new("timeout", Takes::Duration, "How long a request may take, in nanoseconds.");
const CONCURRENCY: Setting = Setting::new(
    "concurrency",
    Takes::Whole { least: 1, most: 1024 },
    "Requests at the same time.",
)
.or("4");
const CORRELATION: Setting =
    Setting::new("correlation", Takes::Hidden("$correlation"), "Comes back with the answer.");
const SERVER_META: Setting = Setting::new(
    "http_server",
    Takes::Hidden("$http_server"),
    "Which request is answered, and how.",
);

/// Requests that the program answers.
pub(crate) static HTTP_SERVER: Connector = Connector {
    kind: "http_server",
    notation: Notation::Tremor,
    doc: "Requests become events; an event with `$http_server.request_id` answers one. A request without an \
          answer gets status 504 after 30 seconds, and 500 when its event failed.",
    ends: Ends::Both,
    address: None,
    source: &[URL, TLS, MIME, SERVER_META],
    sink: &[SERVER_META],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &["http_server"],
    examples: &[r#"define flow echo
flow
  define connector server from http_server with
    config = {"url": "127.0.0.1:8080"}
  end;
  create connector server;
  define pipeline answer
  pipeline
    select event from in into out
  end;
  create pipeline answer;
  connect /connector/server to /pipeline/answer;
  connect /pipeline/answer to /connector/server;
end;
deploy flow echo;"#],
    build: build_server,
};

/// Events that become requests.
pub(crate) static HTTP_CLIENT: Connector = Connector {
    kind: "http_client",
    notation: Notation::Tremor,
    doc: "Each event becomes a request; its answer, whatever the status, is an event on `out`, with \
          `$http_client.response` and the `$correlation` of the request. A request without an answer goes to \
          `err`.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[
        Setting::new("http_client", Takes::Hidden("$http_client"), "The request of an event."),
        CORRELATION,
        URL,
        Setting::new("method", Takes::Text, "The method.").or("POST"),
        HEADERS,
        AUTH,
        CONCURRENCY,
        TIMEOUT,
        TLS,
        MIME,
    ],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &["out"],
    meta: &["http_client"],
    examples: &[],
    build: build_client,
};

/// Documents.
pub(crate) static ELASTIC: Connector = Connector {
    kind: "elastic",
    notation: Notation::Tremor,
    doc: "Documents in Elasticsearch or OpenSearch; `$elastic` says what is done with an event. What came of it is \
          an event on `out` or `err`.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[
        Setting::new("elastic", Takes::Hidden("$elastic"), "What is done with an event."),
        CORRELATION,
        Setting::new("nodes", Takes::Texts, "URLs of the nodes.").required(),
        Setting::new("index", Takes::Text, "The index, where the event does not say."),
        Setting::new("include_payload_in_response", Takes::Flag, "Whether answers hold the event."),
        HEADERS,
        AUTH,
        CONCURRENCY,
        TIMEOUT,
        TLS,
    ],
    codec: CodecUse::Structured,
    writes_lines: true,
    gives: &["out"],
    meta: &["elastic"],
    examples: &[],
    build: build_elastic,
};

fn build_server(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let target = Target::parse(settings.text("url"), None, "url")?;
    let tls = tls(settings)?;
    let tls = Safe::of_settings(tls.as_ref(), &["h2", "http/1.1"])?;
    let warnings = warning(&target.address, tls.is_some(), false).into_iter().collect();
    let name: Arc<str> = Arc::from(what.name);
    let errors = Feedback::new();
    let replies = Replies {
        source: Arc::clone(&name),
        content_type: "application/json".to_string(),
        form: Form::Tremor,
        errors: Arc::clone(&errors),
    };
    let intake = Intake {
        name,
        server: Server {
            address: target.address,
            tls,
            bounds: Bounds::default(),
            notes: Arc::default(),
        },
        manner: Manner::Tremor,
        answering: Answering::Program,
        answer_timeout: ANSWER_TIMEOUT,
        reading: Reading {
            codec: what.codec,
            framing: what.framing,
            framing_is_chosen: what.framing_is_chosen,
            preprocessors: what.preprocessors.to_vec(),
            whole: true,
        },
        paths: Vec::new(),
        methods: Vec::new(),
        auth: None,
        accepted: Answer::default(),
    };
    let sink = Some(BuiltSink::of_events(replies, errors));
    Ok(Built { source: Some(Arc::new(intake)), sink, warnings })
}

fn build_client(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let target = Target::parse(settings.text("url"), None, "url")?;
    let method = settings.text("method");
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).map_err(|_| {
        Wrong::at("method", format!("`{method}` is no method of HTTP"), "such as POST")
    })?;
    let (client, headers, warnings) = asking(settings, &[&target])?;
    let requests = Requests {
        client,
        target,
        method,
        headers,
        form: sink::Form::Single,
        portions: Portions {
            concurrency: settings.size("concurrency"),
            events_max: 1,
            bytes_max: usize::MAX,
            order: Order::None,
        },
        gzip: false,
        retry: Retry::of_settings(settings.record("reconnect")),
        manner: sink::Manner::Tremor,
        indexing: None,
        errors: Feedback::new(),
        answers: Feedback::new(),
    };
    Ok(Built { sink: Some(requests.built()), source: None, warnings })
}

fn build_elastic(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let nodes = settings.texts("nodes").iter();
    let targets: Vec<Target> =
        nodes.map(|url| Target::parse(url, Some(9200), "nodes")).collect::<Result<_, _>>()?;
    if targets.is_empty() {
        return Err(Wrong::at(
            "nodes",
            "`nodes` needs at least one URL",
            "such as \"http://127.0.0.1:9200\"",
        ));
    }
    let (client, headers, warnings) = asking(settings, &targets.iter().collect::<Vec<_>>())?;
    let bulk = Bulk {
        idempotent: false,
        client,
        nodes: Arc::new(Nodes::new(targets)),
        headers,
        default: Action::Index,
        upsert: false,
        gzip: false,
        portions: Portions {
            concurrency: settings.size("concurrency"),
            events_max: BULK_EVENTS_MAX,
            bytes_max: BULK_BYTES_MAX,
            order: Order::None,
        },
        retry: Retry::of_settings(settings.record("reconnect")),
        manner: indexer::Manner::Tremor {
            index: settings.optional_text("index").map(str::to_string),
            with_payload: settings.flag("include_payload_in_response"),
        },
        errors: Feedback::new(),
        answers: Feedback::new(),
    };
    Ok(Built { sink: Some(bulk.built()), source: None, warnings })
}

/// The client, the headers of each request, and what is to be warned of.
fn asking(
    settings: &Settings,
    targets: &[&Target],
) -> Result<(Client, HeaderMap, Vec<String>), Wrong> {
    let mut ours = Settings::new(settings.span);
    if let Some(tls) = tls(settings)? {
        ours.insert("tls", settings.span, Given::Record(tls));
    }
    if let Some(timeout) = settings.optional_duration("timeout") {
        ours.insert("timeout", settings.span, Given::Duration(timeout));
    }
    let client = Client::of_settings(&ours, targets)?;
    let mut headers = HeaderMap::new();
    headers.insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let given = settings.json("headers").map_or_else(|| Ok(Vec::new()), reply::headers);
    let given =
        given.map_err(|reason| Wrong::at("headers", reason, "write {\"name\": \"value\"}"))?;
    for (name, value) in given {
        let wrong = || Wrong::at("headers", format!("`{name}` cannot be a header"), "");
        let (name, value) = header(&name, &value).ok_or_else(wrong)?;
        headers.insert(name, value);
    }
    let warnings = add_auth(auth(settings)?.as_ref(), targets, &mut headers);
    Ok((client, headers, warnings))
}

/// tremor's record of TLS as ours; `true` is TLS as the system has it.
pub(crate) fn tls(settings: &Settings) -> Result<Option<Settings>, Wrong> {
    let Some(json) = settings.json("tls") else { return Ok(None) };
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    let record = match value {
        serde_json::Value::Object(record) => record,
        serde_json::Value::Bool(true) => return Ok(Some(Settings::new(settings.span))),
        serde_json::Value::Bool(false) | serde_json::Value::Null => return Ok(None),
        _ => return Err(Wrong::at("tls", "`tls` must be true, false or a record", "")),
    };
    let mut ours = Settings::new(settings.span);
    for (key, value) in record {
        let name = match key.as_str() {
            "cafile" => "ca",
            "domain" => "server_name",
            "cert" => "cert",
            "key" => "key",
            other => {
                let help = "known are cafile, domain, cert, key";
                return Err(Wrong::at("tls", format!("unknown setting `{other}` of `tls`"), help));
            }
        };
        if let Some(text) = value.as_str() {
            ours.insert(name, settings.span, Given::Text(text.to_string()));
        }
    }
    Ok(Some(ours))
}

/// tremor's credentials.
fn auth(settings: &Settings) -> Result<Option<Credentials>, Wrong> {
    use base64::Engine;
    let Some(json) = settings.json("auth") else { return Ok(None) };
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    let text = |value: Option<&serde_json::Value>| {
        value.and_then(serde_json::Value::as_str).unwrap_or_default().to_string()
    };
    if let Some(basic) = value.get("basic") {
        return Ok(Some(Credentials::basic(
            &text(basic.get("username")),
            &text(basic.get("password")),
        )));
    }
    if let Some(token) = value.get("bearer") {
        return Ok(Some(Credentials::of_scheme("Bearer", &text(Some(token)))));
    }
    if let Some(key) = value.get("elastic_api_key") {
        let pair = format!("{}:{}", text(key.get("id")), text(key.get("api_key")));
        let key = base64::engine::general_purpose::STANDARD.encode(pair);
        return Ok(Some(Credentials::of_scheme("ApiKey", &key)));
    }
    match value.as_str() {
        Some("none") => Ok(None),
        Some("gcp") => {
            Err(Wrong::at("auth", "credentials of Google are not supported", "use `bearer`"))
        }
        _ => {
            let help = "known are \"none\", {\"basic\": {\"username\", \"password\"}}, {\"bearer\": token}, \
                        {\"elastic_api_key\": {\"id\", \"api_key\"}}";
            Err(Wrong::at("auth", "these are no credentials", help))
        }
    }
}
