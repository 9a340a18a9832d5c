//! Settings that the program's side of a connector reads, whatever the connector is: codecs, framing,
//! interceptors, and how much may wait for a sink.

use crate::queue;
use crate::setting::{Setting, Takes};

/// What a source of a Temblor file takes besides its own settings.
pub static READING: &[Setting] = &[
    Setting::new("codec", Takes::Named, "How a message becomes an event."),
    Setting::new(
        "framing",
        Takes::Word(&["octet", "lines", "whole"]),
        "How an input is cut into messages: at line ends, not at all, or (`octet`, on connections) by \
         lengths in front of messages (RFC 6587). The codec says it unless set.",
    ),
    Setting::new(
        "preprocessors",
        Takes::NamedList,
        "What is done to bytes before they are messages, in order.",
    ),
    Setting::new(
        "separator",
        Takes::Whole { least: 0, most: 255 },
        "The byte that ends a message, as a number.",
    ),
];

/// What a sink of a Temblor file takes besides its own settings.
pub static WRITING: &[Setting] = &[
    Setting::new("codec", Takes::Named, "How an event becomes a message."),
    Setting::new(
        "postprocessors",
        Takes::NamedList,
        "What is done to each encoded event, in order, instead of a newline behind it.",
    ),
];

/// What a sink of a Temblor file takes about the queue in front of it.
pub static QUEUE: &[Setting] = &queue::SINK;

/// What a source of a Temblor file takes about the queue behind it.
pub static BUFFER: &[Setting] = &queue::SOURCE;

/// What a sink of a Temblor file takes that is a stream of bytes on this machine.
pub static STREAM: &[Setting] = &[Setting::new(
    "compression",
    Takes::Word(&["gzip", "none"]),
    "How the stream is compressed; each part of it can be read by itself.",
)
.or("none")];

/// The waits between attempts to connect, as tremor names them.
static RECONNECT: &[Setting] = &[Setting::new(
    "retry",
    Takes::Record(&[
        Setting::new(
            "interval_ms",
            Takes::Whole { least: 0, most: 1 << 40 },
            "The first wait, in milliseconds.",
        )
        .required(),
        Setting::new(
            "growth_rate",
            Takes::Between { least: 1.0, most: 1000.0 },
            "By how much each wait is longer than the one before.",
        )
        .or("1.5"),
        Setting::new(
            "max_retries",
            Takes::Whole { least: 0, most: u64::MAX },
            "After so many it is given up; never without it.",
        ),
        Setting::new("randomized", Takes::Flag, "Has no effect: waits differ in any case.")
            .or("true"),
    ]),
    "The waits between attempts.",
)
.required()];

/// What `with` of a connector in a flow takes.
pub static FLOW: &[Setting] = &[
    Setting::new("codec", Takes::Named, "How messages become events, and events messages."),
    Setting::new("config", Takes::Any, "The connector's own settings, as a record."),
    Setting::new(
        "metrics_interval_s",
        Takes::Whole { least: 1, most: u64::MAX },
        "Seconds between two counts of the connector's events, which a `metrics` connector gives.",
    ),
    Setting::new(
        "postprocessors",
        Takes::NamedList,
        "What is done to each encoded event, in order.",
    ),
    Setting::new(
        "preprocessors",
        Takes::NamedList,
        "What is done to bytes before they are messages, in order.",
    ),
    Setting::new(
        "reconnect",
        Takes::Record(RECONNECT),
        "How often a connection is tried again: `{\"retry\": {\"interval_ms\": 500}}`. Without it it is tried for ever.",
    ),
];
