//! Interpolated text and computed keys.

use super::{Eval, Run};
use crate::program::{Key, TextPart};
use crate::value::push_text;

impl<'a> Run<'a, '_, '_> {
    pub(super) fn text(&mut self, parts: &'a [TextPart]) -> Eval<'a, &'a str> {
        if let [TextPart::Text(text)] = parts {
            return Ok(text);
        }
        let mut text = Vec::new();
        for part in parts {
            match part {
                TextPart::Text(piece) => text.extend_from_slice(piece.as_bytes()),
                TextPart::Expr(expr) => push_text(&mut text, self.eval(expr)?),
            }
        }
        let text = std::str::from_utf8(&text).expect("pieces of UTF-8 make UTF-8");
        Ok(self.arena().str(text))
    }

    pub(super) fn key(&mut self, key: &'a Key) -> Eval<'a, &'a str> {
        match key {
            Key::Const(key) => Ok(key),
            Key::Text(parts) => self.text(parts),
        }
    }
}
