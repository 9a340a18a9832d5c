//! Runs Ruby code. Every run is bounded in steps and depth; what goes wrong is an exception of the
//! code, never of the engine.

mod address;
mod assign;
mod call;
mod class;
mod control;
mod function;
mod gap;
mod constant;
mod conversion;
mod enumerable;
mod event;
mod hash;
mod known;
mod library;
mod list;
mod locator;
mod module;
mod moment;
mod number;
mod object;
mod pattern;
mod record;
mod script_test;
mod set;
mod strftime;
mod text;
mod time;
mod zlib;

pub(super) use address::inspected as inspected_address;
pub(crate) use conversion::{read_float, read_integer};
pub(super) use known::check;

use super::text::{Content, Text};
use super::tree::{Block, Kind, Node, Part, Script};
use super::value::{Closure, Found, Shared, Value};
use crate::event::LogEvent;
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use std::sync::Arc;
use temblor_lang::value::Arena;

/// Nodes that one event may run.
const STEPS_MAX: usize = 2_000_000;
/// Calls that may be open at a time.
const CALLS_MAX: usize = 128;
/// Items of a list and bytes of a text that code may make at once.
const SIZE_MAX: usize = 1 << 20;

/// What code remembers from event to event.
#[derive(Debug, Default)]
pub struct Memory {
    /// `@a`
    kept: HashMap<Arc<str>, Value>,
    functions: HashMap<Arc<str>, Arc<Block>>,
    classes: HashMap<Arc<str>, class::Class>,
    /// Calls that were made so far: code outlives the call that made it.
    calls_made: u64,
}

/// Why code stopped.
#[derive(Clone, Debug)]
pub enum Stop {
    /// `raise`: class and message.
    Raised(Arc<(String, String)>),
    /// `break` of the call with this number
    Break(Value, u64),
    /// `next`
    Next(Value),
    /// `return` from the call with this number
    Return(Value, u64),
    /// `retry`
    Retry,
    /// `throw :a, b`
    Throw(Value, Value),
    /// It ran too long.
    Limit,
    /// A method of Ruby that is not known here; code cannot rescue it.
    Unknown(String),
}

impl Stop {
    fn raise(class: &str, message: impl Into<String>) -> Self {
        Stop::Raised(Arc::new((class.to_string(), message.into())))
    }

    /// The message of the exception.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Stop::Raised(error) => error.1.clone(),
            Stop::Unknown(message) => message.clone(),
            Stop::Limit => format!("the code ran more than {STEPS_MAX} steps"),
            _ => "unexpected jump".to_string(),
        }
    }
}

type Answer = Result<Value, Stop>;
/// Nothing when the value has no such method.
type Found1 = Result<Option<Value>, Stop>;

/// One run over one event.
#[derive(Debug)]
pub struct Machine<'a, 'm> {
    /// The event is the first; the others were made by the code.
    pub events: Vec<LogEvent<'a>>,
    /// The numbers of events that are sent on.
    pub emitted: Vec<usize>,
    memory: &'m mut Memory,
    arena: &'a Arena,
    now: DateTime<Utc>,
    locals: Vec<(Arc<str>, Value)>,
    /// Variables below this belong to callers.
    base: usize,
    /// The number of this call, and of the calls around with the places of their variables.
    frame: u64,
    frames: Vec<(u64, usize)>,
    steps: usize,
    calls: usize,
    /// `$~`
    found: Option<Arc<Found>>,
    /// `self`; `nil` is the filter
    this: Value,
    /// The class whose code runs.
    inside: Option<Arc<str>>,
    /// The method that runs, for `super`.
    running: Option<class::Running>,
    /// The block of the method that runs, for `yield`.
    given: Option<Given>,
    /// The tests of a file, while they are gathered.
    tests: Option<script_test::Tests>,
    /// The names that `catch` waits for.
    caught: Vec<Value>,
}

/// The code that a method is given.
#[derive(Clone, Debug)]
enum Given {
    /// `{ |a| b }`
    Block(Arc<Block>),
    /// `&lambda`
    Lambda(Arc<Closure>),
    /// `&:name`
    Method(Arc<str>),
    /// Code that is given the number of the item, too.
    Counted(Box<Given>, Shared<i64>),
    /// Code that is given an object, too.
    With(Box<Given>, Value),
}

