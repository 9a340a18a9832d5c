//! Deterministic automata for the parts of a pattern that capture nothing.
//!
//! Invariant: an automaton of kind `Unique` is only built where at most one end can be followed by
//! what comes next; one of kind `First` finds the end that backtracking would try first.

use std::collections::HashMap;

use memchr::{memchr, memchr2, memchr3};

use crate::onigmo::Node;

use super::nfa::{Nfa, State};
use super::symbols::SymbolSet;

/// Most states of one automaton.
const STATES_MAX: usize = 2_048;
/// Most automaton threads that may be followed while building.
const WORK_MAX: usize = 2_000_000;
/// No match can come any more.
const DEAD: u32 = SPECIAL;
/// The end has been found, one byte back.
const FINISH: u32 = SPECIAL | 1;
/// Set in a row's entry that is `DEAD` or `FINISH`, or whose state is left by few bytes.
const SPECIAL: u32 = 1 << 31;
/// `First`: set in a row's entry when a match may end in the state it leads to.
const ACCEPTS: u32 = 1 << 30;
/// Numbers of states while building, before they become places of rows.
const DEAD_STATE: u32 = 0;
const FINISH_STATE: u32 = 1;

/// Instead of the end of a match: there is none.
pub(super) const NO_END: usize = usize::MAX;

/// Which end of several is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The only end that a symbol of the set can follow.
    Unique(SymbolSet),
    /// The end that the order of preference puts first.
    First,
}

/// A dense automaton. States are numbered by the offset of their row, with flags; the flags set the
/// words `DEAD` and `FINISH` apart from every offset.
#[derive(Debug)]
pub(super) struct Dfa {
    /// The column of each byte.
    columns: [u8; 256],
    /// log2 of the length of a row.
    row_shift: u32,
    rows: Vec<u32>,
    start: u32,
    /// Per state.
    marks: Vec<Mark>,
    /// `Unique`: whether the text may end after the automaton.
    edge: bool,
    first: bool,
    /// `First`: the order of preference always puts the longest match first.
    prefers_longest: bool,
}

/// What is special in a state.
#[derive(Debug, Clone, Default)]
struct Mark {
    accepts: bool,
    /// The only bytes that leave the state, when they are few.
    leaves: Vec<u8>,
}

impl Dfa {
    /// Builds the automaton of a pure tree; `None` when it would be too large, or, for `Unique`,
    /// when several ends are possible.
    pub(super) fn build(node: &Node, kind: Kind) -> Option<Self> {
        let nfa = Nfa::build(node)?;
        Builder::new(&nfa, kind).build()
    }

    /// `First`: whether its end is always that of the longest match. Then the only end that what
    /// comes next can follow, when no match goes on from there, is that end too.
    pub(super) fn prefers_longest(&self) -> bool {
        self.prefers_longest
    }

    /// The end of the match that starts at `at`, or `NO_END`; and how far the text was read for it.
    #[inline]
    pub(super) fn run(&self, bytes: &[u8], at: usize) -> (usize, usize) {
        if self.first {
            return self.run_first(bytes, at);
        }
        if self.start >= SPECIAL {
            return self.go_on(self.start, bytes, at);
        }
        let (state, read) = self.walk(self.start, &bytes[at..]);
        match state {
            FINISH => (at + read - 1, at + read),
            DEAD => (NO_END, at + read),
            state => self.go_on(state, bytes, at + read),
        }
    }

    /// Goes from state to state until a special one comes or the text ends; gives the state and the
    /// number of bytes read. A function of its own that calls nothing, so that it needs no stack.
    #[inline(never)]
    fn walk(&self, mut state: u32, rest: &[u8]) -> (u32, usize) {
        let rows = self.rows.as_slice();
        for (at, &byte) in rest.iter().enumerate() {
            state = rows[state as usize + usize::from(self.columns[usize::from(byte)])];
            if state >= SPECIAL {
                return (state, at + 1);
            }
        }
        (state, rest.len())
    }

