//! The settings of generators: what stands behind `with` in a program, read and checked.
//!
//! Invariant: a setting that is wrong is named, with what is expected; none is passed over.

mod files;
mod kinds;
mod timing;

pub(crate) use files::read_file;

use super::damage::Damage;
use super::disorder::Disorder;
use super::finder::Finder;
use super::relative::TimeWord;
use super::spec::Spec;
use super::tokens::Token;
use super::zone::Zone;
use std::path::PathBuf;
use temblor_lang::program::Formula;
use temblor_lang::units::{parse_duration, parse_size};
use temblor_lang::value::{Arena, Value};

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

/// All settings, for messages.
pub const SETTINGS: [&str; 63] = [
    "amount",
    "backfill",
    "breaker",
    "bundle",
    "burst",
    "burst_events",
    "codec",
    "count",
    "count_type",
    "days",
    "delay",
    "directories",
    "draws",
    "duplicate",
    "earliest",
    "executions",
    "file",
    "files",
    "format",
    "host",
    "host_regex",
    "host_token",
    "hours",
    "index",
    "interval",
    "jitter",
    "latest",
    "lines",
    "loss",
    "malform",
    "minutes",
    "months",
    "output",
    "oversize",
    "oversize_bytes",
    "pause",
    "rate",
    "reorder",
    "restamp",
    "rounds",
    "sampletype",
    "seed",
    "sequential",
    "shuffle",
    "skew",
    "source",
    "sourcetype",
    "span",
    "speed",
    "spread",
    "start",
    "stream",
    "template",
    "time",
    "time_field",
    "timezone",
    "tokens",
    "truncate",
    "truth",
    "until",
    "variables",
    "wait",
    "weekdays",
];

/// Events can be this many places late.
const DELAY_MAX: u64 = 1_000_000;
/// A burst has at most so many events.
const BURST_EVENTS_MAX: u64 = 1_000_000;
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

/// Settings, and where what is read of them lives.
pub(super) struct Settings<'a> {
    record: Value<'a>,
    arena: &'a Arena,
    zone: Zone,
}

type Read<T> = Result<T, SettingError>;

fn wrong<T>(name: &'static str, reason: impl Into<String>) -> Read<T> {
    Err(SettingError { name, reason: reason.into() })
}

impl<'a> Settings<'a> {
    /// The settings in a record.
    pub(super) fn of(record: Value<'a>, arena: &'a Arena) -> Self {
        Settings { record, arena, zone: Zone::UTC }
    }

    /// A spec of a kind.
    pub(super) fn spec(mut self, kind: &str, template: Option<Formula>) -> Read<Spec> {
        if let Some(text) = self.text("timezone")? {
            self.zone = Zone::parse(text).or_else(|reason| wrong("timezone", reason))?;
        }
        let (mut tables, mut rate) = (self.tables()?, self.rate()?);
        tables.zone = self.zone;
        let plan = self.plan(&mut rate)?;
        Ok(Spec {
            kind: self.kind(kind, template)?,
            count: self.whole("count")?,
            rate,
            plan,
            tables,
            jitter: self.part("jitter")?,
            seed: self.whole("seed")?.unwrap_or(0),
            start: self.start()?,
            backfill: self.shown("backfill", '-')?,
            span_ns: self.duration("span")?,
            wait_ns: self.duration("wait")?.unwrap_or(0),
            shown: (self.shown("earliest", '-')?, self.shown("latest", '+')?),
            disorder: self.disorder()?,
            truth: self.text("truth")?.map(PathBuf::from),
            envelope: self.envelope()?,
        })
    }

    fn disorder(&self) -> Read<Disorder> {
        let size = self.size("oversize_bytes")?;
        if size.is_some_and(|size| size > OVERSIZE_BYTES_MAX) {
            return wrong("oversize_bytes", format!("must be at most {OVERSIZE_BYTES_MAX}"));
        }
        Ok(Disorder {
            loss: self.part("loss")?,
            duplicate: self.part("duplicate")?,
            reorder: self.part("reorder")?,
            delay: self.whole("delay")?.unwrap_or(10).min(DELAY_MAX),
            burst: self.part("burst")?,
            burst_events: self.whole("burst_events")?.unwrap_or(100).min(BURST_EVENTS_MAX),
            skew_ns: self.signed_duration("skew")?,
            damage: Damage {
                truncate: self.part("truncate")?,
                malform: self.part("malform")?,
                oversize: self.part("oversize")?,
                oversize_bytes: size.unwrap_or(Damage::default().oversize_bytes),
            },
            stream: self.whole("stream")?.unwrap_or(0),
        })
    }

