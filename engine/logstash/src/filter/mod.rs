//! The filters, each declared once beside its code: name, options with their documentation, and how
//! a filter is made of them. A filter never fails an event: what goes wrong becomes a tag.

mod common;
mod clone;
mod csv;
mod date;
mod dissect;
mod drop;
mod fingerprint;
mod grok;
mod json;
mod kv;
pub(crate) mod mutate;
mod ruby;
mod split;
mod throttle;
mod age;
mod aggregate;
mod alter;
mod bytes;
mod dns;
mod elapsed;
mod geoip;
mod http;
mod math;
mod metricize;
mod metrics;
mod range;
mod sleep;
mod xml;
mod cidr;
mod de_dot;
mod json_encode;
mod prune;
mod syslog_pri;
mod translate;
mod truncate;
mod urldecode;
mod useragent;
mod uuid;
mod anonymize;
mod checksum;
mod environment;
mod extractnumbers;
mod i18n;
mod tld;

pub use common::add;

pub(crate) use common::Added;

pub(crate) use common::Common;

pub(crate) use common::Name;

pub(crate) use common::added_texts;

pub(crate) use common::ruby_text;

pub(crate) use common::ruby_to_s;

pub(super) use grok::library as grok_library;
pub(super) use json::read as read_json;
pub(crate) use syslog_pri::{FACILITIES, SEVERITIES};

use super::options::{Arguments, OptionSpec};
use chrono::{DateTime, Utc};
use std::any::Any;
use std::fmt::Debug;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_stdlib::grok::Captures;

/// What a filter did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded: the common options apply.
    Matched,
    /// It had nothing to do, or failed.
    Unmatched,
}

/// How a table of what a filter saves is to be read: `{key: [column, …]}`.
#[derive(Debug)]
pub struct Shelf {
    /// What it is called beside other tables of the filter; empty for the only one.
    pub name: &'static str,
    /// Where it is in a list that is saved; `None` when it is all that is saved.
    pub at: Option<usize>,
    /// The names of the leading items of each row.
    pub columns: &'static [&'static str],
    /// The name of all items behind them.
    pub rest: Option<&'static str>,
}

/// A filter of a configuration; it never changes while it runs.
pub trait Filter: Send + Sync + Debug {
    /// Takes one event.
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome;

    /// What it remembers from event to event, before the first.
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        None
    }

    /// What it remembers, for `--state`.
    fn save<'a>(&self, memory: &dyn Any, arena: &'a Arena) -> Datum<'a> {
        let _ = (memory, arena);
        Datum::Null
    }

    /// The memory that [`Filter::save`] gave; `None` when it is not of that shape.
    fn restore(&self, saved: &Datum<'_>) -> Option<Box<dyn Any + Send>> {
        let _ = saved;
        self.memory()
    }

    /// How what it saves is to be read by a person.
    fn shelves(&self) -> &'static [Shelf] {
        &[]
    }

    /// Filters that give the same name share what they remember.
    fn shares_memory(&self) -> Option<&str> {
        None
    }

    /// Whether what it remembers changes nothing that comes out.
    fn remembers_only_to_be_fast(&self) -> bool {
        false
    }

    /// Whether it waits for others, and would rather do so once for many events: then [`Filter::notes`] takes
    /// the place of its memory while the events of a batch are gone through ahead.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// What it remembers while events are gone through ahead; nothing of that comes out.
    fn notes(&self) -> Option<Box<dyn Any + Send>> {
        self.memory()
    }

    /// The end of going through events ahead: `notes` are the filter's own.
    fn noted(&self, notes: Box<dyn Any + Send>, now: DateTime<Utc>) {
        let _ = (notes, now);
    }

    /// Whether [`Filter::tick`] does anything.
    fn wants_ticks(&self) -> bool {
        false
    }

    /// Lets time pass, every [`TICK_SECONDS`]; the last time is at the end of the input.
    fn tick<'a>(&'a self, turn: &mut Turn<'a, '_>, last: bool) {
        let _ = (turn, last);
    }
}

/// Seconds between two ticks, as in Logstash.
pub(crate) const TICK_SECONDS: u64 = 5;

