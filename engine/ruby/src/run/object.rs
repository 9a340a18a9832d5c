//! Methods of every value, and those of `nil`, `true`, `false` and exceptions.

use super::{Found1, Given, Machine, Stop, constant, methods};
use crate::dictionary::Key;
use crate::heap::Heap;
use crate::run::methods::{ANY, Methods, takes};
use crate::value::Value;

/// The methods of every value.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "!",
            "class",
            "freeze",
            "frozen?",
            "hash",
            "inspect",
            "itself",
            "nil?",
            "object_id",
            "tap",
            "then",
            "to_proc",
            "to_s",
        ],
    ),
    takes(0, 1, &["clone", "dup", "methods", "public_methods"]),
    takes(0, ANY, &["to_json"]),
    takes(
        1,
        1,
        &[
            "!=",
            "<=>",
            "==",
            "===",
            "=~",
            "eql?",
            "equal?",
            "instance_of?",
            "instance_variable_get",
            "is_a?",
            "kind_of?",
        ],
    ),
    takes(1, ANY, &["public_send", "respond_to?", "send", "try"]),
];

/// What `nil` has besides.
pub(in crate::run) const OF_NIL: &[Methods] =
    &[takes(0, 0, &["to_a", "to_f", "to_h", "to_i"]), takes(1, 1, &["&", "|"])];

/// What `true` and `false` have besides.
pub(in crate::run) const OF_TRUTH: &[Methods] = &[takes(1, 1, &["&", "^", "|"])];

