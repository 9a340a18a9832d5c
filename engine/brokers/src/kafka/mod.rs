//! `kafka`: topics of Kafka; and tremor's `kafka_consumer` and `kafka_producer`.
//!
//! Invariant: a partition's offset is committed only up to where all that stems from it has got where it
//! should. The declarations are part of every build, the client only of those with the feature `kafka`.

#[cfg(feature = "kafka")]
pub mod client;
#[cfg(feature = "kafka")]
pub mod topics;
#[cfg(feature = "kafka")]
pub mod progress;
#[cfg(feature = "kafka")]
pub mod transaction;
#[cfg(feature = "kafka")]
pub mod sink;
#[cfg(feature = "kafka")]
pub mod source;
#[cfg(not(feature = "kafka"))]
pub mod lacking;

use std::sync::Arc;
use std::time::Duration;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Settings, Takes, Wrong,
};
use temblor_runtime::outlet::Feedback;
use temblor_wire::address::Address;
use temblor_wire::retry::{RETRY, Retry};

#[cfg(not(feature = "kafka"))]
use lacking::{Reading, Writing};
#[cfg(feature = "kafka")]
use {sink::Writing, source::Reading};

use crate::packing::Unpacking;

/// The port of brokers, where the address has none.
const PORT: u16 = 9092;
/// Where a group begins that has committed nothing yet.
const FROM: &str = "earliest";

