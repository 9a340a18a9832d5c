//! Runs a program: leftmost match, preferred alternatives first.
//!
//! Invariant: steps are counted against a limit, and each costs a bounded or a counted time, whether
//! it succeeds or not.

use memchr::{memchr, memrchr};
use regex_syntax::try_is_word_character;

use crate::onigmo::Assertion;

use super::dfa::NO_END;
use super::lower::NO_MEMORY;
use super::program::{Address, LeadingRun, NO_SLOT, Operation, Program, Run};

/// A group that took no part.
const UNSET: u32 = u32::MAX;
/// A choice to go on at an operation.
const RESUME: u32 = u32::MAX;
/// A choice to lengthen a lazy run.
const LENGTHEN: u32 = u32::MAX - 1;
/// Steps of a first try: so many, and so many for each byte of text.
const STEPS_BASE: usize = 4_096;
const STEPS_PER_BYTE: usize = 32;
/// Steps of a second try, which remembers where it has been.
const MEMORY_STEPS_PER_BYTE: usize = 256;
/// Steps of one search, however long the text is.
const STEPS_MAX: usize = 1 << 26;
/// Choices that can be open at a time; each may remember slots as well.
const CHOICES_MAX: usize = 1 << 21;
/// Memory for choices that is kept for the next text.
const CHOICES_KEPT_MAX: usize = 1 << 14;
/// Alternatives that are put aside in a step.
const ALTERNATIVES_PER_STEP: usize = 8;
/// Most bits of that memory.
const MEMORY_BITS_MAX: usize = 1 << 28;
/// Bytes of a run that count as one step.
const RUN_BYTES_PER_STEP: usize = 16;
/// Bytes of a run that take as long as a character that is looked at by itself.
const BYTES_OF_A_CHARACTER: usize = 4;

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::grok) enum Outcome {
    Match,
    NoMatch,
    /// The step limit was reached.
    Exhausted,
}

/// Memory that searches reuse.
#[derive(Debug, Default)]
pub(in crate::grok) struct Scratch {
    frames: Vec<Frame>,
    /// Slots and what they held before.
    trail: Vec<(u32, u32)>,
    registers: Vec<(u32, u32)>,
    visited: Vec<u64>,
    /// The furthest mark, and where it was reached.
    pub(in crate::grok) furthest: Option<(u32, u32)>,
}

impl Scratch {
    /// Gives back what one long text has stretched.
    #[inline]
    fn shrink(&mut self) {
        if self.frames.capacity() > CHOICES_KEPT_MAX || self.trail.capacity() > CHOICES_KEPT_MAX {
            (self.frames, self.trail) = (Vec::new(), Vec::new());
        }
        if self.visited.capacity() > CHOICES_KEPT_MAX {
            self.visited = Vec::new();
        }
    }
}

/// A choice to come back to.
#[derive(Debug, Clone, Copy)]
struct Frame {
    address: Address,
    at: u32,
    /// `RESUME`, `LENGTHEN`, or the shortest end of a greedy run.
    low: u32,
    trail: u32,
}

struct Machine<'a> {
    program: &'a Program,
    text: &'a str,
    scratch: &'a mut Scratch,
    slots: &'a mut [u32],
    steps: usize,
    remembers: bool,
}

impl Program {
    /// Finds the leftmost match. `slots` must be cleared.
    pub(in crate::grok) fn search(
        &self,
        text: &str,
        scratch: &mut Scratch,
        slots: &mut [u32],
        whole: &mut (u32, u32),
    ) -> Outcome {
        let steps = (STEPS_BASE + STEPS_PER_BYTE * text.len()).min(STEPS_MAX);
        scratch.furthest = None;
        scratch.registers.resize(self.registers.max(scratch.registers.len()), (0, 0));
        let remembers = false;
        let outcome =
            Machine { program: self, text, scratch, slots, steps, remembers }.search(whole);
        scratch.shrink();
        outcome
    }

    /// As `search`, but remembers failed states, so that steps stay in proportion to the text.
    pub(in crate::grok) fn search_with_memory(
        &self,
        text: &str,
        scratch: &mut Scratch,
        slots: &mut [u32],
        whole: &mut (u32, u32),
    ) -> Outcome {
        let bits = self.memories.saturating_mul(text.len() + 1);
        if bits > MEMORY_BITS_MAX {
            return Outcome::Exhausted;
        }
        scratch.visited.clear();
        scratch.visited.resize(bits.div_ceil(64), 0);
        slots.fill(UNSET);
        let steps = (STEPS_BASE + MEMORY_STEPS_PER_BYTE * text.len()).min(STEPS_MAX);
        let remembers = true;
        let outcome =
            Machine { program: self, text, scratch, slots, steps, remembers }.search(whole);
        scratch.shrink();
        outcome
    }
}

