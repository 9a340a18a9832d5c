//! Selects over event time against a model that keeps every event and computes each window anew.

use super::Clauses;
use super::group::Dimension;
use super::timed::{Shape, TimedSelect, TimedSpec};
use crate::event::Event;
use crate::operator::{Emitter, Operator, Surroundings};
use crate::operators::harness::{formula, formula_over};
use std::collections::BTreeMap;
use std::sync::Arc;
use temblor_lang::builtin::{Call, Facts};
use temblor_lang::random::Random;
use temblor_lang::value::{Arena, Frozen, Value, to_json};
use temblor_stdlib::formats::json;

const IDLE_NS: u64 = 1_000;

fn select(shape: Shape, late_ns: u64) -> TimedSelect {
    let target = "{\"g\": group[0], \"n\": aggr::stats::count(), \"sum\": aggr::stats::sum(event.v), \
                  \"from\": win::starts(), \"to\": win::ends()}";
    let clauses = Clauses {
        target: formula_over(target),
        filter: None,
        group: Some(Dimension::Value(formula("event.g"))),
        having: None,
        args: Arc::default(),
    };
    TimedSelect::new(
        clauses,
        TimedSpec {
            name: Frozen::new(Value::Str("w")),
            shape,
            on: Arc::new(formula("event.t")),
            late_ns,
            idle_ns: IDLE_NS,
            ahead_ns: None,
            max_groups: None,
            flushes: true,
        },
    )
}

/// An event of the test: partition, group, time, and a weight that tells it from others.
#[derive(Clone, Copy, Debug)]
struct Sent {
    partition: u64,
    group: u64,
    time: u64,
    weight: u64,
}

/// What came of an event: results, and whether it was late.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    windows: Vec<(u64, u64, u64, u64, u64)>,
    late: bool,
}

/// The definition, without any thought of speed.
struct Model {
    shape: Shape,
    late_ns: u64,
    newest: BTreeMap<u64, u64>,
    mark: u64,
    kept: Vec<Sent>,
    /// Ends of the windows of each group that have been emitted go up to here.
    done: u64,
    /// When each group that is open was first opened.
    order: BTreeMap<u64, u64>,
    opened: u64,
}

impl Model {
    fn new(shape: Shape, late_ns: u64) -> Self {
        let (newest, order) = (BTreeMap::new(), BTreeMap::new());
        Self { shape, late_ns, newest, mark: 0, kept: Vec::new(), done: 0, order, opened: 0 }
    }

    /// The sessions of a group: begin, end, number and sum, from all events that are kept.
    fn sessions(&self, group: u64, gap: u64) -> Vec<(u64, u64, Vec<Sent>)> {
        let mut events: Vec<_> =
            self.kept.iter().filter(|one| one.group == group).copied().collect();
        events.sort_by_key(|one| one.time);
        let mut sessions: Vec<(u64, u64, Vec<Sent>)> = Vec::new();
        for one in events {
            match sessions.last_mut().filter(|session| one.time < session.1) {
                Some(session) => {
                    session.1 = one.time + gap;
                    session.2.push(one);
                }
                None => sessions.push((one.time, one.time + gap, vec![one])),
            }
        }
        sessions
    }

    fn send(&mut self, one: Sent) -> Answer {
        let late = match self.shape {
            Shape::Panes { slide_ns, panes } => {
                one.time / slide_ns * slide_ns + slide_ns * panes <= self.mark
            }
            Shape::Session { gap_ns } => {
                let joins = self
                    .sessions(one.group, gap_ns)
                    .iter()
                    .any(|(from, to, _)| one.time < *to && *from < one.time + gap_ns);
                one.time + gap_ns <= self.mark && !joins
            }
        };
        if !late {
            self.kept.push(one);
            if !self.order.contains_key(&one.group) {
                self.opened += 1;
                self.order.insert(one.group, self.opened);
            }
        }
        let newest = self.newest.entry(one.partition).or_default();
        *newest = (*newest).max(one.time);
        let slowest = self.newest.values().min().copied().unwrap_or(0);
        self.mark = self.mark.max(slowest.saturating_sub(self.late_ns));
        Answer { windows: self.close(self.mark), late }
    }

