//! What lists, hashes and ranges can do with code: go through, choose, gather, sort.

mod choose;
mod gather;

use super::list::{flatten, unique};
use super::{Answer, Found1, Given, Machine, Stop, limited};
use crate::logstash::ruby::numeric;
use crate::logstash::ruby::value::{Dictionary, Value};
use std::cmp::Ordering;

/// The methods.
pub(super) const NAMES: &[&str] = &[
    "each",
    "each_with_index",
    "each_entry",
    "each_pair",
    "each_index",
    "reverse_each",
    "map",
    "collect",
    "flat_map",
    "collect_concat",
    "select",
    "filter",
    "reject",
    "find",
    "detect",
    "find_all",
    "find_index",
    "filter_map",
    "inject",
    "reduce",
    "sum",
    "min",
    "max",
    "min_by",
    "max_by",
    "minmax",
    "sort",
    "sort_by",
    "group_by",
    "partition",
    "uniq",
    "zip",
    "each_slice",
    "each_cons",
    "each_with_object",
    "with_index",
    "with_object",
    "any?",
    "all?",
    "none?",
    "one?",
    "count",
    "include?",
    "member?",
    "take_while",
    "drop_while",
    "take",
    "drop",
    "first",
    "to_a",
    "entries",
    "to_set",
    "to_h",
    "tally",
    "cycle",
    "chunk_while",
    "slice_when",
    "lazy",
    "force",
    "index",
    "times",
    "upto",
    "downto",
    "step",
    "each_key",
    "each_value",
    "compact",
    "last",
    "combination",
    "each_char",
    "values_at",
    "grep",
    "grep_v",
    "product",
    "tap",
    "size",
];

/// Items of an endless `cycle` without code.
const CYCLE_ITEMS: usize = 1 << 12;
/// Methods whose result depends on what code says, so that without it they are kept for later.
const TELLS_BY_CODE: &[&str] = &[
    "select",
    "filter",
    "reject",
    "filter_map",
    "flat_map",
    "collect_concat",
    "group_by",
    "partition",
    "sort_by",
    "min_by",
    "max_by",
    "find",
    "detect",
    "find_index",
    "find_all",
    "each",
    "map",
    "collect",
    "each_entry",
    "delete_if",
    "reverse_each",
    "each_pair",
];

/// Ruby's `<=>`.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
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

fn no_order(left: &Value, right: &Value) -> Stop {
    let other = match right {
        Value::Nil | Value::Bool(_) => right.inspect(),
        number if number.is_number() => right.inspect(),
        other => other.class().to_string(),
    };
    let message = format!("comparison of {} with {other} failed", left.class());
    Stop::raise("ArgumentError", message)
}

fn pair(left: Value, right: Value) -> Value {
    Value::list(vec![left, right])
}

impl Machine<'_, '_> {
    /// `whole` is what `each` gives back.
    pub(super) fn enumerable_method(
        &mut self,
        items: Vec<Value>,
        whole: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let needs_code = matches!(
            name,
            "count"
                | "min"
                | "max"
                | "uniq"
                | "sum"
                | "sort"
                | "to_h"
                | "any?"
                | "all?"
                | "none?"
                | "one?"
        );
        if (given.is_none() || !needs_code)
            && let Some(found) = self.plain(&items, name, arguments)?
        {
            return Ok(Some(found));
        }
        let Some(given) = given else {
            if arguments.is_empty() && TELLS_BY_CODE.contains(&name) {
                return Ok(Some(super::library::enumerator(whole, name, arguments)));
            }
            return self.without_code(items, name, arguments);
        };
        if let Some(found) = self.gathering(&items, name, arguments, given)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.choosing(&items, name, given)? {
            return Ok(Some(found));
        }
        self.going(items, whole, name, arguments, given)
    }

