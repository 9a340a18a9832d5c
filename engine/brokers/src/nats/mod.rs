//! `nats`: subjects and JetStream streams of NATS.
//!
//! Invariant: a message of a stream is acknowledged when all that stems from it has got where it should, and an
//! event for a stream is confirmed when the server has stored it.

pub mod servers;
pub mod source;
pub mod sink;

use std::sync::Arc;

use async_nats::jetstream::consumer::DeliverPolicy;
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Settings, Takes, Wrong,
};
use temblor_runtime::outlet::Feedback;
use temblor_wire::retry::{RETRY, Retry};
use temblor_wire::tls::TLS;

use crate::packing::Unpacking;
use servers::Servers;

const USERNAME: Setting =
    Setting::new("username", Takes::Text, "The user; over that of the address.");
const PASSWORD: Setting =
    Setting::new("password", Takes::Secret, "The password; over that of the address.");
const TOKEN: Setting =
    Setting::new("token", Takes::Secret, "A token instead of user and password.");
const CREDENTIALS: Setting = Setting::new(
    "credentials",
    Takes::Text,
    "A file with a JWT and the key of its user (`.creds`), instead of user and password.",
);
const NKEY: Setting =
    Setting::new("nkey", Takes::Secret, "The seed of an NKey, instead of user and password.");
const TLS_RECORD: Setting = Setting::new(
    "tls",
    Takes::Record(TLS),
    "How the connection is made safe; `tls://` turns it on without further settings.",
);
const RETRY_RECORD: Setting = Setting::new(
    "retry",
    Takes::Record(RETRY),
    "How long to wait before the servers are tried again after a failure.",
);

