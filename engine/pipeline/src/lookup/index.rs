//! How a key finds its row: by equality, by the longest network that holds it, by the first pattern
//! that it matches, or by the range that it lies in. None of them walks all rows, except that
//! patterns are tried together in one pass over the key.

use super::rows::Rows;
use crate::store::Table;
use regex::RegexSet;
use std::net::IpAddr;
use temblor_lang::value::{JsonStyle, Value, order, push_json};
use temblor_stdlib::formats::cidr::Network;
use xxhash_rust::xxh3::xxh3_128;

/// How keys are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// The same text; numbers are compared as they are written in JSON.
    Exact,
    /// The key is an address, the table has networks: the longest prefix counts.
    Network,
    /// The table has regular expressions: the first in the file counts.
    Pattern,
    /// The table has starts and ends (both included) of numbers or IPv4 addresses.
    Range,
}

/// A searchable form of the keys of a table.
#[derive(Debug)]
pub(super) enum Index {
    Exact(Table<u32>),
    Network(Vec<Prefixes>),
    Pattern(Box<RegexSet>),
    /// Numbers of rows in the order of their starts.
    Range(Vec<u32>),
}

/// All networks with prefixes of one length; the longest stand first.
#[derive(Debug)]
pub(super) struct Prefixes {
    bits: u8,
    is_v6: bool,
    rows: Table<u32>,
}

impl Index {
    pub(super) fn build(matching: Matching, rows: &Rows) -> Result<Self, String> {
        match matching {
            Matching::Exact => Ok(Index::Exact(exact(rows))),
            Matching::Network => networks(rows).map(Index::Network),
            Matching::Pattern => patterns(rows).map(|set| Index::Pattern(Box::new(set))),
            Matching::Range => ranges(rows).map(Index::Range),
        }
    }

    /// Number of the row for a key.
    pub(super) fn find(&self, key: Value<'_>, rows: &Rows) -> Option<usize> {
        match self {
            Index::Exact(table) => table.get(hash(key)).map(|row| row as usize),
            Index::Network(lengths) => {
                let address: IpAddr = key.as_str()?.parse().ok()?;
                lengths.iter().find_map(|length| length.find(address))
            }
            Index::Pattern(set) => set.matches(key.as_str()?).iter().next(),
            Index::Range(starts) => find_range(starts, number(key)?, rows),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Index::Exact(table) => table.bytes(),
            Index::Network(lengths) => lengths.iter().map(|length| length.rows.bytes()).sum(),
            // The engine does not say; its programs are about this much a byte of pattern.
            Index::Pattern(set) => set.patterns().iter().map(|pattern| 64 * pattern.len()).sum(),
            Index::Range(starts) => starts.len() * size_of::<u32>(),
        }
    }
}

/// Texts as they are, anything else as JSON: a CSV file has only texts.
fn hash(key: Value<'_>) -> u128 {
    match key {
        Value::Str(text) => xxh3_128(text.as_bytes()),
        other => {
            let mut text = Vec::new();
            push_json(&mut text, other, JsonStyle::Sorted);
            xxh3_128(&text)
        }
    }
}

fn number_of(row: usize) -> u32 {
    u32::try_from(row).expect("fewer rows than 2^32")
}

/// Of equal keys the last counts, as with fields.
fn exact(rows: &Rows) -> Table<u32> {
    let mut table = Table::default();
    (0..rows.len()).for_each(|row| table.insert(hash(rows.key(row)), number_of(row)));
    table
}

/// The bits of an address with all behind the prefix zero.
fn masked(address: IpAddr, bits: u8) -> u128 {
    let (value, width) = match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    };
    let behind = width - u32::from(bits).min(width);
    value.checked_shr(behind).unwrap_or(0).checked_shl(behind).unwrap_or(0)
}

/// Addresses are no hashes: their bits are scattered.
fn scattered(bits: u128) -> u128 {
    xxh3_128(&bits.to_le_bytes())
}

