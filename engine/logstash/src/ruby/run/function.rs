//! Functions, lambdas and blocks: what they are given, and the variables that they see.

use super::{Answer, Found1, Given, Machine, Stop};
use crate::ruby::tree::{Block, Parameter, Role, Target};
use crate::ruby::value::{Closure, Value};
use std::sync::Arc;

/// The methods of lambdas.
pub(super) const NAMES: &[&str] = &["call", "yield", "lambda?", "arity", "parameters"];

impl Machine<'_, '_> {
    /// Code with the variables that it sees now.
    pub(super) fn closure(&self, block: &Arc<Block>, is_lambda: bool) -> Value {
        Value::Lambda(Arc::new(self.closed(block, is_lambda)))
    }

    fn closed(&self, block: &Arc<Block>, is_lambda: bool) -> Closure {
        let (block, locals) = (block.clone(), self.locals[self.base..].to_vec());
        Closure { block, locals, frame: self.frame, is_lambda, this: self.this.clone() }
    }

    /// A block as a value.
    pub(super) fn value_of(&self, given: &Given) -> Value {
        match given {
            Given::Block(block) => self.closure(block, false),
            Given::Lambda(closure) => Value::Lambda(closure.clone()),
            Given::Method(name) => Value::Symbol(name.clone()),
            Given::Counted(inner, _) | Given::With(inner, _) => self.value_of(inner),
        }
    }

    /// `method(:a)`
    pub(super) fn method_named(&mut self, name: &str) -> Answer {
        let Some(block) = self.memory.functions.get(name).cloned() else {
            let message = format!("undefined method `{name}'");
            return Err(Stop::raise("NameError", message));
        };
        let this = self.this.clone();
        let closure = Closure { block, locals: Vec::new(), frame: 0, is_lambda: true, this };
        Ok(Value::Lambda(Arc::new(closure)))
    }

