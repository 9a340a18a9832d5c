//! The interpreter.
//!
//! Invariant: every run is bounded in steps and depth, and an error is an exception of the code,
//! never a panic of the engine.

mod address;
mod assign;
mod call;
mod class;
mod control;
mod function;
mod constant;
mod conversion;
mod enumerable;
mod event;
mod hash;
mod holding;
mod known;
mod lacking;
mod library;
mod list;
mod literal;
mod locator;
mod methods;
mod module;
mod moment;
mod number;
mod object;
mod pattern;
mod random;
mod record;
mod script_test;
mod set;
mod strftime;
mod text;
mod time;
mod zlib;

pub(super) use address::inspected as inspected_address;
pub use conversion::{read_float, read_integer};
pub(super) use known::check;

use super::GIVEN;
use super::budget::{Breach, Limits, SIZE_MAX};
use super::heap::{ClosureRef, Heap, ListRef, ScopeRef};
use super::tree::{Block, Kind, Node, Script, Target, Variable};
use super::value::{Found, Value};
use chrono::{DateTime, Utc};
use holding::Collecting;
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use temblor_lang::value::Arena;
use temblor_logstash_event::event::LogEvent;

/// Calls, and blocks that they run, that may be open at a time.
const CALLS_MAX: usize = 2_000;
/// With less of the stack left, in bytes, it grows.
const STACK_LEFT_MIN: usize = 256 << 10;
/// Code whose pieces stand in each other no deeper needs no look at the stack: each call looks anyway.
const LOW: usize = 8;
/// Bytes by which the stack grows.
const STACK_GROWTH: usize = 2 << 20;

/// What a filter's code has from event to event: its values, and what is known of them.
#[derive(Debug, Default)]
pub struct Memory {
    heap: Heap,
    state: State,
}

/// What code remembers from event to event.
#[derive(Debug, Default)]
struct State {
    /// `@a`
    kept: HashMap<Arc<str>, Value>,
    functions: HashMap<Arc<str>, Arc<Block>>,
    classes: HashMap<Arc<str>, class::Class>,
    /// Calls that were made so far: code outlives the call that made it.
    calls_made: u64,
}

impl Memory {
    /// A memory with bounds of its own.
    #[must_use]
    pub fn bounded(limits: Limits) -> Self {
        Self { heap: Heap::bounded(limits), state: State::default() }
    }

    /// The values.
    #[must_use]
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// Frees what nothing holds any more, when that is worth while. To be called behind each event, with the values
    /// that the caller holds.
    pub fn settle<'v>(&'v mut self, held: impl Iterator<Item = &'v Value>) {
        let Self { heap, state } = self;
        heap.settle(state.kept.values().chain(held));
    }
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
    /// It went beyond a bound.
    Limit(Breach),
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
            Stop::Limit(breach) => breach.message(),
            Stop::Break(..) | Stop::Next(_) | Stop::Return(..) | Stop::Retry | Stop::Throw(..) => {
                "unexpected jump".to_string()
            }
        }
    }
}

impl From<Breach> for Stop {
    fn from(breach: Breach) -> Self {
        Stop::Limit(breach)
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
    /// How long the code has slept, in nanoseconds.
    pub slept_ns: u64,
    heap: &'m Heap,
    memory: &'m mut State,
    arena: &'a Arena,
    now: DateTime<Utc>,
    /// Variables that the caller has set, by name.
    set: Vec<(Arc<str>, Value)>,
    /// The variables of the method, lambda or block that runs.
    scope: ScopeRef,
    /// The variables of the method that runs, in whatever block of it.
    method_scope: ScopeRef,
    /// The number of this call.
    frame: u64,
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
    /// Values that the interpreter holds outside of variables while code runs.
    held: Vec<Value>,
    /// How many open calls hold values that are not in `held`: nothing is collected meanwhile.
    opaque: usize,
    /// When lost values are freed while code runs.
    collecting: Collecting,
}

/// The code that a method is given.
#[derive(Clone, Debug)]
enum Given {
    /// `{ |a| b }`
    Block(Arc<Block>),
    /// `&lambda`
    Lambda(ClosureRef),
    /// `&:name`
    Method(Arc<str>),
    /// Code that is given the number of the item, too.
    Counted(Box<Given>, Rc<Cell<i64>>),
    /// Code that is given an object, too.
    With(Box<Given>, Value),
    /// No code: what is given is put into a list.
    Gather(ListRef),
}

impl<'a, 'm> Machine<'a, 'm> {
    /// A run over `event`.
    pub fn new(
        event: LogEvent<'a>,
        memory: &'m mut Memory,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Self {
        let Memory { heap, state } = memory;
        heap.budget().begin();
        state.calls_made += 1;
        let frame = state.calls_made;
        Self {
            events: vec![event],
            emitted: Vec::new(),
            slept_ns: 0,
            scope: ScopeRef::NONE,
            method_scope: ScopeRef::NONE,
            heap,
            memory: state,
            arena,
            now,
            set: Vec::new(),
            frame,
            calls: 0,
            found: None,
            this: Value::Nil,
            inside: None,
            running: None,
            given: None,
            tests: None,
            caught: Vec::new(),
            held: Vec::new(),
            opaque: 0,
            collecting: Collecting::Never,
        }
    }

