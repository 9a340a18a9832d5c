//! What takes the place of a token in a sample event.
//!
//! Invariant: what is written depends on the draw and the generator's random numbers alone.

use super::digits::{push_hex, push_ipv4, push_number, push_uuid};
use super::rate::Tables;
use super::reading::TimeReader;
use super::records;
use super::stamp::Stamp;
use super::zone::Zone;
use super::{Moment, Random};
use std::collections::HashMap;
use std::sync::Arc;
use temblor_lang::random::scatter;
use temblor_runtime::clock::Timestamp;

/// What takes the place of a token.
#[derive(Clone, Debug)]
pub enum Replacement {
    /// A text.
    Static(Vec<u8>),
    /// The time of the event.
    Time(Stamp),
    /// The time that stood there, moved by as much as the event was.
    Moved(Vec<(TimeReader, Stamp)>, Zone),
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
    /// A number multiplied by the factors of the event's time.
    Rated(Box<Replacement>, Arc<Tables>),
    /// `string(n)`
    Text(usize),
    /// `hex(n)`
    Hex(usize),
    /// `list["x","y"]`
    List(Vec<Vec<u8>>),
    /// A random line of a file.
    Line(Arc<Rows>),
    /// A column of a random row; tokens of one file take it from the same row.
    Column(Arc<Rows>, usize),
    /// A line of a file, or a column of it, in turn: each event takes the next.
    Turn(Arc<Rows>, Option<usize>),
    /// Counts on from a number.
    Count(i64),
}

/// The rows of a file that tokens pick from.
#[derive(Debug)]
pub struct Rows {
    lines: Vec<Vec<u8>>,
    /// Differs from file to file.
    id: u64,
}

impl Rows {
    /// The lines of a text; a line is a row of cells between commas, and no cell holds one.
    ///
    /// # Errors
    /// When there is no line.
    pub(crate) fn of(text: &[u8], id: u64) -> Result<Self, String> {
        let lines = records::lines(text).map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        let lines: Vec<_> = lines.map(<[u8]>::to_vec).collect();
        if lines.is_empty() { Err("has no rows".to_string()) } else { Ok(Rows { lines, id }) }
    }

    fn line(&self, bits: u64) -> &[u8] {
        &self.lines[(bits % self.lines.len() as u64) as usize]
    }

    fn cell(&self, bits: u64, column: usize) -> Option<&[u8]> {
        self.line(bits).split(|byte| *byte == b',').nth(column).map(<[u8]>::trim_ascii)
    }

    /// The bytes that its lines hold.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.lines.iter().flatten().copied()
    }
}

/// What of an event all its tokens share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Draw {
    /// The event's number and time.
    pub moment: Moment,
    /// The time that the event shows: its own, or one drawn around it.
    pub shown: Timestamp,
    /// A time of the sample, in nanoseconds since 1970, and what it is now.
    pub anchor: Option<(i64, Timestamp)>,
    /// Decides the rows of files, so that columns of a file belong together.
    pub row: u64,
}

/// What tokens of a generator remember from one event to the next.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// Everything random.
    pub random: Random,
    /// For each file whose lines come in turn: the last event, and the place of its line.
    turns: HashMap<u64, (u64, u64)>,
}

impl Memory {
    /// Nothing is remembered yet.
    #[must_use]
    pub(crate) fn new(random: Random) -> Self {
        Memory { random, turns: HashMap::new() }
    }

    /// The place of the line for an event.
    fn turn(&mut self, file: u64, event: u64) -> u64 {
        let turn = self.turns.entry(file).or_insert((event, 0));
        if turn.0 != event {
            *turn = (event, turn.1 + 1);
        }
        turn.1
    }
}

