//! tremor's connectors of S3: the same store under tremor's settings and metadata.

use std::sync::Arc;
use std::time::Duration;

use temblor_declare::{
    Built, BuiltSink, CodecUse, Connector, Ends, Given, Notation, Setting, Settings, Takes, Wrong,
};
use temblor_runtime::framing::Framing;
use temblor_wire::retry::Retry;

use super::sink::{Naming, Rotation, Writing};
use super::source::Reading;
use super::store::Store;

const BUCKET: Setting = Setting::new("bucket", Takes::Text, "The bucket.").required();
const AWS_REGION: Setting = Setting::new("aws_region", Takes::Text, "The region.");
const URL: Setting =
    Setting::new("url", Takes::Text, "The URL of the storage, where it is not Amazon's.");
const PATH_STYLE: Setting = Setting::new(
    "path_style_access",
    Takes::Flag,
    "Whether the bucket stands in the path of a URL.",
)
.or("true");

/// How long an object may be gathered: tremor finishes it only when another key comes, or at the end.
const AGE_MAX: Duration = Duration::from_secs(365 * 24 * 3600);
/// The longest object.
const OBJECT_BYTES_MAX: usize = 256 << 20;

/// tremor's sink.
pub(crate) static S3_STREAMER: Connector = Connector {
    kind: "s3_streamer",
    notation: Notation::Tremor,
    doc: "tremor's sink of S3: events with the same `$s3_streamer.key` that follow each other become one object. \
          Both modes confirm events when their object is whole in the bucket.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[
        BUCKET,
        AWS_REGION,
        URL,
        PATH_STYLE,
        Setting::new("mode", Takes::Word(&["yolo", "consistent"]), "Both do the same here.")
            .or("consistent"),
        Setting::new(
            "buffer_size",
            Takes::Whole { least: 1, most: 1 << 40 },
            "Has no effect: parts have 8 MiB.",
        ),
        Setting::new("metadata", Takes::Hidden("$s3_streamer"), ""),
    ],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["s3_streamer"],
    examples: &[],
    build: |what| {
        let (store, warnings) = store(what.settings)?;
        let rotation = Rotation {
            bytes_max: OBJECT_BYTES_MAX,
            age_max: AGE_MAX,
            open_max: 1,
            held_bytes_max: OBJECT_BYTES_MAX,
        };
        let (retry, naming) = (Retry::default(), Naming::OfMetadata);
        let open = Writing { store, retry, rotation, naming, is_packed: false };
        let sink = BuiltSink { tells_events_apart: true, ..BuiltSink::of_bytes(open) };
        Ok(Built { sink: Some(sink), warnings, ..Built::default() })
    },
};

/// tremor's source.
pub(crate) static S3_READER: Connector = Connector {
    kind: "s3_reader",
    notation: Notation::Tremor,
    doc: "tremor's source of S3: reads the objects below `prefix` in the order of their names, then ends.",
    ends: Ends::Source,
    address: None,
    source: &[
        BUCKET,
        AWS_REGION,
        URL,
        PATH_STYLE,
        Setting::new("prefix", Takes::Text, "What the names of objects begin with."),
        Setting::new(
            "multipart_chunksize",
            Takes::Whole { least: 1, most: 1 << 40 },
            "Has no effect.",
        ),
        Setting::new(
            "multipart_threshold",
            Takes::Whole { least: 1, most: 1 << 40 },
            "Has no effect.",
        ),
        Setting::new(
            "max_connections",
            Takes::Whole { least: 1, most: 1024 },
            "Has no effect: objects are read one \
            by one, in order.",
        ),
    ],
    sink: &[],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["s3_reader"],
    examples: &[],
    build: |what| {
        let (store, warnings) = store(what.settings)?;
        let framing = if what.framing_is_chosen { what.framing } else { Framing::Whole };
        let source = Reading {
            store,
            retry: Retry::default(),
            framing,
            kind: "s3_reader",
            prefix: what.settings.optional_text("prefix").unwrap_or_default().to_string(),
            poll: None,
            read_log: None,
            object_bytes_max: OBJECT_BYTES_MAX,
            unpacked_bytes_max: OBJECT_BYTES_MAX,
        };
        Ok(Built { source: Some(Arc::new(source)), warnings, ..Built::default() })
    },
};

/// The store under our names of tremor's settings.
fn store(settings: &Settings) -> Result<(Store, Vec<String>), Wrong> {
    let mut own = Settings::new(settings.span);
    for (theirs, ours) in
        [("aws_region", "region"), ("url", "endpoint"), ("path_style_access", "path_style")]
    {
        if let Some(given) = settings.get(theirs) {
            let given: Given = given.clone();
            own.insert(ours, settings.span_of(theirs), given);
        }
    }
    let wrong = |wrong: Wrong| Wrong { setting: wrong.setting.map(|_| "url"), ..wrong };
    Store::of_settings(&own, settings.text("bucket")).map_err(wrong)
}
