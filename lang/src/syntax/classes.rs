//! A text as tokens, for editors: which piece is what, and whether the text still goes on. Every
//! byte of the text belongs to exactly one piece.

use super::scan::{Kind, scan};
use crate::span::SourceId;

/// What a piece of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenClass {
    /// A name or a word of the language.
    Word,
    /// A number.
    Number,
    /// A string, a quoted name or the pattern of an extractor.
    Text,
    /// A comment, doc comments among them.
    Comment,
    /// An operator or a bracket.
    Sign,
    /// Blanks.
    Blank,
}

/// All pieces in order: start, end and class.
#[must_use]
pub fn classes(text: &str) -> Vec<(usize, usize, TokenClass)> {
    let scan = scan(text, SourceId::default());
    let mut pieces = Vec::new();
    let mut end = 0;
    for token in &scan.tokens {
        gap(text, end, token.start, &mut pieces);
        let class = match token.kind {
            Kind::Word => TokenClass::Word,
            Kind::Number => TokenClass::Number,
            Kind::Text | Kind::Test => TokenClass::Text,
            Kind::Doc => TokenClass::Comment,
            Kind::Sign => TokenClass::Sign,
        };
        pieces.push((token.start, token.end, class));
        end = token.end;
    }
    gap(text, end, text.len(), &mut pieces);
    pieces
}

fn gap(text: &str, start: usize, end: usize, pieces: &mut Vec<(usize, usize, TokenClass)>) {
    if start < end {
        let has_comment = text[start..end].contains('#');
        let class = if has_comment { TokenClass::Comment } else { TokenClass::Blank };
        pieces.push((start, end, class));
    }
}

/// The forms of a text that are closed, such as `match … end` and `[ … ]`: each from the start of its
/// first token to the end of its last.
#[must_use]
pub fn forms(text: &str) -> Vec<(usize, usize)> {
    let scan = scan(text, SourceId::default());
    let mut ends = vec![0; scan.frames.len()];
    for token in &scan.tokens {
        ends[token.frame] = token.end;
    }
    let forms = scan.frames.iter().zip(ends).filter(|(frame, _)| frame.closed);
    forms
        .filter_map(|(frame, end)| Some((scan.tokens[frame.opener?].start, end)))
        .filter(|(start, end)| start < end)
        .collect()
}

/// Signs and words that something must follow.
const OPENERS: [&str; 30] = [
    "=", "|>", "=>", ",", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "^", "&",
    "??", "::", "~", "~=", "<<", "and", "or", "xor", "not", "let", "where", "by", "set",
];

/// Whether a bracket, a form or a string is still open at the end, or something must follow there.
#[must_use]
pub fn is_open(text: &str) -> bool {
    let scan = scan(text, SourceId::default());
    let heredoc = text.matches("\"\"\"").count() % 2 == 1;
    let waits = scan.tokens.last().is_some_and(|last| {
        matches!(last.kind, Kind::Sign | Kind::Word) && OPENERS.contains(&scan.text(last))
    });
    waits || heredoc || scan.frames.iter().skip(1).any(|frame| !frame.closed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_text() {
        let text = "let x = \"a\" + 1; # why\nmatch ~ re|a|";
        let pieces = classes(text);
        let mut end = 0;
        for (start, next, _) in &pieces {
            assert_eq!(*start, end);
            end = *next;
        }
        assert_eq!(end, text.len());
        assert!(pieces.iter().any(|piece| piece.2 == TokenClass::Comment));
    }

    #[test]
    fn open_forms_go_on() {
        for (text, open) in [
            ("match event of", true),
            ("match event of case _ => 1 end", false),
            ("[1, 2", true),
            ("fn f(x) with x end", false),
            ("x + 1", false),
            ("let x =", true),
            ("in |>", true),
            ("event.a > 1 and", true),
            ("where event.a == 1 |> set event.b = 2,", true),
            ("<< 1, 2 >>", false),
            ("when event.a do set event.b = 1", true),
            ("event.set", false),
        ] {
            assert_eq!(is_open(text), open, "{text}");
        }
    }
}
