//! Captures, atomic groups and look-around.

use crate::onigmo::{Label, Node, fixed_chars};

use super::super::analysis::{first, is_pure};
use super::super::class::Class;
use super::super::dfa::Kind;
use super::super::kept;
use super::super::program::{Address, NO_SLOT, Operation};
use super::super::symbols::SymbolSet;
use super::{Lowering, single_class};

impl Lowering {
    pub(super) fn capture(&mut self, label: &Label, body: &Node, next: Address) -> Option<Address> {
        let Label::Number(group) = label else { return None };
        let slot = u32::try_from(group * 2).ok()?;
        let after = self.first_of(next);
        let close = self.push(Operation::Save { slot: slot + 1, next }, after)?;
        let inner = self.node(body, close)?;
        if self.fuse_capture(inner, close, slot, next) {
            return Some(inner);
        }
        let first = self.first_of(inner);
        self.push(Operation::Save { slot, next: inner }, first)
    }

    /// Lets the only operation of a group store both slots itself. An operation that goes on at
    /// the group's own `close` was made for this group, so nothing else enters it.
    fn fuse_capture(&mut self, inner: Address, close: Address, slot: u32, next: Address) -> bool {
        let (own_slot, own_next) = match &mut self.operations[inner as usize] {
            Operation::Automaton { slot, next, .. } => (slot, next),
            Operation::Run(run) if run.exclusive && !run.lazy => (&mut run.slot, &mut run.next),
            _ => return false,
        };
        if *own_next != close {
            return false;
        }
        *own_slot = slot;
        *own_next = next;
        true
    }

    pub(super) fn atomic(&mut self, body: &Node, next: Address) -> Option<Address> {
        let after = first(body, &self.first_of(next));
        if is_pure(body)
            && let Some(automaton) = kept::automaton(body, Kind::First)
        {
            // To look for the end that can be followed is quicker than to keep the latest end.
            let unique = automaton.prefers_longest().then(|| self.first_of(next));
            let unique = unique.and_then(|follow| kept::automaton(body, Kind::Unique(follow)));
            let automaton = unique.unwrap_or(automaton);
            return self
                .push(Operation::Automaton { automaton, slot: NO_SLOT, then: None, next }, after);
        }
        let register = self.register();
        let close = self.push(Operation::AtomicClose { register, next }, SymbolSet::any_next())?;
        self.committed += 1;
        let inner = self.node(body, close)?;
        self.committed -= 1;
        self.push(Operation::AtomicOpen { register, next: inner }, after)
    }

    pub(super) fn look(
        &mut self,
        behind: bool,
        negative: bool,
        body: &Node,
        next: Address,
    ) -> Option<Address> {
        let after = self.first_of(next);
        if let Some(class) = single_class(body) {
            let class = Box::new(Class::new(&class));
            let operation = if behind {
                Operation::Behind { class, negative, next }
            } else {
                Operation::Ahead { class, negative, next }
            };
            return self.push(operation, after);
        }
        let register = self.register();
        let close = if negative {
            Operation::NotClose { register }
        } else {
            Operation::LookClose { register, next }
        };
        let close = self.push(close, SymbolSet::any_next())?;
        self.committed += 1;
        let inner = if behind { self.behind(body, close)? } else { self.node(body, close)? };
        self.committed -= 1;
        let open = if negative {
            Operation::NotOpen { register, body: inner, next }
        } else {
            Operation::LookOpen { register, next: inner }
        };
        self.push(open, after)
    }

    /// Looks back: each alternative has one length, so it starts at one place.
    fn behind(&mut self, body: &Node, close: Address) -> Option<Address> {
        let branches = match body {
            Node::Alternate(branches) => branches.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut targets = Vec::with_capacity(branches.len());
        for branch in branches {
            let chars = fixed_chars(branch)?;
            let inner = self.node(branch, close)?;
            let operation = Operation::StepBack { chars, next: inner };
            targets.push(self.push(operation, SymbolSet::any_next())?);
        }
        self.branch(targets)
    }
}
