//! Groups that few patterns have: the absence operator, conditions, and calls of other groups.

use super::super::class;
use super::super::error::OnigmoError;
use super::super::part::fixed_chars;
use super::super::syntax::{Greed, Node};
use super::{Parser, References};

impl<R: References> Parser<'_, R> {
    /// `(?~a)`, behind the `~`: the longest text in which `a` is not found.
    ///
    /// What is taken first is all in front of the first `a`, then what `a` has besides its last character.
    pub(super) fn absent(&mut self, start: usize) -> Result<Node, R::Error> {
        if self.rest().starts_with('|') {
            let message = "`(?~|` (a range without a text) is not known; `(?~a)` is";
            return Err(OnigmoError::new(start, message).into());
        }
        let body = self.group_body(start)?;
        let Some(chars @ 1..) = fixed_chars(&body) else {
            let message =
                "in `(?~a)` all of `a` has to match texts of one length, and none is empty";
            return Err(OnigmoError::new(start, message).into());
        };
        let look = |negative| Node::Look { behind: false, negative, body: Box::new(body.clone()) };
        let any = || Node::Class(class::all());
        let repeat =
            |body, min, max| Node::Repeat { body: Box::new(body), min, max, greed: Greed::Greedy };
        let before = repeat(Node::Concat(vec![look(true), any()]), 0, None);
        let rest = Node::Concat(vec![look(false), repeat(any(), 0, Some(chars - 1))]);
        Ok(Node::Concat(vec![before, repeat(rest, 0, Some(1))]))
    }

    /// `(?(1)a|b)`, `(?(<name>)a|b)`, behind the second bracket.
    pub(super) fn condition(&mut self, start: usize) -> Result<Node, R::Error> {
        let Some(length) = self.rest().find(')') else {
            return Err(OnigmoError::new(start, "this condition has no `)`").into());
        };
        let text = &self.rest()[..length];
        let bare = text.trim_start_matches(['<', '\'']).trim_end_matches(['>', '\'']);
        let numbered = bare == text && bare.bytes().all(|byte| byte.is_ascii_digit());
        if bare.is_empty() || (bare == text && !numbered) {
            let message = "a condition asks for a group, as in `(?(1)a|b)` or `(?(<name>)a|b)`";
            return Err(OnigmoError::new(start, message).into());
        }
        let group = bare.to_string();
        self.at += length + 1;
        let arms = match self.group_body(start)? {
            Node::Alternate(arms) if arms.len() > 2 => {
                let message = "a condition has two alternatives at the most";
                return Err(OnigmoError::new(start, message).into());
            }
            Node::Alternate(arms) => arms,
            one => vec![one, Node::Empty],
        };
        Ok(Node::Condition { group, arms })
    }

    /// `\g<name>`, behind the letter.
    pub(super) fn call(&mut self, start: usize) -> Result<Node, OnigmoError> {
        let name = self.name_in_brackets(start, 'g')?;
        if !self.calls {
            let message = "a group cannot be called here; write its pattern again";
            return Err(OnigmoError::new(start, message));
        }
        if name.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+')) {
            let message = format!("`\\g<{name}>` calls a group by its number; give it a name");
            return Err(OnigmoError::new(start, message));
        }
        Ok(Node::Call(name))
    }

    /// `\k<name>`, behind the letter.
    pub(super) fn backreference(&mut self, start: usize) -> Result<Node, OnigmoError> {
        let name = self.name_in_brackets(start, 'k')?;
        let level = name.char_indices().skip(1).any(|(at, c)| {
            matches!(c, '+' | '-') && name[at + 1..].bytes().all(|byte| byte.is_ascii_digit())
        });
        if level {
            let message = format!("`\\k<{name}>` (with the level of a call) is not known here");
            return Err(OnigmoError::new(start, message));
        }
        Ok(Node::Backreference(name))
    }

    fn name_in_brackets(&mut self, start: usize, letter: char) -> Result<String, OnigmoError> {
        let close = match self.bump() {
            Some('<') => '>',
            Some('\'') => '\'',
            _ => return Err(OnigmoError::new(start, format!("write `\\{letter}<name>`"))),
        };
        let Some(length) = self.rest().find(close) else {
            return Err(OnigmoError::new(start, format!("this `\\{letter}` has no end")));
        };
        let name = self.rest()[..length].to_string();
        self.at += length + 1;
        Ok(name)
    }
}
