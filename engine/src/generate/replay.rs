//! A recorded file again, with the gaps that its times had.
//!
//! Invariant: the file is read as it is sent, one line ahead; it is never in memory as a whole.

use super::stamp::Stamp;
use super::{Generator, Moment};
use crate::limits::LINE_BYTES_MAX;
use regex::bytes::Regex;
use std::io::{BufRead, Read};
use temblor_stdlib::formats::datetime::DateFormat;

/// How times are found and read.
pub struct Clockwork {
    /// Finds the time; its first group, if it has one, is the time.
    pub regex: Regex,
    /// Reads it, in the letters of `strptime`.
    pub format: DateFormat,
    /// Writes the new time in its place, when the events are to look new.
    pub restamp: Option<Stamp>,
    /// Gaps are multiplied by this: 2 is twice as slow.
    pub slowness: f64,
}

/// The generator.
pub struct Replay {
    input: Box<dyn BufRead + Send>,
    clockwork: Clockwork,
    /// The line that comes next.
    line: Vec<u8>,
    /// When the last line with a time was written, by its own time.
    last: Option<i64>,
    is_read: bool,
}

impl Replay {
    /// Replays an input.
    pub fn new(input: Box<dyn BufRead + Send>, clockwork: Clockwork) -> Self {
        Replay { input, clockwork, line: Vec::new(), last: None, is_read: false }
    }

    /// Reads the next line, if it has not been read. A line of more than the greatest length goes in pieces.
    fn read(&mut self) -> Result<(), String> {
        if !self.is_read {
            self.line.clear();
            let mut limited = self.input.by_ref().take(LINE_BYTES_MAX as u64);
            limited.read_until(b'\n', &mut self.line).map_err(|error| error.to_string())?;
            self.is_read = true;
        }
        Ok(())
    }

    /// Where the time stands in the line, and what it is.
    fn time(&self) -> Option<(std::ops::Range<usize>, i64)> {
        let captures = self.clockwork.regex.captures(&self.line)?;
        let place = captures.get(1).or_else(|| captures.get(0))?;
        let text = std::str::from_utf8(place.as_bytes()).ok()?;
        Some((place.range(), self.clockwork.format.nanoseconds(text)?))
    }
}

impl Generator for Replay {
    /// A line without a time follows at once; one that is older than the line before it, too.
    fn gap(&mut self) -> Option<u64> {
        // What cannot be read is reported by `write`.
        self.read().ok()?;
        let Some((_, time)) = self.time() else { return Some(0) };
        let gap = self.last.map_or(0, |last| time.saturating_sub(last).max(0));
        self.last = Some(self.last.map_or(time, |last| last.max(time)));
        Some((gap as f64 * self.clockwork.slowness) as u64)
    }

    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        self.read()?;
        if self.line.is_empty() {
            return Ok(false);
        }
        let place = self.clockwork.restamp.is_some().then(|| self.time()).flatten();
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        match (&mut self.clockwork.restamp, place) {
            (Some(stamp), Some((range, _))) => {
                out.extend_from_slice(&line[..range.start]);
                stamp.push(moment.time, out);
                out.extend_from_slice(&line[range.end..]);
            }
            _ => out.extend_from_slice(line),
        }
        self.is_read = false;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_kept_and_times_made_new() {
        let text = b"10:00:00 a\n10:00:02 b\nno time\n10:00:01 c\n10:00:05 d\n";
        let clockwork = Clockwork {
            regex: Regex::new(r"^(\d\d:\d\d:\d\d)").unwrap(),
            format: DateFormat::compile("%H:%M:%S"),
            restamp: Some(Stamp::new("%s").unwrap()),
            slowness: 0.5,
        };
        let full = DateFormat::compile("%Y-%m-%dT%H:%M:%S");
        let clockwork =
            Clockwork { regex: Regex::new(r"^(\S+T\S+)").unwrap(), format: full, ..clockwork };
        let text = String::from_utf8_lossy(text).replace("10:", "2026-01-01T10:");
        let mut replay = Replay::new(Box::new(std::io::Cursor::new(text)), clockwork);
        let (mut gaps, mut lines, mut time) = (Vec::new(), Vec::new(), 7_000_000_000);
        loop {
            let gap = replay.gap().unwrap();
            let mut out = Vec::new();
            time += gap;
            if !replay.write(Moment { index: 0, time }, &mut out).unwrap() {
                break;
            }
            gaps.push(gap / 1_000_000);
            lines.push(String::from_utf8(out).unwrap());
        }
        assert_eq!(gaps, [0, 1000, 0, 0, 1500]);
        assert_eq!(lines, ["7 a", "8 b", "no time", "8 c", "9 d"]);
    }
}
