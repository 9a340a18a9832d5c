//! Expressions that are searched without an automaton: one byte of a set, a text that may have to stand at the
//! ends of a line, and what `[ "]` at both ends of a line is cut off with.
//!
//! Invariant: what is found is what the automaton of the expression finds; where that is not certain, nothing is said.

use crate::onigmo::{Assertion, Greed, Node};
use memchr::{memchr, memchr2, memchr3, memmem};
use regex_syntax::hir::ClassUnicode;

/// An expression of a simple shape.
#[derive(Debug)]
pub(super) enum Simple {
    /// `[ ,;]`, `=`
    Byte(Set),
    /// `abc`, `^abc$`, `\Aabc\z`
    Text { text: Box<[u8]>, start: End, end: End },
    /// `^[ "]+|[ "]+$`
    Ends(Set),
}

/// Where a text has to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Anywhere.
    Free,
    /// At the end of a line.
    Line,
    /// At the end of the whole text.
    Text,
}

/// Bytes of ASCII.
#[derive(Debug)]
pub(super) struct Set {
    holds: [bool; 128],
    /// All of them, when they are three at most.
    few: Vec<u8>,
}

/// What is known of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// From a byte, up to another.
    At(usize, usize),
    Nowhere,
    /// The automaton must be asked.
    Unknown,
}

impl Simple {
    /// An expression of such a shape, from its tree.
    pub(super) fn of(tree: &Node) -> Option<Self> {
        if let Some(set) = Set::of(tree) {
            return Some(Self::Byte(set));
        }
        match tree {
            Node::Alternate(ways) => {
                let [Node::Concat(first), Node::Concat(last)] = ways.as_slice() else {
                    return None;
                };
                let ([Node::Assert(Assertion::StartLine), head], [tail, end]) =
                    (first.as_slice(), last.as_slice())
                else {
                    return None;
                };
                let is_same = head == tail && *end == Node::Assert(Assertion::EndLine);
                if is_same { row(head).map(Self::Ends) } else { None }
            }
            Node::Concat(nodes) => text(nodes),
            _ => None,
        }
    }

    /// The first match from the byte `start` on.
    pub(super) fn find(&self, text: &str, start: usize) -> Found {
        let bytes = text.as_bytes();
        if start > bytes.len() {
            return Found::Unknown;
        }
        match self {
            Self::Byte(set) => match set.find(&bytes[start..]) {
                Some(distance) => Found::At(start + distance, start + distance + 1),
                None => Found::Nowhere,
            },
            Self::Text { text, start: from, end } => {
                match places(text, (*from, *end), bytes, start) {
                    Some(at) => Found::At(at, at + text.len()),
                    None => Found::Nowhere,
                }
            }
            Self::Ends(set) => set.ends(bytes, start),
        }
    }
}

/// `[ "]+`
fn row(node: &Node) -> Option<Set> {
    match node {
        Node::Repeat { body, min: 1, max: None, greed: Greed::Greedy } => Set::of(body),
        _ => None,
    }
}

fn text(nodes: &[Node]) -> Option<Simple> {
    let (start, nodes) = match nodes {
        [Node::Assert(Assertion::StartLine), rest @ ..] => (End::Line, rest),
        [Node::Assert(Assertion::StartText), rest @ ..] => (End::Text, rest),
        all => (End::Free, all),
    };
    let (end, nodes) = match nodes {
        [rest @ .., Node::Assert(Assertion::EndLine)] => (End::Line, rest),
        [rest @ .., Node::Assert(Assertion::EndText)] => (End::Text, rest),
        all => (End::Free, all),
    };
    let letter = |node: &Node| if let Node::Char(letter) = node { Some(*letter) } else { None };
    let text: String = nodes.iter().map(letter).collect::<Option<_>>()?;
    let is_text = !text.is_empty();
    is_text.then(|| Simple::Text { text: text.into_bytes().into(), start, end })
}

/// The first place from `start` on where `text` stands as it must.
fn places(text: &[u8], ends: (End, End), bytes: &[u8], start: usize) -> Option<usize> {
    let fits = |at: usize| match ends.1 {
        End::Free => true,
        End::Line => matches!(bytes.get(at + text.len()), None | Some(b'\n')),
        End::Text => at + text.len() == bytes.len(),
    };
    let stands = |at: &usize| bytes[*at..].starts_with(text) && fits(*at);
    match ends.0 {
        End::Free => {
            let mut from = start;
            loop {
                let at = from + memmem::find(&bytes[from..], text)?;
                if fits(at) {
                    return Some(at);
                }
                from = at + 1;
            }
        }
        End::Text => (start == 0).then_some(0).filter(stands),
        End::Line => {
            if let Some(first) = (start == 0).then_some(0).filter(stands) {
                return Some(first);
            }
            let before = start.saturating_sub(1);
            let lines = memchr::memchr_iter(b'\n', &bytes[before..]);
            lines.map(|at| before + at + 1).find(stands)
        }
    }
}

