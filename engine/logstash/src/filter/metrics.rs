//! `metrics`: counts events and measures values; every few seconds an event tells the figures. The
//! counted events are not touched.

use super::{Declaration, Filter, Outcome, Shelf, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option};
use crate::saved;
use chrono::Duration;
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;
use temblor_ruby::plain;

/// `metrics`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "metrics",
    doc: "Counts events and measures values.",
    options: &[
        option("meter", Takes::List, "Names of what is counted."),
        option("timer", Takes::Hash, "Names of what is measured, with the value."),
        option("flush_interval", Takes::Number, "Seconds between two events with figures."),
        option(
            "clear_interval",
            Takes::Number,
            "Seconds after which figures begin anew; -1: never.",
        ),
        option("rates", Takes::List, "Which rates are told: 1, 5, 15 minutes."),
        option("percentiles", Takes::List, "Which percentiles are told."),
        option("ignore_older_than", Takes::Number, "Older events, in seconds, are not counted."),
    ],
    make,
};

/// Seconds between two ticks.
const TICK_SECONDS: f64 = 5.0;
/// Values of which percentiles are made.
const SAMPLE_MAX: usize = 1028;
/// Different names that are counted.
const NAMES_MAX: usize = 10_000;

#[derive(Debug)]
struct Metrics {
    meters: Vec<Template>,
    timers: Vec<(Template, Template)>,
    flush_interval: f64,
    clear_interval: f64,
    rates: Vec<i64>,
    percentiles: Vec<f64>,
    ignore_older_than: f64,
    host: String,
}

/// A moving average of events a second, over some minutes.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    value: f64,
    begun: bool,
}

#[derive(Debug, Default)]
struct Figures {
    count: u64,
    /// Since the last tick.
    fresh: u64,
    /// By minutes, in the order of `rates`.
    rates: Vec<Rate>,
    min: f64,
    max: f64,
    mean: f64,
    /// Sum of the squares of differences (Welford's method).
    spread: f64,
    sample: VecDeque<f64>,
}

#[derive(Default)]
struct Gathered {
    meters: BTreeMap<String, Figures>,
    timers: BTreeMap<String, Figures>,
    since_flush: f64,
    since_clear: f64,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let numbers = |texts: Option<Vec<(String, _)>>, default: &[f64]| -> Vec<f64> {
        match texts {
            Some(texts) => texts.iter().filter_map(|(text, _)| text.parse().ok()).collect(),
            None => default.to_vec(),
        }
    };
    let rates = numbers(arguments.texts("rates"), &[1.0, 5.0, 15.0]);
    if rates.iter().any(|rate| ![1.0, 5.0, 15.0].contains(rate)) {
        let span = arguments.place("rates");
        arguments.complain(complain::bad_value("rates", span, "a list of 1, 5 and 15"));
    }
    let meters = arguments.texts("meter").unwrap_or_default();
    let timers = arguments.pairs("timer");
    Some(Box::new(Metrics {
        meters: meters.iter().map(|(text, _)| Template::parse(text)).collect(),
        timers: timers
            .iter()
            .filter_map(|(name, value)| {
                Some((Template::parse(name), Template::parse(value.text()?)))
            })
            .collect(),
        flush_interval: arguments.number("flush_interval").unwrap_or(5.0),
        clear_interval: arguments.number("clear_interval").unwrap_or(-1.0),
        rates: rates.iter().map(|rate| *rate as i64).collect(),
        percentiles: numbers(
            arguments.texts("percentiles"),
            &[1.0, 5.0, 10.0, 90.0, 95.0, 99.0, 100.0],
        ),
        ignore_older_than: arguments.number("ignore_older_than").unwrap_or(0.0),
        host: gethostname::gethostname().to_string_lossy().into_owned(),
    }))
}