    /// Lets the machine free lost values while code runs. Only for those who hold no values of its memory themselves.
    pub fn collect_while_running(&mut self) {
        self.collecting = Collecting::WhenTight;
    }

    /// Frees lost values as often as possible.
    #[cfg(test)]
    pub(crate) fn collect_always(&mut self) {
        self.collecting = Collecting::Always;
    }

    /// The values of the code.
    #[must_use]
    pub fn heap(&self) -> &'m Heap {
        self.heap
    }

    /// Sets a variable that the code sees.
    pub fn give(&mut self, name: &str, value: Value) {
        self.set.push((name.into(), value));
    }

    /// The value of a variable that was set, as the code has left it.
    #[must_use]
    pub fn local(&self, name: &str) -> Option<&Value> {
        self.set.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }

    /// Runs code.
    ///
    /// # Errors
    /// When it raises an exception or goes beyond a bound.
    pub fn run(&mut self, script: &Script) -> Answer {
        let scope = self.heap.scope(script.variables.len(), None);
        for (slot, name) in script.variables.iter().enumerate().take(GIVEN.len()) {
            let value = self.local(name).cloned().unwrap_or_else(|| event::given(name));
            scope.set(self.heap, 0, slot as u16, value);
        }
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = self.eval(&script.body);
        self.scope = outer;
        for (slot, name) in script.variables.iter().enumerate().take(GIVEN.len()) {
            if let Some((_, value)) = self.set.iter_mut().find(|(known, _)| known == name) {
                *value = scope.get(self.heap, 0, slot as u16);
            }
        }
        scope.leave(self.heap);
        let value = match result {
            Err(Stop::Return(value, _) | Stop::Next(value) | Stop::Break(value, _)) => value,
            other => other?,
        };
        self.heap.check()?;
        Ok(value)
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
        let value = self.call_function(&block, arguments, None)?;
        self.heap.check()?;
        Ok(Some(value))
    }

    /// Pays for a step.
    fn step(&mut self) -> Result<(), Stop> {
        if self.heap.budget().spend(1) { Ok(()) } else { Ok(self.heap.check()?) }
    }

