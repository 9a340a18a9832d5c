//! Events whose tokens have known places: the patterns are searched for once, then an event is a walk over
//! its parts.
//!
//! Invariant: a woven event is to the byte what searching would have made of it. A token is woven in only if
//! its pattern cannot match anything that another token wrote, whatever that is: the pattern's automaton is
//! followed through the event with every byte that may stand in a written part.

use super::finder::Spot;
use super::replacement::{Draw, Replacement};
use super::tokens::{Token, Tokens};
use regex_automata::nfa::thompson::{NFA, State};
use std::ops::Range;

/// Automata larger than this are not followed; their tokens are searched for.
const STATES_MAX: usize = 2_000;

/// Events longer than this are searched every time.
const EVENT_BYTES_MAX: usize = 16 << 10;

/// An event as parts.
#[derive(Debug)]
pub(crate) struct Woven {
    strands: Vec<Strand>,
    /// For each value: the token that makes it, and the text that stays if it makes none.
    values: Vec<(usize, Vec<u8>)>,
    /// Tokens from this number on are searched for in what the parts make.
    searched: usize,
    ranges: Vec<Option<Range<usize>>>,
    made: Vec<u8>,
    event: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Strand {
    Text(Vec<u8>),
    Value(usize),
}

/// The automata of the tokens, where they can be followed.
#[derive(Debug)]
pub(crate) struct Loom {
    automata: Vec<Option<NFA>>,
}

impl Loom {
    /// Makes the automata.
    #[must_use]
    pub(crate) fn new(tokens: &[Token]) -> Self {
        let automaton = |token: &Token| {
            let nfa = NFA::new(token.finder.linear_pattern()?).ok()?;
            Some(nfa).filter(|nfa| nfa.states().len() <= STATES_MAX)
        };
        Loom { automata: tokens.iter().map(automaton).collect() }
    }

    /// Finds the places of as many tokens as have sure ones. `tokens` are copied: nothing is drawn from them.
    #[must_use]
    pub(crate) fn weave(&self, event: &[u8], tokens: &Tokens, draw: Draw) -> Woven {
        let (mut strands, mut values) = (vec![Strand::Text(event.to_vec())], Vec::new());
        // Values are made to see where they stand: a copy makes them.
        let mut trial = tokens.clone();
        let mut searched = 0;
        if event.len() > EVENT_BYTES_MAX {
            return Woven::new(strands, values, 0);
        }
        for (number, token) in tokens.list().iter().enumerate() {
            let Some(automaton) = &self.automata[number] else { break };
            if may_touch(automaton, &strands, &values, tokens.list()) {
                break;
            }
            let known = values.len();
            let Some(next) = split(&strands, &mut values, number, token, &mut trial, draw) else {
                values.truncate(known);
                break;
            };
            (strands, searched) = (next, number + 1);
        }
        Woven::new(strands, values, searched)
    }
}

impl Woven {
    fn new(strands: Vec<Strand>, values: Vec<(usize, Vec<u8>)>, searched: usize) -> Self {
        let ranges = vec![None; values.len()];
        Woven { strands, values, searched, ranges, made: Vec::new(), event: Vec::new() }
    }

    /// Writes the event.
    pub(crate) fn write(&mut self, tokens: &mut Tokens, draw: Draw, out: &mut Vec<u8>) {
        if self.searched == tokens.list().len() {
            return self.join(tokens, draw, out);
        }
        // What is searched is the event alone, not those before it.
        let mut event = std::mem::take(&mut self.event);
        event.clear();
        self.join(tokens, draw, &mut event);
        tokens.apply(self.searched, draw, &mut event);
        out.extend_from_slice(&event);
        self.event = event;
    }

