//! Methods that lists, hashes, ranges and sets share and that take a block: iterate, select,
//! collect, sort.

mod choose;
mod gather;
mod plain;
mod sort;

use crate::heap::Heap;
pub(super) use sort::order;

use super::list::flatten;
use super::{Answer, Found1, Given, Machine, Stop};
use crate::run::methods::{ANY, Methods, takes};
use crate::value::Value;

/// The methods of whatever has items.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "bsearch",
            "chunk",
            "chunk_while",
            "collect",
            "collect_concat",
            "detect",
            "drop_while",
            "each",
            "each_char",
            "each_entry",
            "each_index",
            "each_pair",
            "eager",
            "entries",
            "filter",
            "filter_map",
            "find",
            "find_all",
            "flat_map",
            "force",
            "group_by",
            "lazy",
            "length",
            "map",
            "minmax",
            "minmax_by",
            "partition",
            "reject",
            "reverse_each",
            "select",
            "size",
            "slice_when",
            "sort",
            "take_while",
            "tally",
            "times",
            "to_a",
            "to_h",
            "to_set",
            "uniq",
        ],
    ),
    takes(
        0,
        1,
        &[
            "all?",
            "any?",
            "count",
            "cycle",
            "each_with_index",
            "find_index",
            "first",
            "index",
            "max",
            "max_by",
            "min",
            "min_by",
            "none?",
            "one?",
            "slice_after",
            "slice_before",
            "sort_by",
            "sum",
            "with_index",
        ],
    ),
    takes(0, 2, &["inject", "reduce"]),
    takes(0, ANY, &["zip"]),
    takes(
        1,
        1,
        &[
            "drop",
            "each_cons",
            "each_slice",
            "each_with_object",
            "grep",
            "grep_v",
            "include?",
            "member?",
            "take",
            "with_object",
        ],
    ),
];

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

fn pair(heap: &Heap, left: Value, right: Value) -> Value {
    heap.list(vec![left, right])
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
        let heap = self.heap;
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
                return Ok(Some(super::library::enumerator(heap, whole, name, arguments)));
            }
            return self.without_code(items, name, arguments);
        };
        let kept: Vec<Value> = items.iter().chain([whole]).cloned().collect();
        self.keeping(kept, |machine| {
            if let Some(found) = machine.gathering(&items, name, arguments, given)? {
                return Ok(Some(found));
            }
            if let Some(found) = machine.choosing(&items, name, given)? {
                return Ok(Some(found));
            }
            machine.going(items, whole, name, arguments, given)
        })
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

    /// Puts what the code gives for each item into `held`.
    fn hold_answers(&mut self, items: Vec<Value>, given: &Given) -> Result<(), Stop> {
        for item in items {
            let answer = self.give_to(given, vec![item])?;
            self.held.push(answer);
        }
        Ok(())
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
        let heap = self.heap;
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
                let base = self.held.len();
                let result = self.hold_answers(items, given);
                let mut made = self.held.split_off(base);
                result?;
                if matches!(name, "flat_map" | "collect_concat") {
                    made = flatten(heap, &made, 1)?;
                }
                Ok(Some(heap.list(made)))
            }
            ("with_index", start) => {
                let start = match start {
                    [Value::Int(start)] => *start,
                    _ => 0,
                };
                let mut made = Vec::with_capacity(items.len());
                for (at, item) in items.into_iter().enumerate() {
                    made.push(
                        self.give_to(
                            given,
                            vec![item, Value::Int(start.saturating_add(at as i64))],
                        )?,
                    );
                }
                Ok(Some(heap.list(made)))
            }
            ("each_slice" | "each_cons", [Value::Int(..=0)]) => {
                self.without_code(items, name, arguments)
            }
            ("each_slice" | "each_cons", [Value::Int(size)]) if *size > 0 => {
                let size = *size as usize;
                let step = if name == "each_slice" { size } else { 1 };
                let last = if name == "each_slice" {
                    items.len()
                } else {
                    (items.len() + 1).saturating_sub(size)
                };
                for from in (0..last).step_by(step) {
                    let part = items[from..(from + size).min(items.len())].to_vec();
                    self.give_to(given, vec![heap.list(part)])?;
                }
                Ok(Some(whole.clone()))
            }
            _ => Ok(None),
        }
    }
}
