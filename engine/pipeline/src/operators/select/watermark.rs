//! How far event time has come: behind the watermark nothing more is waited for. Each source, and each
//! partition of a source that has some, goes at its own pace; the slowest that is not idle counts.
//!
//! Invariant: the watermark never goes back, and no clock moves it: only events do.

use super::saving::{items, part, text, whole};
use crate::event::Event;
use crate::operator::Surroundings;
use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Key, Value};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Metadata that names topic and partition of an event.
const PARTITIONED: [&str; 2] = ["kafka", "kafka_consumer"];
/// Partitions that are told apart; the events of further ones go by one pace together.
const PARTITIONS_MAX: usize = 65_536;
/// A pause in which nothing comes at all counts as this part of the time after which a partition is idle, at
/// the most: a run that stood still for long has not had an idle partition for that.
const PAUSE_PART: u64 = 8;

/// What is known of a partition, or of a source without any.
#[derive(Debug)]
struct Pace {
    source: u64,
    topic: Box<str>,
    partition: u64,
    /// The newest time of its events.
    newest_ns: u64,
    /// When its last event came, by the time in which events come.
    seen_ns: u64,
    is_idle: bool,
}

/// How far event time has come.
#[derive(Debug, Default)]
pub(super) struct Watermark {
    paces: Vec<Pace>,
    /// Places in `paces` by what names them.
    places: halfbrown::HashMap<u64, usize>,
    /// Nothing before this time is waited for.
    at_ns: u64,
    /// The time in which events came, without long pauses.
    active_ns: u64,
    /// When the last event came.
    now_ns: u64,
    /// The place of the partition that was slowest when they were looked at last.
    slowest: usize,
    /// When that was.
    looked_ns: u64,
    /// A topic began then: its other partitions get time to give their first events.
    began_ns: Option<u64>,
}

/// What bounds the watermark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// How far behind the newest event it stays.
    pub late_ns: u64,
    /// After so long without an event a partition is left out.
    pub idle_ns: u64,
}

/// What tells a partition from others.
struct Name<'a> {
    source: u64,
    /// Empty for a source without partitions.
    topic: &'a str,
    partition: u64,
}

impl<'a> Name<'a> {
    fn of(event: &Event<'a>, around: &Surroundings<'a>) -> Self {
        let source = around.token.map_or(0, |token| token.identity().0 as u64);
        let named = PARTITIONED.iter().find_map(|field| {
            let about = event.meta.get(&Key::new(field))?;
            let topic = about.get(&Key::new("topic"))?.as_str()?;
            Some((topic, about.get(&Key::new("partition"))?.as_u64()?))
        });
        let (topic, partition) = named.unwrap_or(("", 0));
        Self { source, topic, partition }
    }

    fn hash(&self) -> u64 {
        xxh3_64_with_seed(self.topic.as_bytes(), self.source << 32 ^ self.partition)
    }
}

impl Watermark {
    /// Nothing before this time is waited for, in nanoseconds since 1970-01-01 UTC.
    pub(super) fn at_ns(&self) -> u64 {
        self.at_ns
    }

