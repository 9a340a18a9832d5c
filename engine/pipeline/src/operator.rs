//! What an operator is: a pure step over events. The operator itself is immutable and shared by
//! all workers; what it remembers is a state beside it. It never blocks, reads no clock and does
//! no I/O: time is an argument, and so is everything else.

use crate::event::Event;
use crate::row::Row;
use std::any::Any;
use std::fmt;
use temblor_lang::builtin::{Call, CallError};
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Value};
use temblor_runtime::ack::Token;

/// What an operator sees besides the event.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// Where values are built, and the facts that functions may ask for.
    pub call: Call<'a>,
    /// The time, in nanoseconds since 1970-01-01 UTC: that of the event, or of the tick.
    pub now_ns: u64,
    /// The batch that the event came with; `None` for ticks.
    pub token: Option<&'a Token>,
}

impl<'a> Surroundings<'a> {
    /// The arena that results are built in.
    #[must_use]
    pub fn arena(&self) -> &'a Arena {
        self.call.arena
    }

    /// For an operator that keeps the event: as long as this is not released to an [`Emitter`] or
    /// dropped, the event's source does not count it as delivered.
    #[must_use]
    pub fn hold(&self) -> Hold {
        Hold(self.token.cloned())
    }
}

/// A claim on the batch that a kept event came with.
#[derive(Clone, Debug, Default)]
pub struct Hold(Option<Token>);

/// Where an operator puts its results.
#[derive(Debug)]
pub struct Emitter<'a> {
    events: bumpalo::collections::Vec<'a, (&'a str, Event<'a>)>,
    /// Events that failed inside the operator, with the reason.
    failed: Vec<(Event<'a>, EvalError)>,
    /// Events for a port, with the reason why they failed if that leads nowhere.
    sorted_out: Vec<(&'static str, Event<'a>, EvalError)>,
    released: Vec<Token>,
    dropped: u64,
    not_before_ns: u64,
}

/// The default output port.
pub const OUT: &str = "out";
/// The port of events that failed.
pub const ERR: &str = "err";
/// The port of events that the queue of a sink had no room for.
pub const FULL: &str = "full";
/// The port of events that an operator sorts out: repeats, what does not parse, what is over a limit.
pub const ELSE: &str = "else";
/// The port of events that come too late for their window.
pub const LATE: &str = "late";
/// The port of events that tremor's operators turn away.
pub const OVERFLOW: &str = "overflow";
/// The default input port.
pub const IN: &str = "in";

impl<'a> Emitter<'a> {
    /// Nothing emitted yet.
    #[must_use]
    pub fn new(arena: &'a Arena) -> Self {
        let events = bumpalo::collections::Vec::new_in(arena.bump());
        let (failed, sorted_out, released) = (Vec::new(), Vec::new(), Vec::new());
        Self { events, failed, sorted_out, released, dropped: 0, not_before_ns: 0 }
    }

    /// Sends an event to a port.
    pub fn emit(&mut self, port: &'a str, event: Event<'a>) {
        self.events.push((port, event));
    }

    /// Sends an event that failed, as the operator had changed it so far, to `err`.
    #[cold]
    pub fn fail(&mut self, event: Event<'a>, error: EvalError) {
        self.failed.push((event, error));
    }

    /// Sends an event as it is to a port; where that leads nowhere the event has failed.
    #[cold]
    pub fn sort_out(&mut self, port: &'static str, event: Event<'a>, error: EvalError) {
        self.sorted_out.push((port, event, error));
    }

    /// Takes the events that were sorted out.
    pub fn take_sorted_out(&mut self) -> Vec<(&'static str, Event<'a>, EvalError)> {
        std::mem::take(&mut self.sorted_out)
    }

    /// Takes the events that failed.
    pub fn take_failed(&mut self) -> Vec<(Event<'a>, EvalError)> {
        std::mem::take(&mut self.failed)
    }

    /// The kept event is dealt with: it is acknowledged when all that was emitted since the
    /// traversal began has been written.
    pub fn release(&mut self, hold: Hold) {
        self.released.extend(hold.0);
    }

    /// Counts an event that is left out on purpose.
    pub fn count_drop(&mut self) {
        self.dropped += 1;
    }

    /// What was emitted must not go on before `time_ns`: the worker waits that long before its next
    /// step (a virtual clock is put forward). The latest of several times counts.
    pub fn delay_until(&mut self, time_ns: u64) {
        self.not_before_ns = self.not_before_ns.max(time_ns);
    }

    /// Takes the time to wait for, in nanoseconds since 1970-01-01 UTC.
    pub fn take_delay(&mut self) -> Option<u64> {
        let time_ns = std::mem::take(&mut self.not_before_ns);
        (time_ns > 0).then_some(time_ns)
    }

