//! Methods of lists alone; what lists share with hashes and ranges stands in `enumerable`.

mod change;
mod look;
mod range;

use super::{Found1, Given, Machine, Stop, limited};
use crate::dictionary::Key;
use crate::heap::{Heap, ListRef};
use crate::run::methods::{ANY, Methods, takes};
use crate::value::{Range, Value};
pub(super) use change::replace_part;
pub(super) use look::METHODS as LOOKING;
pub(super) use range::METHODS as OF_RANGES;

use change::{change, filled, take_part};
use look::read;
use std::collections::HashSet;

/// The methods of lists alone.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "clear",
            "collect!",
            "compact!",
            "delete_if",
            "empty?",
            "filter!",
            "first",
            "frozen?",
            "keep_if",
            "last",
            "length",
            "map!",
            "reject!",
            "reverse!",
            "select!",
            "shuffle!",
            "size",
            "sort!",
            "sort_by!",
            "to_a",
            "to_ary",
            "uniq!",
        ],
    ),
    takes(0, 1, &["flatten!", "pop", "rotate!", "shift"]),
    takes(0, 3, &["fill"]),
    takes(0, ANY, &["<<", "append", "concat", "prepend", "push", "replace", "unshift"]),
    takes(1, 1, &["[]", "at", "delete", "delete_at", "slice"]),
    takes(1, 2, &["slice!"]),
    takes(1, ANY, &["dig", "insert"]),
];

impl Machine<'_, '_> {
    pub(super) fn list_method(
        &mut self,
        list: ListRef,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        if let Some(found) = at_place(heap, list, name, arguments) {
            return Ok(Some(found));
        }
        if !(given.is_some() && matches!(name, "delete" | "fill"))
            && let Some(found) = change(heap, list, name, arguments)?
        {
            return Ok(Some(found));
        }
        if let Some(plain) = name.strip_suffix('!').filter(|plain| !plain.is_empty()) {
            return self.change_in_place(list, plain, arguments, given);
        }
        if matches!(name, "delete_if" | "keep_if") {
            let plain = if name == "keep_if" { "select" } else { "reject" };
            self.change_in_place(list, plain, arguments, given)?;
            return Ok(Some(Value::List(list)));
        }
        let items = list.items(heap);
        if let Some(given) = given
            && let Some(found) = self.list_with_code(list, &items, name, arguments, given)?
        {
            return Ok(Some(found));
        }
        match read(heap, &items, name, arguments)? {
            Some(found) => Ok(Some(found)),
            None => self.enumerable_method(items, &Value::List(list), name, arguments, given),
        }
    }

