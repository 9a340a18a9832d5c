//! The parser: from tokens to the tree. Statements are parsed here; operators and operands in
//! the submodules.
//!
//! Invariant: every node knows its position in the code.

mod block;
mod expression;
mod literal;
mod primary;

pub(super) use literal::{pattern, source, written};

use super::scan::{Lexeme, Token, scan};
use super::tree::{Kind, Node, Parameter, Rescue, Role, Target, Variable};
use super::{GIVEN, Problem};
use std::sync::Arc;

/// Code nests no deeper.
const NESTING_MAX: usize = 64;

/// Pieces of code that stand in each other, each link of a chain of operators or calls among them.
const HEIGHT_MAX: usize = 500;

/// With less of the stack left, in bytes, it grows.
const STACK_LEFT_MIN: usize = 256 << 10;
/// Bytes by which the stack grows.
const STACK_GROWTH: usize = 1 << 20;
/// Operators of defaults bind tighter than the `|` behind the parameters of a block.
const LEVEL_OF_DEFAULTS: usize = 5;
/// Words that end a body.
const ENDS: &[&str] = &["end", "else", "elsif", "when", "rescue", "ensure", "then", "in"];
/// The variable of a parameter `*`; no code can name it.
const UNNAMED: &str = " unnamed";
/// Words that are no names of variables.
const KEYWORDS: &[&str] = &[
    "if", "unless", "while", "until", "and", "or", "not", "do", "end", "else", "elsif", "when",
    "then", "rescue", "ensure", "in", "case", "begin", "def", "return", "next", "break", "nil",
    "true", "false", "self", "yield", "class", "module", "for", "redo", "retry", "super", "alias",
    "undef", "BEGIN", "END",
];

pub(super) fn parse(code: &str) -> Parsed {
    let known = GIVEN.iter().map(|name| Arc::from(*name)).collect();
    let mut parser = Parser::new(scan(code, 0)?, known);
    let body = parser.body()?;
    match parser.peek() {
        Token::End => Ok(body),
        _ => Err(parser.unexpected()),
    }
}

struct Parser {
    lexemes: Vec<Lexeme>,
    at: usize,
    /// Variables that were assigned so far: their names take no arguments.
    locals: Vec<Arc<str>>,
    depth: usize,
    /// Whether `do` belongs to a loop around.
    no_do: bool,
    /// In a block: how many of `_1` and `_2` were seen in it.
    numbered: Option<usize>,
}

type Parsed = Result<Node, Problem>;

impl Parser {
    fn new(lexemes: Vec<Lexeme>, locals: Vec<Arc<str>>) -> Self {
        Self { lexemes, at: 0, locals, depth: 0, no_do: false, numbered: None }
    }

    fn lexeme(&self) -> &Lexeme {
        &self.lexemes[self.at]
    }

    fn peek(&self) -> &Token {
        &self.lexemes[self.at].token
    }

    fn ahead(&self, count: usize) -> &Token {
        &self.lexemes[(self.at + count).min(self.lexemes.len() - 1)].token
    }