    /// Puts the parts together.
    fn join(&mut self, tokens: &mut Tokens, draw: Draw, event: &mut Vec<u8>) {
        self.made.clear();
        for (index, (token, old)) in self.values.iter().enumerate() {
            let start = self.made.len();
            let is_new = tokens.value(*token, draw, old, &mut self.made);
            self.ranges[index] = is_new.then_some(start..self.made.len());
        }
        for strand in &self.strands {
            match strand {
                Strand::Text(text) => event.extend_from_slice(text),
                Strand::Value(index) => match self.ranges[*index].clone() {
                    Some(range) => event.extend_from_slice(&self.made[range]),
                    None => event.extend_from_slice(&self.values[*index].1),
                },
            }
        }
    }
}

/// The strands with the places of one more token; `None` when they cannot be told apart from those of others.
fn split(
    strands: &[Strand],
    values: &mut Vec<(usize, Vec<u8>)>,
    number: usize,
    token: &Token,
    trial: &mut Tokens,
    draw: Draw,
) -> Option<Vec<Strand>> {
    // The event as it may look, and which strand each byte is of.
    let (mut text, mut starts) = (Vec::new(), Vec::new());
    for strand in strands {
        starts.push(text.len());
        match strand {
            Strand::Text(part) => text.extend_from_slice(part),
            Strand::Value(index) => {
                let (token, old) = &values[*index];
                if !trial.value(*token, draw, old, &mut text) {
                    text.extend_from_slice(old);
                }
            }
        }
    }
    let mut spots = Vec::new();
    token.finder.all(&text, &mut spots);
    let is_each = matches!(token.replacement, Replacement::Moved(..));
    // A row may lack the column: then each place keeps its own text.
    let may_stay = matches!(token.replacement, Replacement::Column(..) | Replacement::Turn(..));
    let (mut next, mut spots) = (Vec::new(), spots.into_iter().peekable());
    let first = values.len();
    for (strand, start) in strands.iter().zip(&starts) {
        let Strand::Text(part) = strand else {
            next.push(strand.clone());
            continue;
        };
        let mut at = 0;
        let end = start + part.len();
        while let Some(Spot { target, .. }) = spots.next_if(|spot| spot.target.end <= end) {
            let (from, to) = (target.start.checked_sub(*start)?, target.end - start);
            next.push(Strand::Text(part.get(at..from)?.to_vec()));
            if is_each || values.len() == first {
                values.push((number, part[from..to].to_vec()));
            } else if may_stay && values[first].1 != part[from..to] {
                values.truncate(first);
                return None;
            }
            next.push(Strand::Value(values.len() - 1));
            at = to;
        }
        next.push(Strand::Text(part[at..].to_vec()));
    }
    spots.next().is_none().then_some(next)
}

/// The states that an automaton can be in: without having read a written byte, and having read one.
struct Walk<'n> {
    nfa: &'n NFA,
    clean: Vec<bool>,
    touched: Vec<bool>,
    /// Whether it can match having read a written byte, or next to one.
    is_match: bool,
    /// Whether the last byte was written.
    is_behind: bool,
    has_look: bool,
}

/// Whether a pattern can match what a token wrote, or match differently beside it.
fn may_touch(nfa: &NFA, strands: &[Strand], values: &[(usize, Vec<u8>)], tokens: &[Token]) -> bool {
    if !strands.iter().any(|strand| matches!(strand, Strand::Value(_))) {
        return false;
    }
    let count = nfa.states().len();
    let mut walk = Walk {
        nfa,
        clean: vec![false; count],
        touched: vec![false; count],
        is_match: false,
        is_behind: false,
        has_look: nfa.states().iter().any(|state| matches!(state, State::Look { .. })),
    };
    walk.start();
    if walk.clean.iter().enumerate().any(|(id, is)| *is && walk.is_final(id)) {
        // What matches nothing at all matches inside of a written part, too.
        return true;
    }
    for strand in strands {
        match strand {
            Strand::Text(text) => text.iter().for_each(|byte| walk.read(*byte)),
            Strand::Value(index) => {
                let (token, old) = &values[*index];
                walk.written(&bytes(&tokens[*token].replacement, old));
            }
        }
        if walk.is_match {
            return true;
        }
    }
    walk.is_match
}