/// The keys of the record `sasl`.
const SASL_KEYS: &[Setting] = &[
    Setting::new(
        "mechanism",
        Takes::Word(&["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]),
        "How the user is proved.",
    )
    .or("PLAIN"),
    Setting::new("username", Takes::Text, "The user.").required(),
    Setting::new("password", Takes::Secret, "The password.").required(),
];
/// The keys of the record `tls`.
const TLS_KEYS: &[Setting] = &[
    Setting::new("ca", Takes::Text, "A file with the authorities (PEM); else the system's are trusted."),
    Setting::new("cert", Takes::Text, "A file with the client's certificate (PEM)."),
    Setting::new("key", Takes::Text, "A file with the private key of the certificate (PEM)."),
    Setting::new("key_password", Takes::Secret, "What the private key is encrypted with."),
    Setting::new(
        "verify",
        Takes::Flag,
        "Whether the certificate of the broker is checked. `false` lets anybody in between read and change \
         everything.",
    )
    .or("true"),
];

/// The keys of the record `create`.
const CREATE_KEYS: &[Setting] = &[
    Setting::new("topic", Takes::Text, "The topic.").required(),
    Setting::new(
        "partitions",
        Takes::Whole { least: 1, most: 100_000 },
        "How many partitions it is made with, and has to have.",
    )
    .or("12"),
    Setting::new(
        "replication",
        Takes::Whole { least: 1, most: 1_000 },
        "How many brokers have each message.",
    )
    .or("1"),
];
const CREATE: Setting = Setting::new(
    "create",
    Takes::Record(CREATE_KEYS),
    "A topic that is made at the start if it is not there. One with another number of partitions is refused: keys \
     would not stay together.",
);

const SASL: Setting =
    Setting::new("sasl", Takes::Record(SASL_KEYS), "How the broker knows the user.");
const TLS: Setting = Setting::new(
    "tls",
    Takes::Record(TLS_KEYS),
    "How connections are made safe; `{}` turns it on.",
);
const RETRY_RECORD: Setting = Setting::new(
    "retry",
    Takes::Record(RETRY),
    "How long to wait before something that failed is tried again.",
);
const OPTIONS: Setting = Setting::new(
    "options",
    Takes::Map,
    "Further settings of librdkafka by their own names, over all others: {\"fetch.min.bytes\": 100000}.",
);

/// Topics of Kafka.
pub static KAFKA: Connector = Connector {
    kind: "kafka",
    notation: Notation::Temblor,
    doc: "Topics of Kafka. A source is a member of a consumer group; the offset of a partition is committed \
          when all up to there has got where it should, so that nothing is lost when Temblor or a broker \
          dies; messages may then come twice. Partitions are handed over between members one by one \
          (cooperative). While the program takes nothing, partitions are paused. A sink is idempotent, waits \
          for the confirmation of each message, and gives what Kafka refuses to `err`. Kafka's client is \
          part of builds with `--features kafka`; `--features kafka-tls` adds TLS and SCRAM.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\", or several with commas between them"),
    source: &[
        Setting::new(
            "topics",
            Takes::Texts,
            "The topics; one that begins with `^` is a regular expression of names.",
        )
        .required(),
        Setting::new("group", Takes::Text, "The consumer group.").required(),
        Setting::new(
            "instance",
            Takes::Text,
            "A name of this member that is its own (static membership): a restart within `session_timeout` \
             moves no partitions.",
        ),
        Setting::new(
            "from",
            Takes::Text,
            "Where a group begins that has committed nothing yet: `earliest`, `latest`, or a time such as \
             2026-01-31T08:00:00Z.",
        )
        .or(FROM),
        Setting::new(
            "commit_interval",
            Takes::Duration,
            "Time between two commits. What a member that is killed has read since the last one is read again by \
             the next.",
        )
        .or("100ms"),
        Setting::new(
            "session_timeout",
            Takes::Duration,
            "A member that gives no sign of life for so long loses its partitions.",
        )
        .or("45s"),
        Setting::new(
            "assignment",
            Takes::Word(&["cooperative-sticky", "range", "roundrobin"]),
            "How partitions are divided; all members of a group need the same.",
        )
        .or("cooperative-sticky"),
        Setting::new(
            "exactly_once",
            Takes::Flag,
            "Whether offsets are committed in one transaction with what a sink of the same cluster, which sets this, \
             too, has written of these messages, every `commit_interval`. The program between them must not keep \
             events: no windows, joins or batches.",
        )
        .or("false"),
        CREATE,
        SASL,
        TLS,
        RETRY_RECORD,
        OPTIONS,
    ],
    sink: &[
        Setting::new("topic", Takes::PerEvent, "The topic.").required(),
        Setting::new(
            "key",
            Takes::PerEvent,
            "The key: messages with the same key go to the same partition, in order.",
        ),
        Setting::new("partition", Takes::PerEvent, "The number of the partition, instead of by the key."),
        Setting::new(
            "timestamp",
            Takes::PerEvent,
            "The message's time in nanoseconds since 1970; else the time of sending.",
        ),
        Setting::new("headers", Takes::PerEventJson, "A record of texts that becomes the message's headers."),
        Setting::new(
            "acks",
            Takes::Word(&["all", "1", "0"]),
            "Who has to have a message before it is confirmed: all replicas in sync, the leader, nobody.",
        )
        .or("all"),
        Setting::new(
            "idempotence",
            Takes::Flag,
            "Whether a message that is sent again after a failure is stored once; needs `acks = \"all\"`.",
        ),
        Setting::new(
            "compression",
            Takes::Word(&["none", "gzip", "snappy", "lz4", "zstd"]),
            "How batches of messages are compressed.",
        )
        .or("none"),
        Setting::new(
            "linger",
            Takes::Duration,
            "How long a message waits for others to share a request with.",
        )
        .or("5ms"),
        Setting::new("batch_bytes", Takes::Bytes, "The size of a request's batch for one partition.")
            .or("1000000"),
        Setting::new(
            "message_bytes",
            Takes::Bytes,
            "The longest message; topics have a bound of their own.",
        )
        .or("1000000"),
        Setting::new(
            "timeout",
            Takes::Duration,
            "A message that is not confirmed within this time is given up. Without it nothing is given up.",
        ),
        Setting::new(
            "exactly_once",
            Takes::Flag,
            "Whether messages are written in transactions, together with the offsets of the source that they stem \
             from, which sets this, too. Readers with `isolation.level = read_committed`, as Temblor's, see each once.",
        )
        .or("false"),
        Setting::new(
            "transaction_timeout",
            Takes::Duration,
            "With `exactly_once`: how long the brokers keep the transaction of a process that was killed open, and \
             readers behind it waiting.",
        )
        .or("10s"),
        CREATE,
        SASL,
        TLS,
        RETRY_RECORD,
        OPTIONS,
    ],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &["kafka"],
    examples: &[
        r#"source in from kafka "127.0.0.1:9092" with topics = ["events"], group = "temblor" end; in |> out"#,
        r#"sink out into kafka "127.0.0.1:9092" with topic = "events", key = event.user, compression = "zstd" end; in |> out"#,
    ],
    build,
};

/// Tremor's consumer.
pub static KAFKA_CONSUMER: Connector = Connector {
    kind: "kafka_consumer",
    notation: Notation::Tremor,
    doc: "Consumes topics of Kafka as a member of a group. Offsets are committed when events have been dealt \
          with, in every `mode`.",
    ends: Ends::Source,
    address: None,
    source: &[
        Setting::new("brokers", Takes::Texts, "The brokers: `HOST:PORT`.").required(),
        Setting::new("topics", Takes::Texts, "The topics.").required(),
        Setting::new("group_id", Takes::Text, "The consumer group.").required(),
        Setting::new(
            "mode",
            Takes::Any,
            "`\"performance\"`, `{\"transactional\": {\"commit_interval\": NANOSECONDS}}`, or `{\"custom\": \
             {\"rdkafka_options\": {…}, \"retry_failed_events\": FLAG}}`.",
        ),
    ],
    sink: &[],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["kafka_consumer"],
    examples: &[],
    build: build_consumer,
};

/// Tremor's producer.
pub static KAFKA_PRODUCER: Connector = Connector {
    kind: "kafka_producer",
    notation: Notation::Tremor,
    doc: "Produces to a topic of Kafka. `$kafka_producer.topic`, `.key`, `.headers`, `.timestamp` \
          (nanoseconds) and `.partition` hold for single events.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[
        Setting::new("brokers", Takes::Texts, "The brokers: `HOST:PORT`.").required(),
        Setting::new("topic", Takes::Text, "The topic.").required(),
        Setting::new("key", Takes::Text, "The key of all messages that have none of their own."),
        Setting::new(
            "rdkafka_options",
            Takes::Map,
            "Further settings of librdkafka by their own names.",
        ),
        Setting::new("meta", Takes::Hidden("$kafka_producer"), "What holds for a single event."),
    ],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["kafka_producer"],
    examples: &[],
    build: build_producer,
};