impl Machine<'_> {
    fn search(&mut self, whole: &mut (u32, u32)) -> Outcome {
        let mut at = 0;
        while let Some(start) = self.next_start(at) {
            match self.run(start) {
                (Outcome::NoMatch, _) => self.slots.fill(UNSET),
                (Outcome::Match, end) => {
                    *whole = (start as u32, end as u32);
                    return Outcome::Match;
                }
                (Outcome::Exhausted, _) => return Outcome::Exhausted,
            }
            at = start + 1;
        }
        Outcome::NoMatch
    }

    /// The next place where a match can start.
    fn next_start(&self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        if at > bytes.len() || (at > 0 && self.program.start_only) {
            return None;
        }
        match self.program.leading_run {
            Some(_) if at == 0 => return Some(0),
            Some(LeadingRun::Text) => return None,
            Some(LeadingRun::Line) => {
                return memchr(b'\n', &bytes[at - 1..]).map(|found| at + found);
            }
            None => {}
        }
        let first = &self.program.first;
        let found = bytes[at..].iter().position(|&byte| first.contains(byte));
        match found {
            Some(distance) => Some(at + distance),
            None => first.edge.then_some(bytes.len()),
        }
    }

    /// Tries a match at `start`; its end.
    fn run(&mut self, start: usize) -> (Outcome, usize) {
        self.scratch.frames.clear();
        self.scratch.trail.clear();
        let operations = self.program.operations.as_slice();
        let bytes = self.text.as_bytes();
        let (mut address, mut at) = (self.program.start, start);
        loop {
            if self.steps == 0 {
                return (Outcome::Exhausted, 0);
            }
            self.steps -= 1;
            let reached = match &operations[address as usize] {
                Operation::Accept => return (Outcome::Match, at),
                Operation::Byte { byte, next } => {
                    if bytes.get(at) == Some(byte) {
                        (address, at) = (*next, at + 1);
                        continue;
                    }
                    None
                }
                Operation::Word { value, mask, length, next } => {
                    if word_at(bytes, at) & mask == *value {
                        let end = at + usize::from(*length);
                        if end <= bytes.len() {
                            (address, at) = (*next, end);
                            continue;
                        }
                    }
                    None
                }
                Operation::Automaton { automaton, slot, then, next } => {
                    let (end, read) = automaton.run(bytes, at);
                    self.charge(read - at);
                    if end != NO_END
                        && let Some(after) = after(bytes, end, *then)
                    {
                        self.save_both(*slot, at, end);
                        (address, at) = (*next, after);
                        continue;
                    }
                    None
                }
                Operation::Save { slot, next } => {
                    self.save(*slot, at);
                    address = *next;
                    continue;
                }
                Operation::Branch(branch) => {
                    let symbol = bytes.get(at).map_or(256, |&byte| usize::from(byte));
                    match *branch.lists[usize::from(branch.table[symbol])] {
                        [] => None,
                        [only] => {
                            address = only;
                            continue;
                        }
                        [preferred, ref others @ ..] => {
                            self.choose(preferred, others, branch.memory, at)
                        }
                    }
                }
                Operation::Run(run) => self.start_run(run, address, at),
                other => self.step(other, at),
            };
            match reached.or_else(|| self.resume()) {
                Some(place) => (address, at) = place,
                None => return (Outcome::NoMatch, 0),
            }
        }
    }

    /// Goes on with the preferred of several targets and keeps the others for later.
    fn choose(
        &mut self,
        preferred: Address,
        others: &[Address],
        memory: u32,
        at: usize,
    ) -> Option<(Address, usize)> {
        if self.remembers && self.visit(memory, at) {
            return None;
        }
        self.charge(others.len() / ALTERNATIVES_PER_STEP * RUN_BYTES_PER_STEP);
        for &other in others.iter().rev() {
            self.push(other, at, RESUME);
        }
        Some((preferred, at))
    }

    /// Runs one of the less frequent operations; `None` when it fails.
    fn step(&mut self, operation: &Operation, at: usize) -> Option<(Address, usize)> {
        let bytes = self.text.as_bytes();
        match operation {
            Operation::Literal { text, next } => {
                let end = at + text.len();
                (bytes.get(at..end)? == &**text).then_some((*next, end))
            }
            Operation::One { class, next } => class.step(self.text, at).map(|end| (*next, end)),
            Operation::Assert { assertion, next } => {
                holds(*assertion, self.text, at).then_some((*next, at))
            }
            Operation::Behind { class, negative, next } => {
                (class.precedes(self.text, at) != *negative).then_some((*next, at))
            }
            Operation::Ahead { class, negative, next } => {
                (class.step(self.text, at).is_some() != *negative).then_some((*next, at))
            }
            other => self.step_group(other, at),
        }
    }

    /// Operations of atomic groups, look-around and explanations.
    fn step_group(&mut self, operation: &Operation, at: usize) -> Option<(Address, usize)> {
        match operation {
            Operation::AtomicOpen { register, next } | Operation::LookOpen { register, next } => {
                let height = self.scratch.frames.len() as u32;
                self.scratch.registers[*register as usize] = (height, at as u32);
                Some((*next, at))
            }
            Operation::AtomicClose { register, next } => {
                let (height, _) = self.scratch.registers[*register as usize];
                self.scratch.frames.truncate(height as usize);
                Some((*next, at))
            }
            Operation::LookClose { register, next } => {
                let (height, place) = self.scratch.registers[*register as usize];
                self.scratch.frames.truncate(height as usize);
                Some((*next, place as usize))
            }
            Operation::NotOpen { register, body, next } => {
                let height = self.scratch.frames.len() as u32;
                self.scratch.registers[*register as usize] = (height, at as u32);
                self.push(*next, at, RESUME);
                Some((*body, at))
            }
            Operation::NotClose { register } => {
                let (height, _) = self.scratch.registers[*register as usize];
                self.scratch.frames.truncate(height as usize);
                None
            }
            Operation::StepBack { chars, next } => {
                let mut at = at;
                for _ in 0..*chars {
                    at -= self.text.get(..at)?.chars().next_back()?.len_utf8();
                }
                Some((*next, at))
            }
            Operation::Mark { token, next } => {
                let reached = Some((*token, at as u32));
                self.scratch.furthest = self.scratch.furthest.max(reached);
                Some((*next, at))
            }
            _ => None,
        }
    }

    fn push(&mut self, address: Address, at: usize, low: u32) {
        if self.scratch.frames.len() + self.scratch.trail.len() >= CHOICES_MAX {
            self.steps = 0;
            return;
        }
        let trail = self.scratch.trail.len() as u32;
        self.scratch.frames.push(Frame { address, at: at as u32, low, trail });
    }

    /// Counts the bytes of a run.
    #[inline(always)]
    fn charge(&mut self, bytes: usize) {
        if bytes >= RUN_BYTES_PER_STEP {
            self.steps = self.steps.saturating_sub(bytes / RUN_BYTES_PER_STEP).max(1);
        }
    }

    #[inline(always)]
    fn save_both(&mut self, slot: u32, start: usize, end: usize) {
        if slot == NO_SLOT {
            return;
        }
        let first = slot as usize;
        let places = &mut self.slots[first..first + 2];
        if !self.scratch.frames.is_empty() {
            self.scratch.trail.extend_from_slice(&[(slot, places[0]), (slot + 1, places[1])]);
        }
        places.copy_from_slice(&[start as u32, end as u32]);
    }

    #[inline(always)]
    fn save(&mut self, slot: u32, at: usize) {
        let place = &mut self.slots[slot as usize];
        if !self.scratch.frames.is_empty() {
            self.scratch.trail.push((slot, *place));
        }
        *place = at as u32;
    }

    /// Marks a choice as visited; whether it had been before.
    fn visit(&mut self, memory: u32, at: usize) -> bool {
        if memory == NO_MEMORY {
            return false;
        }
        let bit = memory as usize * (self.text.len() + 1) + at;
        let word = &mut self.scratch.visited[bit / 64];
        let mask = 1 << (bit % 64);
        let seen = *word & mask != 0;
        *word |= mask;
        seen
    }

    /// Goes back to the latest choice.
    fn resume(&mut self) -> Option<(Address, usize)> {
        let program = self.program;
        while let Some(frame) = self.scratch.frames.pop() {
            while self.scratch.trail.len() > frame.trail as usize {
                if let Some((slot, old)) = self.scratch.trail.pop() {
                    self.slots[slot as usize] = old;
                }
            }
            let at = frame.at as usize;
            if frame.low == RESUME {
                return Some((frame.address, at));
            }
            let Operation::Run(run) = &program.operations[frame.address as usize] else { continue };
            let found = if frame.low == LENGTHEN {
                let longer = run.class.step(self.text, at);
                longer.and_then(|at| self.lengthen(run, frame.address, at))
            } else {
                let low = frame.low as usize;
                at.checked_sub(1).and_then(|at| self.shorten(run, frame.address, low, at))
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    #[inline(always)]
    fn start_run(&mut self, run: &Run, address: Address, at: usize) -> Option<(Address, usize)> {
        if self.remembers && !run.exclusive && self.visit(run.memory, at) {
            return None;
        }
        let mut low = at;
        if run.min > 0 {
            low = self.minimum(run, at)?;
            self.charge((low - at) * BYTES_OF_A_CHARACTER);
        }
        if run.lazy {
            return self.lengthen(run, address, low);
        }
        let end = match run.max {
            None => run.class.run_end(self.text, low),
            Some(max) => run.class.run_end_limited(self.text, low, max - run.min),
        };
        self.charge(end - at);
        if run.exclusive {
            let after = after(self.text.as_bytes(), end, run.then)?;
            self.save_both(run.slot, at, end);
            return Some((run.next, after));
        }
        self.shorten(run, address, low, end)
    }

    /// The place after as few members as the run must have.
    #[inline(always)]
    fn minimum(&self, run: &Run, mut at: usize) -> Option<usize> {
        for _ in 0..run.min {
            at = run.class.step(self.text, at)?;
        }
        Some(at)
    }

    /// Ends a greedy run at the last place up to `high` where what follows can start.
    fn shorten(
        &mut self,
        run: &Run,
        address: Address,
        low: usize,
        high: usize,
    ) -> Option<(Address, usize)> {
        if high < low {
            return None;
        }
        let bytes = self.text.as_bytes();
        let end = if run.follow.admits(bytes, high) {
            Some(high)
        } else if let Some(needle) = run.needle {
            memrchr(needle, &bytes[low..high]).map(|found| low + found)
        } else {
            let follows = |&byte: &u8| run.follow.contains(byte);
            bytes[low..high].iter().rposition(follows).map(|found| low + found)
        };
        self.charge(high - end.unwrap_or(low));
        let end = end?;
        if end > low {
            self.push(address, end, low as u32);
        }
        Some((run.next, end))
    }

    /// Ends a lazy run at the first place from `at` on where what follows can start.
    fn lengthen(&mut self, run: &Run, address: Address, at: usize) -> Option<(Address, usize)> {
        let bytes = self.text.as_bytes();
        let mut end = at;
        if let (Some(needle), true) = (run.needle, run.class.is_all()) {
            let Some(distance) = memchr(needle, &bytes[at..]) else {
                self.charge(bytes.len() - at);
                return None;
            };
            self.charge(distance);
            end += distance;
        }
        let from = end;
        while !run.follow.admits(bytes, end) {
            let Some(next) = run.class.step(self.text, end) else {
                self.charge((end - from) * BYTES_OF_A_CHARACTER);
                return None;
            };
            end = next;
        }
        self.charge((end - from) * BYTES_OF_A_CHARACTER);
        self.push(address, end, LENGTHEN);
        Some((run.next, end))
    }
}

/// The eight bytes at a place, the first one lowest; behind the end of the text there are zeros.
#[inline(always)]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let rest = &bytes[at..];
    match rest.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// The place behind the byte `then`, if there is to be one at `end`.
#[inline(always)]
fn after(bytes: &[u8], end: usize, then: Option<u8>) -> Option<usize> {
    match then {
        None => Some(end),
        Some(byte) => (bytes.get(end) == Some(&byte)).then_some(end + 1),
    }
}

/// Whether a condition holds at a place.
fn holds(assertion: Assertion, text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    match assertion {
        Assertion::StartText => at == 0,
        Assertion::EndText => at == bytes.len(),
        Assertion::EndTextNewline => {
            at == bytes.len() || (at + 1 == bytes.len() && bytes[at] == b'\n')
        }
        Assertion::StartLine => at == 0 || bytes[at - 1] == b'\n',
        Assertion::EndLine => at == bytes.len() || bytes[at] == b'\n',
        Assertion::WordBoundary => word_before(text, at) != word_after(text, at),
        Assertion::NotWordBoundary => word_before(text, at) == word_after(text, at),
    }
}

fn word_before(text: &str, at: usize) -> bool {
    text.get(..at).and_then(|before| before.chars().next_back()).is_some_and(is_word)
}

fn word_after(text: &str, at: usize) -> bool {
    text.get(at..).and_then(|after| after.chars().next()).is_some_and(is_word)
}

fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_'
    } else {
        try_is_word_character(c).unwrap_or(false)
    }
}
