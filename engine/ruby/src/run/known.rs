//! Checks loaded code for names that this interpreter does not have, before it runs.

use super::{class, constant, methods};
use crate::Problem;
use crate::tree::{Block, Call, Kind, Node, Part, Target};
use std::cell::{Cell, RefCell};
use temblor_lang::diagnostic::nearest;

/// Functions that need no receiver.
const FUNCTIONS: &[&str] = &[
    "raise",
    "fail",
    "require",
    "require_relative",
    "load",
    "puts",
    "print",
    "p",
    "pp",
    "warn",
    "format",
    "sprintf",
    "rand",
    "sleep",
    "loop",
    "lambda",
    "proc",
    "Integer",
    "Float",
    "String",
    "Array",
    "event",
    "block_given?",
    "new_event_block",
    "logger",
    "map",
    "map_meta",
    "catch",
    "throw",
    "yield",
    "method",
    "srand",
    "BigDecimal",
    "Rational",
    "URI",
    "attr_reader",
    "attr_writer",
    "attr_accessor",
    "include",
    "prepend",
    "extend",
    "module_function",
    "private",
    "public",
    "protected",
    "private_class_method",
    "private_constant",
    "new",
    "test",
    "parameters",
    "in_event",
    "expect",
];
/// Operators and what every kind has.
const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "%", "**", "<", ">", "<=", ">=", "==", "===", "=~", "<=>", "<<", ">>", "&",
    "|", "^", "-@", "[]", "call",
];

/// The first name that is not known.
pub(crate) fn check(body: &Node, defined: &[String]) -> Result<Known, Problem> {
    let checker = Checker {
        defined: RefCell::new(defined.to_vec()),
        collecting: Cell::new(true),
        open: Cell::new(false),
        remembers: Cell::new(false),
    };
    checker.node(body)?;
    checker.collecting.set(false);
    checker.node(body)?;
    Ok(Known { remembers: checker.remembers.get(), defined: checker.defined.into_inner() })
}

/// What a look through code tells.
pub(crate) struct Known {
    pub defined: Vec<String>,
    pub remembers: bool,
}

struct Checker {
    /// Functions, methods, classes and constants that the code defines.
    defined: RefCell<Vec<String>>,
    /// Whether this is the first look, which only notes what is defined.
    collecting: Cell<bool>,
    /// Whether there are objects with methods of any name.
    open: Cell<bool>,
    /// Whether a variable was seen that outlives an event.
    remembers: Cell<bool>,
}

impl Checker {
    fn note(&self, name: &str) {
        if self.collecting.get() && !self.is_defined(name) {
            self.defined.borrow_mut().push(name.to_string());
        }
    }

    fn is_defined(&self, name: &str) -> bool {
        self.defined.borrow().iter().any(|one| one == name)
    }

    /// `$1` and `$~` live as long as the event.
    fn keep(&self, name: &str) {
        let short = name
            .strip_prefix('$')
            .is_some_and(|rest| rest == "~" || rest.bytes().all(|byte| byte.is_ascii_digit()));
        if !short {
            self.remembers.set(true);
        }
    }

    fn block(&self, block: &Block) -> Result<(), Problem> {
        for parameter in &block.parameters {
            parameter.default.as_ref().map_or(Ok(()), |node| self.node(node))?;
        }
        self.node(&block.body)
    }

    fn nodes(&self, nodes: &[Node]) -> Result<(), Problem> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn parts(&self, parts: &[Part]) -> Result<(), Problem> {
        parts.iter().try_for_each(|part| match part {
            Part::Text(_) | Part::Bytes(_) => Ok(()),
            Part::Code(node) => self.node(node),
        })
    }

    fn target(&self, target: &Target) -> Result<(), Problem> {
        match target {
            Target::Index(receiver, keys) => {
                self.node(receiver)?;
                self.nodes(keys)
            }
            Target::Attribute(receiver, _) => self.node(receiver),
            Target::Rest(inner) => self.target(inner),
            Target::Group(targets) => targets.iter().try_for_each(|target| self.target(target)),
            Target::Kept(name) => {
                if name.starts_with(char::is_uppercase) {
                    self.note(name);
                }
                self.keep(name);
                Ok(())
            }
            Target::Local(_) => Ok(()),
        }
    }

