//! Parses operands: names, literals, calls, and everything between a keyword and its `end`.

use super::{KEYWORDS, Parsed, Parser};
use crate::Problem;
use crate::scan::{Piece, Token};
use crate::tree::{Call, Kind, Node, Part, Target, Variable};
use temblor_logstash_event::reference::FieldRef;

/// Operators that may be called by their names.
const NAMED_OPERATORS: &[&str] =
    &["+", "-", "*", "/", "%", "**", "==", "<=>", "<", ">", "<=", ">=", "<<", "=~", "&", "|", "!"];

impl Parser {
    pub(super) fn primary(&mut self) -> Parsed {
        let node = self.nested(Self::start)?;
        self.postfix(node)
    }

    fn start(&mut self) -> Parsed {
        let at = self.place();
        let kind = match self.advance() {
            Token::Int(number) => Kind::Int(number),
            Token::Number(text) => Kind::Number(text.into()),
            Token::Float(number) => Kind::Float(number),
            Token::Text(mut pieces) => {
                // Texts beside each other are one.
                while let Token::Text(more) = self.peek() {
                    pieces.extend(more.clone());
                    self.advance();
                }
                if let [Piece::Text(text)] = pieces.as_slice() {
                    Kind::Text(vec![Part::Text(text.as_str().into())])
                } else {
                    Kind::Text(self.parts(pieces)?)
                }
            }
            Token::Symbol(name) => Kind::Symbol(name.into()),
            Token::Regex(pieces, flags) => return self.regex(at, pieces, &flags),
            Token::Words(words, symbols) => {
                let mut nodes = Vec::with_capacity(words.len());
                for word in words {
                    let kind = match word.as_slice() {
                        [Piece::Text(word)] if symbols => Kind::Symbol(word.as_str().into()),
                        _ => Kind::Text(self.parts(word)?),
                    };
                    nodes.push(Node::new(at, kind));
                }
                Kind::List(nodes)
            }
            Token::Kept(name) => Kind::Kept(name.into()),
            Token::Constant(name) => return self.constant(at, name),
            Token::Name(name) => return self.word(at, &name),
            Token::Operator("[") => return self.list(at),
            Token::Operator("{") => return self.hash(at),
            Token::Operator("(") => {
                let body = self.body()?;
                self.expect_operator(")")?;
                return Ok(body);
            }
            Token::Operator("->") => return self.lambda(at),
            Token::Operator("::") => return self.start(),
            _ => {
                self.at = self.at.saturating_sub(1);
                return Err(self.unexpected());
            }
        };
        Ok(Node::new(at, kind))
    }

    fn constant(&mut self, at: usize, mut name: String) -> Parsed {
        while self.is_operator("::")
            && let Token::Constant(next) = self.ahead(1)
        {
            // `A::B(…)` is a call.
            if matches!(self.ahead(2), Token::Operator("(")) && next == "Integer" {
                break;
            }
            name = format!("{name}::{next}");
            self.advance();
            self.advance();
        }
        if self.is_operator("(") && !self.lexeme().space {
            return self.call(at, None, name, false);
        }
        Ok(Node::new(at, Kind::Constant(name.into())))
    }

    fn word(&mut self, at: usize, name: &str) -> Parsed {
        let kind = match name {
            "nil" => Kind::Nil,
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "self" => Kind::Itself,
            "retry" => Kind::Retry,
            "if" => return self.branch(at, false),
            "unless" => return self.branch(at, true),
            "while" | "until" => return self.repetition(at, name == "until"),
            "for" => return self.iteration(at),
            "case" => return self.case(at),
            "begin" => return self.guarded(at),
            "def" => return self.define(at),
            "class" | "module" => return self.class(at, name),
            "super" => return self.super_call(at),
            "return" | "next" | "break" => return self.jump(at, name),
            "lambda" if self.is_operator("{") || self.is_word("do") => {
                return self.lambda(at);
            }
            "then" | "do" | "end" | "redo" | "alias" | "undef" | "BEGIN" | "END" => {
                return Err(Problem::new(at, format!("`{name}` is not known here")));
            }
            "_1" | "_2" if self.numbered.is_some() => {
                let number = if name == "_2" { 2 } else { 1 };
                self.numbered = self.numbered.max(Some(number));
                Kind::Local(Variable::named(name))
            }
            _ if self.is_local(name) && (self.lexeme().space || !self.is_operator("(")) => {
                Kind::Local(Variable::named(name))
            }
            _ => return self.call(at, None, name.to_string(), false),
        };
        Ok(Node::new(at, kind))
    }

