//! What differs between what was expected and what happened, line by line. Lines with JSON are
//! compared as values, so that blanks and the order of fields do not matter.

use temblor_lang::value::{Arena, JsonStyle, push_json};
use temblor_stdlib::formats::json;

/// Longer texts are shown without looking for the shortest difference.
const LINES_MAX: usize = 2_000;

/// A section that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Name of the section.
    pub section: &'static str,
    /// What it says.
    pub expected: String,
    /// What happened.
    pub(crate) actual: String,
}

/// Whether two sections differ in meaning.
#[must_use]
pub(crate) fn differs(expected: &str, actual: &str) -> bool {
    let (mut expected, mut actual) = (expected.lines(), actual.lines());
    loop {
        match (expected.next(), actual.next()) {
            (None, None) => return false,
            (Some(left), Some(right)) if is_same(left, right) => {}
            _ => return true,
        }
    }
}

fn is_same(left: &str, right: &str) -> bool {
    left == right || {
        let (left, right) = (meaning(left), meaning(right));
        left.is_some() && left == right
    }
}

/// A line `port: JSON $ JSON`, of which only the first JSON must be there, with all fields sorted.
fn meaning(line: &str) -> Option<Vec<u8>> {
    let arena = Arena::new();
    let mut text = Vec::new();
    let mut data = line.trim();
    if let Ok(value) = json::parse(data, &arena) {
        push_json(&mut text, value, JsonStyle::Sorted);
        return Some(text);
    }
    if let Some((port, rest)) = data.split_once(": ")
        && !port.contains(['{', '[', '"', ' '])
    {
        text.extend_from_slice(format!("{port}: ").as_bytes());
        data = rest.trim();
    }
    let parts = match json::parse(data, &arena) {
        Ok(_) => vec![data],
        Err(_) => data.rsplitn(2, " $ ").collect(),
    };
    for part in parts {
        push_json(&mut text, json::parse(part.trim(), &arena).ok()?, JsonStyle::Sorted);
        text.push(b'$');
    }
    Some(text)
}

/// A line of a readable difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'t> {
    /// In both.
    Same(&'t str),
    /// Expected, but missing.
    Missing(&'t str),
    /// Not expected.
    Extra(&'t str),
}

impl Difference {
    /// The lines of both texts, matched as far as possible.
    #[must_use]
    pub(crate) fn lines(&self) -> Vec<Line<'_>> {
        let expected: Vec<_> = self.expected.lines().map(Keyed::new).collect();
        let actual: Vec<_> = self.actual.lines().map(Keyed::new).collect();
        if expected.len().max(actual.len()) > LINES_MAX {
            let missing = expected.into_iter().map(|line| Line::Missing(line.text));
            return missing.chain(actual.into_iter().map(|line| Line::Extra(line.text))).collect();
        }
        walk(&expected, &actual, &common(&expected, &actual))
    }
}

/// A line and what it is compared by.
struct Keyed<'t> {
    text: &'t str,
    key: Vec<u8>,
}

impl<'t> Keyed<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, key: meaning(text).unwrap_or_else(|| text.as_bytes().to_vec()) }
    }
}

/// Lengths of the longest common subsequences of all pairs of ends.
fn common(expected: &[Keyed<'_>], actual: &[Keyed<'_>]) -> Vec<Vec<u16>> {
    let mut table = vec![vec![0; actual.len() + 1]; expected.len() + 1];
    for row in (0..expected.len()).rev() {
        for column in (0..actual.len()).rev() {
            table[row][column] = if expected[row].key == actual[column].key {
                table[row + 1][column + 1] + 1
            } else {
                table[row + 1][column].max(table[row][column + 1])
            };
        }
    }
    table
}

fn walk<'t>(expected: &[Keyed<'t>], actual: &[Keyed<'t>], table: &[Vec<u16>]) -> Vec<Line<'t>> {
    let (mut row, mut column) = (0, 0);
    let mut lines = Vec::new();
    while row < expected.len() || column < actual.len() {
        let both = row < expected.len() && column < actual.len();
        if both && expected[row].key == actual[column].key {
            lines.push(Line::Same(actual[column].text));
            (row, column) = (row + 1, column + 1);
        } else if row < expected.len()
            && (column == actual.len() || table[row + 1][column] >= table[row][column + 1])
        {
            lines.push(Line::Missing(expected[row].text));
            row += 1;
        } else {
            lines.push(Line::Extra(actual[column].text));
            column += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_matched() {
        let difference = Difference {
            section: "output",
            expected: "1\nbad: 2\nout: {\"a\":1,\"b\":2}\n".to_string(),
            actual: "1\n3\nout: {\"b\":2, \"a\":1}\n".to_string(),
        };
        let lines = difference.lines();
        assert_eq!(lines[0], Line::Same("1"));
        assert_eq!(lines[1], Line::Missing("bad: 2"));
        assert_eq!(lines[2], Line::Extra("3"));
        assert!(matches!(lines[3], Line::Same(_)));
    }

    #[test]
    fn json_is_compared_by_value() {
        assert!(!differs("x: {\"a\": 1, \"b\": [2]}", "x: {\"b\":[2],\"a\":1}"));
        assert!(!differs("1 $ {\"a\": 1}", "1 $ {\"a\":1}"));
        assert!(!differs("{\"a\": \" $ \"}", "{\"a\":\" $ \"}"));
        assert!(differs("a: 1", "b: 1"));
        assert!(differs("1", "1.0"));
        assert!(differs("", "1"));
    }
}
