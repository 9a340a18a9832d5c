//! What takes the place of a token in a sample event.
//!
//! Invariant: what is written depends on the draw and the generator's random numbers alone.

use super::digits::{push_hex, push_ipv4, push_number, push_uuid};
use super::rate::Tables;
use super::stamp::Stamp;
use super::{Moment, Random};
use std::sync::Arc;
use temblor_runtime::clock::Timestamp;

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
    /// A number multiplied by the factors of the event's time.
    Rated(Box<Replacement>, Arc<Tables>),
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

/// What of an event all its tokens share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Draw {
    /// The event's number and time.
    pub moment: Moment,
    /// The time that the event shows: its own, or one drawn around it.
    pub shown: Timestamp,
    /// Decides the rows of files, so that columns of a file belong together.
    pub row: u64,
}

/// Writes what takes the place of a token.
pub(super) fn replace(
    replacement: &mut Replacement,
    draw: Draw,
    random: &mut Random,
    out: &mut Vec<u8>,
) {
    match replacement {
        Replacement::Static(text) => out.extend_from_slice(text),
        Replacement::Time(stamp) => stamp.push(draw.shown, out),
        Replacement::Ipv4 => push_ipv4(random, out),
        Replacement::Ipv6 => push_groups(random, 8, 4, out),
        Replacement::Mac => push_groups(random, 6, 2, out),
        Replacement::Uuid => push_uuid(random, out),
        Replacement::Integer(low, high) => push_integer(integer(*low, *high, random), out),
        Replacement::Float(low, high, decimals) => {
            push_float(*low + (*high - *low) * random.unit(), *decimals, out);
        }
        Replacement::Rated(number, tables) => {
            let factor = tables.factor(draw.moment.time);
            match &**number {
                Replacement::Integer(low, high) => {
                    let number = integer(*low, *high, random) as f64 * factor;
                    push_integer(number.round() as i64, out);
                }
                Replacement::Float(low, high, decimals) => {
                    push_float((*low + (*high - *low) * random.unit()) * factor, *decimals, out);
                }
                other => replace(&mut other.clone(), draw, random, out),
            }
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
            let row = &rows.rows[(draw.row % rows.rows.len() as u64) as usize];
            out.extend_from_slice(row.get(*column).map_or(&[], Vec::as_slice));
        }
        Replacement::Count(next) => {
            push_number(*next, out);
            *next += 1;
        }
    }
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
    pub fn rated(text: &str, tables: &Arc<Tables>) -> Result<Self, String> {
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

    #[test]
    fn words_for_random_values_are_read() {
        let mut random = Random::seeded(1);
        let mut write = |text: &str| {
            let mut out = Vec::new();
            let mut replacement = Replacement::random(text).unwrap();
            replace(&mut replacement, Draw::default(), &mut random, &mut out);
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

    #[test]
    fn rated_numbers_follow_the_tables() {
        let tables = Arc::new(Tables { hours: vec![(0, 3.0), (1, 0.5)], ..Tables::default() });
        let mut replacement = Replacement::rated("integer[10:10]", &tables).unwrap();
        let mut at = |time| {
            let moment = Moment { index: 0, time };
            let draw = Draw { moment, ..Draw::default() };
            let mut out = Vec::new();
            replace(&mut replacement, draw, &mut Random::seeded(1), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!([at(0), at(3_600_000_000_000), at(7_200_000_000_000)], ["30", "5", "10"]);
        assert!(Replacement::rated("guid", &tables).unwrap_err().contains("no number"));
    }
}
