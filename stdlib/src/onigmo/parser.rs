//! Parses a Ruby regular expression into a tree.
//!
//! Invariant: nesting is bounded by `NESTING_MAX`, so no pattern can exhaust the stack.

mod escape;
mod rare;
mod set;

use super::class;
use super::error::OnigmoError;
use super::syntax::{Assertion, Greed, Label, Node, Options};

/// Deepest nesting of groups and sets.
pub(crate) const NESTING_MAX: usize = 128;
/// Largest count in `{n,m}`; Onigmo's own limit.
const REPEAT_MAX: u32 = 100_000;
/// What a reference to a named pattern begins with.
const REFERENCE: &str = "%{";
/// What stands around counts, properties and codes: `a{2}`, `\p{Alpha}`, `\u{e9}`.
const OPEN: &str = "{";
const CLOSE: &str = "}";

/// What the parser asks when it meets `%{…}`.
pub(crate) trait References {
    /// The error that resolving can end in; parse errors convert into it.
    type Error: From<OnigmoError>;

    /// Reads the reference that `rest` starts with: its length in bytes and its tree, or `None`
    /// when this is no reference and the text stands for itself.
    fn resolve(
        &mut self,
        rest: &str,
        place: ParserPosition,
    ) -> Result<Option<(usize, Node)>, Self::Error>;
}

/// Where the parser is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParserPosition {
    /// Byte offset in the text.
    pub offset: usize,
    /// Open groups around it.
    pub depth: usize,
}

/// A plain pattern, in which `%{` has no meaning of its own.
pub(crate) struct NoReferences;

impl References for NoReferences {
    type Error = OnigmoError;

    fn resolve(
        &mut self,
        _: &str,
        _: ParserPosition,
    ) -> Result<Option<(usize, Node)>, OnigmoError> {
        Ok(None)
    }
}

/// The state of one parse.
pub(crate) struct Parser<'a, R> {
    text: &'a str,
    at: usize,
    depth: usize,
    deepest: usize,
    flags: Options,
    /// Whether groups may be called.
    calls: bool,
    references: &'a mut R,
}

impl<'a, R: References> Parser<'a, R> {
    /// A parser over `text`.
    pub(crate) fn new(text: &'a str, options: Options, references: &'a mut R) -> Self {
        Self { text, at: 0, depth: 0, deepest: 0, flags: options, calls: false, references }
    }

    /// Reads calls of groups, which the caller has to replace.
    pub(crate) fn with_calls(mut self) -> Self {
        self.calls = true;
        self
    }

