//! Operators and brackets, and the characters that no token starts with.

use super::{Kind, Scanner};
use crate::diagnostic::codes;

const SIGNS: [&str; 23] = [
    ">>>", "|>", "%{", "%[", "%(", "::", "=>", "==", "!=", "<=", ">=", "<<", ">>", "~=", "??",
    "#{", "&&", "||", "->", "<-", "++", "+=", "-=",
];

impl Scanner<'_> {
    pub(super) fn sign(&mut self, first: char) {
        let start = self.at;
        let known = SIGNS.iter().find(|sign| self.rest().starts_with(**sign));
        self.at += known.map_or(first.len_utf8(), |sign| sign.len());
        if first == '\'' {
            let line = self.rest().lines().next().unwrap_or("");
            self.at += line.find('\'').map_or(0, |len| len + 1);
        }
        self.unknown_sign(first, start);
        self.push(Kind::Sign, start);
    }

    fn unknown_sign(&mut self, first: char, start: usize) {
        let rest = &self.text[start..];
        let (message, help) = match first {
            '\'' => (
                "single quotes mean nothing here",
                "write strings with double quotes: `\"text\"`".to_string(),
            ),
            '|' if rest.starts_with("||") => {
                ("there is no operator `||`", "write `or`".to_string())
            }
            '|' if rest.starts_with("|>") => return,
            '|' => (
                "there is no operator `|`",
                "write `or` for conditions; an extractor is written `~ name|pattern|`".to_string(),
            ),
            '&' if rest.starts_with("&&") => {
                ("there is no operator `&&`", "write `and`".to_string())
            }
            '_' if rest[1..].starts_with(|c: char| c.is_alphanumeric() || c == '_') => (
                "a name cannot start with `_`",
                "quote it with backticks, or start it with a letter".to_string(),
            ),
            ':' if rest.starts_with(":::") => {
                ("too many colons", "the parts of a path are joined by `::`".to_string())
            }
            '?' if rest.starts_with("??") => return,
            c if ",.;:()[]{}$_=+-*/%&^!~<>".contains(c) => return,
            c => (
                "no token starts with this character",
                format!("remove `{}`, or put it into a string", c.escape_debug()),
            ),
        };
        self.lexical(codes::UNEXPECTED_CHARACTER, start, self.at, message, &help);
    }
}