/// Where a group begins that has committed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the oldest message.
    Earliest,
    /// At the next message that comes.
    Latest,
    /// At the first message that is not older, in milliseconds since 1970-01-01 UTC.
    Time(i64),
}

impl Start {
    fn parse(text: &str) -> Result<Self, Wrong> {
        match text {
            "earliest" => Ok(Start::Earliest),
            "latest" => Ok(Start::Latest),
            _ => {
                let time = chrono::DateTime::parse_from_rfc3339(text).map_err(|error| {
                    let help =
                        "write \"earliest\", \"latest\", or a time such as 2026-01-31T08:00:00Z";
                    Wrong::at("from", format!("`{text}` is no time: {error}"), help)
                })?;
                Ok(Start::Time(time.timestamp_millis()))
            }
        }
    }
}

/// What a source and a sink share.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// What messages call it: its brokers.
    pub name: String,
    /// Settings of librdkafka, later ones over earlier ones.
    pub options: Vec<(String, String)>,
    /// The waits between attempts.
    pub retry: Retry,
    /// Whether what is read and what is written is committed together.
    pub exactly_once: bool,
    /// A topic that has to be there.
    pub create: Option<Create>,
}

/// A topic that has to be there.
#[derive(Clone, Debug)]
pub struct Create {
    /// Its name.
    pub topic: String,
    /// How many partitions it has.
    pub partitions: i32,
    /// How many brokers have each message.
    pub replication: i32,
}

