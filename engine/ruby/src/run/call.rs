//! Calls functions, methods by the class of the receiver, and blocks.

use super::random::Random;
use super::{Answer, Found1, Given, Machine, Stop, constant, conversion, limited, methods};
use crate::budget::STEP_BYTES;
use crate::heap::Heap;
use crate::numeric;
use crate::run::methods::{ANY, Methods, takes};
use crate::tree::{Call, Kind, Node};
use crate::value::{Clock, Range, Value};
use std::sync::Arc;

/// The methods of exceptions.
pub(in crate::run) const OF_EXCEPTIONS: &[Methods] = &[takes(
    0,
    0,
    &["backtrace", "cause", "detailed_message", "exception", "full_message", "message", "to_s"],
)];

/// Methods that take no longer for a long text than for a short one.
const CHEAP: &[&str] =
    &["<<", "concat", "empty?", "bytesize", "nil?", "is_a?", "class", "frozen?", "freeze", "to_s"];
/// Seconds that code may sleep at a time.
const SLEEP_SECONDS_MAX: f64 = 3_600.0;
/// Letters of a value in the message that it has no such method.
const SHOWN_MAX: usize = 65;

impl Machine<'_, '_> {
    pub(super) fn call(&mut self, call: &Call) -> Answer {
        match self.call_inner(call) {
            Err(Stop::Break(value, frame)) if call.block.is_some() && frame == self.frame => {
                Ok(value)
            }
            other => other,
        }
    }

    fn call_inner(&mut self, call: &Call) -> Answer {
        let receiver = match &call.receiver {
            Some(node) if self.is_top(node) => None,
            Some(node) => Some(self.eval(node)?),
            None => None,
        };
        if call.safe && matches!(receiver, Some(Value::Nil)) {
            return Ok(Value::Nil);
        }
        let base = self.held.len();
        if !call.arguments.is_empty() || call.passed.is_some() {
            self.held.extend(receiver.clone());
        }
        let result = self.call_with_operands(call, receiver);
        self.held.truncate(base);
        result
    }

    fn call_with_operands(&mut self, call: &Call, receiver: Option<Value>) -> Answer {
        let (arguments, given) = self.operands(call)?;
        if let Some(given) = &given {
            given.values(&mut self.held);
        }
        let Some(receiver) = receiver else {
            return self.function(&call.name, arguments, given.as_ref());
        };
        if let (Value::Time(..), Some(Node { kind: Kind::Local(name), .. })) =
            (&receiver, &call.receiver)
            && matches!(&*call.name, "utc" | "gmtime" | "localtime")
        {
            // A time is moved to another zone in its place.
            let moved = self.invoke(&receiver, &call.name, &arguments, None)?;
            if matches!(receiver, Value::Time(_, Clock::Time | Clock::Utc)) {
                self.set_variable(name, moved.clone());
            }
            return Ok(moved);
        }
        self.invoke(&receiver, &call.name, &arguments, given.as_ref())
    }