    /// Without code: an enumerator, for which a list stands here.
    fn without_code(&mut self, items: Vec<Value>, name: &str, arguments: &[Value]) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("each_with_index" | "with_index", start) => {
                let start = match start {
                    [Value::Int(start)] => *start,
                    _ => 0,
                };
                let number = |(at, item)| pair(item, Value::Int(start + at as i64));
                Value::list(items.into_iter().enumerate().map(number).collect())
            }
            ("each_slice" | "each_cons", [Value::Int(size)]) if *size > 0 => {
                let size = *size as usize;
                let list = |part: &[Value]| Value::list(part.to_vec());
                Value::list(match name {
                    "each_slice" => items.chunks(size).map(list).collect(),
                    _ => items.windows(size).map(list).collect(),
                })
            }
            ("each_char" | "lazy" | "force" | "times" | "eager", []) => Value::list(items),
            ("cycle", []) => {
                // Who asks for more than the steps allow gets no answer anyway.
                let times = CYCLE_ITEMS / items.len().max(1) + 1;
                let count = items.len() * times;
                Value::list(items.into_iter().cycle().take(count).collect())
            }
            ("cycle", [Value::Int(times)]) => {
                let count = items.len().saturating_mul(usize::try_from(*times).unwrap_or(0));
                limited(count)?;
                Value::list(items.into_iter().cycle().take(count).collect())
            }
            ("inject" | "reduce", [Value::Symbol(operator)]) => {
                self.reduce(items, None, &Given::Method(operator.clone()))?
            }
            ("inject" | "reduce", [first, Value::Symbol(operator)]) => {
                self.reduce(items, Some(first.clone()), &Given::Method(operator.clone()))?
            }
            _ => return Ok(None),
        }))
    }

    /// Numbers with a fraction are summed up with what rounding lost (Kahan-Babuška), as Ruby does.
    fn sum(&mut self, first: Value, values: Vec<Value>) -> Answer {
        let number = |value: &Value| match value {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        };
        let fraction = values.iter().chain([&first]).any(|value| matches!(value, Value::Float(_)));
        let all: Option<Vec<f64>> = [&first].into_iter().chain(&values).map(number).collect();
        let (true, Some(all)) = (fraction, all) else {
            let add = |machine: &mut Self, sum: Value, value: Value| {
                machine.invoke(&sum, "+", &[value], None)
            };
            return values.into_iter().try_fold(first, |sum, value| add(self, sum, value));
        };
        let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
        for value in all {
            let next = sum + value;
            let (large, small) = if sum.abs() >= value.abs() { (sum, value) } else { (value, sum) };
            lost += large - next + small;
            sum = next;
        }
        Ok(Value::Float(sum + lost))
    }

    fn reduce(&mut self, items: Vec<Value>, first: Option<Value>, given: &Given) -> Answer {
        let mut items = items.into_iter();
        let Some(mut sum) = first.or_else(|| items.next()) else { return Ok(Value::Nil) };
        for item in items {
            sum = self.give_to(given, vec![sum, item])?;
        }
        Ok(sum)
    }

    /// What needs no code.
    fn plain(&mut self, items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("include?" | "member?", [value]) => {
                Value::Bool(items.iter().any(|item| item.equals(value)))
            }
            ("count" | "size" | "length", []) => Value::Int(items.len() as i64),
            ("count", [value]) => {
                Value::Int(items.iter().filter(|item| item.equals(value)).count() as i64)
            }
            ("first", []) => items.first().cloned().unwrap_or_default(),
            ("to_a" | "entries" | "force", []) => Value::list(items.to_vec()),
            ("to_set", []) => super::set::of(items.to_vec()),
            ("take" | "first", [Value::Int(count)]) => {
                let count = usize::try_from(*count).unwrap_or(0).min(items.len());
                Value::list(items[..count].to_vec())
            }
            ("drop", [Value::Int(count)]) => {
                let count = usize::try_from(*count).unwrap_or(0).min(items.len());
                Value::list(items[count..].to_vec())
            }
            ("sum", rest) => {
                let first = rest.first().cloned().unwrap_or(Value::Int(0));
                self.sum(first, items.to_vec())?
            }
            ("min" | "max", []) => self.extreme(items, name)?,
            ("minmax", []) => pair(self.extreme(items, "min")?, self.extreme(items, "max")?),
            ("min" | "max", [Value::Int(count)]) => {
                let mut sorted = self.sorted(items.to_vec())?;
                if name == "max" {
                    sorted.reverse();
                }
                sorted.truncate(usize::try_from(*count).unwrap_or(0));
                Value::list(sorted)
            }
            ("sort", []) => Value::list(self.sorted(items.to_vec())?),
            ("uniq", []) => Value::list(unique(items.to_vec())),
            _ => return self.plain_pairs(items, name, arguments),
        }))
    }

    /// What needs no code: pairs, patterns and quantities.
    fn plain_pairs(&mut self, items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("tally", []) => {
                let mut counts = Dictionary::default();
                for item in items {
                    let count = match counts.get(item) {
                        Some(Value::Int(count)) => count,
                        _ => 0,
                    };
                    counts.insert(item.clone(), Value::Int(count + 1));
                }
                Value::hash(counts.pairs())
            }
            ("zip", lists) => {
                let mut columns = Vec::with_capacity(lists.len());
                for list in lists {
                    columns.push(self.items(list)?);
                }
                let row = |(at, item): (usize, &Value)| {
                    let mut row = vec![item.clone()];
                    row.extend(
                        columns.iter().map(|list| list.get(at).cloned().unwrap_or_default()),
                    );
                    Value::list(row)
                };
                Value::list(items.iter().enumerate().map(row).collect())
            }
            ("to_h", []) => {
                let mut pairs = Vec::with_capacity(items.len());
                for item in items {
                    pairs.push(self.pair_of(item)?);
                }
                Value::hash(pairs)
            }
            ("grep" | "grep_v", [pattern]) => {
                let mut kept = Vec::new();
                for item in items {
                    if self.case_equal(pattern, item)? == (name == "grep") {
                        kept.push(item.clone());
                    }
                }
                Value::list(kept)
            }
            ("any?" | "all?" | "none?" | "one?", []) => {
                let count = items.iter().filter(|item| item.is_true()).count();
                Value::Bool(quantified(name, count, items.len()))
            }
            ("any?" | "all?" | "none?" | "one?", [pattern]) => {
                let mut count = 0;
                for item in items {
                    count += usize::from(self.case_equal(pattern, item)?);
                }
                Value::Bool(quantified(name, count, items.len()))
            }
            _ => return Ok(None),
        }))
    }

    fn pair_of(&mut self, value: &Value) -> Result<(Value, Value), Stop> {
        match value {
            Value::List(items) => match items.lock().as_slice() {
                [key, value] => Ok((key.clone(), value.clone())),
                _ => Err(Stop::raise("ArgumentError", "element has wrong array length")),
            },
            other => {
                let message = format!("wrong element type {}", other.class());
                Err(Stop::raise("TypeError", message))
            }
        }
    }

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

    fn extreme(&mut self, items: &[Value], name: &str) -> Answer {
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

    fn sorted(&mut self, mut items: Vec<Value>) -> Result<Vec<Value>, Stop> {
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

    /// Methods that go through all.
    fn going(
        &mut self,
        items: Vec<Value>,
        whole: &Value,
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        match (name, arguments) {
            ("each" | "each_entry" | "reverse_each" | "each_pair", []) => {
                let items: Vec<_> = match name {
                    "reverse_each" => items.into_iter().rev().collect(),
                    _ => items,
                };
                for item in items {
                    self.give_to(given, vec![item])?;
                }
                Ok(Some(whole.clone()))
            }
            ("each_with_index", []) => {
                for (at, item) in items.into_iter().enumerate() {
                    self.give_to(given, vec![item, Value::Int(at as i64)])?;
                }
                Ok(Some(whole.clone()))
            }
            ("each_index", []) => {
                for at in 0..items.len() {
                    self.give_to(given, vec![Value::Int(at as i64)])?;
                }
                Ok(Some(whole.clone()))
            }
            ("map" | "collect" | "flat_map" | "collect_concat", []) => {
                let mut made = Vec::with_capacity(items.len());
                for item in items {
                    made.push(self.give_to(given, vec![item])?);
                }
                if matches!(name, "flat_map" | "collect_concat") {
                    let mut flat = Vec::new();
                    flatten(&made, 1, &mut flat)?;
                    made = flat;
                }
                Ok(Some(Value::list(made)))
            }
            ("with_index", start) => {
                let start = match start {
                    [Value::Int(start)] => *start,
                    _ => 0,
                };
                let mut made = Vec::with_capacity(items.len());
                for (at, item) in items.into_iter().enumerate() {
                    made.push(self.give_to(given, vec![item, Value::Int(start + at as i64)])?);
                }
                Ok(Some(Value::list(made)))
            }
            ("each_slice" | "each_cons", [Value::Int(size)]) if *size > 0 => {
                let size = *size as usize;
                let parts: Vec<Vec<Value>> = match name {
                    "each_slice" => items.chunks(size).map(<[Value]>::to_vec).collect(),
                    _ => items.windows(size).map(<[Value]>::to_vec).collect(),
                };
                for part in parts {
                    limited(part.len())?;
                    self.give_to(given, vec![Value::list(part)])?;
                }
                Ok(Some(whole.clone()))
            }
            _ => Ok(None),
        }
    }
}

fn quantified(name: &str, count: usize, all: usize) -> bool {
    match name {
        "any?" => count > 0,
        "all?" => count == all,
        "none?" => count == 0,
        _ => count == 1,
    }
}
