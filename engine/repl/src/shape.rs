//! The shape of a line of text: fields, and the delimiters between them; and the shape that many
//! lines have in common. What stands in quotes or brackets is one field, and so is a timestamp.

use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Pieces of a line that are looked at.
const PIECES_MAX: usize = 60;

/// A piece of a shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Piece {
    /// A delimiter; runs of blanks count as one.
    Literal(String),
    /// The key in front of `=`.
    Key(String),
    /// A value.
    Field,
}

/// The shape of lines, with the values of its fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    pub pieces: Vec<Piece>,
    /// For each field, its values.
    pub values: Vec<Vec<String>>,
    /// Delimiters whose blanks are sometimes more than one.
    pub padded: BTreeSet<String>,
    /// Whether the last field takes all that is left of a line.
    pub is_open: bool,
    /// Whether texts have several lines: the last field takes all behind the first.
    pub(crate) has_lines: bool,
}

static TIMESTAMP: LazyLock<Regex> = LazyLock::new(|| {
    let iso = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?";
    let syslog = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d";
    Regex::new(&format!("^(?:{iso}|{syslog})")).expect("the expression is tested")
});

/// A line cut into its pieces.
struct Cut {
    pieces: Vec<Piece>,
    values: Vec<String>,
    padded: BTreeSet<String>,
    /// Where each field begins.
    starts: Vec<usize>,
    line: String,
}

impl Shape {
    /// The key that names a field.
    pub(crate) fn key(&self, field: usize) -> Option<&str> {
        let fields = self.pieces.iter().enumerate().filter(|(_, piece)| **piece == Piece::Field);
        let at = fields.map(|(at, _)| at).nth(field)?;
        let before = self.pieces[..at].iter().rev().take(2);
        before
            .filter_map(|piece| match piece {
                Piece::Key(key) => Some(key.as_str()),
                _ => None,
            })
            .next()
    }

    /// Shapes of the lines: of those that are most alike, and what all have in common.
    pub(crate) fn common(lines: &[(usize, String)]) -> Vec<Shape> {
        let head = |line: &str| line.split('\n').next().unwrap_or_default().to_string();
        let has_lines = lines.iter().any(|(_, line)| line.contains('\n'));
        let cuts: Vec<Cut> = lines.iter().map(|(_, line)| cut(&head(line))).collect();
        let mut counts: BTreeMap<&[Piece], usize> = BTreeMap::new();
        for cut in &cuts {
            *counts.entry(cut.pieces.as_slice()).or_default() += 1;
        }
        let most =
            counts.iter().max_by_key(|(_, count)| **count).map(|(pieces, _)| pieces.to_vec());
        let Some(most) = most else { return Vec::new() };
        let alike: Vec<&Cut> = cuts.iter().filter(|cut| cut.pieces == most).collect();
        let mut shapes = vec![Shape::of(&alike, most.len())];
        let all: Vec<&Cut> = cuts.iter().filter(|cut| !cut.pieces.is_empty()).collect();
        let shared = |left: &[Piece], right: &[Piece]| {
            left.iter().zip(right).take_while(|(left, right)| left == right).count()
        };
        let prefix = all.iter().map(|cut| shared(&most, &cut.pieces)).min().unwrap_or(0);
        if prefix < most.len() {
            shapes.push(Shape::of(&all, prefix));
        }
        if has_lines {
            shapes.iter_mut().for_each(Shape::open);
        }
        shapes
    }

    /// The first pieces of lines that share them; the rest is one field.
    fn of(cuts: &[&Cut], mut prefix: usize) -> Shape {
        let whole = cuts.iter().all(|cut| cut.pieces.len() == prefix);
        let Some(first) = cuts.first() else { return Shape::default() };
        while !whole && prefix > 0 && !matches!(first.pieces[prefix - 1], Piece::Literal(_)) {
            prefix -= 1;
        }
        let mut pieces = first.pieces[..prefix].to_vec();
        let fields = pieces.iter().filter(|piece| **piece == Piece::Field).count();
        let mut values: Vec<Vec<String>> = vec![Vec::new(); fields];
        let mut padded = BTreeSet::new();
        for cut in cuts {
            for (all, value) in values.iter_mut().zip(&cut.values) {
                all.push(value.clone());
            }
            padded.extend(cut.padded.iter().cloned());
        }
        if !whole {
            pieces.push(Piece::Field);
            let rest = |cut: &&Cut| cut.starts.get(fields).map(|at| cut.line[*at..].to_string());
            values.push(cuts.iter().filter_map(rest).collect());
        }
        Shape { pieces, values, padded, is_open: !whole, has_lines: false }
    }