    fn close(&mut self, until: u64) -> Vec<(u64, u64, u64, u64, u64)> {
        let mut closed = Vec::new();
        let groups: Vec<u64> = self.order.keys().copied().collect();
        for group in groups {
            let order = self.order[&group];
            match self.shape {
                Shape::Session { gap_ns } => {
                    for (from, to, events) in self.sessions(group, gap_ns) {
                        if to <= until {
                            let sum = events.iter().map(|one| one.weight).sum();
                            closed.push((to, order, (group, events.len() as u64, sum, from, to)));
                            self.kept.retain(|one| {
                                one.group != group || one.time < from || one.time >= to
                            });
                        }
                    }
                }
                Shape::Panes { slide_ns, panes } => {
                    let length = slide_ns * panes;
                    let of_group = |one: &&Sent| one.group == group;
                    let newest = self.kept.iter().filter(of_group).map(|one| one.time).max();
                    let last = newest.map_or(0, |newest| newest / slide_ns * slide_ns + length);
                    let mut end = (self.done / slide_ns + 1) * slide_ns;
                    while end <= until.min(last) {
                        let from = end.saturating_sub(length);
                        let inside = self.kept.iter().filter(of_group);
                        let inside: Vec<_> = inside
                            .filter(|one| one.time < end && one.time + length >= end)
                            .collect();
                        if !inside.is_empty() {
                            let sum = inside.iter().map(|one| one.weight).sum();
                            closed.push((end, order, (group, inside.len() as u64, sum, from, end)));
                        }
                        end += slide_ns;
                    }
                }
            }
        }
        if let Shape::Panes { slide_ns, panes } = self.shape {
            let length = slide_ns * panes;
            self.kept.retain(|one| one.time / slide_ns * slide_ns + length > until);
            self.done = self.done.max(until);
        }
        let kept: std::collections::BTreeSet<u64> = self.kept.iter().map(|one| one.group).collect();
        self.order.retain(|group, _| kept.contains(group));
        closed.sort_by_key(|(end, order, _)| (*end, *order));
        closed.into_iter().map(|(_, _, window)| window).collect()
    }
}

/// The operator with its state.
struct Subject {
    select: TimedSelect,
    state: super::timed::Open,
}

impl Subject {
    fn new(shape: Shape, late_ns: u64) -> Self {
        let select = select(shape, late_ns);
        let state = select.start();
        Self { select, state }
    }

    fn send(&mut self, one: Sent, now_ns: u64) -> Answer {
        let arena = Arena::new();
        let event = format!("{{\"g\": {}, \"t\": {}, \"v\": {}}}", one.group, one.time, one.weight);
        let meta = format!("{{\"kafka\": {{\"topic\": \"t\", \"partition\": {}}}}}", one.partition);
        let value = json::parse(&event, &arena).expect("the event is JSON");
        let meta = json::parse(&meta, &arena).expect("the metadata is JSON");
        let facts = Facts { ingest_ns: now_ns, now_ns, ..Facts::default() };
        let call = Call { arena: &arena, facts: &facts };
        let around = Surroundings { call, now_ns, token: None };
        let mut out = Emitter::new(&arena);
        let event = Event::new(value, meta, now_ns);
        self.select.process(&mut self.state, "in", event, &around, &mut out).expect("it is taken");
        answer(&mut out)
    }

    fn flush(&mut self) -> Answer {
        let (arena, facts) = (Arena::new(), Facts::default());
        let call = Call { arena: &arena, facts: &facts };
        let around = Surroundings { call, now_ns: 0, token: None };
        let mut out = Emitter::new(&arena);
        self.select.flush(&mut self.state, &around, &mut out).expect("nothing fails");
        answer(&mut out)
    }

