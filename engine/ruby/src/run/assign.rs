//! Assignments, to variables, elements and attributes.

use super::{Answer, Machine, Stop, limited};
use crate::tree::{Node, Target};
use crate::value::Value;
use std::sync::Arc;

impl Machine<'_, '_> {
    pub(super) fn assign(&mut self, target: &Target, value: Value) -> Result<(), Stop> {
        match target {
            Target::Local(variable) => self.set_variable(variable, value),
            Target::Kept(_) if super::class::is_constant(target) => {
                let Target::Kept(name) = target else { return Ok(()) };
                self.keep_constant(name, value);
            }
            Target::Kept(name) => {
                if !self.set_own_field(name, &value) {
                    self.memory.kept.insert(name.clone(), value);
                }
            }
            Target::Index(node, keys) => {
                let receiver = self.eval(node)?;
                let keys = self.values(keys)?;
                self.set_index(&receiver, &keys, value)?;
            }
            Target::Attribute(receiver, name) => {
                let receiver = self.eval(receiver)?;
                self.set_attribute(&receiver, name, value)?;
            }
            Target::Rest(inner) => self.assign(inner, value)?,
            Target::Group(targets) => self.assign_all(targets, &value)?,
        }
        Ok(())
    }

    /// The text with `new` where its part stands that `keys` choose.
    pub(super) fn replaced(
        &mut self,
        text: &Arc<str>,
        keys: &[Value],
        old: &str,
        new: &str,
    ) -> Result<String, Stop> {
        let heap = self.heap;
        let whole = heap.text(text);
        let before = match keys {
            [Value::Int(at), ..] if *at < 0 => {
                text.chars().count().saturating_sub(at.unsigned_abs() as usize)
            }
            [Value::Int(at), ..] => usize::try_from(*at).unwrap_or(0),
            [Value::Range(range)] if matches!(range.get(heap).from, Value::Int(0..)) => {
                let Value::Int(at) = range.get(heap).from else { return Ok(text.to_string()) };
                usize::try_from(at).unwrap_or(0)
            }
            [key] => match self.invoke(&whole, "index", std::slice::from_ref(key), None)? {
                Value::Int(at) => usize::try_from(at).unwrap_or(0),
                _ => return Err(Stop::raise("IndexError", "string not matched")),
            },
            _ => return Err(Stop::raise("IndexError", "this cannot be replaced")),
        };
        if before > text.chars().count() {
            let message = format!("index {before} out of string");
            return Err(Stop::raise("IndexError", message));
        }
        let at = text.char_indices().nth(before).map_or(text.len(), |(at, _)| at);
        Ok(format!("{}{new}{}", &text[..at], text[at..].strip_prefix(old).unwrap_or(&text[at..])))
    }

    /// `a, *b = list`
    pub(super) fn assign_all(&mut self, targets: &[Target], value: &Value) -> Result<(), Stop> {
        let heap = self.heap;
        let items = match value {
            Value::List(items) => items.items(heap),
            other => vec![other.clone()],
        };
        let rest = targets.iter().position(|target| matches!(target, Target::Rest(_)));
        for (at, target) in targets.iter().enumerate() {
            let value = match rest {
                Some(rest) if at == rest => {
                    let behind = targets.len() - rest - 1;
                    let end = items.len().saturating_sub(behind).max(rest);
                    heap.list(items.get(rest..end.min(items.len())).unwrap_or(&[]).to_vec())
                }
                Some(rest) if at > rest => {
                    let from_end = targets.len() - at;
                    let place = items.len().checked_sub(from_end).filter(|place| *place >= rest);
                    place.and_then(|place| items.get(place).cloned()).unwrap_or_default()
                }
                _ => items.get(at).cloned().unwrap_or_default(),
            };
            self.assign(target, value)?;
        }
        Ok(())
    }

