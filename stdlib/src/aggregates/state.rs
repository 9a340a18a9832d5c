//! The part that all accumulators have in common: an aggregate defines a [`State`], and [`start`]
//! makes an accumulator of it. States of different aggregates are never merged.

use crate::declare::Outcome;
use std::any::Any;
use std::fmt::Debug;
use temblor_lang::builtin::{Accumulator, Call, CallError};
use temblor_lang::value::{Arena, Value};

/// In front of the bits of a float.
const BITS: &str = "0x";

/// What an aggregate remembers of the events of a window.
pub(super) trait State: Debug + Default + Send + 'static {
    /// Takes the arguments for one event.
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError>;
    /// Takes what a later state has seen.
    fn join(&mut self, later: &Self) -> Result<(), CallError>;
    /// The result so far.
    fn result<'a>(&self, call: &Call<'a>) -> Outcome<'a>;
    /// Everything that it remembers.
    fn save<'a>(&self, arena: &'a Arena) -> Value<'a>;
    /// The state that gave `saved`; `None` when it is not of that shape.
    fn load(saved: Value<'_>, arena: &Arena) -> Option<Self>;
}

#[derive(Debug)]
struct Held<S>(S);

/// A fresh accumulator with the state `S`.
pub(super) fn start<S: State>() -> Box<dyn Accumulator> {
    Box::new(Held(S::default()))
}

impl<S: State> Accumulator for Held<S> {
    fn accumulate(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.0.add(arguments)
    }

    fn merge(&mut self, other: &dyn Accumulator) -> Result<(), CallError> {
        match other.as_any().downcast_ref::<Self>() {
            Some(other) => self.0.join(&other.0),
            None => Err(CallError::failed("states of different aggregates cannot be merged")),
        }
    }

    fn emit<'a>(&self, call: &Call<'a>) -> Outcome<'a> {
        self.0.result(call)
    }

    fn reset(&mut self) {
        self.0 = S::default();
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        self.0.save(arena)
    }

    fn restore(&mut self, saved: Value<'_>) -> Result<(), CallError> {
        let arena = Arena::new();
        let copy = saved.copy_into(&arena);
        match S::load(copy, &arena) {
            Some(state) => {
                self.0 = state;
                Ok(())
            }
            None => Err(CallError::failed("the saved state of the aggregate has another shape")),
        }
    }
}

/// The number that is the first argument.
pub(super) fn number(arguments: &[Value<'_>]) -> Result<f64, CallError> {
    crate::declare::number(arguments, 0)
}

/// A float so that JSON brings back each of its bits, and a person can read and write it: a number, or
/// the bits as `0x…` for what JSON has no number for, and for a zero below zero.
pub(super) fn save_float<'a>(number: f64, arena: &'a Arena) -> Value<'a> {
    match number.is_finite() && (number != 0.0 || number.is_sign_positive()) {
        true => Value::Float(number),
        false => Value::Str(arena.format(format_args!("{BITS}{:016x}", number.to_bits()))),
    }
}

/// The float that [`save_float`] gave; any number, too.
pub(super) fn load_float(saved: Value<'_>) -> Option<f64> {
    match saved {
        Value::Str(text) => {
            u64::from_str_radix(text.strip_prefix(BITS)?, 16).ok().map(f64::from_bits)
        }
        number => number.as_f64(),
    }
}

/// An array of floats, each as [`save_float`] gives it.
pub(super) fn save_floats<'a>(arena: &'a Arena, numbers: &[f64]) -> Value<'a> {
    arena.array(numbers.iter().map(|number| save_float(*number, arena)))
}

/// As many floats as the result holds, from what [`save_floats`] gave.
pub(super) fn load_floats<const N: usize>(saved: Value<'_>) -> Option<[f64; N]> {
    let mut numbers = [0.0; N];
    if saved.size() != Some(N) {
        return None;
    }
    for (at, number) in numbers.iter_mut().enumerate() {
        *number = load_float(saved.at(at)?)?;
    }
    Some(numbers)
}
