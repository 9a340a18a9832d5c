//! Sets of characters: `[a-z&&[^aeiou]]`.

use regex_syntax::hir::ClassUnicode;

use super::super::class;
use super::super::error::OnigmoError;
use super::{Parser, References};

impl<R: References> Parser<'_, R> {
    /// The set whose `[` has been read.
    pub(super) fn set(&mut self) -> Result<ClassUnicode, OnigmoError> {
        self.enter()?;
        let start = self.at - 1;
        let negative = self.eat("^");
        let mut result: Option<ClassUnicode> = None;
        let mut current = class::ranges(&[]);
        let mut first = true;
        loop {
            if self.eat("&&") {
                result = Some(intersect(result, &current));
                current = class::ranges(&[]);
                continue;
            }
            match self.bump() {
                None => return Err(OnigmoError::new(start, "this `[` has no matching `]`")),
                Some(']') if !first || !self.rest().contains(']') => break,
                Some('[') if self.rest().starts_with(':') && self.posix(&mut current)? => {}
                Some('[') => current.union(&self.set()?),
                Some(c) => self.set_item(c, &mut current)?,
            }
            first = false;
        }
        self.depth -= 1;
        let mut class = match result {
            Some(result) => intersect(Some(result), &current),
            None => current,
        };
        if self.flags.ignore_case {
            class = class::fold(class);
        }
        Ok(if negative { class::negated(class) } else { class })
    }

    /// `[:name:]` inside a set; the `[` has been read.
    fn posix(&mut self, current: &mut ClassUnicode) -> Result<bool, OnigmoError> {
        let Some(inside) = self.rest().strip_prefix(':') else { return Ok(false) };
        let Some(length) = inside.find(":]") else { return Ok(false) };
        let name = &inside[..length];
        let (name, negative) = match name.strip_prefix('^') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let is_word = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        let class = match class::posix(name) {
            Some(class) => class,
            None if is_word => {
                return Err(self.error(format!("unknown class of characters `[:{name}:]`")));
            }
            None => return Ok(false),
        };
        current.union(&if negative { class::negated(class) } else { class });
        self.at += 1 + length + 2;
        Ok(true)
    }

    /// One character, range or escape inside a set.
    fn set_item(&mut self, c: char, current: &mut ClassUnicode) -> Result<(), OnigmoError> {
        let Some(low) = self.set_char(c, current)? else { return Ok(()) };
        let mut after = self.rest().chars();
        let is_range = after.next() == Some('-')
            && after.next().is_some_and(|c| c != ']' && c != '[')
            && !self.rest().starts_with("-&&");
        if !is_range {
            current.union(&class::ranges(&[(low, low)]));
            return Ok(());
        }
        let start = self.at;
        self.at += 1;
        let Some(c) = self.bump() else { return Ok(()) };
        match self.set_char(c, current)? {
            Some(high) if high < low => {
                Err(OnigmoError::new(start, format!("the range {low}-{high} is reversed")))
            }
            Some(high) => {
                current.union(&class::ranges(&[(low, high)]));
                Ok(())
            }
            // `[a-\d]`: the class cannot end a range, so all three stand for themselves.
            None => {
                current.union(&class::ranges(&[(low, low), ('-', '-')]));
                Ok(())
            }
        }
    }

    /// A character of a set, or `None` when it was a class, which is added to `current`.
    fn set_char(
        &mut self,
        c: char,
        current: &mut ClassUnicode,
    ) -> Result<Option<char>, OnigmoError> {
        if c != '\\' {
            return Ok(Some(c));
        }
        let start = self.at - 1;
        let Some(letter) = self.bump() else {
            return Err(OnigmoError::new(start, "a pattern cannot end in `\\`; write `\\\\`"));
        };
        if let Some(class) = self.class_escape(letter)? {
            current.union(&class);
            return Ok(None);
        }
        if letter == 'b' {
            return Ok(Some('\x08'));
        }
        self.char_escape(letter, start).map(Some)
    }
}

fn intersect(left: Option<ClassUnicode>, right: &ClassUnicode) -> ClassUnicode {
    match left {
        None => right.clone(),
        Some(mut left) => {
            left.intersect(right);
            left
        }
    }
}