impl Walk<'_> {
    /// A byte that stands in the event itself.
    fn read(&mut self, byte: u8) {
        self.start();
        // An assertion beside a written part may hold or not.
        if self.has_look && self.is_behind {
            let clean = std::mem::replace(&mut self.clean, vec![false; self.touched.len()]);
            clean.iter().zip(&mut self.touched).for_each(|(clean, touched)| *touched |= clean);
        }
        self.clean = step(self.nfa, &self.clean, |from, to| (from..=to).contains(&byte));
        self.touched = step(self.nfa, &self.touched, |from, to| (from..=to).contains(&byte));
        self.is_behind = false;
        self.note();
    }

    /// Any number of the given bytes, none included.
    fn written(&mut self, bytes: &[bool; 256]) {
        let count = self.touched.len();
        // What was begun before may go on behind a written part of no length.
        let clean = std::mem::replace(&mut self.clean, vec![false; count]);
        clean.iter().zip(&mut self.touched).for_each(|(clean, touched)| *touched |= clean);
        if self.has_look {
            let is_final = |(id, is): (usize, &bool)| *is && self.is_final(id);
            self.is_match |= self.touched.iter().enumerate().any(is_final);
        }
        let mut all = self.touched.clone();
        close(self.nfa, self.nfa.start_anchored().as_usize(), &mut all);
        loop {
            let next =
                step(self.nfa, &all, |from, to| (from..=to).any(|byte| bytes[usize::from(byte)]));
            let mut grew = false;
            for ((all, touched), new) in all.iter_mut().zip(&mut self.touched).zip(next) {
                grew |= new && !*touched;
                *all |= new;
                *touched |= new;
            }
            if !grew {
                break;
            }
        }
        self.is_behind = true;
        self.note();
    }

    /// A match can begin anywhere.
    fn start(&mut self) {
        close(self.nfa, self.nfa.start_anchored().as_usize(), &mut self.clean);
    }

    fn is_final(&self, id: usize) -> bool {
        matches!(self.nfa.states()[id], State::Match { .. })
    }

    fn note(&mut self) {
        let is_final = |(id, is): (usize, &bool)| *is && self.is_final(id);
        self.is_match |= self.touched.iter().enumerate().any(is_final);
    }
}

/// All states after one byte.
fn step(nfa: &NFA, states: &[bool], takes: impl Fn(u8, u8) -> bool) -> Vec<bool> {
    let mut next = vec![false; states.len()];
    for id in states.iter().enumerate().filter(|(_, is)| **is).map(|(id, _)| id) {
        match &nfa.states()[id] {
            State::ByteRange { trans } if takes(trans.start, trans.end) => {
                close(nfa, trans.next.as_usize(), &mut next);
            }
            State::Sparse(sparse) => {
                for trans in sparse.transitions.iter().filter(|one| takes(one.start, one.end)) {
                    close(nfa, trans.next.as_usize(), &mut next);
                }
            }
            State::Dense(dense) => {
                for (byte, target) in (0..=255).zip(dense.transitions.iter()) {
                    if target.as_usize() != 0 && takes(byte, byte) {
                        close(nfa, target.as_usize(), &mut next);
                    }
                }
            }
            _ => {}
        }
    }
    next
}

/// Adds a state and what is reached from it without a byte; assertions are taken to hold.
fn close(nfa: &NFA, id: usize, states: &mut [bool]) {
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut states[id], true) {
            continue;
        }
        match &nfa.states()[id] {
            State::Look { next, .. } | State::Capture { next, .. } => open.push(next.as_usize()),
            State::Union { alternates } => open.extend(alternates.iter().map(|id| id.as_usize())),
            State::BinaryUnion { alt1, alt2 } => open.extend([alt1.as_usize(), alt2.as_usize()]),
            _ => {}
        }
    }
}