    fn place(&self) -> usize {
        self.lexeme().at
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.lexemes.len() - 1);
        token
    }

    fn is_operator(&self, operator: &str) -> bool {
        matches!(self.peek(), Token::Operator(found) if *found == operator)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(found) if found == word)
    }

    fn take_operator(&mut self, operator: &str) -> bool {
        let found = self.is_operator(operator);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn skip_newlines(&mut self) {
        while *self.peek() == Token::Newline {
            self.advance();
        }
    }

    fn expect_operator(&mut self, operator: &str) -> Result<(), Problem> {
        self.skip_newlines_before(operator);
        if self.take_operator(operator) {
            return Ok(());
        }
        Err(Problem::new(self.place(), format!("`{operator}` is missing")))
    }

    /// Brackets may be closed on a line of their own.
    fn skip_newlines_before(&mut self, operator: &str) {
        if matches!(operator, ")" | "]" | "}") {
            self.skip_newlines();
        }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Problem> {
        if self.take_word(word) {
            return Ok(());
        }
        Err(Problem::new(self.place(), format!("`{word}` is missing")))
    }

    fn unexpected(&self) -> Problem {
        let found = match self.peek() {
            Token::Name(name) | Token::Constant(name) | Token::Kept(name) => format!("`{name}`"),
            Token::Operator(operator) => format!("`{operator}`"),
            Token::Newline => "the end of the line".to_string(),
            Token::End => "the end of the code".to_string(),
            _ => "this value".to_string(),
        };
        Problem::new(self.place(), format!("{found} is not expected here"))
    }

    fn declare(&mut self, name: &str) -> Variable {
        match self.locals.iter().find(|known| &***known == name) {
            Some(known) => Variable::named(known.clone()),
            None => {
                let name: Arc<str> = name.into();
                self.locals.push(name.clone());
                Variable::named(name)
            }
        }
    }

    fn is_local(&self, name: &str) -> bool {
        self.locals.iter().any(|known| &**known == name)
    }

    /// What is chained to `node` must not make it too high for those who go through the tree.
    fn chained(&self, node: &Node) -> Result<(), Problem> {
        if node.height() < HEIGHT_MAX {
            return Ok(());
        }
        let message = format!("this chains more than {HEIGHT_MAX} operators or calls");
        Err(Problem::new(self.place(), message))
    }

    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if self.depth >= NESTING_MAX {
            let message = format!("nested deeper than {NESTING_MAX} levels");
            return Err(Problem::new(self.place(), message));
        }
        self.depth += 1;
        let result = stacker::maybe_grow(STACK_LEFT_MIN, STACK_GROWTH, || parse(self));
        self.depth -= 1;
        result
    }

    /// Statements up to a word or bracket that ends them.
    fn body(&mut self) -> Parsed {
        let at = self.place();
        let outer = std::mem::replace(&mut self.no_do, false);
        let mut statements = Vec::new();
        loop {
            self.skip_newlines();
            match self.peek() {
                Token::End | Token::Operator("}" | ")") => break,
                Token::Name(name) if ENDS.contains(&name.as_str()) => break,
                _ => {}
            }
            statements.push(self.nested(Self::statement)?);
            match self.peek() {
                Token::Newline | Token::End | Token::Operator("}" | ")") => {}
                Token::Name(name) if ENDS.contains(&name.as_str()) => {}
                _ => return Err(self.unexpected()),
            }
        }
        self.no_do = outer;
        Ok(match statements.len() {
            1 => statements.remove(0),
            _ => Node::new(at, Kind::Sequence(statements)),
        })
    }

    /// `a if b`
    fn statement(&mut self) -> Parsed {
        let mut node = self.logic()?;
        loop {
            let at = self.place();
            let Token::Name(word) = self.peek() else { return Ok(node) };
            let word = word.clone();
            if !matches!(word.as_str(), "if" | "unless" | "while" | "until" | "rescue") {
                return Ok(node);
            }
            self.chained(&node)?;
            self.advance();
            let other = Box::new(self.logic()?);
            let nothing = Box::new(Node::new(at, Kind::Nil));
            let first_body = matches!(node.kind, Kind::Begin(..));
            let kind = match word.as_str() {
                "if" => Kind::If(other, Box::new(node), nothing),
                "unless" => Kind::If(other, nothing, Box::new(node)),
                "while" => Kind::While(other, Box::new(node), first_body),
                "until" => Kind::While(Box::new(negated(*other)), Box::new(node), first_body),
                _ => rescued(node, *other),
            };
            node = Node::new(at, kind);
        }
    }

    /// `a and b or c`
    fn logic(&mut self) -> Parsed {
        let mut left = self.negation()?;
        loop {
            let at = self.place();
            self.chained(&left)?;
            if self.take_word("and") {
                self.skip_newlines();
                let right = self.negation()?;
                left = Node::new(at, Kind::And(Box::new(left), Box::new(right)));
            } else if self.take_word("or") {
                self.skip_newlines();
                let right = self.negation()?;
                left = Node::new(at, Kind::Or(Box::new(left), Box::new(right)));
            } else {
                return Ok(left);
            }
        }
    }

    fn negation(&mut self) -> Parsed {
        let at = self.place();
        if self.take_word("not") {
            let inner = self.nested(Self::negation)?;
            return Ok(Node::new(at, Kind::Not(Box::new(inner))));
        }
        let first = self.nested(Self::expression)?;
        if !self.is_operator(",") || !self.is_list_of_targets() {
            return Ok(first);
        }
        self.assign_all(first)
    }

    /// Whether what follows up to `=` are targets.
    fn is_list_of_targets(&self) -> bool {
        let mut depth = 0;
        for lexeme in &self.lexemes[self.at..] {
            match lexeme.token {
                Token::Operator("(" | "[" | "{") => depth += 1,
                Token::Operator(")" | "]" | "}") if depth == 0 => return false,
                Token::Operator(")" | "]" | "}") => depth -= 1,
                Token::Operator("=") if depth == 0 => return true,
                Token::Newline | Token::End => return false,
                _ => {}
            }
        }
        false
    }

    fn assign_all(&mut self, first: Node) -> Parsed {
        let at = first.at;
        let mut targets = vec![self.target(first)?];
        while self.take_operator(",") {
            if self.is_operator("=") {
                break;
            }
            targets.push(self.one_of_targets()?);
        }
        self.expect_operator("=")?;
        self.skip_newlines();
        let value = self.values()?;
        Ok(Node::new(at, Kind::AssignAll(targets, Box::new(value))))
    }

    /// `a`, `*a`, `(a, b)` among targets.
    fn one_of_targets(&mut self) -> Result<Target, Problem> {
        if self.take_operator("*") {
            let node = self.primary()?;
            return Ok(Target::Rest(Box::new(self.target(node)?)));
        }
        if self.take_operator("(") {
            let mut inner = vec![self.one_of_targets()?];
            while self.take_operator(",") {
                inner.push(self.one_of_targets()?);
            }
            self.expect_operator(")")?;
            return Ok(Target::Group(inner));
        }
        let node = self.primary()?;
        self.target(node)
    }

    /// `a, b` behind `=`: a list.
    fn values(&mut self) -> Parsed {
        let at = self.place();
        let first = self.argument()?;
        if !self.is_operator(",") && !matches!(first.kind, Kind::Splat(_)) {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take_operator(",") {
            self.skip_newlines();
            items.push(self.argument()?);
        }
        Ok(Node::new(at, Kind::List(items)))
    }

    fn target(&mut self, node: Node) -> Result<Target, Problem> {
        Ok(match node.kind {
            Kind::Local(variable) => Target::Local(self.declare(&variable.name)),
            Kind::Kept(name) => Target::Kept(name),
            Kind::Constant(name) => Target::Kept(name),
            Kind::Splat(inner) => Target::Rest(Box::new(self.target(*inner)?)),
            Kind::Call(call) => match (&*call.name, call.receiver) {
                ("[]", Some(receiver)) => Target::Index(Box::new(receiver), call.arguments),
                (_, Some(receiver)) if call.arguments.is_empty() => {
                    Target::Attribute(Box::new(receiver), call.name)
                }
                (_, None) if call.arguments.is_empty() && call.block.is_none() => {
                    Target::Local(self.declare(&call.name))
                }
                _ => return Err(Problem::new(node.at, "this cannot be assigned to")),
            },
            _ => return Err(Problem::new(node.at, "this cannot be assigned to")),
        })
    }

    /// The parts behind `begin`, and behind the head of `def`, up to `end`.
    fn guarded(&mut self, at: usize) -> Parsed {
        let body = self.body()?;
        let mut rescues = Vec::new();
        while self.take_word("rescue") {
            rescues.push(self.rescue()?);
        }
        let otherwise = match self.take_word("else") {
            true => Some(Box::new(self.body()?)),
            false => None,
        };
        let ensure = match self.take_word("ensure") {
            true => Some(Box::new(self.body()?)),
            false => None,
        };
        self.expect_word("end")?;
        if rescues.is_empty() && otherwise.is_none() && ensure.is_none() {
            // Kept as such, because `begin … end while` runs its body first.
            return Ok(Node::new(at, Kind::Begin(Box::new(body), rescues, None, None)));
        }
        Ok(Node::new(at, Kind::Begin(Box::new(body), rescues, otherwise, ensure)))
    }

    fn rescue(&mut self) -> Result<Rescue, Problem> {
        let mut classes = Vec::new();
        while !matches!(self.peek(), Token::Newline | Token::Operator("=>"))
            && !self.is_word("then")
        {
            classes.push(self.argument()?);
            if !self.take_operator(",") {
                break;
            }
        }
        let mut name = None;
        if self.take_operator("=>") {
            let Token::Name(word) = self.advance() else { return Err(self.unexpected()) };
            name = Some(self.declare(&word));
        }
        let _ = self.take_word("then");
        Ok(Rescue { classes, name, body: self.body()? })
    }

    /// `a, b = 1, *c` between `|` or parentheses.
    fn parameters(&mut self, close: &str) -> Result<Vec<Parameter>, Problem> {
        let parameters = self.parameters_up_to(&[close])?;
        self.expect_operator(close)?;
        Ok(parameters)
    }

    fn parameters_up_to(&mut self, ends: &[&str]) -> Result<Vec<Parameter>, Problem> {
        let mut parameters = Vec::new();
        while !ends.iter().any(|end| self.is_operator(end)) {
            if ends.len() == 1 {
                self.skip_newlines();
            }
            parameters.push(self.full_parameter()?);
            if !self.take_operator(",") {
                break;
            }
        }
        Ok(parameters)
    }

    /// `a`, `a = 1`, `a: 1`, `*a`, `**a`, `&a`
    fn full_parameter(&mut self) -> Result<Parameter, Problem> {
        if let Token::Label(name) = self.peek().clone() {
            self.advance();
            let target = Target::Local(self.declare(&name));
            let ends = matches!(self.peek(), Token::Operator("," | ")" | "|") | Token::Newline);
            let default = if ends { None } else { Some(self.nested(Self::ternary)?) };
            return Ok(Parameter { target, default, role: Role::Key });
        }
        let role = match () {
            () if self.take_operator("**") => Role::Keys,
            () if self.take_operator("&") => Role::Block,
            () => Role::Position,
        };
        let target = self.parameter()?;
        let default = match self.take_operator("=") {
            true => Some(self.nested(|parser| parser.level(LEVEL_OF_DEFAULTS))?),
            false => None,
        };
        Ok(Parameter { target, default, role })
    }

    fn parameter(&mut self) -> Result<Target, Problem> {
        if self.take_operator("*") {
            if matches!(self.peek(), Token::Operator("," | ")" | "|")) {
                return Ok(Target::Rest(Box::new(Target::Local(self.declare(UNNAMED)))));
            }
            return Ok(Target::Rest(Box::new(self.parameter()?)));
        }
        if self.take_operator("(") {
            let inner = self.parameters(")")?;
            return Ok(Target::Group(inner.into_iter().map(|one| one.target).collect()));
        }
        match self.advance() {
            Token::Name(name) => Ok(Target::Local(self.declare(&name))),
            _ => {
                self.at = self.at.saturating_sub(1);
                Err(self.unexpected())
            }
        }
    }
}

fn negated(node: Node) -> Node {
    Node::new(node.at, Kind::Not(Box::new(node)))
}

fn rescued(node: Node, other: Node) -> Kind {
    let rescue = Rescue { classes: Vec::new(), name: None, body: other };
    Kind::Begin(Box::new(node), vec![rescue], None, None)
}
