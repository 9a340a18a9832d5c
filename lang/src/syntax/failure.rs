//! A failure of the grammar in human words: what was found, what could have stood there, and the
//! likely slip. Names of grammar rules never reach a message.

use super::grammar::Rule;
use super::scan::{Kind, Scan, Token};
use super::words::{self, RESERVED};
use crate::diagnostic::{Diagnostic, codes, nearest};
use crate::span::{SourceId, Span};
use pest::error::{Error, ErrorVariant, InputLocation};

/// More alternatives than this are no help to anybody.
const ALTERNATIVES_MAX: usize = 4;

/// Where the grammar failed and what it would have gone on with.
pub(super) struct Failure {
    pub(super) at: usize,
    expected: Vec<Rule>,
}

impl Failure {
    pub(super) fn new(error: &Error<Rule>) -> Self {
        let at = match error.location {
            InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
        };
        let expected = match &error.variant {
            ErrorVariant::ParsingError { positives, .. } => positives.clone(),
            ErrorVariant::CustomError { .. } => Vec::new(),
        };
        Self { at, expected }
    }

    fn expects(&self, rule: Rule) -> bool {
        self.expected.contains(&rule)
    }

    fn expects_expression(&self) -> bool {
        self.expected.iter().any(|rule| words::name(*rule) == Some("an expression"))
    }
}