/// The bytes that a replacement may write.
fn bytes(replacement: &Replacement, old: &[u8]) -> [bool; 256] {
    let mut set = [false; 256];
    let mut add = |bytes: &[u8]| bytes.iter().for_each(|byte| set[usize::from(*byte)] = true);
    add(old);
    match replacement {
        Replacement::Static(text) => add(text),
        Replacement::Ipv4 => add(b"0123456789."),
        Replacement::Ipv6 | Replacement::Mac => add(b"0123456789abcdef:"),
        Replacement::Uuid => add(b"0123456789abcdef-"),
        Replacement::Integer(..)
        | Replacement::Float(..)
        | Replacement::Rated(..)
        | Replacement::Count(_) => add(b"0123456789.-+"),
        Replacement::Hex(_) => add(b"0123456789abcdef"),
        Replacement::List(items) => items.iter().for_each(|item| add(item)),
        Replacement::Line(rows) | Replacement::Column(rows, _) | Replacement::Turn(rows, _) => {
            rows.bytes().for_each(|byte| add(&[byte]));
        }
        Replacement::Text(_) => (b'0'..=b'z').for_each(|byte| add(&[byte])),
        Replacement::Time(stamp) => stamp.bytes().iter().for_each(|byte| add(&[*byte])),
        Replacement::Moved(formats, _) => {
            formats.iter().for_each(|(_, stamp)| add(&stamp.bytes()));
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::super::finder::Finder;
    use super::super::replacement::{Memory, Rows};
    use super::super::stamp::Stamp;
    use super::super::{Moment, Random};
    use super::*;
    use std::sync::Arc;

    fn tokens(pairs: &[(&str, Replacement)]) -> Tokens {
        let token = |(pattern, replacement): &(&str, Replacement)| Token {
            finder: Finder::python(pattern).unwrap(),
            replacement: replacement.clone(),
        };
        let memory = Memory::new(Random::seeded(9));
        Tokens::new(pairs.iter().map(token).collect(), memory)
    }

    /// Weaves, compares with searching over many events, and gives how many tokens are searched for.
    fn searched(event: &str, pairs: &[(&str, Replacement)]) -> usize {
        let (mut woven_tokens, mut plain_tokens) = (tokens(pairs), tokens(pairs));
        let draw = |index: u64| {
            let time = 1_772_323_445_000_000_000 + index * 1_700_000_000;
            Draw { moment: Moment::at(index, time), shown: time, anchor: None, row: index * 77 }
        };
        let loom = Loom::new(woven_tokens.list());
        let mut woven = loom.weave(event.as_bytes(), &woven_tokens, draw(0));
        for index in 0..200 {
            // Events that were written before hold what the tokens look for.
            let before = format!("{event}\n{event}\n").into_bytes();
            let (mut by_parts, mut by_search) = (before.clone(), event.as_bytes().to_vec());
            woven.write(&mut woven_tokens, draw(index), &mut by_parts);
            plain_tokens.apply(0, draw(index), &mut by_search);
            assert_eq!(by_parts, [before, by_search].concat(), "{event}");
        }
        pairs.len() - woven.searched
    }

    fn text(text: &str) -> Replacement {
        Replacement::Static(text.as_bytes().to_vec())
    }

    #[test]
    fn parts_are_what_searching_makes() {
        let time = || Replacement::Time(Stamp::new("%Y-%m-%d %H:%M:%S").unwrap());
        let rows = Arc::new(Rows::of(b"ada,1\nbob,2", 5).unwrap());
        let event = "2020-01-01 00:00:00 user=USER id=ID ip=10.0.0.1 x=USER n=\"\" end";
        let pairs = [
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", time()),
            ("USER", Replacement::Column(Arc::clone(&rows), 0)),
            ("id=(ID)", Replacement::Column(rows, 1)),
            (r"ip=(\d+\.\d+\.\d+\.\d+)", Replacement::Ipv4),
            ("n=\"(\\d*)\"", Replacement::Integer(1, 99_999)),
        ];
        assert_eq!(searched(event, &pairs), 0, "nothing of this can meet");
        let all = [("USER|ID", Replacement::Ipv4)];
        assert_eq!(searched(event, &all), 0, "one value for places with several texts");
    }

    #[test]
    fn what_tokens_write_is_seen_by_those_behind_them() {
        assert_eq!(searched("a b", &[("a", text("<id>")), ("<id>", Replacement::Count(3))]), 1);
        let digits = [("N", Replacement::Integer(1, 9_999)), (r"\d\d", text("x"))];
        assert_eq!(searched("N 12", &digits), 1);
        // Empty texts bring together what was apart.
        assert_eq!(searched("a-b", &[("-", text("")), ("ab", text("c"))]), 1);
        // Word boundaries beside a written part.
        let digit = || Replacement::Integer(1, 9);
        assert_eq!(searched("aN bc", &[("N", digit()), (r"\bbc\b", text("z"))]), 0);
        assert_eq!(searched("Nbc", &[("N", digit()), (r"\bbc", text("z"))]), 1);
        assert_eq!(searched("N", &[("N", text("")), ("^$", text("z"))]), 1);
        // Look-around is searched for.
        assert_eq!(searched("id=1", &[(r"(?<=id=)\d", Replacement::Hex(3))]), 1);
        let long = "x".repeat(EVENT_BYTES_MAX + 1);
        assert_eq!(searched(&long, &[("y", text("z"))]), 1);
        let large = format!("a{{{STATES_MAX}}}b");
        assert_eq!(searched("ab", &[(&large, text("z"))]), 1);
    }
}
