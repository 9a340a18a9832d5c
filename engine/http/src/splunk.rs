//! `splunk_hec`: events for Splunk's HTTP Event Collector.
//!
//! Invariant: an event whose request was cut off is sent again, and may be in the index twice.

use temblor_declare::order::OF_REQUESTS;
use temblor_declare::{Build, Built, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong};
use temblor_wire::retry::RETRY;
use temblor_wire::tls::TLS;

use crate::auth::Credentials;
use crate::client::TIMEOUT;
use crate::hec_source;
use crate::load::{BATCH_BYTES, BATCH_EVENTS, CONCURRENCY};
use crate::loki::collector;
use crate::sink::Form;

/// Where events are sent to, unless the URL has a path.
const PATH: &str = "/services/collector/event";
/// Events in Splunk.
pub(crate) static SPLUNK_HEC: Connector = Connector {
    kind: "splunk_hec",
    notation: Notation::Temblor,
    doc: "The protocol of Splunk's HTTP Event Collector. A sink sends events; one that is refused goes to `err` with \
          what Splunk said. With `acknowledge` it asks until Splunk has indexed what it took, and sends it again \
          otherwise; without it, what Splunk has taken and not yet indexed is lost when it crashes. A source takes \
          what forwarders send (`services/collector`, `…/event`, `…/raw`, `…/ack`, `…/health`), and answers when \
          the events have got where they should; `$splunk_hec` tells `time`, `host`, `source`, `sourcetype`, \
          `index`, `fields`, `channel` and `peer` of an event.",
    ends: Ends::Both,
    address: Some(
        "\"URL\": the collector, such as https://splunk.example:8088; \"HOST:PORT\": where to listen",
    ),
    source: hec_source::SETTINGS,
    sink: &[
        Setting::new("host", Takes::PerEvent, "The host that an event comes from."),
        Setting::new("source", Takes::PerEvent, "The source of an event."),
        Setting::new("sourcetype", Takes::PerEvent, "The type of an event's source."),
        Setting::new("index", Takes::PerEvent, "The index of an event."),
        Setting::new(
            "time",
            Takes::PerEvent,
            "The time of an event in seconds since 1970, with a fraction.",
        ),
        Setting::new(
            "fields",
            Takes::PerEventJson,
            "A record of fields that are indexed with the event.",
        ),
        Setting::new(
            "event",
            Takes::PerEventJson,
            "What is sent as the event; the whole event without it.",
        ),
        Setting::new("token", Takes::Secret, "The token of the collector.").required(),
        Setting::new(
            "acknowledge",
            Takes::Flag,
            "Whether events count as delivered when Splunk has indexed them, and not when it has taken them; needs a \
             token with indexer acknowledgement.",
        ),
        Setting::new(
            "acknowledge_timeout",
            Takes::Duration,
            "What is not acknowledged within this time is sent again.",
        )
        .or("5m"),
        BATCH_EVENTS,
        BATCH_BYTES,
        CONCURRENCY,
        OF_REQUESTS,
        Setting::new("compression", Takes::Word(&["none", "gzip"]), "How requests are compressed.")
            .or("none"),
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
    meta: &["splunk_hec"],
    examples: &[
        r#"sink splunk into splunk_hec "https://splunk.example:8088" with
  token = "the token", sourcetype = "app", host = event.host
end;
in |> splunk"#,
        r#"source forwarders from splunk_hec "127.0.0.1:8088" with tokens = ["a token"] end;
forwarders |> where $splunk_hec.sourcetype == "app" |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    if what.ends == Ends::Source {
        return hec_source::build(what);
    }
    let token = what.settings.secret("token").map_or("", |token| token.reveal());
    let auth = Credentials::of_scheme("Splunk", token);
    if auth.header().is_err() {
        return Err(Wrong::at("token", "the token cannot be written into a header", ""));
    }
    collector(what, (SPLUNK_HEC.sink, Some(auth)), PATH, Form::Hec, "application/json")
}