    /// Counts the text as lying `depth` groups deep already.
    pub(crate) fn within(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Parses the whole text.
    pub(crate) fn parse(self) -> Result<Node, R::Error> {
        self.parse_part().map(|(node, _)| node)
    }

    /// Parses the whole text; also tells how deep groups nest in it.
    pub(crate) fn parse_part(mut self) -> Result<(Node, usize), R::Error> {
        let around = self.depth;
        let node = self.alternation()?;
        if self.at < self.text.len() {
            return Err(self.error("unmatched `)`; write `\\)` for the character").into());
        }
        Ok((node, self.deepest - around))
    }

    fn place(&self) -> ParserPosition {
        ParserPosition { offset: self.at, depth: self.depth }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    fn error(&self, message: impl Into<String>) -> OnigmoError {
        OnigmoError::new(self.at, message)
    }

    fn enter(&mut self) -> Result<(), OnigmoError> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        if self.depth > NESTING_MAX {
            return Err(self.error(format!("groups nest deeper than {NESTING_MAX}")));
        }
        Ok(())
    }

    fn alternation(&mut self) -> Result<Node, R::Error> {
        self.enter()?;
        let flags = self.flags;
        let mut branches = vec![self.sequence()?];
        while self.eat("|") {
            branches.push(self.sequence()?);
        }
        self.flags = flags;
        self.depth -= 1;
        Ok(Node::alternate(branches))
    }

    fn sequence(&mut self) -> Result<Node, R::Error> {
        let mut items = Vec::new();
        loop {
            self.skip_extended();
            match self.peek() {
                None | Some('|' | ')') => break,
                Some('%') if self.rest().starts_with(REFERENCE) => {
                    let resolved = self.references.resolve(self.rest(), self.place())?;
                    let (length, node) = resolved.unwrap_or((1, Node::Char('%')));
                    if let Some(part) = node.shared() {
                        self.deepest = self.deepest.max(self.depth + part.depth);
                    }
                    self.at += length;
                    items.push(self.quantified(node)?);
                }
                Some(_) => {
                    let atom = self.atom()?;
                    items.push(self.quantified(atom)?);
                }
            }
        }
        Ok(Node::concat(items))
    }

    fn skip_extended(&mut self) {
        while self.flags.extended {
            match self.peek() {
                Some(c) if c.is_ascii_whitespace() => self.at += 1,
                Some('#') => {
                    let length = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.at += length;
                }
                _ => break,
            }
        }
    }

    fn atom(&mut self) -> Result<Node, R::Error> {
        let start = self.at;
        let Some(c) = self.bump() else { return Ok(Node::Empty) };
        Ok(match c {
            '(' => return self.group(start),
            '[' => Node::Class(self.set()?),
            '.' => Node::Class(class::dot(self.flags.dot_matches_newline)),
            '^' if self.flags.line_anchors => Node::Assert(Assertion::StartLine),
            '^' => Node::Assert(Assertion::StartText),
            '$' if self.flags.line_anchors => Node::Assert(Assertion::EndLine),
            '$' => Node::Assert(Assertion::EndText),
            '\\' => return Ok(self.escape()?),
            '*' | '+' | '?' => {
                let message = format!("nothing to repeat before `{c}`; write `\\{c}`");
                return Err(OnigmoError::new(start, message).into());
            }
            c => self.literal(c),
        })
    }

    /// One character, in both cases when the case is ignored.
    fn literal(&self, c: char) -> Node {
        if !self.flags.ignore_case {
            return Node::Char(c);
        }
        let class = class::fold(class::ranges(&[(c, c)]));
        if class.ranges().len() == 1 && class.ranges()[0].len() == 1 {
            return Node::Char(c);
        }
        Node::Class(class)
    }

    fn quantified(&mut self, mut node: Node) -> Result<Node, R::Error> {
        loop {
            self.skip_extended();
            let start = self.at;
            let Some((min, max, interval)) = self.quantifier()? else { return Ok(node) };
            if max.is_some_and(|max| max < min) {
                return Err(OnigmoError::new(start, "the counts in `{n,m}` are reversed").into());
            }
            let fixed = interval && max == Some(min);
            // Ruby reads `a{3}?` as `(?:a{3})?`, which the next turn of the loop does.
            let lazy = !fixed && self.eat("?");
            // Ruby has `a*+`, but reads `a{1,2}+` as `(?:a{1,2})+`.
            let possessive = !interval && !lazy && self.eat("+");
            let greed = if lazy { Greed::Lazy } else { Greed::Greedy };
            node = Node::Repeat { body: Box::new(node), min, max, greed };
            if possessive {
                node = Node::Atomic(Box::new(node));
            }
        }
    }

    /// The quantifier here, if there is one: counts, and whether it was written in braces.
    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>, bool)>, OnigmoError> {
        let simple = match self.peek() {
            Some('*') => (0, None, false),
            Some('+') => (1, None, false),
            Some('?') => (0, Some(1), false),
            _ if self.rest().starts_with(OPEN) => return self.interval(),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(simple))
    }