    /// Methods of lists alone whose code says what is missing or made.
    fn list_with_code(
        &mut self,
        list: ListRef,
        items: &[Value],
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("fetch", [Value::Int(place)]) => {
                let at = if *place < 0 { place + items.len() as i64 } else { *place };
                match usize::try_from(at).ok().and_then(|at| items.get(at)) {
                    Some(item) => item.clone(),
                    None => self.give_to(given, arguments.to_vec())?,
                }
            }
            ("delete", [value]) => match change(heap, list, name, arguments)? {
                Some(Value::Nil) => self.give_to(given, vec![value.clone()])?,
                found => return Ok(found),
            },
            ("fill", places) => {
                let (from, count) = filled(heap, items.len(), places)?;
                let mut new = items.to_vec();
                new.resize(new.len().max(from + count), Value::Nil);
                for (at, place) in new.iter_mut().enumerate().skip(from).take(count) {
                    *place = self.give_to(given, vec![Value::Int(at as i64)])?;
                }
                list.set_items(heap, new);
                Value::List(list)
            }
            _ => return Ok(None),
        }))
    }

    /// `map!`: the list gets what `map` gives; `nil` when nothing changed, where Ruby says so.
    fn change_in_place(
        &mut self,
        list: ListRef,
        plain: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        if plain == "slice" {
            return Ok(Some(take_part(heap, list, arguments)?));
        }
        let old = list.items(heap);
        let new = self.invoke(&Value::List(list), plain, arguments, given)?;
        let Value::List(new) = new else { return Ok(None) };
        let new = new.items(heap);
        let same = match plain {
            "flatten" => !old.iter().any(|item| matches!(item, Value::List(_))),
            _ => new.len() == old.len(),
        };
        list.set_items(heap, new);
        let tells =
            matches!(plain, "compact" | "uniq" | "flatten" | "select" | "reject" | "filter");
        Ok(Some(if same && tells { Value::Nil } else { Value::List(list) }))
    }

    /// The items that a value goes through.
    pub(super) fn items(&mut self, value: &Value) -> Result<Vec<Value>, Stop> {
        let heap = self.heap;
        Ok(match value {
            Value::List(items) => items.items(heap),
            Value::Hash(hash) => {
                let pairs = hash.pairs(heap).into_iter();
                pairs.map(|(key, value)| heap.list(vec![key, value])).collect()
            }
            Value::Set(set) => set.pairs(heap).into_iter().map(|(one, _)| one).collect(),
            Value::Range(range) => self.items_of_range(&range.get(heap))?,
            other => {
                let message = format!("undefined method `each' for {}", other.class());
                return Err(Stop::raise("NoMethodError", message));
            }
        })
    }
}

/// What needs no copy of the list.
fn at_place(heap: &Heap, list: ListRef, name: &str, arguments: &[Value]) -> Option<Value> {
    let item = |at: i64| {
        let at = if at < 0 { at + list.len(heap) as i64 } else { at };
        usize::try_from(at).ok().and_then(|at| list.item(heap, at)).unwrap_or_default()
    };
    Some(match (name, arguments) {
        ("[]" | "at" | "slice" | "dig", [Value::Int(at)]) => item(*at),
        ("first", []) => item(0),
        ("last", []) => item(-1),
        ("length" | "size", []) => Value::Int(list.len(heap) as i64),
        ("empty?", []) => Value::Bool(list.len(heap) == 0),
        ("to_a" | "to_ary", []) => Value::List(list),
        _ => return None,
    })
}

/// Where a range lies in `length` items: the first, and how many.
pub(super) fn bounds(range: &Range, length: i64) -> Option<(i64, i64)> {
    let from = match range.from {
        Value::Int(from) if from < 0 => from + length,
        Value::Int(from) => from,
        _ => 0,
    };
    let to = match range.to {
        Value::Int(to) if to < 0 => to + length,
        Value::Int(to) => to,
        _ => length - 1,
    };
    let exclusive = range.exclusive && !matches!(range.to, Value::Nil);
    let to = if exclusive { to.saturating_sub(1) } else { to };
    (0..=length).contains(&from).then(|| (from, (to.min(length - 1) - from + 1).max(0)))
}

/// Each value once.
pub(super) fn unique(heap: &Heap, items: Vec<Value>) -> Vec<Value> {
    let mut seen = HashSet::new();
    items.into_iter().filter(|item| seen.insert(Key::of(heap, item))).collect()
}

/// The items, with those of lists inside, so many levels deep.
pub(super) fn flatten(heap: &Heap, items: &[Value], levels: usize) -> Result<Vec<Value>, Stop> {
    let mut out = Vec::new();
    push_flat(heap, items, levels, 0, &mut out)?;
    Ok(out)
}

fn push_flat(
    heap: &Heap,
    items: &[Value],
    levels: usize,
    depth: usize,
    out: &mut Vec<Value>,
) -> Result<(), Stop> {
    for item in items {
        match item {
            Value::List(inner) if depth < levels => {
                if !heap.descend(depth) {
                    heap.check()?;
                }
                push_flat(heap, &inner.items(heap), levels, depth + 1, out)?;
            }
            other => out.push(other.clone()),
        }
        limited(out.len())?;
    }
    Ok(())
}
