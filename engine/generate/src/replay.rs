//! A recorded file again, once or in rounds, with the gaps that its times had.
//!
//! Invariant: the file is read as it is sent, one line ahead; it is never in memory as a whole.

use super::stamp::Stamp;
use super::{Generator, Moment};
use regex::bytes::Regex;
use std::io::{BufRead, Read};
use temblor_runtime::limits::LINE_BYTES_MAX;
use temblor_stdlib::formats::datetime::DateFormat;

/// How times are found and read.
#[derive(Clone, Debug)]
pub struct Clockwork {
    /// Finds the time; its first group, if it has one, is the time.
    pub regex: Regex,
    /// The first that fits reads it.
    pub formats: Vec<TimeFormat>,
    /// Gaps are multiplied by this: 2 is twice as slow.
    pub slowness: f64,
}

/// A format of times.
#[derive(Clone, Debug)]
pub struct TimeFormat {
    /// Reads a time, in the letters of `strptime`.
    pub read: DateFormat,
    /// Writes the new time in its place, when the events are to look new.
    pub restamp: Option<Stamp>,
}

/// How often an input is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// So many times; for ever without it.
    pub count: Option<u64>,
    /// Time from the last event of a round to the first of the next, in nanoseconds.
    pub pause_ns: u64,
}

impl Default for Rounds {
    fn default() -> Self {
        Rounds { count: Some(1), pause_ns: 0 }
    }
}

/// Opens the input anew.
pub type Open = Box<dyn FnMut() -> Result<Box<dyn BufRead + Send>, String> + Send>;

/// The generator.
pub struct Replay {
    open: Open,
    /// What is read; none before the first round.
    input: Option<Box<dyn BufRead + Send>>,
    clockwork: Clockwork,
    rounds: Rounds,
    /// Rounds begun.
    begun: u64,
    /// Lines of this round.
    lines: u64,
    /// The line that comes next; empty at the end.
    line: Vec<u8>,
    /// When the last line with a time was written, by its own time.
    last: Option<i64>,
    is_read: bool,
}

impl Replay {
    /// Replays an input.
    pub fn new(open: Open, clockwork: Clockwork, rounds: Rounds) -> Self {
        Replay {
            open,
            input: None,
            clockwork,
            rounds,
            begun: 0,
            lines: 0,
            line: Vec::new(),
            last: None,
            is_read: false,
        }
    }

    /// Reads the next line, if it has not been read. A line of more than the greatest length goes in pieces.
    fn read(&mut self) -> Result<(), String> {
        if self.is_read {
            return Ok(());
        }
        loop {
            if let Some(input) = &mut self.input {
                self.line.clear();
                let mut limited = input.by_ref().take(LINE_BYTES_MAX as u64);
                limited.read_until(b'\n', &mut self.line).map_err(|error| error.to_string())?;
                // A round without a line would be followed by others for ever.
                if !self.line.is_empty() || self.lines == 0 {
                    break;
                }
            }
            if self.rounds.count.is_some_and(|count| self.begun >= count) {
                self.line.clear();
                break;
            }
            self.input = Some((self.open)()?);
            (self.begun, self.lines, self.last) = (self.begun + 1, 0, None);
        }
        self.lines += 1;
        self.is_read = true;
        Ok(())
    }

    /// Where the time stands in the line, what it is, and which format it has.
    fn time(&self) -> Option<(std::ops::Range<usize>, i64, usize)> {
        let captures = self.clockwork.regex.captures(&self.line)?;
        let place = captures.get(1).or_else(|| captures.get(0))?;
        let text = std::str::from_utf8(place.as_bytes()).ok()?;
        let times = self.clockwork.formats.iter().map(|format| format.read.nanoseconds(text));
        let (format, time) = times.enumerate().find_map(|(number, time)| Some((number, time?)))?;
        Some((place.range(), time, format))
    }
}

impl Generator for Replay {
    /// A line without a time follows at once; one that is older than the line before it, too.
    fn gap(&mut self) -> Option<u64> {
        // What cannot be read is reported by `write`.
        self.read().ok()?;
        let pause = if self.lines == 1 && self.begun > 1 { self.rounds.pause_ns } else { 0 };
        let Some((_, time, _)) = self.time() else { return Some(pause) };
        let gap = self.last.map_or(0, |last| time.saturating_sub(last).max(0));
        self.last = Some(self.last.map_or(time, |last| last.max(time)));
        Some(pause.saturating_add((gap as f64 * self.clockwork.slowness) as u64))
    }

    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        self.read()?;
        if self.line.is_empty() {
            return Ok(false);
        }
        let place = self.time();
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let stamp = place.and_then(|(range, _, format)| {
            Some((range, self.clockwork.formats[format].restamp.as_mut()?))
        });
        match stamp {
            Some((range, stamp)) => {
                out.extend_from_slice(&line[..range.start]);
                stamp.push(moment.time, out);
                out.extend_from_slice(&line[range.end..]);
            }
            None => out.extend_from_slice(line),
        }
        self.is_read = false;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(text: &'static str, rounds: Rounds) -> Replay {
        let format = |format| TimeFormat {
            read: DateFormat::compile(format),
            restamp: Some(Stamp::new("%s").unwrap()),
        };
        let clockwork = Clockwork {
            regex: Regex::new(r"^(\S+T\S+)").unwrap(),
            formats: vec![format("%Y/%m/%dT%H:%M:%S"), format("%Y-%m-%dT%H:%M:%S")],
            slowness: 0.5,
        };
        let open = move || Ok(Box::new(std::io::Cursor::new(text)) as Box<dyn BufRead + Send>);
        Replay::new(Box::new(open), clockwork, rounds)
    }

    /// Gaps in milliseconds, and lines.
    fn all(mut replay: Replay, count_max: usize) -> (Vec<u64>, Vec<String>) {
        let (mut gaps, mut lines, mut time) = (Vec::new(), Vec::new(), 7_000_000_000);
        while lines.len() < count_max {
            let gap = replay.gap().unwrap();
            let mut out = Vec::new();
            time += gap;
            if !replay.write(Moment { index: 0, time }, &mut out).unwrap() {
                break;
            }
            gaps.push(gap / 1_000_000);
            lines.push(String::from_utf8(out).unwrap());
        }
        (gaps, lines)
    }

    #[test]
    fn gaps_are_kept_and_times_made_new() {
        let text = "2026-01-01T10:00:00 a\n2026-01-01T10:00:02 b\nno time\n\
                    2026/01/01T10:00:01 c\n2026-01-01T10:00:05 d\n";
        let (gaps, lines) = all(replay(text, Rounds::default()), 99);
        assert_eq!(gaps, [0, 1000, 0, 0, 1500]);
        assert_eq!(lines, ["7 a", "8 b", "no time", "8 c", "9 d"]);
    }

    #[test]
    fn rounds_follow_each_other_after_a_pause() {
        let text = "2026-01-01T10:00:00 a\n2026-01-01T10:00:02 b\n";
        let rounds = Rounds { count: Some(2), pause_ns: 3_000_000_000 };
        let (gaps, lines) = all(replay(text, rounds), 99);
        assert_eq!(gaps, [0, 1000, 3000, 1000]);
        assert_eq!(lines, ["7 a", "8 b", "11 a", "12 b"]);
        let for_ever = Rounds { count: None, pause_ns: 0 };
        assert_eq!(all(replay(text, for_ever), 99).0.len(), 99);
        assert_eq!(all(replay("", for_ever), 99).0.len(), 0, "nothing is not repeated for ever");
    }
}
