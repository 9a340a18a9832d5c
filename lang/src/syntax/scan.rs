//! A quick look at a text before the grammar reads it, and again when the grammar fails: tokens, the
//! forms that they nest in, and literals that are not closed. It never refuses a text that the
//! grammar would accept, but for nesting beyond the limits, and takes time linear in the length.

use crate::diagnostic::{Diagnostic, codes};
use crate::span::{SourceId, Span};

/// Brackets, forms, assignments and strings nested in each other. Every level costs the parser
/// some kilobytes of stack; this many fit a thread of two mebibytes also in debug builds.
pub const NESTING_MAX: usize = 128;

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

const SIGNS: [&str; 23] = [
    ">>>", "|>", "%{", "%[", "%(", "::", "=>", "==", "!=", "<=", ">=", "<<", ">>", "~=", "??",
    "#{", "&&", "||", "->", "<-", "++", "+=", "-=",
];

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

    fn comment(&mut self) {
        let start = self.at;
        let line = self.rest().lines().next().unwrap_or("").len();
        if self.rest().starts_with("#!config ") {
            self.at += "#!config ".len();
            return self.push(Kind::Sign, start);
        }
        self.at += line.max(1);
        if self.text[start..].starts_with("##") {
            self.push(Kind::Doc, start);
        } else if self.text[start..].starts_with("#!") {
            let help = "the only directive is `#!config name = value`; a comment starts with `# `";
            self.lexical(
                codes::UNEXPECTED_CHARACTER,
                start,
                self.at,
                "`#!` starts no comment",
                help,
            );
        }
    }

    fn quoted_name(&mut self) {
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

    fn number(&mut self) {
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
    fn raw_string(&mut self) -> bool {
        let start = self.at;
        let hashes = self.rest()[1..].len() - self.rest()[1..].trim_start_matches('#').len();
        let body = start + 1 + hashes;
        if !self.text[body..].starts_with('"') {
            return false;
        }
        let close = format!("\"{}", "#".repeat(hashes));
        match self.text[body + 1..].find(&close) {
            Some(len) => self.at = body + 1 + len + close.len(),
            None if hashes > 0 => return false,
            None => {
                self.at = self.text.len();
                let help = "a raw string ends with the next `\"`";
                self.lexical(
                    codes::UNTERMINATED,
                    start,
                    body + 1,
                    "this raw string is not closed",
                    help,
                );
            }
        }
        self.push(Kind::Text, start);
        true
    }

    fn after_test_name(&self) -> bool {
        let tokens = &self.scan.tokens;
        let [.., sign, name] = tokens.as_slice() else { return false };
        matches!(name.kind, Kind::Word | Kind::Text)
            && matches!(&self.text[sign.start..sign.end], "~" | "~=")
    }

    fn test_literal(&mut self) {
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
    fn string(&mut self, start: usize) {
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

    fn sign(&mut self, first: char) {
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

    fn lexical(&mut self, code: &'static str, start: usize, end: usize, message: &str, help: &str) {
        if self.scan.lexical.len() < LEXICAL_ERRORS_MAX {
            let span = Span::new(self.source, start, end);
            self.scan.lexical.push(Diagnostic::error(code, span, message).with_help(help));
        }
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let after_dot = self.scan.tokens.last().is_some_and(|token| self.token_text(*token) == ".");
        // A word behind a dot is meant as a name, whatever the grammar thinks of it.
        let kind = if after_dot && kind == Kind::Word { Kind::Text } else { kind };
        let text = &self.text[start..self.at];
        let closes =
            if kind == Kind::Word { text == "end" } else { matches!(text, ")" | "]" | "}") };
        if kind == Kind::Sign && text == ";" || kind == Kind::Word && matches!(text, "end" | "case")
        {
            self.leave_brackets();
        }
        let token = Token { kind, start, end: self.at, frame: self.current };
        let index = self.scan.tokens.len();
        self.scan.tokens.push(token);
        if closes && matches!(kind, Kind::Word | Kind::Sign) {
            self.leave(text == "end");
        } else if let Some(bracket) = self.opens(index) {
            self.enter(index, bracket);
        } else {
            self.weigh(kind, start);
        }
    }

    /// Whether the token opens a form, and whether that is a bracket.
    fn opens(&self, index: usize) -> Option<bool> {
        let token = self.scan.tokens[index];
        let text = self.token_text(token);
        if token.kind == Kind::Sign {
            return matches!(text, "(" | "[" | "{" | "%{" | "%[" | "%(").then_some(true);
        }
        if token.kind != Kind::Word {
            return None;
        }
        let before = index.checked_sub(1).map_or("", |at| self.token_text(self.scan.tokens[at]));
        let around = self.scan.frames[self.current].opener;
        let around = around.map_or("", |at| self.token_text(self.scan.tokens[at]));
        if around == "with" && matches!(before, "with" | ",") && self.is_assigned() {
            // The name of a setting, such as `match = …`.
            return None;
        }
        let opens = match text {
            "match" | "for" | "patch" => true,
            "merge" => around != "patch",
            "fn" => before != "intrinsic",
            "window" | "pipeline" | "flow" => before == "define",
            "script" => matches!(before, "define" | "|>"),
            "with" => !matches!(around, "fn" | "window"),
            "route" => before == "|>",
            "if" => self.condition_follows(),
            _ => false,
        };
        opens.then_some(false)
    }

    /// Whether `=` follows.
    fn is_assigned(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>")
    }

    /// Whether a word or literal follows, so that the `if` before is no name.
    fn condition_follows(&self) -> bool {
        let rest = self.rest().trim_start();
        let word = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map_or(rest, |len| &rest[..len]);
        let goes_on = [
            "and", "or", "xor", "of", "when", "end", "into", "use", "from", "where", "with",
            "case", "as", "by", "having", "to",
        ];
        rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '{' | '$' | '`'))
            && !goes_on.contains(&word)
    }

    fn token_text(&self, token: Token) -> &str {
        &self.text[token.start..token.end]
    }

    fn enter(&mut self, index: usize, bracket: bool) {
        self.scan.frames.push(Frame {
            opener: Some(index),
            parent: self.current,
            bracket,
            closed: false,
        });
        self.current = self.scan.frames.len() - 1;
        self.assignments.push(0);
        self.measure();
    }

    fn leave_brackets(&mut self) {
        while self.scan.frames[self.current].bracket {
            self.pop(false);
        }
    }

    /// Leaves the innermost form of the kind that closes here, if there is one.
    fn leave(&mut self, with_end: bool) {
        if self.current != 0 && self.scan.frames[self.current].bracket != with_end {
            self.pop(true);
        }
    }

    fn pop(&mut self, closed: bool) {
        let frame = &mut self.scan.frames[self.current];
        frame.closed = closed;
        self.current = frame.parent;
        self.assignments.pop();
    }

    /// Counts assignments that stand in each other: they nest without opening a form.
    fn weigh(&mut self, kind: Kind, start: usize) {
        let text = &self.text[start..self.at];
        let Some(assignments) = self.assignments.last_mut() else { return };
        match (kind, text) {
            (Kind::Sign, ";" | "," | "=>" | "|>" | "#!config ") | (Kind::Word, "case") => {
                *assignments = 0;
            }
            (Kind::Sign, "=") => *assignments += 1,
            _ => {}
        }
        self.measure();
    }

    fn measure(&mut self) {
        let assignments: usize = self.assignments.iter().rev().take(NESTING_MAX).sum();
        if self.assignments.len() + assignments > NESTING_MAX {
            self.scan.too_deep.get_or_insert(self.at);
            self.at = self.text.len();
        }
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

fn is_word_start(c: char) -> bool {
    c.is_alphabetic()
}