    fn get(&self, name: &str) -> Option<Value<'a>> {
        self.record.as_record(self.arena)?.get(name)
    }

    fn fields(&self, value: Value<'a>) -> Vec<(&'a str, Value<'a>)> {
        value.as_record(self.arena).map_or(Vec::new(), |record| record.iter().collect())
    }

    fn number(&self, name: &'static str, low: f64, high: f64) -> Read<Option<f64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.as_f64().filter(|number| (low..=high).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => wrong(name, format!("must be a number from {low} to {high}")),
        }
    }

    /// A part of 1; 0 where nothing is said.
    fn part(&self, name: &'static str) -> Read<f64> {
        Ok(self.number(name, 0.0, 1.0)?.unwrap_or(0.0))
    }

    fn whole(&self, name: &'static str) -> Read<Option<u64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_u64().map_or_else(|| wrong(name, "must be a whole number"), |n| Ok(Some(n)))
    }

    fn text(&self, name: &'static str) -> Read<Option<&'a str>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_str().map_or_else(|| wrong(name, "must be a string"), |text| Ok(Some(text)))
    }

    /// A string or a list of strings.
    fn texts(&self, name: &'static str) -> Read<Vec<String>> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        if let Some(text) = value.as_str() {
            return Ok(vec![text.to_string()]);
        }
        let list = value.as_array(self.arena).map(|list| list.iter().map(|item| item.as_str()));
        let texts = list.and_then(|list| list.map(|item| item.map(str::to_string)).collect());
        texts.map_or_else(|| wrong(name, "must be a string or a list of strings"), Ok)
    }

    fn flag(&self, name: &'static str) -> Read<bool> {
        let Some(value) = self.get(name) else { return Ok(false) };
        value.as_bool().map_or_else(|| wrong(name, "must be true or false"), Ok)
    }

    fn size(&self, name: &'static str) -> Read<Option<u64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let size = value.as_u64().or_else(|| parse_size(value.as_str()?));
        size.map_or_else(|| wrong(name, "must be a size such as \"64KiB\""), |size| Ok(Some(size)))
    }

    fn duration(&self, name: &'static str) -> Read<Option<u64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let ns = value.as_u64().or_else(|| parse_duration(value.as_str()?));
        ns.map_or_else(|| wrong(name, "must be a duration such as \"2h\""), |ns| Ok(Some(ns)))
    }

    /// A duration that may be negative.
    fn signed_duration(&self, name: &'static str) -> Read<i64> {
        let Some(value) = self.get(name) else { return Ok(0) };
        let read = || {
            let text = value.as_str()?;
            let (sign, text) = match text.strip_prefix('-') {
                Some(text) => (-1, text),
                None => (1, text.strip_prefix('+').unwrap_or(text)),
            };
            Some(sign * i64::try_from(parse_duration(text)?).ok()?)
        };
        match value.as_i64().or_else(read) {
            Some(ns) => Ok(ns),
            None => wrong(name, "must be a duration such as \"2s\" or \"-500ms\""),
        }
    }

    /// `"1h"` is as far before or after the event's own time; `"-1d@d"` and the like are words.
    fn shown(&self, name: &'static str, sign: char) -> Read<TimeWord> {
        use super::relative::{Step, Unit};
        let Some(value) = self.get(name) else { return Ok(TimeWord::Now) };
        if let Some(text) = value.as_str()
            && let Ok(word) = TimeWord::parse(text, &self.zone)
        {
            return Ok(word);
        }
        let ns = self.duration(name)?.unwrap_or(0);
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        let step = Step::Go(if sign == '-' { -ns } else { ns }, Unit::Nanosecond);
        Ok(if ns == 0 { TimeWord::Now } else { TimeWord::Steps(vec![step]) })
    }

    fn finder(&self, name: &'static str) -> Read<Option<Finder>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        Finder::new(text).map(Some).or_else(|reason| wrong(name, reason))
    }

    fn tokens_of(&self, name: &'static str) -> Read<Vec<Token>> {
        Ok(self.described(name)?.into_iter().map(|token| token.token).collect())
    }
}
