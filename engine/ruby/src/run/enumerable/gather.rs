//! Methods whose block folds all items into one value: sums, groups, orders.

use super::super::{Answer, Found1, Given, Machine};
use super::sort::{merge_sorted, no_order, order_of};
use crate::dictionary::{Dictionary, Key};
use crate::value::Value;
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
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("group_by" | "partition", []) => {
                let groups = heap.new_hash(Dictionary::default());
                if name == "partition" {
                    groups.insert(heap, Value::Bool(true), heap.list(Vec::new()));
                    groups.insert(heap, Value::Bool(false), heap.list(Vec::new()));
                }
                for item in items {
                    let key = self.give_to(given, vec![item.clone()])?;
                    let key = if name == "partition" { Value::Bool(key.is_true()) } else { key };
                    match groups.get(heap, &key) {
                        Some(Value::List(group)) => group.push(heap, item.clone()),
                        _ => groups.insert(heap, key, heap.list(vec![item.clone()])),
                    }
                }
                if name == "group_by" {
                    Value::Hash(groups)
                } else {
                    heap.list(groups.pairs(heap).into_iter().map(|(_, group)| group).collect())
                }
            }
            ("chunk", []) => {
                let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
                for item in items {
                    let key = self.give_to(given, vec![item.clone()])?;
                    match groups.last_mut() {
                        Some((last, group)) if last.equals(heap, &key) => group.push(item.clone()),
                        _ => groups.push((key, vec![item.clone()])),
                    }
                }
                let group = |(key, group)| heap.list(vec![key, heap.list(group)]);
                heap.list(groups.into_iter().map(group).collect())
            }
            ("slice_before" | "slice_after", []) => {
                let mut parts: Vec<Vec<Value>> = Vec::new();
                let mut is_new = true;
                for item in items {
                    let cuts = self.give_to(given, vec![item.clone()])?.is_true();
                    match parts.last_mut() {
                        Some(part) if !(is_new || (cuts && name == "slice_before")) => {
                            part.push(item.clone());
                        }
                        _ => parts.push(vec![item.clone()]),
                    }
                    is_new = cuts && name == "slice_after";
                }
                heap.list(parts.into_iter().map(|one| heap.list(one)).collect())
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
                heap.list(parts.into_iter().map(|one| heap.list(one)).collect())
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
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("minmax_by", []) => {
                let mut keyed = Vec::with_capacity(items.len());
                for item in items {
                    let key = self.give_to(given, vec![item.clone()])?;
                    keyed.push((key, item.clone()));
                }
                let least = self.extreme_by(keyed.clone(), "min_by")?;
                let greatest = self.extreme_by(keyed, "max_by")?;
                heap.list(vec![least, greatest])
            }
            ("min_by" | "max_by" | "sort_by", [] | [Value::Int(_)]) => {
                let mut keyed = Vec::with_capacity(items.len());
                for item in items {
                    let key = self.give_to(given, vec![item.clone()])?;
                    keyed.push((key, item.clone()));
                }
                match (name, arguments) {
                    ("min_by" | "max_by", []) => self.extreme_by(keyed, name)?,
                    (_, arguments) => {
                        let compare = &mut |left: &(Value, Value), right: &(Value, Value)| {
                            self.compared_values(&left.0, &right.0)
                        };
                        let mut sorted = merge_sorted(keyed, compare)?;
                        if name == "max_by" {
                            sorted.reverse();
                        }
                        if let [Value::Int(count)] = arguments {
                            sorted.truncate(usize::try_from(*count).unwrap_or(0));
                        }
                        heap.list(sorted.into_iter().map(|(_, item)| item).collect())
                    }
                }
            }
            _ => return Ok(None),
        }))
    }

    /// The first item whose key is the least, or the greatest.
    fn extreme_by(&mut self, keyed: Vec<(Value, Value)>, name: &str) -> Answer {
        let wanted = if name == "min_by" { Ordering::Less } else { Ordering::Greater };
        let mut keyed = keyed.into_iter();
        let Some(mut best) = keyed.next() else { return Ok(Value::Nil) };
        for one in keyed {
            if self.compared_values(&one.0, &best.0)? == wanted {
                best = one;
            }
        }
        Ok(best.1)
    }

    /// Items in the order that the code gives two of them.
    fn ordering(
        &mut self,
        items: &[Value],
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("sort" | "min" | "max", []) => {
                let compare = &mut |left: &Value, right: &Value| {
                    let order = self.give_to(given, vec![left.clone(), right.clone()])?;
                    order_of(&order).ok_or_else(|| no_order(heap, left, right))
                };
                let sorted = merge_sorted(items.to_vec(), compare)?;
                match name {
                    "min" => sorted.into_iter().next().unwrap_or_default(),
                    "max" => sorted.into_iter().next_back().unwrap_or_default(),
                    _ => heap.list(sorted),
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
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("to_h", []) => {
                let mut pairs = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    let made = self.give_to(given, vec![item.clone()])?;
                    pairs.push(self.pair_of(&made, at)?);
                }
                heap.hash(pairs)
            }
            ("uniq", []) => {
                let mut seen = std::collections::HashSet::new();
                let mut kept = Vec::new();
                for item in items {
                    if seen.insert(Key::of(heap, &self.give_to(given, vec![item.clone()])?)) {
                        kept.push(item.clone());
                    }
                }
                heap.list(kept)
            }
            _ => return Ok(None),
        }))
    }
}