impl Create {
    fn of_settings(settings: &Settings) -> Option<Self> {
        let record = settings.record("create")?;
        let whole = |name| i32::try_from(record.whole(name)).unwrap_or(i32::MAX);
        Some(Self {
            topic: record.text("topic").to_string(),
            partitions: whole("partitions"),
            replication: whole("replication"),
        })
    }
}

/// What a source reads.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// The topics.
    pub topics: Vec<String>,
    /// Where a group begins.
    pub from: Start,
    /// The field of the metadata.
    pub meta: &'static str,
    /// Time between two commits.
    pub commit_interval: Duration,
    /// What transactions of this source are called.
    pub transactions: String,
}

/// How events become messages.
#[derive(Clone, Debug)]
pub enum Shape {
    /// By settings that are evaluated for each event.
    PerEvent,
    /// As tremor has it: constants, and what the event's metadata says.
    Tremor {
        /// The topic.
        topic: String,
        /// The key.
        key: Option<String>,
    },
}

fn brokers(texts: &[&str], setting: &'static str) -> Result<String, Wrong> {
    let parts = texts.iter().flat_map(|text| text.split(','));
    let addresses: Result<Vec<_>, _> = parts
        .map(|part| Address::parse_with_port(part.trim(), Some(PORT), setting))
        .map(|address| address.map(|address| address.to_string()))
        .collect();
    Ok(addresses?.join(","))
}

fn milliseconds(duration: Duration) -> String {
    duration.as_millis().max(1).to_string()
}

fn option(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_string(), value.into())
}

/// Options of librdkafka by name.
type Options = Vec<(String, String)>;

/// The options that say how brokers are reached, and what users should be warned of.
fn security(settings: &Settings) -> Result<(Options, Vec<String>), Wrong> {
    let (sasl, tls) = (settings.record("sasl"), settings.record("tls"));
    let mut warnings = Vec::new();
    let protocol = match (sasl.is_some(), tls.is_some()) {
        (false, false) => "plaintext",
        (false, true) => "ssl",
        (true, false) => "sasl_plaintext",
        (true, true) => "sasl_ssl",
    };
    let mut options = vec![option("security.protocol", protocol)];
    if let Some(sasl) = sasl {
        options.push(option("sasl.mechanisms", sasl.text("mechanism")));
        options.push(option("sasl.username", sasl.text("username")));
        if let Some(password) = sasl.secret("password") {
            options.push(option("sasl.password", password.reveal()));
        }
        if tls.is_none() {
            warnings.push("the password goes to the brokers without TLS; add tls = {}".to_string());
        }
    }
    if let Some(tls) = tls {
        let files = [
            ("ca", "ssl.ca.location"),
            ("cert", "ssl.certificate.location"),
            ("key", "ssl.key.location"),
        ];
        for (name, of_library) in files {
            options.extend(tls.optional_text(name).map(|path| option(of_library, path)));
        }
        let password = tls.secret("key_password");
        options.extend(password.map(|one| option("ssl.key.password", one.reveal())));
        if tls.optional_flag("verify") == Some(false) {
            options.push(option("enable.ssl.certificate.verification", "false"));
            warnings
                .push("`verify = false`: anybody in between can read and change everything".into());
        }
    }
    Ok((options, warnings))
}

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let name = brokers(&[settings.text("address")], "address")?;
    let (mut options, warnings) = security(settings)?;
    options.insert(0, option("bootstrap.servers", name.clone()));
    let retry = Retry::of_settings(settings.record("retry"));
    let exactly_once = settings.flag("exactly_once");
    let create = Create::of_settings(settings);
    let mut built = Built { warnings, ..Built::default() };
    if what.ends == Ends::Source {
        options.extend(consumer_options(settings));
        options.extend(settings.map("options").iter().cloned());
        let topics = settings.texts("topics").to_vec();
        let from = Start::parse(settings.text("from"))?;
        if from == Start::Latest {
            options.insert(1, option("auto.offset.reset", "latest"));
        }
        let subscription = Subscription {
            topics,
            from,
            meta: "kafka",
            commit_interval: settings.duration("commit_interval"),
            transactions: transactional_id(settings),
        };
        if exactly_once {
            options.push(option("enable.auto.commit", "false"));
        }
        let cluster = Cluster { name, options, retry, exactly_once, create };
        built.source = Some(Arc::new(Reading::new(cluster, subscription, Unpacking::of(what))?));
    } else {
        options.extend(producer_options(settings)?);
        options.extend(settings.map("options").iter().cloned());
        let errors = Feedback::new();
        let cluster = Cluster { name, options, retry, exactly_once, create };
        let writing = Writing::new(cluster, Shape::PerEvent, Arc::clone(&errors))?;
        built.sink = Some(BuiltSink::of_events(writing, errors));
    }
    Ok(built)
}