    fn node(&self, node: &Node) -> Result<(), Problem> {
        match &node.kind {
            Kind::Nil
            | Kind::Bool(_)
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Symbol(_)
            | Kind::Regex(..)
            | Kind::Local(_)
            | Kind::Defined(_)
            | Kind::Itself
            | Kind::Retry
            | Kind::Number(_)
            | Kind::Get(..) => Ok(()),
            Kind::Kept(name) => {
                self.keep(name);
                Ok(())
            }
            Kind::Constant(name) => self.constant(node.at, name),
            Kind::Text(parts) | Kind::OpenRegex(parts, _) => self.parts(parts),
            Kind::List(nodes) | Kind::Sequence(nodes) => self.nodes(nodes),
            Kind::Hash(pairs) => pairs.iter().try_for_each(|(key, value)| {
                self.node(key)?;
                self.node(value)
            }),
            Kind::Range(left, right, _)
            | Kind::And(left, right)
            | Kind::Or(left, right)
            | Kind::While(left, right, _) => {
                self.node(left)?;
                self.node(right)
            }
            Kind::Splat(inner)
            | Kind::Not(inner)
            | Kind::Return(inner)
            | Kind::Next(inner)
            | Kind::Break(inner) => self.node(inner),
            Kind::Assign(target, value) | Kind::Change(target, _, value) => {
                self.target(target)?;
                self.node(value)
            }
            Kind::AssignAll(targets, value) => {
                targets.iter().try_for_each(|target| self.target(target))?;
                self.node(value)
            }
            Kind::Lambda(block) => self.block(block),
            Kind::Define(name, block, _) => {
                self.note(name);
                self.remembers.set(true);
                self.block(block)
            }
            Kind::Class(name, above, body) => {
                self.note(name);
                self.remembers.set(true);
                self.maybe(above)?;
                self.block(body)
            }
            Kind::Super(arguments) => self.nodes(arguments.as_deref().unwrap_or(&[])),
            Kind::Call(call) => self.call(node.at, call),
            Kind::If(condition, then, otherwise) => {
                self.node(condition)?;
                self.node(then)?;
                self.node(otherwise)
            }
            Kind::For(target, list, body) => {
                self.target(target)?;
                self.node(list)?;
                self.node(body)
            }
            Kind::Case(subject, arms, otherwise) => {
                self.maybe(subject)?;
                for (values, body) in arms {
                    self.nodes(values)?;
                    self.node(body)?;
                }
                self.node(otherwise)
            }
            Kind::Begin(body, rescues, otherwise, ensure) => {
                self.node(body)?;
                for rescue in rescues {
                    self.nodes(&rescue.classes)?;
                    self.node(&rescue.body)?;
                }
                self.maybe(otherwise)?;
                self.maybe(ensure)
            }
        }
    }

    fn maybe(&self, node: &Option<Box<Node>>) -> Result<(), Problem> {
        node.as_ref().map_or(Ok(()), |node| self.node(node))
    }

    fn constant(&self, at: usize, name: &str) -> Result<(), Problem> {
        let name = name.trim_start_matches("::");
        if constant::NAMES.contains(&name)
            || self.is_defined(name)
            || name
                .rsplit_once("::")
                .is_some_and(|(outer, inner)| self.is_defined(outer) && self.is_defined(inner))
            || name.ends_with("Error")
            || name.starts_with("Errno::")
            || self.collecting.get()
        {
            return Ok(());
        }
        Err(Problem::new(at, format!("the class or module `{name}` is not known here")))
    }

    fn call(&self, at: usize, call: &Call) -> Result<(), Problem> {
        let name = &*call.name;
        class::named_methods(call).iter().for_each(|name| self.note(name));
        if let Some(receiver) = &call.receiver {
            self.open.set(self.open.get() || is_open(receiver));
            self.node(receiver)?;
        }
        self.nodes(&call.arguments)?;
        if let Some(block) = &call.block {
            self.block(block)?;
        }
        if let Some(passed) = &call.passed {
            self.node(passed)?;
        }
        let defined = self.is_defined(name) || self.collecting.get();
        if call.receiver.is_none() {
            if FUNCTIONS.contains(&name) || defined {
                return Ok(());
            }
            let message = format!("the function or variable `{name}` is not known here");
            return Err(Problem::new(at, message));
        }
        let open = self.open.get() && call.arguments.is_empty();
        if is_method(name) || defined || open {
            return Ok(());
        }
        let mut message = format!("the method `{name}` is not known here");
        if let Some(near) = nearest(name, methods::all()) {
            message.push_str(&format!("; `{near}` is"));
        }
        Err(Problem::new(at, message))
    }
}

/// Objects of this class have methods of any name.
fn is_open(receiver: &Node) -> bool {
    matches!(&receiver.kind, Kind::Constant(name) if &**name == "OpenStruct")
}

fn is_method(name: &str) -> bool {
    methods::is_known(name) || OPERATORS.contains(&name) || FUNCTIONS.contains(&name)
}