    fn interval(&mut self) -> Result<Option<(u32, Option<u32>, bool)>, OnigmoError> {
        let Some(close) = self.rest().find(CLOSE) else { return Ok(None) };
        let inner = &self.rest()[1..close];
        let (low, high) = inner.split_once(',').unwrap_or((inner, inner));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if !digits(low) || !digits(high) || (low.is_empty() && high.is_empty()) {
            return Ok(None);
        }
        let count = |text: &str| match text.parse::<u32>() {
            Ok(count) if count <= REPEAT_MAX => Ok(count),
            _ => Err(self.error(format!("a repeat count is at most {REPEAT_MAX}"))),
        };
        let min = if low.is_empty() { 0 } else { count(low)? };
        let max = if high.is_empty() { None } else { Some(count(high)?) };
        self.at += close + 1;
        Ok(Some((min, max, true)))
    }

    fn group(&mut self, start: usize) -> Result<Node, R::Error> {
        if !self.eat("?") {
            let body = Box::new(self.group_body(start)?);
            return Ok(Node::Capture { label: Label::Unnamed, body });
        }
        if self.eat("#") {
            let Some(close) = self.rest().find(')') else {
                return Err(OnigmoError::new(start, "this comment has no `)`").into());
            };
            self.at += close + 1;
            return Ok(Node::Empty);
        }
        for (opening, behind, negative) in
            [("=", false, false), ("!", false, true), ("<=", true, false), ("<!", true, true)]
        {
            if self.eat(opening) {
                let body = Box::new(self.group_body(start)?);
                return Ok(Node::Look { behind, negative, body });
            }
        }
        if self.eat(":") {
            return self.group_body(start);
        }
        if self.eat(">") {
            return Ok(Node::Atomic(Box::new(self.group_body(start)?)));
        }
        if self.eat("P<") || self.eat("<") {
            return self.named_group(start, '>');
        }
        if self.eat("'") {
            return self.named_group(start, '\'');
        }
        if self.eat("~") {
            return self.absent(start);
        }
        if self.eat("(") {
            return self.condition(start);
        }
        self.flag_group(start)
    }

    fn named_group(&mut self, start: usize, close: char) -> Result<Node, R::Error> {
        let Some(length) = self.rest().find(close) else {
            return Err(OnigmoError::new(start, format!("this group name has no `{close}`")).into());
        };
        let name = &self.rest()[..length];
        if name.is_empty() || name.contains(['(', ')']) {
            return Err(
                OnigmoError::new(start, "a group name is needed, as in `(?<name>…)`").into()
            );
        }
        self.at += length + close.len_utf8();
        let body = Box::new(self.group_body(start)?);
        Ok(Node::Capture { label: Label::Named(name.to_string()), body })
    }

    fn group_body(&mut self, start: usize) -> Result<Node, R::Error> {
        let body = self.alternation()?;
        if !self.eat(")") {
            return Err(OnigmoError::new(start, "this `(` has no matching `)`").into());
        }
        Ok(body)
    }

    /// `(?im-x)` for the rest of the enclosing group, alternatives included, or `(?im-x:…)`.
    fn flag_group(&mut self, start: usize) -> Result<Node, R::Error> {
        let saved = self.flags;
        let mut on = true;
        loop {
            match self.bump() {
                Some('-') => on = false,
                Some('i') => self.flags.ignore_case = on,
                Some('m') => self.flags.dot_matches_newline = on,
                Some('x') => self.flags.extended = on,
                Some('a' | 'd') if on => self.flags.unicode_classes = false,
                Some('u') if on => self.flags.unicode_classes = true,
                Some(':') => {
                    let body = self.group_body(start);
                    self.flags = saved;
                    return body;
                }
                Some(')') => {
                    let rest = self.alternation();
                    self.flags = saved;
                    return rest;
                }
                _ => {
                    let message = "unknown group; known are `(?:`, `(?<name>`, `(?>`, `(?=`, \
                                   `(?!`, `(?<=`, `(?<!`, `(?~`, `(?(1)`, `(?#` and the flags i, m, x, a, d, u";
                    return Err(OnigmoError::new(start, message).into());
                }
            }
        }
    }
}