/// With `instance` a process that starts again ends what the one before it has left open; else each has an id of
/// its own, and the brokers end it after a time.
fn transactional_id(settings: &Settings) -> String {
    let own = match settings.optional_text("instance") {
        Some(instance) => instance.to_string(),
        None => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            let now = now.map_or(0, |since| since.as_nanos());
            format!("{}-{now:x}", std::process::id())
        }
    };
    format!("temblor-{}-{own}", settings.text("group"))
}

fn consumer_options(settings: &Settings) -> Vec<(String, String)> {
    let mut options = vec![
        option("group.id", settings.text("group")),
        option("auto.commit.interval.ms", milliseconds(settings.duration("commit_interval"))),
        option("session.timeout.ms", milliseconds(settings.duration("session_timeout"))),
        option("partition.assignment.strategy", settings.text("assignment")),
    ];
    options.extend(settings.optional_text("instance").map(|own| option("group.instance.id", own)));
    options
}

fn producer_options(settings: &Settings) -> Result<Vec<(String, String)>, Wrong> {
    let acks = settings.text("acks");
    let idempotence = settings.optional_flag("idempotence").unwrap_or(acks == "all");
    if idempotence && acks != "all" {
        let help = "leave one of them out";
        return Err(Wrong::at("idempotence", "`idempotence` needs `acks = \"all\"`", help));
    }
    let timeout = settings.optional_duration("timeout").map(milliseconds);
    let mut options = vec![
        option("acks", acks),
        option("enable.idempotence", idempotence.to_string()),
        option("compression.type", settings.text("compression")),
        option("linger.ms", settings.duration("linger").as_millis().to_string()),
        option("batch.size", settings.whole("batch_bytes").to_string()),
        option("message.max.bytes", settings.whole("message_bytes").to_string()),
    ];
    if !settings.flag("exactly_once") {
        let timeout = timeout.unwrap_or_else(|| "0".to_string());
        options.push(option("message.timeout.ms", timeout));
        return Ok(options);
    }
    let help = "leave one of them out";
    if !idempotence {
        return Err(Wrong::at("exactly_once", "`exactly_once` needs `acks = \"all\"`", help));
    }
    if timeout.is_some() {
        let message = "a transaction is given up as a whole, after `transaction_timeout`";
        return Err(Wrong::at("timeout", message, help));
    }
    let timeout = milliseconds(settings.duration("transaction_timeout"));
    options.push(option("transaction.timeout.ms", timeout));
    Ok(options)
}

fn build_consumer(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let texts: Vec<&str> = settings.texts("brokers").iter().map(String::as_str).collect();
    let name = brokers(&texts, "brokers")?;
    let mut options = vec![
        option("bootstrap.servers", name.clone()),
        option("group.id", settings.text("group_id")),
    ];
    options.extend(mode_options(settings.json("mode").unwrap_or("null"))?);
    let topics = settings.texts("topics").to_vec();
    let subscription = Subscription {
        topics,
        from: Start::Earliest,
        meta: "kafka_consumer",
        commit_interval: Duration::ZERO,
        transactions: String::new(),
    };
    let cluster =
        Cluster { name, options, retry: Retry::default(), exactly_once: false, create: None };
    let source = Reading::new(cluster, subscription, Unpacking::of(what))?;
    Ok(Built { source: Some(Arc::new(source)), ..Built::default() })
}

