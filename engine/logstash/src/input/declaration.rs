//! The inputs that are here, each with its options.

use crate::network::Arrival;
use crate::options::{OptionSpec, Takes, option, required};

/// The options that every input has.
pub const COMMON: &[OptionSpec] = &[
    option("add_field", Takes::Hash, "Fields of every event."),
    option("codec", Takes::Codec, "How frames are read."),
    option("enable_metric", Takes::Flag, "Accepted; counts are always kept."),
    option("id", Takes::Text, "The name of the input in reports."),
    option("tags", Takes::List, "Tags of every event."),
    option("type", Takes::Text, "The field `type` of events that have none."),
    option("ecs_compatibility", Takes::OneOf(&["disabled", "v1", "v8"]), "Which field names."),
];

/// An input that is here.
#[derive(Debug)]
pub struct InputDeclaration {
    /// Its name.
    pub name: &'static str,
    /// Its own options.
    pub options: &'static [OptionSpec],
    pub(super) kind: Kind,
}

/// What an input adds to its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Stdin,
    File,
    Generator,
    Heartbeat,
    Exec,
    Pipe,
    Pipeline,
    /// One of [`crate::network::plugins`].
    Network(&'static Arrival),
}

/// All inputs that are here.
pub static INPUTS: &[InputDeclaration] = &[
    InputDeclaration { name: "stdin", options: &[], kind: Kind::Stdin },
    InputDeclaration { name: "java_stdin", options: &[], kind: Kind::Stdin },
    InputDeclaration {
        name: "file",
        options: &[
            required("path", Takes::List, "Files, or patterns of files."),
            option("exclude", Takes::List, "Patterns of file names that are left out."),
            option("start_position", Takes::OneOf(&["beginning", "end"]), "Where reading begins."),
            option("mode", Takes::OneOf(&["tail", "read"]), "Whether files are followed."),
            option("delimiter", Takes::Text, "What ends a frame (a newline)."),
            option("stat_interval", Takes::Duration, "How often files are looked at."),
            option(
                "discover_interval",
                Takes::Number,
                "Every how many looks new files are looked for (1).",
            ),
            option("sincedb_path", Takes::Text, "Accepted; see --state."),
            option("sincedb_write_interval", Takes::Duration, "Accepted; see --state."),
            option("sincedb_clean_after", Takes::Duration, "Accepted; see --state."),
            option(
                "close_older",
                Takes::Duration,
                "Accepted; a file stays open while it is there.",
            ),
            option(
                "ignore_older",
                Takes::Duration,
                "Files that have not changed for so long are left out.",
            ),
            option("max_open_files", Takes::Number, "Accepted; what is there is read."),
            option("file_chunk_count", Takes::Number, "Accepted; no file keeps others waiting."),
            option("file_chunk_size", Takes::Number, "Accepted; blocks have a size of their own."),
            option(
                "file_sort_by",
                Takes::OneOf(&["last_modified", "path"]),
                "The order in mode `read`.",
            ),
            option("file_sort_direction", Takes::OneOf(&["asc", "desc"]), "The same."),
            option(
                "file_completed_action",
                Takes::OneOf(&["delete", "log", "log_and_delete"]),
                "What is done with a file of mode `read` once the run has delivered it; else it stays.",
            ),
            option("file_completed_log_path", Takes::Text, "Where its path is written to."),
            option(
                "check_archive_validity",
                Takes::Flag,
                "Whether a damaged archive is left out as a whole.",
            ),
            option(
                "exit_after_read",
                Takes::Flag,
                "Whether mode `read` ends with the files (true).",
            ),
        ],
        kind: Kind::File,
    },
    InputDeclaration { name: "generator", options: GENERATOR, kind: Kind::Generator },
    InputDeclaration { name: "java_generator", options: GENERATOR, kind: Kind::Generator },
    InputDeclaration {
        name: "heartbeat",
        options: &[
            option("interval", Takes::Number, "Seconds between two events (60)."),
            option("count", Takes::Number, "How many events; -1 is for ever."),
            option("message", Takes::Text, "The message (ok), or epoch, or sequence."),
            option("sequence", Takes::OneOf(&["none", "epoch", "sequence"]), "What is counted."),
            option("threads", Takes::Number, "How many times each of them."),
        ],
        kind: Kind::Heartbeat,
    },
    InputDeclaration {
        name: "exec",
        options: &[
            required("command", Takes::Text, "What the shell runs."),
            option("interval", Takes::Number, "Seconds from run to run."),
            option("schedule", Takes::Text, "When it is run, as a crontab says it."),
        ],
        kind: Kind::Exec,
    },
    InputDeclaration {
        name: "pipe",
        options: &[required("command", Takes::Text, "What the shell runs, over and over.")],
        kind: Kind::Pipe,
    },
    InputDeclaration {
        name: "pipeline",
        options: &[required("address", Takes::Text, "Where other pipelines send to.")],
        kind: Kind::Pipeline,
    },
];

const GENERATOR: &[OptionSpec] = &[
    option("message", Takes::Text, "The message (Hello world!)."),
    option("lines", Takes::List, "Messages, in turn."),
    option("count", Takes::Number, "How often; 0 is for ever."),
    option("threads", Takes::Number, "How many times all of that."),
    option("eps", Takes::Number, "Events per second; 0 is as fast as they are taken."),
];
