//! What the nodes of a graph remember goes over to the graph that takes its place. A node finds its own as
//! it does in what an earlier run saved: see [`Identity`].
//!
//! Invariant: what no node takes over stays with the old graph, which can still put it out.

use super::identity::{Identity, pair};
use super::{Graph, States};
use crate::operator::AnyOperator;
use std::any::Any;
use temblor_lang::value::Arena;

/// Something that is remembered and that the new graph does not take over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The node that remembers it.
    pub step: String,
    /// Why, as a sentence without a full stop.
    pub reason: String,
    /// How many keys, groups or events it keeps, where that is known.
    pub entries: Option<u64>,
}

impl Graph {
    /// Takes what `old` remembers into `states`, as far as there is a place for it; says what is lost.
    pub fn take_over(
        made: &Graph,
        states: &mut States,
        old: &Graph,
        old_states: &mut States,
    ) -> Vec<Lost> {
        let places = made.places(old);
        let mut lost = Vec::new();
        for (from, to) in places {
            let (name, operator) = old.operator(from);
            let entries = operator.usage(old_states.0[from].as_ref()).map(|usage| usage.entries);
            let Some(to) = to else {
                lost.push(Lost { step: name.to_string(), reason: GONE.to_string(), entries });
                continue;
            };
            let (_, new) = made.operator(to);
            if is_same(operator, new, &old_states.0[from], &states.0[to]) {
                std::mem::swap(&mut old_states.0[from], &mut states.0[to]);
                continue;
            }
            match restored(operator, old_states.0[from].as_ref(), new) {
                Ok(state) => {
                    states.0[to] = state;
                    old_states.0[from] = operator.start();
                }
                Err(reason) => lost.push(Lost { step: name.to_string(), reason, entries }),
            }
        }
        lost
    }

    /// What [`Graph::take_over`] would lose.
    #[must_use]
    pub fn would_lose(made: &Graph, old: &Graph, old_states: &States) -> Vec<Lost> {
        let fresh = made.start();
        let lost = made.places(old).into_iter().filter_map(|(from, to)| {
            let (name, operator) = old.operator(from);
            let state = &old_states.0[from];
            let entries = operator.usage(state.as_ref()).map(|usage| usage.entries);
            let reason = match to {
                None => GONE.to_string(),
                Some(to) => {
                    let (_, new) = made.operator(to);
                    if is_same(operator, new, state, &fresh.0[to]) {
                        return None;
                    }
                    restored(operator, state.as_ref(), new).err()?
                }
            };
            Some(Lost { step: name.to_string(), reason, entries })
        });
        lost.collect()
    }

    /// The nodes of `old` that remember something, and the node that takes each one's place.
    fn places(&self, old: &Self) -> Vec<(usize, Option<usize>)> {
        let (nodes, old_nodes): (Vec<_>, Vec<_>) =
            (self.remembering().collect(), old.remembering().collect());
        let found = pair(&old.identities(&old_nodes), &self.identities(&nodes));
        let place = |at: usize| found.iter().position(|from| *from == Some(at)).map(|to| nodes[to]);
        old_nodes.iter().enumerate().map(|(at, node)| (*node, place(at))).collect()
    }

    fn identities(&self, nodes: &[usize]) -> Vec<&Identity> {
        nodes.iter().map(|node| &self.nodes[*node].identity).collect()
    }

    fn remembering(&self) -> impl Iterator<Item = usize> {
        self.operators().filter(|(_, one)| one.is_stateful()).map(|(node, _)| node)
    }

    fn operator(&self, node: usize) -> (&str, &dyn AnyOperator) {
        let found = self.operators().find(|(number, _)| *number == node);
        let (_, operator) = found.expect("only operators remember something");
        (&self.nodes[node].name, operator)
    }
}

const GONE: &str = "the new program has no such step";

/// Whether both operators do the same with the same kind of state, so that one can go on with the state of the
/// other as it is.
fn is_same(
    old: &dyn AnyOperator,
    new: &dyn AnyOperator,
    old_state: &Box<dyn Any + Send>,
    new_state: &Box<dyn Any + Send>,
) -> bool {
    old_state.as_ref().type_id() == new_state.as_ref().type_id()
        && without_places(&format!("{old:?}")) == without_places(&format!("{new:?}"))
}

/// The state in the form in which it is saved, read by an operator with other settings.
fn restored(
    old: &dyn AnyOperator,
    state: &dyn Any,
    new: &dyn AnyOperator,
) -> Result<Box<dyn Any + Send>, String> {
    let arena = Arena::new();
    if old.start().as_ref().type_id() != new.start().as_ref().type_id() {
        return Err("the step of this name is of another kind now".to_string());
    }
    new.restore(old.save(state, &arena))
        .map_err(|error| format!("what it remembers does not fit its new settings: {error}"))
}

/// How something is written in a debugger, but for where in the text it stands: what two things that are made
/// alike have in common.
#[must_use]
pub fn without_places(text: &str) -> String {
    const PLACE: &str = "Span {";
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(PLACE) {
        kept.push_str(&rest[..at]);
        rest = rest[at..].find('}').map_or("", |end| &rest[at + end + 1..]);
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::without_places;

    #[test]
    fn where_a_step_stands_does_not_make_it_another() {
        let (first, second) =
            ("Key(Span { start: 1, end: 2 }, 3)", "Key(Span { start: 7, end: 9 }, 3)");
        assert_eq!(without_places(first), without_places(second));
        assert_ne!(without_places(first), without_places("Key(Span { start: 1, end: 2 }, 4)"));
    }
}
