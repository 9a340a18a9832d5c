//! Methods of lists alone; what lists share with hashes and ranges stands in `enumerable`.

mod look;

use super::enumerable::order;
use super::{Found1, Given, Machine, Stop, limited};
use crate::ruby::value::{Shared, Value};
use look::read;
use std::cmp::Ordering;

/// The methods of lists.
pub(super) const NAMES: &[&str] = &[
    "push",
    "append",
    "<<",
    "pop",
    "shift",
    "unshift",
    "prepend",
    "insert",
    "concat",
    "delete",
    "delete_at",
    "delete_if",
    "keep_if",
    "clear",
    "replace",
    "[]",
    "slice",
    "at",
    "dig",
    "fetch",
    "values_at",
    "first",
    "last",
    "length",
    "size",
    "empty?",
    "+",
    "-",
    "*",
    "&",
    "|",
    "join",
    "reverse",
    "rotate",
    "compact",
    "flatten",
    "uniq",
    "index",
    "find_index",
    "rindex",
    "to_a",
    "to_ary",
    "to_h",
    "transpose",
    "sample",
    "shuffle",
    "assoc",
    "pack",
    "fill",
    "slice!",
    "product",
    "combination",
    "<=>",
    "compact!",
    "flatten!",
    "uniq!",
    "map!",
    "collect!",
    "select!",
    "reject!",
    "sort!",
    "sort_by!",
    "reverse!",
    "shuffle!",
    "each_index",
    "bsearch",
    "intersect?",
    "union",
    "difference",
    "intersection",
    "eql?",
    "none?",
    "sum",
    "filter!",
    "take",
    "drop",
    "to_s",
    "inspect",
];

impl Machine<'_, '_> {
    pub(super) fn list_method(
        &mut self,
        list: &Shared<Vec<Value>>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        if let Some(found) = change(list, name, arguments)? {
            return Ok(Some(found));
        }
        let items = list.lock().clone();
        if let Some(plain) = name.strip_suffix('!') {
            return self.change_in_place(list, items, plain, arguments, given);
        }
        if matches!(name, "delete_if" | "keep_if") {
            let plain = if name == "keep_if" { "select" } else { "reject" };
            self.change_in_place(list, items, plain, arguments, given)?;
            return Ok(Some(Value::List(list.clone())));
        }
        match read(&items, name, arguments)? {
            Some(found) => Ok(Some(found)),
            None => {
                self.enumerable_method(items, &Value::List(list.clone()), name, arguments, given)
            }
        }
    }

    /// `map!`: the list gets what `map` gives; `nil` when nothing changed, where Ruby says so.
    fn change_in_place(
        &mut self,
        list: &Shared<Vec<Value>>,
        items: Vec<Value>,
        plain: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        if plain == "slice" {
            let taken = read(&items, "[]", arguments)?.unwrap_or_default();
            let gone = match &taken {
                Value::List(gone) => gone.lock().clone(),
                one => vec![one.clone()],
            };
            list.lock().retain(|item| !gone.iter().any(|one| one.equals(item)));
            return Ok(Some(taken));
        }
        let copy = Value::list(items.clone());
        let new = self.invoke(&copy, plain, arguments, given)?;
        let Value::List(new) = new else { return Ok(None) };
        let new = new.lock().clone();
        let same = new.len() == items.len();
        *list.lock() = new;
        let tells =
            matches!(plain, "compact" | "uniq" | "flatten" | "select" | "reject" | "filter");
        Ok(Some(if same && tells { Value::Nil } else { Value::List(list.clone()) }))
    }

    pub(super) fn range_method(
        &mut self,
        range: &(Value, Value, bool),
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let whole = || Value::Range(std::sync::Arc::new(range.clone()));
        Ok(Some(match (name, arguments) {
            ("include?" | "member?" | "cover?" | "===", [value]) => {
                let low = order(&range.0, value);
                let high = match range.1 {
                    Value::Nil => Some(Ordering::Less),
                    _ => order(value, &range.1),
                };
                let below = matches!(high, Some(Ordering::Less))
                    || (!range.2 && matches!(high, Some(Ordering::Equal)));
                Value::Bool(matches!(low, Some(Ordering::Less | Ordering::Equal)) && below)
            }
            ("first" | "begin" | "min", []) => range.0.clone(),
            ("end", []) => range.1.clone(),
            ("last" | "max", []) if !range.2 => range.1.clone(),
            ("step", [Value::Int(step)]) if *step > 0 => {
                let all = self.items(&whole())?;
                let steps: Vec<Value> = all.into_iter().step_by(*step as usize).collect();
                if given.is_none() {
                    return Ok(Some(Value::list(steps)));
                }
                return self.enumerable_method(steps, &whole(), "each", &[], given);
            }
            ("to_a" | "to_ary" | "entries", []) => Value::list(self.items(&whole())?),
            _ => {
                let items = self.items(&whole())?;
                return match read(&items, name, arguments)? {
                    Some(found) => Ok(Some(found)),
                    None => self.enumerable_method(items, &whole(), name, arguments, given),
                };
            }
        }))
    }

