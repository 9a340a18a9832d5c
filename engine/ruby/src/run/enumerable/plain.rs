//! Methods without a block, and the results of the others when none is given.

use super::super::list::unique;
use super::super::{Found1, Given, Machine, Stop, limited, set};
use super::pair;
use crate::dictionary::Dictionary;
use crate::value::Value;

/// Items of an endless `cycle` without code.
const CYCLE_ITEMS: usize = 1 << 12;

impl Machine<'_, '_> {
    /// Without code: an enumerator, for which a list stands here.
    pub(super) fn without_code(
        &mut self,
        items: Vec<Value>,
        name: &str,
        arguments: &[Value],
    ) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("each_with_index" | "with_index", start) => {
                let start = match start {
                    [Value::Int(start)] => *start,
                    _ => 0,
                };
                let number =
                    |(at, item)| pair(heap, item, Value::Int(start.saturating_add(at as i64)));
                heap.list(items.into_iter().enumerate().map(number).collect())
            }
            ("each_slice" | "each_cons", [Value::Int(..=0)]) => {
                let message =
                    if name == "each_slice" { "invalid slice size" } else { "invalid size" };
                return Err(Stop::raise("ArgumentError", message));
            }
            ("each_key" | "each_value", []) => {
                let at = usize::from(name == "each_value");
                let part = |item: &Value| match item {
                    Value::List(pair) => pair.item(heap, at).unwrap_or_default(),
                    other => other.clone(),
                };
                heap.list(items.iter().map(part).collect())
            }
            ("find_index", [value]) => {
                let at = items.iter().position(|item| item.equals(heap, value));
                at.map_or(Value::Nil, |at| Value::Int(at as i64))
            }
            ("each_index", []) => {
                heap.list((0..items.len()).map(|at| Value::Int(at as i64)).collect())
            }
            ("each_slice" | "each_cons", [Value::Int(size)]) if *size > 0 => {
                let size = *size as usize;
                let parts: Vec<&[Value]> = match name {
                    "each_slice" => items.chunks(size).collect(),
                    _ => items.windows(size).collect(),
                };
                limited(parts.len().saturating_mul(size.min(items.len())))?;
                heap.list(parts.into_iter().map(|part| heap.list(part.to_vec())).collect())
            }
            ("each_char" | "lazy" | "force" | "times" | "eager", []) => heap.list(items),
            ("cycle", []) => {
                // Who asks for more than the steps allow gets no answer anyway.
                let times = CYCLE_ITEMS / items.len().max(1) + 1;
                let count = items.len() * times;
                heap.list(items.into_iter().cycle().take(count).collect())
            }
            ("cycle", [Value::Int(times)]) => {
                let count = items.len().saturating_mul(usize::try_from(*times).unwrap_or(0));
                limited(count)?;
                heap.list(items.into_iter().cycle().take(count).collect())
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

    /// What needs no code.
    pub(super) fn plain(&mut self, items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("include?" | "member?", [value]) => {
                Value::Bool(items.iter().any(|item| item.equals(heap, value)))
            }
            ("count" | "size" | "length", []) => Value::Int(items.len() as i64),
            ("count", [value]) => {
                Value::Int(items.iter().filter(|item| item.equals(heap, value)).count() as i64)
            }
            ("first", []) => items.first().cloned().unwrap_or_default(),
            ("to_a" | "entries" | "force", []) => heap.list(items.to_vec()),
            ("to_set", []) => set::of(heap, items.to_vec()),
            ("take" | "first", [Value::Int(count)]) => {
                let count = usize::try_from(*count).unwrap_or(0).min(items.len());
                heap.list(items[..count].to_vec())
            }
            ("drop", [Value::Int(count)]) => {
                let count = usize::try_from(*count).unwrap_or(0).min(items.len());
                heap.list(items[count..].to_vec())
            }
            ("sum", rest) => {
                let first = rest.first().cloned().unwrap_or(Value::Int(0));
                self.sum(first, items.to_vec())?
            }
            ("min" | "max", []) => self.extreme(items, name)?,
            ("minmax", []) => pair(heap, self.extreme(items, "min")?, self.extreme(items, "max")?),
            ("min" | "max", [Value::Int(count)]) => {
                let mut sorted = self.sorted(items.to_vec())?;
                if name == "max" {
                    sorted.reverse();
                }
                sorted.truncate(usize::try_from(*count).unwrap_or(0));
                heap.list(sorted)
            }
            ("sort", []) => heap.list(self.sorted(items.to_vec())?),
            ("uniq", []) => heap.list(unique(heap, items.to_vec())),
            _ => return self.plain_pairs(items, name, arguments),
        }))
    }

    /// What needs no code: pairs, patterns and quantities.
    fn plain_pairs(&mut self, items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("tally", []) => {
                let counts = heap.new_hash(Dictionary::default());
                for item in items {
                    let count = match counts.get(heap, item) {
                        Some(Value::Int(count)) => count,
                        _ => 0,
                    };
                    counts.insert(heap, item.clone(), Value::Int(count + 1));
                }
                Value::Hash(counts)
            }
            ("zip", lists) => {
                limited(items.len().saturating_mul(lists.len() + 1))?;
                let mut columns = Vec::with_capacity(lists.len());
                for list in lists {
                    columns.push(self.items(list)?);
                }
                let row = |(at, item): (usize, &Value)| {
                    let mut row = vec![item.clone()];
                    row.extend(
                        columns.iter().map(|list| list.get(at).cloned().unwrap_or_default()),
                    );
                    heap.list(row)
                };
                heap.list(items.iter().enumerate().map(row).collect())
            }
            ("to_h", []) => {
                let mut pairs = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    pairs.push(self.pair_of(item, at)?);
                }
                heap.hash(pairs)
            }
            ("grep" | "grep_v", [pattern]) => {
                let mut kept = Vec::new();
                for item in items {
                    if self.case_equal(pattern, item)? == (name == "grep") {
                        kept.push(item.clone());
                    }
                }
                heap.list(kept)
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

    /// A list of two, which stands at this place, as a key and its value.
    pub(in crate::run) fn pair_of(
        &mut self,
        value: &Value,
        at: usize,
    ) -> Result<(Value, Value), Stop> {
        let heap = self.heap;
        match value {
            Value::List(items) => match items.items(heap).as_slice() {
                [key, value] => Ok((key.clone(), value.clone())),
                other => {
                    let was = other.len();
                    let message = format!("wrong array length at {at} (expected 2, was {was})");
                    Err(Stop::raise("ArgumentError", message))
                }
            },
            other => {
                let what = other.class();
                let message = format!("wrong element type {what} at {at} (expected array)");
                Err(Stop::raise("TypeError", message))
            }
        }
    }
}

/// Whether `count` of `all` items are as many as the method asks for.
pub(super) fn quantified(name: &str, count: usize, all: usize) -> bool {
    match name {
        "any?" => count > 0,
        "all?" => count == all,
        "none?" => count == 0,
        _ => count == 1,
    }
}
