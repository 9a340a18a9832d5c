//! Parses code that is handed over or defined: blocks, lambdas, methods and classes.

use super::{Parsed, Parser};
use crate::Problem;
use crate::scan::Token;
use crate::tree::{Block, Kind, Node, Parameter, Role, Target, Variable};
use std::sync::Arc;

impl Parser {
    /// `{ |a| b }`
    pub(super) fn braces(&mut self) -> Result<Arc<Block>, Problem> {
        self.advance();
        let parameters = self.block_parameters()?;
        let outer = self.numbered.replace(0);
        let body = self.nested(Self::body)?;
        self.expect_operator("}")?;
        Ok(Arc::new(self.block(parameters, body, outer)))
    }

    /// A block; without parameters, `_1` and `_2` in its body are them.
    pub(super) fn block(
        &mut self,
        mut parameters: Vec<Parameter>,
        body: Node,
        outer: Option<usize>,
    ) -> Block {
        let used = std::mem::replace(&mut self.numbered, outer).unwrap_or(0);
        if parameters.is_empty() {
            let numbered = |name: &&str| Parameter {
                target: Target::Local(Variable::named(*name)),
                default: None,
                role: Role::Position,
            };
            parameters = ["_1", "_2"].iter().take(used).map(numbered).collect();
        }
        Block { parameters, body, slots: 0 }
    }

    /// `do |a| b end`
    pub(super) fn do_block(&mut self) -> Result<Arc<Block>, Problem> {
        let at = self.place();
        self.advance();
        let parameters = self.block_parameters()?;
        let outer = self.numbered.replace(0);
        let body = self.nested(|parser| parser.guarded(at))?;
        Ok(Arc::new(self.block(parameters, body, outer)))
    }

    pub(super) fn block_parameters(&mut self) -> Result<Vec<Parameter>, Problem> {
        self.skip_newlines();
        if self.take_operator("||") || !self.take_operator("|") {
            return Ok(Vec::new());
        }
        let mut parameters = Vec::new();
        if self.peek() != &Token::Newline {
            parameters = self.parameters_up_to(&["|", ";"])?;
        }
        // `|a; b|`: `b` is a variable of the block, whatever there is around.
        if *self.peek() == Token::Newline {
            self.advance();
            while let Token::Name(name) = self.peek().clone() {
                self.advance();
                let target = Target::Local(self.declare(&name));
                parameters.push(Parameter { target, default: None, role: Role::Own });
                let _ = self.take_operator(",");
            }
        }
        self.expect_operator("|")?;
        Ok(parameters)
    }

    /// `->(a) { b }`, `lambda { |a| b }`
    pub(super) fn lambda(&mut self, at: usize) -> Parsed {
        let mut parameters = Vec::new();
        if self.take_operator("(") {
            parameters = self.parameters(")")?;
        } else if matches!(self.peek(), Token::Name(name) if name != "do") {
            parameters.push(self.full_parameter()?);
            while self.take_operator(",") {
                parameters.push(self.full_parameter()?);
            }
        }
        let block = match self.is_operator("{") {
            true => self.braces()?,
            false if self.is_word("do") => self.do_block()?,
            false => return Err(self.unexpected()),
        };
        let block = match Arc::try_unwrap(block) {
            Ok(block) if block.parameters.is_empty() => {
                Arc::new(Block { parameters, body: block.body, slots: 0 })
            }
            Ok(block) => Arc::new(block),
            Err(shared) => shared,
        };
        Ok(Node::new(at, Kind::Lambda(block)))
    }

    pub(super) fn define(&mut self, at: usize) -> Parsed {
        let own = self.take_word("self");
        if own {
            self.expect_operator(".")?;
        }
        let name = self.defined_name()?;
        let outer = std::mem::take(&mut self.locals);
        let parameters = if self.take_operator("(") {
            self.parameters(")")?
        } else {
            let mut bare = Vec::new();
            while !matches!(self.peek(), Token::Newline | Token::Operator("=")) {
                bare.push(self.full_parameter()?);
                if !self.take_operator(",") {
                    break;
                }
            }
            bare
        };
        // `def a(b) = c`
        let body = match self.take_operator("=") {
            true => self.nested(Self::statement)?,
            false => self.nested(|parser| parser.guarded(at))?,
        };
        self.locals = outer;
        let block = Arc::new(Block { parameters, body, slots: 0 });
        Ok(Node::new(at, Kind::Define(name.into(), block, own)))
    }

    /// `a`, `a=`, `<=>`, `[]`
    pub(super) fn defined_name(&mut self) -> Result<String, Problem> {
        match self.advance() {
            Token::Name(name) | Token::Constant(name) => {
                let sets = self.is_operator("=") && !self.lexeme().space;
                if sets && matches!(self.ahead(1), Token::Operator("(") | Token::Name(_)) {
                    self.advance();
                    return Ok(format!("{name}="));
                }
                Ok(name)
            }
            Token::Operator("[") if self.take_operator("]") => {
                let sets = self.is_operator("=") && !self.lexeme().space;
                Ok(if sets && self.take_operator("=") { "[]=" } else { "[]" }.to_string())
            }
            Token::Operator(operator) => Ok(operator.to_string()),
            _ => {
                self.at = self.at.saturating_sub(1);
                Err(self.unexpected())
            }
        }
    }

    /// `class A < B … end`, `module A … end`
    pub(super) fn class(&mut self, at: usize, word: &str) -> Parsed {
        if self.is_operator("<<") {
            return Err(Problem::new(at, "`class << self` is not known here; `def self.name` is"));
        }
        let Token::Constant(mut name) = self.advance() else { return Err(self.unexpected()) };
        while self.take_operator("::") {
            let Token::Constant(inner) = self.advance() else { return Err(self.unexpected()) };
            name = format!("{name}::{inner}");
        }
        let above = match word == "class" && self.take_operator("<") {
            true => Some(Box::new(self.nested(Self::expression)?)),
            false => None,
        };
        let outer = std::mem::take(&mut self.locals);
        let body = self.nested(|parser| parser.guarded(at))?;
        self.locals = outer;
        let body = Arc::new(Block { parameters: Vec::new(), body, slots: 0 });
        Ok(Node::new(at, Kind::Class(name.into(), above, body)))
    }
}
