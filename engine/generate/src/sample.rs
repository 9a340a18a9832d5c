//! Sample events with tokens: parts that a regex finds, replaced anew in every event.
//!
//! Invariant: regexes run once, when the sample is read; an event is then a walk over its parts.

use super::replacement::{Draw, Replacement, replace};
use super::{Generator, Moment, Random};
use regex::bytes::Regex;

/// A token: what it finds, and what it puts there.
#[derive(Clone, Debug)]
pub struct Token {
    /// Finds it; its first group, if it has one, is what is replaced.
    pub regex: Regex,
    /// Takes its place.
    pub replacement: Replacement,
}

/// A part of a sample event.
enum Part {
    Text(Vec<u8>),
    Token(usize),
}

/// A sample and its tokens, as a user describes them.
#[derive(Clone, Debug, Default)]
pub struct SampleParts {
    /// The events.
    pub events: Vec<Vec<u8>>,
    /// What is replaced.
    pub tokens: Vec<Token>,
    /// Whether events are picked at random rather than in turn.
    pub shuffle: bool,
    /// Nanoseconds before and after an event's time between which the times that it shows are drawn.
    pub window: (u64, u64),
}

/// The generator.
pub struct Sample {
    events: Vec<Vec<Part>>,
    tokens: Vec<Token>,
    random: Random,
    shuffle: bool,
    window: (u64, u64),
}

impl Sample {
    /// Finds the tokens in the events.
    ///
    /// # Errors
    /// When there is no event.
    pub fn new(described: &SampleParts, random: Random) -> Result<Self, String> {
        let SampleParts { events, tokens, shuffle, window } = described;
        if events.is_empty() {
            return Err("the sample has no event".to_string());
        }
        let events = events.iter().map(|event| parts(event, tokens)).collect();
        let (tokens, shuffle, window) = (tokens.clone(), *shuffle, *window);
        Ok(Sample { events, tokens, random, shuffle, window })
    }

    /// The time that an event shows.
    fn shown(&mut self, time: u64) -> u64 {
        match self.window {
            (0, 0) => time,
            (before, after) => {
                let span = before.saturating_add(after).saturating_add(1);
                time.saturating_sub(before).saturating_add(self.random.below(span))
            }
        }
    }
}

/// The events of a text: its lines, or what lies between the places where `breaker` matches.
pub fn cut(text: &[u8], breaker: Option<&Regex>) -> Vec<Vec<u8>> {
    let Some(breaker) = breaker else {
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        return lines.map(<[u8]>::to_vec).collect();
    };
    let mut starts: Vec<usize> = breaker.find_iter(text).map(|found| found.start()).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    starts.push(text.len());
    let events = starts.windows(2).map(|pair| text[pair[0]..pair[1]].trim_ascii());
    events.filter(|event| !event.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Where tokens overlap, the earlier in the text wins, then the earlier in the list.
fn parts(event: &[u8], tokens: &[Token]) -> Vec<Part> {
    let mut found = Vec::new();
    for (number, token) in tokens.iter().enumerate() {
        for captures in token.regex.captures_iter(event) {
            if let Some(place) = captures.get(1).or_else(|| captures.get(0)) {
                found.push((place.start(), number, place.end()));
            }
        }
    }
    found.sort_unstable();
    let (mut parts, mut at) = (Vec::new(), 0);
    for (start, number, end) in found.into_iter().filter(|(start, _, end)| start < end) {
        if start < at {
            continue;
        }
        parts.push(Part::Text(event[at..start].to_vec()));
        parts.push(Part::Token(number));
        at = end;
    }
    parts.push(Part::Text(event[at..].to_vec()));
    parts
}

impl Generator for Sample {
    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        let count = self.events.len() as u64;
        let index = if self.shuffle { self.random.below(count) } else { moment.index % count };
        let (row, shown) = (self.random.bits(), self.shown(moment.time));
        let draw = Draw { moment, shown, row };
        for part in &self.events[index as usize] {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Token(number) => {
                    replace(&mut self.tokens[*number].replacement, draw, &mut self.random, out);
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::replacement::Rows;
    use super::super::stamp::Stamp;
    use super::*;
    use std::sync::Arc;

    fn token(regex: &str, replacement: Replacement) -> Token {
        Token { regex: Regex::new(regex).unwrap(), replacement }
    }

    #[test]
    fn tokens_are_replaced_and_columns_belong_together() {
        let rows = Arc::new(Rows::of("ada,1\nbob,2\neve,3").unwrap());
        let tokens = vec![
            token("user=(\\w+)", Replacement::Column(rows.clone(), 0)),
            token("ID", Replacement::Column(rows, 1)),
            token("^TIME", Replacement::Time(Stamp::new("%H:%M").unwrap())),
            token("N", Replacement::Count(5)),
        ];
        let events = cut(b"TIME user=x id=ID n=N\nother\n", None);
        let described = SampleParts { events, tokens, ..SampleParts::default() };
        let mut sample = Sample::new(&described, Random::seeded(1)).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for index in 0..40 {
            let mut out = Vec::new();
            sample.write(Moment { index, time: 60_000_000_000 }, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            if index % 2 == 1 {
                assert_eq!(text, "other");
                continue;
            }
            let n = index / 2 + 5;
            let known = ["ada id=1", "bob id=2", "eve id=3"];
            let row = known.iter().find(|row| text == format!("00:01 user={row} n={n}"));
            seen.insert(*row.unwrap_or_else(|| panic!("{text}")));
        }
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn shown_times_are_drawn_around_the_event_and_are_one_for_all_its_tokens() {
        let stamp = || Replacement::Time(Stamp::new("%s").unwrap());
        let tokens = vec![token("A", stamp()), token("B", stamp())];
        let events = vec![b"A B".to_vec()];
        let window = (5_000_000_000, 2_000_000_000);
        let described = SampleParts { events, tokens, window, ..SampleParts::default() };
        let mut sample = Sample::new(&described, Random::seeded(1)).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for index in 0..200 {
            let mut out = Vec::new();
            sample.write(Moment { index, time: 100_000_000_000 }, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            let (first, second) = text.split_once(' ').unwrap();
            assert_eq!(first, second);
            seen.insert(first.parse::<u64>().unwrap());
        }
        let ends = (seen.first(), seen.last());
        assert_eq!(ends, (Some(&95), Some(&101)), "the last whole second before 102");
    }
}