impl<'a, 'm> Machine<'a, 'm> {
    /// A run over `event`.
    pub fn new(
        event: LogEvent<'a>,
        memory: &'m mut Memory,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Self {
        memory.calls_made += 1;
        let frame = memory.calls_made;
        Self {
            events: vec![event],
            emitted: Vec::new(),
            memory,
            arena,
            now,
            locals: Vec::new(),
            base: 0,
            frame,
            frames: Vec::new(),
            steps: 0,
            calls: 0,
            found: None,
            this: Value::Nil,
            inside: None,
            running: None,
            given: None,
            tests: None,
            caught: Vec::new(),
        }
    }

    /// Sets a variable that the code sees.
    pub fn give(&mut self, name: &str, value: Value) {
        self.locals.push((name.into(), value));
    }

    /// The value of a variable.
    #[must_use]
    pub fn local(&self, name: &str) -> Option<&Value> {
        let visible = &self.locals[self.base..];
        visible.iter().rev().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }

    /// Runs code.
    ///
    /// # Errors
    /// When it raises an exception or runs too long.
    pub fn run(&mut self, script: &Script) -> Answer {
        match self.eval(&script.body) {
            Err(Stop::Return(value, _) | Stop::Next(value) | Stop::Break(value, _)) => Ok(value),
            other => other,
        }
    }

    /// Calls a method that the code has defined; nothing when there is none.
    ///
    /// # Errors
    /// As [`Machine::run`].
    pub fn call_defined(
        &mut self,
        name: &str,
        arguments: Vec<Value>,
    ) -> Result<Option<Value>, Stop> {
        let Some(block) = self.memory.functions.get(name).cloned() else { return Ok(None) };
        self.call_function(&block, arguments, None).map(Some)
    }

    fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > STEPS_MAX { Err(Stop::Limit) } else { Ok(()) }
    }

    fn eval(&mut self, node: &Node) -> Answer {
        self.step()?;
        Ok(match &node.kind {
            Kind::Nil => Value::Nil,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Int(number) => Value::Int(*number),
            Kind::Float(number) => Value::Float(*number),
            Kind::Text(parts) => match parts.as_slice() {
                [Part::Text(text)] => Value::text(text),
                parts => self.interpolated(parts)?,
            },
            Kind::Symbol(name) => Value::Symbol(name.clone()),
            Kind::Regex(pattern, text) => Value::Regex(pattern.clone(), text.clone()),
            Kind::OpenRegex(parts, flags) => {
                let text = self.interpolate(parts)?;
                pattern::compile(&text, flags)?
            }
            Kind::List(items) => Value::list(self.values(items)?),
            Kind::Hash(pairs) => {
                let mut values = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    values.push((self.eval(key)?, self.eval(value)?));
                }
                Value::hash(values)
            }
            Kind::Range(from, to, exclusive) => {
                Value::Range(Arc::new((self.eval(from)?, self.eval(to)?, *exclusive)))
            }
            Kind::Local(name) => match self.local(name) {
                Some(value) => value.clone(),
                None => event::given(name),
            },
            Kind::Kept(name) => self.kept(name),
            Kind::Constant(name) => self.constant(name),
            Kind::Number(text) => conversion::number(text),
            Kind::Itself => self.this.clone(),
            Kind::Get(field) => {
                let number = match self.local("event") {
                    Some(Value::Event(number)) => *number,
                    _ => 0,
                };
                let value = self.events[number].value_of(field);
                value.as_ref().map_or(Value::Nil, Value::of_datum)
            }
            other => return self.act(other),
        })
    }

    /// What sets, decides, calls or jumps.
    fn act(&mut self, kind: &Kind) -> Answer {
        Ok(match kind {
            Kind::Splat(inner) => self.eval(inner)?,
            Kind::Assign(target, value) => {
                let value = self.eval(value)?;
                self.assign(target, value.clone())?;
                value
            }
            Kind::Change(target, operator, value) => self.change(target, operator, value)?,
            Kind::AssignAll(targets, value) => {
                let value = self.eval(value)?;
                self.assign_all(targets, &value)?;
                value
            }
            Kind::And(left, right) => {
                let left = self.eval(left)?;
                if left.is_true() { self.eval(right)? } else { left }
            }
            Kind::Or(left, right) => {
                let left = self.eval(left)?;
                if left.is_true() { left } else { self.eval(right)? }
            }
            Kind::Not(inner) => Value::Bool(!self.eval(inner)?.is_true()),
            Kind::Defined(inner) => self.defined(inner),
            Kind::Call(call) => return self.call(call),
            Kind::Sequence(statements) => {
                let mut last = Value::Nil;
                for statement in statements {
                    last = self.eval(statement)?;
                }
                last
            }
            Kind::Return(value) => return Err(Stop::Return(self.eval(value)?, self.frame)),
            Kind::Retry => return Err(Stop::Retry),
            Kind::Next(value) => return Err(Stop::Next(self.eval(value)?)),
            Kind::Break(value) => return Err(Stop::Break(self.eval(value)?, self.frame)),
            Kind::Lambda(block) => self.closure(block, true),
            Kind::Define(name, block, own) => self.define(name, block, *own),
            Kind::Class(name, above, body) => self.define_class(name, above.as_deref(), body)?,
            Kind::Super(arguments) => {
                let arguments = arguments.as_ref().map(|nodes| self.values(nodes)).transpose()?;
                self.call_above(arguments)?
            }
            branching => return self.branch(branching),
        })
    }

    /// Values in a list or among arguments.
    fn values(&mut self, nodes: &[Node]) -> Result<Vec<Value>, Stop> {
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            let value = self.eval(node)?;
            match (&node.kind, value) {
                (Kind::Splat(_), Value::Nil) => {}
                (Kind::Splat(_), spread @ (Value::List(_) | Value::Range(_) | Value::Hash(_))) => {
                    values.extend(self.items(&spread)?);
                }
                (_, value) => values.push(value),
            }
        }
        Ok(values)
    }

    /// `"a#{b}"`; bytes stay bytes.
    fn interpolated(&mut self, parts: &[Part]) -> Answer {
        let mut whole = Content::Plain("".into());
        for part in parts {
            let part = match part {
                Part::Text(part) => Content::Plain(part.clone()),
                Part::Code(node) => match self.eval(node)? {
                    Value::Text(text) => text.content(),
                    value => Content::Plain(self.print(&value)?.into()),
                },
            };
            whole = text::joined(&whole, &part)?;
            limited(whole.bytes().len())?;
        }
        Ok(Value::Text(Text::new(whole)))
    }

    fn interpolate(&mut self, parts: &[Part]) -> Result<String, Stop> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Code(node) => {
                    let value = self.eval(node)?;
                    text.push_str(&self.print(&value)?);
                }
            }
            limited(text.len())?;
        }
        Ok(text)
    }

    fn kept(&self, name: &Arc<str>) -> Value {
        if let Some(value) = self.own_field(name) {
            return value;
        }
        let Some(found) = name.strip_prefix('$') else {
            return match (self.memory.kept.get(name), &**name) {
                (Some(value), _) => value.clone(),
                (None, "@logger") => Value::Constant(constant::LOGGER.into()),
                (None, _) => Value::Nil,
            };
        };
        match (found, &self.found) {
            ("~", Some(found)) => Value::Match(found.clone()),
            ("`", Some(found)) => Value::text(&found.before),
            ("'", Some(found)) => Value::text(&found.after),
            ("&", Some(found)) => pattern::group(found, &Value::Int(0)),
            ("stderr" | "stdout", _) => Value::Constant(constant::LOGGER.into()),
            (digits, found) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let group = digits.parse::<usize>().ok();
                let text = found
                    .as_ref()
                    .zip(group)
                    .and_then(|(found, group)| found.groups.get(group).cloned().flatten());
                text.map_or(Value::Nil, |text| Value::text(&text))
            }
            _ => self.memory.kept.get(name).cloned().unwrap_or_default(),
        }
    }

    fn defined(&mut self, node: &Node) -> Value {
        let there = match &node.kind {
            Kind::Local(name) => self.local(name).is_some() || event::is_given(name),
            Kind::Call(call) if call.receiver.is_none() && self.is_own_method(&call.name) => true,
            Kind::Kept(name) => self.memory.kept.contains_key(name),
            Kind::Call(call) if call.receiver.is_none() => {
                self.local(&call.name).is_some() || self.memory.functions.contains_key(&call.name)
            }
            Kind::Constant(name) => {
                self.memory.kept.contains_key(name)
                    || self.is_class(name)
                    || constant::NAMES.contains(&&**name)
            }
            _ => self.eval(node).is_ok(),
        };
        if there { Value::text("expression") } else { Value::Nil }
    }
}

/// Whether a text or list may become as large as this.
fn limited(size: usize) -> Result<(), Stop> {
    if size > SIZE_MAX { Err(Stop::Limit) } else { Ok(()) }
}
