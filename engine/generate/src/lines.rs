//! The lines of a list or file, over and over.
//!
//! Invariant: the order is that of the list, or random by weight; the list is never empty.

use super::{Generator, Moment, Random};

/// Lines in turn, or picked.
pub(crate) struct Lines {
    lines: Vec<Vec<u8>>,
    /// Set when lines are picked at random.
    random: Option<Random>,
    /// After these many events there are no more.
    limit: Option<u64>,
}

impl Lines {
    /// Repeats lines for ever, or `rounds` times.
    ///
    /// # Errors
    /// When there is no line.
    pub(crate) fn new(
        text: &[u8],
        random: Option<Random>,
        rounds: Option<u64>,
    ) -> Result<Self, String> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let lines: Vec<_> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        if text.is_empty() {
            return Err("there is no line to repeat".to_string());
        }
        let limit = rounds.map(|rounds| rounds.saturating_mul(lines.len() as u64));
        Ok(Lines { lines, random, limit })
    }
}

impl Generator for Lines {
    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        if self.limit.is_some_and(|limit| moment.index >= limit) {
            return Ok(false);
        }
        let count = self.lines.len() as u64;
        let index = match &mut self.random {
            Some(random) => random.below(count),
            None => moment.index % count,
        };
        out.extend_from_slice(&self.lines[index as usize]);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_in_turn_and_end_after_their_rounds() {
        let mut lines = Lines::new(b"a\nb\n", None, Some(2)).unwrap();
        let mut out = Vec::new();
        let mut index = 0;
        while lines.write(Moment::at(index, 0), &mut out).unwrap() {
            index += 1;
        }
        assert_eq!((out.as_slice(), index), (&b"abab"[..], 4));
        assert!(Lines::new(b"", None, None).is_err());
    }
}