    /// `a += b`
    pub(super) fn change(&mut self, target: &Target, operator: &str, value: &Node) -> Answer {
        // What stands before the brackets is evaluated once.
        let mut place = Changed::Plain(target);
        let old = match target {
            Target::Local(variable) => self.variable(variable),
            Target::Kept(name) => self.kept(name),
            Target::Index(receiver, keys) => {
                let receiver = self.eval(receiver)?;
                let keys = self.values(keys)?;
                let old = self.invoke(&receiver, "[]", &keys, None)?;
                place = Changed::Element(receiver, keys);
                old
            }
            Target::Attribute(receiver, name) => {
                let receiver = self.eval(receiver)?;
                self.invoke(&receiver, name, &[], None)?
            }
            _ => return Err(Stop::raise("NoMethodError", "this cannot be changed")),
        };
        let new = match operator {
            "||" if old.is_true() => return Ok(old),
            "&&" if !old.is_true() => return Ok(old),
            "||" | "&&" => self.eval(value)?,
            operator => {
                let value = self.eval(value)?;
                self.invoke(&old, operator, &[value], None)?
            }
        };
        match place {
            Changed::Plain(target) => self.assign(target, new.clone())?,
            Changed::Element(receiver, keys) => self.set_index(&receiver, &keys, new.clone())?,
        }
        Ok(new)
    }

    pub(super) fn set_index(
        &mut self,
        receiver: &Value,
        keys: &[Value],
        value: Value,
    ) -> Result<(), Stop> {
        let heap = self.heap;
        match (receiver, keys) {
            (Value::Hash(hash), [key]) => hash.insert(heap, key.clone(), value),
            (Value::List(items), [Value::Int(at)]) => {
                let length = items.len(heap) as i64;
                let place = if *at < 0 { *at + length } else { *at };
                let Ok(at) = usize::try_from(place) else {
                    let message = format!("index {at} out of array");
                    return Err(Stop::raise("IndexError", message));
                };
                limited(at)?;
                items.edit(heap, |items| {
                    if at >= items.len() {
                        items.resize(at + 1, Value::Nil);
                    }
                    items[at] = value;
                });
            }
            (Value::List(items), [Value::Range(range)]) => {
                let length = items.len(heap) as i64;
                let Some((from, count)) = super::list::bounds(&range.get(heap), length) else {
                    let shown = keys[0].inspect(heap);
                    return Err(Stop::raise("RangeError", format!("{shown} out of range")));
                };
                super::list::replace_part(heap, *items, from, count, &value)?;
            }
            (Value::List(items), [Value::Int(from), Value::Int(count)]) => {
                let place = if *from < 0 { from + items.len(heap) as i64 } else { *from };
                if place < 0 || *count < 0 {
                    let message = format!("index {from} out of array");
                    return Err(Stop::raise("IndexError", message));
                }
                super::list::replace_part(heap, *items, place, *count, &value)?;
            }
            (Value::Event(_), [_]) => {
                self.invoke(receiver, "set", &[keys[0].clone(), value], None)?;
            }
            (Value::Text(_) | Value::Object(_), keys) => {
                let arguments: Vec<Value> = keys.iter().cloned().chain([value]).collect();
                self.invoke(receiver, "[]=", &arguments, None)?;
            }
            _ => {
                let message = format!("undefined method `[]=' for {}", receiver.class());
                return Err(Stop::raise("NoMethodError", message));
            }
        }
        Ok(())
    }

    fn set_attribute(&mut self, receiver: &Value, name: &str, value: Value) -> Result<(), Stop> {
        let heap = self.heap;
        match (receiver, name) {
            (Value::Event(_), "timestamp") => {
                self.invoke(receiver, "set", &[heap.text("@timestamp"), value], None)?;
            }
            (Value::Hash(hash), "default") => hash.set_default(heap, value),
            (Value::Hash(hash), name) if super::hash::TASK.contains(&name) => {
                hash.insert(heap, Value::Symbol(name.into()), value);
            }
            (Value::Object(_), name) => {
                self.invoke(receiver, &format!("{name}="), &[value], None)?;
            }
            // What code sets of classes changes nothing here.
            (Value::Constant(_), _) => {}
            _ => {
                let message = format!("undefined method `{name}=' for {}", receiver.class());
                return Err(Stop::raise("NoMethodError", message));
            }
        }
        Ok(())
    }
}

/// Where a changed value goes.
enum Changed<'t> {
    Plain(&'t Target),
    Element(Value, Vec<Value>),
}
