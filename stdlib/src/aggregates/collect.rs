//! Aggregates that keep whole values: first, last, collected and unique ones.

use super::state::State;
use crate::declare::{Outcome, count};
use std::collections::HashSet;
use temblor_lang::builtin::{Call, CallError};
use temblor_lang::value::{Arena, Owned, Value, hash128};

/// The most values that `win::unique` keeps.
const UNIQUE_MAX: usize = 10_000;

fn first(arguments: &[Value<'_>]) -> Result<Owned, CallError> {
    arguments.first().map(|value| Owned::from(*value)).ok_or(CallError::BadArity)
}

fn save_all<'a>(values: &[Owned], arena: &'a Arena) -> Value<'a> {
    arena.array(values.iter().map(|value| value.read(arena)))
}

fn load_all(saved: Value<'_>) -> Option<Vec<Owned>> {
    (0..saved.size()?).map(|at| saved.at(at).map(Owned::from)).collect()
}

fn save_one<'a>(value: Option<&Owned>, arena: &'a Arena) -> Value<'a> {
    arena.array(value.map(|value| value.read(arena)))
}

fn load_one(saved: Value<'_>) -> Option<Option<Owned>> {
    load_all(saved).map(|mut values| values.pop())
}

/// `win::first`.
#[derive(Debug, Default)]
pub(super) struct First(Option<Owned>);

impl State for First {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        if self.0.is_none() {
            self.0 = Some(first(arguments)?);
        }
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        if self.0.is_none() {
            self.0.clone_from(&later.0);
        }
        Ok(())
    }

    fn result<'a>(&self, call: &Call<'a>) -> Outcome<'a> {
        Ok(self.0.as_ref().map_or(Value::Null, |value| value.read(call.arena)))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        save_one(self.0.as_ref(), arena)
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        load_one(saved).map(Self)
    }
}

/// `win::last`.
#[derive(Debug, Default)]
pub(super) struct Last(Option<Owned>);

impl State for Last {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.0 = Some(first(arguments)?);
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        if later.0.is_some() {
            self.0.clone_from(&later.0);
        }
        Ok(())
    }

    fn result<'a>(&self, call: &Call<'a>) -> Outcome<'a> {
        Ok(self.0.as_ref().map_or(Value::Null, |value| value.read(call.arena)))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        save_one(self.0.as_ref(), arena)
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        load_one(saved).map(Self)
    }
}

/// `win::collect_flattened` and, with `NESTS`, `win::collect_nested`.
#[derive(Debug, Default)]
pub(super) struct Collected<const NESTS: bool>(Vec<Owned>);

/// `win::collect_flattened`.
pub(super) type Flattened = Collected<false>;
/// `win::collect_nested`.
pub(super) type Nested = Collected<true>;

impl<const NESTS: bool> State for Collected<NESTS> {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.0.push(first(arguments)?);
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        if NESTS {
            self.0.push(Owned::Array(later.0.clone()));
        } else {
            self.0.extend_from_slice(&later.0);
        }
        Ok(())
    }

    fn result<'a>(&self, call: &Call<'a>) -> Outcome<'a> {
        Ok(save_all(&self.0, call.arena))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        save_all(&self.0, arena)
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        load_all(saved).map(Self)
    }
}

/// `win::collect_up_to`.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    values: Vec<Owned>,
    limit: usize,
}

impl State for Bounded {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.limit = count(arguments, 1)?;
        if self.values.len() < self.limit {
            self.values.push(first(arguments)?);
        }
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.limit = self.limit.max(later.limit);
        let room = self.limit.saturating_sub(self.values.len());
        self.values.extend(later.values.iter().take(room).cloned());
        Ok(())
    }

    fn result<'a>(&self, call: &Call<'a>) -> Outcome<'a> {
        Ok(save_all(&self.values, call.arena))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        arena.array([Value::UInt(self.limit as u64), save_all(&self.values, arena)])
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        Some(Self { limit: saved.at(0)?.as_usize()?, values: load_all(saved.at(1)?)? })
    }
}

/// `win::unique`.
#[derive(Debug, Default)]
pub(super) struct Unique {
    values: Vec<Owned>,
    seen: HashSet<u128>,
}

impl Unique {
    fn take(&mut self, value: Value<'_>) {
        if self.values.len() < UNIQUE_MAX && self.seen.insert(hash128(value)) {
            self.values.push(Owned::from(value));
        }
    }

    fn take_all(&mut self, values: &[Owned]) {
        let mut arena = Arena::new();
        for value in values {
            self.take(value.read(&arena));
            arena.reset();
        }
    }
}

impl State for Unique {
    fn add(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError> {
        self.take(*arguments.first().ok_or(CallError::BadArity)?);
        Ok(())
    }

    fn join(&mut self, later: &Self) -> Result<(), CallError> {
        self.take_all(&later.values);
        Ok(())
    }

    fn result<'a>(&self, call: &Call<'a>) -> Outcome<'a> {
        Ok(save_all(&self.values, call.arena))
    }

    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        save_all(&self.values, arena)
    }

    fn load(saved: Value<'_>, _: &Arena) -> Option<Self> {
        let mut state = Self::default();
        state.take_all(&load_all(saved)?);
        Some(state)
    }
}