/// What tremor's `mode` means to librdkafka.
fn mode_options(mode: &str) -> Result<Vec<(String, String)>, Wrong> {
    use serde_json::Value;
    let wrong = || {
        let help = "write \"performance\", {\"transactional\": {\"commit_interval\": NANOSECONDS}} or \
                    {\"custom\": {\"rdkafka_options\": {…}}}";
        Wrong::at("mode", format!("there is no mode {mode}"), help)
    };
    let value: Value = serde_json::from_str(mode).map_err(|_| wrong())?;
    let five_seconds = || vec![option("auto.commit.interval.ms", "5000")];
    match &value {
        Value::Null => Ok(five_seconds()),
        Value::String(text) if text == "performance" || text == "transactional" => {
            Ok(five_seconds())
        }
        Value::Object(record) if record.len() == 1 => {
            if let Some(inner) = record.get("transactional") {
                let interval = inner.get("commit_interval").and_then(Value::as_u64);
                let interval = interval.map(|ns| milliseconds(Duration::from_nanos(ns)));
                let given = interval.map(|ms| vec![option("auto.commit.interval.ms", ms)]);
                return Ok(given.unwrap_or_else(five_seconds));
            }
            let inner = record.get("custom").ok_or_else(wrong)?;
            let given = inner.get("rdkafka_options").and_then(Value::as_object);
            let text = |value: &Value| match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let given = given.into_iter().flatten();
            Ok(given.map(|(name, value)| option(name, text(value))).collect())
        }
        _ => Err(wrong()),
    }
}

fn build_producer(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let texts: Vec<&str> = settings.texts("brokers").iter().map(String::as_str).collect();
    let name = brokers(&texts, "brokers")?;
    let mut options = vec![
        option("bootstrap.servers", name.clone()),
        option("enable.idempotence", "true"),
        option("message.timeout.ms", "0"),
    ];
    options.extend(settings.map("rdkafka_options").iter().cloned());
    let topic = settings.text("topic").to_string();
    let key = settings.optional_text("key").map(str::to_string);
    let errors = Feedback::new();
    let cluster =
        Cluster { name, options, retry: Retry::default(), exactly_once: false, create: None };
    let writing = Writing::new(cluster, Shape::Tremor { topic, key }, Arc::clone(&errors))?;
    Ok(Built { sink: Some(BuiltSink::of_events(writing, errors)), ..Built::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brokers_have_a_port_and_modes_of_tremor_are_options() {
        assert_eq!(brokers(&["a:1, b", "c"], "address").as_deref(), Ok("a:1,b:9092,c:9092"));
        assert!(brokers(&["a:port"], "address").is_err());
        let interval = |mode| mode_options(mode).map(|options| options[0].1.clone());
        assert_eq!(interval("\"performance\"").as_deref(), Ok("5000"));
        assert_eq!(
            interval(r#"{"transactional":{"commit_interval":2000000000}}"#).as_deref(),
            Ok("2000")
        );
        let custom = mode_options(r#"{"custom":{"rdkafka_options":{"fetch.min.bytes":7}}}"#);
        assert_eq!(custom, Ok(vec![option("fetch.min.bytes", "7")]));
        assert!(mode_options("7").is_err());
    }

    #[test]
    fn a_group_begins_at_a_place_or_a_time() {
        assert_eq!(Start::parse("latest"), Ok(Start::Latest));
        assert_eq!(Start::parse("1970-01-01T00:00:01.5Z"), Ok(Start::Time(1500)));
        assert!(Start::parse("yesterday").is_err());
    }
}