/// Writes what takes the place of `old`; `false` when there is nothing, and the old text is to stay.
pub(crate) fn replace(
    replacement: &mut Replacement,
    draw: Draw,
    old: &[u8],
    memory: &mut Memory,
    out: &mut Vec<u8>,
) -> bool {
    let random = &mut memory.random;
    match replacement {
        Replacement::Static(text) => out.extend_from_slice(text),
        Replacement::Time(stamp) => stamp.push(draw.shown, out),
        Replacement::Moved(formats, zone) => return moved(formats, zone, draw, old, out),
        Replacement::Ipv4 => push_ipv4(random, out),
        Replacement::Ipv6 => push_groups(random, 8, 4, out),
        Replacement::Mac => push_groups(random, 6, 2, out),
        Replacement::Uuid => push_uuid(random, out),
        Replacement::Integer(low, high) => push_integer(integer(*low, *high, random), out),
        Replacement::Float(low, high, decimals) => {
            push_float(*low + (*high - *low) * random.unit(), *decimals, out);
        }
        Replacement::Rated(number, tables) => {
            rated(number, tables.factor(draw.moment.time), random, out);
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
        Replacement::Line(rows) => out.extend_from_slice(rows.line(random.bits() >> 1)),
        Replacement::Column(rows, column) => {
            let Some(cell) = rows.cell(scatter(draw.row, rows.id) >> 1, *column) else {
                return false;
            };
            out.extend_from_slice(cell);
        }
        Replacement::Turn(rows, column) => {
            let place = memory.turn(rows.id, draw.moment.index);
            let found = match column {
                Some(column) => rows.cell(place, *column),
                None => Some(rows.line(place)),
            };
            let Some(found) = found else { return false };
            out.extend_from_slice(found);
        }
        Replacement::Count(next) => {
            push_integer(*next, out);
            *next = next.wrapping_add(1);
        }
    }
    true
}

fn rated(number: &Replacement, factor: f64, random: &mut Random, out: &mut Vec<u8>) {
    match number {
        Replacement::Integer(low, high) => {
            let number = integer(*low, *high, random) as f64 * factor;
            push_integer(number.round() as i64, out);
        }
        Replacement::Float(low, high, decimals) => {
            push_float((*low + (*high - *low) * random.unit()) * factor, *decimals, out);
        }
        // `Replacement::rated` lets nothing else through.
        _ => {}
    }
}

/// A time keeps its distance from the anchor.
fn moved(
    formats: &mut [(TimeReader, Stamp)],
    zone: &Zone,
    draw: Draw,
    old: &[u8],
    out: &mut Vec<u8>,
) -> bool {
    let Ok(old) = std::str::from_utf8(old) else { return false };
    let base = draw.anchor.map_or(draw.moment.time, |(_, now)| now);
    for (reader, stamp) in formats {
        let Some(time) = reader.read(old, zone, draw.moment.time) else { continue };
        let (was, _) = draw.anchor.unwrap_or((time, base));
        stamp.push(base.saturating_add_signed(time.saturating_sub(was)), out);
        return true;
    }
    false
}

fn integer(low: i64, high: i64, random: &mut Random) -> i64 {
    low.wrapping_add_unsigned(random.below(high.abs_diff(low).saturating_add(1)))
}

fn push_integer(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    push_number(number.unsigned_abs(), out);
}

fn push_float(number: f64, decimals: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{number:.decimals$}").as_bytes());
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
    /// An integer or a float that rises and falls with the load.
    ///
    /// # Errors
    /// When it is no number.
    pub(crate) fn rated(text: &str, tables: &Arc<Tables>) -> Result<Self, String> {
        match Self::random(text)? {
            number @ (Replacement::Integer(..) | Replacement::Float(..)) => {
                Ok(Replacement::Rated(Box::new(number), Arc::clone(tables)))
            }
            _ => Err(format!("`{text}` is no number: rated takes integer[a:b] or float[a:b]")),
        }
    }

    /// Reads `integer[1:10]`, `list["a","b"]` and the other words for random values.
    ///
    /// # Errors
    /// Says what is known.
    pub(crate) fn random(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{text}` is no random value: known are ipv4, ipv6, mac, guid, integer[a:b], \
                 float[a:b], string(n), hex(n) and list[\"x\",\"y\"]"
            )
        };
        let inside = |open: &str, close: &str| {
            let begin = text.trim().get(..open.len())?;
            let is_word = begin.eq_ignore_ascii_case(open);
            text.trim()[open.len()..].strip_suffix(close).filter(|_| is_word)
        };
        let count = |text: &str| text.trim().parse::<usize>().ok().filter(|n| *n <= TEXT_MAX);
        let range = |text: &str| {
            text.split_once(':').map(|(a, b)| (a.trim().to_string(), b.trim().to_string()))
        };
        let text = text.trim();
        match text.to_ascii_lowercase().as_str() {
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
            let (low, high): (f64, f64) =
                (low.parse().map_err(|_| bad())?, high.parse().map_err(|_| bad())?);
            return if low <= high {
                Ok(Replacement::Float(low, high, decimals))
            } else {
                Err(bad())
            };
        }
        if let Some(length) = inside("string(", ")").and_then(count) {
            return Ok(Replacement::Text(length));
        }
        if let Some(digits) = inside("hex(", ")").and_then(count) {
            return Ok(Replacement::Hex(digits));
        }
        let list = inside("list[", "]").filter(|list| !list.trim().is_empty()).ok_or_else(bad)?;
        Ok(Replacement::List(items(list)))
    }
}

/// The items of a list in JSON; without quotation marks, what stands between commas.
fn items(list: &str) -> Vec<Vec<u8>> {
    if let Ok(serde_json::Value::Array(items)) = serde_json::from_str(&format!("[{list}]")) {
        let text = |item: serde_json::Value| match item {
            serde_json::Value::String(text) => text.into_bytes(),
            other => other.to_string().into_bytes(),
        };
        return items.into_iter().map(text).collect();
    }
    let clean = |item: &str| item.trim().trim_matches(['"', '\'']).as_bytes().to_vec();
    list.split(',').map(clean).collect()
}

/// The longest random text.
const TEXT_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn write(replacement: &mut Replacement, draw: Draw, memory: &mut Memory) -> Option<String> {
        let mut out = Vec::new();
        let is_new = replace(replacement, draw, b"old", memory, &mut out);
        is_new.then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn words_for_random_values_are_read() {
        let mut memory = Memory::new(Random::seeded(1));
        let mut write = |text: &str| {
            let mut replacement = Replacement::random(text).unwrap();
            write(&mut replacement, Draw::default(), &mut memory).unwrap()
        };
        assert!((-5..=5).contains(&write("Integer[-5:5]").parse::<i64>().unwrap()));
        assert_eq!(write("float[1.00:2]").len(), 4);
        assert_eq!([write("string(7)").len(), write("hex(9)").len()], [7, 9]);
        assert_eq!([write("mac").len(), write("ipv6").len(), write("GUID").len()], [17, 39, 36]);
        assert!(["a, b", "c]"].contains(&write(r#"list["a, b", "c]"]"#).as_str()));
        assert!(["a", "b"].contains(&write("list['a', b]").as_str()));
        for bad in ["", "integer[2:1]", "hex(x)", "list[]", "nonsense", "string(99999999999)", "ü"]
        {
            assert!(Replacement::random(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rated_numbers_follow_the_tables() {
        let tables = Arc::new(Tables { hours: vec![(0, 3.0), (1, 0.5)], ..Tables::default() });
        let mut replacement = Replacement::rated("integer[10:10]", &tables).unwrap();
        let mut memory = Memory::new(Random::seeded(1));
        let mut at = |time| {
            let draw = Draw { moment: Moment::at(0, time), ..Draw::default() };
            write(&mut replacement, draw, &mut memory).unwrap()
        };
        assert_eq!([at(0), at(3_600_000_000_000), at(7_200_000_000_000)], ["30", "5", "10"]);
        assert!(Replacement::rated("guid", &tables).unwrap_err().contains("no number"));
    }

    #[test]
    fn lines_come_in_turn_and_a_missing_column_replaces_nothing() {
        let rows = Arc::new(Rows::of(b"a,1\rb,2\r\n\nc", 7).unwrap());
        let mut memory = Memory::new(Random::seeded(1));
        let mut turn = |index, column| {
            let draw = Draw { moment: Moment::at(index, 0), ..Draw::default() };
            write(&mut Replacement::Turn(Arc::clone(&rows), column), draw, &mut memory)
        };
        let text = |text: &str| Some(text.to_string());
        assert_eq!([turn(0, None), turn(0, Some(1))], [text("a,1"), text("1")]);
        assert_eq!(
            [turn(1, Some(0)), turn(2, Some(1)), turn(3, None)],
            [text("b"), None, text("a,1")]
        );
    }
}
