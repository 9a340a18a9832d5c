//! `stats::median` and `stats::percentile`: exact while there are few numbers, a sketch beyond
//! [`EXACT_MAX`] of them.

use super::sketch::Sketch;
use super::state::{State, load_float, number, save_float, save_floats};
use crate::declare::Outcome;
use temblor_lang::builtin::{Call, CallError};
use temblor_lang::value::{Arena, Value};

/// Up to this many numbers are kept as they are.
const EXACT_MAX: usize = 1024;

/// Numbers of which any quantile can be told.
#[derive(Debug, Default)]
struct Numbers {
    exact: Vec<f64>,
    /// All numbers, once they are too many to keep.
    sketch: Option<Sketch>,
}

impl Numbers {
    fn add(&mut self, number: f64) {
        match &mut self.sketch {
            Some(sketch) => sketch.add(number),
            None if number.is_nan() => {}
            None if self.exact.len() < EXACT_MAX => self.exact.push(number),
            None => {
                let mut sketch = Sketch::default();
                self.exact.drain(..).for_each(|earlier| sketch.add(earlier));
                sketch.add(number);
                self.sketch = Some(sketch);
            }
        }
    }

    fn join(&mut self, later: &Self) {
        if let Some(other) = &later.sketch {
            let mut sketch = self.sketch.take().unwrap_or_default();
            self.exact.drain(..).for_each(|earlier| sketch.add(earlier));
            sketch.join(other);
            self.sketch = Some(sketch);
        }
        later.exact.iter().for_each(|number| self.add(*number));
    }

    fn quantile(&self, share: f64) -> Option<f64> {
        if let Some(sketch) = self.sketch.as_ref().filter(|sketch| sketch.count() > 0) {
            return sketch.quantile(share);
        }
        let mut sorted = self.exact.clone();
        sorted.sort_by(f64::total_cmp);
        let place = share * sorted.len().checked_sub(1)? as f64;
        let below = sorted.get(place.floor() as usize)?;
        let above = sorted.get(place.ceil() as usize)?;
        Some(below + (above - below) * place.fract())
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        let sketch = self.sketch.as_ref().map_or(Value::Null, |sketch| sketch.save(arena));
        arena.array([save_floats(arena, &self.exact), sketch])
    }

    fn load(saved: Value<'_>) -> Option<Self> {
        let list = saved.at(0)?;
        let exact = (0..list.size()?).map(|at| load_float(list.at(at)?)).collect::<Option<_>>()?;
        let sketch = match saved.at(1)? {
            Value::Null => None,
            sketch => Some(Sketch::load(sketch)?),
        };
        Some(Self { exact, sketch })
    }
}

/// The median.
#[derive(Debug, Default)]
pub(super) struct Median(Numbers);

impl State for Median {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.0.add(number(arguments)?);
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.0.join(&later.0);
        Ok(())
    }

    fn result<'a>(&self, _: &Call<'a>) -> Outcome<'a> {
        Ok(self.0.quantile(0.5).map_or(Value::Null, Value::Float))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        self.0.save(arena)
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        Numbers::load(saved).map(Self)
    }
}

/// The percentile that the second argument asks for.
#[derive(Debug, Default)]
pub(super) struct Percentile {
    numbers: Numbers,
    share: Option<f64>,
}

impl State for Percentile {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        let share = crate::declare::number(arguments, 1)?;
        if !(0.0..=1.0).contains(&share) {
            return Err(CallError::failed(format!("the percentile {share} is not from 0 to 1")));
        }
        self.numbers.add(number(arguments)?);
        self.share = Some(share);
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.numbers.join(&later.numbers);
        self.share = later.share.or(self.share);
        Ok(())
    }

    fn result<'a>(&self, _: &Call<'a>) -> Outcome<'a> {
        let quantile = self.share.and_then(|share| self.numbers.quantile(share));
        Ok(quantile.map_or(Value::Null, Value::Float))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        let share = self.share.map_or(Value::Null, |share| save_float(share, arena));
        arena.array([self.numbers.save(arena), share])
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        let share = match saved.at(1)? {
            Value::Null => None,
            share => Some(load_float(share)?),
        };
        Some(Self { numbers: Numbers::load(saved.at(0)?)?, share })
    }
}