    /// `.a`, `[b]`, `&.c` behind a value.
    pub(super) fn postfix(&mut self, mut node: Node) -> Parsed {
        loop {
            self.chained(&node)?;
            let at = node.at;
            if self.is_operator(".") || self.is_operator("&.") || self.is_operator("::") {
                let safe = self.is_operator("&.");
                self.advance();
                self.skip_newlines();
                let name = match self.advance() {
                    Token::Name(name) | Token::Constant(name) => name,
                    // `a.b ? c: d` reads `b` as a name anyway.
                    Token::Operator("(") => {
                        self.at -= 1;
                        "call".to_string()
                    }
                    // `a.[](0)`, `a.+(1)`
                    Token::Operator("[") if self.take_operator("]") => "[]".to_string(),
                    Token::Operator(operator) if NAMED_OPERATORS.contains(&operator) => {
                        operator.to_string()
                    }
                    _ => {
                        self.at -= 1;
                        return Err(self.unexpected());
                    }
                };
                node = self.call(at, Some(node), name, safe)?;
            } else if self.is_operator("[") && !self.lexeme().space {
                self.advance();
                let arguments = self.arguments("]")?;
                node = super::expression::call(node, "[]", arguments);
            } else {
                return Ok(node);
            }
        }
    }

    /// A call behind its name.
    fn call(&mut self, at: usize, receiver: Option<Node>, name: String, safe: bool) -> Parsed {
        let mut call = Call {
            receiver,
            name: name.as_str().into(),
            arguments: Vec::new(),
            block: None,
            passed: None,
            safe,
        };
        if self.is_operator("(") && !self.lexeme().space {
            self.advance();
            call.arguments = self.arguments(")")?;
            self.passed(&mut call)?;
        } else if self.starts_argument() || self.is_value_behind_mark(&call.name) {
            self.bare_arguments(&mut call)?;
        }
        if self.is_operator("{") {
            call.block = Some(self.braces()?);
        } else if self.is_word("do") && !self.no_do {
            call.block = Some(self.do_block()?);
        }
        let node = Node::new(at, Kind::Call(Box::new(call)));
        Ok(shortened(node))
    }

    /// `&:name)` or `&name)`
    fn passed(&mut self, call: &mut Call) -> Result<(), Problem> {
        // Behind the parenthesis it is an operator.
        let inside = !matches!(self.lexemes[self.at - 1].token, Token::Operator(")"));
        if inside && self.take_operator("&") {
            call.passed = Some(self.nested(Self::expression)?);
            self.expect_operator(")")?;
        }
        Ok(())
    }

    /// `include?"a"`, `include?b`: the mark ends the name, so that no blank must stand between.
    fn is_value_behind_mark(&self, name: &str) -> bool {
        let is_value = match self.peek() {
            Token::Text(_) | Token::Symbol(_) | Token::Int(_) => true,
            Token::Name(word) => !KEYWORDS.contains(&word.as_str()),
            _ => false,
        };
        is_value && name.ends_with(['?', '!']) && !self.lexeme().space
    }

    /// `then`, which may stand in a line of its own.
    fn take_then(&mut self) {
        let at = self.at;
        self.skip_newlines();
        if !self.take_word("then") {
            self.at = at;
        }
    }

    /// Whether an argument without parentheses follows.
    fn starts_argument(&self) -> bool {
        let lexeme = self.lexeme();
        if !lexeme.space {
            return false;
        }
        match &lexeme.token {
            Token::Int(_)
            | Token::Float(_)
            | Token::Number(_)
            | Token::Text(_)
            | Token::Symbol(_)
            | Token::Regex(..)
            | Token::Words(..)
            | Token::Kept(_)
            | Token::Constant(_)
            | Token::Label(_) => true,
            Token::Name(name) => {
                !KEYWORDS.contains(&name.as_str())
                    || matches!(name.as_str(), "nil" | "true" | "false" | "self" | "case")
            }
            Token::Operator("->") => true,
            Token::Operator("!") => !lexeme.space_after,
            Token::Operator("[" | "-" | "*" | "::" | "&") => !lexeme.space_after,
            _ => false,
        }
    }

    fn bare_arguments(&mut self, call: &mut Call) -> Result<(), Problem> {
        let (mut items, mut pairs) = (Vec::new(), Vec::new());
        let at = self.place();
        loop {
            if self.take_operator("&") {
                call.passed = Some(self.nested(Self::expression)?);
                break;
            }
            self.item(&mut items, &mut pairs)?;
            if !self.take_operator(",") {
                break;
            }
            self.skip_newlines();
        }
        if !pairs.is_empty() {
            items.push(Node::new(at, Kind::Hash(pairs)));
        }
        call.arguments = items;
        Ok(())
    }

