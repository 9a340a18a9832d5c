//! The names of one script, function or formula while it is lowered: which slot a local has, and
//! what may be said here at all.

use super::fields::Accesses;
use super::inference::{Origins, Question};
use crate::program::{AggregateCall, EventChanges};
use crate::span::Span;
use crate::value::{Frozen, Kind};
use halfbrown::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

/// What may stand in a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Locals may be read and assigned.
    pub locals: bool,
    /// `event` and `$` may be read.
    pub event: bool,
    /// `event` and `$` may be assigned.
    pub(crate) assign_event: bool,
    /// `state` is there.
    pub state: bool,
    /// `emit` and `drop` may be used.
    pub emit: bool,
    /// Aggregates may be called.
    pub aggregates: bool,
    /// It is the body of a function: `event` and the like are null.
    pub function: bool,
}

impl Rules {
    /// A script of its own, or a script in a graph.
    pub const SCRIPT: Rules = Rules {
        locals: true,
        event: true,
        assign_event: true,
        state: true,
        emit: true,
        aggregates: false,
        function: false,
    };
    /// An expression over one event: `where`, `group by`, the target of a select without window.
    pub const FORMULA: Rules =
        Rules { locals: false, assign_event: false, state: false, emit: false, ..Rules::SCRIPT };
    /// The target of a windowed select.
    pub(crate) const WINDOWED: Rules = Rules { event: false, aggregates: true, ..Rules::FORMULA };
    /// The `having` of a windowed select: its `event` is the result.
    pub const HAVING: Rules = Rules { event: true, ..Rules::WINDOWED };
    /// The script of a window. What it emits is its answer.
    pub const WINDOW_SCRIPT: Rules = Rules { assign_event: false, ..Rules::SCRIPT };
    /// The tick script of a window: there is no event.
    pub const TICK_SCRIPT: Rules = Rules { event: false, ..Rules::WINDOW_SCRIPT };
    /// Something that must be known at load.
    pub const CONSTANT: Rules = Rules { event: false, ..Rules::FORMULA };
    /// The body of a function.
    pub const FUNCTION: Rules = Rules { emit: false, function: true, ..Rules::SCRIPT };
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// As a statement: the arms of a `match` here are blocks of statements.
    pub statement: bool,
    /// At the end of a function: `recur` may stand here.
    pub tail: bool,
    /// The value goes somewhere.
    pub used: bool,
}

impl Position {
    pub(super) const VALUE: Position = Position { statement: false, tail: false, used: true };
    pub(crate) const STATEMENT: Position = Position { statement: true, ..Position::VALUE };
    pub(crate) const TAIL: Position = Position { tail: true, ..Position::STATEMENT };

    /// The same place, but not the end of a function.
    pub(super) fn inner(self) -> Position {
        Position { tail: false, ..self }
    }

    /// A place of the same kind that is run for its effect only.
    pub(super) fn effect(self) -> Position {
        Position { tail: false, used: false, ..self }
    }
}

/// Slots and rules of one piece of code.
#[derive(Debug)]
pub(super) struct Names {
    pub rules: Rules,
    /// Locals that `let` made: they belong to the whole script or function.
    locals: HashMap<String, usize>,
    /// Names bound by patterns and comprehensions, innermost last.
    bound: Vec<(String, usize)>,
    /// Slots that a `let` or a parameter fills.
    assigned: HashMap<usize, ()>,
    /// Locals that a `let` fills, each where it does so first.
    lets: Vec<(String, usize, Span)>,
    /// Where the values of slots come from.
    origins: HashMap<usize, Origins>,
    /// What is written to fields and read from them.
    pub(crate) accesses: Accesses,
    /// Fields of the event that the statements so far have surely given a value of this kind.
    pub(super) event_kinds: Vec<(Vec<Box<str>>, Kind)>,
    /// What is asked about the kinds of locals, and where.
    pub questions: Vec<(Question, Span)>,
    /// Slots whose value is used.
    used: HashSet<usize>,
    /// Where names are read that no pattern binds.
    reads: Vec<(String, usize, Span)>,
    pub slots: usize,
    pub uses_state: bool,
    /// What is assigned to `event` or a part of it.
    pub(crate) event_changes: EventChanges,
    /// Whether the event may be dropped.
    pub drops: bool,
    /// Whether it reads the event or metadata, although it must be known at load.
    pub(crate) reads_event: bool,
    /// Whether it reads a constant whose value has a mistake.
    pub(crate) reads_broken: bool,
    /// Whether something in it is not a pure function of its arguments.
    pub impure: bool,
    /// Parameters of the function, for the arity of `recur`.
    pub params: Option<(usize, bool)>,
    /// What `args` refers to, when it is known.
    pub args: Option<Arc<Frozen>>,
    /// Texts of the expressions behind `group by`.
    pub groups: Vec<String>,
    pub aggregates: Vec<AggregateCall>,
}

