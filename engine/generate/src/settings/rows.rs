//! What can be set of generators, as rows. Which kind takes which is said in the manual's page of
//! generators; all kinds share the rows.

use temblor_declare::{Setting, Takes};

/// Events can be this many places late.
const DELAY_MAX: u64 = 1_000_000;
/// A burst has at most so many events.
const BURST_EVENTS_MAX: u64 = 1_000_000;
/// The slowest and the fastest that a recording is replayed, as a factor.
const SPEED: Takes = Takes::Between { least: 1e-6, most: 1e9 };

const ANY_NUMBER: Takes = Takes::Whole { least: 0, most: u64::MAX };
const PART: Takes = Takes::Between { least: 0.0, most: 1.0 };

const TOKEN: &[Setting] = &[
    Setting::new("token", Takes::Text, "A regex; its first group is what is replaced."),
    Setting::new("type", Takes::Text, "The kind of replacement."),
    Setting::new("replacement", Takes::Text, "What stands there instead."),
];

/// All settings, in the order of the alphabet.
pub static SETTINGS: &[Setting] = &[
    Setting::new(
        "amount",
        ANY_NUMBER,
        "How many events an execution has; without it the whole sample.",
    ),
    Setting::new(
        "backfill",
        Takes::Scalar,
        "How far in the past the events begin (`2h`, `-1d@d`); those of the past come at once.",
    ),
    Setting::new(
        "breaker",
        Takes::Text,
        "A regex that begins events, where they are not lines (`sample`, `replay`).",
    ),
    Setting::new("bundle", Takes::Flag, "Whether `amount` counts whole samples (`sample`)."),
    Setting::new("burst", PART, "The part of the events at which a burst begins."),
    Setting::new(
        "burst_events",
        Takes::Whole { least: 0, most: BURST_EVENTS_MAX },
        "How many events of a burst wait and come together.",
    )
    .or("100"),
    Setting::new(
        "count",
        ANY_NUMBER,
        "How many events, before anything is lost or doubled; without it they never end.",
    ),
    Setting::new(
        "count_type",
        Takes::Text,
        "`line_count`, or `cycles`: what `amount` counts (`jinja`).",
    ),
    Setting::new(
        "days",
        Takes::Map,
        "Factors on the rate by day of the month, such as `{\"1\": 3}`.",
    ),
    Setting::new(
        "delay",
        Takes::Whole { least: 0, most: DELAY_MAX },
        "The most places that a late event, or a copy, comes late.",
    )
    .or("10"),
    Setting::new("directories", Takes::Texts, "Where templates are looked for (`jinja`)."),
    Setting::new(
        "draws",
        Takes::Any,
        "Names and what is drawn for them: `{\"user\": {\"zipf\": [1000, 1.1]}}` (`template`).",
    ),
    Setting::new("duplicate", PART, "The part of the events that come twice."),
    Setting::new(
        "earliest",
        Takes::Scalar,
        "The shown time is drawn from so long before the event's own (`1h`, `-1d@d`).",
    ),
    Setting::new(
        "executions",
        ANY_NUMBER,
        "How many executions there are, those of the past not counted.",
    ),
    Setting::new("file", Takes::Text, "The file of events, lines or the template."),
    Setting::new("files", Takes::Map, "Names and files of words (`template`)."),
    Setting::new(
        "format",
        Takes::Text,
        "How times of a recording are written (`strptime`; `replay`).",
    )
    .or("%Y-%m-%dT%H:%M:%S"),
    Setting::new("host", Takes::Text, "The host that the envelope names.").or("127.0.0.1"),
    Setting::new("host_regex", Takes::Text, "A regex that finds the host in an event."),
    Setting::new("host_token", Takes::Records(TOKEN), "A token that makes the host."),
    Setting::new("hours", Takes::Map, "Factors on the rate by hour, such as `{\"9\": 2.5}`."),
    Setting::new(
        "index",
        Takes::Texts,
        "The index that the envelope names; one of several is drawn for each execution.",
    ),
    Setting::new(
        "interval",
        Takes::Duration,
        "The time from one execution to the next; `0s`: there is one only.",
    ),
    Setting::new(
        "jitter",
        PART,
        "The part by which the volume of each minute, or of each execution, may differ.",
    ),
    Setting::new(
        "latest",
        Takes::Scalar,
        "The shown time is drawn from up to so long after the event's own.",
    ),
    Setting::new("lines", Takes::Texts, "The lines (`lines`)."),
    Setting::new("loss", PART, "The part of the events that get lost."),
    Setting::new("malform", PART, "The part of the events that are broken."),
    Setting::new("minutes", Takes::Map, "Factors on the rate by minute of the hour."),
    Setting::new("months", Takes::Map, "Factors on the rate by month."),
    Setting::new(
        "output",
        Takes::Text,
        "The envelope around events: `raw`, `modinput`, `hec`, `syslog`.",
    )
    .or("raw"),
    Setting::new("oversize", PART, "The part of the events that are blown up."),
    Setting::new(
        "oversize_bytes",
        Takes::Bytes,
        "How long events are that are blown up; 1 GiB at the most.",
    ),
    Setting::new("pause", Takes::Duration, "The time between two rounds (`replay`)."),
    Setting::new(
        "rate",
        Takes::Scalar,
        "`500`, `200k/s`, `5MB/s`, `30GB/day`; bytes are those of the real output.",
    ),
    Setting::new("reorder", PART, "The part of the events that come late."),
    Setting::new("restamp", Takes::Flag, "Whether times are made new (`replay`)."),
    Setting::new("rounds", ANY_NUMBER, "How often; 0 is for ever (`lines`, `replay`)."),
    Setting::new(
        "sampletype",
        Takes::Text,
        "`raw`, or `csv`: the file is a table with a column `_raw`.",
    ),
    Setting::new("seed", ANY_NUMBER, "The seed of everything random.").or("0"),
    Setting::new("sequential", Takes::Flag, "Whether times rise evenly (`sample`)."),
    Setting::new(
        "shuffle",
        Takes::Flag,
        "Whether events are picked at random (`lines`, `sample`).",
    ),
    Setting::new("skew", Takes::Offset, "How far the sender's clock is ahead."),
    Setting::new("source", Takes::Text, "The source that the envelope names."),
    Setting::new("sourcetype", Takes::Text, "The source type that the envelope names."),
    Setting::new(
        "span",
        Takes::Duration,
        "There are no more events so long after the start, in the events' time.",
    ),
    Setting::new("speed", SPEED, "2 is twice as fast (`replay`).").or("1"),
    Setting::new(
        "spread",
        Takes::Flag,
        "Whether events come evenly over the interval instead of all at once.",
    ),
    Setting::new(
        "start",
        Takes::Scalar,
        "The time of the first event, such as `2026-01-01T00:00:00Z`; else now.",
    ),
    Setting::new(
        "stream",
        ANY_NUMBER,
        "The number of the stream: streams of one seed suffer differently.",
    )
    .or("0"),
    Setting::new(
        "template",
        Takes::Formula,
        "The text of an event, with `#{event.…}` (`template`).",
    ),
    Setting::new("time", Takes::Text, "A regex that finds the time of an event (`replay`)."),
    Setting::new(
        "time_field",
        Takes::Text,
        "The column of a table that holds the time (`replay`).",
    ),
    Setting::new(
        "timezone",
        Takes::Text,
        "Whose hours, days and times: `UTC`, `local`, `+0530`, `Europe/Berlin`; else UTC.",
    ),
    Setting::new(
        "tokens",
        Takes::Records(TOKEN),
        "What is replaced in events (`sample`, `replay`).",
    ),
    Setting::new("truncate", PART, "The part of the events that are cut off."),
    Setting::new("truth", Takes::Text, "A file that tells what became of each event."),
    Setting::new("until", Takes::Text, "No execution at this time or later (`+1h`)."),
    Setting::new("variables", Takes::Any, "The variables of a template (`jinja`)."),
    Setting::new("wait", Takes::Duration, "How much later the first event comes."),
    Setting::new("weekdays", Takes::Map, "Factors on the rate by day of the week, 0 for Sunday."),
];
