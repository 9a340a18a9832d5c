//! `stats::hdr`: a high dynamic range histogram of two significant digits. Few numbers are kept as
//! they are; the histogram is only built for many.

use super::percentiles::Percentiles;
use super::state::State;
use crate::declare::Outcome;
use hdrhistogram::Histogram;
use temblor_lang::builtin::{Call, CallError};
use temblor_lang::value::{Arena, Value};

/// Up to this many numbers are kept as they are, which takes less memory than a histogram.
const KEPT_MAX: usize = 256;

/// Significant decimal digits that the histogram tells apart.
const DIGITS: u8 = 2;

/// The state: numbers, then a histogram.
#[derive(Debug, Default)]
pub(super) struct Hdr {
    percentiles: Percentiles,
    kept: Vec<u64>,
    histogram: Option<Histogram<u64>>,
}

impl Hdr {
    fn record(&mut self, number: u64, times: u64) -> Result<(), CallError> {
        if self.histogram.is_none() {
            if times == 1 && self.kept.len() < KEPT_MAX {
                self.kept.push(number);
                return Ok(());
            }
            self.histogram = Some(self.build()?);
            self.kept = Vec::new();
        }
        match &mut self.histogram {
            Some(histogram) => histogram.record_n(number, times).map_err(|why| failed(&why)),
            None => Ok(()),
        }
    }

    /// A histogram of the numbers that were kept.
    fn build(&self) -> Result<Histogram<u64>, CallError> {
        let mut histogram = Histogram::new(DIGITS).map_err(|why| failed(&why))?;
        for number in &self.kept {
            histogram.record(*number).map_err(|why| failed(&why))?;
        }
        Ok(histogram)
    }
}

#[cold]
fn failed(why: &dyn std::fmt::Debug) -> CallError {
    CallError::failed(format!("the histogram cannot hold the number: {why:?}"))
}

impl State for Hdr {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.percentiles.settle(arguments)?;
        match arguments.first().and_then(|number| number.as_f64()) {
            Some(number) if number >= 0.0 => self.record(number as u64, 1),
            _ => Ok(()),
        }
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.percentiles.join(&later.percentiles);
        if let Some(other) = &later.histogram {
            if self.histogram.is_none() {
                self.histogram = Some(self.build()?);
                self.kept = Vec::new();
            }
            if let Some(histogram) = &mut self.histogram {
                histogram.add(other).map_err(|why| failed(&why))?;
            }
        }
        later.kept.iter().try_for_each(|number| self.record(*number, 1))
    }

    fn result<'a>(&self, call: &Call<'a>) -> Outcome<'a> {
        let built = if self.histogram.is_none() { Some(self.build()?) } else { None };
        let Some(histogram) = self.histogram.as_ref().or(built.as_ref()) else {
            return Ok(Value::Null);
        };
        let percentiles = self.percentiles.report(call.arena, |percentile| {
            Ok(Value::UInt(histogram.value_at_percentile(percentile * 100.0)))
        })?;
        let mut record = call.arena.record_builder(7);
        record.append("count", Value::UInt(histogram.len()));
        record.append("min", Value::UInt(histogram.min()));
        record.append("max", Value::UInt(histogram.max()));
        record.append("mean", Value::Float(histogram.mean()));
        record.append("stdev", Value::Float(histogram.stdev()));
        record.append("var", Value::Float(histogram.stdev().powi(2)));
        record.append("percentiles", percentiles);
        Ok(record.finish())
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        let mut counts = arena.array_builder(self.kept.len());
        let pair = |number, times| arena.array([Value::UInt(number), Value::UInt(times)]);
        self.kept.iter().for_each(|number| counts.push(pair(*number, 1)));
        if let Some(histogram) = &self.histogram {
            for step in histogram.iter_recorded() {
                counts.push(pair(step.value_iterated_to(), step.count_at_value()));
            }
        }
        arena.array([self.percentiles.save(arena), counts.finish()])
    }

    fn load(saved: Value<'_>, arena: &Arena) -> Option<Self> {
        let percentiles = Percentiles::load(saved.at(0)?, arena)?;
        let mut state = Self { percentiles, ..Self::default() };
        let counts = saved.at(1)?;
        for at in 0..counts.size()? {
            let pair = counts.at(at)?;
            state.record(pair.at(0)?.as_u64()?, pair.at(1)?.as_u64()?).ok()?;
        }
        Some(state)
    }
}
