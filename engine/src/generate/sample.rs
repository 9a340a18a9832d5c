//! Sample events with tokens: parts that a regex finds, replaced anew in every event.
//!
//! Invariant: regexes run once, when the sample is read; an event is then a walk over its parts.

use super::digits::{push_hex, push_ipv4, push_number, push_uuid};
use super::stamp::Stamp;
use super::{Generator, Moment, Random};
use regex::bytes::Regex;
use std::sync::Arc;

/// What takes the place of a token.
#[derive(Clone, Debug)]
pub enum Replacement {
    /// A text.
    Static(Vec<u8>),
    /// The time of the event.
    Time(Stamp),
    /// `ipv4`
    Ipv4,
    /// `ipv6`
    Ipv6,
    /// `mac`
    Mac,
    /// `guid`
    Uuid,
    /// `integer[a:b]`, both included
    Integer(i64, i64),
    /// `float[a:b]`, with as many decimals as `a`
    Float(f64, f64, usize),
    /// `string(n)`
    Text(usize),
    /// `hex(n)`
    Hex(usize),
    /// `list["x","y"]`
    List(Vec<Vec<u8>>),
    /// A column of a random row; tokens of one file take it from the same row.
    Column(Arc<Rows>, usize),
    /// Counts on from a number.
    Count(u64),
}

/// The rows of a file that tokens pick from.
#[derive(Debug)]
pub struct Rows {
    rows: Vec<Vec<Vec<u8>>>,
}

impl Rows {
    /// Rows of cells between commas; no cell holds one.
    ///
    /// # Errors
    /// When there is no row.
    pub fn of(text: &str) -> Result<Self, String> {
        let cells =
            |line: &str| line.split(',').map(|cell| cell.trim().as_bytes().to_vec()).collect();
        let rows: Vec<_> = text.lines().filter(|line| !line.is_empty()).map(cells).collect();
        if rows.is_empty() { Err("has no rows".to_string()) } else { Ok(Rows { rows }) }
    }
}

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

/// The generator.
pub struct Sample {
    events: Vec<Vec<Part>>,
    tokens: Vec<Token>,
    random: Random,
    /// Whether events are picked at random rather than in turn.
    shuffle: bool,
}

impl Sample {
    /// A sample of one event a line, or cut where `breaker` matches.
    ///
    /// # Errors
    /// When there is no event.
    pub fn new(
        text: &[u8],
        breaker: Option<&Regex>,
        tokens: Vec<Token>,
        random: Random,
        shuffle: bool,
    ) -> Result<Self, String> {
        let events = cut(text, breaker);
        if events.is_empty() {
            return Err("the sample has no event".to_string());
        }
        let events = events.iter().map(|event| parts(event, &tokens)).collect();
        Ok(Sample { events, tokens, random, shuffle })
    }
}

fn cut<'t>(text: &'t [u8], breaker: Option<&Regex>) -> Vec<&'t [u8]> {
    let Some(breaker) = breaker else {
        return text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    };
    let mut starts: Vec<usize> = breaker.find_iter(text).map(|found| found.start()).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    starts.push(text.len());
    let events = starts.windows(2).map(|pair| text[pair[0]..pair[1]].trim_ascii());
    events.filter(|event| !event.is_empty()).collect()
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
        // One draw an event decides all rows, so that columns of a file belong together.
        let row = self.random.bits();
        for part in &self.events[index as usize] {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Token(number) => {
                    replace(
                        &mut self.tokens[*number].replacement,
                        moment,
                        row,
                        &mut self.random,
                        out,
                    );
                }
            }
        }
        Ok(true)
    }
}