    /// The number of the partition that an event came from.
    pub(super) fn place<'a>(
        &mut self,
        event: &Event<'a>,
        around: &Surroundings<'a>,
        bounds: Bounds,
    ) -> usize {
        let pause = around.now_ns.saturating_sub(self.now_ns);
        self.now_ns = self.now_ns.max(around.now_ns);
        self.active_ns += pause.min(bounds.idle_ns.div_ceil(PAUSE_PART));
        let mut name = Name::of(event, around);
        if self.paces.len() >= PARTITIONS_MAX && !self.places.contains_key(&name.hash()) {
            name = Name { source: u64::MAX, topic: "", partition: 0 };
        }
        match self.places.get(&name.hash()) {
            Some(place) => *place,
            None => self.add(&name),
        }
    }

    fn add(&mut self, name: &Name<'_>) -> usize {
        let is_same = |one: &Pace| one.source == name.source && *one.topic == *name.topic;
        if !name.topic.is_empty() && !self.paces.iter().any(is_same) {
            self.began_ns = Some(self.active_ns);
        }
        let place = self.paces.len();
        self.places.insert(name.hash(), place);
        self.paces.push(Pace {
            source: name.source,
            topic: name.topic.into(),
            partition: name.partition,
            newest_ns: 0,
            seen_ns: self.active_ns,
            // It counts from its first event.
            is_idle: true,
        });
        place
    }

    /// An event of a partition has this time.
    pub(super) fn advance(&mut self, place: usize, time_ns: u64, bounds: Bounds) {
        let active_ns = self.active_ns;
        let pace = &mut self.paces[place];
        pace.newest_ns = pace.newest_ns.max(time_ns);
        let was_idle = std::mem::replace(&mut pace.is_idle, false);
        pace.seen_ns = active_ns;
        if let Some(began_ns) = self.began_ns {
            if active_ns.saturating_sub(began_ns) < bounds.idle_ns {
                return;
            }
            self.began_ns = None;
            return self.look(bounds);
        }
        if self.has_moved(place, was_idle, bounds) {
            self.look(bounds);
        }
    }

    /// Whether the slowest partition may be another one, or further on, since an event of `place` came.
    fn has_moved(&self, place: usize, was_idle: bool, bounds: Bounds) -> bool {
        let since_ns = self.active_ns.saturating_sub(self.looked_ns);
        was_idle || place == self.slowest || since_ns >= bounds.idle_ns.div_ceil(PAUSE_PART)
    }

    /// Finds the slowest partition that is not idle.
    fn look(&mut self, bounds: Bounds) {
        let active_ns = self.active_ns;
        self.looked_ns = active_ns;
        let only = self.paces.len() == 1;
        let mut newest_ns = u64::MAX;
        for (place, pace) in self.paces.iter_mut().enumerate() {
            pace.is_idle |= !only && active_ns.saturating_sub(pace.seen_ns) >= bounds.idle_ns;
            if !pace.is_idle && pace.newest_ns < newest_ns {
                (newest_ns, self.slowest) = (pace.newest_ns, place);
            }
        }
        if newest_ns < u64::MAX {
            self.at_ns = self.at_ns.max(newest_ns.saturating_sub(bounds.late_ns));
        }
    }

    pub(super) fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        let paces = self.paces.iter().map(|pace| {
            let mut record = arena.record_builder(6);
            record.append("source", Value::UInt(pace.source));
            record.append("topic", Value::Str(arena.str(&pace.topic)));
            record.append("partition", Value::UInt(pace.partition));
            record.append("newest", Value::UInt(pace.newest_ns));
            record.append("seen", Value::UInt(pace.seen_ns));
            record.append("idle", Value::Bool(pace.is_idle));
            record.finish()
        });
        let paces = arena.array(paces);
        let mut record = arena.record_builder(7);
        record.append("slowest", Value::UInt(self.slowest as u64));
        record.append("looked", Value::UInt(self.looked_ns));
        record.append("at", Value::UInt(self.at_ns));
        record.append("active", Value::UInt(self.active_ns));
        record.append("now", Value::UInt(self.now_ns));
        record.append("began", self.began_ns.map_or(Value::Null, Value::UInt));
        record.append("paces", paces);
        record.finish()
    }

    pub(super) fn restore<'a>(saved: Value<'a>, arena: &'a Arena) -> Result<Self, CallError> {
        let mut watermark = Self {
            at_ns: whole(saved, "at")?,
            active_ns: whole(saved, "active")?,
            now_ns: whole(saved, "now")?,
            slowest: usize::try_from(whole(saved, "slowest")?).unwrap_or(0),
            looked_ns: whole(saved, "looked")?,
            ..Self::default()
        };
        for saved in items(saved, "paces", arena)? {
            let topic = text(*saved, "topic")?;
            let (source, partition) = (whole(*saved, "source")?, whole(*saved, "partition")?);
            let place = watermark.add(&Name { source, topic, partition });
            let pace = &mut watermark.paces[place];
            (pace.newest_ns, pace.seen_ns) = (whole(*saved, "newest")?, whole(*saved, "seen")?);
            pace.is_idle = part(*saved, "idle")?.as_bool().unwrap_or(false);
        }
        watermark.began_ns = part(saved, "began")?.as_u64();
        Ok(watermark)
    }
}
