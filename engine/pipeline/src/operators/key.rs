//! What an operator asks of an event: the value of an expression, or its hash. An expression that
//! fails for an event fails that event.

use crate::event::Event;
use crate::operator::Surroundings;
use std::sync::Arc;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::run::Context;
use temblor_lang::value::{Owned, Value, hash128, keyed_hash128};

/// The value of an expression for an event.
///
/// # Errors
/// When the evaluation fails.
pub(super) fn evaluate<'a>(
    formula: &'a Formula,
    event: &Event<'a>,
    around: &Surroundings<'a>,
) -> Result<Value<'a>, EvalError> {
    let mut state = Owned::Null;
    let call = &around.call;
    let mut context = Context::new(call.arena, call.facts, event.value, event.meta, &mut state);
    formula.eval(&mut context)
}

/// The key of an event: the value of an expression, or all of the event's data.
#[derive(Clone, Debug)]
pub(super) struct Key(pub Option<Arc<Formula>>);

impl Key {
    /// The hash of the key under the key of a hash.
    pub(super) fn keyed_hash<'a>(
        &'a self,
        event: &Event<'a>,
        around: &Surroundings<'a>,
        seed: u64,
    ) -> Result<u128, EvalError> {
        let value = match &self.0 {
            None => event.value,
            Some(formula) => evaluate(formula, event, around)?,
        };
        Ok(keyed_hash128(value, seed))
    }

    /// The canonical hash of the key.
    pub(super) fn hash<'a>(
        &'a self,
        event: &Event<'a>,
        around: &Surroundings<'a>,
    ) -> Result<u128, EvalError> {
        match &self.0 {
            None => Ok(hash128(event.value)),
            Some(formula) => evaluate(formula, event, around).map(hash128),
        }
    }
}

/// The key of operators that treat all events alike unless a key is given.
#[derive(Clone, Debug)]
pub(super) struct Group(pub Option<Arc<Formula>>);

impl Group {
    /// The canonical hash of the key; the same for all events when there is none.
    pub(super) fn hash<'a>(
        &'a self,
        event: &Event<'a>,
        around: &Surroundings<'a>,
    ) -> Result<u128, EvalError> {
        match &self.0 {
            None => Ok(1),
            Some(formula) => evaluate(formula, event, around).map(hash128),
        }
    }
}