    /// The items that a value goes through.
    pub(super) fn items(&mut self, value: &Value) -> Result<Vec<Value>, Stop> {
        Ok(match value {
            Value::List(items) => items.lock().clone(),
            Value::Hash(hash) => {
                let pairs = hash.lock().pairs();
                pairs.into_iter().map(|(key, value)| Value::list(vec![key, value])).collect()
            }
            Value::Set(set) => set.lock().pairs().into_iter().map(|(one, _)| one).collect(),
            Value::Range(range) => match (&range.0, &range.1) {
                (Value::Int(from), Value::Int(to)) => {
                    let to = if range.2 { to.saturating_sub(1) } else { *to };
                    limited(usize::try_from(to.saturating_sub(*from)).unwrap_or(0))?;
                    (*from..=to).map(Value::Int).collect()
                }
                (Value::Text(from), Value::Text(to)) => {
                    let mut items = Vec::new();
                    let to = to.str();
                    let mut text = Value::text(&from.str());
                    while text.print().len() <= to.len() {
                        self.step()?;
                        let last = text.print() == *to;
                        if !(last && range.2) {
                            items.push(text.clone());
                        }
                        if last {
                            break;
                        }
                        text = self.invoke(&text, "succ", &[], None)?;
                    }
                    items
                }
                _ => return Err(Stop::raise("TypeError", "can't iterate over this range")),
            },
            other => {
                let message = format!("undefined method `each' for {}", other.class());
                return Err(Stop::raise("NoMethodError", message));
            }
        })
    }
}

/// Methods that change the list.
fn change(list: &Shared<Vec<Value>>, name: &str, arguments: &[Value]) -> Found1 {
    let whole = || Value::List(list.clone());
    let mut items = list.lock();
    limited(items.len())?;
    Ok(Some(match (name, arguments) {
        ("push" | "append" | "<<", new) => {
            items.extend(new.iter().cloned());
            whole()
        }
        ("pop", []) => items.pop().unwrap_or_default(),
        ("shift", []) if items.is_empty() => Value::Nil,
        ("shift", []) => items.remove(0),
        ("shift", [Value::Int(count)]) => {
            let count = usize::try_from(*count).unwrap_or(0).min(items.len());
            Value::list(items.drain(..count).collect())
        }
        ("pop", [Value::Int(count)]) => {
            let count = usize::try_from(*count).unwrap_or(0).min(items.len());
            let from = items.len() - count;
            Value::list(items.split_off(from))
        }
        ("unshift" | "prepend", new) => {
            items.splice(0..0, new.iter().cloned());
            whole()
        }
        ("insert", [Value::Int(at), new @ ..]) => {
            let length = items.len() as i64;
            let at = if *at < 0 { at + length + 1 } else { *at };
            let at = usize::try_from(at).unwrap_or(0);
            limited(at)?;
            if at > items.len() {
                items.resize(at, Value::Nil);
            }
            items.splice(at..at, new.iter().cloned());
            whole()
        }
        _ => {
            drop(items);
            return remove_or_fill(list, name, arguments);
        }
    }))
}

/// Methods that remove items, or all.
fn remove_or_fill(list: &Shared<Vec<Value>>, name: &str, arguments: &[Value]) -> Found1 {
    let whole = || Value::List(list.clone());
    let mut items = list.lock();
    Ok(Some(match (name, arguments) {
        ("delete", [value]) => {
            let before = items.len();
            let old = std::mem::take(&mut *items);
            // Comparing may look into other lists, so this one is free meanwhile.
            drop(items);
            let kept: Vec<Value> = old.into_iter().filter(|item| !item.equals(value)).collect();
            let gone = kept.len() < before;
            *list.lock() = kept;
            return Ok(Some(if gone { value.clone() } else { Value::Nil }));
        }
        ("delete_at", [Value::Int(at)]) => {
            let at = if *at < 0 { at + items.len() as i64 } else { *at };
            match usize::try_from(at).ok().filter(|at| *at < items.len()) {
                Some(at) => items.remove(at),
                None => Value::Nil,
            }
        }
        ("clear", []) => {
            items.clear();
            whole()
        }
        ("fill", [value]) => {
            items.iter_mut().for_each(|item| *item = value.clone());
            whole()
        }
        ("concat" | "replace", lists) => {
            drop(items);
            let mut added = Vec::new();
            for other in lists {
                if let Value::List(other) = other {
                    added.extend(other.lock().clone());
                }
            }
            if name == "replace" {
                *list.lock() = added;
            } else {
                list.lock().extend(added);
            }
            return Ok(Some(whole()));
        }
        _ => return Ok(None),
    }))
}

/// Where a range lies in `length` items: the first, and how many.
pub(super) fn bounds(range: &(Value, Value, bool), length: i64) -> Option<(i64, i64)> {
    let from = match range.0 {
        Value::Int(from) if from < 0 => from + length,
        Value::Int(from) => from,
        _ => 0,
    };
    let to = match range.1 {
        Value::Int(to) if to < 0 => to + length,
        Value::Int(to) => to,
        _ => length - 1,
    };
    let exclusive = range.2 && !matches!(range.1, Value::Nil);
    let to = if exclusive { to - 1 } else { to };
    (0..=length).contains(&from).then(|| (from, (to.min(length - 1) - from + 1).max(0)))
}

pub(super) fn unique(items: Vec<Value>) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    items
        .into_iter()
        .filter(|item| seen.insert((item.class().to_string(), item.inspect())))
        .collect()
}

pub(super) fn flatten(items: &[Value], depth: usize, out: &mut Vec<Value>) -> Result<(), Stop> {
    for item in items {
        match item {
            Value::List(inner) if depth > 0 => {
                let inner = inner.lock().clone();
                flatten(&inner, depth - 1, out)?;
            }
            other => out.push(other.clone()),
        }
        limited(out.len())?;
    }
    Ok(())
}