impl Prefixes {
    fn find(&self, address: IpAddr) -> Option<usize> {
        if address.is_ipv6() != self.is_v6 {
            return None;
        }
        self.rows.get(scattered(masked(address, self.bits))).map(|row| row as usize)
    }
}

fn networks(rows: &Rows) -> Result<Vec<Prefixes>, String> {
    let mut lengths: Vec<Prefixes> = Vec::new();
    for row in 0..rows.len() {
        let network = rows.key(row).as_str().and_then(Network::parse);
        let Some(Network { address, prefix_bits: bits }) = network else {
            return Err(format!("row {}: expected a network such as 10.0.0.0/8", row + 1));
        };
        let is_v6 = address.is_ipv6();
        let position = lengths.iter().position(|one| (one.bits, one.is_v6) == (bits, is_v6));
        let at = position.unwrap_or_else(|| {
            lengths.push(Prefixes { bits, is_v6, rows: Table::default() });
            lengths.len() - 1
        });
        lengths[at].rows.insert(scattered(masked(address, bits)), number_of(row));
    }
    lengths.sort_by_key(|length| std::cmp::Reverse(length.bits));
    Ok(lengths)
}

fn patterns(rows: &Rows) -> Result<RegexSet, String> {
    let mut texts = Vec::with_capacity(rows.len());
    for row in 0..rows.len() {
        let wanted = || format!("row {}: expected a regular expression as text", row + 1);
        texts.push(rows.key(row).as_str().ok_or_else(wanted)?);
    }
    RegexSet::new(texts).map_err(|error| error.to_string())
}

/// Numbers as they are; texts as numbers or IPv4 addresses.
fn number(value: Value<'_>) -> Option<Value<'_>> {
    let Value::Str(text) = value else { return value.as_f64().map(|_| value) };
    let text = text.trim();
    let whole = text.parse().map(Value::Int).or_else(|_| text.parse().map(Value::UInt));
    let address = || text.parse::<std::net::Ipv4Addr>().ok().map(u32::from);
    let float = || text.parse().ok().filter(|float: &f64| float.is_finite()).map(Value::Float);
    whole.ok().or_else(|| address().map(|bits| Value::UInt(bits.into()))).or_else(float)
}

fn is_at_most(left: Value<'_>, right: Value<'_>) -> bool {
    matches!(order(left, right), Ok(Some(order)) if order.is_le())
}

/// The start and the end of the range of a row.
fn bounds(rows: &Rows, row: usize) -> Option<(Value<'_>, Value<'_>)> {
    Some((number(rows.key(row))?, number(rows.until(row))?))
}

fn ranges(rows: &Rows) -> Result<Vec<u32>, String> {
    for row in 0..rows.len() {
        match bounds(rows, row) {
            Some((start, end)) if is_at_most(start, end) => {}
            _ => return Err(format!("row {}: expected a start and an end not below it", row + 1)),
        }
    }
    let start = |row: &u32| number(rows.key(*row as usize)).unwrap_or(Value::Null);
    let mut starts: Vec<u32> = (0..rows.len()).map(number_of).collect();
    starts.sort_by(|left, right| {
        let order = order(start(left), start(right));
        order.ok().flatten().unwrap_or(std::cmp::Ordering::Equal)
    });
    for pair in starts.windows(2) {
        let end = number(rows.until(pair[0] as usize)).unwrap_or(Value::Null);
        if is_at_most(start(&pair[1]), end) {
            return Err(format!("the ranges of rows {} and {} overlap", pair[0] + 1, pair[1] + 1));
        }
    }
    Ok(starts)
}

fn find_range(starts: &[u32], key: Value<'_>, rows: &Rows) -> Option<usize> {
    let behind = starts.partition_point(|row| {
        number(rows.key(*row as usize)).is_some_and(|start| is_at_most(start, key))
    });
    let row = *starts.get(behind.checked_sub(1)?)? as usize;
    is_at_most(key, number(rows.until(row))?).then_some(row)
}
