//! A recorded file again, once or in rounds, with the gaps that its times had.
//!
//! Invariant: a file is read as it is sent, a line ahead; it is in memory as a whole only where it is cut into
//! other parts than lines.

use super::envelope::EventFields;
use super::finder::Finder;
use super::reading::TimeReader;
use super::records;
use super::replacement::{Draw, Memory};
use super::sample::SampleEvent;
use super::tokens::{Token, Tokens};
use super::zone::Zone;
use super::{Generator, Moment, Random};
use std::collections::VecDeque;
use std::io::{BufRead, Read};
use temblor_runtime::clock::Timestamp;
use temblor_runtime::limits::LINE_BYTES_MAX;

/// How times are found and read.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// Finds the time.
    pub finder: Finder,
    /// The first that fits reads it.
    pub readers: Vec<TimeReader>,
}

/// How a recording is played.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clockwork {
    /// The first that finds a time in an event tells it.
    pub(crate) clocks: Vec<Clock>,
    /// What is replaced in each event.
    pub tokens: Vec<Token>,
    /// Gaps are multiplied by this: 2 is twice as slow.
    pub(crate) slowness: f64,
    /// How times without a zone are read.
    pub zone: Zone,
}

/// How often an input is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// So many times; for ever without it.
    pub count: Option<u64>,
    /// Time from the last event of a round to the first of the next, in nanoseconds.
    pub(crate) pause_ns: u64,
}

impl Default for Rounds {
    fn default() -> Self {
        Rounds { count: Some(1), pause_ns: 0 }
    }
}

/// What is played.
pub(crate) enum Recording {
    /// Lines, read as they are sent.
    Lines(Box<dyn BufRead + Send>, VecDeque<Vec<u8>>),
    /// Events in memory, in order.
    Events(std::sync::Arc<Vec<SampleEvent>>, usize),
}

/// Opens the input anew.
pub(crate) type Open = Box<dyn FnMut() -> Result<Recording, String> + Send>;

impl Recording {
    /// The next event. A line of more than the greatest length goes in pieces.
    fn next(&mut self) -> Result<Option<SampleEvent>, String> {
        match self {
            Recording::Events(events, place) => {
                *place += 1;
                Ok(events.get(*place - 1).cloned())
            }
            Recording::Lines(input, waiting) => loop {
                if let Some(line) = waiting.pop_front() {
                    return Ok(Some(SampleEvent::of(line)));
                }
                let mut chunk = Vec::new();
                let mut limited = input.by_ref().take(LINE_BYTES_MAX as u64);
                limited.read_until(b'\n', &mut chunk).map_err(|error| error.to_string())?;
                if chunk.is_empty() {
                    return Ok(None);
                }
                let lines = records::lines(&chunk).filter(|line| !line.is_empty());
                waiting.extend(lines.map(<[u8]>::to_vec));
            },
        }
    }
}

/// The generator.
pub(crate) struct Replay {
    open: Open,
    /// What is read; none before the first round.
    input: Option<Recording>,
    clocks: Vec<Clock>,
    tokens: Tokens,
    zone: Zone,
    slowness: f64,
    rounds: Rounds,
    /// What year a time without a year is of.
    now: Timestamp,
    random: Random,
    /// Rounds begun.
    begun: u64,
    /// Events of this round.
    count: u64,
    /// What comes next, and its time.
    event: Option<(SampleEvent, Option<i64>)>,
    /// When the last event with a time was written, by its own time.
    last: Option<i64>,
    /// The event that was written last, and the time that it shows.
    written: (SampleEvent, Timestamp),
}

impl Replay {
    /// Replays an input.
    #[must_use]
    pub(crate) fn new(
        open: Open,
        clockwork: Clockwork,
        rounds: Rounds,
        mut random: Random,
        now: Timestamp,
    ) -> Self {
        let memory = Memory::new(Random::seeded(random.bits()));
        let Clockwork { clocks, tokens, slowness, zone } = clockwork;
        let tokens = Tokens::new(tokens, memory);
        Replay {
            open,
            input: None,
            clocks,
            tokens,
            zone,
            slowness,
            rounds,
            now,
            random,
            begun: 0,
            count: 0,
            event: None,
            last: None,
            written: (SampleEvent::default(), 0),
        }
    }

    /// Reads the next event, if it has not been read.
    fn read(&mut self) -> Result<(), String> {
        if self.event.is_some() {
            return Ok(());
        }
        loop {
            if let Some(input) = &mut self.input {
                if let Some(event) = input.next()? {
                    self.count += 1;
                    let time = self.time(&event);
                    self.event = Some((event, time));
                    return Ok(());
                }
                // A round without an event would be followed by others for ever.
                if self.count == 0 {
                    return Ok(());
                }
            }
            if self.rounds.count.is_some_and(|count| self.begun >= count) {
                return Ok(());
            }
            self.input = Some((self.open)()?);
            (self.begun, self.count, self.last) = (self.begun + 1, 0, None);
        }
    }

