//! Aggregates that need a number or two: count, sum, extremes, mean and rate.

use super::state::{State, load_floats, number, save_floats};
use crate::declare::Outcome;
use temblor_lang::builtin::{Call, CallError};
use temblor_lang::value::{Arena, Value};

/// The number of events.
#[derive(Debug, Default)]
pub(super) struct Count(u64);

impl State for Count {
    fn add(&mut self, _: &[Value<'_>]) -> Result<(), CallError> {
        self.0 += 1;
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.0 += later.0;
        Ok(())
    }

    fn result<'a>(&self, _: &Call<'a>) -> Outcome<'a> {
        Ok(Value::UInt(self.0))
    }

    fn save<'a>(&self, _: &'a Arena) -> Value<'a> {
        Value::UInt(self.0)
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        saved.as_u64().map(Self)
    }
}

/// The sum of numbers.
#[derive(Debug, Default)]
pub(super) struct Sum(f64);

impl State for Sum {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.0 += number(arguments)?;
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.0 += later.0;
        Ok(())
    }

    fn result<'a>(&self, _: &Call<'a>) -> Outcome<'a> {
        Ok(Value::Float(self.0))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        save_floats(arena, &[self.0])
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        load_floats(saved).map(|[sum]| Self(sum))
    }
}

/// An extreme of numbers: the one that `IS_MOST` asks for.
#[derive(Debug, Default)]
pub(super) struct Extreme<const IS_MOST: bool>(Option<f64>);

/// The smallest number.
pub(super) type Least = Extreme<false>;
/// The largest number.
pub(super) type Most = Extreme<true>;

impl<const IS_MOST: bool> Extreme<IS_MOST> {
    fn take(&mut self, number: f64) {
        let is_better =
            self.0.is_none_or(|best| if IS_MOST { number > best } else { number < best });
        if is_better {
            self.0 = Some(number);
        }
    }
}

impl<const IS_MOST: bool> State for Extreme<IS_MOST> {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.take(number(arguments)?);
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        if let Some(number) = later.0 {
            self.take(number);
        }
        Ok(())
    }

    fn result<'a>(&self, _: &Call<'a>) -> Outcome<'a> {
        Ok(Value::Float(self.0.unwrap_or_default()))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        self.0.map_or(Value::Null, |best| save_floats(arena, &[best]))
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        match saved {
            Value::Null => Some(Self(None)),
            _ => load_floats(saved).map(|[best]| Self(Some(best))),
        }
    }
}

/// The mean of numbers.
#[derive(Debug, Default)]
pub(super) struct Mean {
    count: u64,
    sum: f64,
}

impl State for Mean {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.sum += number(arguments)?;
        self.count += 1;
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.count += later.count;
        self.sum += later.sum;
        Ok(())
    }

    fn result<'a>(&self, _: &Call<'a>) -> Outcome<'a> {
        Ok(match self.count {
            0 => Value::Null,
            count => Value::Float(self.sum / count as f64),
        })
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        save_floats(arena, &[self.count as f64, self.sum])
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        load_floats(saved).map(|[count, sum]| Self { count: count as u64, sum })
    }
}

/// Events per second.
#[derive(Debug)]
pub(super) struct Rate {
    count: u64,
    earliest: f64,
    latest: f64,
}

impl Default for Rate {
    fn default() -> Self {
        Self { count: 0, earliest: f64::INFINITY, latest: f64::NEG_INFINITY }
    }
}

impl State for Rate {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        let at = number(arguments)?;
        self.join(&Self { count: 1, earliest: at, latest: at })
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.count += later.count;
        self.earliest = self.earliest.min(later.earliest);
        self.latest = self.latest.max(later.latest);
        Ok(())
    }

    fn result<'a>(&self, _: &Call<'a>) -> Outcome<'a> {
        const NANOS_PER_SECOND: f64 = 1e9;
        let span = self.latest - self.earliest;
        let is_defined = self.count > 1 && span > 0.0;
        let rate = || self.count.saturating_sub(1) as f64 * NANOS_PER_SECOND / span;
        Ok(if is_defined { Value::Float(rate()) } else { Value::Null })
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        save_floats(arena, &[self.count as f64, self.earliest, self.latest])
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        load_floats(saved).map(|[count, earliest, latest]| Self {
            count: count as u64,
            earliest,
            latest,
        })
    }
}
