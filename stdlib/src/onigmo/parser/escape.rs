//! What stands behind a backslash, outside of sets and in them.

use regex_syntax::hir::ClassUnicode;

use super::super::class;
use super::super::error::OnigmoError;
use super::super::syntax::{Assertion, Greed, Node};
use super::{CLOSE, OPEN, Parser, References};

impl<R: References> Parser<'_, R> {
    /// What follows a backslash outside a set.
    pub(super) fn escape(&mut self) -> Result<Node, OnigmoError> {
        let start = self.at - 1;
        let Some(c) = self.bump() else {
            return Err(OnigmoError::new(start, "a pattern cannot end in `\\`; write `\\\\`"));
        };
        if let Some(class) = self.class_escape(c)? {
            let folded = self.flags.ignore_case && c == 'p';
            return Ok(Node::Class(if folded { class::fold(class) } else { class }));
        }
        Ok(match c {
            'A' => Node::Assert(Assertion::StartText),
            'z' => Node::Assert(Assertion::EndText),
            'Z' => Node::Assert(Assertion::EndTextNewline),
            'b' => Node::Assert(Assertion::WordBoundary),
            'B' => Node::Assert(Assertion::NotWordBoundary),
            'R' => line_break(),
            'k' => self.backreference(start)?,
            'g' => self.call(start)?,
            'u' if self.eat(OPEN) => self.code_points(start)?,
            '1'..='9' => {
                self.at -= 1;
                let octal = self.rest().bytes().take(3).take_while(|b| matches!(b, b'0'..=b'7'));
                if octal.count() == 3 {
                    let c = self.number(8, 3, start)?;
                    return Ok(self.literal(c));
                }
                let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
                let name = self.rest()[..digits].to_string();
                self.at += digits;
                Node::Backreference(name)
            }
            'X' => grapheme(),
            'G' => Node::Engine(r"\G"),
            'K' => Node::Engine(r"\K"),
            c => {
                let c = self.char_escape(c, start)?;
                self.literal(c)
            }
        })
    }

    /// `\d` and its like, and `\p{…}`.
    pub(super) fn class_escape(
        &mut self,
        letter: char,
    ) -> Result<Option<ClassUnicode>, OnigmoError> {
        if let Some(class) = class::shorthand(letter, self.flags.unicode_classes) {
            return Ok(Some(class));
        }
        if !matches!(letter, 'p' | 'P') || !self.rest().starts_with(OPEN) {
            return Ok(None);
        }
        let Some(close) = self.rest().find(CLOSE) else {
            return Err(self.error("this `\\p{` has no `}`"));
        };
        let name = &self.rest()[1..close];
        let Some(class) = class::property(name) else {
            return Err(self.error(format!("unknown character property `{name}`")));
        };
        self.at += close + 1;
        Ok(Some(if letter == 'P' { class::negated(class) } else { class }))
    }

    /// A character written as an escape; `c` is what followed the backslash.
    pub(super) fn char_escape(&mut self, c: char, start: usize) -> Result<char, OnigmoError> {
        Ok(match c {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\x0C',
            'v' => '\x0B',
            'a' => '\x07',
            'e' => '\x1B',
            '0'..='7' => {
                self.at -= 1;
                self.number(8, 3, start)?
            }
            'x' if self.eat(OPEN) => {
                let c = self.number(16, 8, start)?;
                if !self.eat(CLOSE) {
                    return Err(OnigmoError::new(start, "this `\\x{` has no `}`"));
                }
                c
            }
            'x' => self.number(16, 2, start)?,
            'u' => {
                let digits = self.rest().bytes().take(4).take_while(u8::is_ascii_hexdigit);
                if digits.count() < 4 {
                    let message = "four digits are needed, as in `\\u00e9`";
                    return Err(OnigmoError::new(start, message));
                }
                self.number(16, 4, start)?
            }
            'C' if self.rest().starts_with('-') => {
                self.at += 1;
                return self.char_escape('c', start);
            }
            'c' => match self.bump() {
                Some(c) if c.is_ascii() => char::from(c as u8 & 0x1F),
                _ => return Err(OnigmoError::new(start, "write a letter after `\\c`")),
            },
            c => c,
        })
    }

    /// `\u{e9 41}`, behind the bracket.
    fn code_points(&mut self, start: usize) -> Result<Node, OnigmoError> {
        let Some(length) = self.rest().find(CLOSE) else {
            return Err(OnigmoError::new(start, "this `\\u{` has no `}`"));
        };
        let codes = self.rest()[..length].split_whitespace();
        let character = |code: &str| u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
        let characters: Option<Vec<char>> = codes.map(character).collect();
        let characters = characters
            .filter(|all| !all.is_empty())
            .ok_or_else(|| OnigmoError::new(start, "this escape is no Unicode character"))?;
        self.at += length + 1;
        Ok(Node::concat(characters.into_iter().map(|c| self.literal(c)).collect()))
    }

    fn number(&mut self, radix: u32, digits_max: usize, start: usize) -> Result<char, OnigmoError> {
        let digits = self.rest().chars().take(digits_max).take_while(|c| c.is_digit(radix)).count();
        let value = u32::from_str_radix(&self.rest()[..digits], radix).unwrap_or(u32::MAX);
        self.at += digits;
        char::from_u32(value)
            .ok_or_else(|| OnigmoError::new(start, "this escape is no Unicode character"))
    }
}

/// `\R`
fn line_break() -> Node {
    let pair = Node::Concat(vec![Node::Char('\r'), Node::Char('\n')]);
    let single = class::ranges(&[('\n', '\r'), ('\u{85}', '\u{85}'), ('\u{2028}', '\u{2029}')]);
    Node::Atomic(Box::new(Node::Alternate(vec![pair, Node::Class(single)])))
}

/// `\X`, a character with the marks on it.
fn grapheme() -> Node {
    let marks = class::property("M").unwrap_or_else(|| class::ranges(&[]));
    let many = |class| Node::Repeat {
        body: Box::new(Node::Class(class)),
        min: 0,
        max: None,
        greed: Greed::Greedy,
    };
    let pair = Node::Concat(vec![Node::Char('\r'), Node::Char('\n')]);
    let any = Node::Concat(vec![Node::Class(class::all()), many(marks)]);
    Node::Atomic(Box::new(Node::Alternate(vec![pair, any])))
}
