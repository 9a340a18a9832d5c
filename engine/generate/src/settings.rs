//! The settings of generators: from what stands behind `with` in a program, or on the command line, to a
//! spec.
//!
//! Invariant: a setting that is wrong is named, with what is expected; none is passed over.

mod rows;
mod files;
mod kinds;
mod timing;

pub use rows::SETTINGS;

pub(crate) use files::read_file;

use super::damage::Damage;
use super::disorder::Disorder;
use super::finder::Finder;
use super::relative::TimeWord;
use super::spec::Spec;
use super::tokens::Token;
use super::zone::Zone;
use std::path::PathBuf;
use temblor_declare::Settings;
use temblor_lang::units::parse_duration;

/// The kinds, for messages.
pub const KINDS: [&str; 15] = [
    "access",
    "counter",
    "firewall",
    "jinja",
    "json-app",
    "kubernetes",
    "lines",
    "replay",
    "sample",
    "syslog",
    "syslog-5424",
    "template",
    "weblog",
    "windbag",
    "windows-event",
];

/// Oversized events have at most so many bytes.
const OVERSIZE_BYTES_MAX: u64 = 1 << 30;

/// A setting that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// Which one.
    pub name: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl SettingError {
    /// What the reader of settings says of a name that a user gave.
    pub(super) fn of(name: &str, reason: String) -> Self {
        let row = SETTINGS.iter().find(|row| row.name == name);
        match row {
            Some(row) => Self { name: row.name, reason },
            None => Self { name: "settings", reason: format!("`{name}`: {reason}") },
        }
    }
}

/// What was set, on the way to a spec.
pub(super) struct Draft<'s> {
    settings: &'s Settings,
    zone: Zone,
}

type Read<T> = Result<T, SettingError>;

fn wrong<T>(name: &'static str, reason: impl Into<String>) -> Read<T> {
    Err(SettingError { name, reason: reason.into() })
}

/// A spec of a kind.
pub(super) fn spec(kind: &str, settings: &Settings) -> Read<Spec> {
    let mut draft = Draft { settings, zone: Zone::UTC };
    if let Some(text) = settings.optional_text("timezone") {
        draft.zone = Zone::parse(text).or_else(|reason| wrong("timezone", reason))?;
    }
    draft.spec(kind)
}

impl<'s> Draft<'s> {
    fn spec(&self, kind: &str) -> Read<Spec> {
        let (mut tables, mut rate) = (self.tables()?, self.rate()?);
        tables.zone = self.zone;
        let plan = self.plan(&mut rate)?;
        Ok(Spec {
            kind: self.kind(kind)?,
            count: self.settings.optional_whole("count"),
            rate,
            plan,
            tables,
            jitter: self.part("jitter"),
            seed: self.settings.whole("seed"),
            start: self.start()?,
            backfill: self.shown("backfill", '-')?,
            span_ns: self.duration("span"),
            wait_ns: self.duration("wait").unwrap_or(0),
            shown: (self.shown("earliest", '-')?, self.shown("latest", '+')?),
            disorder: self.disorder()?,
            truth: self.settings.optional_text("truth").map(PathBuf::from),
            envelope: self.envelope()?,
        })
    }

    fn disorder(&self) -> Read<Disorder> {
        let size = self.settings.optional_whole("oversize_bytes");
        if size.is_some_and(|size| size > OVERSIZE_BYTES_MAX) {
            return wrong("oversize_bytes", format!("must be at most {OVERSIZE_BYTES_MAX}"));
        }
        Ok(Disorder {
            loss: self.part("loss"),
            duplicate: self.part("duplicate"),
            reorder: self.part("reorder"),
            delay: self.settings.whole("delay"),
            burst: self.part("burst"),
            burst_events: self.settings.whole("burst_events"),
            skew_ns: self.settings.optional_signed("skew").unwrap_or(0),
            damage: Damage {
                truncate: self.part("truncate"),
                malform: self.part("malform"),
                oversize: self.part("oversize"),
                oversize_bytes: size.unwrap_or(Damage::default().oversize_bytes),
            },
            stream: self.settings.whole("stream"),
        })
    }

    /// A part of 1; 0 where nothing is said.
    fn part(&self, name: &'static str) -> f64 {
        self.settings.optional_number(name).unwrap_or(0.0)
    }

    fn text(&self, name: &'static str) -> Option<&'s str> {
        self.settings.optional_text(name)
    }

    /// Nanoseconds.
    fn duration(&self, name: &'static str) -> Option<u64> {
        let time = self.settings.optional_duration(name)?;
        Some(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// `"1h"` is as far before or after the event's own time; `"-1d@d"` and the like are words.
    fn shown(&self, name: &'static str, sign: char) -> Read<TimeWord> {
        use super::relative::{Step, Unit};
        let Some(text) = self.text(name) else { return Ok(TimeWord::Now) };
        if let Ok(word) = TimeWord::parse(text, &self.zone) {
            return Ok(word);
        }
        let Some(ns) = text.parse().ok().or_else(|| parse_duration(text)) else {
            return wrong(name, "must be a duration such as \"2h\", or a time such as \"-1d@d\"");
        };
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        let step = Step::Go(if sign == '-' { -ns } else { ns }, Unit::Nanosecond);
        Ok(if ns == 0 { TimeWord::Now } else { TimeWord::Steps(vec![step]) })
    }

    fn finder(&self, name: &'static str) -> Read<Option<Finder>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        Finder::new(text).map(Some).or_else(|reason| wrong(name, reason))
    }

    fn tokens_of(&self, name: &'static str) -> Read<Vec<Token>> {
        Ok(self.described(name)?.into_iter().map(|token| token.token).collect())
    }
}
