//! Parses literals: strings, regular expressions, arrays and hashes.

use super::{Parsed, Parser};
use crate::Problem;
use crate::scan::{Piece, Token, scan};
use crate::tree::{Kind, Node, Part};
use temblor_stdlib::onigmo;
use temblor_stdlib::pattern::Pattern;

impl Parser {
    pub(super) fn parts(&mut self, pieces: Vec<Piece>) -> Result<Vec<Part>, Problem> {
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(match piece {
                Piece::Text(text) => Part::Text(text.into()),
                Piece::Bytes(bytes) => Part::Bytes(bytes.into()),
                Piece::Code(code, at) => {
                    let mut inner = Parser::new(scan(&code, at)?, self.locals.clone());
                    inner.depth = self.depth + 1;
                    let body = inner.nested(Parser::body)?;
                    if *inner.peek() != Token::End {
                        return Err(inner.unexpected());
                    }
                    Part::Code(body)
                }
            });
        }
        Ok(parts)
    }

    pub(super) fn regex(&mut self, at: usize, pieces: Vec<Piece>, flags: &str) -> Parsed {
        if let [Piece::Text(text)] = pieces.as_slice() {
            let pattern = pattern(text, flags).map_err(|reason| Problem::new(at, reason))?;
            let written = written(text, flags).into();
            return Ok(Node::new(at, Kind::Regex(pattern.into(), written)));
        }
        let parts = self.parts(pieces)?;
        Ok(Node::new(at, Kind::OpenRegex(parts, flags.to_string())))
    }

    /// `[a, b]`, behind the bracket.
    pub(super) fn list(&mut self, at: usize) -> Parsed {
        let items = self.arguments("]")?;
        Ok(Node::new(at, Kind::List(items)))
    }

    /// Values up to a bracket; `a => b` among them makes one hash.
    pub(super) fn arguments(&mut self, close: &str) -> Result<Vec<Node>, Problem> {
        let outer = std::mem::replace(&mut self.no_do, false);
        let mut items = Vec::new();
        let mut pairs = Vec::new();
        let at = self.place();
        loop {
            self.skip_newlines();
            if self.is_operator(close) || self.is_operator("&") {
                break;
            }
            self.item(&mut items, &mut pairs)?;
            self.skip_newlines();
            if !self.take_operator(",") {
                break;
            }
        }
        if !pairs.is_empty() {
            items.push(Node::new(at, Kind::Hash(pairs)));
        }
        self.no_do = outer;
        if !self.is_operator("&") {
            self.expect_operator(close)?;
        }
        Ok(items)
    }

    /// A value, or a pair of the hash at the end.
    pub(super) fn item(
        &mut self,
        items: &mut Vec<Node>,
        pairs: &mut Vec<(Node, Node)>,
    ) -> Result<(), Problem> {
        let at = self.place();
        if self.take_operator("**") {
            let inner = self.nested(Self::ternary)?;
            let key = Node::new(at, Kind::Splat(Box::new(inner)));
            pairs.push((key, Node::new(at, Kind::Nil)));
            return Ok(());
        }
        if let Token::Label(name) = self.peek() {
            let key = Node::new(at, Kind::Symbol(name.as_str().into()));
            self.advance();
            self.skip_newlines();
            pairs.push((key, self.nested(Self::expression)?));
            return Ok(());
        }
        let value = self.argument()?;
        if self.take_operator("=>") {
            self.skip_newlines();
            pairs.push((value, self.nested(Self::expression)?));
        } else {
            items.push(value);
        }
        Ok(())
    }

    /// `{ a => b }`, behind the brace.
    pub(super) fn hash(&mut self, at: usize) -> Parsed {
        let (mut items, mut pairs) = (Vec::new(), Vec::new());
        let outer = std::mem::replace(&mut self.no_do, false);
        loop {
            self.skip_newlines();
            if self.is_operator("}") {
                break;
            }
            self.item(&mut items, &mut pairs)?;
            if let Some(item) = items.first() {
                return Err(Problem::new(item.at, "a hash is made of `key => value`"));
            }
            self.skip_newlines();
            if !self.take_operator(",") {
                break;
            }
        }
        self.no_do = outer;
        self.expect_operator("}")?;
        Ok(Node::new(at, Kind::Hash(pairs)))
    }
}

/// A pattern as `to_s` has it: `(?i-mx:a)`.
pub(crate) fn written(text: &str, flags: &str) -> String {
    let (on, off): (String, String) = "mix".chars().partition(|flag| flags.contains(*flag));
    let off = if off.is_empty() { off } else { format!("-{off}") };
    format!("(?{on}{off}:{text})")
}

/// The text and the flags of a pattern that is [`written`].
pub(crate) fn source(written: &str) -> (&str, &str) {
    let (flags, text) = written.split_once(':').unwrap_or(("", written));
    let flags = flags.trim_start_matches("(?");
    let on = flags.split('-').next().unwrap_or_default();
    (text.strip_suffix(')').unwrap_or(text), on)
}

/// A pattern of Ruby with its flags.
pub(crate) fn pattern(text: &str, flags: &str) -> Result<Pattern, String> {
    let options = onigmo::Options {
        dot_matches_newline: flags.contains('m'),
        ignore_case: flags.contains('i'),
        extended: flags.contains('x'),
        ..onigmo::Options::default()
    };
    Pattern::compile_with(text, options)
}
