//! `http` of `.tmb` files: the row of source and sink.

use temblor_declare::{Build, Built, CodecUse, Connector, Ends, Notation, Wrong};

use crate::source;

/// Events by HTTP.
pub static HTTP: Connector = Connector {
    kind: "http",
    notation: Notation::Temblor,
    doc: "Events by HTTP/1.1 and HTTP/2. A source listens: bodies are JSON (an array is one event per element), \
          NDJSON or text by their type, or what `codec` says, plain or compressed; a request is answered when \
          its events have got where they should, and with 503 and `Retry-After` when the program takes no more.",
    ends: Ends::Source,
    address: Some("\"HOST:PORT\": where to listen"),
    source: source::SETTINGS,
    sink: &[],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &["out"],
    meta: &["http"],
    examples: &[
        r#"source in from http "127.0.0.1:8080" with paths = ["/events"], max_body = "1MiB" end;
in |> where event.level == "error" |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    source::build(what)
}
