//! Methods whose code makes one new value of all items: sums, groups, orders.

use super::super::{Found1, Given, Machine};
use super::pair;
use super::sort::{no_order, order};
use crate::ruby::value::{Dictionary, Value};
use std::cmp::Ordering;

impl Machine<'_, '_> {
    pub(super) fn gathering(
        &mut self,
        items: &[Value],
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        let families =
            [Self::summing, Self::grouping, Self::ordering_by_key, Self::ordering, Self::keying];
        for family in families {
            if let Some(found) = family(self, items, name, arguments, given)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// One value that grows from item to item.
    fn summing(
        &mut self,
        items: &[Value],
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("inject" | "reduce", []) => self.reduce(items.to_vec(), None, given)?,
            ("inject" | "reduce", [first]) => {
                self.reduce(items.to_vec(), Some(first.clone()), given)?
            }
            ("sum", rest) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.give_to(given, vec![item.clone()])?);
                }
                self.sum(rest.first().cloned().unwrap_or(Value::Int(0)), values)?
            }
            ("each_with_object" | "with_object", [object]) => {
                for item in items {
                    self.give_to(given, vec![item.clone(), object.clone()])?;
                }
                object.clone()
            }
            _ => return Ok(None),
        }))
    }

    /// Items put together.
    fn grouping(
        &mut self,
        items: &[Value],
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("group_by" | "partition", []) => {
                let mut groups = Dictionary::default();
                if name == "partition" {
                    groups.insert(Value::Bool(true), Value::list(Vec::new()));
                    groups.insert(Value::Bool(false), Value::list(Vec::new()));
                }
                for item in items {
                    let key = self.give_to(given, vec![item.clone()])?;
                    let key = if name == "partition" { Value::Bool(key.is_true()) } else { key };
                    match groups.get(&key) {
                        Some(Value::List(group)) => group.lock().push(item.clone()),
                        _ => groups.insert(key, Value::list(vec![item.clone()])),
                    }
                }
                if name == "group_by" {
                    Value::hash(groups.pairs())
                } else {
                    Value::list(groups.pairs().into_iter().map(|(_, group)| group).collect())
                }
            }
            ("slice_when" | "chunk_while", []) => {
                let mut parts: Vec<Vec<Value>> = Vec::new();
                for item in items {
                    let apart = match parts.last().and_then(|part| part.last()).cloned() {
                        Some(before) => {
                            let answer = self.give_to(given, vec![before, item.clone()])?;
                            answer.is_true() == (name == "slice_when")
                        }
                        None => true,
                    };
                    match parts.last_mut() {
                        Some(part) if !apart => part.push(item.clone()),
                        _ => parts.push(vec![item.clone()]),
                    }
                }
                Value::list(parts.into_iter().map(Value::list).collect())
            }
            _ => return Ok(None),
        }))
    }

    /// Items in the order of what the code says of them.
    fn ordering_by_key(
        &mut self,
        items: &[Value],
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("min_by" | "max_by" | "sort_by", [] | [Value::Int(_)]) => {
                let mut keyed = Vec::with_capacity(items.len());
                for item in items {
                    let key = self.give_to(given, vec![item.clone()])?;
                    keyed.push(pair(key, item.clone()));
                }
                let mut failed = None;
                let key = |pair: &Value| match pair {
                    Value::List(pair) => pair.lock()[0].clone(),
                    _ => Value::Nil,
                };
                keyed.sort_by(|left, right| {
                    order(&key(left), &key(right)).unwrap_or_else(|| {
                        failed.get_or_insert_with(|| no_order(&key(left), &key(right)));
                        Ordering::Equal
                    })
                });
                if let Some(failed) = failed {
                    return Err(failed);
                }
                let item = |pair: Value| match pair {
                    Value::List(pair) => pair.lock()[1].clone(),
                    other => other,
                };
                if let [Value::Int(count)] = arguments {
                    let count = usize::try_from(*count).unwrap_or(0);
                    let items = keyed.into_iter().map(item);
                    return Ok(Some(Value::list(match name {
                        "max_by" => items.rev().take(count).collect(),
                        _ => items.take(count).collect(),
                    })));
                }
                match name {
                    "min_by" => keyed.into_iter().next().map(item).unwrap_or_default(),
                    "max_by" => keyed.into_iter().next_back().map(item).unwrap_or_default(),
                    _ => Value::list(keyed.into_iter().map(item).collect()),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Items in the order that the code gives two of them.
    fn ordering(
        &mut self,
        items: &[Value],
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("sort" | "min" | "max", []) => {
                let mut sorted: Vec<Value> = Vec::with_capacity(items.len());
                for item in items {
                    let mut at = sorted.len();
                    while at > 0 {
                        let order =
                            self.give_to(given, vec![sorted[at - 1].clone(), item.clone()])?;
                        if !matches!(order, Value::Int(order) if order > 0) {
                            break;
                        }
                        at -= 1;
                    }
                    sorted.insert(at, item.clone());
                }
                match name {
                    "min" => sorted.into_iter().next().unwrap_or_default(),
                    "max" => sorted.into_iter().next_back().unwrap_or_default(),
                    _ => Value::list(sorted),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Pairs, and items that differ in what the code says of them.
    fn keying(
        &mut self,
        items: &[Value],
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("to_h", []) => {
                let mut pairs = Vec::with_capacity(items.len());
                for item in items {
                    let made = self.give_to(given, vec![item.clone()])?;
                    pairs.push(self.pair_of(&made)?);
                }
                Value::hash(pairs)
            }
            ("uniq", []) => {
                let mut seen = std::collections::HashSet::new();
                let mut kept = Vec::new();
                for item in items {
                    if seen.insert(self.give_to(given, vec![item.clone()])?.inspect()) {
                        kept.push(item.clone());
                    }
                }
                Value::list(kept)
            }
            _ => return Ok(None),
        }))
    }
}