    /// Lets the last field take further lines.
    fn open(&mut self) {
        (self.is_open, self.has_lines) = (true, true);
        if self.pieces.last() != Some(&Piece::Field) {
            self.pieces.push(Piece::Field);
            self.values.push(Vec::new());
        }
    }
}

fn cut(line: &str) -> Cut {
    let mut cut = Cut {
        pieces: Vec::new(),
        values: Vec::new(),
        padded: BTreeSet::new(),
        starts: Vec::new(),
        line: line.to_string(),
    };
    let mut at = 0;
    while at < line.len() && cut.pieces.len() < PIECES_MAX {
        at = cut.piece(line, at);
    }
    if at < line.len() {
        cut.field(at, &line[at..]);
    }
    cut
}

impl Cut {
    fn field(&mut self, at: usize, value: &str) {
        // Two fields cannot stand side by side: what follows a field belongs to it.
        if self.pieces.last() == Some(&Piece::Field)
            && let (Some(last), Some(start)) = (self.values.last_mut(), self.starts.last())
        {
            *last = self.line[*start..at + value.len()].to_string();
            return;
        }
        self.pieces.push(Piece::Field);
        self.values.push(value.to_string());
        self.starts.push(at);
    }

    fn literal(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Literal(before)) => before.push_str(text),
            _ => self.pieces.push(Piece::Literal(text.to_string())),
        }
    }

    /// Takes the next piece; gives where it ends.
    fn piece(&mut self, line: &str, at: usize) -> usize {
        let rest = &line[at..];
        if let Some(stamp) = TIMESTAMP.find(rest) {
            self.field(at, stamp.as_str());
            return at + stamp.end();
        }
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() {
            let blanks = rest.len() - rest.trim_start().len();
            self.literal(" ");
            if let (Some(Piece::Literal(text)), 2..) = (self.pieces.last(), blanks) {
                self.padded.insert(text.clone());
            }
            return at + blanks;
        }
        if let Some(close) = closing(first)
            && let Some(end) = rest[1..].find(close)
        {
            self.literal(&rest[..1]);
            self.field(at + 1, &rest[1..=end]);
            self.literal(&close.to_string());
            return at + end + 2;
        }
        if ",;|".contains(first) || rest.starts_with(": ") {
            self.literal(&rest[..1]);
            return at + 1;
        }
        let end = word_end(rest);
        let word = &rest[..end];
        let is_key =
            !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c));
        if rest[end..].starts_with('=') && is_key && self.pieces.last() != Some(&Piece::Field) {
            self.pieces.push(Piece::Key(word.to_string()));
            self.literal("=");
            return at + end + 1;
        }
        let end = if rest[end..].starts_with('=') { end + 1 } else { end };
        self.field(at, &rest[..end]);
        at + end
    }
}

fn closing(open: char) -> Option<char> {
    Some(match open {
        '"' => '"',
        '[' => ']',
        '(' => ')',
        '<' => '>',
        _ => return None,
    })
}

/// Where a word ends: at a blank, a delimiter, a bracket; a colon ends it in front of a blank.
fn word_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, one)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match one {
            ':' => next.is_none_or(char::is_whitespace) && next.is_some(),
            '[' | '(' | '"' => at > 0,
            _ => one.is_whitespace() || ",;|=".contains(one),
        };
        if ends {
            return if at == 0 { one.len_utf8() } else { at };
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let cut = cut(line);
        let mut values = cut.values.iter();
        let piece = |piece: &Piece| match piece {
            Piece::Literal(text) | Piece::Key(text) => text.clone(),
            Piece::Field => format!("<{}>", values.next().expect("a value for each field")),
        };
        cut.pieces.iter().map(piece).collect()
    }

    #[test]
    fn lines_are_cut_at_delimiters() {
        for (line, expected) in [
            ("a b  c", "<a> <b> <c>"),
            ("[x y] \"q r\" z", "[<x y>] \"<q r>\" <z>"),
            ("2024-01-01 10:00:00 INFO x: y", "<2024-01-01 10:00:00> <INFO> <x>: <y>"),
            ("Oct 11 22:14:15 host sshd[12]: ok", "<Oct 11 22:14:15> <host> <sshd>[<12>]: <ok>"),
            ("k=1, url=/a?b=2", "k=<1>, url=</a?b=2>"),
            ("10.0.0.1:80 é", "<10.0.0.1:80> <é>"),
            ("==", "<==>"),
            ("", ""),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }
}
