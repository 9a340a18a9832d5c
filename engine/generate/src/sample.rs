//! Sample events with tokens: parts that a pattern finds, replaced anew in every event.
//!
//! Invariant: an event that comes often is woven once and then is a walk over its parts; what comes out is
//! the same.

use super::envelope::EventFields;
use super::finder::Finder;
use super::replacement::{Draw, Memory, Replacement};
use super::tokens::{Token, Tokens};
use super::weave::{Loom, Woven};
use super::zone::Zone;
use super::{Generator, Moment, Random};
use temblor_runtime::clock::Timestamp;

/// An event is woven when it comes for this time: weaving costs as much as some tens of searches.
const WOVEN_FROM: u32 = 32;

/// An event of a sample, and what a table says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleEvent {
    /// The event itself.
    pub raw: Vec<u8>,
    /// Where its time stands, when not in itself.
    pub time: Option<Vec<u8>>,
    /// `host`, `source`, `sourcetype` and `index`, as far as the table has them.
    pub fields: [Option<Box<str>>; 4],
}

impl SampleEvent {
    /// An event that is nothing but its text.
    #[must_use]
    pub(crate) fn of(raw: Vec<u8>) -> Self {
        SampleEvent { raw, ..SampleEvent::default() }
    }
}

/// A sample and its tokens, as a user describes them.
#[derive(Clone, Debug, Default)]
pub struct SampleParts {
    /// The events.
    pub events: Vec<SampleEvent>,
    /// What is replaced.
    pub tokens: Vec<Token>,
    /// Whether events are picked at random rather than in turn.
    pub shuffle: bool,
    /// Whether the whole sample counts as one event.
    pub(crate) is_bundle: bool,
    /// Whether the times of an execution rise evenly instead of being drawn.
    pub(crate) is_sequential: bool,
    /// How times without a zone are read.
    pub zone: Zone,
}

/// The generator.
pub(crate) struct Sample {
    events: Vec<(SampleEvent, u32, Option<Box<Woven>>)>,
    tokens: Tokens,
    loom: Option<Loom>,
    parts: SampleParts,
    random: Random,
    /// The first time that stands in the sample, for tokens that keep their distance from it.
    first: Option<i64>,
    last: (usize, Timestamp),
}

impl Sample {
    /// Takes the events in; `now` says what year a time without a year is of.
    ///
    /// # Errors
    /// When there is no event.
    pub(crate) fn new(
        parts: &SampleParts,
        mut random: Random,
        now: Timestamp,
    ) -> Result<Self, String> {
        if parts.events.is_empty() {
            return Err("the sample has no event".to_string());
        }
        let first = parts.events.iter().find_map(|event| time_in(event, parts, now));
        let events = parts.events.iter().map(|event| (event.clone(), 0, None)).collect();
        let memory = Memory::new(Random::seeded(random.bits()));
        let tokens = Tokens::new(parts.tokens.clone(), memory);
        let parts = SampleParts { events: Vec::new(), tokens: Vec::new(), ..parts.clone() };
        Ok(Sample { events, tokens, loom: None, parts, random, first, last: (0, 0) })
    }

    /// The time that an event shows.
    fn shown(&mut self, moment: Moment) -> Timestamp {
        let (earliest, latest) = moment.window;
        let span = latest.saturating_sub(earliest);
        match (span, self.parts.is_sequential) {
            (0, _) => earliest,
            (span, true) => {
                let part = moment.place as f64 / moment.of.max(1) as f64;
                earliest + (span as f64 * part) as u64
            }
            (span, false) => earliest.saturating_add(self.random.below(span.saturating_add(1))),
        }
    }
}

/// The first time in an event that a token would move.
fn time_in(event: &SampleEvent, parts: &SampleParts, now: Timestamp) -> Option<i64> {
    parts.tokens.iter().find_map(|token| {
        let Replacement::Moved(formats, zone) = &token.replacement else { return None };
        let spot = token.finder.first(&event.raw)?;
        let text = std::str::from_utf8(&event.raw[spot.target]).ok()?;
        formats.iter().find_map(|(reader, _)| reader.read(text, zone, now))
    })
}

/// The events of a text: its lines, or what lies between the places where `breaker` matches.
#[must_use]
pub(crate) fn cut(text: &[u8], breaker: Option<&Finder>) -> Vec<Vec<u8>> {
    let Some(breaker) = breaker else {
        let lines = super::records::lines(text).filter(|line| !line.is_empty());
        return lines.map(<[u8]>::to_vec).collect();
    };
    let text = super::records::with_plain_ends(text);
    let mut spots = Vec::new();
    breaker.all(&text, &mut spots);
    let mut starts: Vec<usize> = spots.iter().map(|spot| spot.whole.start).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    starts.push(text.len());
    let events = starts.windows(2).map(|pair| text[pair[0]..pair[1]].trim_ascii());
    events.filter(|event| !event.is_empty()).map(<[u8]>::to_vec).collect()
}

