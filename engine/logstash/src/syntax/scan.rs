//! The characters of a configuration, one token at a time. The position only grows, so that reading
//! takes time in proportion to the text.

use crate::complain;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::{SourceId, Span};

/// A place in the text that moves on.
#[derive(Debug)]
pub(super) struct Scanner<'t> {
    text: &'t str,
    source: SourceId,
    at: usize,
    /// Whether blanks or a comment were passed over before the current place.
    pub(crate) blank_before: bool,
    /// The quote that the last text in quotes holds where its writer may have meant its end.
    kept_quote: Option<usize>,
}

/// A syntax error; boxed, so that results stay small.
pub(super) type Failure = Box<Diagnostic>;

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, source: SourceId) -> Self {
        // A byte order mark is no part of the text.
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, source, at, blank_before: true, kept_quote: None }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes back over blanks that turned out to belong to what follows.
    pub(super) fn rewind(&mut self, at: usize) {
        self.at = at;
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn span_from(&self, start: usize) -> Span {
        Span::new(self.source, start, self.at)
    }

    /// Passes over blanks and comments.
    pub(super) fn skip(&mut self) {
        self.blank_before = false;
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            self.blank_before |= blank > 0;
            if !self.rest().starts_with('#') {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            self.blank_before = true;
        }
    }

    /// Takes `token` if it stands here.
    pub(super) fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Takes `word` if it stands here and ends here.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let ends = |rest: &str| !rest.starts_with(is_word);
        match self.rest().strip_prefix(word) {
            Some(rest) if ends(rest) => {
                self.at += word.len();
                true
            }
            _ => false,
        }
    }

    pub(super) fn expect(&mut self, token: &str, wanted: &str) -> Result<(), Failure> {
        if self.take(token) { Ok(()) } else { Err(self.unexpected(wanted)) }
    }

    /// The characters from here on for which `belongs` holds.
    pub(super) fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|character| !belongs(character)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// `-12.5`
    pub(super) fn number(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let digits =
            |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let sign = usize::from(rest.starts_with('-'));
        let whole = digits(&rest[sign..]);
        if whole == 0 {
            return None;
        }
        let mut end = sign + whole;
        if let Some(fraction) = rest[end..].strip_prefix('.') {
            end += 1 + digits(fraction);
        }
        self.at += end;
        Some(&rest[..end])
    }

    /// A text in quotes, or between slashes: what stands between.
    pub(super) fn quoted(&mut self) -> Result<&'t str, Failure> {
        let start = self.at;
        let quote = self.peek().expect("the caller saw a quote");
        let inside = &self.text[start + 1..];
        let mut escaped = false;
        self.kept_quote = None;
        for (at, character) in inside.char_indices() {
            if character == quote && !escaped {
                self.at = start + 1 + at + 1;
                return Ok(&inside[..at]);
            }
            if character == quote && (at == 1 || inside[..at].ends_with("\\\\")) {
                self.kept_quote.get_or_insert(start + 1 + at);
            }
            // As in Logstash, only a backslash right before the quote counts, even if it follows
            // another one.
            escaped = character == '\\';
        }
        let span = Span::new(self.source, start, start + 1);
        self.at = self.text.len();
        Err(Box::new(complain::unterminated(span, quote)))
    }

    /// The inside of `[…]` if that holds no bracket and no comma: a step of a field reference.
    pub(crate) fn selector_step(&mut self) -> Option<&'t str> {
        let inside = self.rest().strip_prefix('[')?;
        let end = inside.find(['[', ']', ','])?;
        if end == 0 || !inside[end..].starts_with(']') {
            return None;
        }
        self.at += end + 2;
        Some(&inside[..end])
    }

    /// What is wrong here.
    pub(super) fn unexpected(&self, wanted: &str) -> Failure {
        let rest = self.rest();
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let length = word.max(first);
        let span = Span::new(self.source, self.at, self.at + length);
        let complaint = complain::unexpected(span, &rest[..length], wanted);
        Box::new(match self.kept_quote {
            Some(quote) => complaint.with_help(complain::kept_quote(&self.text[..quote])),
            None => complaint,
        })
    }

    /// Goes on behind the end of the block that is `depth` braces deep here, or at the end.
    pub(crate) fn leave_block(&mut self, mut depth: usize) {
        while let Some(character) = self.peek() {
            match character {
                '"' | '\'' => {
                    let _ = self.quoted();
                    continue;
                }
                '#' => {
                    self.skip();
                    continue;
                }
                '{' => depth += 1,
                '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.at += 1;
                        return;
                    }
                }
                _ => {}
            }
            self.at += character.len_utf8();
        }
    }
}

/// The characters of names.
pub(super) fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}