impl Figures {
    /// Counts and figures, the rates, and the sample.
    fn save(&self) -> Datum<'static> {
        let counts = [self.count, self.fresh].map(Datum::whole);
        let figures = [self.min, self.max, self.mean, self.spread].map(Datum::Float);
        let rate = |rate: &Rate| [Datum::Float(rate.value), Datum::Bool(rate.begun)];
        let rates = Datum::List(self.rates.iter().flat_map(rate).collect());
        let sample = Datum::List(self.sample.iter().copied().map(Datum::Float).collect());
        Datum::List(counts.into_iter().chain(figures).chain([rates, sample]).collect())
    }

    fn restore(saved: &Datum<'_>) -> Option<Self> {
        let parts = saved::list(Some(saved))?;
        let number = |at: usize| saved::number(parts.get(at));
        let count = |at: usize| u64::try_from(saved::whole(parts.get(at))?).ok();
        let rate = |pair: &[Datum<'_>]| {
            let value = saved::number(pair.first())?;
            Some(Rate { value, begun: pair.get(1) == Some(&Datum::Bool(true)) })
        };
        let sample = saved::list(parts.get(7))?.iter();
        Some(Self {
            count: count(0)?,
            fresh: count(1)?,
            min: number(2)?,
            max: number(3)?,
            mean: number(4)?,
            spread: number(5)?,
            rates: saved::list(parts.get(6))?.chunks(2).map(rate).collect::<Option<_>>()?,
            sample: sample.map(|one| saved::number(Some(one))).collect::<Option<_>>()?,
        })
    }

    fn mark(&mut self) {
        self.count += 1;
        self.fresh += 1;
    }

    fn measure(&mut self, value: f64) {
        self.mark();
        (self.min, self.max) = match self.count {
            1 => (value, value),
            _ => (self.min.min(value), self.max.max(value)),
        };
        let old = self.mean;
        self.mean += (value - old) / self.count as f64;
        self.spread += (value - old) * (value - self.mean);
        if self.sample.len() == SAMPLE_MAX {
            self.sample.pop_front();
        }
        self.sample.push_back(value);
    }

    fn tick(&mut self, minutes: &[i64]) {
        self.rates.resize(minutes.len(), Rate::default());
        let now = self.fresh as f64 / TICK_SECONDS;
        for (rate, minutes) in self.rates.iter_mut().zip(minutes) {
            let weight = 1.0 - (-TICK_SECONDS / 60.0 / *minutes as f64).exp();
            rate.value = if rate.begun { rate.value + weight * (now - rate.value) } else { now };
            rate.begun = true;
        }
        self.fresh = 0;
    }

    fn deviation(&self) -> f64 {
        if self.count > 1 { (self.spread / (self.count - 1) as f64).sqrt() } else { 0.0 }
    }

    fn percentile(&self, sorted: &[f64], percent: f64) -> f64 {
        if sorted.is_empty() {
            return 0.0;
        }
        let place = percent / 100.0 * (sorted.len() + 1) as f64;
        if place < 1.0 {
            return sorted[0];
        }
        let at = place as usize;
        if at >= sorted.len() {
            return sorted[sorted.len() - 1];
        }
        sorted[at - 1] + (place - place.floor()) * (sorted[at] - sorted[at - 1])
    }
}

fn entry<'g>(all: &'g mut BTreeMap<String, Figures>, name: &str) -> Option<&'g mut Figures> {
    if !all.contains_key(name) {
        if all.len() >= NAMES_MAX {
            return None;
        }
        all.insert(name.to_string(), Figures::default());
    }
    all.get_mut(name)
}

/// What is saved of a meter or timer.
static SHELVES: [Shelf; 2] = [
    Shelf { name: "meter", at: Some(0), columns: &FIGURES, rest: None },
    Shelf { name: "timer", at: Some(1), columns: &FIGURES, rest: None },
];
const FIGURES: [&str; 8] = ["count", "fresh", "min", "max", "mean", "spread", "rates", "sample"];