impl Set {
    fn of(node: &Node) -> Option<Self> {
        match node {
            Node::Char(letter) => Self::of_ranges([(*letter, *letter)].into_iter()),
            Node::Class(class) => Self::of_class(class),
            _ => None,
        }
    }

    fn of_class(class: &ClassUnicode) -> Option<Self> {
        Self::of_ranges(class.iter().map(|range| (range.start(), range.end())))
    }

    fn of_ranges(ranges: impl Iterator<Item = (char, char)>) -> Option<Self> {
        let mut holds = [false; 128];
        for (first, last) in ranges {
            holds.get_mut(first as usize..=last as usize)?.fill(true);
        }
        let members = (0..128_u8).filter(|byte| holds[usize::from(*byte)]);
        let mut few: Vec<u8> = members.take(4).collect();
        if few.is_empty() {
            return None;
        }
        if few.len() > 3 {
            few.clear();
        }
        Some(Self { holds, few })
    }

    #[inline]
    fn holds(&self, byte: u8) -> bool {
        self.holds.get(usize::from(byte)).is_some_and(|holds| *holds)
    }

    #[inline]
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        /// What is looked for mostly stands near: so many bytes are read before a search of blocks begins.
        const NEAR: usize = 16;
        let near = bytes.len().min(NEAR);
        let found = bytes[..near].iter().position(|byte| self.holds(*byte));
        if found.is_some() || near == bytes.len() {
            return found;
        }
        let rest = &bytes[near..];
        let found = match *self.few {
            [a] => memchr(a, rest),
            [a, b] => memchr2(a, b, rest),
            [a, b, c] => memchr3(a, b, c, rest),
            _ => rest.iter().position(|byte| self.holds(*byte)),
        };
        found.map(|at| near + at)
    }

    /// The first row of members that stands at an end of the only line.
    fn ends(&self, bytes: &[u8], start: usize) -> Found {
        if memchr(b'\n', bytes).is_some() {
            return Found::Unknown;
        }
        let outside = |byte: &u8| !self.holds(*byte);
        let head = bytes.iter().position(outside).unwrap_or(bytes.len());
        if start == 0 && head > 0 {
            return Found::At(0, head);
        }
        let tail = bytes.iter().rposition(outside).map_or(0, |last| last + 1).max(start);
        if tail < bytes.len() { Found::At(tail, bytes.len()) } else { Found::Nowhere }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use super::*;

    const EXPRESSIONS: [&str; 16] = [
        " ",
        "[ ,;]",
        "[a-f]",
        "ab",
        "^ab",
        "ab$",
        "^ab$",
        r"\Aab",
        r"ab\z",
        r"\Aab\z",
        r"\Aab$",
        "^\"+|\"+$",
        "^[a ]+|[a ]+$",
        "^é$",
        "^[\n]+|[\n]+$",
        "aba",
    ];

    fn texts() -> impl Iterator<Item = String> {
        const LETTERS: [&str; 6] = ["a", "b", " ", "\n", "\"", "é"];
        (0..6_usize.pow(5)).map(|number| {
            let letter = |place: u32| LETTERS[number / 6_usize.pow(place) % 6];
            (0..5 - (number % 3) as u32).map(letter).collect()
        })
    }

    #[test]
    fn what_is_found_is_what_the_automaton_finds() {
        for expression in EXPRESSIONS {
            let pattern = Pattern::compile(expression).unwrap();
            let simple = pattern.0.simple.as_ref().expect(expression);
            let automaton = regex::Regex::new(&pattern.0.text).unwrap();
            let mut told = 0;
            for text in texts().chain(["x".repeat(40) + "ab, \n\"" + &"y".repeat(40)]) {
                for start in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                    let found = simple.find(&text, start);
                    let expected = automaton.find_at(&text, start);
                    let expected =
                        expected.map_or(Found::Nowhere, |one| Found::At(one.start(), one.end()));
                    if found != Found::Unknown {
                        assert_eq!(found, expected, "{expression} in {text:?} from {start}");
                        told += 1;
                    }
                }
            }
            assert!(told > 1_000, "{expression}");
        }
    }

    #[test]
    fn other_expressions_are_left_to_the_automaton() {
        for expression in
            ["", "^", "a|b", "(a)", "[é]", "[^a]", "a+", r"\bab", "^[a]+|[b]+$", "a.", "ab|cd"]
        {
            let pattern = Pattern::compile(expression).unwrap();
            assert!(pattern.0.simple.is_none(), "{expression}");
        }
    }
}
