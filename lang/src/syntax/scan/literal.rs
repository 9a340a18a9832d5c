//! Comments, names in backticks, numbers, strings and extractors: where each ends, and what is said
//! when its end is missing.

use super::{Kind, NESTING_MAX, Scanner, is_word_start};
use crate::diagnostic::codes;

impl Scanner<'_> {
    pub(super) fn comment(&mut self) {
        let start = self.at;
        let line = self.rest().lines().next().unwrap_or("").len();
        if self.rest().starts_with("#!config ") {
            self.at += "#!config ".len();
            return self.push(Kind::Sign, start);
        }
        self.at += line.max(1);
        if self.text[start..self.at].trim_end() == "#!total" {
            return;
        }
        if self.text[start..].starts_with("##") {
            self.push(Kind::Doc, start);
        } else if self.text[start..].starts_with("#!") {
            let help = "the directives are `#!config name = value` and `#!total`; a comment starts with `# `";
            self.lexical(
                codes::UNEXPECTED_CHARACTER,
                start,
                self.at,
                "`#!` starts no comment",
                help,
            );
        }
    }

    pub(super) fn quoted_name(&mut self) {
        let start = self.at;
        let line = self.rest().lines().next().unwrap_or("");
        match line[1..].find('`') {
            Some(len) => self.at += len + 2,
            None => {
                self.at += line.len();
                let help = "close the name with a second backtick on the same line";
                self.lexical(
                    codes::UNTERMINATED,
                    start,
                    self.at,
                    "this quoted name is not closed",
                    help,
                );
            }
        }
        self.push(Kind::Text, start);
    }

    pub(super) fn number(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let mut len = 0;
        let mut characters = rest.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            let next_is_digit = characters.peek().is_some_and(|(_, next)| next.is_ascii_digit());
            let sign = matches!(c, '+' | '-') && rest[..at].ends_with('e') && next_is_digit;
            let is_hex = rest.starts_with("0x");
            if !(c.is_alphanumeric() || c == '_' || c == '.' || (sign && !is_hex)) {
                break;
            }
            len = at + c.len_utf8();
        }
        self.at += len.max(1);
        self.push(Kind::Number, start);
    }

    /// `r"…"` and `r#"…"#`; whether there is one here.
    pub(super) fn raw_string(&mut self) -> bool {
        let start = self.at;
        let hashes = self.rest()[1..].len() - self.rest()[1..].trim_start_matches('#').len();
        let body = start + 1 + hashes;
        if !self.text[body..].starts_with('"') {
            return false;
        }
        let close = format!("\"{}", "#".repeat(hashes));
        match self.text[body + 1..].find(&close) {
            Some(len) => self.at = body + 1 + len + close.len(),
            // A name and a comment.
            None if hashes == 1 => return false,
            None => {
                self.at = self.text.len();
                let help = format!("a raw string that starts so ends with the next `{close}`");
                let message = "this raw string is not closed";
                self.lexical(codes::UNTERMINATED, start, body + 1, message, &help);
            }
        }
        self.push(Kind::Text, start);
        true
    }

    pub(super) fn after_test_name(&self) -> bool {
        let tokens = &self.scan.tokens;
        let [.., sign, name] = tokens.as_slice() else { return false };
        matches!(name.kind, Kind::Word | Kind::Text)
            && matches!(&self.text[sign.start..sign.end], "~" | "~=")
    }

    pub(super) fn test_literal(&mut self) {
        let start = self.at;
        let mut characters = self.text[start + 1..].char_indices();
        let end = loop {
            match characters.next() {
                Some((at, '|')) => break Some(start + 1 + at + 1),
                Some((_, '\\')) => drop(characters.next()),
                Some((_, '\n')) | None => break None,
                Some(_) => {}
            }
        };
        self.at =
            end.unwrap_or_else(|| start + self.rest().lines().next().unwrap_or("").len().max(1));
        if end.is_none() {
            let help =
                "close it with `|`; a backslash at the end of a line goes on in the next one";
            self.lexical(codes::UNTERMINATED, start, self.at, "this extractor is not closed", help);
        }
        self.push(Kind::Test, start);
    }

    /// A string or heredoc with all its interpolations, which may hold strings again.
    pub(super) fn string(&mut self, start: usize) {
        let mut open: Vec<Open> = Vec::new();
        loop {
            let rest = self.rest();
            let in_text = matches!(open.last(), Some(Open::Quoted(_) | Open::Heredoc(_)));
            if in_text {
                let heredoc = matches!(open.last(), Some(Open::Heredoc(_)));
                let close = if heredoc { "\"\"\"" } else { "\"" };
                if rest.starts_with(close) {
                    self.at += close.len();
                    open.pop();
                } else if rest.starts_with("#{") {
                    self.at += 2;
                    open.push(Open::Interpolation(self.at - 2));
                } else if rest.is_empty() || (!heredoc && rest.starts_with('\n')) {
                    break self.unclosed(&open);
                } else {
                    let escaped = rest.starts_with('\\');
                    let len = rest
                        .chars()
                        .take(1 + usize::from(escaped))
                        .map(char::len_utf8)
                        .sum::<usize>();
                    self.at += len;
                }
            } else if (open.is_empty() && self.at > start) || self.code_in_string(&mut open) {
                break;
            }
            if open.len() + self.assignments.len() > NESTING_MAX {
                self.scan.too_deep.get_or_insert(self.at);
                self.at = self.text.len();
                return;
            }
            if open.is_empty() {
                break;
            }
        }
        self.push(Kind::Text, start);
    }

    /// One step outside of the text of a string; whether the text is at its end.
    fn code_in_string(&mut self, open: &mut Vec<Open>) -> bool {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            self.unclosed(open);
            return true;
        };
        match first {
            '"' if rest.starts_with("\"\"\"") => {
                self.heredoc_opening();
                open.push(Open::Heredoc(self.at));
                self.at += 3;
            }
            '"' => {
                open.push(Open::Quoted(self.at));
                self.at += 1;
            }
            '{' | '(' | '[' => {
                open.push(Open::Brace(self.at));
                self.at += 1;
            }
            '}' | ')' | ']' => {
                open.pop();
                self.at += 1;
            }
            '#' => self.at += rest.lines().next().unwrap_or("").len().max(1),
            '`' => self.at += rest[1..].find(['`', '\n']).map_or(1, |len| len + 2).min(rest.len()),
            c if is_word_start(c) => {
                let (start, len) = (self.at, self.word_len());
                match &rest[..len] {
                    "match" | "for" | "patch" | "merge" | "if" => open.push(Open::Brace(start)),
                    "end" => drop(open.pop()),
                    _ => {}
                }
                self.at += len;
            }
            other => self.at += other.len_utf8(),
        }
        false
    }

    fn heredoc_opening(&mut self) {
        let line = self.rest().split('\n').next().unwrap_or("");
        if !line[3..].trim_end_matches('\r').is_empty() {
            let help = "begin the text of a heredoc on the next line";
            let (from, to) = (self.at + 3, self.at + line.len());
            self.lexical(
                codes::HEREDOC_OPENING,
                from,
                to,
                "a line break must follow the opening `\"\"\"`",
                help,
            );
        }
    }

    fn unclosed(&mut self, open: &[Open]) {
        let Some(innermost) = open.last() else { return };
        let (start, message, help) = match *innermost {
            Open::Quoted(at) => (
                at,
                "this string is not closed",
                "close it with `\"` on the same line, or use a heredoc (`\"\"\"`)",
            ),
            Open::Heredoc(at) => (at, "this heredoc is not closed", "close it with `\"\"\"`"),
            Open::Interpolation(at) | Open::Brace(at) => (
                at,
                "this interpolation is not closed",
                "close it with `}`; write `\\#{` for the text `#{`",
            ),
        };
        self.lexical(codes::UNTERMINATED, start, self.at.max(start + 1), message, help);
    }
}

/// What is open inside of a string, with its place.
#[derive(Clone, Copy)]
enum Open {
    Quoted(usize),
    Heredoc(usize),
    Interpolation(usize),
    Brace(usize),
}
