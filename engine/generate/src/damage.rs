//! What senders do to events: cut off, broken and oversized lines.
//!
//! Invariant: damage adds no line end and leaves no event empty.

use super::Random;

/// How often events are damaged, as parts of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Damage {
    /// The end of the line is missing.
    pub truncate: f64,
    /// A byte is missing, wrong or too many: the line is no longer what its format says.
    pub(crate) malform: f64,
    /// The line is as long as `oversize_bytes`.
    pub(crate) oversize: f64,
    /// How long oversized lines are.
    pub(crate) oversize_bytes: u64,
}

impl Default for Damage {
    fn default() -> Self {
        Damage { truncate: 0.0, malform: 0.0, oversize: 0.0, oversize_bytes: 1 << 20 }
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Cut off.
    pub(crate) is_truncated: bool,
    /// Broken.
    pub(crate) is_malformed: bool,
    /// Oversized.
    pub(crate) is_oversized: bool,
}

impl Damage {
    /// Whether nothing is damaged.
    #[must_use]
    pub(crate) fn is_none(&self) -> bool {
        self.truncate <= 0.0 && self.malform <= 0.0 && self.oversize <= 0.0
    }

    /// Damages the event in `out[start..]`, but for the byte that ends it, or leaves it whole.
    pub(crate) fn apply(&self, start: usize, random: &mut Random, out: &mut Vec<u8>) -> Done {
        if self.is_none() {
            return Done::default();
        }
        let draws = [random.unit(), random.unit(), random.unit()];
        let mut done = Done::default();
        let end = out.pop().unwrap_or(b'\n');
        let length = out.len() - start;
        if draws[0] < self.truncate && length > 1 {
            out.truncate(start + 1 + random.below(length as u64 - 1) as usize);
            done.is_truncated = true;
        }
        if draws[1] < self.malform && length > 0 {
            malform(start, random, out);
            done.is_malformed = true;
        }
        if draws[2] < self.oversize {
            let missing = (self.oversize_bytes as usize).saturating_sub(out.len() - start);
            out.extend(std::iter::repeat_n(b'x', missing));
            done.is_oversized = true;
        }
        out.push(end);
        done
    }
}

/// Bytes that most formats cannot do without.
const STRUCTURE: &[u8] = b"\"{}[]<>:=";

fn malform(start: usize, random: &mut Random, out: &mut Vec<u8>) {
    let length = (out.len() - start) as u64;
    let any = start + random.below(length) as usize;
    let structure = out[start..].iter().position(|byte| STRUCTURE.contains(byte));
    match (random.below(4), structure) {
        (0, Some(at)) if length > 1 => {
            out.remove(start + at);
        }
        (1, _) => out.insert(any, b'"'),
        (2, _) => out.insert(any, 0),
        _ => out.insert(any, 0xff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_what_was_asked_for() {
        let mut random = Random::seeded(3);
        let mut counts = [0; 3];
        let damage = Damage { truncate: 0.1, malform: 0.2, oversize: 0.05, oversize_bytes: 500 };
        for _ in 0..10_000 {
            let mut out = b"before\n{\"a\":1}\n".to_vec();
            let done = damage.apply(7, &mut random, &mut out);
            assert!(out.starts_with(b"before\n") && out.len() > 8);
            assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 2);
            assert_eq!(done == Done::default(), out == b"before\n{\"a\":1}\n");
            let flags = [done.is_truncated, done.is_malformed, done.is_oversized];
            counts.iter_mut().zip(flags).for_each(|(count, flag)| *count += usize::from(flag));
            assert!(!done.is_oversized || out.len() == 7 + 501);
        }
        for (count, expected) in counts.into_iter().zip([1_000usize, 2_000, 500]) {
            assert!(count.abs_diff(expected) < 150, "{count} of {expected}");
        }
    }
}