    /// `Unique`: goes on in a state that is reached at `at`.
    #[inline(never)]
    fn go_on(&self, mut state: u32, bytes: &[u8], mut at: usize) -> (usize, usize) {
        loop {
            match state {
                DEAD => return (NO_END, at),
                FINISH => return (at - 1, at),
                special if special >= SPECIAL => {
                    state -= SPECIAL;
                    at = skip(&self.mark(state).leaves, bytes, at);
                }
                _ => {}
            }
            if at == bytes.len() {
                let accepts = self.edge && self.mark(state).accepts;
                return (if accepts { at } else { NO_END }, at);
            }
            let read;
            (state, read) = self.walk(state, &bytes[at..]);
            at += read;
        }
    }

    /// `First`: the end that the order of preference puts first.
    #[inline(never)]
    fn run_first(&self, bytes: &[u8], mut at: usize) -> (usize, usize) {
        let mut state = self.start;
        let mut end = if state & ACCEPTS != 0 { at } else { NO_END };
        loop {
            if state >= SPECIAL {
                at = skip(&self.mark(state & !(SPECIAL | ACCEPTS)).leaves, bytes, at);
                if state & ACCEPTS != 0 {
                    end = at;
                }
            }
            let rows = self.rows.as_slice();
            loop {
                let Some(&byte) = bytes.get(at) else { return (end, at) };
                let row = (state & !(SPECIAL | ACCEPTS)) as usize;
                state = rows[row + usize::from(self.columns[usize::from(byte)])];
                at += 1;
                if state & ACCEPTS != 0 {
                    end = at;
                }
                if state >= SPECIAL {
                    break;
                }
            }
            if state == DEAD {
                return (end, at);
            }
        }
    }

    fn mark(&self, state: u32) -> &Mark {
        &self.marks[(state >> self.row_shift) as usize]
    }
}

/// The next place of one of the bytes, or the end of the text.
fn skip(leaves: &[u8], bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let found = match *leaves {
        [a] => memchr(a, rest),
        [a, b] => memchr2(a, b, rest),
        [a, b, c] => memchr3(a, b, c, rest),
        _ => Some(0),
    };
    found.map_or(bytes.len(), |distance| at + distance)
}

/// The subset construction.
struct Builder<'a> {
    nfa: &'a Nfa,
    kind: Kind,
    columns: [u8; 256],
    /// One byte of each column.
    samples: Vec<u8>,
    known: HashMap<Vec<usize>, u32>,
    subsets: Vec<Vec<usize>>,
    /// The closure in which a state was last reached.
    reached_in: Vec<u32>,
    closures: u32,
    work: usize,
    /// Whether a match was preferred to a way on.
    cuts: bool,
}

impl<'a> Builder<'a> {
    fn new(nfa: &'a Nfa, kind: Kind) -> Self {
        let mut sets = nfa.sets.clone();
        if let Kind::Unique(after) = kind {
            sets.push(after);
        }
        let mut columns = [0; 256];
        let mut samples = Vec::new();
        let mut signatures: HashMap<Vec<bool>, u8> = HashMap::new();
        for byte in 0..=255u8 {
            let signature = sets.iter().map(|set| set.contains(byte)).collect();
            columns[usize::from(byte)] = *signatures.entry(signature).or_insert_with(|| {
                samples.push(byte);
                (samples.len() - 1) as u8
            });
        }
        // The first two states stand for `DEAD_STATE` and `FINISH_STATE` and have no threads.
        let subsets = vec![Vec::new(), Vec::new()];
        let reached_in = vec![0; nfa.states.len()];
        Self {
            nfa,
            kind,
            columns,
            samples,
            known: HashMap::new(),
            subsets,
            reached_in,
            closures: 0,
            work: 0,
            cuts: false,
        }
    }

