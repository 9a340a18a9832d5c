//! Parses operators by precedence; assignment binds loosest.

use super::{Parsed, Parser, rescued};
use crate::Problem;
use crate::scan::Token;
use crate::tree::{Call, Kind, Node, Part, Target, Variable};

/// Operators between two values, from the loosest to the tightest.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["<=>", "==", "===", "!=", "=~", "!~"],
    &["<", "<=", ">", ">="],
    &["|", "^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Operators behind which the body of a block begins.
const BODY_OPENERS: &[&str] = &["{", "|"];
/// Assignments that change a value.
const CHANGES: &[&str] =
    &["+=", "-=", "*=", "/=", "%=", "**=", "||=", "&&=", "<<=", ">>=", "|=", "&=", "^="];

/// The variable that holds where a search with named groups found something; no code can name it.
const SEARCHED: &str = " searched";

pub(super) fn call(receiver: Node, name: &str, arguments: Vec<Node>) -> Node {
    let at = receiver.at;
    let call = Call {
        receiver: Some(receiver),
        name: name.into(),
        arguments,
        block: None,
        passed: None,
        safe: false,
    };
    Node::new(at, Kind::Call(Box::new(call)))
}

impl Parser {
    /// `a = b`, or a value.
    pub(super) fn expression(&mut self) -> Parsed {
        let start = self.at;
        if self.is_operator("*") && self.is_list_of_targets() {
            let at = self.place();
            self.advance();
            let inner = self.primary()?;
            return Ok(Node::new(at, Kind::Splat(Box::new(inner))));
        }
        let left = self.ternary()?;
        let at = left.at;
        if self.is_operator("=") {
            self.advance();
            self.skip_newlines();
            let target = self.target(left)?;
            let value = self.assigned(&target, start)?;
            return Ok(Node::new(at, Kind::Assign(target, Box::new(value))));
        }
        let Token::Operator(operator) = self.peek() else { return Ok(left) };
        let Some(operator) = CHANGES.iter().find(|one| *one == operator) else { return Ok(left) };
        self.advance();
        self.skip_newlines();
        let target = self.target(left)?;
        let value = self.assigned(&target, start)?;
        let name = operator.trim_end_matches('=');
        Ok(Node::new(at, Kind::Change(target, name.into(), Box::new(value))))
    }

    /// What stands behind `=`: `a rescue b` belongs to it, and so does a list without brackets.
    fn assigned(&mut self, target: &Target, start: usize) -> Parsed {
        let single = matches!(target, Target::Local(_) | Target::Kept(_) | Target::Index(..));
        let at_start = start == 0
            || match &self.lexemes[start - 1].token {
                Token::Newline => true,
                Token::Operator(operator) => BODY_OPENERS.contains(operator),
                _ => false,
            };
        let value = match self.is_operator("*") {
            true => self.argument()?,
            false => self.nested(Self::expression)?,
        };
        let is_list =
            (single && at_start && self.is_operator(",")) || matches!(value.kind, Kind::Splat(_));
        let value = if is_list { self.listed(value)? } else { value };
        if !self.is_word("rescue") {
            return Ok(value);
        }
        self.advance();
        let at = value.at;
        let other = self.nested(Self::expression)?;
        Ok(Node::new(at, rescued(value, other)))
    }

    fn listed(&mut self, first: Node) -> Parsed {
        let at = first.at;
        let mut items = vec![first];
        while self.take_operator(",") {
            self.skip_newlines();
            items.push(self.argument()?);
        }
        Ok(Node::new(at, Kind::List(items)))
    }

    /// A value among others; `*a` spreads a list.
    pub(super) fn argument(&mut self) -> Parsed {
        let at = self.place();
        if self.take_operator("*") {
            let inner = self.nested(Self::ternary)?;
            return Ok(Node::new(at, Kind::Splat(Box::new(inner))));
        }
        if self.take_word("not") {
            let inner = self.nested(Self::expression)?;
            return Ok(Node::new(at, Kind::Not(Box::new(inner))));
        }
        self.nested(Self::expression)
    }

    /// `a ? b : c`
    pub(super) fn ternary(&mut self) -> Parsed {
        let condition = self.range()?;
        if !self.take_operator("?") {
            return Ok(condition);
        }
        let at = condition.at;
        self.skip_newlines();
        let then = self.nested(Self::expression)?;
        self.skip_newlines();
        if !self.take_operator(":") {
            return Err(Problem::new(self.place(), "the `:` of `?` is missing"));
        }
        self.skip_newlines();
        let otherwise = self.nested(Self::expression)?;
        let kind = Kind::If(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Node::new(at, kind))
    }

    fn range(&mut self) -> Parsed {
        if self.is_operator("..") || self.is_operator("...") {
            let (at, exclusive) = (self.place(), self.is_operator("..."));
            self.advance();
            let (left, right) = (Node::new(at, Kind::Nil), self.level(0)?);
            return Ok(Node::new(at, Kind::Range(Box::new(left), Box::new(right), exclusive)));
        }
        let left = self.level(0)?;
        let exclusive = self.is_operator("...");
        if !exclusive && !self.is_operator("..") {
            return Ok(left);
        }
        let at = left.at;
        self.advance();
        let open = matches!(self.peek(), Token::Operator("]" | ")") | Token::Newline | Token::End);
        let right = match open {
            true => Node::new(at, Kind::Nil),
            false => self.level(0)?,
        };
        Ok(Node::new(at, Kind::Range(Box::new(left), Box::new(right), exclusive)))
    }

    pub(super) fn level(&mut self, level: usize) -> Parsed {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        loop {
            let Token::Operator(operator) = self.peek() else { return Ok(left) };
            let Some(operator) = operators.iter().find(|one| *one == operator) else {
                return Ok(left);
            };
            self.chained(&left)?;
            self.advance();
            self.skip_newlines();
            let right = self.level(level + 1)?;
            let at = left.at;
            left = match *operator {
                "||" => Node::new(at, Kind::Or(Box::new(left), Box::new(right))),
                "&&" => Node::new(at, Kind::And(Box::new(left), Box::new(right))),
                "!=" => not(call(left, "==", vec![right])),
                "!~" => not(call(left, "=~", vec![right])),
                "=~" => self.named_search(left, right),
                operator => call(left, operator, vec![right]),
            };
        }
    }

    /// `/(?<a>b)/ =~ c`: the groups of a literal become variables.
    fn named_search(&mut self, left: Node, right: Node) -> Node {
        let at = left.at;
        let names = match &left.kind {
            Kind::Regex(pattern, _) => pattern.names(),
            _ => Vec::new(),
        };
        let search = call(left, "=~", vec![right]);
        if names.is_empty() {
            return search;
        }
        let node = |kind| Node::new(at, kind);
        let set = |name: &str, value| {
            node(Kind::Assign(Target::Local(Variable::named(name)), Box::new(value)))
        };
        let found = || node(Kind::Kept("$~".into()));
        let mut steps = vec![set(SEARCHED, search)];
        for (name, _) in names {
            self.declare(&name);
            let key = node(Kind::Text(vec![Part::Text(name.as_str().into())]));
            let part = call(found(), "[]", vec![key]);
            let nothing = Box::new(node(Kind::Nil));
            steps.push(set(&name, node(Kind::If(Box::new(found()), Box::new(part), nothing))));
        }
        steps.push(node(Kind::Local(Variable::named(SEARCHED))));
        node(Kind::Sequence(steps))
    }

    fn unary(&mut self) -> Parsed {
        let at = self.place();
        if self.is_operator("~") {
            self.advance();
            let inner = self.nested(Self::unary)?;
            return Ok(Node::new(at, call(inner, "~", Vec::new()).kind));
        }
        if self.take_operator("!") {
            let inner = self.nested(Self::unary)?;
            return Ok(not(inner));
        }
        if self.is_operator("-") {
            self.advance();
            // `-2 ** 2` is `-(2 ** 2)`.
            let is_power = matches!(self.ahead(1), Token::Operator("**"));
            let number = match self.peek() {
                _ if is_power => None,
                Token::Int(number) => Some(Kind::Int(-*number)),
                Token::Float(number) => Some(Kind::Float(-*number)),
                _ => None,
            };
            if let Some(kind) = number {
                self.advance();
                let node = self.postfix(Node::new(at, kind))?;
                return self.power(node);
            }
            let inner = self.nested(Self::unary)?;
            return Ok(call(inner, "-@", Vec::new()));
        }
        if self.take_operator("+") {
            return self.nested(Self::unary);
        }
        if self.is_word("defined?") {
            self.advance();
            let inner = match self.take_operator("(") {
                true => {
                    let inner = self.nested(Self::expression)?;
                    self.expect_operator(")")?;
                    inner
                }
                false => self.nested(Self::unary)?,
            };
            return self.postfix(Node::new(at, Kind::Defined(Box::new(inner))));
        }
        let base = self.primary()?;
        self.power(base)
    }

    fn power(&mut self, base: Node) -> Parsed {
        if !self.take_operator("**") {
            return Ok(base);
        }
        let exponent = self.nested(Self::unary)?;
        Ok(call(base, "**", vec![exponent]))
    }
}

fn not(node: Node) -> Node {
    Node::new(node.at, Kind::Not(Box::new(node)))
}
