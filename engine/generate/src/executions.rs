//! Events that come at intervals: so many at each execution, all at once or spread over the interval.
//!
//! Invariant: executions of the past (the back-fill) are not counted against the number that is asked for, and
//! a volume that one execution exceeds is taken off the next.

use super::rate::Tables;
use super::relative::TimeWord;
use super::{Moment, Random};
use temblor_runtime::clock::Timestamp;

/// Executions without any event after which a generator ends: a table of zeros would never end.
const SILENT_EXECUTIONS_MAX: u32 = 1_000_000;

/// Jitter changes the volume of a day by this part at most.
const DAY_ERROR: f64 = 0.01;

/// What a volume is of when there is one execution only.
const DAY_NS: u64 = 86_400_000_000_000;

/// How events are spread over executions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Time from one execution to the next; 0: there is one only.
    pub interval_ns: u64,
    /// How much each has.
    pub amount: Amount,
    /// How many there are, without those of the past; for ever without it.
    pub count: Option<u64>,
    /// None begins at this time or later.
    pub until: Option<TimeWord>,
    /// Whether events come evenly over the interval.
    pub(crate) is_spread: bool,
}

/// How much an execution has, before rates are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Amount {
    /// All that the generator has.
    #[default]
    Whole,
    /// So many events.
    Events(u64),
    /// So many bytes a second of the interval.
    BytesPerSecond(f64),
}

/// When the stream's time begins, and what its events may show.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// The first execution; those before `live_from` are of the past.
    pub first: Timestamp,
    /// Where the past ends.
    pub(crate) live_from: Timestamp,
    /// The earliest time that an event shows, seen from its execution.
    pub earliest: TimeWord,
    /// The latest.
    pub latest: TimeWord,
    /// When more, when less; its zone is that of the words.
    pub tables: Tables,
    /// Part by which the amount may differ.
    pub(crate) jitter: f64,
}

/// Gives the times of events.
#[derive(Clone, Debug)]
pub(crate) struct Executions {
    plan: Plan,
    frame: Frame,
    until: Timestamp,
    random: Random,
    /// When the next one is.
    next: Timestamp,
    /// Executions of the present that have begun.
    begun: u64,
    silent: u32,
    /// Which way the last volume was off, from -1 to 1.
    swung: f64,
    /// Bytes that are still to come; less than none after an execution that wrote too much.
    owed: f64,
    current: Option<Current>,
}

#[derive(Clone, Copy, Debug)]
struct Current {
    time: Timestamp,
    window: (Timestamp, Timestamp),
    place: u64,
    /// 0 when bytes are counted.
    of: u64,
    /// Bytes that were to come when it began.
    quota: f64,
}

impl Executions {
    /// Executions from the beginning of a frame.
    #[must_use]
    pub(crate) fn new(plan: Plan, frame: Frame, seed: u64) -> Self {
        let zone = frame.tables.zone;
        let until = plan.until.as_ref().map_or(u64::MAX, |word| word.at(frame.live_from, &zone));
        let (random, next) = (Random::seeded(seed ^ 0x9ace), frame.first);
        Executions {
            plan,
            frame,
            until,
            random,
            next,
            begun: 0,
            silent: 0,
            swung: 0.0,
            owed: 0.0,
            current: None,
        }
    }

    /// When the next event is, or the next execution if none is under way; nothing when all is over.
    #[must_use]
    pub(crate) fn due(&self) -> Option<Timestamp> {
        if let Some(current) = &self.current {
            return Some(current.time.saturating_add(self.passed(current)));
        }
        let is_once = self.plan.interval_ns == 0 && self.begun > 0;
        let is_enough = self.plan.count.is_some_and(|count| count == 0 || self.begun >= count);
        let is_over = is_once || is_enough || self.next >= self.until || self.next == u64::MAX;
        (!is_over && self.silent < SILENT_EXECUTIONS_MAX).then_some(self.next)
    }

    /// How far into its execution an event comes.
    fn passed(&self, current: &Current) -> u64 {
        if !self.plan.is_spread {
            return 0;
        }
        let part = match current.of {
            0 => 1.0 - self.owed / current.quota.max(1.0),
            of => current.place as f64 / of as f64,
        };
        (self.plan.interval_ns as f64 * part.clamp(0.0, 1.0)) as u64
    }

    /// Whether an execution must begin before there is an event.
    #[must_use]
    pub(crate) fn is_between(&self) -> bool {
        self.current.is_none()
    }