/// The failure as a diagnostic.
pub(super) fn diagnostic(
    failure: &Failure,
    text: &str,
    source: SourceId,
    scan: &Scan,
) -> Diagnostic {
    let index = scan.tokens.iter().position(|token| token.end > failure.at);
    let place = FailurePoint { failure, text, scan, index };
    if scan.tokens.iter().all(|token| token.kind == Kind::Doc) {
        return empty(source, text.chars().next().map_or(0, char::len_utf8));
    }
    if let Some(unclosed) = place.unclosed(source) {
        return unclosed;
    }
    let (start, end) = match index.map(|at| scan.tokens[at]) {
        Some(token) if token.start <= failure.at => (failure.at, token.end),
        Some(token) => (token.start, token.end),
        None => last_character(text),
    };
    let span = Span::new(source, start, end);
    if let Some((code, message)) = place.number() {
        return Diagnostic::error(code, span, message).with_help(NUMBER_HELP);
    }
    let found = place.found();
    let diagnostic = Diagnostic::error(codes::UNEXPECTED, span, format!("unexpected {found}"))
        .with_label(expected(&failure.expected));
    match place.hint() {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

const NUMBER_HELP: &str = "integers are written `10`, `1_000` or `0xff`, floats `1.5` or `1.0e5`, \
                           durations `10s`, sizes `5MiB`";

/// The failure and what stands around it.
struct FailurePoint<'s> {
    failure: &'s Failure,
    text: &'s str,
    scan: &'s Scan<'s>,
    /// The token where it failed; none at the end of the text.
    index: Option<usize>,
}

impl FailurePoint<'_> {
    fn token(&self, offset: isize) -> &str {
        let at = self.index.unwrap_or(self.scan.tokens.len()).checked_add_signed(offset);
        at.and_then(|at| self.scan.tokens.get(at)).map_or("", |token| self.scan.text(token))
    }

    fn kind(&self) -> Option<Kind> {
        self.index.map(|at| self.scan.tokens[at].kind)
    }

    fn found(&self) -> String {
        let token = self.token(0);
        let shown = token.lines().next().unwrap_or("");
        match self.kind() {
            None => "end of the text".to_string(),
            Some(Kind::Doc) => "doc comment".to_string(),
            Some(Kind::Text) if token.contains('"') => "string".to_string(),
            Some(Kind::Number) => format!("number `{shown}`"),
            Some(Kind::Word | Kind::Text) if !RESERVED.contains(&token) => {
                format!("name `{shown}`")
            }
            Some(_) => format!("`{shown}`"),
        }
    }

    /// A form that is never closed, when the text ends too early.
    fn unclosed(&self, source: SourceId) -> Option<Diagnostic> {
        if self.index.is_some() {
            return None;
        }
        let missing = self.scan.frames.iter().rev().find(|frame| !frame.closed)?.opener?;
        let else_if = self.scan.tokens[missing..]
            .windows(2)
            .any(|pair| self.scan.text(&pair[0]) == "else" && self.scan.text(&pair[1]) == "if");
        let opener = self.scan.tokens[missing];
        let close = closing(self.scan.text(&opener));
        if !self.expects_close(close) {
            return None;
        }
        let (start, end) = last_character(self.text);
        let span = Span::new(source, start, end);
        let opened = Span::new(source, opener.start, opener.end);
        let message = format!("missing `{close}` for `{}`", self.scan.text(&opener));
        Some(
            Diagnostic::error(codes::MISSING_END, span, message)
                .with_label(format!("expected `{close}`"))
                .with_place(opened, "opened here")
                .with_help(match else_if {
                    true => "write `elif` for `else if`, or add an `end` for each `if`".to_string(),
                    false => format!("add `{close}`"),
                }),
        )
    }

    fn expects_close(&self, close: &str) -> bool {
        close != "end" || self.failure.expects(Rule::kw_end) || !self.failure.expects_expression()
    }

    fn number(&self) -> Option<(&'static str, String)> {
        let token = self.token(0);
        let glued =
            self.kind() == Some(Kind::Number) && !is_plain_number(token) && !is_quantity(token);
        let dotted = token == "." && self.token(1).starts_with(|c: char| c.is_ascii_digit());
        if glued {
            return Some((codes::INVALID_NUMBER, format!("`{token}` is no number")));
        }
        dotted.then(|| (codes::INVALID_NUMBER, "a number starts with a digit".to_string()))
    }

    /// The likely slip.
    fn hint(&self) -> Option<String> {
        let (before, here, after) = (self.token(-1), self.token(0), self.token(1));
        let help = match (before, here, after) {
            (".", word, _) if RESERVED.contains(&word) => {
                format!("`{word}` is a word of the language; quote it: .`{word}`")
            }
            (_, "default", "=>") => {
                "the arm for everything else is written `case _ =>`".to_string()
            }
            ("else", "if", _) | (_, "else", "if") => "write `elif condition then …`".to_string(),
            (";", "end" | "case", _) => "a block does not end with `;`: remove it".to_string(),
            (";", ";", _) => "remove one `;`".to_string(),
            (_, "%(" | "%[" | "%{", _) => {
                "write `% (`: `%` and a bracket together start a pattern".to_string()
            }
            (_, "=", _) => {
                "`=` assigns (`let name = …`); two values are compared with `==`".to_string()
            }
            (_, "!", "=") => "write `!=`".to_string(),
            ("$", "." | "[", _) => "only a name may follow `$`: `$name`".to_string(),
            ("not", "-" | "+", _) => "write `not (-x)`".to_string(),
            (_, "let" | "emit" | "drop", _) if self.failure.expects_expression() => {
                format!(
                    "`{here}` is a statement: it cannot stand inside an expression, a guard or `const`"
                )
            }
            (_, "match" | "for", _) if self.failure.expects_expression() => {
                format!("put the `{here} … end` in parentheses")
            }
            (_, "}", _) | (_, "{", _) if before.starts_with('"') => {
                "interpolation is written `#{…}`".to_string()
            }
            (_, "?" | "&&" | "||" | "|", _) => return None,
            _ => return self.hint_by_kind(before, here),
        };
        Some(help)
    }

    fn hint_by_kind(&self, before: &str, here: &str) -> Option<String> {
        let reserved = RESERVED.contains(&here);
        match self.kind() {
            Some(Kind::Doc) => Some(
                "`##` comments belong in front of definitions; write `# ` for others".to_string(),
            ),
            Some(Kind::Word) if reserved && self.failure.expects(Rule::ident) => Some(format!(
                "`{here}` is a word of the language; as a name it is quoted: `` `{here}` ``"
            )),
            Some(Kind::Sign) if before.starts_with('"') && matches!(here, "." | "[") => {
                Some("a string has no fields; look at `string::substr`".to_string())
            }
            _ => self.nearest_word(before, here),
        }
    }

    /// The name here, or the one before, may be a misspelt word of the language.
    fn nearest_word(&self, before: &str, here: &str) -> Option<String> {
        let words = words::texts(&self.failure.expected);
        let starters = [
            "match",
            "for",
            "patch",
            "merge",
            "let",
            "emit",
            "select",
            "define",
            "create",
            "deploy",
            "const",
            "use",
            "intrinsic",
        ];
        let usable = |word: &str| {
            word.len() > 1 && word.starts_with(char::is_alphabetic) && !RESERVED.contains(&word)
        };
        let near_here = usable(here).then(|| nearest(here, words)).flatten();
        let near =
            near_here.or_else(|| usable(before).then(|| nearest(before, starters)).flatten());
        // In a chain, a clause whose word is misspelt looks like a flag.
        let in_step = self.failure.expects(Rule::clause_word) || self.failure.expects(Rule::clause);
        let near_clause = (in_step && usable(before)).then(|| {
            nearest(before, words::CLAUSE_WORDS).filter(|_| !words::CLAUSE_WORDS.contains(&before))
        });
        let in_time =
            self.failure.expects(Rule::time_word) || self.failure.expects(Rule::time_bound);
        let near_bound =
            (in_time && usable(here)).then(|| nearest(here, words::TIME_WORDS)).flatten();
        if let Some(word) = near_bound.or(near).or(near_clause.flatten()) {
            return Some(format!("did you mean `{word}`?"));
        }
        let statement = self.failure.expects(Rule::semi) && self.starts_line();
        statement.then(|| "put `;` between statements".to_string())
    }

    fn starts_line(&self) -> bool {
        let Some(token) = self.index.map(|at| self.scan.tokens[at]) else { return false };
        let before = self.text[..token.start].trim_end_matches([' ', '\t']);
        before.ends_with('\n')
    }
}

