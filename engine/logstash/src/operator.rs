//! The operator that a pipeline of Logstash is: its inputs make events, its filters change them, its
//! outputs choose what leaves and how. An event that fails a comparison goes no further.

use super::codec::{DecodeState, Encoder, Moment};
use super::condition::{NoOrder, Test};
use super::input::Intake;
use super::output::Outlet;
use super::program::{Program, ProgramState};
use super::saved;
use super::trace::{Notebook, Passage};
use chrono::{DateTime, Utc};
use std::fmt;
use temblor_lang::builtin::CallError;
use temblor_lang::error::EvalError;
use temblor_lang::run::spent;
use temblor_lang::value::{Arena, EVENT_BYTES_MAX, EVENT_STEPS_MAX, Value};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_pipeline::event::Event;
use temblor_pipeline::operator::{Emitter, IN, Operator, Surroundings};
use temblor_pipeline::row::Row;

/// A pipeline as one step of a graph.
#[derive(Debug, Default)]
pub struct LogstashPipeline {
    /// What takes the events of each input port.
    pub(crate) intakes: Vec<(String, Intake)>,
    /// The filters.
    pub program: Program,
    /// How events leave.
    pub(crate) outlets: Vec<Outlet>,
    /// Which of the outlets an event takes.
    pub ways: Vec<Way>,
}

/// A statement of an output section.
#[derive(Debug)]
pub enum Way {
    /// `stdout { }`: the number of its outlet.
    Out(usize),
    /// `if … { stdout { } }`
    Branch {
        /// `if` and every `else if`.
        arms: Vec<(Test, Vec<Way>)>,
        /// `else`
        otherwise: Vec<Way>,
    },
}

/// What a pipeline remembers.
pub struct PipelineState {
    intakes: Vec<DecodeState>,
    program: ProgramState,
    /// The time of the last event, which many have in common.
    clock: (u64, DateTime<Utc>),
}

impl PipelineState {
    /// As [`moment`], of an event.
    fn moment<'a>(&mut self, around: &Surroundings<'a>) -> Moment<'a> {
        if self.clock.0 != around.now_ns {
            self.clock = (around.now_ns, moment(around).now);
        }
        Moment { arena: around.arena(), now: self.clock.1, now_ns: around.now_ns }
    }
}

impl fmt::Debug for ProgramState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramState").finish_non_exhaustive()
    }
}

impl fmt::Debug for PipelineState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipelineState").finish_non_exhaustive()
    }
}

/// The code of a comparison of things that have no order.
pub(crate) const NO_ORDER: &str = "E0724";

/// A comparison failed an event.
#[cold]
pub(crate) fn no_order(reason: &NoOrder) -> EvalError {
    let help = "test the field first, such as `if [field] and [field] > 1`";
    EvalError::new(NO_ORDER, &*reason.0).with_help(help)
}

/// A saved state that does not fit.
#[cold]
pub(crate) fn other_configuration() -> CallError {
    CallError::failed("it was saved with other inputs or filters")
}

/// The time and the memory of a step.
pub(crate) fn moment<'a>(around: &Surroundings<'a>) -> Moment<'a> {
    let now_ns = around.now_ns;
    let now = DateTime::<Utc>::from_timestamp_nanos(i64::try_from(now_ns).unwrap_or(i64::MAX));
    Moment { arena: around.arena(), now, now_ns }
}

impl LogstashPipeline {
    /// Sends events through the filters and out.
    fn run<'a>(
        &'a self,
        state: &mut ProgramState,
        mut events: Vec<LogEvent<'a>>,
        (moment, ingest_ns): (Moment<'a>, u64),
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        if events.is_empty() {
            return Ok(());
        }
        let allowance = moment.arena.begin(EVENT_BYTES_MAX, EVENT_STEPS_MAX);
        let failed = self.program.run(&mut events, state, moment.arena, moment.now);
        let excess = moment.arena.excess();
        moment.arena.end(allowance);
        if let Some(excess) = excess {
            return Err(spent(excess));
        }
        let delay_ns = state.take_delay_ns();
        if delay_ns > 0 {
            out.delay_until(moment.now_ns.saturating_add(delay_ns));
        }
        if events.is_empty() && failed.is_empty() {
            out.count_drop();
        }
        for (one, reason) in failed {
            let meta = one.metadata.to_value(moment.arena);
            let failed = Event::new(one.data.to_value(moment.arena), meta, ingest_ns);
            out.fail(failed, no_order(&reason));
        }
        for event in events {
            self.leave(&self.ways, &event, (moment, ingest_ns), out);
            event.data.discard();
        }
        Ok(())
    }

    fn leave<'a>(
        &'a self,
        ways: &'a [Way],
        event: &LogEvent<'a>,
        (moment, ingest_ns): (Moment<'a>, u64),
        out: &mut Emitter<'a>,
    ) {
        for way in ways {
            match way {
                Way::Out(number) => {
                    let outlet = &self.outlets[*number];
                    let (value, meta) = outlet.write(event, moment.arena, moment.now);
                    for port in &outlet.ports {
                        out.emit(port, Event::new(value, meta, ingest_ns));
                    }
                }
                Way::Branch { arms, otherwise } => {
                    // What has no order takes no way.
                    let chosen = arms.iter().find_map(|(test, ways)| match test.holds(event) {
                        Ok(true) => Some(Some(ways)),
                        Ok(false) => None,
                        Err(_) => Some(None),
                    });
                    match chosen {
                        Some(Some(ways)) => self.leave(ways, event, (moment, ingest_ns), out),
                        Some(None) => {}
                        None => self.leave(otherwise, event, (moment, ingest_ns), out),
                    }
                }
            }
        }
    }

