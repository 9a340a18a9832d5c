//! The interpreter: walks a lowered program over one event. It allocates in the event's arena
//! alone and touches nothing outside of [`Context`].

mod arithmetic;
mod assign;
mod bytes;
mod call;
mod comprehension;
mod draft;
mod eval;
mod event;
mod failure;
mod growing;
mod matching;
mod patch;
mod path;
mod tapes;
mod text;
mod truth;

use crate::builtin::{Accumulator, Call, Facts};
use crate::error::EvalError;
use crate::program::{Formula, Script};
use crate::span::Span;
use crate::value::{
    Allowance, Arena, EVENT_BYTES_MAX, EVENT_STEPS_MAX, Excess, Owned, TURN_STEPS, Value, is_modest,
};

/// What a program sees of the world.
#[derive(Debug)]
pub struct Context<'a, 'm> {
    /// Where values are built.
    pub call: Call<'a>,
    /// `event`
    pub event: Value<'a>,
    /// The JSON text that `event` was read from, if it still is what was read: the fields that the
    /// program does not change are written from it.
    pub text: &'a [u8],
    /// `$`
    pub meta: Value<'a>,
    /// `state`
    pub state: &'m mut Owned,
    /// `args`
    pub args: Value<'a>,
    /// `group`
    pub group: Value<'a>,
    /// `window`
    pub window: Value<'a>,
    /// One accumulator for each aggregate call of the formula.
    pub aggregates: &'m [Box<dyn Accumulator>],
}

impl<'a, 'm> Context<'a, 'm> {
    /// The context of a script: no group, no window, no aggregates.
    #[must_use]
    pub fn new(
        arena: &'a Arena,
        facts: &'a Facts,
        event: Value<'a>,
        meta: Value<'a>,
        state: &'m mut Owned,
    ) -> Self {
        Self {
            call: Call { arena, facts },
            event,
            text: &[],
            meta,
            state,
            args: Value::Null,
            group: Value::Null,
            window: Value::Null,
            aggregates: &[],
        }
    }
}

/// What became of an event.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// It goes on, on a port (`None`: the default one).
    Emit {
        /// The event's new data.
        value: Value<'a>,
        /// The port that `emit` named.
        port: Option<&'a str>,
    },
    /// It was dropped on purpose.
    Drop,
}

/// Why evaluation of an expression ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    Error(EvalError),
    /// Value and port are in [`Run::emitted`].
    Emit,
    Drop,
    /// The new arguments are in [`Run::recur`].
    Recur,
}

impl From<EvalError> for Stop {
    #[cold]
    fn from(error: EvalError) -> Self {
        Stop::Error(error)
    }
}

pub(crate) type Eval<'a, T = Value<'a>> = Result<T, Stop>;

/// One evaluation: the context and the local variables.
pub(crate) struct Run<'a, 'c, 'm> {
    pub context: &'c mut Context<'a, 'm>,
    pub event: event::Working<'a>,
    pub memo: path::Memo<'a>,
    /// What the guard of the last loop has said, if the next loop wants to know.
    pub verdicts: Option<comprehension::Verdicts<'a>>,
    /// Values that grow in place.
    pub(crate) drafts: growing::Drafts<'a>,
    /// Containers on the tape that were looked into before.
    pub(crate) tapes: tapes::Tapes<'a>,
    /// What the arena allowed before.
    allowance: Allowance,
    /// Locals of all active functions; `None` is a local that has no value.
    pub locals: bumpalo::collections::Vec<'a, Option<Value<'a>>>,
    /// First slot of the running function.
    pub base: usize,
    pub emitted: Option<(Value<'a>, Option<&'a str>)>,
    pub recur: Option<&'a [Value<'a>]>,
}

impl<'a, 'c, 'm> Run<'a, 'c, 'm> {
    fn new(context: &'c mut Context<'a, 'm>, slots: usize) -> Self {
        let arena = context.call.arena;
        let allowance = arena.begin(EVENT_BYTES_MAX, EVENT_STEPS_MAX);
        let mut locals = bumpalo::collections::Vec::with_capacity_in(slots, arena.bump());
        locals.resize(slots, None);
        let event = event::Working::default();
        let memo = path::Memo::default();
        Self {
            context,
            event,
            memo,
            verdicts: None,
            drafts: growing::Drafts::default(),
            tapes: tapes::Tapes::default(),
            allowance,
            locals,
            base: 0,
            emitted: None,
            recur: None,
        }
    }

    /// Ends the run: what came of it, unless it took more than it may.
    #[inline]
    fn end<T>(&self, result: Result<T, EvalError>, span: Span) -> Result<T, EvalError> {
        let arena = self.arena();
        let result = if arena.is_spent() { Err(self.stopped(span)) } else { result };
        arena.end(self.allowance);
        result
    }

