//! One character of a class, and runs of them.
//!
//! Invariant: positions handed out lie between characters.

use memchr::{memchr, memchr2, memchr3};
use regex_syntax::hir::ClassUnicode;

use super::symbols::{ascii_members, has_all_non_ascii, has_non_ascii};

/// A class made ready for scanning.
#[derive(Debug)]
pub(super) struct Class {
    /// Whether a byte is a member, or, beyond ASCII, starts a member for sure.
    table: Box<[bool; 256]>,
    beyond: Beyond,
    /// The only ASCII bytes outside the class, when they are few and all else is inside.
    stops: Vec<u8>,
    /// The longest row of members among the bytes, if it is long enough to try whole blocks.
    interval: Option<Interval>,
}

/// Bytes from `low` on, `span` more than one.
#[derive(Debug, Clone, Copy)]
struct Interval {
    low: u8,
    span: u8,
}

/// Members beyond ASCII.
#[derive(Debug)]
enum Beyond {
    None,
    All,
    Some(ClassUnicode),
}

impl Class {
    pub(super) fn new(class: &ClassUnicode) -> Self {
        let ascii = ascii_members(class);
        let beyond = if has_all_non_ascii(class) {
            Beyond::All
        } else if has_non_ascii(class) {
            Beyond::Some(class.clone())
        } else {
            Beyond::None
        };
        let all = matches!(beyond, Beyond::All);
        let mut table = Box::new([false; 256]);
        for byte in 0..=255u8 {
            table[usize::from(byte)] = if byte.is_ascii() { ascii.contains(byte) } else { all };
        }
        let stops: Vec<u8> = (0..0x80u8).filter(|&byte| !ascii.contains(byte)).take(4).collect();
        let stops = if all && (1..=3).contains(&stops.len()) { stops } else { Vec::new() };
        let interval = longest_interval(&table);
        Self { table, beyond, stops, interval }
    }

    /// Whether every character is a member.
    pub(super) fn is_all(&self) -> bool {
        matches!(self.beyond, Beyond::All) && self.table.iter().all(|&member| member)
    }

    /// The ASCII bytes outside, when all else is inside and they are one to three.
    pub(super) fn stops(&self) -> &[u8] {
        &self.stops
    }

    /// The end of the member at `at`, if one is there.
    #[inline]
    pub(super) fn step(&self, text: &str, at: usize) -> Option<usize> {
        let byte = *text.as_bytes().get(at)?;
        if byte.is_ascii() {
            return self.table[usize::from(byte)].then_some(at + 1);
        }
        let c = text.get(at..)?.chars().next()?;
        let member = match &self.beyond {
            Beyond::None => false,
            Beyond::All => true,
            Beyond::Some(class) => contains(class, c),
        };
        member.then(|| at + c.len_utf8())
    }

    /// Whether the character before `at` is a member.
    pub(super) fn precedes(&self, text: &str, at: usize) -> bool {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_some_and(|c| self.step(text, at - c.len_utf8()).is_some())
    }

    /// The end of the run of members that starts at `at`.
    #[inline]
    pub(super) fn run_end(&self, text: &str, mut at: usize) -> usize {
        let bytes = text.as_bytes();
        if !self.stops.is_empty() {
            return at + self.stop_distance(&bytes[at..]);
        }
        loop {
            if let Some(interval) = self.interval {
                at += interval.blocks(&bytes[at..]);
            }
            while let Some(&byte) = bytes.get(at)
                && self.table[usize::from(byte)]
            {
                at += 1;
            }
            // Only a class with some members beyond ASCII can go on past a byte not in the table.
            match (&self.beyond, self.step(text, at)) {
                (Beyond::Some(_), Some(end)) => at = end,
                _ => return at,
            }
        }
    }

    /// The end of at most `max` members from `at` on.
    pub(super) fn run_end_limited(&self, text: &str, mut at: usize, max: u32) -> usize {
        for _ in 0..max {
            match self.step(text, at) {
                Some(end) => at = end,
                None => break,
            }
        }
        at
    }

    fn stop_distance(&self, rest: &[u8]) -> usize {
        let found = match *self.stops {
            [a] => memchr(a, rest),
            [a, b] => memchr2(a, b, rest),
            [a, b, c] => memchr3(a, b, c, rest),
            _ => Some(0),
        };
        found.unwrap_or(rest.len())
    }
}

impl Interval {
    /// How many bytes the blocks have that lie in the interval as a whole.
    #[inline]
    fn blocks(self, rest: &[u8]) -> usize {
        let Self { low, span } = self;
        // Without a branch, so that the compiler makes vector instructions of it.
        let lies_within = |block: &&[u8; 16]| {
            block.iter().fold(true, |all, byte| all & (byte.wrapping_sub(low) <= span))
        };
        rest.as_chunks::<16>().0.iter().take_while(lies_within).count() * 16
    }
}

fn longest_interval(table: &[bool; 256]) -> Option<Interval> {
    /// Shorter intervals leave most texts soon.
    const LENGTH_MIN: usize = 64;
    let runs = table.chunk_by(|left, right| left == right);
    let mut low = 0;
    let mut best: Option<(usize, usize)> = None;
    for run in runs {
        if run[0] && best.is_none_or(|(_, length)| length < run.len()) {
            best = Some((low, run.len()));
        }
        low += run.len();
    }
    let (low, length) = best.filter(|(_, length)| *length >= LENGTH_MIN)?;
    Some(Interval { low: u8::try_from(low).ok()?, span: u8::try_from(length - 1).ok()? })
}

fn contains(class: &ClassUnicode, c: char) -> bool {
    let ranges = class.ranges();
    let index = ranges.partition_point(|range| range.end() < c);
    ranges.get(index).is_some_and(|range| range.start() <= c)
}