    /// Begins the next one; `whole` is how many events the generator has by itself.
    pub(crate) fn begin(&mut self, whole: u64, is_bundle: bool) -> Moment {
        let time = self.next;
        let is_live = time >= self.frame.live_from || self.plan.interval_ns == 0;
        self.begun += u64::from(is_live);
        self.next = time.saturating_add(self.plan.interval_ns);
        let unit = self.random.unit() * 2.0 - 1.0;
        let shape = self.frame.tables.factor(time);
        let factor = shape * (1.0 + unit * self.frame.jitter);
        let events = match self.plan.amount {
            Amount::Whole => (whole as f64 * factor).round_ties_even(),
            Amount::Events(events) if is_bundle => {
                (events as f64 * factor).round_ties_even() * whole as f64
            }
            Amount::Events(events) => (events as f64 * factor).round_ties_even(),
            Amount::BytesPerSecond(rate) => {
                self.owed += rate * shape * self.seconds() * self.swing(unit);
                0.0
            }
        };
        let window = self.window(time);
        let of = events.max(0.0) as u64;
        let current = Current { time, window, place: 0, of, quota: self.owed };
        self.current = Some(current);
        self.settle();
        let mut moment = Moment::at(0, time);
        (moment.of, moment.window, moment.place) = (of, window, 0);
        moment
    }

    /// How long an execution's volume is of.
    fn seconds(&self) -> f64 {
        let interval_ns = if self.plan.interval_ns == 0 { DAY_NS } else { self.plan.interval_ns };
        interval_ns as f64 / 1e9
    }

    /// What jitter makes of a volume: what one execution has too much, the next has too little, so that over
    /// a day the volume is kept.
    fn swing(&mut self, unit: f64) -> f64 {
        let executions_of_day = DAY_NS as f64 / 1e9 / self.seconds();
        let jitter = self.frame.jitter.min(DAY_ERROR * executions_of_day);
        let last = std::mem::replace(&mut self.swung, unit);
        1.0 + (unit - last) * jitter / 2.0
    }

    /// The times that events of an execution may show: in the past its own interval, else what words say.
    fn window(&self, time: Timestamp) -> (Timestamp, Timestamp) {
        let (zone, live) = (self.frame.tables.zone, self.frame.live_from);
        if time < live {
            let end = if self.plan.interval_ns == 0 { live } else { self.next };
            return (time, end);
        }
        let earliest = self.frame.earliest.at(time, &zone);
        (earliest, self.frame.latest.at(time, &zone).max(earliest))
    }

    /// The generator says itself how many events this execution has.
    pub(crate) fn set_count(&mut self, count: u64) {
        if let Some(current) = &mut self.current {
            current.of = count;
            current.place = 0;
        }
        if count == 0 {
            self.current = None;
            self.silent += 1;
        }
    }

    /// What the next event is told.
    #[must_use]
    pub(crate) fn moment(&self, index: u64) -> Moment {
        let Some(current) = &self.current else { return Moment::at(index, self.next) };
        let passed = self.passed(current);
        let time = current.time.saturating_add(passed);
        let window = match self.plan.is_spread {
            false => current.window,
            true if current.time < self.frame.live_from => (time, time),
            // What an event may show is seen from its own time.
            true => (current.window.0 + passed, current.window.1 + passed),
        };
        Moment { index, time, place: current.place, of: current.of, window }
    }

    /// An event of so many bytes was written.
    pub(crate) fn wrote(&mut self, bytes: usize) {
        self.silent = 0;
        self.owed -= match self.plan.amount {
            Amount::BytesPerSecond(_) => bytes as f64,
            _ => 0.0,
        };
        if let Some(current) = &mut self.current {
            current.place += 1;
        }
        self.settle();
    }

