//! `stats::count_distinct`: exact while there are few values, HyperLogLog (Flajolet and others,
//! 2007) beyond [`EXACT_MAX`]. Memory is at most [`REGISTERS`] bytes then.

use super::state::State;
use crate::declare::Outcome;
use std::collections::BTreeSet;
use temblor_lang::builtin::{Call, CallError};
use temblor_lang::value::{Arena, Value, hash128};

/// Up to this many values are counted exactly.
const EXACT_MAX: usize = 1024;

/// Bits of the hash that choose a register: the error is about 1.04 / sqrt(2^12), 1.6 %.
const REGISTER_BITS: u32 = 12;
const REGISTERS: usize = 1 << REGISTER_BITS;

/// The hashes of the values, or the registers.
#[derive(Debug)]
pub(super) enum Distinct {
    /// All hashes.
    Exact(BTreeSet<u64>),
    /// The longest run of zeros, plus one, for each register.
    Estimate(Box<[u8; REGISTERS]>),
}

impl Default for Distinct {
    fn default() -> Self {
        Self::Exact(BTreeSet::new())
    }
}

impl Distinct {
    fn take(&mut self, hash: u64) {
        match self {
            Self::Estimate(registers) => register(registers, hash),
            Self::Exact(hashes) => {
                hashes.insert(hash);
                if hashes.len() > EXACT_MAX {
                    *self = Self::Estimate(registers_of(hashes));
                }
            }
        }
    }
}

fn register(registers: &mut [u8; REGISTERS], hash: u64) {
    let at = (hash >> (u64::BITS - REGISTER_BITS)) as usize;
    // The lowest bit bounds the run when all others are 0.
    let rest = hash << REGISTER_BITS | 1 << (REGISTER_BITS - 1);
    let run = rest.leading_zeros() as u8 + 1;
    registers[at] = registers[at].max(run);
}

fn registers_of(hashes: &BTreeSet<u64>) -> Box<[u8; REGISTERS]> {
    let mut registers = Box::new([0; REGISTERS]);
    hashes.iter().for_each(|hash| register(&mut registers, *hash));
    registers
}

fn estimate(registers: &[u8; REGISTERS]) -> u64 {
    let count = REGISTERS as f64;
    let sum: f64 = registers.iter().map(|run| (-f64::from(*run)).exp2()).sum();
    let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
    let empty = registers.iter().filter(|run| **run == 0).count();
    // Counting the empty registers is better while there are many.
    let is_small = raw <= 2.5 * count && empty > 0;
    (if is_small { count * (count / empty as f64).ln() } else { raw }).round() as u64
}

impl State for Distinct {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.take(hash128(*arguments.first().ok_or(CallError::BadArity)?) as u64);
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        match later {
            Self::Exact(hashes) => hashes.iter().for_each(|hash| self.take(*hash)),
            Self::Estimate(other) => {
                if let Self::Exact(hashes) = self {
                    *self = Self::Estimate(registers_of(hashes));
                }
                if let Self::Estimate(registers) = self {
                    registers.iter_mut().zip(other.iter()).for_each(|(l, r)| *l = (*l).max(*r));
                }
            }
        }
        Ok(())
    }

    fn result<'a>(&self, _: &Call<'a>) -> Outcome<'a> {
        Ok(Value::UInt(match self {
            Self::Exact(hashes) => hashes.len() as u64,
            Self::Estimate(registers) => estimate(registers),
        }))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        let list = match self {
            Self::Exact(hashes) => arena.array(hashes.iter().map(|hash| Value::UInt(*hash))),
            Self::Estimate(registers) => {
                arena.array(registers.iter().map(|run| Value::UInt(u64::from(*run))))
            }
        };
        arena.array([Value::Bool(matches!(self, Self::Exact(_))), list])
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        let list = saved.at(1)?;
        let size = list.size()?;
        let mut numbers = (0..size).map(|at| list.at(at)?.as_u64());
        if saved.at(0)?.as_bool()? {
            return numbers.collect::<Option<_>>().map(Self::Exact);
        }
        if size != REGISTERS {
            return None;
        }
        let mut registers = Box::new([0; REGISTERS]);
        for slot in registers.iter_mut() {
            *slot = u8::try_from(numbers.next()??).ok()?;
        }
        Some(Self::Estimate(registers))
    }
}
