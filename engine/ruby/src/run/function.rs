//! Functions, lambdas and blocks: how arguments are bound to parameters, and which variables
//! they see.

use super::{Answer, Found1, Given, Machine, Stop};
use crate::heap::{ClosureRef, HashRef, Heap, ScopeRef};
use crate::run::methods::{ANY, Methods, takes};
use crate::tree::{Block, Parameter, Role, Target, Variable};
use crate::value::{Closure, Value};
use std::sync::Arc;

/// The methods of lambdas.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(0, 0, &["arity", "lambda?", "parameters", "to_proc"]),
    takes(0, ANY, &["===", "[]", "call", "yield"]),
];

impl Machine<'_, '_> {
    /// Code with the variables that it sees now.
    pub(super) fn closure(&self, block: &Arc<Block>, is_lambda: bool) -> Value {
        Value::Lambda(self.closed(block, is_lambda))
    }

    fn closed(&self, block: &Arc<Block>, is_lambda: bool) -> ClosureRef {
        let (block, scope, frame) = (block.clone(), self.scope, self.frame);
        self.heap.closure(Closure { block, scope, frame, is_lambda, this: self.this.clone() })
    }

    /// A block as a value.
    pub(super) fn value_of(&self, given: &Given) -> Value {
        match given {
            Given::Block(block) => self.closure(block, false),
            Given::Lambda(closure) => Value::Lambda(*closure),
            Given::Method(name) => Value::Symbol(name.clone()),
            Given::Counted(inner, _) | Given::With(inner, _) => self.value_of(inner),
            Given::Gather(list) => Value::List(*list),
        }
    }

    /// `method(:a)`
    pub(super) fn method_named(&mut self, name: &str) -> Answer {
        let Some(block) = self.memory.functions.get(name).cloned() else {
            let message = format!("undefined method `{name}'");
            return Err(Stop::raise("NameError", message));
        };
        let (scope, this) = (ScopeRef::NONE, self.this.clone());
        let closure = Closure { block, scope, frame: 0, is_lambda: true, this };
        Ok(Value::Lambda(self.heap.closure(closure)))
    }

    /// A method of a lambda.
    pub(super) fn lambda_method(
        &mut self,
        lambda: ClosureRef,
        name: &str,
        arguments: &[Value],
    ) -> Found1 {
        let Some(closure) = lambda.get(self.heap) else { return Ok(None) };
        Ok(Some(match (name, arguments) {
            ("call" | "()" | "yield" | "[]" | "===", arguments) => {
                if closure.is_lambda {
                    fitting(&closure.block.parameters, arguments)?;
                }
                self.call_lambda(lambda, arguments.to_vec(), !closure.is_lambda)?
            }
            ("lambda?", []) => Value::Bool(closure.is_lambda),
            ("arity", []) => Value::Int(arity(&closure.block.parameters)),
            ("to_proc", []) => Value::Lambda(lambda),
            ("parameters", []) => self.heap.list(Vec::new()),
            _ => return Ok(None),
        }))
    }