fn closing(opener: &str) -> &'static str {
    match opener {
        "(" | "%(" => ")",
        "[" | "%[" => "]",
        "{" | "%{" => "}",
        _ => "end",
    }
}

/// `10s`, `1.5MiB`
fn is_quantity(token: &str) -> bool {
    let split = token.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_')));
    let digit = |at: usize| token[..at].ends_with(|c: char| c.is_ascii_digit());
    split.is_some_and(|at| digit(at) && crate::units::scale(&token[at..]).is_some())
}

fn is_plain_number(token: &str) -> bool {
    let hex = token.strip_prefix("0x").is_some_and(|digits| {
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit() || c == '_')
    });
    hex || token.parse::<f64>().is_ok() && !token.contains(['e', 'E'])
        || token.chars().all(|c| c.is_ascii_digit() || c == '_')
}

/// "expected a, b or c"
fn expected(rules: &[Rule]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in rules.iter().filter_map(|rule| words::name(*rule)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.contains(&"an expression") {
        let parts = [
            "an integer",
            "a string",
            "`if`",
            "`drop`",
            "`emit`",
            "`for`",
            "`match`",
            "`let`",
            "`merge`",
            "`patch`",
            "`recur`",
            "`use`",
        ];
        names.retain(|name| !parts.contains(name));
    }
    let specific = names.iter().any(|name| *name != "an operator");
    if specific {
        names.retain(|name| *name != "an operator");
    }
    names.truncate(ALTERNATIVES_MAX);
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("expected {one}"),
        [first @ .., last] => format!("expected {} or {last}", first.join(", ")),
    }
}

/// Where the last character stands that is no white space.
fn last_character(text: &str) -> (usize, usize) {
    let text = text.trim_end();
    let last = text.chars().next_back().map_or(0, char::len_utf8);
    (text.len() - last, text.len())
}

/// Nothing but comments.
fn empty(source: SourceId, end: usize) -> Diagnostic {
    let span = Span::new(source, 0, end);
    Diagnostic::error(codes::UNEXPECTED, span, "there is nothing to run in this text")
        .with_label("expected at least one statement")
        .with_help("the smallest script is `event`")
}

/// The diagnostic of a text that is nested too deep.
pub(super) fn too_deep(at: usize, source: SourceId, tokens: &[Token]) -> Diagnostic {
    let start = tokens.last().map_or(at.saturating_sub(1), |token| token.start);
    let message = format!("nested more than {} levels deep", super::NESTING_MAX);
    Diagnostic::error(codes::TOO_DEEP, Span::new(source, start, at.max(start + 1)), message)
        .with_help("give the inner parts names with `let`, or move them into functions")
}
