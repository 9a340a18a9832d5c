//! The scanner: from code to tokens. Whether `/` divides or starts a regular expression depends
//! on the token before it, as in Ruby.

mod heredoc;
mod number;
mod quoted;

use super::Problem;
use quoted::Escapes;

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// `a`, `if`, `empty?`
    Name(String),
    /// `A`
    Constant(String),
    /// `@a`, `$a`
    Kept(String),
    /// `a:` before a value
    Label(String),
    Int(i64),
    Float(f64),
    /// `1r`, and whole numbers of more than 63 bits
    Number(String),
    /// `"a#{b}"`
    Text(Vec<Piece>),
    /// `:a`, `:"a"`
    Symbol(String),
    /// `/a/i`
    Regex(Vec<Piece>, String),
    /// `%w[a b]`; whether they are symbols
    Words(Vec<Vec<Piece>>, bool),
    /// `+`
    Operator(&'static str),
    Newline,
    End,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    /// Bytes that are no UTF-8: `"\xFF"`
    Bytes(Vec<u8>),
    /// The code and where it begins.
    Code(String, usize),
}

/// A word with its place.
#[derive(Clone, Debug)]
pub(crate) struct Lexeme {
    pub token: Token,
    pub at: usize,
    /// Whether blanks stand before it.
    pub space: bool,
    /// Whether blanks stand behind it.
    pub(crate) space_after: bool,
}

/// Longest first.
const OPERATORS: &[&str] = &[
    "**=", "<=>", "===", "...", "<<=", ">>=", "&&=", "||=", "&.", "**", "==", "!=", ">=", "<=",
    "&&", "||", "=~", "!~", "..", "::", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<", ">>",
    "->", "=>", "+", "-", "*", "/", "%", "=", "<", ">", "!", "&", "|", "^", "~", "?", ":", ",",
    ".", "(", ")", "[", "]", "{", "}", ";",
];

/// Words behind which a value is expected.
const BEFORE_VALUE: &[&str] = &[
    "if", "unless", "while", "until", "and", "or", "not", "return", "when", "in", "case", "then",
    "do", "else", "elsif", "begin", "rescue", "ensure", "puts", "raise", "p", "print",
];

