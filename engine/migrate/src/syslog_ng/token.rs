//! Words, texts and brackets of a configuration of syslog-ng, with their places. Names between backticks are put in
//! where they stand, in words and texts alike.

use crate::complain;
use std::collections::HashMap;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::{SourceId, Span};

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `file`, `127.0.0.1`, `100`, `==`
    Word(String),
    /// `"a"`, `'a'`
    Text(String),
    /// One of `(){};,|` and `..`
    Mark(&'static str),
    /// `@include "x"`: what stands behind the sign, up to the end of the line.
    Directive(String),
}

/// A token and its place.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// A comment: its place, and what it says.
#[derive(Clone, Debug)]
pub(crate) struct Comment {
    pub(crate) at: u32,
    pub(crate) text: String,
}

/// What names between backticks stand for.
pub(crate) type Names = HashMap<String, String>;

/// Reads the tokens of one text, one by one.
#[derive(Debug)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    source: SourceId,
    /// Where the text begins within its source.
    base: usize,
    at: usize,
    pub(crate) comments: Vec<Comment>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

const MARKS: [&str; 9] = ["..", "(", ")", "{", "}", ";", ",", "|", ":"];

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str, source: SourceId, base: usize) -> Self {
        Self { text, source, base, at: 0, comments: Vec::new(), diagnostics: Vec::new() }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, self.base + start, self.base + end)
    }

    /// Where the next token will begin, at the earliest.
    pub(crate) fn place(&self) -> Span {
        self.span(self.at, self.at)
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            let rest = self.rest();
            if !rest.starts_with('#') {
                return;
            }
            let end = rest.find('\n').unwrap_or(rest.len());
            let text = rest[..end].trim_matches(|one: char| one == '#' || one.is_whitespace());
            let at = self.span(self.at, self.at).start;
            self.comments.push(Comment { at, text: text.to_string() });
            self.at += end;
        }
    }

    fn is_line_start(&self) -> bool {
        let before = self.text[..self.at].rsplit('\n').next().unwrap_or("");
        before.trim().is_empty()
    }

    /// The next token; `None` at the end.
    pub(crate) fn next(&mut self, names: &Names) -> Option<Token> {
        self.skip_blanks();
        let start = self.at;
        let rest = self.rest();
        let first = rest.chars().next()?;
        if first == '@' && self.is_line_start() {
            let end = rest.find('\n').unwrap_or(rest.len());
            self.at += end;
            let line = rest[1..end].trim().to_string();
            return Some(Token {
                kind: Kind::Directive(line),
                span: self.span(start, start + end),
            });
        }
        if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            self.at += mark.len();
            let span = self.span(start, self.at);
            return Some(Token { kind: Kind::Mark(mark), span });
        }
        let kind = match first {
            '"' => Kind::Text(self.quoted(names)),
            '\'' => Kind::Text(self.single_quoted(names)),
            _ => Kind::Word(self.word(names)),
        };
        Some(Token { kind, span: self.span(start, self.at) })
    }

    fn quoted(&mut self, names: &Names) -> String {
        let start = self.at;
        let mut out = String::new();
        let mut characters = self.text[start + 1..].char_indices();
        while let Some((offset, character)) = characters.next() {
            match character {
                '"' => {
                    self.at = start + 1 + offset + 1;
                    return self.filled_in(&out, names, start);
                }
                '\\' => match characters.next().map(|(_, next)| next) {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some('r') => out.push('\r'),
                    Some('a') => out.push('\u{7}'),
                    Some('v') => out.push('\u{b}'),
                    Some('x') => {
                        let digits: String =
                            characters.clone().take(2).map(|(_, digit)| digit).collect();
                        match u8::from_str_radix(&digits, 16) {
                            Ok(code) if digits.len() == 2 => {
                                out.push(char::from(code));
                                characters.nth(1);
                            }
                            _ => out.push('x'),
                        }
                    }
                    // The end of a line goes on in the next.
                    Some('\n') => {}
                    Some(other) => out.push(other),
                    None => break,
                },
                other => out.push(other),
            }
        }
        self.unclosed(start, "\"");
        out
    }

    fn single_quoted(&mut self, names: &Names) -> String {
        let start = self.at;
        match self.text[start + 1..].find('\'') {
            Some(length) => {
                self.at = start + 1 + length + 1;
                self.filled_in(&self.text[start + 1..start + 1 + length], names, start)
            }
            None => {
                self.unclosed(start, "'");
                String::new()
            }
        }
    }

    fn unclosed(&mut self, start: usize, what: &str) {
        self.at = self.text.len();
        self.diagnostics.push(complain::unclosed(self.span(start, start + 1), what));
    }

    /// A word; a dot is part of it when more of it stands behind.
    fn word(&mut self, names: &Names) -> String {
        let start = self.at;
        let ends = |one: char| one.is_whitespace() || "#'\"(){};,|@\\".contains(one);
        let rest = self.rest();
        let mut end = rest.find(ends).unwrap_or(rest.len());
        if let Some(dots) = rest[..end].find("..") {
            end = dots;
        }
        let word = rest[..end].trim_end_matches([':', '.']);
        let word = if word.is_empty() {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            &rest[..first]
        } else {
            word
        };
        self.at += word.len();
        self.filled_in(word, names, start)
    }

    /// With names between backticks filled in; two backticks are one.
    fn filled_in(&mut self, text: &str, names: &Names, start: usize) -> String {
        if !text.contains('`') {
            return text.to_string();
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('`') {
            out.push_str(before);
            let Some((name, behind)) = behind.split_once('`') else {
                out.push('`');
                rest = behind;
                continue;
            };
            rest = behind;
            if name.is_empty() {
                out.push('`');
            } else if let Some(value) = names.get(name) {
                out.push_str(value);
            } else if let Ok(value) = std::env::var(name) {
                out.push_str(&value);
            } else {
                let span = self.span(start, self.at);
                let known = names.keys().map(String::as_str);
                self.diagnostics.push(complain::undefined(span, "definition", name, known));
            }
        }
        out.push_str(rest);
        out
    }

    /// Leaves out everything up to and with the brace that closes the one that was read last; gives its inside and
    /// where that begins.
    pub(crate) fn raw_block(&mut self, names: &Names, opened: Span) -> (String, usize) {
        let start = self.at;
        let mut depth = 1_usize;
        let mut end = self.at;
        let diagnostics = self.diagnostics.len();
        while depth > 0 {
            end = self.at;
            let Some(token) = self.next(names) else {
                self.diagnostics.push(complain::unclosed(opened, "{"));
                return (self.text[start..].to_string(), self.base + start);
            };
            match token.kind {
                Kind::Mark("{") => depth += 1,
                Kind::Mark("}") => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = token.span.start as usize - self.base;
            }
        }
        // Names within are those of a later call.
        self.diagnostics.truncate(diagnostics);
        (self.text[start..end].to_string(), self.base + start)
    }

    /// The text between the bracket that was read last and the one that closes it, which is read, too.
    pub(crate) fn raw_argument(&mut self, names: &Names, opened: Span) -> String {
        let start = self.at;
        let mut depth = 1_usize;
        while let Some(token) = self.next(names) {
            match token.kind {
                Kind::Mark("(") => depth += 1,
                Kind::Mark(")") => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let end = token.span.start as usize - self.base;
                return self.text[start..end].trim().to_string();
            }
        }
        self.diagnostics.push(complain::unclosed(opened, "("));
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Lexer, Names};
    use temblor_lang::span::SourceId;

    fn read(text: &str) -> Vec<String> {
        let names = Names::from([("dir".to_string(), "/var".to_string())]);
        let mut lexer = Lexer::new(text, SourceId(0), 0);
        let mut out = Vec::new();
        while let Some(token) = lexer.next(&names) {
            out.push(match token.kind {
                Kind::Word(word) => word,
                Kind::Text(text) => format!("{text:?}"),
                Kind::Mark(mark) => mark.to_string(),
                Kind::Directive(line) => format!("@{line}"),
            });
        }
        out
    }

    #[test]
    fn reads_what_people_write() {
        assert_eq!(
            read("@version: 3.38\nsource s_a { udp(ip(127.0.0.1) port(514)); }; # c"),
            [
                "@version: 3.38",
                "source",
                "s_a",
                "{",
                "udp",
                "(",
                "ip",
                "(",
                "127.0.0.1",
                ")",
                "port",
                "(",
                "514",
                ")",
                ")",
                ";",
                "}",
                ";"
            ]
        );
        assert_eq!(read("level(err..emerg)"), ["level", "(", "err", "..", "emerg", ")"]);
        assert_eq!(read("level(crit .. emerg)"), ["level", "(", "crit", "..", "emerg", ")"]);
        assert_eq!(
            read(r#"file("`dir`/a\n\"" 'x\n`dir`')"#),
            ["file", "(", r#""/var/a\n\"""#, r#""x\\n/var""#, ")"]
        );
        assert_eq!(read(r#""$A" == "b" a=>b"#), [r#""$A""#, "==", r#""b""#, "a=>b"]);
    }
}
