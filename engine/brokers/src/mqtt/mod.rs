//! `mqtt`: topics of MQTT 3.1.1 and 5.
//!
//! Invariant: with QoS 1 or 2 a message is acknowledged when all that stems from it has got where it should, and
//! an event is confirmed when the broker has acknowledged it.

pub mod session;
pub mod source;
pub mod sink;

use std::sync::Arc;

use rumqttc::QoS;
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Settings, Takes, Wrong,
};
use temblor_runtime::outlet::Feedback;
use temblor_wire::address::Address;
use temblor_wire::retry::{RETRY, Retry, chance};
use temblor_wire::tls::{self, TLS};

use crate::packing::Unpacking;
use session::{Broker, Version};

/// The ports of brokers, where the address has none.
const PORT: u16 = 1883;
const PORT_TLS: u16 = 8883;

const VERSION: Setting =
    Setting::new("version", Takes::Word(&["3.1.1", "5"]), "The version of the protocol.")
        .or("3.1.1");
const QOS_OF_SOURCE: Setting = Setting::new(
    "qos",
    Takes::Whole { least: 0, most: 1 },
    "How messages are delivered: at most once (0) or at least once (1).",
)
.or("1");
const QOS_OF_SINK: Setting = Setting::new(
    "qos",
    Takes::Whole { least: 0, most: 2 },
    "How messages are delivered: at most once (0), at least once (1), once for each connection (2).",
)
.or("1");
const KEEP_ALIVE: Setting = Setting::new(
    "keep_alive",
    Takes::Duration,
    "After so long without messages a sign of life is sent; a connection without an answer is given up.",
)
.or("30s");
const MESSAGE_BYTES: Setting =
    Setting::new("message_bytes", Takes::Bytes, "The longest message.").or("16777216");
const USERNAME: Setting = Setting::new("username", Takes::Text, "The user.");
const PASSWORD: Setting = Setting::new("password", Takes::Secret, "The password.");
const TLS_RECORD: Setting = Setting::new(
    "tls",
    Takes::Record(TLS),
    "How the connection is made safe; `mqtts://` turns it on without further settings.",
);
const RETRY_RECORD: Setting = Setting::new(
    "retry",
    Takes::Record(RETRY),
    "How long to wait before the broker is tried again after a failure.",
);

