//! Variance and standard deviation of a sample. Sums are taken of the distances from the first
//! number, which keeps digits when numbers are large and near to each other.

use super::state::{State, load_floats, number, save_floats};
use crate::declare::Outcome;
use temblor_lang::builtin::{Call, CallError};
use temblor_lang::value::{Arena, Value};

/// The variance.
#[derive(Debug, Default, Clone)]
pub(super) struct Variance {
    count: u64,
    /// The first number, from which distances are taken.
    origin: f64,
    /// The sum of the distances.
    sum: f64,
    /// The sum of their squares.
    squares: f64,
}

impl Variance {
    /// `None` when it is not defined.
    fn value(&self) -> Option<f64> {
        let count = self.count as f64;
        match self.count {
            0 => Some(0.0),
            1 => None,
            // Rounding may take equal numbers just below 0.
            _ => Some(((self.squares - self.sum * self.sum / count) / (count - 1.0)).max(0.0)),
        }
    }
}

impl State for Variance {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        let number = number(arguments)?;
        if self.count == 0 {
            self.origin = number;
        }
        let distance = number - self.origin;
        self.count += 1;
        self.sum += distance;
        self.squares += distance * distance;
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        if self.count == 0 {
            *self = later.clone();
            return Ok(());
        }
        // Moves the distances of the other side over to this side's origin.
        let shift = later.origin - self.origin;
        let count = later.count as f64;
        self.count += later.count;
        self.sum += later.sum + count * shift;
        self.squares += later.squares + 2.0 * shift * later.sum + count * shift * shift;
        Ok(())
    }

    fn result<'a>(&self, _: &Call<'a>) -> Outcome<'a> {
        Ok(self.value().map_or(Value::Null, Value::Float))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        save_floats(arena, &[self.count as f64, self.origin, self.sum, self.squares])
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        let [count, origin, sum, squares] = load_floats(saved)?;
        Some(Self { count: count as u64, origin, sum, squares })
    }
}

/// The standard deviation: the root of the variance.
#[derive(Debug, Default)]
pub(super) struct Deviation(Variance);

impl State for Deviation {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.0.add(arguments)
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.0.join(&later.0)
    }

    fn result<'a>(&self, _: &Call<'a>) -> Outcome<'a> {
        Ok(self.0.value().map_or(Value::Null, |variance| Value::Float(variance.sqrt())))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        self.0.save(arena)
    }

    fn load(saved: Value<'_>, arena: &Arena) -> Option<Self> {
        Variance::load(saved, arena).map(Self)
    }
}