    /// Number of events that have been emitted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether nothing has been emitted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Takes what has been emitted.
    pub fn take(&mut self) -> impl DoubleEndedIterator<Item = (&'a str, Event<'a>)> + use<'a> {
        let bump = self.events.bump();
        std::mem::replace(&mut self.events, bumpalo::collections::Vec::new_in(bump)).into_iter()
    }

    /// How many events have failed inside the operator, and how many were left out, since they were taken last.
    #[must_use]
    pub fn losses(&self) -> (u64, u64) {
        (self.failed.len() as u64, self.dropped)
    }

    /// Takes the claims that have been released.
    pub fn take_released(&mut self) -> Vec<Token> {
        std::mem::take(&mut self.released)
    }

    /// Takes the number of events that were left out.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }
}

/// How full an operator's memory is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Keys, groups or events that are kept.
    pub entries: u64,
    /// Bytes that they take, near enough.
    pub bytes: u64,
    /// Entries that were given up for lack of room since the start.
    pub evicted: u64,
}

/// A step of a pipeline.
pub trait Operator: Send + Sync + fmt::Debug {
    /// What it remembers from event to event; `()` for nothing.
    type State: Send + 'static;

    /// The state before the first event.
    fn start(&self) -> Self::State;

    /// A fresh state for trying a program on samples: a key that a person types is found in it, so its hashes have
    /// no key of their own.
    fn rehearse(&self) -> Self::State {
        self.start()
    }

    /// Whether what it remembers can change what comes out.
    fn is_stateful(&self) -> bool {
        size_of::<Self::State>() > 0
    }

    /// Takes one event that arrived on `port`. An error sends the event to `err`.
    ///
    /// # Errors
    /// When the step fails for this event.
    fn process<'a>(
        &'a self,
        state: &mut Self::State,
        port: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError>;

    /// Whether [`Operator::look_ahead`] does anything.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// Sees the events of a batch before they are processed one by one, so that what each would wait for is
    /// waited for together. What comes out must be the same without it.
    fn look_ahead<'a>(&'a self, port: &str, events: Vec<Event<'a>>, around: &Surroundings<'a>) {
        let _ = (port, events, around);
    }

    /// Whether [`Operator::tick`] does anything.
    fn wants_ticks(&self) -> bool {
        false
    }

    /// Lets timers run; `around.now_ns` is the time.
    ///
    /// # Errors
    /// When something that was kept fails.
    fn tick<'a>(
        &'a self,
        state: &mut Self::State,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let _ = (state, around, out);
        Ok(())
    }

    /// The input has ended: emits what is still kept, if that is the operator's custom.
    ///
    /// # Errors
    /// When something that was kept fails.
    fn flush<'a>(
        &'a self,
        state: &mut Self::State,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let _ = (state, around, out);
        Ok(())
    }

    /// All of the state as a value, for saving at shutdown.
    fn save<'a>(&self, state: &Self::State, arena: &'a Arena) -> Value<'a> {
        let _ = (state, arena);
        Value::Null
    }

    /// The state that [`Operator::save`] gave.
    ///
    /// # Errors
    /// When the value is not of the saved shape.
    fn restore(&self, saved: Value<'_>) -> Result<Self::State, CallError> {
        let _ = saved;
        Ok(self.start())
    }

    /// How much is kept, for reports.
    fn usage(&self, state: &Self::State) -> Option<Usage> {
        let _ = state;
        None
    }

    /// What is remembered by key, for people who try programs out; `None` when that is no table.
    fn rows<'a>(&self, state: &Self::State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let _ = (state, arena);
        None
    }

    /// The hash by which the row of an event is found, and its key; `None` where the step itself says
    /// what the key is.
    fn key<'a>(&self, event: &Event<'a>, arena: &'a Arena) -> Option<(u128, Value<'a>)> {
        let _ = (event, arena);
        None
    }

    /// Puts other columns into the row of a key; adds the row if there is none.
    ///
    /// # Errors
    /// When the columns are not those of a row.
    fn amend(
        &self,
        state: &mut Self::State,
        hash: u128,
        columns: Value<'_>,
    ) -> Result<(), CallError> {
        let _ = (state, hash, columns);
        Err(CallError::failed("its rows cannot be changed"))
    }

    /// Forgets one key of [`Operator::rows`]; whether it was there.
    fn forget(&self, state: &mut Self::State, hash: u128) -> bool {
        let _ = (state, hash);
        false
    }
}