    /// The time that stands in the event, or in the column for it.
    fn time(&self, event: &SampleEvent) -> Option<i64> {
        let text = event.time.as_ref().unwrap_or(&event.raw);
        self.clocks.iter().find_map(|clock| {
            let spot = clock.finder.first(text)?;
            let text = std::str::from_utf8(&text[spot.target]).ok()?;
            clock.readers.iter().find_map(|reader| reader.read(text, &self.zone, self.now))
        })
    }
}

impl Generator for Replay {
    /// An event without a time follows at once; one that is older than the one before it, too.
    fn gap(&mut self) -> Option<u64> {
        // What cannot be read is reported by `write`.
        self.read().ok()?;
        let pause = if self.count == 1 && self.begun > 1 { self.rounds.pause_ns } else { 0 };
        let time = self.event.as_ref().and_then(|(_, time)| *time);
        let Some(time) = time else { return Some(pause) };
        let gap = self.last.map_or(0, |last| time.saturating_sub(last).max(0));
        self.last = Some(self.last.map_or(time, |last| last.max(time)));
        Some(pause.saturating_add((gap as f64 * self.slowness) as u64))
    }

    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        self.read()?;
        let Some((event, time)) = self.event.take() else { return Ok(false) };
        let anchor = time.map(|time| (time, moment.time));
        let draw = Draw { moment, shown: moment.time, anchor, row: self.random.bits() };
        let mut made = event.raw.clone();
        self.tokens.apply(0, draw, &mut made);
        out.extend_from_slice(&made);
        self.written = (event, moment.time);
        Ok(true)
    }

    fn fields(&self) -> EventFields<'_> {
        let (event, shown) = &self.written;
        let [host, source, sourcetype, index] = &event.fields;
        EventFields {
            time: Some(*shown),
            host: host.as_deref(),
            source: source.as_deref(),
            sourcetype: sourcetype.as_deref(),
            index: index.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::replacement::Replacement;
    use super::super::stamp::Stamp;
    use super::*;

    fn replay(text: &'static str, rounds: Rounds) -> Replay {
        let finder = Finder::python(r"^(\S+T\S+)").unwrap();
        let formats = ["%Y/%m/%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S"];
        let readers = formats.map(|format| TimeReader::compile(format).unwrap());
        let stamps = readers.clone().map(|reader| (reader, Stamp::new("%s").unwrap()));
        let clock = Clock { finder: finder.clone(), readers: readers.to_vec() };
        let moved = Replacement::Moved(stamps.to_vec(), Zone::UTC);
        let clockwork = Clockwork {
            clocks: vec![clock],
            tokens: vec![
                Token { finder, replacement: moved },
                Token {
                    finder: Finder::python("@@n").unwrap(),
                    replacement: Replacement::Count(40),
                },
            ],
            slowness: 0.5,
            zone: Zone::UTC,
        };
        let open = move || {
            let input = Box::new(std::io::Cursor::new(text));
            Ok(Recording::Lines(input, VecDeque::new()))
        };
        Replay::new(Box::new(open), clockwork, rounds, Random::seeded(1), 0)
    }

    /// Gaps in milliseconds, and lines.
    fn all(mut replay: Replay, count_max: usize) -> (Vec<u64>, Vec<String>) {
        let (mut gaps, mut lines, mut time) = (Vec::new(), Vec::new(), 7_000_000_000);
        while lines.len() < count_max {
            let gap = replay.gap().unwrap();
            let mut out = Vec::new();
            time += gap;
            if !replay.write(Moment::at(0, time), &mut out).unwrap() {
                break;
            }
            gaps.push(gap / 1_000_000);
            lines.push(String::from_utf8(out).unwrap());
        }
        (gaps, lines)
    }

    #[test]
    fn gaps_are_kept_and_times_made_new() {
        let text = "2026-01-01T10:00:00 a\r2026-01-01T10:00:02 b @@n\r\nno time\n\
                    2026/01/01T10:00:01 c\n2026-01-01T10:00:05 d @@n";
        let (gaps, lines) = all(replay(text, Rounds::default()), 99);
        assert_eq!(gaps, [0, 1000, 0, 0, 1500]);
        assert_eq!(lines, ["7 a", "8 b 40", "no time", "8 c", "9 d 41"]);
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
