//! Interpolated text and computed keys.

use super::{Eval, Run};
use crate::program::{self, TextPart};
use crate::value::{Key, Value, to_json};

impl<'a> Run<'a, '_, '_> {
    pub(super) fn text(&mut self, parts: &'a [TextPart]) -> Eval<'a, &'a str> {
        if let [TextPart::Text(text)] = parts {
            return Ok(text);
        }
        if let [TextPart::Expr(expr)] = parts {
            return Ok(match self.operand(expr)? {
                Value::Str(text) => text,
                value => self.arena().str(&self.json(value)),
            });
        }
        /// Most texts fit without growing.
        const ROOM: usize = 64;
        let mut text = self.arena().text_builder(ROOM);
        for part in parts {
            match part {
                TextPart::Text(piece) => text.push_str(piece),
                TextPart::Expr(expr) => match self.operand(expr)? {
                    Value::Str(piece) => text.push_str(piece),
                    value => text.push_str(&self.json(value)),
                },
            }
        }
        Ok(text.into_str())
    }

    /// A value as JSON, unless that is too large.
    fn json(&self, value: Value<'_>) -> String {
        if self.arena().admits_copy(value) { to_json(value) } else { String::new() }
    }

    pub(super) fn key(&mut self, key: &'a program::Key) -> Eval<'a, Key<'a>> {
        match key {
            program::Key::Const(name, hash) => Ok(Key::with_hash(name, *hash)),
            program::Key::Text(parts) => {
                let name = self.text(parts)?;
                Ok(self.memo.key(name))
            }
        }
    }
}