/// An operator whose kind of state is not known to the holder. Every [`Operator`] is one.
pub trait AnyOperator: Send + Sync + fmt::Debug {
    /// See [`Operator::start`].
    fn start(&self) -> Box<dyn Any + Send>;
    /// See [`Operator::rehearse`].
    fn rehearse(&self) -> Box<dyn Any + Send>;
    /// Whether there is anything to remember.
    fn is_stateful(&self) -> bool;
    /// See [`Operator::process`].
    ///
    /// # Errors
    /// When the step fails for this event.
    fn process<'a>(
        &'a self,
        state: &mut dyn Any,
        port: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError>;
    /// See [`Operator::looks_ahead`].
    fn looks_ahead(&self) -> bool;
    /// See [`Operator::look_ahead`].
    fn look_ahead<'a>(&'a self, port: &str, events: Vec<Event<'a>>, around: &Surroundings<'a>);
    /// See [`Operator::wants_ticks`].
    fn wants_ticks(&self) -> bool;
    /// See [`Operator::tick`].
    ///
    /// # Errors
    /// When something that was kept fails.
    fn tick<'a>(
        &'a self,
        state: &mut dyn Any,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError>;
    /// See [`Operator::flush`].
    ///
    /// # Errors
    /// When something that was kept fails.
    fn flush<'a>(
        &'a self,
        state: &mut dyn Any,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError>;
    /// See [`Operator::save`].
    fn save<'a>(&self, state: &dyn Any, arena: &'a Arena) -> Value<'a>;
    /// See [`Operator::restore`].
    ///
    /// # Errors
    /// When the value is not of the saved shape.
    fn restore(&self, saved: Value<'_>) -> Result<Box<dyn Any + Send>, CallError>;
    /// See [`Operator::usage`].
    fn usage(&self, state: &dyn Any) -> Option<Usage>;
    /// See [`Operator::rows`].
    fn rows<'a>(&self, state: &dyn Any, arena: &'a Arena) -> Option<Vec<Row<'a>>>;
    /// See [`Operator::key`].
    fn key<'a>(&self, event: &Event<'a>, arena: &'a Arena) -> Option<(u128, Value<'a>)>;
    /// See [`Operator::amend`].
    ///
    /// # Errors
    /// When the columns are not those of a row.
    fn amend(&self, state: &mut dyn Any, hash: u128, columns: Value<'_>) -> Result<(), CallError>;
    /// See [`Operator::forget`].
    fn forget(&self, state: &mut dyn Any, hash: u128) -> bool;
}

const OWN_STATE: &str = "a state goes back to the operator that made it";

impl<O: Operator> AnyOperator for O {
    fn start(&self) -> Box<dyn Any + Send> {
        Box::new(Operator::start(self))
    }

    fn rehearse(&self) -> Box<dyn Any + Send> {
        Box::new(Operator::rehearse(self))
    }

    fn is_stateful(&self) -> bool {
        Operator::is_stateful(self)
    }

    fn process<'a>(
        &'a self,
        state: &mut dyn Any,
        port: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        Operator::process(self, state.downcast_mut().expect(OWN_STATE), port, event, around, out)
    }

    fn looks_ahead(&self) -> bool {
        Operator::looks_ahead(self)
    }

    fn look_ahead<'a>(&'a self, port: &str, events: Vec<Event<'a>>, around: &Surroundings<'a>) {
        Operator::look_ahead(self, port, events, around);
    }

    fn wants_ticks(&self) -> bool {
        Operator::wants_ticks(self)
    }

    fn tick<'a>(
        &'a self,
        state: &mut dyn Any,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        Operator::tick(self, state.downcast_mut().expect(OWN_STATE), around, out)
    }

    fn flush<'a>(
        &'a self,
        state: &mut dyn Any,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        Operator::flush(self, state.downcast_mut().expect(OWN_STATE), around, out)
    }

    fn save<'a>(&self, state: &dyn Any, arena: &'a Arena) -> Value<'a> {
        Operator::save(self, state.downcast_ref().expect(OWN_STATE), arena)
    }

    fn restore(&self, saved: Value<'_>) -> Result<Box<dyn Any + Send>, CallError> {
        Ok(Box::new(Operator::restore(self, saved)?))
    }

    fn usage(&self, state: &dyn Any) -> Option<Usage> {
        Operator::usage(self, state.downcast_ref().expect(OWN_STATE))
    }

    fn rows<'a>(&self, state: &dyn Any, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        Operator::rows(self, state.downcast_ref().expect(OWN_STATE), arena)
    }

    fn key<'a>(&self, event: &Event<'a>, arena: &'a Arena) -> Option<(u128, Value<'a>)> {
        Operator::key(self, event, arena)
    }

    fn amend(&self, state: &mut dyn Any, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        Operator::amend(self, state.downcast_mut().expect(OWN_STATE), hash, columns)
    }

    fn forget(&self, state: &mut dyn Any, hash: u128) -> bool {
        Operator::forget(self, state.downcast_mut().expect(OWN_STATE), hash)
    }
}
