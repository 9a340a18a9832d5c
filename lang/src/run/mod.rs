//! The interpreter: walks a lowered program over one event. It allocates in the event's arena
//! alone and touches nothing outside of [`Context`].

mod arithmetic;
mod assign;
mod bytes;
mod call;
mod comprehension;
mod eval;
mod event;
mod failure;
mod matching;
mod patch;
mod path;
mod text;
mod truth;

pub use call::RECURSION_MAX;

use crate::builtin::{Accumulator, Call, Facts};
use crate::error::EvalError;
use crate::program::{Formula, Script};
use crate::span::Span;
use crate::value::{Arena, Owned, Value};

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
        let mut locals = bumpalo::collections::Vec::with_capacity_in(slots, arena.bump());
        locals.resize(slots, None);
        let event = event::Working::default();
        let memo = path::Memo::default();
        Self { context, event, memo, verdicts: None, locals, base: 0, emitted: None, recur: None }
    }

    pub fn arena(&self) -> &'a Arena {
        self.context.call.arena
    }

    pub fn local(&self, slot: usize) -> Option<Value<'a>> {
        self.locals[self.base + slot]
    }

    /// Takes a step of the budget, where there is one.
    #[inline]
    pub fn spend(&self, span: Span) -> Result<(), EvalError> {
        match &self.context.call.facts.budget {
            None => Ok(()),
            Some(budget) => budget.spend(span),
        }
    }

    pub fn set_local(&mut self, slot: usize, value: Value<'a>) {
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
        run.whole_event();
        outcome
    }
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
        pure(run.eval(&self.expr))
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
        pure(run.values(&self.aggregates[call].arguments))
    }
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