impl Machine<'_, '_> {
    pub(super) fn object_method(
        &mut self,
        receiver: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("nil?", []) => Value::Bool(matches!(receiver, Value::Nil)),
            ("is_a?" | "kind_of?" | "instance_of?", [class]) => {
                Value::Bool(self.is_kind(receiver, &class.print(heap)))
            }
            ("class", []) => Value::Constant(receiver.class().into()),
            ("to_s", []) => heap.text(&receiver.print(heap)),
            ("inspect", []) => heap.text(&receiver.inspect(heap)),
            ("to_json", _) => constant::json_text(heap, receiver, false)?,
            ("eql?", [other]) => {
                let kinds = receiver.class() == other.class();
                // `[1]` is no `[1.0]` to `eql?`, as both are different keys.
                let same_key = || match receiver {
                    Value::List(_) | Value::Hash(_) => {
                        Key::of(heap, receiver) == Key::of(heap, other)
                    }
                    _ => true,
                };
                Value::Bool(kinds && receiver.equals(heap, other) && same_key())
            }
            ("==", [other]) => Value::Bool(receiver.equals(heap, other)),
            ("!=", [other]) => Value::Bool(!receiver.equals(heap, other)),
            ("===", [other]) => Value::Bool(self.case_equal(receiver, other)?),
            ("!", []) => Value::Bool(!receiver.is_true()),
            ("equal?", [other]) => Value::Bool(match (receiver, other) {
                (Value::List(left), Value::List(right)) => left == right,
                (Value::Hash(left), Value::Hash(right)) => left == right,
                (left, right) => left.class() == right.class() && left.equals(heap, right),
            }),
            ("instance_variable_get", [name]) => match receiver {
                Value::Object(object) => {
                    object.fields.get(heap, &heap.text(&name.print(heap))).unwrap_or_default()
                }
                _ => Value::Nil,
            },
            ("dup" | "clone", _) => copy(heap, receiver),
            ("freeze" | "itself" | "to_proc", []) => receiver.clone(),
            ("frozen?", []) => Value::Bool(matches!(
                receiver,
                Value::Nil | Value::Bool(_) | Value::Symbol(_) | Value::Range(_) | Value::Regex(..)
            )),
            ("object_id", []) if matches!(receiver, Value::Nil) => Value::Int(8),
            ("object_id", []) if matches!(receiver, Value::Bool(_)) => {
                Value::Int(if receiver.is_true() { 20 } else { 0 })
            }
            ("object_id", []) if matches!(receiver, Value::Int(_)) => {
                let Value::Int(number) = receiver else { return Ok(None) };
                Value::Int(number.saturating_mul(2).saturating_add(1))
            }
            ("method", [_]) => {
                let message = "`method` of a value is not known here; a lambda is".to_string();
                return Err(Stop::Unknown(message));
            }
            ("respond_to?", [method, ..]) => {
                Value::Bool(self.responds(receiver, &method.print(heap)))
            }
            ("methods" | "public_methods", _) => {
                let names = methods::listed(receiver).into_iter();
                heap.list(names.map(|name| Value::Symbol(name.into())).collect())
            }
            ("hash" | "object_id", []) => Value::Int(receiver.inspect(heap).len() as i64),
            ("tap" | "then", []) => {
                let Some(given) = given else { return Ok(None) };
                let result = self.give_to(given, vec![receiver.clone()])?;
                if name == "tap" { receiver.clone() } else { result }
            }
            ("send" | "public_send" | "try", [method, rest @ ..]) => {
                let method = method.print(heap);
                self.invoke(receiver, &method, rest, given)?
            }
            ("dig", [first, rest @ ..]) if !rest.is_empty() => {
                match self.invoke(receiver, "dig", std::slice::from_ref(first), None)? {
                    Value::Nil => Value::Nil,
                    inner if !methods::has(&inner, "dig") => {
                        let message = format!("{} does not have #dig method", inner.class());
                        return Err(Stop::raise("TypeError", message));
                    }
                    inner => self.invoke(&inner, "dig", rest, None)?,
                }
            }
            ("=~", [_]) => Value::Nil,
            ("<=>", [other]) => match super::enumerable::order(heap, receiver, other) {
                Some(order) => Value::Int(order as i64),
                None => Value::Nil,
            },
            _ => return nil_or_truth(heap, receiver, name, arguments),
        }))
    }

    /// Whether a value has a method; asked by code that goes over nested values.
    fn responds(&self, value: &Value, name: &str) -> bool {
        let own = match value {
            Value::Object(object) => self.has_method(&object.class, name),
            value => methods::has(value, name),
        };
        own || methods::is_of_all(name)
    }

    /// `to_s`, also of events.
    pub(super) fn print(&mut self, value: &Value) -> Result<String, Stop> {
        let heap = self.heap;
        match value {
            Value::Event(_) | Value::Object(_) => {
                Ok(self.invoke(value, "to_s", &[], None)?.print(heap))
            }
            other => Ok(other.print(heap)),
        }
    }

    /// `when a`: of the class, matched by the pattern, in the range, or equal.
    pub(super) fn case_equal(&mut self, pattern: &Value, value: &Value) -> Result<bool, Stop> {
        let heap = self.heap;
        Ok(match pattern {
            Value::Constant(class) => self.is_kind(value, class),
            Value::Regex(..) => match value {
                Value::Text(_) | Value::Symbol(_) => {
                    self.invoke(pattern, "=~", std::slice::from_ref(value), None)?.is_true()
                }
                _ => false,
            },
            Value::Range(_) => {
                self.invoke(pattern, "include?", std::slice::from_ref(value), None)?.is_true()
            }
            Value::Address(..) => {
                self.invoke(pattern, "===", std::slice::from_ref(value), None)?.is_true()
            }
            Value::Lambda(_) => {
                self.invoke(pattern, "call", std::slice::from_ref(value), None)?.is_true()
            }
            Value::Set(_) => {
                self.invoke(pattern, "include?", std::slice::from_ref(value), None)?.is_true()
            }
            pattern => pattern.equals(heap, value),
        })
    }

    /// Whether a value is of a class or one above it, of Ruby or of the code.
    pub(super) fn is_kind(&self, value: &Value, class: &str) -> bool {
        match value {
            Value::Object(object) if class != "Struct" => {
                self.is_above(&object.class, class) || matches!(class, "Object" | "BasicObject")
            }
            Value::Error(error) => self.is_above(&error.0, class),
            value => constant::is_kind(value, class),
        }
    }
}

fn nil_or_truth(heap: &Heap, receiver: &Value, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (receiver, name, arguments) {
        (Value::Nil, "to_a", []) => heap.list(Vec::new()),
        (Value::Nil, "to_i", []) => Value::Int(0),
        (Value::Nil, "to_f", []) => Value::Float(0.0),
        (Value::Nil, "to_h", []) => heap.hash([]),
        (Value::Nil, "&", [_]) => Value::Bool(false),
        (Value::Nil, "|", [other]) => Value::Bool(other.is_true()),
        (Value::Bool(left), "&", [right]) => Value::Bool(*left && right.is_true()),
        (Value::Bool(left), "|", [right]) => Value::Bool(*left || right.is_true()),
        (Value::Bool(left), "^", [right]) => Value::Bool(*left != right.is_true()),
        (Value::Symbol(name), "to_sym", []) => Value::Symbol(name.clone()),
        _ => return Ok(None),
    }))
}

/// A value in a sentence about its kind.
pub(super) fn word_of(value: &Value) -> &str {
    match value {
        Value::Nil => "nil",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        other => other.class(),
    }
}

/// A copy that shares nothing at the top.
fn copy(heap: &Heap, value: &Value) -> Value {
    match value {
        Value::List(items) => heap.list(items.items(heap)),
        Value::Hash(hash) => Value::Hash(hash.copy(heap)),
        other => other.clone(),
    }
}
