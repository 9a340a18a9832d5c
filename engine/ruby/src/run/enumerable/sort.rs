//! Comparison of values, and what builds on it: sorting, minimum and maximum.

use super::super::{Answer, Machine, Stop};
use crate::heap::Heap;
use crate::numeric;
use crate::value::Value;
use std::cmp::Ordering;

/// Ruby's `<=>`.
pub(in crate::run) fn order(heap: &Heap, left: &Value, right: &Value) -> Option<Ordering> {
    order_at(heap, left, right, 0)
}

fn order_at(heap: &Heap, left: &Value, right: &Value, depth: usize) -> Option<Ordering> {
    match (left, right) {
        (left, right) if left.is_number() && right.is_number() => numeric::order(left, right),
        (Value::Text(left), Value::Text(right)) => {
            heap.budget().spend_bytes(left.len(heap).min(right.len(heap)));
            Some(left.content(heap).bytes().cmp(right.content(heap).bytes()))
        }
        (Value::Symbol(left), Value::Symbol(right)) => Some(left.cmp(right)),
        (Value::Address(left, _), Value::Address(right, _)) => Some(left.cmp(right)),
        (Value::Time(left, _), Value::Time(right, _)) => Some(left.cmp(right)),
        (Value::List(left), Value::List(right)) => {
            if !heap.descend(depth) {
                return None;
            }
            let (left, right) = (left.items(heap), right.items(heap));
            for (left, right) in left.iter().zip(&right) {
                match order_at(heap, left, right, depth + 1)? {
                    Ordering::Equal => {}
                    other => return Some(other),
                }
            }
            Some(left.len().cmp(&right.len()))
        }
        (left, right) if left.equals(heap, right) => Some(Ordering::Equal),
        _ => None,
    }
}

/// Sorts by a comparison that may fail, and that need not be one of a total order: the first failure ends it.
/// Equal items stay in their order.
pub(super) fn merge_sorted<T: Clone>(
    items: Vec<T>,
    compare: &mut impl FnMut(&T, &T) -> Result<Ordering, Stop>,
) -> Result<Vec<T>, Stop> {
    let mut from = items;
    let mut into = Vec::with_capacity(from.len());
    let mut width = 1;
    while width < from.len() {
        for part in from.chunks(2 * width) {
            let (mut left, mut right) = part.split_at(width.min(part.len()));
            while let (Some(one), Some(two)) = (left.first(), right.first()) {
                if compare(one, two)?.is_gt() {
                    into.push(two.clone());
                    right = &right[1..];
                } else {
                    into.push(one.clone());
                    left = &left[1..];
                }
            }
            into.extend_from_slice(left);
            into.extend_from_slice(right);
        }
        std::mem::swap(&mut from, &mut into);
        into.clear();
        width *= 2;
    }
    Ok(from)
}

pub(super) fn no_order(heap: &Heap, left: &Value, right: &Value) -> Stop {
    let other = match right {
        Value::Nil | Value::Bool(_) => right.inspect(heap),
        number if number.is_number() => right.inspect(heap),
        other => other.class().to_string(),
    };
    let message = format!("comparison of {} with {other} failed", left.class());
    Stop::raise("ArgumentError", message)
}

impl Machine<'_, '_> {
    /// Which of two values comes first, by the `<=>` of objects that have one.
    pub(super) fn compared_values(
        &mut self,
        left: &Value,
        right: &Value,
    ) -> Result<Ordering, Stop> {
        let heap = self.heap;
        if !matches!(left, Value::Object(_)) {
            if !heap.budget().spend_items(4) {
                heap.check()?;
            }
            return order(heap, left, right).ok_or_else(|| no_order(heap, left, right));
        }
        let answer = self.invoke(left, "<=>", std::slice::from_ref(right), None)?;
        order_of(&answer).ok_or_else(|| no_order(heap, left, right))
    }

    /// The first of the least items, or of the greatest.
    pub(super) fn extreme(&mut self, items: &[Value], name: &str) -> Answer {
        let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
        let Some((first, rest)) = items.split_first() else { return Ok(Value::Nil) };
        let mut best = first;
        for item in rest {
            if self.compared_values(item, best)? == wanted {
                best = item;
            }
        }
        Ok(best.clone())
    }

    pub(super) fn sorted(&mut self, items: Vec<Value>) -> Result<Vec<Value>, Stop> {
        merge_sorted(items, &mut |left, right| self.compared_values(left, right))
    }
}

/// What `<=>` says by a number.
pub(super) fn order_of(answer: &Value) -> Option<Ordering> {
    match answer {
        Value::Int(order) => Some(order.cmp(&0)),
        Value::Float(order) => order.partial_cmp(&0.0),
        _ => None,
    }
}
