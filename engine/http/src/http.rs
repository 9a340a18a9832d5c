//! `http` of `.tmb` files: the row of source and sink.

use temblor_declare::{Build, Built, CodecUse, Connector, Ends, Notation, Wrong};

use crate::{sink, source};

/// Events by HTTP.
pub(crate) static HTTP: Connector = Connector {
    kind: "http",
    notation: Notation::Temblor,
    doc: "Events by HTTP/1.1 and HTTP/2. A source listens: bodies are JSON (an array is one event per element), \
          NDJSON or text by their type, or what `codec` says, plain or compressed; a request is answered when \
          its events have got where they should, and with 503 and `Retry-After` when the program takes no more. \
          A sink sends events in batches, again after broken connections and status 429 and 5xx; other refusals go \
          to `err` with the status and the answer's body. Answers come from `NAME/out`.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\": where to listen; \"URL\": where to send"),
    source: source::SETTINGS,
    sink: sink::SETTINGS,
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &["out"],
    meta: &["http"],
    examples: &[
        r#"source in from http "127.0.0.1:8080" with paths = ["/events"], max_body = "1MiB" end;
in |> where event.level == "error" |> out"#,
        r#"sink out into http "https://collector.example/events" with
  batch = "json_array", compression = "gzip", auth = {"bearer": "the token"}
end;
in |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    if what.ends == Ends::Source {
        return source::build(what);
    }
    let (sink, warnings) = sink::build(what)?;
    Ok(Built { sink: Some(sink), source: None, warnings })
}
