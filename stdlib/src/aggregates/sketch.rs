//! DDSketch (Masson, Rim and Lee, "DDSketch: a fast and fully-mergeable quantile sketch with
//! relative-error guarantees", 2019) and `stats::dds`. Memory is bounded by [`BINS_MAX`].

use super::percentiles::Percentiles;
use super::state::{State, load_float, save_float};
use crate::declare::Outcome;
use std::collections::BTreeMap;
use temblor_lang::builtin::{Call, CallError};
use temblor_lang::value::{Arena, Value};

/// The relative error of a quantile.
const ERROR: f64 = 0.01;

/// The ratio between the bounds of one bin.
const GAMMA: f64 = 1.0 + 2.0 * ERROR / (1.0 - ERROR);

/// Numbers up to this magnitude count as 0.
const ZERO_MAX: f64 = 1.0e-9;

/// The most bins of one sign; beyond it, those nearest to 0 become one.
const BINS_MAX: usize = 2048;

/// How many numbers fell into each bin of logarithmic width.
#[derive(Debug, Clone)]
pub(super) struct Sketch {
    positive: BTreeMap<i32, u64>,
    negative: BTreeMap<i32, u64>,
    zeros: u64,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl Default for Sketch {
    fn default() -> Self {
        Self {
            positive: BTreeMap::new(),
            negative: BTreeMap::new(),
            zeros: 0,
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl Sketch {
    /// Counts one number. NaN and infinities do not count.
    pub(super) fn add(&mut self, number: f64) {
        if !number.is_finite() {
            return;
        }
        let key = (number.abs().ln() / GAMMA.ln()).ceil() as i32;
        if number > ZERO_MAX {
            count_in(&mut self.positive, key, 1);
        } else if number < -ZERO_MAX {
            count_in(&mut self.negative, key, 1);
        } else {
            self.zeros += 1;
        }
        self.count += 1;
        self.sum += number;
        self.min = self.min.min(number);
        self.max = self.max.max(number);
    }

    /// Counts all that `other` has counted.
    pub(super) fn join(&mut self, other: &Self) {
        other.positive.iter().for_each(|(key, times)| count_in(&mut self.positive, *key, *times));
        other.negative.iter().for_each(|(key, times)| count_in(&mut self.negative, *key, *times));
        self.zeros += other.zeros;
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many numbers were counted.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The number below which the share `share` (0 to 1) of all numbers lies; `None` when nothing
    /// was counted or there is no such share.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        if self.count == 0 || !(0.0..=1.0).contains(&share) {
            return None;
        }
        if share == 0.0 {
            return Some(self.min);
        }
        if share == 1.0 {
            return Some(self.max);
        }
        let mut rank = (share * (self.count as f64 - 1.0)) as u64;
        for (key, times) in self.negative.iter().rev() {
            match rank.checked_sub(*times) {
                Some(rest) => rank = rest,
                None => return Some(-middle(*key)),
            }
        }
        match rank.checked_sub(self.zeros) {
            Some(rest) => rank = rest,
            None => return Some(0.0),
        }
        for (key, times) in &self.positive {
            match rank.checked_sub(*times) {
                Some(rest) => rank = rest,
                None => return Some(middle(*key)),
            }
        }
        Some(self.max)
    }

    /// Everything in it.
    pub(super) fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        let bins = |bins: &BTreeMap<i32, u64>| {
            arena.array(bins.iter().map(|(key, times)| {
                arena.array([Value::Int(i64::from(*key)), Value::UInt(*times)])
            }))
        };
        arena.array([
            bins(&self.positive),
            bins(&self.negative),
            Value::UInt(self.zeros),
            Value::UInt(self.count),
            save_float(self.sum, arena),
            save_float(self.min, arena),
            save_float(self.max, arena),
        ])
    }

    /// What [`Sketch::save`] gave.
    pub(super) fn load(saved: Value<'_>) -> Option<Self> {
        let bins = |at: usize| -> Option<BTreeMap<i32, u64>> {
            let list = saved.at(at)?;
            let pair = |at: usize| {
                let pair = list.at(at)?;
                Some((i32::try_from(pair.at(0)?.as_i64()?).ok()?, pair.at(1)?.as_u64()?))
            };
            (0..list.size()?).map(pair).collect()
        };
        Some(Self {
            positive: bins(0)?,
            negative: bins(1)?,
            zeros: saved.at(2)?.as_u64()?,
            count: saved.at(3)?.as_u64()?,
            sum: load_float(saved.at(4)?)?,
            min: load_float(saved.at(5)?)?,
            max: load_float(saved.at(6)?)?,
        })
    }
}

/// The number that stands for a bin: its error is the same towards both bounds.
fn middle(key: i32) -> f64 {
    (f64::from(key) * GAMMA.ln()).exp() * (2.0 / (1.0 + GAMMA))
}

fn count_in(bins: &mut BTreeMap<i32, u64>, key: i32, times: u64) {
    *bins.entry(key).or_default() += times;
    while bins.len() > BINS_MAX {
        let Some((_, lowest)) = bins.pop_first() else { return };
        if let Some(mut next) = bins.first_entry() {
            *next.get_mut() += lowest;
        }
    }
}

/// `stats::dds`.
#[derive(Debug, Default)]
pub(super) struct Dds {
    percentiles: Percentiles,
    sketch: Sketch,
}

impl State for Dds {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.percentiles.settle(arguments)?;
        if let Some(number) = arguments.first().and_then(|number| number.as_f64())
            && number >= 0.0
        {
            self.sketch.add(number);
        }
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.percentiles.join(&later.percentiles);
        self.sketch.join(&later.sketch);
        Ok(())
    }

    fn result<'a>(&self, call: &Call<'a>) -> Outcome<'a> {
        let sketch = &self.sketch;
        let is_empty = sketch.count == 0;
        let percentiles = self.percentiles.report(call.arena, |share| {
            if is_empty {
                return Ok(Value::Float(0.0));
            }
            let quantile = sketch.quantile(share).ok_or_else(|| {
                CallError::failed(format!("the percentile {share} is not between 0 and 1"))
            })?;
            Ok(Value::Float((quantile * 10.0).ceil() / 10.0))
        })?;
        let filled = |number: f64| Value::Float(if is_empty { 0.0 } else { number });
        let mut record = call.arena.record_builder(6);
        record.append("count", Value::UInt(sketch.count));
        record.append("sum", filled(sketch.sum));
        record.append("min", filled(sketch.min));
        record.append("max", filled(sketch.max));
        record.append("mean", filled(sketch.sum / sketch.count as f64));
        record.append("percentiles", percentiles);
        Ok(record.finish())
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        arena.array([self.percentiles.save(arena), self.sketch.save(arena)])
    }

    fn load(saved: Value<'_>, arena: &Arena) -> Option<Self> {
        let percentiles = Percentiles::load(saved.at(0)?, arena)?;
        Some(Self { percentiles, sketch: Sketch::load(saved.at(1)?)? })
    }
}
