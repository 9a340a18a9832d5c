//! Calls: of functions, of methods by the kind of the receiver, and of the code that a method is given.

use super::{Answer, CALLS_MAX, Found1, Given, Machine, Stop, constant, conversion, limited};
use crate::logstash::ruby::tree::{Block, Call, Kind, Parameter, Target};
use crate::logstash::ruby::value::{Closure, Value};
use std::sync::Arc;

/// With less of the stack left, in bytes, it grows.
const STACK_LEFT_MIN: usize = 256 << 10;
/// By so many bytes.
const STACK_GROWTH: usize = 1 << 20;
/// Methods that change a text in place.
const CHANGE_TEXT: &[&str] = &["<<", "concat", "insert", "prepend", "replace", "clear"];

impl Machine<'_, '_> {
    pub(super) fn call(&mut self, call: &Call) -> Answer {
        self.calls += 1;
        if self.calls > CALLS_MAX {
            return Err(Stop::raise("SystemStackError", "stack level too deep"));
        }
        let result = stacker::maybe_grow(STACK_LEFT_MIN, STACK_GROWTH, || self.call_inner(call));
        self.calls -= 1;
        match result {
            Err(Stop::Break(value)) if call.block.is_some() => Ok(value),
            other => other,
        }
    }

    fn call_inner(&mut self, call: &Call) -> Answer {
        let receiver = match &call.receiver {
            Some(node) => Some(self.eval(node)?),
            None => None,
        };
        if call.safe && matches!(receiver, Some(Value::Nil)) {
            return Ok(Value::Nil);
        }
        let arguments = self.values(&call.arguments)?;
        let given = self.given(call)?;
        let Some(receiver) = receiver else {
            return self.function(&call.name, arguments, given.as_ref());
        };
        if let (Value::Text(text), Some(node)) = (&receiver, &call.receiver)
            && let Some(target) = changed_text(&call.name, &node.kind)
        {
            return self.change_text(text, &call.name, &arguments, given.as_ref(), &target);
        }
        self.invoke(&receiver, &call.name, &arguments, given.as_ref())
    }

    fn given(&mut self, call: &Call) -> Result<Option<Given>, Stop> {
        if let Some(block) = &call.block {
            return Ok(Some(Given::Block(block.clone())));
        }
        let Some(node) = &call.passed else { return Ok(None) };
        match self.eval(node)? {
            Value::Symbol(name) => Ok(Some(Given::Method(name))),
            Value::Lambda(closure) => Ok(Some(Given::Lambda(closure))),
            Value::Nil => Ok(None),
            _ => Err(Stop::raise("TypeError", "wrong argument type (expected Proc)")),
        }
    }

    /// `s.gsub!(…)`: the variable gets the new text; without a change the result is `nil`.
    fn change_text(
        &mut self,
        text: &Arc<str>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
        target: &Target,
    ) -> Answer {
        if name == "slice!" {
            let taken = self.invoke(&Value::Text(text.clone()), "[]", arguments, None)?;
            let rest = text.replacen(&taken.print(), "", 1);
            self.assign(target, Value::text(&rest))?;
            return Ok(taken);
        }
        let plain = match name {
            "<<" | "concat" => "+",
            name => name.trim_end_matches('!'),
        };
        let receiver = Value::Text(text.clone());
        let arguments = match (plain, arguments) {
            ("+", [Value::Int(code)]) => {
                let character = u32::try_from(*code).ok().and_then(char::from_u32);
                vec![Value::text(&character.unwrap_or(' ').to_string())]
            }
            _ => arguments.to_vec(),
        };
        let new = self.invoke(&receiver, plain, &arguments, given)?;
        let same = new.equals(&receiver);
        self.assign(target, new.clone())?;
        if same && name.ends_with('!') { Ok(Value::Nil) } else { Ok(new) }
    }