    /// The way of an event that arrives on the port `in` through the filters, from a fresh start.
    #[must_use]
    pub fn trace<'a>(&'a self, event: Event<'a>, around: &Surroundings<'a>) -> Vec<Passage> {
        let mut state = self.start();
        state.program.notebook = Some(Notebook::default());
        let mut out = Emitter::new(around.arena());
        // What goes wrong for an event is among its passages.
        let _ = self.process(&mut state, IN, event, around, &mut out);
        state.program.notebook.take().map(Notebook::passages).unwrap_or_default()
    }

    fn release<'a>(
        &'a self,
        state: &mut PipelineState,
        around: &Surroundings<'a>,
        due: bool,
        out: &mut Emitter<'a>,
    ) {
        let moment = moment(around);
        for ((_, intake), state_of) in self.intakes.iter().zip(&mut state.intakes) {
            let mut events = Vec::new();
            intake.flush(state_of, moment, due, &mut events);
            if let Err(error) = self.run(&mut state.program, events, (moment, around.now_ns), out) {
                let nothing = Event::new(Value::Null, Value::EMPTY_RECORD, around.now_ns);
                out.fail(nothing, error);
            }
        }
        let ticked = self.program.tick(&mut state.program, moment.arena, moment.now, !due);
        for event in ticked {
            self.leave(&self.ways, &event, (moment, around.now_ns), out);
        }
    }
}

impl Operator for LogstashPipeline {
    type State = PipelineState;

    fn start(&self) -> PipelineState {
        let intakes = self.intakes.iter().map(|_| DecodeState::default()).collect();
        PipelineState { intakes, program: self.program.start(), clock: Default::default() }
    }

    fn is_stateful(&self) -> bool {
        let writes = |outlet: &Outlet| outlet.encoder.as_ref().is_some_and(Encoder::is_stateful);
        self.program.is_stateful()
            || self.intakes.iter().any(|(_, intake)| intake.is_stateful())
            || self.outlets.iter().any(writes)
    }

    fn process<'a>(
        &'a self,
        state: &mut PipelineState,
        port: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let moment = state.moment(around);
        let place = self.intakes.iter().position(|(name, _)| name == port).unwrap_or(0);
        let Some((_, intake)) = self.intakes.get(place) else { return Ok(()) };
        let mut events = Vec::with_capacity(1);
        intake.receive(&mut state.intakes[place], event, around, moment, &mut events);
        self.run(&mut state.program, events, (moment, event.ingest_ns), out)
    }

    fn save<'a>(&self, state: &PipelineState, arena: &'a Arena) -> Value<'a> {
        let intakes = self.intakes.iter().zip(&state.intakes);
        let intakes = intakes.map(|((_, intake), state)| intake.save(state, arena)).collect();
        let program = self.program.save(&state.program, arena);
        Datum::List(vec![Datum::List(intakes), program]).to_value(arena)
    }

    fn restore(&self, saved: Value<'_>) -> Result<PipelineState, CallError> {
        let arena = Arena::new();
        let saved = Datum::from_value(saved.copy_into(&arena), &arena);
        let restored = || {
            let parts = saved::list(Some(&saved))?;
            let intakes = saved::list(parts.first())?;
            let own = self.intakes.iter().zip(intakes);
            let intakes: Option<Vec<_>> =
                own.map(|((_, intake), saved)| intake.restore(saved)).collect();
            let intakes = intakes.filter(|intakes| intakes.len() == self.intakes.len())?;
            let program = self.program.restore(parts.get(1)?)?;
            Some(PipelineState { intakes, program, clock: Default::default() })
        };
        restored().ok_or_else(other_configuration)
    }

    fn rows<'a>(&self, state: &PipelineState, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        self.program.rows(&state.program, arena)
    }

    fn amend(
        &self,
        state: &mut PipelineState,
        hash: u128,
        columns: Value<'_>,
    ) -> Result<(), CallError> {
        self.program.amend(&mut state.program, hash, columns)
    }

    fn forget(&self, state: &mut PipelineState, hash: u128) -> bool {
        self.program.forget(&mut state.program, hash)
    }

    fn looks_ahead(&self) -> bool {
        self.program.looks_ahead()
    }

    fn look_ahead<'a>(&'a self, port: &str, events: Vec<Event<'a>>, around: &Surroundings<'a>) {
        let moment = moment(around);
        let named = self.intakes.iter().find(|(name, _)| name == port);
        let Some((_, intake)) = named.or(self.intakes.first()) else { return };
        let mut decoding = DecodeState::default();
        let mut arrived = Vec::with_capacity(events.len());
        for event in events {
            intake.receive(&mut decoding, event, around, moment, &mut arrived);
        }
        self.program.look_ahead(arrived, moment.arena, moment.now);
    }

    fn wants_ticks(&self) -> bool {
        self.program.wants_ticks() || self.intakes.iter().any(|(_, intake)| intake.wants_ticks())
    }

    fn tick<'a>(
        &'a self,
        state: &mut PipelineState,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        self.release(state, around, true, out);
        Ok(())
    }

    fn flush<'a>(
        &'a self,
        state: &mut PipelineState,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        self.release(state, around, false, out);
        Ok(())
    }
}
