//! Many `cidr|…|` literals: the address space is cut at the ends of all ranges, and each piece
//! knows the tests that hold it, in ascending order. A look-up is one binary search.

use crate::formats::cidr::Ipv4Ranges;
use std::net::Ipv4Addr;
use temblor_lang::builtin::ManyTests;

/// Fewer tests are asked one by one.
const TESTS_MIN: usize = 2;
/// Entries of all pieces together; ranges nested so deep that they need more are asked one by one.
const ENTRIES_MAX: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Ranges {
    /// First address of each piece, ascending.
    starts: Box<[u32]>,
    /// For each piece the end of its tests in `tests`; they begin where those before end.
    ends: Box<[usize]>,
    tests: Box<[u32]>,
}

/// The end of a range is the address behind it, which may not exist as an address.
type Edge = (u64, bool, u32);

impl Ranges {
    pub(super) fn build(patterns: &[&str]) -> Option<Self> {
        if patterns.len() < TESTS_MIN {
            return None;
        }
        let mut edges: Vec<Edge> = Vec::new();
        for (number, pattern) in patterns.iter().enumerate() {
            let number = u32::try_from(number).ok()?;
            // The empty pattern is a test of another sort: any network.
            if pattern.is_empty() {
                return None;
            }
            for (first, last) in Ipv4Ranges::compile(pattern).ok()?.as_slice() {
                edges.push((u64::from(*first), true, number));
                edges.push((u64::from(*last) + 1, false, number));
            }
        }
        edges.sort_unstable();
        Self::pieces(&edges)
    }

    fn pieces(edges: &[Edge]) -> Option<Self> {
        let (mut starts, mut ends, mut tests) = (Vec::new(), Vec::new(), Vec::new());
        let mut open = std::collections::BTreeSet::new();
        for same_place in edges.chunk_by(|left, right| left.0 == right.0) {
            for (_, opens, number) in same_place {
                if *opens {
                    open.insert(*number)
                } else {
                    open.remove(number)
                };
            }
            // Nothing lies behind the last address.
            let Ok(start) = u32::try_from(same_place[0].0) else { break };
            if tests.len() + open.len() > ENTRIES_MAX {
                return None;
            }
            starts.push(start);
            tests.extend(&open);
            ends.push(tests.len());
        }
        Some(Self { starts: starts.into(), ends: ends.into(), tests: tests.into() })
    }

    fn tests_of(&self, address: u32) -> &[u32] {
        let behind = self.starts.partition_point(|start| *start <= address);
        let Some(piece) = behind.checked_sub(1) else { return &[] };
        let begin = piece.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.tests[begin..self.ends[piece]]
    }
}

impl ManyTests for Ranges {
    fn first(&self, text: &str, from: usize) -> Option<usize> {
        let address: Ipv4Addr = text.parse().ok()?;
        let tests = self.tests_of(address.to_bits()).iter().map(|test| *test as usize);
        tests.into_iter().find(|test| *test >= from)
    }
}
