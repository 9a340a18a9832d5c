//! Methods whose block selects or counts items.

use super::super::{Found1, Given, Machine};
use super::plain::quantified;
use crate::value::Value;

impl Machine<'_, '_> {
    /// Methods whose code chooses.
    pub(super) fn choosing(&mut self, items: &[Value], name: &str, given: &Given) -> Found1 {
        let heap = self.heap;
        let mut kept = Vec::new();
        let mut count = 0;
        match name {
            "select" | "filter" | "find_all" | "reject" | "filter_map" => {
                for item in items {
                    let value = self.give_to(given, vec![item.clone()])?;
                    match name {
                        "filter_map" if value.is_true() => kept.push(value),
                        "filter_map" => {}
                        name if value.is_true() == (name != "reject") => kept.push(item.clone()),
                        _ => {}
                    }
                }
                Ok(Some(heap.list(kept)))
            }
            "find" | "detect" | "find_index" | "index" | "bsearch" => {
                for (at, item) in items.iter().enumerate() {
                    if self.give_to(given, vec![item.clone()])?.is_true() {
                        let found = match name {
                            "find" | "detect" | "bsearch" => item.clone(),
                            _ => Value::Int(at as i64),
                        };
                        return Ok(Some(found));
                    }
                }
                Ok(Some(Value::Nil))
            }
            "any?" | "all?" | "none?" | "one?" | "count" => {
                for item in items {
                    count += usize::from(self.give_to(given, vec![item.clone()])?.is_true());
                    match name {
                        "any?" if count > 0 => break,
                        "all?" if count == 0 => break,
                        _ => {}
                    }
                }
                Ok(Some(match name {
                    "count" => Value::Int(count as i64),
                    name => Value::Bool(quantified(name, count, items.len())),
                }))
            }
            "take_while" | "drop_while" => {
                let mut end = 0;
                for item in items {
                    if !self.give_to(given, vec![item.clone()])?.is_true() {
                        break;
                    }
                    end += 1;
                }
                let part = if name == "take_while" { &items[..end] } else { &items[end..] };
                Ok(Some(heap.list(part.to_vec())))
            }
            _ => Ok(None),
        }
    }
}