    /// A method of a lambda.
    pub(super) fn lambda_method(
        &mut self,
        closure: &Arc<Closure>,
        name: &str,
        arguments: &[Value],
    ) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("call" | "()" | "yield" | "[]" | "===", arguments) => {
                if closure.is_lambda {
                    fitting(&closure.block.parameters, arguments)?;
                }
                self.call_lambda(closure, arguments.to_vec(), !closure.is_lambda)?
            }
            ("lambda?", []) => Value::Bool(closure.is_lambda),
            ("arity", []) => Value::Int(arity(&closure.block.parameters)),
            ("to_proc", []) => Value::Lambda(closure.clone()),
            ("parameters", []) => Value::list(Vec::new()),
            _ => return Ok(None),
        }))
    }

    pub(super) fn call_lambda(
        &mut self,
        closure: &Closure,
        arguments: Vec<Value>,
        spread: bool,
    ) -> Answer {
        let home = self.home(closure);
        let this = std::mem::replace(&mut self.this, closure.this.clone());
        self.enter();
        match &home {
            Some(home) => self.locals.extend_from_within(home.clone()),
            None => self.locals.extend(closure.locals.iter().cloned()),
        }
        let result = self
            .bind(&closure.block.parameters, arguments, spread, None)
            .and_then(|()| self.eval(&closure.block.body));
        // What it has set there is set for those who share the variables.
        for (at, place) in home.into_iter().flatten().enumerate() {
            self.locals[place].1 = self.locals[self.base + at].1.clone();
        }
        let frame = self.frame;
        self.leave();
        self.this = this;
        match result {
            Err(Stop::Next(value)) => Ok(value),
            Err(Stop::Return(value, of) | Stop::Break(value, of))
                if of == frame && closure.is_lambda =>
            {
                Ok(value)
            }
            // A block leaves the method that it was written in.
            Err(Stop::Return(value, of)) if of == frame => Err(Stop::Return(value, closure.frame)),
            Err(Stop::Break(value, of)) if of == frame => Err(Stop::Break(value, closure.frame)),
            other => other,
        }
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

    pub(super) fn enter(&mut self) {
        self.frames.push((self.frame, self.base));
        self.memory.calls_made += 1;
        self.frame = self.memory.calls_made;
        self.base = self.locals.len();
    }

    pub(super) fn leave(&mut self) {
        self.locals.truncate(self.base);
        (self.frame, self.base) = self.frames.pop().expect("a call was entered before");
    }

    pub(super) fn call_function(
        &mut self,
        block: &Arc<Block>,
        arguments: Vec<Value>,
        given: Option<&Given>,
    ) -> Answer {
        fitting(&block.parameters, &arguments)?;
        // The block sees the variables of the caller, wherever it is run.
        let given = given.map(|given| match given {
            Given::Block(block) => Given::Lambda(Arc::new(self.closed(block, false))),
            other => other.clone(),
        });
        let passed = given.as_ref().map_or(Value::Nil, |given| self.value_of(given));
        let outer = std::mem::replace(&mut self.given, given);
        self.enter();
        let result = self
            .bind(&block.parameters, arguments, false, Some(passed))
            .and_then(|()| self.eval(&block.body));
        let frame = self.frame;
        self.leave();
        self.given = outer;
        match result {
            Err(Stop::Return(value, of)) if of == frame => Ok(value),
            Err(Stop::Next(value)) => Ok(value),
            other => other,
        }
    }

    /// Gives parameters their values. A block with several takes a list apart.
    pub(super) fn bind(
        &mut self,
        parameters: &[Parameter],
        mut arguments: Vec<Value>,
        spread: bool,
        passed: Option<Value>,
    ) -> Result<(), Stop> {
        let places = parameters.iter().filter(|one| one.role == Role::Place).count();
        if spread
            && places > 1
            && let [Value::List(items)] = arguments.as_slice()
        {
            let items = items.lock().clone();
            arguments = items;
        }
        let keys = match keyed(parameters, &arguments) {
            true => arguments.pop(),
            false => None,
        };
        let needed = parameters.iter().filter(|one| is_needed(one)).count();
        let optional =
            parameters.iter().filter(|one| one.default.is_some() && one.role == Role::Place);
        let optional = optional.count();
        let mut defaults_left = arguments.len().saturating_sub(needed);
        let rest = arguments.len().saturating_sub(needed + optional);
        let mut values = arguments.into_iter();
        let mut named = Vec::new();
        for parameter in parameters {
            let value = match (parameter.role, &parameter.target, &parameter.default) {
                (Role::Place, Target::Rest(_), _) => {
                    Value::list(values.by_ref().take(rest).collect())
                }
                (Role::Place, _, Some(_)) if defaults_left > 0 => {
                    defaults_left -= 1;
                    values.next().unwrap_or_default()
                }
                (Role::Place, _, Some(default)) => self.eval(default)?,
                (Role::Place, _, None) => values.next().unwrap_or_default(),
                (Role::Key, Target::Local(name), default) => {
                    named.push(Value::Symbol(name.clone()));
                    let given = keys.as_ref().and_then(|keys| keys.entry(name));
                    match (given, default) {
                        (Some(value), _) => value,
                        (None, Some(default)) => self.eval(default)?,
                        (None, None) => {
                            let message = format!("missing keyword: :{name}");
                            return Err(Stop::raise("ArgumentError", message));
                        }
                    }
                }
                (Role::Keys, ..) => {
                    let pairs = match &keys {
                        Some(Value::Hash(pairs)) => pairs.lock().pairs(),
                        _ => Vec::new(),
                    };
                    let other = |key: &Value| !named.iter().any(|one| one.equals(key));
                    Value::hash(pairs.into_iter().filter(|(key, _)| other(key)))
                }
                (Role::Block, ..) => passed.clone().unwrap_or_default(),
                (Role::Key, ..) => Value::Nil,
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
                self.declare_all(targets);
                self.assign_all(targets, &value)
            }
            other => self.assign(other, value),
        }
    }

    fn declare_all(&mut self, targets: &[Target]) {
        for target in targets {
            match target {
                Target::Local(name) => self.locals.push((name.clone(), Value::Nil)),
                Target::Rest(inner) => self.declare_all(std::slice::from_ref(inner)),
                Target::Group(inner) => self.declare_all(inner),
                _ => {}
            }
        }
    }
}

fn is_needed(parameter: &Parameter) -> bool {
    parameter.role == Role::Place
        && parameter.default.is_none()
        && !matches!(parameter.target, Target::Rest(_))
}

/// Whether the last argument is the hash of the named ones.
fn keyed(parameters: &[Parameter], arguments: &[Value]) -> bool {
    let takes = parameters.iter().any(|one| matches!(one.role, Role::Key | Role::Keys));
    let needed = parameters.iter().filter(|one| is_needed(one)).count();
    takes && arguments.len() > needed && matches!(arguments.last(), Some(Value::Hash(_)))
}

fn has_rest(parameters: &[Parameter]) -> bool {
    parameters.iter().any(|one| one.role == Role::Place && matches!(one.target, Target::Rest(_)))
}

fn arity(parameters: &[Parameter]) -> i64 {
    let needed = parameters.iter().filter(|one| is_needed(one)).count() as i64;
    let places = parameters.iter().filter(|one| one.role == Role::Place).count() as i64;
    if needed == places { needed } else { -needed - 1 }
}

/// Whether a method or a lambda takes so many arguments.
fn fitting(parameters: &[Parameter], arguments: &[Value]) -> Result<(), Stop> {
    let given = arguments.len() - usize::from(keyed(parameters, arguments));
    let needed = parameters.iter().filter(|one| is_needed(one)).count();
    let most = parameters.iter().filter(|one| one.role == Role::Place).count();
    let rest = has_rest(parameters);
    if given >= needed && (rest || given <= most) {
        return Ok(());
    }
    let expected = match rest {
        true => format!("{needed}+"),
        false if needed == most => needed.to_string(),
        false => format!("{needed}..{most}"),
    };
    let message = format!("wrong number of arguments (given {given}, expected {expected})");
    Err(Stop::raise("ArgumentError", message))
}