/// Topics of MQTT.
pub static MQTT: Connector = Connector {
    kind: "mqtt",
    notation: Notation::Temblor,
    doc: "Topics of MQTT 3.1.1 and 5. A source with QoS 1 acknowledges a message when it has got where it \
          should; with a `client_id` of its own the broker keeps what comes while the source is away, and \
          delivers again what was not acknowledged. A sink with QoS 1 or 2 waits for the broker's \
          acknowledgement of each message; after a broken connection messages may be published twice. Many \
          programs share the messages of a topic by `$share/GROUP/TOPIC`, where the broker can do that.",
    ends: Ends::Both,
    address: Some("\"mqtt://HOST:PORT\", or `mqtts://` with TLS"),
    source: &[
        Setting::new(
            "topics",
            Takes::Texts,
            "The topics, with `+` for one level and `#` for all further ones: `plant/+/temperature`.",
        )
        .required(),
        QOS_OF_SOURCE,
        Setting::new(
            "client_id",
            Takes::Text,
            "The name by which the broker keeps the session of this source, and what comes while it is away. \
             Each connected client needs another one. Without it nothing is kept.",
        ),
        Setting::new(
            "session_expiry",
            Takes::Duration,
            "How long the broker keeps the session of a client that is away (version 5, with `client_id`).",
        )
        .or("1d"),
        VERSION,
        KEEP_ALIVE,
        MESSAGE_BYTES,
        USERNAME,
        PASSWORD,
        TLS_RECORD,
        RETRY_RECORD,
    ],
    sink: &[
        Setting::new("topic", Takes::PerEvent, "The topic.").required(),
        Setting::new(
            "headers",
            Takes::PerEventJson,
            "A record of texts that becomes the message's user properties (version 5).",
        ),
        QOS_OF_SINK,
        Setting::new(
            "retain",
            Takes::Flag,
            "Whether the broker keeps the last message of each topic for later listeners.",
        )
        .or("false"),
        Setting::new("content_type", Takes::Text, "The type of the messages (version 5)."),
        Setting::new("client_id", Takes::Text, "The name of this client; else one that nobody has."),
        VERSION,
        KEEP_ALIVE,
        MESSAGE_BYTES,
        USERNAME,
        PASSWORD,
        TLS_RECORD,
        RETRY_RECORD,
    ],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &["mqtt"],
    examples: &[
        r#"source in from mqtt "mqtt://127.0.0.1:1883" with topics = ["plant/#"], client_id = "temblor-1" end; in |> out"#,
        r#"source in from mqtt "mqtt://127.0.0.1:1883" with topics = ["$share/temblor/logs/+"], version = "5" end; in |> out"#,
        r#"sink out into mqtt "mqtt://127.0.0.1:1883" with topic = "plant/#{event.line}/state", retain = true end; in |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let (broker, warnings) = broker(settings, what.ends == Ends::Source)?;
    let retry = Retry::of_settings(settings.record("retry"));
    let mut built = Built { warnings, ..Built::default() };
    let qos = match settings.whole("qos") {
        0 => QoS::AtMostOnce,
        1 => QoS::AtLeastOnce,
        _ => QoS::ExactlyOnce,
    };
    if what.ends == Ends::Source {
        let topics = settings.texts("topics").to_vec();
        if let Some(wrong) = topics.iter().find(|topic| !rumqttc::valid_filter(topic)) {
            let message = format!("`{wrong}` is no filter of topics");
            return Err(Wrong::at(
                "topics",
                message,
                "`+` stands for a whole level, `#` for the last",
            ));
        }
        let unpacking = Unpacking::of(what);
        built.source = Some(Arc::new(source::Reading { broker, retry, topics, qos, unpacking }));
    } else {
        for name in ["headers", "content_type"] {
            if settings.has(name) && broker.version == Version::Three {
                let message = format!("`{name}` is known to version 5 only");
                return Err(Wrong::at(name, message, "set version = \"5\""));
            }
        }
        let errors = Feedback::new();
        let (retain, own) = (settings.flag("retain"), Arc::clone(&errors));
        let content_type = settings.optional_text("content_type").map(str::to_string);
        let shape = sink::Shape { qos, retain, content_type };
        built.sink =
            Some(BuiltSink::of_events(sink::Writing { broker, retry, shape, errors: own }, errors));
    }
    Ok(built)
}

/// The broker as settings describe it, and what users should be warned of.
fn broker(settings: &Settings, is_source: bool) -> Result<(Broker, Vec<String>), Wrong> {
    let text = settings.text("address");
    let is_safe = match text.split_once("://").map(|(scheme, _)| scheme) {
        None | Some("mqtt" | "tcp") => settings.record("tls").is_some(),
        Some("mqtts" | "ssl") => true,
        Some(scheme) => {
            let message = format!("the address cannot be used: `{scheme}` is no scheme of MQTT");
            return Err(Wrong::at(
                "address",
                message,
                "write mqtt://HOST:PORT, or mqtts:// for TLS",
            ));
        }
    };
    let port = if is_safe { PORT_TLS } else { PORT };
    let address = Address::parse_with_port(text, Some(port), "address")?;
    let mut warnings = Vec::new();
    let none = Settings::default();
    let given = settings.record("tls").unwrap_or(&none);
    let tls = match is_safe {
        true if given.has("server_name") => {
            let message = "the client of MQTT checks the host of the address";
            return Err(Wrong::at("tls", message, "leave out `server_name`"));
        }
        true => Some(tls::client_config(given)?),
        false => None,
    };
    if given.optional_flag("verify") == Some(false) {
        warnings.push("`verify = false`: anybody in between can read and change everything".into());
    }
    let password = settings.secret("password").map(|secret| secret.reveal().to_string());
    let user = settings.optional_text("username").map(str::to_string);
    if password.is_some() && user.is_none() {
        return Err(Wrong::at("password", "`username` is missing", "name the user"));
    }
    if password.is_some() && tls.is_none() && !address.is_loopback() {
        warnings.push(format!("the password goes to {address} without TLS; use mqtts://"));
    }
    let named = settings.optional_text("client_id").filter(|name| !name.is_empty());
    // 23 characters are what every broker takes.
    let own = || format!("temblor-{:015x}", chance().to_bits() >> 4);
    let broker = Broker {
        version: if settings.text("version") == "5" { Version::Five } else { Version::Three },
        client_id: named.map_or_else(own, str::to_string),
        keeps: is_source && named.is_some(),
        session_expiry: settings.optional_duration("session_expiry").unwrap_or_default(),
        keep_alive: settings.duration("keep_alive"),
        message_bytes: usize::try_from(settings.whole("message_bytes")).unwrap_or(usize::MAX),
        user: user.map(|user| (user, password.unwrap_or_default())),
        address,
        tls,
    };
    broker.check()?;
    Ok((broker, warnings))
}