/// What a filter sees besides the event.
pub struct Turn<'a, 'r> {
    /// Where texts are built.
    pub arena: &'a Arena,
    /// The time.
    pub now: DateTime<Utc>,
    /// The common options of the filter.
    pub common: &'a Common,
    /// Further events.
    pub emitted: &'r mut Vec<LogEvent<'a>>,
    /// See [`Filter::memory`].
    pub memory: &'r mut dyn Any,
    /// Memory of grok.
    pub captures: &'r mut Captures,
    /// Where random numbers come from.
    pub random: &'r mut Random,
    /// Nanoseconds that are to pass before the next event.
    pub(crate) delay_ns: &'r mut u64,
}

impl<'a> Turn<'a, '_> {
    /// Adds tags that say that the filter failed.
    pub(crate) fn fail(&self, event: &mut LogEvent<'a>, tags: &'a [String]) -> Outcome {
        tags.iter().for_each(|tag| event.tag(tag));
        Outcome::Unmatched
    }

    /// Sends a further event, which gets the common options.
    pub(crate) fn emit(&mut self, mut event: LogEvent<'a>) {
        self.common.apply(&mut event, self.arena, self.now);
        self.emitted.push(event);
    }
}

/// Random numbers that differ from run to run.
#[derive(Debug)]
pub struct Random(temblor_generate::Random);

impl Random {
    /// A sequence that no other run has.
    #[must_use]
    pub fn new() -> Self {
        use std::hash::{BuildHasher, Hasher};
        let seed = std::hash::RandomState::new().build_hasher().finish();
        Self(temblor_generate::Random::seeded(seed))
    }

    /// The next number.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A random UUID (RFC 9562, version 4).
    pub fn uuid(&mut self) -> String {
        let bits = (u128::from(self.bits()) << 64) | u128::from(self.bits());
        let bits = bits & !(0xF << 76) | (0x4 << 76);
        let bits = bits & !(0x3 << 62) | (0x2 << 62);
        let hex = format!("{bits:032x}");
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

/// A filter as it is declared.
#[derive(Debug)]
pub struct Declaration {
    /// Its name.
    pub name: &'static str,
    /// What it does, one sentence.
    pub doc: &'static str,
    /// Its own options.
    pub options: &'static [OptionSpec],
    /// Makes a filter; `None` when the options are wrong, which has been said.
    pub make: fn(&mut Arguments<'_>) -> Option<Box<dyn Filter>>,
}

/// All filters.
pub static FILTERS: &[&Declaration] = &[
    &mutate::DECLARATION,
    &grok::DECLARATION,
    &dissect::DECLARATION,
    &date::DECLARATION,
    &json::DECLARATION,
    &kv::DECLARATION,
    &csv::DECLARATION,
    &translate::DECLARATION,
    &drop::DECLARATION,
    &clone::DECLARATION,
    &split::DECLARATION,
    &fingerprint::DECLARATION,
    &throttle::DECLARATION,
    &ruby::DECLARATION,
    &urldecode::DECLARATION,
    &syslog_pri::DECLARATION,
    &uuid::DECLARATION,
    &uuid::JAVA,
    &truncate::DECLARATION,
    &json_encode::DECLARATION,
    &cidr::DECLARATION,
    &prune::DECLARATION,
    &de_dot::DECLARATION,
    &aggregate::DECLARATION,
    &metrics::DECLARATION,
    &elapsed::DECLARATION,
    &sleep::DECLARATION,
    &xml::DECLARATION,
    &geoip::DECLARATION,
    &dns::DECLARATION,
    &http::DECLARATION,
    &bytes::DECLARATION,
    &alter::DECLARATION,
    &range::DECLARATION,
    &useragent::DECLARATION,
    &anonymize::DECLARATION,
    &checksum::DECLARATION,
    &environment::DECLARATION,
    &extractnumbers::DECLARATION,
    &i18n::DECLARATION,
    &tld::DECLARATION,
    &age::DECLARATION,
    &metricize::DECLARATION,
    &math::DECLARATION,
];
