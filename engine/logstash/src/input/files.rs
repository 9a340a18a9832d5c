//! The input `file`: which files are read, in which order, and for how long.

use super::origin::nanoseconds;
use crate::complain;
use crate::options::Arguments;
use std::path::PathBuf;
use std::time::SystemTime;
use temblor_connect::source::SourceConfig;
use temblor_connect::source::file::{FileConfig, Watch};
use temblor_connect::source::tail::TailConfig;
use temblor_runtime::framing::Framing;
use temblor_runtime::source::completion::Completion;

/// The source of the files that the options name.
pub(super) fn source(arguments: &mut Arguments<'_>, framing: Framing) -> Option<SourceConfig> {
    let patterns = arguments.words("path").unwrap_or_default();
    let exclude = arguments.words("exclude").unwrap_or_default();
    let framing = match arguments.text("delimiter").as_deref() {
        None | Some("\n" | "\\n") => framing,
        Some(text) if text.len() == 1 => Framing::Separated(text.as_bytes()[0]),
        Some(_) => {
            let place = arguments.place("delimiter");
            arguments.complain(complain::bad_value("delimiter", place, "a single byte"));
            return None;
        }
    };
    let seconds = arguments.duration("stat_interval").map_or(1.0, |one| one.as_secs_f64());
    let every_ns = nanoseconds(seconds.max(STAT_SECONDS_MIN));
    if arguments.text("mode").as_deref() == Some("read") {
        // Files that are not there are no error in Logstash, which would wait for them.
        let mut files = temblor_connect::source::tail::files(&patterns, &exclude);
        sort(&mut files, arguments);
        let found = files.iter().map(|path| path.display().to_string()).collect();
        let waits = !arguments.flag("exit_after_read", true);
        return Some(SourceConfig::File(FileConfig {
            checks_archives: arguments.flag("check_archive_validity", false),
            completion: completion(arguments)?,
            watch: waits.then_some(Watch { patterns, exclude, every_ns }),
            ..FileConfig::once(found, framing)
        }));
    }
    for name in OF_READING {
        if arguments.get(name).is_some() {
            let place = arguments.place(name);
            let reason = "unless `mode` is `read`: a file that is followed has no end";
            arguments.complain(complain::without_effect(name, place, reason));
        }
    }
    let rounds = arguments.number("discover_interval").map_or(1.0, |rounds| rounds.max(1.0));
    Some(SourceConfig::Tail(TailConfig {
        patterns,
        exclude,
        framing,
        from_beginning: arguments.text("start_position").as_deref() == Some("beginning"),
        every_ns,
        discover_ns: (every_ns as f64 * rounds) as u64,
        age_max: arguments.duration("ignore_older").filter(|age| !age.is_zero()),
    }))
}

/// Options that only mean something for files that are read to their ends.
const OF_READING: [&str; 4] = [
    "file_completed_action",
    "file_completed_log_path",
    "exit_after_read",
    "check_archive_validity",
];
/// Files are looked at no more often.
const STAT_SECONDS_MIN: f64 = 0.01;

/// What is done with a file that was read: nothing, unless the configuration says so itself.
fn completion(arguments: &mut Arguments<'_>) -> Option<Completion> {
    let log = arguments.text("file_completed_log_path").map(PathBuf::from);
    let Some(action) = arguments.text("file_completed_action") else {
        let message = "Logstash deletes files that it has read in this mode; here they stay";
        let help = "say what is meant with `file_completed_action`: `delete`, `log`, or both";
        arguments.explain(complain::odd(arguments.place("mode"), message, help));
        return Some(Completion { log, deletes: false });
    };
    let logs = action != "delete";
    if logs && log.is_none() {
        let place = arguments.place("file_completed_action");
        let complaint = complain::missing_option("file", "file_completed_log_path", place);
        arguments.complain(complaint.with_help("it is the file that the paths are written to"));
        return None;
    }
    Some(Completion { log: log.filter(|_| logs), deletes: action != "log" })
}

/// Leaves out files that are too old, and brings the others into the order that the options say.
fn sort(files: &mut Vec<PathBuf>, arguments: &Arguments<'_>) {
    let changed = |path: &PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let oldest = arguments.duration("ignore_older").filter(|age| !age.is_zero());
    if let Some(limit) = oldest.and_then(|age| SystemTime::now().checked_sub(age)) {
        files.retain(|path| changed(path).is_none_or(|time| time >= limit));
    }
    match arguments.text("file_sort_by").as_deref() {
        Some("path") => files.sort(),
        // Files of one time stay in the order of the patterns.
        _ => files.sort_by_key(changed),
    }
    if arguments.text("file_sort_direction").as_deref() == Some("desc") {
        files.reverse();
    }
}
