//! Methods of ranges alone.

use super::super::enumerable::order;
use super::super::{Found1, Given, Machine, Stop, limited};
use super::look::read;
use crate::heap::Heap;
use crate::run::methods::{Methods, takes};
use crate::value::{Range, Value};
use std::cmp::Ordering;

/// The methods of ranges alone.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "begin",
            "count",
            "end",
            "entries",
            "exclude_end?",
            "frozen?",
            "last",
            "max",
            "min",
            "size",
            "to_a",
            "to_ary",
        ],
    ),
    takes(0, 1, &["first"]),
    takes(1, 1, &["%", "===", "cover?", "include?", "member?", "step", "take"]),
];

impl Machine<'_, '_> {
    pub(in crate::run) fn range_method(
        &mut self,
        range: &Range,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let whole = || heap.range(range.from.clone(), range.to.clone(), range.exclusive);
        Ok(Some(match (name, arguments) {
            // A text is in a range of texts when it is one of them; `cover?` compares.
            ("include?" | "member?", [value @ Value::Text(_)])
                if matches!((&range.from, &range.to), (Value::Text(_), Value::Text(_))) =>
            {
                let items = self.items(&whole())?;
                Value::Bool(items.iter().any(|item| item.equals(heap, value)))
            }
            ("cover?", [Value::Range(other)]) => {
                let other = other.get(heap);
                let open_end =
                    other.exclusive && !range.exclusive && range.to.equals(heap, &other.to);
                Value::Bool(
                    covers(heap, range, &other.from)
                        && (open_end || covers(heap, range, &other.to)),
                )
            }
            ("exclude_end?", []) => Value::Bool(range.exclusive),
            ("frozen?", []) => Value::Bool(true),
            ("include?" | "member?" | "cover?" | "===", [value]) => {
                Value::Bool(covers(heap, range, value))
            }
            ("min" | "max", [])
                if order(heap, &range.from, &range.to)
                    .is_some_and(|order| order.is_gt() || (range.exclusive && order.is_eq())) =>
            {
                Value::Nil
            }
            ("first" | "begin" | "min", []) => range.from.clone(),
            ("end", []) => range.to.clone(),
            ("last" | "max", []) if !range.exclusive => range.to.clone(),
            ("first" | "take", [Value::Int(count)]) if is_endless(range) => {
                let Value::Int(from) = range.from else { return Ok(None) };
                limited(usize::try_from(*count).unwrap_or(0))?;
                heap.list((from..from.saturating_add(*count)).map(Value::Int).collect())
            }
            ("each", []) if is_endless(range) && given.is_some() => {
                let (Value::Int(from), Some(given)) = (&range.from, given) else { return Ok(None) };
                for at in *from.. {
                    self.give_to(given, vec![Value::Int(at)])?;
                }
                whole()
            }
            ("size", []) if is_endless(range) => Value::Float(f64::INFINITY),
            ("size", []) if matches!(range.from, Value::Text(_)) => Value::Nil,
            ("size" | "count", []) if given.is_none() => match (&range.from, &range.to) {
                (Value::Int(from), Value::Int(to)) => {
                    let last = if range.exclusive { to.saturating_sub(1) } else { *to };
                    Value::Int(last.saturating_sub(*from).saturating_add(1).max(0))
                }
                _ => Value::Int(self.items(&whole())?.len() as i64),
            },
            ("step" | "%", [step]) if step.equals_zero() => {
                return Err(Stop::raise("ArgumentError", "step can't be 0"));
            }
            ("step" | "%", [step]) if step.is_number() => {
                let steps: Vec<Value> = match (&range.from, step) {
                    (from, step) if from.is_number() => {
                        let ends = [range.to.clone(), step.clone()];
                        let found = self.number_method(from, "step", &ends, None)?;
                        let mut all = match found {
                            Some(Value::List(all)) => all.items(heap),
                            _ => return Ok(None),
                        };
                        all.retain(|one| !(range.exclusive && one.equals(heap, &range.to)));
                        all
                    }
                    (_, Value::Int(step @ 1..)) => {
                        self.items(&whole())?.into_iter().step_by(*step as usize).collect()
                    }
                    _ => return Ok(None),
                };
                if given.is_none() {
                    return Ok(Some(heap.list(steps)));
                }
                return self.enumerable_method(steps, &whole(), "each", &[], given);
            }
            ("to_a" | "to_ary" | "entries", []) => heap.list(self.items(&whole())?),
            _ => {
                let items = self.items(&whole())?;
                return match read(heap, &items, name, arguments)? {
                    Some(found) => Ok(Some(found)),
                    None => self.enumerable_method(items, &whole(), name, arguments, given),
                };
            }
        }))
    }

