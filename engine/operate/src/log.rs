//! Temblor's own log, by `tracing`: text or JSON, a level that can be changed while it runs, and bounded repeats.
//! Without `--log` and `--log-format` there is none, and messages go to standard error as they are.
//!
//! Invariant: a message that comes again and again is written [`REPEATS_MAX`] times in a [`WINDOW`] and counted
//! from then on.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, reload};

/// How often the same message is written in a window.
pub const REPEATS_MAX: u32 = 5;
/// Different messages whose repeats are counted, at the most.
pub const MESSAGES_MAX: usize = 256;
/// The time in which repeats are counted together.
pub const WINDOW: Duration = Duration::from_secs(10);

/// The levels, from nothing to everything.
pub const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// How lines of the log look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Time, level and text.
    #[default]
    Text,
    /// An object a line.
    Json,
}

/// A log that has begun.
pub struct Log {
    filter: reload::Handle<LevelFilter, Registry>,
    repeats: Mutex<Repeats>,
}

impl Log {
    /// Begins the log of this process; there is one at most.
    ///
    /// # Errors
    /// A level that is none.
    pub fn begin(format: LogFormat, level: &str) -> Result<Self, String> {
        let (filter, handle) = reload::Layer::new(filter(level)?);
        let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
        let registry = tracing_subscriber::registry().with(filter);
        // A subscriber that is there already (in tests) stays.
        let _ = match format {
            LogFormat::Text => registry.with(lines).try_init(),
            LogFormat::Json => registry.with(lines.json().flatten_event(true)).try_init(),
        };
        Ok(Self { filter: handle, repeats: Mutex::default() })
    }

    /// Changes how much is written.
    ///
    /// # Errors
    /// A level that is none.
    pub fn set_level(&self, level: &str) -> Result<(), String> {
        let level = filter(level)?;
        self.filter.reload(level).map_err(|error| error.to_string())
    }

    /// Writes a message of the run; `error:`, `warning:` and `note:` in front say how grave it is.
    pub fn tell(&self, text: &str) {
        let now = Instant::now();
        let shown = self.repeats.lock().unwrap_or_else(PoisonError::into_inner).see(text, now);
        let Shown { repeated, is_shown } = shown;
        if repeated > 0 {
            tracing::warn!(repeated, "the same message came again: {}", first_line(text));
        }
        if !is_shown {
            return;
        }
        match text.split_once(": ") {
            Some(("error", said)) => tracing::error!("{said}"),
            Some(("warning", said)) => tracing::warn!("{said}"),
            Some(("note", said)) => tracing::info!("{said}"),
            _ => tracing::info!("{text}"),
        }
    }
}

fn filter(level: &str) -> Result<LevelFilter, String> {
    let known = LEVELS.contains(&level);
    let filter = known.then(|| level.parse().ok()).flatten();
    filter.ok_or_else(|| format!("`{level}` is no level; there are {}", LEVELS.join(", ")))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// How often messages have come.
#[derive(Debug, Default)]
struct Repeats(HashMap<String, Seen>);

#[derive(Debug)]
struct Seen {
    since: Instant,
    times: u32,
}

/// What becomes of a message.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    /// How often it came in the window before without having been written.
    repeated: u32,
    is_shown: bool,
}

impl Repeats {
    fn see(&mut self, text: &str, now: Instant) -> Shown {
        // Messages that differ in numbers only (ports, counts) are the same.
        let key: String = text.chars().filter(|one| !one.is_ascii_digit()).take(200).collect();
        if self.0.len() >= MESSAGES_MAX && !self.0.contains_key(&key) {
            self.0.retain(|_, seen| now.duration_since(seen.since) < WINDOW);
            if self.0.len() >= MESSAGES_MAX {
                return Shown { repeated: 0, is_shown: true };
            }
        }
        let seen = self.0.entry(key).or_insert(Seen { since: now, times: 0 });
        let mut repeated = 0;
        if now.duration_since(seen.since) >= WINDOW {
            repeated = seen.times.saturating_sub(REPEATS_MAX);
            *seen = Seen { since: now, times: 0 };
        }
        seen.times += 1;
        Shown { repeated, is_shown: seen.times <= REPEATS_MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_counted_and_told_in_the_next_window() {
        let (mut repeats, start) = (Repeats::default(), Instant::now());
        let shown =
            (0..9).filter(|port| repeats.see(&format!("warning: peer:{port}"), start).is_shown);
        assert_eq!(shown.count() as u32, REPEATS_MAX);
        assert!(repeats.see("warning: another", start).is_shown);
        let later = repeats.see("warning: peer:77", start + WINDOW);
        assert_eq!(later, Shown { repeated: 9 - REPEATS_MAX, is_shown: true });
    }

    #[test]
    fn what_is_remembered_of_messages_is_bounded() {
        let (mut repeats, start) = (Repeats::default(), Instant::now());
        let name = |number: usize| {
            number
                .to_string()
                .bytes()
                .map(|digit| char::from(digit - b'0' + b'a'))
                .collect::<String>()
        };
        for number in 0..2 * MESSAGES_MAX {
            assert!(repeats.see(&name(number), start).is_shown);
        }
        assert_eq!(repeats.0.len(), MESSAGES_MAX);
    }

    #[test]
    fn a_level_that_is_none_is_told() {
        assert!(filter("debug").is_ok());
        assert!(filter("loud").unwrap_err().contains("off, error, warn"));
    }
}
