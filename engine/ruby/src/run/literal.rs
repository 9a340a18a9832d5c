//! Values of literals, names and lists of arguments.

use super::{Answer, Machine, Stop, constant, event, limited, object, pattern, text};
use crate::text::{Content, Encoding};
use crate::tree::{Kind, Node, Part, Variable};
use crate::value::Value;
use std::sync::Arc;
use temblor_logstash_event::reference::FieldRef;

impl Machine<'_, '_> {
    /// `{ a => b }`
    pub(super) fn pairs(&mut self, pairs: &[(Node, Node)]) -> Answer {
        let mut values = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let name = self.eval(key)?;
            match (&key.kind, name) {
                (Kind::Splat(_), Value::Hash(others)) => values.extend(others.pairs(self.heap)),
                (Kind::Splat(_), Value::Nil) => {}
                (Kind::Splat(_), other) => {
                    let what = object::word_of(&other);
                    let message = format!("no implicit conversion of {what} into Hash");
                    return Err(Stop::raise("TypeError", message));
                }
                (_, name) => values.push((name, self.eval(value)?)),
            }
        }
        Ok(self.heap.hash(values))
    }

    /// `event.get("a")`
    pub(super) fn field(&self, variable: &Variable, field: &FieldRef) -> Value {
        let number = match self.variable(variable) {
            Value::Event(number) => number,
            _ => 0,
        };
        let value = self.events[number].value_of(field);
        value.as_ref().map_or(Value::Nil, |value| Value::of_datum(self.heap, value))
    }

    /// Values in a list or among arguments. Each is held while the next ones are computed.
    pub(super) fn values(&mut self, nodes: &[Node]) -> Result<Vec<Value>, Stop> {
        match nodes {
            [] => return Ok(Vec::new()),
            [one] if !matches!(one.kind, Kind::Splat(_)) => return Ok(vec![self.eval(one)?]),
            _ => {}
        }
        let base = self.held.len();
        let result = self.hold_values(nodes);
        let values = self.held.split_off(base);
        result.map(|()| values)
    }

    pub(super) fn hold_values(&mut self, nodes: &[Node]) -> Result<(), Stop> {
        for node in nodes {
            let value = self.eval(node)?;
            match (&node.kind, value) {
                (Kind::Splat(_), Value::Nil) => {}
                (
                    Kind::Splat(_),
                    spread @ (Value::List(_) | Value::Range(_) | Value::Hash(_) | Value::Set(_)),
                ) => {
                    let items = self.items(&spread)?;
                    self.held.extend(items);
                }
                (Kind::Splat(_), Value::Object(object)) if object.is_record(self.heap) => {
                    let pairs = object.fields.pairs(self.heap);
                    self.held.extend(pairs.into_iter().map(|(_, value)| value));
                }
                (_, value) => self.held.push(value),
            }
        }
        Ok(())
    }

    /// `"a#{b}"`; bytes stay bytes.
    pub(super) fn interpolated(&mut self, parts: &[Part]) -> Answer {
        let heap = self.heap;
        if let [Part::Text(text)] = parts {
            return Ok(heap.shared_text(text));
        }
        let mut whole = Content::Plain("".into());
        for part in parts {
            let part = match part {
                Part::Text(part) => Content::Plain(part.clone()),
                Part::Bytes(bytes) => Content::of(bytes, Encoding::Utf8),
                Part::Code(node) => match self.eval(node)? {
                    Value::Text(text) => text.content(heap),
                    value => Content::Plain(self.print(&value)?.into()),
                },
            };
            whole = text::joined(&whole, &part)?;
            limited(whole.bytes().len())?;
        }
        Ok(heap.text_of(whole))
    }

    pub(super) fn interpolate(&mut self, parts: &[Part]) -> Result<String, Stop> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Bytes(bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
                Part::Code(node) => {
                    let value = self.eval(node)?;
                    text.push_str(&self.print(&value)?);
                }
            }
            limited(text.len())?;
        }
        Ok(text)
    }

    pub(super) fn kept(&self, name: &Arc<str>) -> Value {
        let heap = self.heap;
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
            ("`", Some(found)) => heap.text(found.before()),
            ("'", Some(found)) => heap.text(found.after()),
            ("&", Some(found)) => pattern::group(heap, found, &Value::Int(0)),
            ("stderr" | "stdout", _) => Value::Constant(constant::LOGGER.into()),
            (digits, found) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let group = found.as_ref().zip(digits.parse::<usize>().ok());
                let text = group.and_then(|(found, group)| found.group(group));
                text.map_or(Value::Nil, |text| heap.text(text))
            }
            _ => self.memory.kept.get(name).cloned().unwrap_or_default(),
        }
    }

    /// `defined?(a)`: what it is, or `nil`.
    pub(super) fn defined(&mut self, node: &Node) -> Value {
        let kind = match &node.kind {
            Kind::Local(_) => "local-variable",
            Kind::Call(call) if &*call.name == "yield" => "yield",
            Kind::Call(_) => "method",
            Kind::Kept(name) if name.starts_with('$') => "global-variable",
            Kind::Kept(_) => "instance-variable",
            Kind::Constant(_) => "constant",
            Kind::Assign(..) | Kind::AssignAll(..) | Kind::Change(..) => "assignment",
            Kind::Itself => "self",
            _ => "expression",
        };
        let there = match &node.kind {
            Kind::Local(_) => true,
            Kind::Call(call) if call.receiver.is_none() => {
                self.is_own_method(&call.name)
                    || self.memory.functions.contains_key(&call.name)
                    || event::is_given(&call.name)
            }
            Kind::Kept(name) => {
                self.memory.kept.contains_key(name)
                    || self.own_field(name).is_some_and(|value| !matches!(value, Value::Nil))
            }
            Kind::Assign(..) | Kind::AssignAll(..) | Kind::Change(..) => true,
            Kind::Constant(name) => {
                self.memory.kept.contains_key(name)
                    || self.is_class(name)
                    || constant::NAMES.contains(&&**name)
            }
            _ => self.eval(node).is_ok(),
        };
        if there { self.heap.text(kind) } else { Value::Nil }
    }
}