    /// Ends an execution that has no more events.
    fn settle(&mut self) {
        let Some(current) = &self.current else { return };
        let is_done = match self.plan.amount {
            Amount::BytesPerSecond(_) => self.owed <= 0.0,
            _ => current.place >= current.of,
        };
        if is_done {
            self.silent += u32::from(current.place == 0);
            self.current = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Times of the events in seconds, and how many there are.
    fn run(plan: Plan, frame: Frame, until: Timestamp, bytes: usize) -> Vec<u64> {
        let mut executions = Executions::new(plan, frame, 1);
        let mut times = Vec::new();
        while let Some(due) = executions.due().filter(|due| *due < until) {
            if executions.is_between() {
                executions.begin(3, false);
            } else {
                times.push(due / S);
                executions.wrote(bytes);
            }
        }
        times
    }

    fn plan(interval_s: u64, amount: Amount) -> Plan {
        Plan { interval_ns: interval_s * S, amount, ..Plan::default() }
    }

    #[test]
    fn an_execution_s_events_come_at_once_or_spread() {
        let two = plan(10, Amount::Events(2));
        assert_eq!(run(two.clone(), Frame::default(), 25 * S, 1), [0, 0, 10, 10, 20, 20]);
        let spread = Plan { is_spread: true, ..two };
        assert_eq!(run(spread, Frame::default(), 25 * S, 1), [0, 5, 10, 15, 20]);
        let whole = Plan { count: Some(2), ..plan(10, Amount::Whole) };
        assert_eq!(run(whole, Frame::default(), u64::MAX, 1), [0, 0, 0, 10, 10, 10]);
        assert_eq!(run(plan(0, Amount::Whole), Frame::default(), u64::MAX, 1), [0, 0, 0]);
        let none = Plan { count: Some(0), ..plan(10, Amount::Whole) };
        assert!(run(none, Frame::default(), u64::MAX, 1).is_empty());
    }

    #[test]
    fn rates_multiply_and_executions_are_counted_without_the_past() {
        let tables = |factor| Tables { hours: vec![(0, factor)], ..Tables::default() };
        let count = |factor, events| {
            let plan = Plan { count: Some(3), ..plan(60, Amount::Events(events)) };
            let frame = Frame { tables: tables(factor), ..Frame::default() };
            run(plan, frame, u64::MAX, 1).len()
        };
        assert_eq!([count(3.0, 2), count(0.5, 4), count(0.0, 4)], [18, 6, 0]);
        let frame = Frame { first: 0, live_from: 20 * S, ..Frame::default() };
        let plan = Plan { count: Some(1), ..plan(10, Amount::Events(1)) };
        assert_eq!(run(plan, frame, u64::MAX, 1), [0, 10, 20]);
    }

    #[test]
    fn windows_are_the_interval_in_the_past_and_words_later() {
        let zone = super::super::zone::Zone::UTC;
        let frame = Frame {
            first: 100 * S,
            live_from: 110 * S,
            earliest: TimeWord::parse("-5s", &zone).unwrap(),
            ..Frame::default()
        };
        let until = TimeWord::parse("+5s", &zone).ok();
        let plan = Plan { until, ..plan(10, Amount::Events(1)) };
        let mut executions = Executions::new(plan, frame, 1);
        assert_eq!(executions.begin(1, false).window, (100 * S, 110 * S));
        executions.wrote(1);
        assert_eq!(executions.begin(1, false).window, (105 * S, 110 * S));
        executions.wrote(1);
        assert_eq!(executions.due(), None, "the end is at 115");
    }

    #[test]
    fn volumes_are_kept_over_a_day() {
        let plan = plan(60, Amount::BytesPerSecond(1e6 / 86_400.0));
        for bytes in [100, 333, 5_000] {
            let made = run(plan.clone(), Frame::default(), DAY_NS, bytes).len() * bytes;
            assert!(made.abs_diff(1_000_000) <= bytes, "{made}");
        }
        for (interval_s, seed) in (1..=30).map(|seed| ([60, 3_600, 14_400, 86_400][seed % 4], seed))
        {
            let plan = Plan { interval_ns: interval_s * S, ..plan.clone() };
            let frame = Frame { jitter: 0.2, ..Frame::default() };
            let mut executions = Executions::new(plan, frame, seed as u64);
            let mut made: u64 = 0;
            while executions.due().is_some_and(|due| due < DAY_NS) {
                if executions.is_between() {
                    executions.begin(1, false);
                } else {
                    executions.wrote(100);
                    made += 100;
                }
            }
            assert!(made.abs_diff(1_000_000) <= 10_000, "{made}");
        }
        let once = Plan { interval_ns: 0, ..plan };
        assert_eq!(run(once, Frame::default(), u64::MAX, 1_000).len(), 1_000);
    }

    #[test]
    fn what_has_no_events_ends() {
        let tables =
            Tables { months: (1..=12).map(|month| (month, 0.0)).collect(), ..Tables::default() };
        let frame = Frame { tables, ..Frame::default() };
        assert!(run(plan(60, Amount::Events(5)), frame, u64::MAX, 1).is_empty());
        const { assert!(SILENT_EXECUTIONS_MAX > 60 * 24 * 366, "a year of silence is no end") };
    }
}