    /// The arguments and the code of a call.
    fn operands(&mut self, call: &Call) -> Result<(Vec<Value>, Option<Given>), Stop> {
        let arguments = self.values(&call.arguments)?;
        if call.passed.is_none() {
            return Ok((arguments, self.given(call)?));
        }
        let given = self.opaquely(|machine| machine.given(call))?;
        Ok((arguments, given))
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

    /// Calls a method; an exception when the value has none of that name.
    pub(super) fn invoke(
        &mut self,
        receiver: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Answer {
        self.pay(receiver, name, arguments)?;
        // A method of the code itself holds nothing; one of ours does, unless it is known to name what it holds.
        let transparent = match receiver {
            Value::Object(_) | Value::Lambda(_) => true,
            _ => given.is_some() && names_what_it_holds(receiver, name),
        };
        self.deeper(|machine| match (transparent, given) {
            (true, Some(_)) => {
                let values = arguments.iter().chain([receiver]).cloned();
                machine.keeping(values.collect::<Vec<_>>(), |machine| {
                    machine.answer(receiver, name, arguments, given)
                })
            }
            (true, None) => machine.answer(receiver, name, arguments, given),
            (false, _) => {
                machine.opaquely(|machine| machine.answer(receiver, name, arguments, given))
            }
        })
    }

    fn answer(
        &mut self,
        receiver: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Answer {
        let found = match self.method(receiver, name, arguments, given) {
            Ok(None) => self.object_method(receiver, name, arguments, given),
            other => other,
        };
        // What a bound has cut short is no result, and no mistake of the code either.
        self.heap.check()?;
        if let Some(found) = found? {
            self.heap.budget().hold(found.shared_bytes());
            return Ok(found);
        }
        self.unknown(receiver, name, arguments)
    }

    /// What is wrong with a call that no method has answered.
    fn unknown(&mut self, receiver: &Value, name: &str, arguments: &[Value]) -> Answer {
        if methods::lacks(receiver, name) {
            let message = format!("the method `{name}` of {} is not known here", receiver.class());
            return Err(Stop::Unknown(message));
        }
        if let Some((least, most)) = methods::arity(receiver, name)
            && !(usize::from(least)..=usize::from(most)).contains(&arguments.len())
        {
            let expected = match most {
                most if most == least => least.to_string(),
                ANY => format!("{least}+"),
                most => format!("{least}..{most}"),
            };
            let given = arguments.len();
            let message = format!("wrong number of arguments (given {given}, expected {expected})");
            return Err(Stop::raise("ArgumentError", message));
        }
        let of = match receiver {
            Value::Constant(class) => format!("{class}:Class"),
            value => match value.inspect(self.heap) {
                shown if shown.len() > SHOWN_MAX => format!("#<{}>", value.class()),
                shown => format!("{shown}:{}", value.class()),
            },
        };
        Err(Stop::raise("NoMethodError", format!("undefined method `{name}' for {of}")))
    }

    /// Pays for the work that a method has with these values; lists and hashes pay when they are gone through.
    fn pay(&mut self, receiver: &Value, name: &str, arguments: &[Value]) -> Result<(), Stop> {
        let work = |value: &Value| match value {
            Value::Text(text) => text.len(self.heap) / STEP_BYTES,
            Value::Symbol(name) => name.len() / STEP_BYTES,
            Value::Big(number) => work_of_bits(number.bits()),
            Value::Rational(parts) => work_of_bits(parts.0.bits().max(parts.1.bits())),
            Value::Decimal(number) => work_of_bits(number.digits.bits()),
            _ => 0,
        };
        let own = if CHEAP.contains(&name) { 0 } else { work(receiver) };
        let all = own + arguments.iter().map(work).sum::<usize>();
        if self.heap.budget().spend(1 + all) { Ok(()) } else { Ok(self.heap.check()?) }
    }

    fn method(
        &mut self,
        receiver: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let defines_its_own = matches!(receiver, Value::Object(_) | Value::Constant(_));
        if !defines_its_own && !methods::has(receiver, name) {
            return Ok(None);
        }
        match receiver {
            Value::Text(text) => self.string_method(*text, name, arguments, given),
            Value::Symbol(text) => {
                let found = self.text_method(text, name, arguments, given)?;
                let stays = matches!(
                    name,
                    "upcase" | "downcase" | "capitalize" | "swapcase" | "succ" | "next"
                );
                Ok(found.map(|found| match stays {
                    true => Value::Symbol(found.print(heap).into()),
                    false => found,
                }))
            }
            number if number.is_number() => self.number_method(receiver, name, arguments, given),
            Value::Set(set) => self.set_method(*set, name, arguments, given),
            Value::Object(object) => self.instance_method(object, name, arguments, given),
            Value::List(items) => self.list_method(*items, name, arguments, given),
            Value::Hash(hash) => self.hash_method(*hash, name, arguments, given),
            Value::Range(range) => {
                let range = range.get(self.heap);
                self.range_method(&range, name, arguments, given)
            }
            Value::Time(time, clock) => self.time_method(*time, *clock, name, arguments, given),
            Value::Regex(pattern, text) => self.regex_method(pattern, text, name, arguments),
            Value::Match(found) => Ok(super::pattern::match_method(heap, found, name, arguments)),
            Value::Event(number) => self.event_method(*number, name, arguments),
            Value::Lambda(closure) => self.lambda_method(*closure, name, arguments),
            Value::Address(address, length) => {
                super::address::method(heap, *address, *length, name, arguments)
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
            Value::Error(error) => Ok(match (name, arguments) {
                ("message" | "to_s" | "full_message" | "detailed_message", []) => {
                    Some(heap.text(&error.1))
                }
                ("backtrace", []) => Some(heap.list(Vec::new())),
                ("cause", []) => Some(Value::Nil),
                ("exception", []) => Some(receiver.clone()),
                _ => None,
            }),
            _ => Ok(None),
        }
    }

    /// Runs the code that a method was given.
    pub(super) fn give_to(&mut self, given: &Given, arguments: Vec<Value>) -> Answer {
        let heap = self.heap;
        self.step()?;
        match given {
            Given::Block(block) => {
                match self.run_block(block, Some(self.scope), arguments, true, None) {
                    Err(Stop::Next(value)) => Ok(value),
                    other => other,
                }
            }
            Given::Lambda(closure) => self.call_lambda(*closure, arguments, true),
            Given::Counted(inner, counter) => {
                let at = counter.get();
                counter.set(at.saturating_add(1));
                let arguments = vec![packed(heap, arguments), Value::Int(at)];
                self.give_to(inner, arguments)
            }
            Given::Gather(list) => {
                limited(list.len(heap))?;
                list.push(heap, packed(heap, arguments));
                Ok(Value::Nil)
            }
            Given::With(inner, object) => {
                let arguments = vec![packed(heap, arguments), object.clone()];
                self.give_to(inner, arguments)
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

    /// A call without a receiver.
    fn function(
        &mut self,
        name: &Arc<str>,
        arguments: Vec<Value>,
        given: Option<&Given>,
    ) -> Answer {
        if let Some(value) = self.class_word(name, &arguments) {
            return Ok(value);
        }
        let this = self.this.clone();
        let own = match &this {
            Value::Object(object) => self.instance_method(object, name, &arguments, given)?,
            Value::Constant(class) => self.class_method(class, name, &arguments, given)?,
            _ => None,
        };
        if let Some(value) = own {
            return Ok(value);
        }
        if let Some(block) = self.memory.functions.get(name).cloned() {
            return self.call_function(&block, arguments, given);
        }
        if let Some(given) = given
            && let Some(value) = self.function_with_code(name, &arguments, given)?
        {
            return Ok(value);
        }
        self.known_function(name, &arguments)
    }

    /// Functions of Ruby that run code.
    fn function_with_code(&mut self, name: &str, arguments: &[Value], given: &Given) -> Found1 {
        Ok(Some(match name {
            "loop" => loop {
                match self.give_to(given, Vec::new()) {
                    Ok(_) => {}
                    Err(Stop::Raised(error)) if error.0 == "StopIteration" => break Value::Nil,
                    Err(stop) => return Err(stop),
                }
            },
            "catch" => self.catch(arguments, given)?,
            "test" | "parameters" | "in_event" | "expect" => {
                self.test_word(name, arguments, given)?
            }
            "lambda" | "proc" => self.value_of(given),
            _ => return Ok(None),
        }))
    }

    /// Functions of Ruby.
    pub(super) fn known_function(&mut self, name: &Arc<str>, arguments: &[Value]) -> Answer {
        let heap = self.heap;
        match (&**name, arguments) {
            ("raise" | "fail", []) => match self.memory.kept.get("$!") {
                Some(Value::Error(error)) => Err(Stop::Raised(error.clone())),
                _ => Err(constant::raised(heap, &[])),
            },
            ("raise" | "fail", [Value::Constant(class), rest @ ..]) if self.is_class(class) => {
                match self.invoke(&arguments[0], "new", rest.get(..1).unwrap_or(&[]), None)? {
                    Value::Error(error) => Err(Stop::Raised(error)),
                    _ => Err(Stop::raise("TypeError", "exception class/object expected")),
                }
            }
            ("raise" | "fail", arguments) => Err(constant::raised(heap, arguments)),
            ("throw", [tag, rest @ ..]) => Err(self.throw(tag, rest.first())),
            ("yield", arguments) => match self.given.clone() {
                Some(given) => self.give_to(&given, arguments.to_vec()),
                None => Err(Stop::raise("LocalJumpError", "no block given (yield)")),
            },
            ("block_given?", []) => Ok(Value::Bool(self.given.is_some())),
            ("method", [name]) => self.method_named(&name.print(heap)),
            ("logger", []) => Ok(Value::Constant(constant::LOGGER.into())),
            ("require" | "require_relative" | "load" | "test", _) => Ok(Value::Bool(true)),
            // There is no terminal behind a filter.
            ("puts" | "print" | "pp" | "warn", _) => Ok(Value::Nil),
            ("p", [one]) => Ok(one.clone()),
            ("p", []) => Ok(Value::Nil),
            ("p", all) => Ok(heap.list(all.to_vec())),
            ("format" | "sprintf", [Value::Text(pattern), rest @ ..]) => {
                let text = super::text::format(heap, &pattern.str(heap), rest)?;
                limited(text.len())?;
                Ok(heap.text(&text))
            }
            ("rand", []) => Ok(Value::Float(self.random())),
            ("rand", [Value::Int(limit)]) if *limit > 0 => {
                Ok(Value::Int((self.random() * *limit as f64) as i64))
            }
            ("rand", [Value::Float(limit)]) if *limit > 0.0 => {
                Ok(Value::Float(self.random() * limit))
            }
            ("rand", [Value::Range(range)]) => match range.get(heap) {
                Range { from: Value::Int(from), to: Value::Int(to), exclusive } if from <= to => {
                    let count = (to as f64 - from as f64) + f64::from(!exclusive);
                    Ok(Value::Int(from.saturating_add((self.random() * count) as i64)))
                }
                _ => Err(Stop::raise("ArgumentError", "invalid argument for rand")),
            },
            ("srand", _) => Ok(Value::Int(0)),
            ("sleep", [seconds]) if seconds.is_number() => self.sleep(seconds),
            ("sleep", []) => Err(Stop::Unknown("`sleep` without seconds never ends".to_string())),
            ("event", []) => Ok(Value::Event(0)),
            (name, arguments) => {
                if let Some(value) = conversion::convert(heap, name, arguments)? {
                    return Ok(value);
                }
                let message = format!("undefined local variable or method `{name}'");
                Err(Stop::raise("NameError", message))
            }
        }
    }

    /// `sleep 1.5`: the filter waits when the code has ended, so that nothing waits in between.
    fn sleep(&mut self, seconds: &Value) -> Answer {
        let seconds = numeric::float(seconds).unwrap_or(0.0);
        if seconds < 0.0 {
            return Err(Stop::raise("ArgumentError", "time interval must not be negative"));
        }
        let slept_ns = (seconds.min(SLEEP_SECONDS_MAX) * 1e9) as u64;
        self.slept_ns = self.slept_ns.saturating_add(slept_ns);
        Ok(Value::Int(seconds.min(SLEEP_SECONDS_MAX).round() as i64))
    }

    /// A number from 0 up to 1.
    fn random(&mut self) -> f64 {
        Random::new().fraction()
    }
}

/// Methods that go through items and put all that they hold meanwhile into `held`.
const GO_THROUGH: &[&str] = &[
    "each",
    "each_pair",
    "each_with_index",
    "each_with_object",
    "each_index",
    "each_slice",
    "map",
    "collect",
    "flat_map",
    "any?",
    "all?",
    "none?",
    "find",
    "detect",
    "inject",
    "reduce",
];

/// Whether a method puts all values that it holds while code runs into `held`, beside receiver and arguments.
fn names_what_it_holds(receiver: &Value, name: &str) -> bool {
    match receiver {
        Value::Int(_) => matches!(name, "times" | "upto" | "downto" | "step"),
        Value::List(_) | Value::Hash(_) | Value::Range(_) | Value::Set(_) => {
            GO_THROUGH.contains(&name)
        }
        _ => false,
    }
}

/// The work of multiplying or printing a number of so many bits.
fn work_of_bits(bits: u64) -> usize {
    let words = bits as usize / 64;
    words * words / STEP_BYTES
}

/// Several values as one.
fn packed(heap: &Heap, mut arguments: Vec<Value>) -> Value {
    match arguments.len() {
        1 => arguments.remove(0),
        _ => heap.list(arguments),
    }
}