    /// Runs what may call itself, no deeper than [`CALLS_MAX`].
    fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        if self.calls >= CALLS_MAX {
            return Err(Stop::raise("SystemStackError", "stack level too deep"));
        }
        self.calls += 1;
        let result = stacker::maybe_grow(STACK_LEFT_MIN, STACK_GROWTH, || run(self));
        self.calls -= 1;
        result
    }

    fn eval(&mut self, node: &Node) -> Answer {
        self.step()?;
        if node.height() <= LOW {
            return self.value_of_node(node);
        }
        stacker::maybe_grow(STACK_LEFT_MIN, STACK_GROWTH, || self.value_of_node(node))
    }

    fn value_of_node(&mut self, node: &Node) -> Answer {
        match &node.kind {
            Kind::Nil => Ok(Value::Nil),
            Kind::Bool(value) => Ok(Value::Bool(*value)),
            Kind::Int(number) => Ok(Value::Int(*number)),
            Kind::Float(number) => Ok(Value::Float(*number)),
            Kind::Number(text) => Ok(conversion::number(self.heap, text)),
            Kind::Text(parts) => self.interpolated(parts),
            Kind::Symbol(name) => Ok(Value::Symbol(name.clone())),
            Kind::Regex(pattern, text) => Ok(Value::Regex(pattern.clone(), text.clone())),
            Kind::OpenRegex(parts, flags) => {
                let text = self.interpolate(parts)?;
                pattern::pay_for(self.heap, &text)?;
                pattern::compile(&text, flags)
            }
            Kind::List(items) => {
                let items = self.values(items)?;
                Ok(self.heap.list(items))
            }
            Kind::Hash(pairs) => self.opaquely(|machine| machine.pairs(pairs)),
            Kind::Range(from, to, exclusive) => {
                let from = self.eval(from)?;
                let to = self.opaquely(|machine| machine.eval(to))?;
                let is_simple = |one: &Value| {
                    one.is_number()
                        || matches!(one, Value::Text(_) | Value::Time(..) | Value::Address(..))
                };
                if is_simple(&from)
                    && is_simple(&to)
                    && enumerable::order(self.heap, &from, &to).is_none()
                {
                    return Err(Stop::raise("ArgumentError", "bad value for range"));
                }
                Ok(self.heap.range(from, to, *exclusive))
            }
            Kind::Local(variable) => Ok(self.variable(variable)),
            Kind::Kept(name) => Ok(self.kept(name)),
            Kind::Constant(name) => Ok(self.constant(name)),
            Kind::Itself => Ok(self.this.clone()),
            Kind::Get(variable, field) => Ok(self.field(variable, field)),
            Kind::Splat(inner) => self.eval(inner),
            Kind::Assign(target, value) => {
                let value = self.eval(value)?;
                if let Target::Local(variable) = target {
                    self.set_variable(variable, value.clone());
                    return Ok(value);
                }
                self.opaquely(|machine| machine.assign(target, value.clone()))?;
                Ok(value)
            }
            Kind::Change(target, operator, value) => {
                self.opaquely(|machine| machine.change(target, operator, value))
            }
            Kind::AssignAll(targets, value) => {
                let value = self.eval(value)?;
                self.opaquely(|machine| machine.assign_all(targets, &value))?;
                Ok(value)
            }
            Kind::And(left, right) => {
                let left = self.eval(left)?;
                if left.is_true() { self.eval(right) } else { Ok(left) }
            }
            Kind::Or(left, right) => {
                let left = self.eval(left)?;
                if left.is_true() { Ok(left) } else { self.eval(right) }
            }
            Kind::Not(inner) => Ok(Value::Bool(!self.eval(inner)?.is_true())),
            Kind::Defined(inner) => Ok(self.defined(inner)),
            Kind::Call(call) => self.call(call),
            Kind::Sequence(statements) => {
                statements.iter().try_fold(Value::Nil, |_, statement| self.eval(statement))
            }
            Kind::Return(value) => Err(Stop::Return(self.eval(value)?, self.frame)),
            Kind::Retry => Err(Stop::Retry),
            Kind::Next(value) => Err(Stop::Next(self.eval(value)?)),
            Kind::Break(value) => Err(Stop::Break(self.eval(value)?, self.frame)),
            Kind::Lambda(block) => Ok(self.closure(block, true)),
            Kind::Define(name, block, own) => Ok(self.define(name, block, *own)),
            Kind::Class(name, above, body) => self.define_class(name, above.as_deref(), body),
            Kind::Super(arguments) => {
                let arguments = arguments.as_ref().map(|nodes| self.values(nodes)).transpose()?;
                self.call_above(arguments)
            }
            Kind::If(condition, then, otherwise) => {
                let holds = self.eval(condition)?.is_true();
                self.eval(if holds { then } else { otherwise })
            }
            Kind::While(condition, body, body_first) => self.repeat(condition, body, *body_first),
            Kind::For(target, list, body) => {
                self.opaquely(|machine| machine.iterate(target, list, body))
            }
            Kind::Case(subject, arms, otherwise) => self.case(subject.as_deref(), arms, otherwise),
            Kind::Begin(body, rescues, otherwise, ensure) => {
                let result = self.guarded(body, rescues, otherwise.as_deref());
                self.opaquely(|machine| {
                    ensure.iter().try_for_each(|ensure| machine.eval(ensure).map(drop))
                })?;
                result
            }
        }
    }

    fn variable(&self, variable: &Variable) -> Value {
        self.scope.get(self.heap, variable.up, variable.slot)
    }

    fn set_variable(&self, variable: &Variable, value: Value) {
        self.scope.set(self.heap, variable.up, variable.slot, value);
    }
}

/// Whether a text or list may become as large as this.
fn limited(size: usize) -> Result<(), Stop> {
    if size > SIZE_MAX { Err(Stop::Limit(Breach::Size)) } else { Ok(()) }
}