impl Names {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            locals: HashMap::new(),
            bound: Vec::new(),
            assigned: HashMap::new(),
            origins: HashMap::new(),
            accesses: Accesses::default(),
            event_kinds: Vec::new(),
            questions: Vec::new(),
            lets: Vec::new(),
            used: HashSet::new(),
            reads: Vec::new(),
            slots: 0,
            uses_state: false,
            event_changes: EventChanges::None,
            drops: false,
            reads_event: false,
            reads_broken: false,
            impure: false,
            params: None,
            args: None,
            groups: Vec::new(),
            aggregates: Vec::new(),
        }
    }

    /// The slot of a name, made when it is new. A name that nothing assigns has a slot that stays
    /// empty.
    pub(super) fn slot(&mut self, name: &str) -> usize {
        if let Some((_, slot)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            return *slot;
        }
        if let Some(slot) = self.locals.get(name) {
            return *slot;
        }
        let slot = self.fresh();
        self.locals.insert(name.to_string(), slot);
        slot
    }

    /// The slot of a name that is read.
    pub(super) fn read(&mut self, name: &str, span: Span) -> usize {
        let slot = self.slot(name);
        self.used.insert(slot);
        if !self.is_bound(name) {
            self.reads.push((name.to_string(), slot, span));
        }
        slot
    }

    /// The slot of a parameter.
    pub(super) fn parameter(&mut self, name: &str) -> usize {
        let slot = self.assign(name);
        self.origins.entry(slot).or_default().add(Origins::ANY);
        self.accesses.open(slot);
        slot
    }

    /// The slot of a name that gets a value.
    fn assign(&mut self, name: &str) -> usize {
        let slot = self.slot(name);
        self.assigned.insert(slot, ());
        slot
    }

    /// A `let` gives the slot a value that comes from there.
    pub(super) fn give(&mut self, slot: usize, from: &Origins) {
        self.origins.entry(slot).or_default().extend(from);
    }

    /// Where the values of a slot come from; `None` when nobody said.
    pub(super) fn origins(&self, slot: usize) -> Option<&Origins> {
        self.origins.get(&slot)
    }

    /// The slot of a name that a `let` at `span` gives a value; `used` says that the value also
    /// goes elsewhere.
    pub(crate) fn assign_local(&mut self, name: &str, span: Span, used: bool) -> usize {
        let slot = self.assign(name);
        if used || self.is_bound(name) {
            self.used.insert(slot);
        } else if !self.lets.iter().any(|(_, earlier, _)| *earlier == slot) {
            self.lets.push((name.to_string(), slot, span));
        }
        slot
    }

    /// Whether a `let`, or a call, gives the slot a value.
    pub(crate) fn is_assigned(&self, slot: usize) -> bool {
        self.assigned.contains_key(&slot)
    }

    /// Locals of `let` that nothing reads.
    pub(super) fn unread(&self) -> impl Iterator<Item = (&str, Span)> {
        let params = self.params.map_or(0, |(params, _)| params);
        let unread = move |slot: &usize| *slot >= params && !self.used.contains(slot);
        self.lets
            .iter()
            .filter_map(move |(name, slot, span)| unread(slot).then_some((name.as_str(), *span)))
    }

    /// Whether something uses the value of a slot.
    pub(super) fn is_used(&self, slot: usize) -> bool {
        self.used.contains(&slot)
    }

    /// Names that are read and that nothing assigns, each where it is read first.
    pub(crate) fn unassigned(&self) -> impl Iterator<Item = (&str, Span)> {
        self.reads.iter().enumerate().filter_map(|(at, (name, slot, span))| {
            let first = !self.reads[..at].iter().any(|(_, earlier, _)| earlier == slot);
            (first && !self.assigned.contains_key(slot)).then_some((name.as_str(), *span))
        })
    }

    fn fresh(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// Whether the name is bound by a pattern or a comprehension around.
    pub(crate) fn is_bound(&self, name: &str) -> bool {
        self.bound.iter().any(|(bound, _)| bound == name)
    }

    /// Binds a name until [`Names::unbind`].
    pub(super) fn bind(&mut self, name: &str) -> usize {
        let slot = self.fresh();
        self.bound.push((name.to_string(), slot));
        self.origins.entry(slot).or_default().add(Origins::ANY);
        self.accesses.open(slot);
        slot
    }

    /// Forgets the last `count` bindings.
    pub(crate) fn unbind(&mut self, count: usize) {
        self.bound.truncate(self.bound.len() - count);
    }
}