    fn condition(&mut self) -> Parsed {
        let outer = std::mem::replace(&mut self.no_do, true);
        let condition = self.logic();
        self.no_do = outer;
        condition
    }

    /// Behind `if` or `elsif`.
    fn branch(&mut self, at: usize, negated: bool) -> Parsed {
        let condition = Box::new(self.logic()?);
        self.take_then();
        let then = Box::new(self.nested(Self::body)?);
        let otherwise = Box::new(if self.is_word("elsif") {
            let at = self.place();
            self.advance();
            self.nested(|parser| parser.branch(at, false))?
        } else {
            let body = match self.take_word("else") {
                true => self.nested(Self::body)?,
                false => Node::new(at, Kind::Nil),
            };
            self.expect_word("end")?;
            body
        });
        let kind = match negated {
            false => Kind::If(condition, then, otherwise),
            true => Kind::If(condition, otherwise, then),
        };
        Ok(Node::new(at, kind))
    }

    fn repetition(&mut self, at: usize, negated: bool) -> Parsed {
        let condition = self.condition()?;
        let _ = self.take_word("do");
        let body = self.nested(Self::body)?;
        self.expect_word("end")?;
        let condition = match negated {
            true => super::negated(condition),
            false => condition,
        };
        Ok(Node::new(at, Kind::While(Box::new(condition), Box::new(body), false)))
    }

    fn iteration(&mut self, at: usize) -> Parsed {
        let mut targets = vec![self.parameter()?];
        while self.take_operator(",") {
            targets.push(self.parameter()?);
        }
        self.expect_word("in")?;
        let list = self.condition()?;
        let _ = self.take_word("do");
        let body = self.nested(Self::body)?;
        self.expect_word("end")?;
        let target = match targets.len() {
            1 => targets.remove(0),
            _ => Target::Group(targets),
        };
        Ok(Node::new(at, Kind::For(target, Box::new(list), Box::new(body))))
    }

    fn case(&mut self, at: usize) -> Parsed {
        let subject = match self.peek() {
            Token::Newline => None,
            Token::Name(name) if name == "when" => None,
            _ => Some(Box::new(self.logic()?)),
        };
        self.skip_newlines();
        let mut arms = Vec::new();
        while self.take_word("when") {
            let mut values = vec![self.argument()?];
            while self.take_operator(",") {
                self.skip_newlines();
                values.push(self.argument()?);
            }
            self.take_then();
            arms.push((values, self.nested(Self::body)?));
        }
        let otherwise = match self.take_word("else") {
            true => self.nested(Self::body)?,
            false => Node::new(at, Kind::Nil),
        };
        self.expect_word("end")?;
        Ok(Node::new(at, Kind::Case(subject, arms, Box::new(otherwise))))
    }

    /// `super`, `super(a)`, `super a`
    fn super_call(&mut self, at: usize) -> Parsed {
        let node = self.call(at, None, "super".to_string(), false)?;
        let bare = !matches!(&self.lexemes[self.at - 1].token, Token::Operator(")"));
        Ok(match node.kind {
            Kind::Call(call) if call.arguments.is_empty() && bare => {
                Node::new(at, Kind::Super(None))
            }
            Kind::Call(call) => Node::new(at, Kind::Super(Some(call.arguments))),
            kind => Node::new(at, kind),
        })
    }

    fn jump(&mut self, at: usize, word: &str) -> Parsed {
        let bare = match self.peek() {
            Token::Newline | Token::End | Token::Operator("}" | ")" | ":") => true,
            Token::Name(name) => {
                matches!(name.as_str(), "if" | "unless" | "while" | "until" | "end" | "rescue")
            }
            _ => false,
        };
        let value = Box::new(match bare {
            true => Node::new(at, Kind::Nil),
            false => self.values()?,
        });
        let kind = match word {
            "return" => Kind::Return(value),
            "next" => Kind::Next(value),
            _ => Kind::Break(value),
        };
        Ok(Node::new(at, kind))
    }
}

/// `event.get("a")` with its field read once.
fn shortened(node: Node) -> Node {
    if let Kind::Call(call) = &node.kind
        && &*call.name == "get"
        && let Some(Node { kind: Kind::Local(receiver), .. }) = &call.receiver
        && &*receiver.name == "event"
        && let [Node { kind: Kind::Text(parts), .. }] = call.arguments.as_slice()
        && let [Part::Text(text)] = parts.as_slice()
        && let Ok(field) = FieldRef::parse(text)
    {
        return Node::new(node.at, Kind::Get(receiver.clone(), field));
    }
    node
}
