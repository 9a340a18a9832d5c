//! Seeded data for measurements: the same seed and count give the same lines on every machine, and no line needs the network, a clock or a file.

mod access_log;
mod app_event;
mod edge_log;

mod telemetry;
mod words;

pub use access_log::access_log_lines;
pub use app_event::app_event_lines;
pub use edge_log::{EDGE_LOG_FIELDS, edge_log_lines};
pub use telemetry::{APPLICATIONS, raw_field_names, telemetry_lines};
pub use temblor_generate::Random;

/// The kinds of lines that can be generated, by the names that scenario files use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Application events as JSON, about 630 bytes each.
    AppEvents,
    /// Apache combined access log lines as plain text, about 230 bytes each; a few do not have the format.
    AccessLog,
    /// JSON events around one tab-separated log line of a web edge with fifty fields, about 1.9 KB each.
    EdgeLog,
    /// Wide JSON events of a telemetry collector with terse field names, about 5.4 KB each.
    Telemetry,
}

impl Workload {
    /// The kind called `name` in scenario files, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "app_events" => Some(Self::AppEvents),
            "access_log" => Some(Self::AccessLog),
            "edge_log" => Some(Self::EdgeLog),
            "telemetry" => Some(Self::Telemetry),
            _ => None,
        }
    }

    /// Generates `count` lines without their line ends.
    pub fn lines(self, seed: u64, count: usize) -> Vec<String> {
        match self {
            Self::AppEvents => app_event_lines(seed, count),
            Self::AccessLog => access_log_lines(seed, count),
            Self::EdgeLog => edge_log_lines(seed, count),
            Self::Telemetry => telemetry_lines(seed, count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(Workload, usize); 4] = [
        (Workload::AppEvents, 630),
        (Workload::AccessLog, 230),
        (Workload::EdgeLog, 1_900),
        (Workload::Telemetry, 5_400),
    ];

    #[test]
    fn the_same_seed_gives_the_same_lines() {
        for (kind, _) in ALL {
            assert_eq!(kind.lines(7, 50), kind.lines(7, 50), "{kind:?}");
            assert_ne!(kind.lines(7, 50), kind.lines(8, 50), "{kind:?}");
        }
    }

    #[test]
    fn lines_have_the_size_that_is_promised() {
        for (kind, bytes) in ALL {
            let lines = kind.lines(1, 500);
            let mean = lines.iter().map(String::len).sum::<usize>() / lines.len();
            let off = mean.abs_diff(bytes) * 100 / bytes;
            assert!(off <= 10, "{kind:?}: {mean} bytes on average, {bytes} promised");
        }
    }

    #[test]
    fn no_line_breaks_inside_a_line() {
        for (kind, _) in ALL {
            assert!(kind.lines(3, 200).iter().all(|line| !line.contains('\n')), "{kind:?}");
        }
    }
}
