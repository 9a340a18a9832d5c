//! `rabbitmq`: queues and exchanges of AMQP 0.9.1.
//!
//! Invariant: a message is acknowledged when all that stems from it has got where it should, and an event is
//! confirmed when the broker has confirmed it.

pub mod broker;
pub mod values;
pub mod source;
pub mod sink;

use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::outlet::Feedback;
use temblor_wire::retry::{RETRY, Retry};
use temblor_wire::tls::TLS;

use crate::packing::Unpacking;
use broker::Brokers;

const OTHERS: Setting = Setting::new(
    "others",
    Takes::Texts,
    "Addresses of further brokers of the cluster, which are tried in turn when one fails.",
);
const USERNAME: Setting =
    Setting::new("username", Takes::Text, "The user; over that of the address (`guest`).");
const PASSWORD: Setting =
    Setting::new("password", Takes::Secret, "The password; over that of the address (`guest`).");
const TLS_RECORD: Setting = Setting::new(
    "tls",
    Takes::Record(TLS),
    "How the connection is made safe; `amqps://` turns it on without further settings.",
);
const RETRY_RECORD: Setting = Setting::new(
    "retry",
    Takes::Record(RETRY),
    "How long to wait before a broker is tried again after a failure.",
);
const EXCHANGE_TYPE: Setting = Setting::new(
    "exchange_type",
    Takes::Word(&["direct", "fanout", "topic", "headers"]),
    "The type of the exchange, which is declared (durable) with it. Without this setting the exchange has to \
     be there.",
);
const ARGUMENTS: Setting = Setting::new(
    "arguments",
    Takes::Map,
    "Arguments of a queue that is declared: {\"x-max-length\": 1000000}.",
);

/// Queues and exchanges of RabbitMQ.
pub static RABBITMQ: Connector = Connector {
    kind: "rabbitmq",
    notation: Notation::Temblor,
    doc: "Queues and exchanges of RabbitMQ and other brokers of AMQP 0.9.1. A source acknowledges messages \
          when they have got where they should, and has the broker deliver them again otherwise. A sink \
          publishes persistent messages and waits for the broker's confirmations; what no queue takes goes \
          to `err`. Nothing is lost when Temblor, the connection or (with durable queues) the broker dies; \
          messages may come or go twice then.",
    ends: Ends::Both,
    address: Some("\"amqp://USER:PASSWORD@HOST:PORT/VHOST\", or `amqps://` with TLS"),
    source: &[
        Setting::new(
            "queue",
            Takes::Text,
            "The queue to consume; it is declared (durable) when it is missing. Without it a queue of this \
             connection alone is bound to `exchange`.",
        ),
        Setting::new("exchange", Takes::Text, "An exchange that the queue is bound to."),
        EXCHANGE_TYPE,
        Setting::new(
            "routing_key",
            Takes::Texts,
            "The routing keys by which the queue is bound to `exchange`; by default the empty one.",
        ),
        ARGUMENTS,
        Setting::new(
            "prefetch",
            Takes::Whole { least: 1, most: 65_535 },
            "How many messages the broker sends before it waits for acknowledgements.",
        )
        .or("5000"),
        OTHERS,
        USERNAME,
        PASSWORD,
        TLS_RECORD,
        RETRY_RECORD,
    ],
    sink: &[
        Setting::new("exchange", Takes::PerEvent, "The exchange; by default the nameless one."),
        Setting::new(
            "routing_key",
            Takes::PerEvent,
            "The routing key; with the nameless exchange the name of the queue.",
        ),
        Setting::new(
            "headers",
            Takes::PerEventJson,
            "A record that becomes the message's headers.",
        ),
        Setting::new(
            "properties",
            Takes::PerEventJson,
            "A record of the message's properties: `content_type`, `content_encoding`, `priority`, \
             `correlation_id`, `reply_to`, `expiration` (milliseconds), `message_id`, `timestamp` (seconds), \
             `type`, `user_id`, `app_id`. A message without `message_id` gets one that is its own.",
        ),
        EXCHANGE_TYPE,
        Setting::new(
            "queue",
            Takes::Text,
            "A queue that is declared (durable) when it is missing, so that what is published there is kept.",
        ),
        ARGUMENTS,
        Setting::new(
            "persistent",
            Takes::Flag,
            "Whether messages survive a restart of the broker (in durable queues).",
        )
        .or("true"),
        Setting::new(
            "mandatory",
            Takes::Flag,
            "Whether a message that no queue takes goes to `err`; else it is lost there.",
        )
        .or("true"),
        OTHERS,
        USERNAME,
        PASSWORD,
        TLS_RECORD,
        RETRY_RECORD,
    ],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &["rabbitmq"],
    examples: &[
        r#"source in from rabbitmq "amqp://127.0.0.1:5672" with queue = "events" end; in |> out"#,
        r#"source in from rabbitmq "amqp://127.0.0.1:5672" with queue = "errors", exchange = "logs", exchange_type = "topic", routing_key = ["*.error"] end; in |> out"#,
        r#"sink out into rabbitmq "amqp://127.0.0.1:5672" with exchange = "", routing_key = "events", queue = "events" end; in |> out"#,
        r#"sink out into rabbitmq "amqp://127.0.0.1:5672" with exchange = "logs", exchange_type = "topic", routing_key = event.host, headers = {"level": event.level} end; in |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let (brokers, warnings) = Brokers::of_settings(settings)?;
    let retry = Retry::of_settings(settings.record("retry"));
    let mut built = Built { warnings, ..Built::default() };
    let text = |name| settings.optional_text(name).map(str::to_string);
    let (exchange_type, queue) = (text("exchange_type"), text("queue"));
    let arguments = values::arguments(settings.map("arguments"));
    if what.ends == Ends::Source {
        let exchange = text("exchange").filter(|name| !name.is_empty());
        if queue.is_none() && exchange.is_none() {
            let message = "neither a `queue` nor an `exchange` is named".to_string();
            let help = "such as: queue = \"events\"".to_string();
            return Err(Wrong { setting: None, message, help });
        }
        let keys = settings.texts("routing_key").to_vec();
        let topology = source::Topology { queue, exchange, exchange_type, keys, arguments };
        check_names(&topology)?;
        let prefetch = u16::try_from(settings.whole("prefetch")).unwrap_or(u16::MAX);
        let unpacking = Unpacking::of(what);
        built.source =
            Some(Arc::new(source::Reading { brokers, retry, topology, prefetch, unpacking }));
    } else {
        let errors = Feedback::new();
        let (persistent, mandatory) = (settings.flag("persistent"), settings.flag("mandatory"));
        let shape = sink::Shape { exchange_type, queue, arguments, persistent, mandatory };
        let writing = sink::Writing { brokers, retry, shape, errors: Arc::clone(&errors) };
        built.sink = Some(BuiltSink::of_events(writing, errors));
    }
    Ok(built)
}

/// Names of AMQP have 255 bytes at the most.
fn check_names(topology: &source::Topology) -> Result<(), Wrong> {
    let named = [("queue", &topology.queue), ("exchange", &topology.exchange)];
    let mut names: Vec<_> =
        named.iter().filter_map(|(what, name)| Some((*what, name.as_ref()?))).collect();
    names.extend(topology.keys.iter().map(|key| ("routing_key", key)));
    match names.iter().find(|(_, name)| values::short(name).is_none()) {
        Some((what, _)) => Err(Wrong::at(what, "names have 255 bytes at the most", "shorten it")),
        None => Ok(()),
    }
}