    /// Calls a method; an exception when the value has none of that name.
    pub(super) fn invoke(
        &mut self,
        receiver: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Answer {
        self.step()?;
        if let Some(found) = self.method(receiver, name, arguments, given)? {
            return Ok(found);
        }
        if let Some(found) = self.object_method(receiver, name, arguments, given)? {
            return Ok(found);
        }
        let of = match receiver {
            Value::Nil => "nil:NilClass".to_string(),
            Value::Text(_) | Value::Int(_) | Value::Float(_) => {
                format!("{}:{}", receiver.inspect(), receiver.class())
            }
            other => format!("#<{}>", other.class()),
        };
        Err(Stop::raise("NoMethodError", format!("undefined method `{name}' for {of}")))
    }

    fn method(
        &mut self,
        receiver: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        match receiver {
            Value::Text(text) => self.text_method(text, name, arguments, given),
            Value::Symbol(text) => match name {
                "to_sym" | "inspect" | "to_s" | "==" | "to_proc" => Ok(None),
                _ => self.text_method(text, name, arguments, given),
            },
            Value::Int(_) | Value::Float(_) => self.number_method(receiver, name, arguments, given),
            Value::List(items) => self.list_method(items, name, arguments, given),
            Value::Hash(hash) => self.hash_method(hash, name, arguments, given),
            Value::Range(range) => self.range_method(range, name, arguments, given),
            Value::Time(time, clock) => self.time_method(*time, *clock, name, arguments),
            Value::Regex(pattern, text) => self.regex_method(pattern, text, name, arguments),
            Value::Match(found) => Ok(super::pattern::match_method(found, name, arguments)),
            Value::Event(number) => self.event_method(*number, name, arguments),
            Value::Lambda(closure) if matches!(name, "call" | "()" | "yield" | "[]") => {
                self.call_lambda(&closure.clone(), arguments.to_vec()).map(Some)
            }
            Value::Address(address, length) => {
                super::address::method(*address, *length, name, arguments)
            }
            Value::NewEvent if name == "call" => {
                if let Some(Value::Event(number)) = arguments.first() {
                    self.emitted.push(*number);
                }
                Ok(Some(Value::Nil))
            }
            Value::Constant(constant) => {
                self.constant_method(&constant.clone(), name, arguments, given)
            }
            Value::Error(error) => Ok(match name {
                "message" | "to_s" | "full_message" => Some(Value::text(&error.1)),
                "backtrace" => Some(Value::list(Vec::new())),
                _ => None,
            }),
            _ => Ok(None),
        }
    }

    /// Runs the code that a method was given.
    pub(super) fn give_to(&mut self, given: &Given, arguments: Vec<Value>) -> Answer {
        self.step()?;
        match given {
            Given::Block(block) => {
                let height = self.locals.len();
                let result = self
                    .bind(&block.parameters, arguments, true)
                    .and_then(|()| self.eval(&block.body));
                self.locals.truncate(height);
                match result {
                    Err(Stop::Next(value)) => Ok(value),
                    other => other,
                }
            }
            Given::Lambda(closure) => {
                let closure = closure.clone();
                self.call_lambda(&closure, arguments)
            }
            Given::Method(name) => {
                let (receiver, rest) = match arguments.split_first() {
                    Some((first, rest)) => (first.clone(), rest.to_vec()),
                    None => (Value::Nil, Vec::new()),
                };
                let name = name.clone();
                self.invoke(&receiver, &name, &rest, None)
            }
        }
    }

    /// Code with the variables that it sees now.
    pub(super) fn closure(&self, block: &Arc<Block>) -> Value {
        let locals = self.locals[self.base..].to_vec();
        Value::Lambda(Arc::new(Closure { block: block.clone(), locals, frame: self.frame }))
    }

    fn call_lambda(&mut self, closure: &Closure, arguments: Vec<Value>) -> Answer {
        let home = self.home(closure);
        self.enter();
        match &home {
            Some(home) => self.locals.extend_from_within(home.clone()),
            None => self.locals.extend(closure.locals.iter().cloned()),
        }
        let result = self
            .bind(&closure.block.parameters, arguments, true)
            .and_then(|()| self.eval(&closure.block.body));
        // What it has set there is set for those who share the variables.
        for (at, place) in home.into_iter().flatten().enumerate() {
            self.locals[place].1 = self.locals[self.base + at].1.clone();
        }
        self.leave();
        returned(result)
    }

    /// Where the variables stand that a closure shares, while the call goes on that made it.
    fn home(&self, closure: &Closure) -> Option<std::ops::Range<usize>> {
        if closure.frame == self.frame {
            return Some(self.base..self.locals.len());
        }
        let at = self.frames.iter().rposition(|(frame, _)| *frame == closure.frame)?;
        let end = self.frames.get(at + 1).map_or(self.base, |(_, base)| *base);
        Some(self.frames[at].1..end)
    }

    fn enter(&mut self) {
        self.frames.push((self.frame, self.base));
        self.memory.calls_made += 1;
        self.frame = self.memory.calls_made;
        self.base = self.locals.len();
    }

    pub(super) fn call_function(&mut self, block: &Arc<Block>, arguments: Vec<Value>) -> Answer {
        self.enter();
        let result =
            self.bind(&block.parameters, arguments, false).and_then(|()| self.eval(&block.body));
        self.leave();
        returned(result)
    }

    fn leave(&mut self) {
        self.locals.truncate(self.base);
        (self.frame, self.base) = self.frames.pop().expect("a call was entered before");
    }

    /// Gives parameters their values. A block with several takes a list apart.
    fn bind(
        &mut self,
        parameters: &[Parameter],
        mut arguments: Vec<Value>,
        spread: bool,
    ) -> Result<(), Stop> {
        if spread
            && parameters.len() > 1
            && let [Value::List(items)] = arguments.as_slice()
        {
            let items = items.lock().clone();
            arguments = items;
        }
        let rest = parameters.iter().position(|one| matches!(one.target, Target::Rest(_)));
        for (at, parameter) in parameters.iter().enumerate() {
            let value = match (rest, arguments.get(at), &parameter.default) {
                (Some(rest), ..) if rest == at => {
                    Value::list(arguments.get(at..).unwrap_or(&[]).to_vec())
                }
                (_, Some(value), _) => value.clone(),
                (_, None, Some(default)) => self.eval(default)?,
                (_, None, None) => Value::Nil,
            };
            self.declare(&parameter.target, value)?;
        }
        Ok(())
    }

    /// A parameter is a variable of its own, whatever there is outside.
    fn declare(&mut self, target: &Target, value: Value) -> Result<(), Stop> {
        match target {
            Target::Local(name) => {
                self.locals.push((name.clone(), value));
                Ok(())
            }
            Target::Rest(inner) => self.declare(inner, value),
            Target::Group(targets) => {
                for target in targets {
                    if let Target::Local(name) = target {
                        self.locals.push((name.clone(), Value::Nil));
                    }
                }
                self.assign_all(targets, &value)
            }
            other => self.assign(other, value),
        }
    }

    /// A call without a receiver.
    fn function(
        &mut self,
        name: &Arc<str>,
        arguments: Vec<Value>,
        given: Option<&Given>,
    ) -> Answer {
        if arguments.is_empty()
            && let Some(value) = self.local(name)
        {
            return Ok(value.clone());
        }
        if let Some(block) = self.memory.functions.get(name).cloned() {
            return self.call_function(&block, arguments);
        }
        if let ("loop", Some(given)) = (&**name, given) {
            loop {
                if let Err(stop) = self.give_to(given, Vec::new()) {
                    return match stop {
                        Stop::Break(value) => Ok(value),
                        other => Err(other),
                    };
                }
            }
        }
        match (&**name, arguments.as_slice()) {
            ("raise" | "fail", arguments) => Err(constant::raised(arguments)),
            ("logger", []) => Ok(Value::Constant(constant::LOGGER.into())),
            ("require" | "require_relative" | "load" | "test", _) => Ok(Value::Bool(true)),
            // There is no terminal behind a filter.
            ("puts" | "print" | "p" | "pp" | "warn", _) => Ok(Value::Nil),
            ("format" | "sprintf", [Value::Text(pattern), rest @ ..]) => {
                let text = super::text::format(pattern, rest)?;
                limited(text.len())?;
                Ok(Value::text(&text))
            }
            ("rand", []) => Ok(Value::Float(self.random())),
            ("rand", [Value::Int(limit)]) if *limit > 0 => {
                Ok(Value::Int((self.random() * *limit as f64) as i64))
            }
            ("sleep", _) => Ok(Value::Int(0)),
            ("event", []) => Ok(Value::Event(0)),
            ("block_given?", []) => Ok(Value::Bool(false)),
            ("lambda" | "proc", []) => Ok(Value::Nil),
            (name, arguments) => {
                if let Some(value) = conversion::convert(name, arguments)? {
                    return Ok(value);
                }
                let message = format!("undefined local variable or method `{name}'");
                Err(Stop::raise("NameError", message))
            }
        }
    }

    /// A number from 0 up to 1 that follows from the time and what was done so far.
    fn random(&mut self) -> f64 {
        use std::hash::{BuildHasher, Hasher};
        let bits = std::hash::RandomState::new().build_hasher().finish();
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn returned(result: Answer) -> Answer {
    match result {
        Err(Stop::Return(value) | Stop::Next(value)) => Ok(value),
        other => other,
    }
}

/// The variable whose text a method changes.
fn changed_text(name: &str, receiver: &Kind) -> Option<Target> {
    let changes = CHANGE_TEXT.contains(&name) || (name.ends_with('!') && name != "!");
    if !changes {
        return None;
    }
    Some(match receiver {
        Kind::Local(name) => Target::Local(name.clone()),
        Kind::Kept(name) => Target::Kept(name.clone()),
        // `s << a << b`
        Kind::Call(call) if &*call.name == "<<" => {
            return changed_text("<<", &call.receiver.as_ref()?.kind);
        }
        Kind::Call(call) if &*call.name == "[]" => {
            Target::Index(Box::new(call.receiver.clone()?), call.arguments.clone())
        }
        _ => return None,
    })
}