    pub(super) fn items_of_range(&mut self, range: &Range) -> Result<Vec<Value>, Stop> {
        let heap = self.heap;
        match (&range.from, &range.to) {
            (Value::Int(from), Value::Int(to)) => {
                let to = if range.exclusive { to.saturating_sub(1) } else { *to };
                let count = usize::try_from(to.saturating_sub(*from)).unwrap_or(0);
                limited(count)?;
                heap.budget().spend_items(count);
                Ok((*from..=to).map(Value::Int).collect())
            }
            (Value::Text(from), Value::Text(to)) => {
                let (mut text, to) = (from.str(heap), to.str(heap));
                let mut items = Vec::new();
                while text.len() <= to.len() {
                    self.step()?;
                    let is_last = text == to;
                    if !(is_last && range.exclusive) {
                        items.push(heap.shared_text(&text));
                    }
                    if is_last {
                        break;
                    }
                    text = super::super::text::successor(&text).into();
                }
                Ok(items)
            }
            (Value::Int(_), Value::Float(to)) if to.is_finite() => {
                let to = Value::Int(to.floor() as i64);
                self.items_of_range(&Range { from: range.from.clone(), to, exclusive: false })
            }
            (Value::Int(_), _) if is_endless(range) => {
                let message = "a range without an end is known here for `each`, `first` and `take`";
                Err(Stop::Unknown(message.to_string()))
            }
            (Value::Time(from, clock), Value::Time(to, _)) if clock.counts_days() => {
                let mut days = Vec::new();
                let mut day = *from;
                while day < *to || (day == *to && !range.exclusive) {
                    self.step()?;
                    days.push(Value::Time(day, *clock));
                    let Some(next) = day.checked_add_signed(chrono::Duration::days(1)) else {
                        break;
                    };
                    day = next;
                }
                Ok(days)
            }
            (Value::Address(from, length), Value::Address(to, _)) => {
                let mut addresses = Vec::new();
                let mut at = *from;
                while at <= *to {
                    self.step()?;
                    addresses.push(Value::Address(at, *length));
                    let Some(next) = super::super::address::next(at) else { break };
                    at = next;
                }
                Ok(addresses)
            }
            (from, _) => {
                let what = super::super::object::word_of(from);
                Err(Stop::raise("TypeError", format!("can't iterate from {what}")))
            }
        }
    }
}

/// Whether a range of whole numbers has no end.
fn is_endless(range: &Range) -> bool {
    let no_end = match range.to {
        Value::Nil => true,
        Value::Float(to) => to == f64::INFINITY,
        _ => false,
    };
    no_end && matches!(range.from, Value::Int(_))
}

fn covers(heap: &Heap, range: &Range, value: &Value) -> bool {
    let low = match range.from {
        Value::Nil => Some(Ordering::Less),
        _ => order(heap, &range.from, value),
    };
    let high = match range.to {
        Value::Nil => Some(Ordering::Less),
        _ => order(heap, value, &range.to),
    };
    let below = matches!(high, Some(Ordering::Less))
        || (!range.exclusive && matches!(high, Some(Ordering::Equal)));
    matches!(low, Some(Ordering::Less | Ordering::Equal)) && below
}