    /// Saves the state as JSON text, and goes on from that.
    fn restart(&mut self) {
        let text = to_json(self.select.save(&self.state, &Arena::new()));
        let arena = Arena::new();
        let saved = json::parse(&text, &arena).expect("a saved state is JSON");
        self.state = self.select.restore(saved).expect("a saved state is good");
    }
}

fn answer(out: &mut Emitter<'_>) -> Answer {
    let read = |event: Event<'_>, name: &str| {
        let key = temblor_lang::value::Key::new(name);
        let value = event.value.get(&key).expect("the target has it");
        value.as_u64().or_else(|| value.as_f64().map(|float| float as u64)).expect("a number")
    };
    let windows = out
        .take()
        .map(|(_, event)| {
            let read = |name| read(event, name);
            (read("g"), read("n"), read("sum"), read("from"), read("to"))
        })
        .collect();
    assert!(out.take_failed().is_empty());
    Answer { windows, late: !out.take_sorted_out().is_empty() }
}

/// Runs random events through both, with restarts in between.
fn compare(shape: Shape, seed: u64) {
    let mut random = Random::seeded(seed);
    let mut below = |bound: u64| random.below(bound);
    let late_ns = below(40);
    let partitions = 1 + below(3);
    let (mut subject, mut model) = (Subject::new(shape, late_ns), Model::new(shape, late_ns));
    // All partitions are known, and the time in which others may begin is over.
    let mut now_ns = 0;
    for round in 0..20 * partitions {
        now_ns += IDLE_NS / 16;
        let first = Sent { partition: round % partitions, group: 0, time: 0, weight: 1 };
        assert_eq!(subject.send(first, now_ns), model.send(first));
    }
    let (mut late, mut whole) = (0, 0);
    for number in 0..400_u64 {
        let time = (number * 2 + below(60)).saturating_sub(below(60));
        let one = Sent { partition: below(partitions), group: below(3), time, weight: number };
        let (got, wanted) = (subject.send(one, now_ns), model.send(one));
        assert_eq!(got, wanted, "{shape:?}, seed {seed}, event {number}: {one:?}");
        late += u64::from(got.late);
        whole += got.windows.len();
        if below(50) == 0 {
            subject.restart();
        }
    }
    let windows = model.close(u64::MAX / 4);
    assert_eq!(subject.flush(), Answer { windows, late: false }, "{shape:?}, seed {seed}");
    assert!(whole > 0 && late < 400, "{shape:?}, seed {seed}: {late} late, {whole} windows");
    assert_eq!(subject.select.usage(&subject.state).map(|usage| usage.entries), Some(0));
}

#[test]
fn windows_of_event_time_are_those_of_the_model() {
    for seed in 0..30 {
        compare(Shape::Panes { slide_ns: 10, panes: 1 }, seed);
        compare(Shape::Panes { slide_ns: 7, panes: 4 }, seed);
        compare(Shape::Session { gap_ns: 12 }, seed);
    }
}

#[test]
fn windows_that_are_open_have_a_bound() {
    let mut subject = Subject::new(Shape::Panes { slide_ns: 1, panes: 1 }, 1_000);
    subject.select.open_max = 5;
    for time in 0..5 {
        let one = Sent { partition: 0, group: 0, time, weight: 1 };
        assert!(!subject.send(one, 0).late);
    }
    let arena = Arena::new();
    let facts = Facts::default();
    let around =
        Surroundings { call: Call { arena: &arena, facts: &facts }, now_ns: 0, token: None };
    let value = json::parse("{\"g\": 0, \"t\": 9, \"v\": 1}", &arena).expect("it is JSON");
    let mut out = Emitter::new(&arena);
    let event = Event::new(value, Value::EMPTY_RECORD, 0);
    let failed = subject.select.process(&mut subject.state, "in", event, &around, &mut out);
    assert_eq!(failed.expect_err("there is no room").code(), "E0447");
    drop(out);
    assert_eq!(subject.flush().windows.len(), 5, "the others are whole");
}
