//! A quick look at a text before the grammar reads it, and again when the grammar fails: tokens, the
//! forms that they nest in, and literals that are not closed. It never refuses a text that the
//! grammar would accept, but for nesting beyond the limits, and takes time linear in the length.

mod forms;
mod literal;
mod sign;

use crate::diagnostic::Diagnostic;
use crate::span::{SourceId, Span};

/// Brackets, forms, assignments and strings nested in each other. Every level costs the parser
/// some kilobytes of stack; this many fit a thread of two mebibytes also in debug builds.
pub(crate) const NESTING_MAX: usize = 128;

/// More errors of this kind in one text tell nothing new.
const LEXICAL_ERRORS_MAX: usize = 20;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a word of the language.
    Word,
    /// A number, with whatever is glued to it.
    Number,
    /// A string with its interpolations, a quoted name, or a name behind a dot.
    Text,
    /// `|…|` behind the name of an extractor.
    Test,
    /// `## …`
    Doc,
    /// Anything else: an operator or a bracket.
    Sign,
}

/// A token and the form it stands in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Index of the innermost form around it.
    pub(super) frame: usize,
}

/// A form: something between an opening token and its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The token that opened it; none for the text itself.
    pub(super) opener: Option<usize>,
    /// The form around it.
    pub(super) parent: usize,
    /// Whether it is closed by `)`, `]` or `}` rather than by `end`.
    pub(super) bracket: bool,
    /// Whether its end was seen.
    pub(super) closed: bool,
}

/// What a look at a text found.
pub(super) struct Scan<'t> {
    text: &'t str,
    pub(super) tokens: Vec<Token>,
    pub(super) frames: Vec<Frame>,
    /// Literals that are not closed, and characters that no token starts with.
    pub(super) lexical: Vec<Diagnostic>,
    /// The place where the text is nested too deep.
    pub(super) too_deep: Option<usize>,
}

impl Scan<'_> {
    /// All of the text.
    pub(super) fn source(&self) -> &str {
        self.text
    }

    /// A token as written.
    pub(super) fn text(&self, token: &Token) -> &str {
        &self.text[token.start..token.end]
    }
}

/// Looks at a text.
pub(super) fn scan(text: &str, source: SourceId) -> Scan<'_> {
    let mut scanner = Scanner {
        text,
        source,
        at: 0,
        current: 0,
        assignments: vec![0],
        scan: Scan {
            text,
            tokens: Vec::new(),
            frames: vec![Frame { opener: None, parent: 0, bracket: false, closed: true }],
            lexical: Vec::new(),
            too_deep: None,
        },
    };
    while scanner.at < text.len() {
        scanner.step();
    }
    scanner.scan
}

struct Scanner<'t> {
    text: &'t str,
    source: SourceId,
    at: usize,
    current: usize,
    /// For each open form, the assignments in each other since its last separator.
    assignments: Vec<usize>,
    scan: Scan<'t>,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn step(&mut self) {
        let Some(first) = self.rest().chars().next() else { return };
        let start = self.at;
        match first {
            c if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
            '#' => self.comment(),
            '"' => self.string(start),
            '`' => self.quoted_name(),
            '0'..='9' => self.number(),
            'r' if self.raw_string() => {}
            c if is_word_start(c) => {
                self.at += self.word_len();
                self.push(Kind::Word, start);
            }
            '|' if self.after_test_name() => self.test_literal(),
            _ => self.sign(first),
        }
    }

    fn word_len(&self) -> usize {
        let rest = self.rest();
        rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len()).max(1)
    }

    fn lexical(&mut self, code: &'static str, start: usize, end: usize, message: &str, help: &str) {
        if self.scan.lexical.len() < LEXICAL_ERRORS_MAX {
            let span = Span::new(self.source, start, end);
            self.scan.lexical.push(Diagnostic::error(code, span, message).with_help(help));
        }
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic()
}
