//! `s3`: objects of any storage that speaks S3, written and read.
//!
//! Invariant: events are confirmed when the object that holds them is whole in the bucket; an object counts as
//! read when all that stems from its events is where it should be.

mod store;
mod object;
mod sink;
mod source;
mod tremor;

use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_wire::retry::{RETRY, Retry};

use crate::dial;
use sink::{Naming, Rotation};
use store::Store;

pub(crate) use tremor::S3_READER;

pub(crate) use tremor::S3_STREAMER;

const ENDPOINT: Setting = Setting::new(
    "endpoint",
    Takes::Text,
    "The URL of the storage. Without it that of Amazon in `region`.",
);
const REGION: Setting = Setting::new(
    "region",
    Takes::Text,
    "The region. Without it AWS_REGION, and without that us-east-1.",
);
const ACCESS_KEY: Setting = Setting::new(
    "access_key",
    Takes::Text,
    "The name of the access key. Without it AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN \
     of the environment hold; without those requests are not signed.",
);
const SECRET_KEY: Setting = Setting::new("secret_key", Takes::Secret, "The access key itself.");
const SESSION_TOKEN: Setting =
    Setting::new("session_token", Takes::Secret, "The token of a session.");
const PATH_STYLE: Setting = Setting::new(
    "path_style",
    Takes::Flag,
    "Whether the bucket stands in the path of a URL; else in front of its host.",
)
.or("true");
const RETRIES: Setting = Setting::new("retry", Takes::Record(RETRY), "The waits between attempts.");

/// Objects.
pub(crate) static S3: Connector = Connector {
    kind: "s3",
    notation: Notation::Temblor,
    doc: "Objects in a bucket of S3, or of any storage that speaks it. A sink gathers events into objects: one is \
          finished when it holds `max_size` bytes, is `max_age` old, or the run ends; its name is `key` (an \
          expression, per event), the time, a number that nobody else has, and an ending. Events are confirmed when \
          their object is whole in the bucket; a run that is killed leaves no part of one behind. A source reads \
          the objects below `prefix` in the order of their names, compressed (gzip, zstd, xz) or not, and ends, or \
          looks again every `poll`. With `read_log` it writes down what was read, and leaves that out the next \
          time; an object whose events could not all be delivered is read again. `$s3` tells `bucket`, `key` and \
          `etag` of an event.",
    ends: Ends::Both,
    address: Some("\"BUCKET\""),
    source: &[
        ENDPOINT,
        REGION,
        ACCESS_KEY,
        SECRET_KEY,
        SESSION_TOKEN,
        PATH_STYLE,
        dial::TIMEOUT,
        dial::TLS_CLIENT,
        RETRIES,
        Setting::new("prefix", Takes::Text, "What the names of objects begin with.").or(""),
        Setting::new(
            "poll",
            Takes::Duration,
            "Time between two looks for new objects. Without it one look.",
        ),
        Setting::new(
            "read_log",
            Takes::Text,
            "The file that names of objects are written to once they were read.",
        ),
        Setting::new(
            "max_object",
            Takes::Bytes,
            "The longest object; longer ones are left out with an error.",
        )
        .or("64MiB"),
        Setting::new("max_unpacked", Takes::Bytes, "What a compressed object may become.")
            .or("256MiB"),
    ],
    sink: &[
        ENDPOINT,
        REGION,
        ACCESS_KEY,
        SECRET_KEY,
        SESSION_TOKEN,
        PATH_STYLE,
        dial::TIMEOUT,
        dial::TLS_CLIENT,
        RETRIES,
        Setting::new(
            "key",
            Takes::PerEvent,
            "What the names of objects begin with: \"logs/#{event.service}/\".",
        ),
        Setting::new(
            "max_size",
            Takes::Bytes,
            "An object with so many bytes of events is finished.",
        )
        .or("64MiB"),
        Setting::new("max_age", Takes::Duration, "An object that is so old is finished.").or("60s"),
        Setting::new(
            "max_open",
            Takes::Whole { least: 1, most: 100_000 },
            "Objects that are gathered at the same \
            time; one more finishes the oldest.",
        )
        .or("1000"),
        Setting::new(
            "max_held",
            Takes::Bytes,
            "Bytes of all objects that are gathered; more finish the largest.",
        )
        .or("256MiB"),
        Setting::new("compression", Takes::Word(&["none", "gzip"]), "How objects are compressed.")
            .or("none"),
        Setting::new("suffix", Takes::Text, "The ending of names; `.gz` is added for gzip.")
            .or(".ndjson"),
    ],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &["s3"],
    examples: &[
        r##"sink archive into s3 "logs" with endpoint = "http://127.0.0.1:9000", key = "web/#{event.host}/", compression = "gzip" end; in |> archive"##,
        r#"source archive from s3 "logs" with endpoint = "http://127.0.0.1:9000", prefix = "web/", read_log = "read.log" end; archive |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let (store, warnings) = Store::of_settings(settings, settings.text("address"))?;
    let retry = Retry::of_settings(settings.record("retry"));
    let mut built = Built { warnings, ..Built::default() };
    if what.ends == Ends::Source {
        built.source = Some(Arc::new(source::Reading {
            store,
            retry,
            framing: what.framing,
            kind: "s3",
            prefix: settings.text("prefix").to_string(),
            poll: settings.optional_duration("poll"),
            read_log: settings.optional_text("read_log").map(Into::into),
            object_bytes_max: settings.size("max_object"),
            unpacked_bytes_max: settings.size("max_unpacked"),
        }));
    } else {
        let is_packed = settings.text("compression") == "gzip";
        let suffix = format!("{}{}", settings.text("suffix"), if is_packed { ".gz" } else { "" });
        let rotation = Rotation {
            bytes_max: settings.size("max_size"),
            age_max: settings.duration("max_age"),
            open_max: settings.size("max_open"),
            held_bytes_max: settings.size("max_held"),
        };
        let naming = Naming::Fresh { suffix };
        let open = sink::Writing { store, retry, rotation, naming, is_packed };
        built.sink = Some(BuiltSink { tells_events_apart: true, ..BuiltSink::of_bytes(open) });
    }
    Ok(built)
}