/// Cuts code into words. `base` is added to all places.
pub(crate) fn scan(text: &str, base: usize) -> Result<Vec<Lexeme>, Problem> {
    let mut scanner = Scanner::new(text, base);
    while scanner.next()? {}
    let mut lexemes = scanner.lexemes;
    for at in 0..lexemes.len().saturating_sub(1) {
        let blank = lexemes[at + 1].space || lexemes[at + 1].token == Token::Newline;
        lexemes[at].space_after = blank;
    }
    let at = base + text.len();
    lexemes.push(Lexeme { token: Token::End, at, space: true, space_after: true });
    Ok(lexemes)
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    base: usize,
    lexemes: Vec<Lexeme>,
    /// Where the lines of texts end that this line has named.
    lines_end: Option<usize>,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, base: usize) -> Self {
        Self { text, at: 0, base, lexemes: Vec::new(), lines_end: None }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn problem(&self, message: &str) -> Problem {
        Problem::new(self.base + self.at, message)
    }

    fn push(&mut self, token: Token, at: usize, space: bool) {
        let lexeme = Lexeme { token, at: self.base + at, space, space_after: false };
        self.lexemes.push(lexeme);
    }

    /// Whether an operand should stand here.
    fn wants_value(&self, space: bool) -> bool {
        let next = self.rest()[1..].chars().next();
        match self.lexemes.last().map(|lexeme| &lexeme.token) {
            None | Some(Token::Newline | Token::Label(_)) => true,
            Some(Token::Operator(operator)) => !matches!(*operator, ")" | "]" | "}"),
            Some(Token::Name(name)) => {
                let called = self.lexemes.len() > 1
                    && matches!(
                        self.lexemes[self.lexemes.len() - 2].token,
                        Token::Operator("." | "&.")
                    );
                (!called && BEFORE_VALUE.contains(&name.as_str()))
                    || (space && next.is_some_and(|next| !next.is_whitespace() && next != '='))
            }
            Some(_) => false,
        }
    }

    fn skip_blanks(&mut self) -> bool {
        let start = self.at;
        loop {
            let rest = self.rest();
            if rest.starts_with([' ', '\t', '\r']) {
                self.at += 1;
            } else if rest.starts_with("\\\n") {
                self.at += 2;
            } else if rest.starts_with("\\\r\n") {
                self.at += 3;
            } else if rest.starts_with("=begin") && !self.text[..self.at].ends_with(|c| c != '\n') {
                let end = rest.find("\n=end").map_or(rest.len(), |at| at + "\n=end".len());
                self.at += end + rest[end..].find('\n').unwrap_or(rest.len() - end);
            } else if rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return self.at > start;
            }
        }
    }

    /// Whether the next line goes on with `.name`.
    fn line_goes_on(&self) -> bool {
        let mut rest = self.rest();
        loop {
            rest = rest.trim_start();
            if !rest.starts_with('#') {
                break;
            }
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        }
        (rest.starts_with('.') && !rest.starts_with("..")) || rest.starts_with("&.")
    }

    /// Reads one word; false at the end.
    fn next(&mut self) -> Result<bool, Problem> {
        let space = self.skip_blanks();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(false) };
        match first {
            '\n' => {
                self.at = self.lines_end.take().unwrap_or(self.at + 1);
                if !self.line_goes_on() {
                    self.push(Token::Newline, start, space);
                }
            }
            '0'..='9' => {
                let token = self.number()?;
                self.push(token, start, space);
            }
            'a'..='z' | '_' | 'A'..='Z' | '\u{80}'.. => self.word(start, space),
            '@' | '$' => {
                let length = 1 + self.rest()[1..]
                    .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '@')))
                    .unwrap_or(self.rest().len() - 1);
                let length = if length == 1 { 2.min(self.rest().len()) } else { length };
                let Some(name) = self.rest().get(..length) else {
                    return Err(self.problem("a name is missing"));
                };
                self.at += length;
                self.push(Token::Kept(name.to_string()), start, space);
            }
            '"' | '`' => {
                if first == '`' {
                    return Err(self.problem("commands of the shell are not run"));
                }
                self.at += 1;
                let pieces = self.pieces('"', None, Escapes::Read)?;
                self.text_or_label(pieces, start, space);
            }
            '\'' => {
                self.at += 1;
                let pieces = self.pieces('\'', None, Escapes::OfQuotes)?;
                self.text_or_label(pieces, start, space);
            }
            '/' if self.wants_value(space) => {
                self.at += 1;
                let pieces = self.pieces('/', None, Escapes::OfPattern)?;
                let token = self.regex(pieces);
                self.push(token, start, space);
            }
            '%' if self.wants_value(space) && self.percent(start, space)? => {}
            '<' if self.wants_value(space) && self.heredoc(start, space)? => {}
            ':' if !self.rest().starts_with("::") && self.symbol(start, space)? => {}
            '?' if self.wants_value(space) && self.character(start, space) => {}
            _ => self.operator(start, space)?,
        }
        Ok(true)
    }

    /// A text, or the key of a pair: `"a": 1`.
    fn text_or_label(&mut self, pieces: Vec<Piece>, start: usize, space: bool) {
        match (self.rest().starts_with(':') && !self.rest().starts_with("::"), &*pieces) {
            (true, [Piece::Text(text)]) if self.in_braces() => {
                self.at += 1;
                self.push(Token::Label(text.clone()), start, space);
            }
            _ => self.push(Token::Text(pieces), start, space),
        }
    }

    /// Whether the text before `:` can be a key.
    fn in_braces(&self) -> bool {
        let last = self.lexemes.last().map(|lexeme| &lexeme.token);
        let before = self.lexemes.iter().rev().find(|lexeme| lexeme.token != Token::Newline);
        matches!(last, Some(Token::Operator("{" | "," | "(")))
            || matches!(before.map(|one| &one.token), Some(Token::Operator("{" | ",")))
    }

    fn operator(&mut self, start: usize, space: bool) -> Result<(), Problem> {
        let rest = self.rest();
        let Some(operator) = OPERATORS.iter().find(|one| rest.starts_with(**one)) else {
            return Err(self.problem("this is no Ruby"));
        };
        self.at += operator.len();
        let token = if *operator == ";" { Token::Newline } else { Token::Operator(operator) };
        self.push(token, start, space);
        Ok(())
    }

    /// `?a`
    fn character(&mut self, start: usize, space: bool) -> bool {
        let mut characters = self.rest()[1..].chars();
        let (Some(character), after) = (characters.next(), characters.next()) else { return false };
        if let ('\\', Some(escaped @ ('n' | 't' | 'r' | 's' | 'e' | '0' | '\\'))) =
            (character, after)
        {
            self.at += 2;
            let mut text = String::new();
            let read = self.escape(&mut text).is_ok() && escaped != '\0';
            self.push(Token::Text(vec![Piece::Text(text)]), start, space);
            return read;
        }
        if character.is_whitespace() || after.is_some_and(|after| after.is_alphanumeric()) {
            return false;
        }
        self.at += 1 + character.len_utf8();
        self.push(Token::Text(vec![Piece::Text(character.to_string())]), start, space);
        true
    }

    fn word(&mut self, start: usize, space: bool) {
        let rest = self.rest();
        // Whatever is no ASCII belongs to a name, as in Ruby: a quotation mark of print, too.
        let in_name = |c: char| c.is_alphanumeric() || c == '_' || !c.is_ascii();
        let end = rest.find(|c: char| !in_name(c)).unwrap_or(rest.len());
        let mut length = end;
        let behind = &rest[end..];
        let marked = behind.starts_with(['?', '!']) && !behind[1..].starts_with('=');
        let marked = marked || behind.starts_with("?==") || behind.starts_with("!==");
        if marked {
            length += 1;
        }
        let behind = &rest[length..];
        let label = behind.starts_with(':')
            && !behind.starts_with("::")
            && !matches!(
                self.lexemes.last().map(|lexeme| &lexeme.token),
                Some(Token::Operator("?" | "." | "&."))
            )
            && !self.in_ternary();
        let name = rest[..length].to_string();
        self.at += length;
        let token = if label {
            self.at += 1;
            Token::Label(name)
        } else if name.starts_with(char::is_uppercase) {
            Token::Constant(name)
        } else {
            Token::Name(name)
        };
        self.push(token, start, space);
    }

    /// Whether a `?` of this line waits for its `:`.
    fn in_ternary(&self) -> bool {
        let mut depth = 0_i32;
        for lexeme in self.lexemes.iter().rev() {
            match lexeme.token {
                Token::Newline => return false,
                Token::Operator(")" | "]" | "}") => depth += 1,
                Token::Operator("(" | "[" | "{") => depth -= 1,
                Token::Operator("?") if depth == 0 => return true,
                Token::Operator(":") if depth == 0 => return false,
                _ => {}
            }
            if depth < 0 {
                return false;
            }
        }
        false
    }

    /// `:name`, `:"name"`; false when it is another colon.
    fn symbol(&mut self, start: usize, space: bool) -> Result<bool, Problem> {
        let rest = &self.rest()[1..];
        let value = !matches!(
            self.lexemes.last().map(|lexeme| &lexeme.token),
            None | Some(Token::Operator(_) | Token::Newline)
        );
        if value && self.in_ternary() {
            return Ok(false);
        }
        if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
            if !self.wants_value(space) {
                return Ok(false);
            }
            self.at += 2;
            let pieces = self.pieces(quote, None, Escapes::OfQuotes)?;
            let text = match pieces.into_iter().next() {
                Some(Piece::Text(text)) => text,
                _ => String::new(),
            };
            self.push(Token::Symbol(text), start, space);
            return Ok(true);
        }
        // `:@data` is a symbol, too.
        let sigil = rest.len() - rest.trim_start_matches('@').len();
        let named = rest[sigil..].starts_with(|c: char| c.is_alphabetic() || c == '_');
        let operators = [
            "<=>", "===", "==", "=~", "[]=", "[]", "**", "<<", ">>", "<=", ">=", "+", "-", "*",
            "/", "%", "<", ">", "&", "|", "^",
        ];
        let ends = |after: &str| {
            after.is_empty()
                || after.starts_with([')', ',', ']', '}', '.', ';', '\n'])
                || after.starts_with(" =>")
        };
        let wants_value = self.wants_value(space);
        let is_named = |one: &&str| {
            rest.strip_prefix(*one).is_some_and(|after| {
                ends(after) || (after.starts_with(' ') && wants_value && one.len() > 1)
            })
        };
        let operator = operators.into_iter().find(is_named);
        let length = match (named, operator) {
            (true, _) => {
                let end = rest[sigil..].find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let end = end.map_or(rest.len(), |end| sigil + end);
                let sets = rest[end..].starts_with('=')
                    && !["=>", "==", "=~"].iter().any(|operator| {
                        rest[end..].starts_with(operator) && !rest[end..].starts_with("==>")
                    });
                end + usize::from(rest[end..].starts_with(['?', '!']) || sets)
            }
            (false, Some(operator)) => operator.len(),
            (false, None) => return Ok(false),
        };
        self.at += 1 + length;
        self.push(Token::Symbol(rest[..length].to_string()), start, space);
        Ok(true)
    }
}
