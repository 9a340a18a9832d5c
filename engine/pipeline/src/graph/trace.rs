//! A graph looked into while it is tried out: the way of an event node by node, and what nodes
//! remember, to be read and replaced. The nodes do the very same as in production.

use super::{Arrival, Graph, Memory, Receiver, States, Step, Way};
use crate::event::Event;
use crate::operator::{AnyOperator, Emitter, Surroundings};
use crate::row::Row;
use std::time::{Duration, Instant};
use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Owned, Value};

/// An event at a node.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The node's number.
    pub node: usize,
    /// The event's data when it came.
    pub before: Owned,
    /// The data of the events that went on from here, in their order.
    pub after: Vec<Owned>,
    /// Whether the node is an operator, script or select.
    pub works: bool,
    /// The hash of the row that the event leads to, and its key, where only the node knows them.
    pub key: Option<(u128, Owned)>,
    /// How long the node took.
    pub took: Duration,
}

impl Graph {
    /// As [`Graph::advance`] with all states; writes down each visit.
    pub fn trace<'a>(
        &'a self,
        way: &mut Way<'a>,
        memory: &mut Memory<'_>,
        around: &Surroundings<'a>,
        receiver: &mut dyn Receiver<'a>,
    ) -> Vec<Visit> {
        let mut emitter = Emitter::new(around.arena());
        let mut visits = Vec::new();
        while let Some(arrival) = way.pop() {
            let (node, event, waiting) = (arrival.node, arrival.event, way.len());
            let key = self.key(node, &event, around.arena());
            let started = Instant::now();
            if !self.visit_one(arrival, way, memory, around, &mut emitter, receiver) {
                break;
            }
            let took = started.elapsed();
            let after = way[waiting.min(way.len())..].iter().rev();
            let after = after.map(|next: &Arrival<'_>| Owned::from(next.event.value)).collect();
            let works = matches!(self.nodes[node].step, Step::Operator(_));
            let before = Owned::from(event.value);
            visits.push(Visit { node, before, after, works, key, took });
        }
        visits
    }

    fn key<'a>(&self, node: usize, event: &Event<'a>, arena: &'a Arena) -> Option<(u128, Owned)> {
        let Step::Operator(operator) = &self.nodes[node].step else { return None };
        let (hash, key) = operator.key(event, arena)?;
        Some((hash, Owned::from(key)))
    }

    /// What each node remembers that can tell it, by its name.
    #[must_use]
    pub fn memories(&self, states: &States) -> Vec<(&str, Owned)> {
        let arena = Arena::new();
        let stateful = self.operators().filter(|(_, operator)| operator.is_stateful());
        let saved = |(number, operator): (usize, &dyn AnyOperator)| {
            let value = Owned::from(operator.save(states.0[number].as_ref(), &arena));
            (self.nodes[number].name.as_str(), value)
        };
        stateful.map(saved).collect()
    }

    /// What a node remembers by key; `None` when there is no such node or it keeps no table.
    #[must_use]
    pub fn rows<'a>(&self, states: &States, node: &str, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let (number, operator) = self.named(node)?;
        operator.rows(states.0[number].as_ref(), arena)
    }

    /// Puts other columns into a row of a node; `None` when there is no such node.
    ///
    /// # Errors
    /// When the columns are not those of a row.
    pub fn amend(
        &self,
        states: &mut States,
        node: &str,
        (hash, columns): (u128, Value<'_>),
    ) -> Option<Result<(), CallError>> {
        let (number, operator) = self.named(node)?;
        Some(operator.amend(states.0[number].as_mut(), hash, columns))
    }

    /// Lets a node forget a key; whether there was one.
    pub fn forget(&self, states: &mut States, node: &str, hash: u128) -> bool {
        let Some((number, operator)) = self.named(node) else { return false };
        operator.forget(states.0[number].as_mut(), hash)
    }

    fn named(&self, node: &str) -> Option<(usize, &dyn AnyOperator)> {
        self.operators().find(|(number, _)| self.nodes[*number].name == node)
    }

    /// Gives a node another memory; `None` when there is no such node.
    ///
    /// # Errors
    /// When the node cannot read the value as its memory.
    pub fn replace_memory(
        &self,
        states: &mut States,
        node: &str,
        value: Value<'_>,
    ) -> Option<Result<(), CallError>> {
        let (number, operator) = self.named(node)?;
        Some(operator.restore(value).map(|state| states.0[number] = state))
    }
}