impl Filter for Metrics {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Gathered::default()))
    }

    fn shelves(&self) -> &'static [Shelf] {
        &SHELVES
    }

    fn save<'a>(&self, memory: &dyn Any, arena: &'a Arena) -> Datum<'a> {
        let Some(gathered) = memory.downcast_ref::<Gathered>() else { return Datum::Null };
        let all = |figures: &BTreeMap<String, Figures>| {
            let entries = figures.iter().map(|(name, figures)| (arena.str(name), figures));
            saved::map(entries, arena, |figures| figures.save())
        };
        let times = [gathered.since_flush, gathered.since_clear].map(Datum::Float);
        let parts = [all(&gathered.meters), all(&gathered.timers)];
        Datum::List(parts.into_iter().chain(times).collect())
    }

    fn restore(&self, saved: &Datum<'_>) -> Option<Box<dyn Any + Send>> {
        let parts = saved::list(Some(saved))?;
        Some(Box::new(Gathered {
            meters: saved::entries(parts.first(), Figures::restore)?,
            timers: saved::entries(parts.get(1), Figures::restore)?,
            since_flush: saved::number(parts.get(2))?,
            since_clear: saved::number(parts.get(3))?,
        }))
    }

    fn wants_ticks(&self) -> bool {
        true
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let limit = Duration::milliseconds((self.ignore_older_than * 1e3) as i64);
        if self.ignore_older_than > 0.0
            && event.timestamp().is_some_and(|time| turn.now - time > limit)
        {
            return Outcome::Unmatched;
        }
        let gathered = turn.memory.downcast_mut::<Gathered>().expect("the memory of this filter");
        for name in &self.meters {
            let name = name.render(event, turn.arena, turn.now);
            if let Some(figures) = entry(&mut gathered.meters, name) {
                figures.mark();
            }
        }
        for (name, value) in &self.timers {
            let name = name.render(event, turn.arena, turn.now);
            let value = plain::leading_float(value.render(event, turn.arena, turn.now));
            if let Some(figures) = entry(&mut gathered.timers, name) {
                figures.measure(value);
            }
        }
        Outcome::Unmatched
    }

    fn tick<'a>(&'a self, turn: &mut Turn<'a, '_>, _last: bool) {
        let (arena, now) = (turn.arena, turn.now);
        let gathered = turn.memory.downcast_mut::<Gathered>().expect("the memory of this filter");
        gathered.since_flush += TICK_SECONDS;
        gathered.since_clear += TICK_SECONDS;
        for figures in gathered.meters.values_mut().chain(gathered.timers.values_mut()) {
            figures.tick(&self.rates);
        }
        let empty = gathered.meters.is_empty() && gathered.timers.is_empty();
        if gathered.since_flush < self.flush_interval || empty {
            return;
        }
        gathered.since_flush = 0.0;
        let mut event = LogEvent::new(Map::default(), now);
        event.data.insert("message", Datum::Str(&self.host));
        for (name, figures) in gathered.meters.iter().chain(&gathered.timers) {
            let timed = gathered.timers.contains_key(name);
            self.put(&mut event, name, figures, timed, arena);
        }
        if self.clear_interval > 0.0 && gathered.since_clear >= self.clear_interval {
            *gathered = Gathered::default();
        }
        turn.emit(event);
    }
}

impl Metrics {
    fn put<'a>(
        &self,
        event: &mut LogEvent<'a>,
        name: &str,
        figures: &Figures,
        timed: bool,
        arena: &'a temblor_lang::value::Arena,
    ) {
        // A name such as `http_%{code}` may itself be a reference.
        let base =
            FieldRef::parse(name).unwrap_or(FieldRef { metadata: false, steps: vec![name.into()] });
        let mut set = |key: &str, value: Datum<'a>| {
            let _ = event.set(&base.join(&[key.into()]), value, arena);
        };
        set("count", Datum::whole(figures.count));
        for (rate, minutes) in figures.rates.iter().zip(&self.rates) {
            set(&format!("rate_{minutes}m"), Datum::Float(rate.value));
        }
        if !timed {
            return;
        }
        set("min", Datum::Float(figures.min));
        set("max", Datum::Float(figures.max));
        set("stddev", Datum::Float(figures.deviation()));
        set("mean", Datum::Float(figures.mean));
        let mut sorted: Vec<f64> = figures.sample.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        for percent in &self.percentiles {
            let value = figures.percentile(&sorted, *percent);
            set(&format!("p{percent}"), Datum::Float(value));
        }
    }
}
