//! `select`: filters, groups, computes and, with windows, aggregates.

mod group;
mod level;
mod watermark;
mod timed;
mod windowed;
mod saving;
mod table;
#[cfg(test)]
mod timed_tests;

pub use group::{Dimension, MAX_GROUPS_PER_EVENT};
pub use level::{Slide, WindowKind, WindowSpec};
pub use timed::{Shape, TimedSelect, TimedSpec};
pub use windowed::WindowedSelect;

use crate::event::Event;
use crate::operator::{Emitter, OUT, Operator, Surroundings};
use std::sync::Arc;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::run::Context;
use temblor_lang::value::{Frozen, Owned, Value};

/// What a select with and one without window have in common.
#[derive(Debug)]
pub struct Clauses {
    /// What is selected.
    pub target: Formula,
    /// `where`
    pub filter: Option<Formula>,
    /// `group by`; `None` is one group.
    pub group: Option<Dimension>,
    /// `having`
    pub having: Option<Formula>,
    /// What `args` refers to.
    pub args: Arc<Frozen>,
}

impl Clauses {
    /// Whether the event passes `where`.
    fn takes<'a>(&'a self, event: Event<'a>, around: &Surroundings<'a>) -> Result<bool, EvalError> {
        match &self.filter {
            None => Ok(true),
            Some(filter) => {
                let mut nothing = Owned::Null;
                let mut context = self.context(event, around, &mut nothing);
                truth(filter.eval(&mut context)?, filter, "where")
            }
        }
    }

    /// The context of a clause over one event.
    fn context<'a, 'm>(
        &'a self,
        event: Event<'a>,
        around: &Surroundings<'a>,
        state: &'m mut Owned,
    ) -> Context<'a, 'm> {
        let (arena, facts) = (around.call.arena, around.call.facts);
        let mut context = Context::new(arena, facts, event.value, event.meta, state);
        context.args = self.args.get();
        context
    }
}

/// A condition must be a bool.
fn truth(value: Value<'_>, condition: &Formula, clause: &str) -> Result<bool, EvalError> {
    value.as_bool().ok_or_else(|| {
        let kind = value.kind().name();
        EvalError::new("E0427", format!("`{clause}` must be a bool, got {kind}")).at(condition.span)
    })
}

/// A select without window: one result for each event and group.
#[derive(Debug)]
pub struct Select {
    clauses: Clauses,
}

impl Select {
    /// A select of these clauses.
    #[must_use]
    pub fn new(clauses: Clauses) -> Self {
        Self { clauses }
    }

    fn result<'a>(
        &'a self,
        event: Event<'a>,
        group: Value<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let mut nothing = Owned::Null;
        let mut context = self.clauses.context(event, around, &mut nothing);
        context.group = group;
        let value = self.clauses.target.eval(&mut context)?;
        if let Some(having) = &self.clauses.having {
            context.event = value;
            if !truth(having.eval(&mut context)?, having, "having")? {
                out.count_drop();
                return Ok(());
            }
        }
        out.emit(OUT, event.with_value(value));
        Ok(())
    }
}

impl Operator for Select {
    type State = ();

    fn start(&self) {}

    fn process<'a>(
        &'a self,
        _: &mut (),
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        if !self.clauses.takes(event, around)? {
            out.count_drop();
            return Ok(());
        }
        let Some(dimension) = &self.clauses.group else {
            return self.result(event, group::UNGROUPED.get(), around, out);
        };
        for group in self.clauses.groups(dimension, event, around)? {
            self.result(event, group::value(group, around.arena()), around, out)?;
        }
        Ok(())
    }
}
