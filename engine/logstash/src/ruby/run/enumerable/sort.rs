//! Which of two values comes first, and what follows from it: sorting, least and greatest.

use super::super::{Answer, Machine, Stop};
use crate::ruby::numeric;
use crate::ruby::value::Value;
use std::cmp::Ordering;

/// Ruby's `<=>`.
pub(in crate::ruby::run) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (left, right) if left.is_number() && right.is_number() => numeric::order(left, right),
        (Value::Text(left), Value::Text(right)) => {
            Some(left.content().bytes().cmp(right.content().bytes()))
        }
        (Value::Symbol(left), Value::Symbol(right)) => Some(left.cmp(right)),
        (Value::Time(left, _), Value::Time(right, _)) => Some(left.cmp(right)),
        (Value::List(left), Value::List(right)) => {
            let (left, right) = (left.lock().clone(), right.lock().clone());
            for (left, right) in left.iter().zip(&right) {
                match order(left, right)? {
                    Ordering::Equal => {}
                    other => return Some(other),
                }
            }
            Some(left.len().cmp(&right.len()))
        }
        (left, right) if left.equals(right) => Some(Ordering::Equal),
        _ => None,
    }
}

pub(super) fn no_order(left: &Value, right: &Value) -> Stop {
    let other = match right {
        Value::Nil | Value::Bool(_) => right.inspect(),
        number if number.is_number() => right.inspect(),
        other => other.class().to_string(),
    };
    let message = format!("comparison of {} with {other} failed", left.class());
    Stop::raise("ArgumentError", message)
}

impl Machine<'_, '_> {
    /// Sorts objects by their own `<=>`.
    fn sorted_by_method(&mut self, items: Vec<Value>) -> Result<Vec<Value>, Stop> {
        let mut sorted: Vec<Value> = Vec::with_capacity(items.len());
        for item in items {
            let mut at = sorted.len();
            while at > 0 {
                let arguments = std::slice::from_ref(&item);
                match self.invoke(&sorted[at - 1].clone(), "<=>", arguments, None)? {
                    Value::Int(order) if order > 0 => at -= 1,
                    Value::Int(_) => break,
                    _ => return Err(no_order(&sorted[at - 1], &item)),
                }
            }
            sorted.insert(at, item);
        }
        Ok(sorted)
    }

    pub(super) fn extreme(&mut self, items: &[Value], name: &str) -> Answer {
        if items.iter().any(|item| matches!(item, Value::Object(_))) {
            let sorted = self.sorted_by_method(items.to_vec())?;
            let found = if name == "min" { sorted.first() } else { sorted.last() };
            return Ok(found.cloned().unwrap_or_default());
        }
        let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
        let Some((first, rest)) = items.split_first() else { return Ok(Value::Nil) };
        let mut best = first;
        for item in rest {
            match order(item, best) {
                Some(order) if order == wanted => best = item,
                Some(_) => {}
                None => return Err(no_order(item, best)),
            }
        }
        Ok(best.clone())
    }

    pub(super) fn sorted(&mut self, mut items: Vec<Value>) -> Result<Vec<Value>, Stop> {
        if items.iter().any(|item| matches!(item, Value::Object(_))) {
            return self.sorted_by_method(items);
        }
        let fits = |pair: &[Value]| order(&pair[0], &pair[1]).is_some();
        if let Some(pair) = items.windows(2).find(|pair| !fits(pair)) {
            return Err(no_order(&pair[0], &pair[1]));
        }
        let mut failed = None;
        items.sort_by(|left, right| {
            order(left, right).unwrap_or_else(|| {
                failed.get_or_insert_with(|| no_order(left, right));
                Ordering::Equal
            })
        });
        failed.map_or(Ok(items), Err)
    }
}
