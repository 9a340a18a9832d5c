//! Sections, plugins, options and their values. An error ends the statement that it is in; the
//! parser goes on behind it, so that one run finds most of what is wrong.

use super::scan::{Failure, Scanner, is_word};
use super::tree::{
    Branch, Config, Plugin, Section, SectionKind, Statement, Value, ValueKind, Word,
};
use crate::complain;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::{SourceId, Span};

/// Blocks, lists and parentheses inside of each other, at the most.
const DEPTH_MAX: usize = 200;
/// Errors of one text, at the most.
const ERRORS_MAX: usize = 50;

/// What a text says, and what is wrong with it.
#[derive(Debug)]
pub struct Parsed {
    /// As far as it could be read.
    pub config: Config,
    /// Errors.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the text of one file.
#[must_use]
pub fn parse(text: &str, source: SourceId) -> Parsed {
    let mut parser = Parser {
        scanner: Scanner::new(text, source),
        depth: 0,
        braces: 0,
        diagnostics: Vec::new(),
    };
    let config = parser.config();
    Parsed { config, diagnostics: parser.diagnostics }
}

pub(super) struct Parser<'t> {
    pub(super) scanner: Scanner<'t>,
    /// How deep the current place is nested.
    depth: usize,
    /// Braces that are open.
    braces: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Parser<'_> {
    pub(super) fn deeper(&mut self) -> Result<(), Failure> {
        if self.depth >= DEPTH_MAX {
            let span = self.scanner.span_from(self.scanner.at());
            return Err(Box::new(complain::too_deep(span, DEPTH_MAX)));
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn shallower(&mut self) {
        self.depth -= 1;
    }

    fn open(&mut self, wanted: &str) -> Result<(), Failure> {
        self.deeper()?;
        self.scanner.expect("{", wanted)?;
        self.braces += 1;
        Ok(())
    }

    /// Whether the block ends here; takes its brace.
    fn close(&mut self) -> bool {
        let closed = self.scanner.take("}");
        if closed {
            self.braces -= 1;
            self.shallower();
        }
        closed
    }

    fn config(&mut self) -> Config {
        let mut config = Config::default();
        loop {
            self.scanner.skip();
            if self.scanner.is_at_end() || self.diagnostics.len() >= ERRORS_MAX {
                return config;
            }
            match self.section() {
                Ok(section) => config.sections.push(section),
                Err(failure) => self.recover(*failure, 0, 0),
            }
        }
    }

    /// Notes an error and goes on behind the block that it is in, up to `braces` open ones.
    fn recover(&mut self, failure: Diagnostic, braces: usize, depth: usize) {
        self.diagnostics.push(failure);
        let open = self.braces - braces;
        if open > 0 {
            self.scanner.leave_block(open);
        } else {
            // Nothing is open: behind the next block.
            self.scanner.take_while(|character| !matches!(character, '{' | '}'));
            if braces == 0 || self.scanner.peek() == Some('{') {
                self.scanner.leave_block(0);
            }
        }
        self.braces = braces;
        self.depth = depth;
    }

    fn section(&mut self) -> Result<Section, Failure> {
        let start = self.scanner.at();
        let kinds = [SectionKind::Input, SectionKind::Filter, SectionKind::Output];
        let kind = kinds.into_iter().find(|kind| self.scanner.take_word(kind.word()));
        let kind =
            kind.ok_or_else(|| self.scanner.unexpected("`input {`, `filter {` or `output {`"))?;
        let span = self.scanner.span_from(start);
        self.scanner.skip();
        let body = self.body()?;
        Ok(Section { kind, span, body })
    }

    /// `{ … }`
    fn body(&mut self) -> Result<Vec<Statement>, Failure> {
        self.open("`{`")?;
        let mut statements = Vec::new();
        loop {
            self.scanner.skip();
            if self.close() {
                return Ok(statements);
            }
            if self.scanner.is_at_end() || self.diagnostics.len() >= ERRORS_MAX {
                return Err(self.scanner.unexpected("a plugin, `if`, or the `}` of the block"));
            }
            let (braces, depth) = (self.braces, self.depth);
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(failure) => self.recover(*failure, braces, depth),
            }
        }
    }

    fn statement(&mut self) -> Result<Statement, Failure> {
        let start = self.scanner.at();
        if self.scanner.take_word("if") {
            let span = self.scanner.span_from(start);
            return Ok(Statement::Branch(self.branch(span)?));
        }
        let name = self.name("the name of a plugin, or `if`")?;
        self.scanner.skip();
        Ok(Statement::Plugin(self.plugin(name)?))
    }

    fn branch(&mut self, span: Span) -> Result<Branch, Failure> {
        let mut arms = vec![self.arm()?];
        loop {
            let end = self.scanner.at();
            self.scanner.skip();
            if !self.scanner.take_word("else") {
                let whole = Span::new(span.source, span.start as usize, end);
                return Ok(Branch { span, arms, otherwise: None, whole });
            }
            self.scanner.skip();
            if !self.scanner.take_word("if") {
                let otherwise = Some(self.body()?);
                let whole = span.to(self.scanner.span_from(self.scanner.at()));
                return Ok(Branch { span, arms, otherwise, whole });
            }
            arms.push(self.arm()?);
        }
    }

    fn arm(&mut self) -> Result<(super::tree::Expr, Vec<Statement>), Failure> {
        self.scanner.skip();
        let condition = self.condition()?;
        self.scanner.skip();
        Ok((condition, self.body()?))
    }

    /// A name, with or without quotes.
    fn name(&mut self, wanted: &str) -> Result<Word, Failure> {
        let start = self.scanner.at();
        let text = match self.scanner.peek() {
            Some('"' | '\'') => self.scanner.quoted()?,
            _ => self.scanner.take_while(is_word),
        };
        if text.is_empty() && self.scanner.at() == start {
            return Err(self.scanner.unexpected(wanted));
        }
        Ok(Word { text: text.to_string(), span: self.scanner.span_from(start) })
    }

    /// `{ option => value … }` behind a name.
    fn plugin(&mut self, name: Word) -> Result<Plugin, Failure> {
        self.open("`{` after the name of the plugin")?;
        let mut options: Vec<(Word, Value)> = Vec::new();
        loop {
            self.scanner.skip();
            if self.close() {
                let end = self.scanner.span_from(self.scanner.at());
                let span = name.span.to(end);
                return Ok(Plugin { name, options, span });
            }
            if !options.is_empty() && !self.scanner.blank_before {
                return Err(self.scanner.unexpected("a blank between two options, or `}`"));
            }
            let name = self.name("the name of an option, or `}`")?;
            self.scanner.skip();
            self.scanner.expect("=>", "`=>` after the name of the option")?;
            self.scanner.skip();
            let value = self.value()?;
            options.push((name, value));
        }
    }

    fn value(&mut self) -> Result<Value, Failure> {
        let start = self.scanner.at();
        let kind = match self.scanner.peek() {
            Some('"' | '\'') => ValueKind::Text(self.scanner.quoted()?.to_string()),
            Some('[') => self.array()?,
            Some('{') => self.hash()?,
            _ => self.word_or_number()?,
        };
        Ok(Value { span: self.scanner.span_from(start), kind })
    }

    fn word_or_number(&mut self) -> Result<ValueKind, Failure> {
        let start = self.scanner.at();
        let word = self.scanner.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !word {
            let wanted = "a value: a text in quotes, a number, a word, `[` or `{`";
            return match self.scanner.number() {
                Some(number) => Ok(ValueKind::Number(number.to_string())),
                None => Err(self.scanner.unexpected(wanted)),
            };
        }
        let text = self.scanner.take_while(is_word).to_string();
        let name = Word { text, span: self.scanner.span_from(start) };
        let after = self.scanner.at();
        self.scanner.skip();
        if self.scanner.peek() == Some('{') {
            return Ok(ValueKind::Plugin(self.plugin(name)?));
        }
        self.scanner.rewind(after);
        Ok(ValueKind::Bare(name.text))
    }

    fn array(&mut self) -> Result<ValueKind, Failure> {
        self.list(Self::value).map(ValueKind::Array)
    }

    /// `[a, b]`, without a comma at the end.
    pub(super) fn list<T>(
        &mut self,
        item: fn(&mut Self) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        self.deeper()?;
        self.scanner.expect("[", "`[`")?;
        self.scanner.skip();
        let mut items = Vec::new();
        if !self.scanner.take("]") {
            loop {
                items.push(item(self)?);
                self.scanner.skip();
                if self.scanner.take("]") {
                    break;
                }
                self.scanner.expect(",", "`,` or `]` in the list")?;
                self.scanner.skip();
            }
        }
        self.shallower();
        Ok(items)
    }

    fn hash(&mut self) -> Result<ValueKind, Failure> {
        self.open("`{`")?;
        let mut entries: Vec<(Word, Value)> = Vec::new();
        let mut places: std::collections::HashMap<String, temblor_lang::span::Span> =
            std::collections::HashMap::new();
        loop {
            self.scanner.skip();
            if self.close() {
                return Ok(ValueKind::Hash(entries));
            }
            let key = self.key()?;
            self.scanner.skip();
            self.scanner.expect("=>", "`=>` after the key")?;
            self.scanner.skip();
            let value = self.value()?;
            if let Some(first) = places.insert(key.text.clone(), key.span) {
                self.diagnostics.push(complain::duplicate_key(&key.text, key.span, first));
            }
            entries.push((key, value));
        }
    }

    fn key(&mut self) -> Result<Word, Failure> {
        let start = self.scanner.at();
        match self.scanner.number() {
            Some(number) if !self.scanner.peek().is_some_and(is_word) => {
                Ok(Word { text: number.to_string(), span: self.scanner.span_from(start) })
            }
            Some(_) => {
                self.scanner.rewind(start);
                Err(self.scanner.unexpected("a key without quotes to begin with a letter"))
            }
            None if self.scanner.peek() == Some(',') => {
                Err(self.scanner.unexpected("a key: there are no commas between the pairs"))
            }
            None => self.name("a key, or `}`"),
        }
    }
}