    fn build(mut self) -> Option<Dfa> {
        let row_shift = self.samples.len().next_power_of_two().trailing_zeros();
        let start = self.closure([self.nfa.start].into_iter());
        let start = self.number(start)? << row_shift;
        let mut rows: Vec<u32> = vec![DEAD_STATE; 2 << row_shift];
        let mut marks = vec![Mark::default(); 2];
        let mut index = 2;
        while index < self.subsets.len() {
            let subset = self.subsets[index].clone();
            let accepts = subset.iter().any(|&state| self.is_match(state));
            let base = rows.len();
            rows.resize(base + (1 << row_shift), DEAD_STATE);
            for column in 0..self.samples.len() {
                let byte = self.samples[column];
                let mut target = self.step(&subset, byte)?;
                if let Kind::Unique(after) = self.kind
                    && accepts
                    && after.contains(byte)
                {
                    if target != DEAD_STATE {
                        return None;
                    }
                    target = FINISH_STATE;
                }
                rows[base + column] = target << row_shift;
            }
            let leaves = self.leaves(&rows[base..], (index as u32) << row_shift);
            marks.push(Mark { accepts, leaves });
            index += 1;
        }
        let edge = matches!(self.kind, Kind::Unique(after) if after.edge);
        let first = self.kind == Kind::First;
        let flag = |row: u32| {
            let mark = &marks[(row >> row_shift) as usize];
            let flags = [(!mark.leaves.is_empty(), SPECIAL), (first && mark.accepts, ACCEPTS)];
            match row >> row_shift {
                DEAD_STATE => DEAD,
                FINISH_STATE => FINISH,
                _ => flags.iter().filter(|flag| flag.0).fold(row, |row, flag| row | flag.1),
            }
        };
        let rows = rows.into_iter().map(flag).collect();
        let start = flag(start);
        let prefers_longest = first && !self.cuts;
        let columns = self.columns;
        Some(Dfa { columns, row_shift, rows, start, marks, edge, first, prefers_longest })
    }

    fn is_match(&self, state: usize) -> bool {
        matches!(self.nfa.states[state], State::Match)
    }

    /// The byte and match states reached without a byte, in order of preference.
    fn closure(&mut self, from: impl DoubleEndedIterator<Item = usize>) -> Vec<usize> {
        self.closures += 1;
        let mut stack: Vec<usize> = from.rev().collect();
        let mut result = Vec::new();
        while let Some(state) = stack.pop() {
            if std::mem::replace(&mut self.reached_in[state], self.closures) == self.closures {
                continue;
            }
            match &self.nfa.states[state] {
                State::Split(ways) => stack.extend(ways.iter().rev()),
                State::Byte { .. } => result.push(state),
                State::Match => {
                    result.push(state);
                    // Nothing of lower preference can win against a match.
                    if self.kind == Kind::First {
                        self.cuts |= !stack.is_empty();
                        break;
                    }
                }
            }
        }
        if self.kind != Kind::First {
            result.sort_unstable();
        }
        result
    }

    fn step(&mut self, subset: &[usize], byte: u8) -> Option<u32> {
        let mut reached = Vec::new();
        for &state in subset {
            if let State::Byte { set, next } = self.nfa.states[state]
                && self.nfa.sets[set].contains(byte)
            {
                reached.push(next);
            }
        }
        let subset = self.closure(reached.into_iter());
        self.work += 1 + subset.len();
        if self.work > WORK_MAX { None } else { self.number(subset) }
    }

    fn number(&mut self, subset: Vec<usize>) -> Option<u32> {
        if subset.is_empty() {
            return Some(DEAD_STATE);
        }
        if let Some(&number) = self.known.get(&subset) {
            return Some(number);
        }
        if self.subsets.len() >= STATES_MAX {
            return None;
        }
        let number = self.subsets.len() as u32;
        self.subsets.push(subset.clone());
        self.known.insert(subset, number);
        Some(number)
    }

    /// The bytes that leave a state which most bytes stay in, if a search for them is quick.
    fn leaves(&self, row: &[u32], own: u32) -> Vec<u8> {
        let leaves: Vec<u8> = (0..=255u8)
            .filter(|&byte| row[usize::from(self.columns[usize::from(byte)])] != own)
            .take(4)
            .collect();
        if leaves.len() <= 3 { leaves } else { Vec::new() }
    }
}