fn replace(
    replacement: &mut Replacement,
    moment: Moment,
    row: u64,
    random: &mut Random,
    out: &mut Vec<u8>,
) {
    match replacement {
        Replacement::Static(text) => out.extend_from_slice(text),
        Replacement::Time(stamp) => stamp.push(moment.time, out),
        Replacement::Ipv4 => push_ipv4(random, out),
        Replacement::Ipv6 => push_groups(random, 8, 4, out),
        Replacement::Mac => push_groups(random, 6, 2, out),
        Replacement::Uuid => push_uuid(random, out),
        Replacement::Integer(low, high) => {
            let span = high.abs_diff(*low).saturating_add(1);
            let number = low.wrapping_add_unsigned(random.below(span));
            if number < 0 {
                out.push(b'-');
            }
            push_number(number.unsigned_abs(), out);
        }
        Replacement::Float(low, high, decimals) => {
            let number = *low + (*high - *low) * random.unit();
            out.extend_from_slice(format!("{number:.0$}", *decimals).as_bytes());
        }
        Replacement::Text(length) => {
            const LETTERS: &[u8; 64] =
                b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ab";
            (0..*length).for_each(|_| out.push(LETTERS[random.below(64) as usize]));
        }
        Replacement::Hex(digits) => push_hex(random, *digits, out),
        Replacement::List(choices) => {
            let index = random.below(choices.len() as u64) as usize;
            out.extend_from_slice(choices.get(index).map_or(&[], Vec::as_slice));
        }
        Replacement::Column(rows, column) => {
            let row = &rows.rows[(row % rows.rows.len() as u64) as usize];
            out.extend_from_slice(row.get(*column).map_or(&[], Vec::as_slice));
        }
        Replacement::Count(next) => {
            push_number(*next, out);
            *next += 1;
        }
    }
}

fn push_groups(random: &mut Random, groups: usize, digits: usize, out: &mut Vec<u8>) {
    for group in 0..groups {
        if group > 0 {
            out.push(b':');
        }
        push_hex(random, digits, out);
    }
}

impl Replacement {
    /// Reads `integer[1:10]`, `list["a","b"]` and the other words for random values.
    ///
    /// # Errors
    /// Says what is known.
    pub fn random(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{text}` is no random value: known are ipv4, ipv6, mac, guid, integer[a:b], \
                 float[a:b], string(n), hex(n) and list[\"x\",\"y\"]"
            )
        };
        let inside = |open: &str, close: &str| text.trim().strip_prefix(open)?.strip_suffix(close);
        let count = |text: &str| text.trim().parse::<usize>().ok().filter(|n| *n <= TEXT_MAX);
        let range = |text: &str| {
            text.split_once(':').map(|(a, b)| (a.trim().to_string(), b.trim().to_string()))
        };
        match text.trim() {
            "ipv4" => return Ok(Replacement::Ipv4),
            "ipv6" => return Ok(Replacement::Ipv6),
            "mac" => return Ok(Replacement::Mac),
            "guid" => return Ok(Replacement::Uuid),
            _ => {}
        }
        if let Some((low, high)) = inside("integer[", "]").and_then(range) {
            let (low, high) = (low.parse().map_err(|_| bad())?, high.parse().map_err(|_| bad())?);
            return if low <= high { Ok(Replacement::Integer(low, high)) } else { Err(bad()) };
        }
        if let Some((low, high)) = inside("float[", "]").and_then(range) {
            let decimals = low.split_once('.').map_or(0, |(_, part)| part.len());
            let (low, high) = (low.parse().map_err(|_| bad())?, high.parse().map_err(|_| bad())?);
            return Ok(Replacement::Float(low, high, decimals));
        }
        if let Some(length) = inside("string(", ")").and_then(count) {
            return Ok(Replacement::Text(length));
        }
        if let Some(digits) = inside("hex(", ")").and_then(count) {
            return Ok(Replacement::Hex(digits));
        }
        let list = inside("list[", "]").filter(|list| !list.trim().is_empty()).ok_or_else(bad)?;
        let clean = |item: &str| item.trim().trim_matches('"').as_bytes().to_vec();
        Ok(Replacement::List(list.split(',').map(clean).collect()))
    }
}

/// The longest random text.
const TEXT_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

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
        let sample = b"TIME user=x id=ID n=N\nother\n";
        let mut sample = Sample::new(sample, None, tokens, Random::seeded(1), false).unwrap();
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
    fn words_for_random_values_are_read() {
        let mut random = Random::seeded(1);
        let mut write = |text: &str| {
            let mut out = Vec::new();
            let mut replacement = Replacement::random(text).unwrap();
            replace(&mut replacement, Moment::default(), 0, &mut random, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert!((-5..=5).contains(&write("integer[-5:5]").parse::<i64>().unwrap()));
        assert_eq!(write("float[1.00:2]").len(), 4);
        assert_eq!([write("string(7)").len(), write("hex(9)").len()], [7, 9]);
        assert_eq!([write("mac").len(), write("ipv6").len(), write("guid").len()], [17, 39, 36]);
        assert!(["a", "b"].contains(&write(r#"list["a", "b"]"#).as_str()));
        for bad in ["", "integer[2:1]", "hex(x)", "list[]", "nonsense", "string(99999999999)"] {
            assert!(Replacement::random(bad).is_err(), "{bad}");
        }
    }
}
