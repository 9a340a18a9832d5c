//! Ruby's `==`: numbers by their value, lists and hashes by what is in them.
//!
//! Invariant: each look into a value is paid for, so that values within themselves end the code, not the process.

use super::heap::{HashRef, Heap};
use super::numeric;
use super::value::Value;

impl Value {
    /// Ruby's `==`.
    #[must_use]
    pub fn equals(&self, heap: &Heap, other: &Value) -> bool {
        self.equals_at(heap, other, 0)
    }

    fn equals_at(&self, heap: &Heap, other: &Value, depth: usize) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) | (Value::NewEvent, Value::NewEvent) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Int(left), Value::Int(right)) => left == right,
            (Value::Float(left), Value::Float(right)) => left == right,
            (Value::Text(left), Value::Text(right)) => {
                left == right
                    || (left.len(heap) == right.len(heap)
                        && heap.budget().spend_bytes(left.len(heap))
                        && left.content(heap) == right.content(heap))
            }
            (Value::Symbol(left), Value::Symbol(right))
            | (Value::Constant(left), Value::Constant(right))
            | (Value::Regex(_, left), Value::Regex(_, right)) => left == right,
            (Value::Time(left, _), Value::Time(right, _)) => left == right,
            (Value::Event(left), Value::Event(right)) => left == right,
            (Value::Lambda(left), Value::Lambda(right)) => left == right,
            (Value::Error(left), Value::Error(right)) => left == right,
            (Value::Match(left), Value::Match(right)) => left == right,
            (Value::Object(left), Value::Object(right)) => {
                left.fields == right.fields
                    || (left.class == right.class
                        && left.is_record(heap)
                        && equal_pairs(heap, left.fields, right.fields, depth))
            }
            (left, right) if left.is_number() && right.is_number() => {
                numeric::order(left, right) == Some(std::cmp::Ordering::Equal)
            }
            (Value::Address(left, mine), Value::Address(right, other)) => {
                (left, mine) == (right, other)
            }
            (Value::Range(left), Value::Range(right)) => {
                let (left, right) = (left.get(heap), right.get(heap));
                heap.descend(depth)
                    && left.exclusive == right.exclusive
                    && left.from.equals_at(heap, &right.from, depth + 1)
                    && left.to.equals_at(heap, &right.to, depth + 1)
            }
            (Value::List(left), Value::List(right)) => {
                left == right
                    || (left.len(heap) == right.len(heap)
                        && heap.descend(depth)
                        && left
                            .items(heap)
                            .iter()
                            .zip(&right.items(heap))
                            .all(|(left, right)| left.equals_at(heap, right, depth + 1)))
            }
            (Value::Hash(left), Value::Hash(right)) | (Value::Set(left), Value::Set(right)) => {
                left == right || equal_pairs(heap, *left, *right, depth)
            }
            _ => false,
        }
    }
}

fn equal_pairs(heap: &Heap, left: HashRef, right: HashRef, depth: usize) -> bool {
    left.len(heap) == right.len(heap)
        && heap.descend(depth)
        && left.pairs(heap).iter().all(|(key, value)| {
            right.get(heap, key).is_some_and(|other| value.equals_at(heap, &other, depth + 1))
        })
}