/// Subjects and streams of NATS.
pub static NATS: Connector = Connector {
    kind: "nats",
    notation: Notation::Temblor,
    doc: "Subjects and JetStream streams of NATS. A source of a `stream` acknowledges messages when they have \
          got where they should, and has the server deliver them again otherwise; while they wait it tells the \
          server so. A sink with a `stream` waits until the server has stored each message; one that is sent \
          again after a failure is stored once. Subjects alone have no memory: what is published while nobody \
          listens is lost.",
    ends: Ends::Both,
    address: Some("\"nats://HOST:PORT\", several with commas between them, or `tls://` with TLS"),
    source: &[
        Setting::new(
            "subjects",
            Takes::Texts,
            "The subjects to listen to, with wildcards (`logs.*`, `logs.>`); of a `stream`, those to read.",
        ),
        Setting::new(
            "queue",
            Takes::Text,
            "A queue group: each message goes to one of its members. Not for streams.",
        ),
        Setting::new("stream", Takes::Text, "The JetStream stream to read."),
        Setting::new(
            "durable",
            Takes::Text,
            "The durable consumer of the stream, which remembers what was acknowledged; it is made when it is \
             missing. Programs with the same one share its messages. Unless it is set, the name of the source.",
        ),
        Setting::new(
            "from",
            Takes::Text,
            "Where a consumer that is made begins: `earliest`, `latest`, or a time such as \
             2026-01-31T08:00:00Z.",
        )
        .or("earliest"),
        Setting::new(
            "ack_wait",
            Takes::Duration,
            "A consumer that is made delivers a message again that is neither acknowledged nor reported to be \
             in progress for so long.",
        )
        .or("30s"),
        Setting::new(
            "max_unacknowledged",
            Takes::Whole { least: 1, most: 1_000_000 },
            "How many messages a consumer that is made delivers before it waits for acknowledgements.",
        )
        .or("10000"),
        USERNAME,
        PASSWORD,
        TOKEN,
        CREDENTIALS,
        NKEY,
        TLS_RECORD,
        RETRY_RECORD,
    ],
    sink: &[
        Setting::new("subject", Takes::PerEvent, "The subject.").required(),
        Setting::new(
            "headers",
            Takes::PerEventJson,
            "A record of texts, or lists of texts, that becomes the message's headers.",
        ),
        Setting::new(
            "message_id",
            Takes::PerEvent,
            "The identity by which a stream stores a message once (`Nats-Msg-Id`); by default one of its own.",
        ),
        Setting::new(
            "stream",
            Takes::Text,
            "The JetStream stream that has to store the messages. Without it nobody does, and an event counts \
             as delivered when it is on its way.",
        ),
        Setting::new(
            "stream_subjects",
            Takes::Texts,
            "The subjects of the stream, which is made (in files, without limits) with them when it is missing.",
        ),
        USERNAME,
        PASSWORD,
        TOKEN,
        CREDENTIALS,
        NKEY,
        TLS_RECORD,
        RETRY_RECORD,
    ],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &["nats"],
    examples: &[
        r#"source in from nats "nats://127.0.0.1:4222" with stream = "EVENTS", durable = "temblor" end; in |> out"#,
        r#"source in from nats "nats://127.0.0.1:4222" with subjects = ["logs.>"], queue = "temblor" end; in |> out"#,
        r#"sink out into nats "nats://127.0.0.1:4222" with subject = "events.new", stream = "EVENTS", stream_subjects = ["events.>"] end; in |> out"#,
        r#"sink out into nats "nats://127.0.0.1:4222" with subject = "logs.#{event.host}", headers = {"level": event.level} end; in |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let (servers, warnings) = Servers::of_settings(settings)?;
    let retry = Retry::of_settings(settings.record("retry"));
    let mut built = Built { warnings, ..Built::default() };
    if what.ends == Ends::Source {
        let (from, unpacking) = (wanted(what)?, Unpacking::of(what));
        built.source = Some(Arc::new(source::Reading { servers, retry, from, unpacking }));
    } else {
        let stream = settings.optional_text("stream").map(str::to_string);
        let subjects = settings.texts("stream_subjects").to_vec();
        if stream.is_none() && !subjects.is_empty() {
            let help = "name the stream, such as: stream = \"EVENTS\"";
            return Err(Wrong::at("stream_subjects", "`stream` is missing", help));
        }
        let errors = Feedback::new();
        let own = Arc::clone(&errors);
        let writing = sink::Writing { servers, retry, stream, subjects, errors: own };
        built.sink = Some(BuiltSink::of_events(writing, errors));
    }
    Ok(built)
}

/// What a source reads.
fn wanted(what: &Build<'_>) -> Result<source::From, Wrong> {
    let settings = what.settings;
    let subjects = settings.texts("subjects").to_vec();
    let queue = settings.optional_text("queue").map(str::to_string);
    let Some(stream) = settings.optional_text("stream") else {
        if subjects.is_empty() {
            let message = "neither `subjects` nor a `stream` is named".to_string();
            let help = "such as: subjects = [\"logs.>\"]".to_string();
            return Err(Wrong { setting: None, message, help });
        }
        if settings.has("durable") {
            let help = "name the stream that keeps the messages, such as: stream = \"EVENTS\"";
            return Err(Wrong::at("durable", "`stream` is missing", help));
        }
        return Ok(source::From::Subjects { subjects, queue });
    };
    if queue.is_some() {
        let help = "programs with the same `durable` share the messages of a stream";
        return Err(Wrong::at("queue", "`queue` and `stream` do not go together", help));
    }
    let durable = settings.optional_text("durable").unwrap_or(what.name).to_string();
    if durable.contains(['.', '*', '>', ' ', '/', '\\']) {
        let message = format!("`{durable}` is no name of a consumer");
        return Err(Wrong::at("durable", message, "leave out dots, blanks, slashes, `*` and `>`"));
    }
    Ok(source::From::Stream(source::Consumer {
        stream: stream.to_string(),
        durable,
        subjects,
        start: start(settings)?,
        ack_wait: settings.duration("ack_wait"),
        unacknowledged_max: settings.whole("max_unacknowledged"),
    }))
}

/// Where a consumer that is made begins.
fn start(settings: &Settings) -> Result<DeliverPolicy, Wrong> {
    let text = settings.text("from");
    match text {
        "earliest" => Ok(DeliverPolicy::All),
        "latest" => Ok(DeliverPolicy::New),
        _ => {
            let start_time = async_nats::datetime::parse_rfc3339(text).map_err(|error| {
                let help = "write \"earliest\", \"latest\", or a time such as 2026-01-31T08:00:00Z";
                Wrong::at("from", format!("`{text}` is no time: {error}"), help)
            })?;
            Ok(DeliverPolicy::ByStartTime { start_time })
        }
    }
}