impl Generator for Sample {
    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        let count = self.events.len() as u64;
        let index = match self.parts.shuffle {
            true => self.random.below(count),
            false => moment.place % count,
        } as usize;
        let (row, shown) = (self.random.bits(), self.shown(moment));
        self.last = (index, shown);
        let anchor = self.first.map(|first| (first, moment.window.0));
        let draw = Draw { moment, shown, anchor, row };
        let (event, times, woven) = &mut self.events[index];
        if let Some(woven) = woven {
            woven.write(&mut self.tokens, draw, out);
            return Ok(true);
        }
        *times += 1;
        if *times >= WOVEN_FROM {
            let loom = self.loom.get_or_insert_with(|| Loom::new(self.tokens.list()));
            *woven = Some(Box::new(loom.weave(&event.raw, &self.tokens, draw)));
        }
        let mut made = event.raw.clone();
        self.tokens.apply(0, draw, &mut made);
        out.extend_from_slice(&made);
        Ok(true)
    }

    fn whole(&self) -> u64 {
        self.events.len() as u64
    }

    fn fields(&self) -> EventFields<'_> {
        let (index, shown) = self.last;
        let [host, source, sourcetype, index] = &self.events[index].0.fields;
        EventFields {
            time: Some(shown),
            host: host.as_deref(),
            source: source.as_deref(),
            sourcetype: sourcetype.as_deref(),
            index: index.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::TimeReader;
    use super::super::replacement::Rows;
    use super::super::stamp::Stamp;
    use super::*;
    use std::sync::Arc;

    fn token(pattern: &str, replacement: Replacement) -> Token {
        Token { finder: Finder::python(pattern).unwrap(), replacement }
    }

    fn sample(text: &[u8], tokens: Vec<Token>) -> Sample {
        let events = cut(text, None).into_iter().map(SampleEvent::of).collect();
        let parts = SampleParts { events, tokens, ..SampleParts::default() };
        Sample::new(&parts, Random::seeded(1), 0).unwrap()
    }

    fn text(sample: &mut Sample, moment: Moment) -> String {
        let mut out = Vec::new();
        assert!(sample.write(moment, &mut out).unwrap());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn tokens_are_replaced_and_columns_belong_together() {
        let rows = Arc::new(Rows::of(b"ada,1\nbob,2\neve,3", 1).unwrap());
        let tokens = vec![
            token("user=(\\w+)", Replacement::Column(rows.clone(), 0)),
            token("ID", Replacement::Column(rows, 1)),
            token("^TIME", Replacement::Time(Stamp::new("%H:%M").unwrap())),
            token("N", Replacement::Count(5)),
        ];
        let mut sample = sample(b"TIME user=x id=ID n=N N\nother\n", tokens);
        let mut seen = std::collections::BTreeSet::new();
        for index in 0..140 {
            let text = text(&mut sample, Moment::at(index, 60_000_000_000));
            if index % 2 == 1 {
                assert_eq!(text, "other");
                continue;
            }
            let n = index / 2 + 5;
            let known = ["ada id=1", "bob id=2", "eve id=3"];
            let row = known.iter().find(|row| text == format!("00:01 user={row} n={n} {n}"));
            seen.insert(*row.unwrap_or_else(|| panic!("{text}")));
        }
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn shown_times_are_drawn_from_the_window_and_are_one_for_all_tokens() {
        let stamp = || Replacement::Time(Stamp::new("%s").unwrap());
        let mut sample = sample(b"A B", vec![token("A", stamp()), token("B", stamp())]);
        let mut seen = std::collections::BTreeSet::new();
        for index in 0..200 {
            let window = (95_000_000_000, 102_000_000_000);
            let moment = Moment { window, ..Moment::at(index, 100_000_000_000) };
            let text = text(&mut sample, moment);
            let (first, second) = text.split_once(' ').unwrap();
            assert_eq!(first, second);
            seen.insert(first.parse::<u64>().unwrap());
        }
        let ends = (seen.first(), seen.last());
        assert_eq!(ends, (Some(&95), Some(&101)), "the last whole second before 102");
        sample.parts.is_sequential = true;
        let window = (0, 10_000_000_000);
        let mut at = |place| text(&mut sample, Moment { window, place, of: 5, ..Moment::at(0, 0) });
        assert_eq!([at(0), at(1), at(4)], ["0 0", "2 2", "8 8"]);
    }

    #[test]
    fn times_that_are_moved_keep_their_distance_from_the_first() {
        let formats = vec![(TimeReader::compile("%s").unwrap(), Stamp::new("%s").unwrap())];
        let moved = Replacement::Moved(formats, Zone::UTC);
        let mut sample = sample(b"1000000000 1000000007\n1000000060 x", vec![token(r"\d+", moved)]);
        let mut at = |index| text(&mut sample, Moment::at(index, 5_000_000_000));
        assert_eq!([at(0), at(1)], ["5 12", "65 x"]);
    }

    #[test]
    fn breakers_begin_events() {
        let breaker = Finder::python(r"(?m)^\d+:").unwrap();
        let events = cut(b"head\r\n1: a\r\n b\r\n2: c", Some(&breaker));
        assert_eq!(events, [&b"head"[..], b"1: a\n b", b"2: c"]);
    }
}