    pub(super) fn call_lambda(
        &mut self,
        lambda: ClosureRef,
        arguments: Vec<Value>,
        spread: bool,
    ) -> Answer {
        let Some(closure) = lambda.get(self.heap) else { return Ok(Value::Nil) };
        let this = std::mem::replace(&mut self.this, closure.this.clone());
        let outer = self.enter();
        let frame = self.frame;
        let result = self.keeping([this.clone()], |machine| {
            machine.run_block(&closure.block, Some(closure.scope), arguments, spread, None)
        });
        self.frame = outer;
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

    /// A call begins: gives the number of the one around.
    fn enter(&mut self) -> u64 {
        self.memory.calls_made += 1;
        std::mem::replace(&mut self.frame, self.memory.calls_made)
    }

    /// Runs code with variables of its own, and those of `around`.
    pub(super) fn run_block(
        &mut self,
        block: &Block,
        around: Option<ScopeRef>,
        arguments: Vec<Value>,
        spread: bool,
        passed: Option<Value>,
    ) -> Answer {
        self.deeper(|machine| {
            let scope = machine.heap.scope(block.slots.into(), around);
            let outer = (machine.scope, machine.method_scope);
            machine.scope = scope;
            if around.is_none() {
                machine.method_scope = scope;
            }
            let result = machine
                .opaquely(|machine| machine.bind(&block.parameters, arguments, spread, passed))
                .and_then(|()| {
                    machine.relieve();
                    machine.eval(&block.body)
                });
            (machine.scope, machine.method_scope) = outer;
            scope.leave(machine.heap);
            result
        })
    }

    /// Runs the body of a class, which has variables of its own.
    pub(super) fn run_class(&mut self, body: &Block) -> Answer {
        let outer = self.enter();
        let result = self.run_block(body, None, Vec::new(), false, None);
        self.frame = outer;
        result
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
            Given::Block(block) => Given::Lambda(self.closed(block, false)),
            other => other.clone(),
        });
        let passed = given.as_ref().map_or(Value::Nil, |given| self.value_of(given));
        let outer_given = std::mem::replace(&mut self.given, given);
        let mut kept = Vec::new();
        outer_given.iter().for_each(|given| given.values(&mut kept));
        let outer = self.enter();
        let frame = self.frame;
        let result = self.keeping(kept, |machine| {
            machine.run_block(block, None, arguments, false, Some(passed))
        });
        self.frame = outer;
        self.given = outer_given;
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
        let heap = self.heap;
        if let (
            [Parameter { target: Target::Local(variable), default: None, role: Role::Position }],
            [_],
        ) = (parameters, arguments.as_slice())
        {
            self.set_variable(variable, arguments.swap_remove(0));
            return Ok(());
        }
        let places = parameters.iter().filter(|one| one.role == Role::Position).count();
        if spread
            && places > 1
            && let [Value::List(items)] = arguments.as_slice()
        {
            let items = items.items(heap);
            arguments = items;
        }
        let keys = match keyed(parameters, &arguments) {
            true => arguments.pop(),
            false => None,
        };
        let needed = parameters.iter().filter(|one| is_needed(one)).count();
        let optional =
            parameters.iter().filter(|one| one.default.is_some() && one.role == Role::Position);
        let optional = optional.count();
        let mut defaults_left = arguments.len().saturating_sub(needed);
        let rest = arguments.len().saturating_sub(needed + optional);
        let mut values = arguments.into_iter();
        let mut named = Vec::new();
        let takes_any_key = parameters.iter().any(|one| one.role == Role::Keys);
        if let (Some(Value::Hash(keys)), false) = (&keys, takes_any_key || spread) {
            known_keys(heap, parameters, *keys)?;
        }
        for parameter in parameters {
            let value = match (parameter.role, &parameter.target, &parameter.default) {
                (Role::Position, Target::Rest(_), _) => {
                    heap.list(values.by_ref().take(rest).collect())
                }
                (Role::Position, _, Some(_)) if defaults_left > 0 => {
                    defaults_left -= 1;
                    values.next().unwrap_or_default()
                }
                (Role::Position, _, Some(default)) => self.eval(default)?,
                (Role::Position, _, None) => values.next().unwrap_or_default(),
                (Role::Key, Target::Local(Variable { name, .. }), default) => {
                    named.push(Value::Symbol(name.clone()));
                    let given = keys.as_ref().and_then(|keys| keys.entry(heap, name));
                    match (given, default) {
                        (Some(value), _) => value,
                        (None, Some(default)) => self.eval(default)?,
                        (None, None) => {
                            let message = format!("missing keyword: {name}");
                            return Err(Stop::raise("ArgumentError", message));
                        }
                    }
                }
                (Role::Keys, ..) => {
                    let pairs = match &keys {
                        Some(Value::Hash(pairs)) => pairs.pairs(heap),
                        _ => Vec::new(),
                    };
                    let other = |key: &Value| !named.iter().any(|one| one.equals(heap, key));
                    heap.hash(pairs.into_iter().filter(|(key, _)| other(key)))
                }
                (Role::Block, ..) => passed.clone().unwrap_or_default(),
                (Role::Key | Role::Own, ..) => Value::Nil,
            };
            self.assign(&parameter.target, value)?;
        }
        Ok(())
    }
}

fn is_needed(parameter: &Parameter) -> bool {
    parameter.role == Role::Position
        && parameter.default.is_none()
        && !matches!(parameter.target, Target::Rest(_))
}

/// Refuses a key that no parameter names.
fn known_keys(heap: &Heap, parameters: &[Parameter], keys: HashRef) -> Result<(), Stop> {
    for (key, _) in keys.pairs(heap) {
        let name = key.print(heap);
        let is_known = parameters.iter().any(|one| {
            one.role == Role::Key
                && matches!(&one.target, Target::Local(variable) if *variable.name == *name)
        });
        if !is_known {
            let message = format!("unknown keyword: {}", key.inspect(heap));
            return Err(Stop::raise("ArgumentError", message));
        }
    }
    Ok(())
}

/// Whether the last argument is the hash of the named ones.
fn keyed(parameters: &[Parameter], arguments: &[Value]) -> bool {
    let takes = parameters.iter().any(|one| matches!(one.role, Role::Key | Role::Keys));
    let needed = parameters.iter().filter(|one| is_needed(one)).count();
    takes && arguments.len() > needed && matches!(arguments.last(), Some(Value::Hash(_)))
}

fn has_rest(parameters: &[Parameter]) -> bool {
    parameters.iter().any(|one| one.role == Role::Position && matches!(one.target, Target::Rest(_)))
}

fn arity(parameters: &[Parameter]) -> i64 {
    let needed = parameters.iter().filter(|one| is_needed(one)).count() as i64;
    let places = parameters.iter().filter(|one| one.role == Role::Position).count() as i64;
    if needed == places { needed } else { -needed - 1 }
}

/// Whether a method or a lambda takes so many arguments.
fn fitting(parameters: &[Parameter], arguments: &[Value]) -> Result<(), Stop> {
    let given = arguments.len() - usize::from(keyed(parameters, arguments));
    let needed = parameters.iter().filter(|one| is_needed(one)).count();
    let most = parameters.iter().filter(|one| one.role == Role::Position).count();
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
