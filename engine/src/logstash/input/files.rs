//! The input `file`: which files are read, in which order, and for how long.

use super::origin::nanoseconds;
use crate::framing::Framing;
use crate::logstash::complain;
use crate::logstash::options::Arguments;
use crate::source::SourceConfig;
use crate::source::file::FileConfig;
use crate::source::tail::TailConfig;
use std::path::PathBuf;
use std::time::SystemTime;

/// The source of the files that the options name.
pub(super) fn source(arguments: &mut Arguments<'_>, framing: Framing) -> Option<SourceConfig> {
    let texts = |arguments: &mut Arguments<'_>, name: &str| -> Vec<String> {
        let texts = arguments.texts(name).unwrap_or_default();
        texts.into_iter().map(|(text, _)| text).collect()
    };
    let (patterns, exclude) = (texts(arguments, "path"), texts(arguments, "exclude"));
    let framing = match arguments.text("delimiter").as_deref() {
        None | Some("\n" | "\\n") => framing,
        Some(text) if text.len() == 1 => Framing::Separated(text.as_bytes()[0]),
        Some(_) => {
            let place = arguments.place("delimiter");
            arguments.complain(complain::bad_value("delimiter", place, "a single byte"));
            return None;
        }
    };
    if arguments.text("mode").as_deref() == Some("read") {
        // Files that are not there are no error in Logstash, which would wait for them.
        let mut files = crate::source::tail::files(&patterns, &exclude);
        sort(&mut files, arguments);
        let patterns = files.iter().map(|path| path.display().to_string()).collect();
        return Some(SourceConfig::File(FileConfig { patterns, framing, skip_bytes: 0 }));
    }
    let from_beginning = arguments.text("start_position").as_deref() == Some("beginning");
    let interval = arguments.duration("stat_interval");
    let interval = interval.map_or(1.0, |interval| interval.as_secs_f64());
    Some(SourceConfig::Tail(TailConfig {
        patterns,
        exclude,
        framing,
        from_beginning,
        every_ns: nanoseconds(interval.max(0.01)),
    }))
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
