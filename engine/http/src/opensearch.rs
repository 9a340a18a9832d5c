//! `opensearch` and `elasticsearch`: the rows, and what they become.

use std::sync::Arc;

use hyper::header::HeaderMap;
use temblor_declare::order::OF_REQUESTS;
use temblor_declare::setting::POSITION;
use temblor_declare::{Build, Built, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong};
use temblor_runtime::outlet::Feedback;
use temblor_wire::retry::{RETRY, Retry};
use temblor_wire::tls::TLS;

use crate::auth::{AUTH, Credentials};
use crate::bulk::Action;
use crate::client::{Client, TIMEOUT};
use crate::indexer::{Bulk, Manner};
use crate::load::{BATCH_BYTES, BATCH_EVENTS, CONCURRENCY, Portions};
use crate::nodes::Nodes;
use crate::sink::add_auth;
use crate::source::header;
use crate::target::Target;

/// The port of the interface.
const PORT: u16 = 9200;

/// Settings of the sink.
const SETTINGS: &[Setting] = &[
    Setting::new("index", Takes::PerEvent, "The index, alias or data stream of an event.")
        .required(),
    Setting::new(
        "id",
        Takes::PerEvent,
        "The id of the document. With an id, an event that is sent twice is one document.",
    ),
    Setting::new(
        "action",
        Takes::PerEvent,
        "`index`, `create`, `update` or `delete`; `index` without it, and `create` with `data_stream`.",
    ),
    Setting::new("routing", Takes::PerEvent, "The routing value of an event."),
    Setting::new("pipeline", Takes::PerEvent, "The ingest pipeline of an event."),
    Setting::new(POSITION, Takes::Hidden("null"), ""),
    Setting::new(
        "idempotent",
        Takes::Flag,
        "Whether an event without `id` gets one from its place in its input: what is sent again after a crash changes \
         nothing. Files, and sources with `buffer = \"disk\"`, have such places.",
    ),
    Setting::new(
        "data_stream",
        Takes::Flag,
        "Whether `index` names a data stream: documents are only created, and each needs `@timestamp`.",
    ),
    Setting::new(
        "doc_as_upsert",
        Takes::Flag,
        "Whether `update` makes a document that is not there.",
    ),
    Setting::new("nodes", Takes::Texts, "URLs of further nodes of the same cluster."),
    BATCH_EVENTS,
    BATCH_BYTES,
    CONCURRENCY,
    OF_REQUESTS,
    Setting::new("compression", Takes::Word(&["none", "gzip"]), "How requests are compressed.")
        .or("none"),
    Setting::new("auth", Takes::Record(AUTH), "The credentials that each request shows."),
    Setting::new("headers", Takes::Map, "Further headers of each request."),
    Setting::new("tls", Takes::Record(TLS), "How nodes are checked, and a certificate of our own."),
    TIMEOUT,
    Setting::new(
        "retry",
        Takes::Record(RETRY),
        "The waits between attempts: after broken connections, for events with status 429 or 5xx, and as long as \
         credentials are refused.",
    ),
];

const DOC: &str = "Documents in OpenSearch or Elasticsearch, by bulk requests. An event that is refused (a field \
                   that does not fit its mapping) goes to `err` with status and reason; only events that were \
                   refused for now are sent again. Without `id`, an event whose request was cut off may be there \
                   twice.";

/// Documents in OpenSearch.
pub(crate) static OPENSEARCH: Connector = Connector { kind: "opensearch", ..ROW };
/// The same, by the other name.
pub(crate) static ELASTICSEARCH: Connector = Connector { kind: "elasticsearch", ..ROW };

const ROW: Connector = Connector {
    kind: "",
    notation: Notation::Temblor,
    doc: DOC,
    ends: Ends::Sink,
    address: Some("\"URL\": a node, such as http://127.0.0.1:9200"),
    source: &[],
    sink: SETTINGS,
    codec: CodecUse::Structured,
    writes_lines: true,
    gives: &["out"],
    meta: &["elastic"],
    examples: &[r#"sink search into opensearch "http://127.0.0.1:9200" with
  index = "logs-#{event.service}", id = event.id, compression = "gzip"
end;
in |> search"#],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let first = settings.text("address").split(',').map(str::trim);
    let mut targets = Vec::new();
    for url in first.chain(settings.texts("nodes").iter().map(String::as_str)) {
        targets.push(Target::parse(url, Some(PORT), "address")?);
    }
    let auth = Credentials::of_settings(settings)?;
    let mut headers = HeaderMap::new();
    crate::source::check_headers(settings.map("headers"), "headers")?;
    for (name, value) in settings.map("headers") {
        headers.extend(header(name, value).map(|(name, value)| (Some(name), value)));
    }
    let all: Vec<&Target> = targets.iter().collect();
    let mut warnings = add_auth(auth.as_ref(), &all, &mut headers);
    warnings.extend(Client::warning(settings, &all));
    let client = Client::of_settings(settings, &all)?;
    let default = if settings.flag("data_stream") { Action::Create } else { Action::Index };
    let bulk = Bulk {
        client,
        nodes: Arc::new(Nodes::new(targets)),
        headers,
        default,
        upsert: settings.flag("doc_as_upsert"),
        idempotent: settings.flag("idempotent"),
        gzip: settings.text("compression") == "gzip",
        portions: Portions::of_settings(settings, SETTINGS)?,
        retry: Retry::of_settings(settings.record("retry")),
        manner: Manner::Own,
        errors: Feedback::new(),
        answers: Feedback::new(),
    };
    Ok(Built { sink: Some(bulk.built()), source: None, warnings })
}