    pub(crate) fn arena(&self) -> &'a Arena {
        self.context.call.arena
    }

    #[inline]
    pub(crate) fn local(&mut self, slot: usize) -> Option<Value<'a>> {
        match self.locals[self.base + slot] {
            None if !self.drafts.is_empty() => self.settle_local(slot),
            value => value,
        }
    }

    /// Does the work of a turn of a loop, or of a call.
    #[inline]
    pub(crate) fn spend(&self, span: Span) -> Result<(), EvalError> {
        self.arena().step(TURN_STEPS);
        self.afford(span)?;
        match &self.context.call.facts.budget {
            None => Ok(()),
            Some(budget) => budget.spend(span),
        }
    }

    /// Fails when memory or work is used up.
    #[inline]
    pub(crate) fn afford(&self, span: Span) -> Result<(), EvalError> {
        if self.arena().is_spent() { Err(self.stopped(span)) } else { Ok(()) }
    }

    /// Says what is used up.
    #[cold]
    pub(crate) fn stopped(&self, span: Span) -> EvalError {
        failure::spent(self.arena().excess(), span)
    }

    pub(crate) fn set_local(&mut self, slot: usize, value: Value<'a>) {
        self.locals[self.base + slot] = Some(value);
    }
}

impl Script {
    /// Runs the script for the event in `context`, whose event, metadata and state it may change.
    ///
    /// # Errors
    /// When the script fails; `context` then holds what it had done so far.
    pub fn run<'a>(&'a self, context: &mut Context<'a, '_>) -> Result<Outcome<'a>, EvalError> {
        let mut run = Run::new(context, self.slots);
        run.event.expect(self.event_changes);
        let outcome = match run.block(&self.body) {
            Ok(value) => Ok(Outcome::Emit { value, port: None }),
            Err(stop) => run.outcome(stop),
        };
        let (event, meta) = (run.whole_event(), run.meta());
        // What leaves may share so much that it has no end when it is written.
        let value = outcome_value(&outcome);
        for value in [(!value.is_same(event)).then_some(value), Some(event), Some(meta)] {
            if let Some(value) = value
                && !matches!(value, Value::Lazy(_))
                && !is_modest(value)
            {
                let _ = run.arena().admits_copy(value);
            }
        }
        run.end(outcome, self.span)
    }
}

fn outcome_value<'a>(outcome: &Result<Outcome<'a>, EvalError>) -> Value<'a> {
    match outcome {
        Ok(Outcome::Emit { value, .. }) => *value,
        Ok(Outcome::Drop) | Err(_) => Value::Null,
    }
}

/// What a function that is called with these does at the least, in steps.
#[inline]
fn steps(arguments: &[Value<'_>]) -> usize {
    TURN_STEPS + arguments.iter().map(|argument| argument.shallow_steps()).sum::<usize>()
}

impl<'a> Run<'a, '_, '_> {
    fn outcome(&mut self, stop: Stop) -> Result<Outcome<'a>, EvalError> {
        match stop {
            Stop::Error(error) => Err(error),
            Stop::Drop | Stop::Recur => Ok(Outcome::Drop),
            Stop::Emit => {
                let (value, port) = self.emitted.take().expect("emit leaves its value");
                Ok(Outcome::Emit { value, port })
            }
        }
    }
}

impl Formula {
    /// The value for the event in `context`.
    ///
    /// # Errors
    /// When the evaluation fails.
    pub fn eval<'a>(&'a self, context: &mut Context<'a, '_>) -> Result<Value<'a>, EvalError> {
        let mut run = Run::new(context, self.slots);
        let value = pure(run.eval(&self.expr));
        run.end(value, self.span)
    }

    /// The arguments of the aggregate call number `call` for the event in `context`.
    ///
    /// # Errors
    /// When an argument cannot be evaluated.
    pub fn aggregate_arguments<'a>(
        &'a self,
        call: usize,
        context: &mut Context<'a, '_>,
    ) -> Result<&'a [Value<'a>], EvalError> {
        let mut run = Run::new(context, self.slots);
        let values = pure(run.values(&self.aggregates[call].arguments));
        run.end(values, self.aggregates[call].span)
    }
}

/// The error of an event that has used up its budget.
#[cold]
#[must_use]
pub fn spent(excess: Excess) -> EvalError {
    failure::used_up(Some(excess))
}

/// Expressions outside of scripts can fail but neither emit nor drop.
pub(crate) fn pure<T>(result: Eval<'_, T>) -> Result<T, EvalError> {
    result.map_err(|stop| match stop {
        Stop::Error(error) => error,
        Stop::Emit | Stop::Drop | Stop::Recur => {
            unreachable!("the grammar and lowering refuse emit, drop and recur in expressions")
        }
    })
}
