//! Methods of lists alone; what lists share with hashes and ranges stands in `enumerable`.

mod look;

use super::enumerable::order;
use super::{Found1, Given, Machine, Stop, limited};
use crate::dictionary::Key;
use crate::heap::{Heap, ListRef};
use crate::run::methods::{ANY, Methods, takes};
use crate::value::{Range, Value};
pub(super) use look::METHODS as LOOKING;

use look::read;
use std::cmp::Ordering;
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
    takes(1, 1, &["[]", "at", "delete", "delete_at", "dig", "slice"]),
    takes(1, 2, &["slice!"]),
    takes(1, ANY, &["insert"]),
];

/// The methods of ranges alone.
pub(in crate::run) const OF_RANGES: &[Methods] = &[
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
                for at in from..from + count {
                    new[at] = self.give_to(given, vec![Value::Int(at as i64)])?;
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

    pub(super) fn range_method(
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

    fn items_of_range(&mut self, range: &Range) -> Result<Vec<Value>, Stop> {
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
                    text = super::text::successor(&text).into();
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
                    let Some(next) = super::address::next(at) else { break };
                    at = next;
                }
                Ok(addresses)
            }
            (from, _) => {
                let what = super::object::word_of(from);
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

/// `slice!`: the part that is taken out.
fn take_part(heap: &Heap, list: ListRef, arguments: &[Value]) -> Result<Value, Stop> {
    let length = list.len(heap) as i64;
    let (from, count, single) = match arguments {
        [Value::Int(at)] => (*at, 1, true),
        [Value::Int(from), Value::Int(count)] => (*from, *count, false),
        [Value::Range(range)] => match bounds(&range.get(heap), length) {
            Some((from, count)) => (from, count, false),
            None => return Ok(Value::Nil),
        },
        _ => return Err(Stop::raise("ArgumentError", "wrong arguments of `slice!`")),
    };
    let from = if from < 0 { from + length } else { from };
    if !(0..=length).contains(&from) || count < 0 || (single && from == length) {
        return Ok(Value::Nil);
    }
    let end = from.saturating_add(count).min(length);
    heap.budget().spend_items(length as usize);
    let mut taken: Vec<Value> =
        list.edit(heap, |items| items.drain(from as usize..end as usize).collect());
    Ok(if single { taken.pop().unwrap_or_default() } else { heap.list(taken) })
}

/// Methods that change the list.
fn change(heap: &Heap, list: ListRef, name: &str, arguments: &[Value]) -> Found1 {
    let whole = || Value::List(list);
    let count = |count: i64| usize::try_from(count).unwrap_or(0).min(list.len(heap));
    Ok(Some(match (name, arguments) {
        ("push" | "append" | "<<", new) => {
            limited(list.len(heap) + new.len())?;
            new.iter().for_each(|one| list.push(heap, one.clone()));
            whole()
        }
        ("pop", []) => list.edit(heap, Vec::pop).unwrap_or_default(),
        ("shift", []) => {
            heap.budget().spend_items(list.len(heap));
            let first = |items: &mut Vec<Value>| (!items.is_empty()).then(|| items.remove(0));
            list.edit(heap, first).unwrap_or_default()
        }
        ("shift", [Value::Int(number)]) => {
            let count = count(*number);
            heap.budget().spend_items(list.len(heap));
            heap.list(list.edit(heap, |items| items.drain(..count).collect()))
        }
        ("pop", [Value::Int(number)]) => {
            let from = list.len(heap) - count(*number);
            heap.list(list.edit(heap, |items| items.split_off(from)))
        }
        ("unshift" | "prepend", new) => {
            limited(list.len(heap) + new.len())?;
            heap.budget().spend_items(list.len(heap));
            list.edit(heap, |items| drop(items.splice(0..0, new.iter().cloned())));
            whole()
        }
        ("insert", [Value::Int(at), new @ ..]) => {
            let length = list.len(heap) as i64;
            let at = if *at < 0 { at + length + 1 } else { *at };
            let at = usize::try_from(at).unwrap_or(0);
            limited(at.max(list.len(heap)).saturating_add(new.len()))?;
            heap.budget().spend_items(list.len(heap).max(at));
            list.edit(heap, |items| {
                if at > items.len() {
                    items.resize(at, Value::Nil);
                }
                items.splice(at..at, new.iter().cloned());
            });
            whole()
        }
        _ => return remove_or_fill(heap, list, name, arguments),
    }))
}

/// Methods that remove items, or all.
fn remove_or_fill(heap: &Heap, list: ListRef, name: &str, arguments: &[Value]) -> Found1 {
    let whole = || Value::List(list);
    Ok(Some(match (name, arguments) {
        ("delete", [value]) => {
            let mut kept = list.items(heap);
            let before = kept.len();
            kept.retain(|item| !item.equals(heap, value));
            let gone = kept.len() < before;
            list.set_items(heap, kept);
            if gone { value.clone() } else { Value::Nil }
        }
        ("delete_at", [Value::Int(at)]) => {
            let at = if *at < 0 { at + list.len(heap) as i64 } else { *at };
            heap.budget().spend_items(list.len(heap));
            match usize::try_from(at).ok().filter(|at| *at < list.len(heap)) {
                Some(at) => list.edit(heap, |items| items.remove(at)),
                None => Value::Nil,
            }
        }
        ("clear", []) => {
            list.set_items(heap, Vec::new());
            whole()
        }
        ("fill", [value, places @ ..]) => {
            let (from, count) = filled(heap, list.len(heap), places)?;
            heap.budget().spend_items(from + count);
            list.edit(heap, |items| {
                items.resize(items.len().max(from + count), Value::Nil);
                items[from..from + count].fill(value.clone());
            });
            whole()
        }
        ("concat" | "replace", lists) => {
            let mut all = if name == "replace" { Vec::new() } else { list.items(heap) };
            for other in lists {
                let Value::List(other) = other else {
                    let what = super::object::word_of(other);
                    let message = format!("no implicit conversion of {what} into Array");
                    return Err(Stop::raise("TypeError", message));
                };
                all.extend(other.items(heap));
                limited(all.len())?;
            }
            list.set_items(heap, all);
            whole()
        }
        _ => return Ok(None),
    }))
}

/// Which items `fill` sets: the first, and how many.
fn filled(heap: &Heap, length: usize, places: &[Value]) -> Result<(usize, usize), Stop> {
    let (from, count) = match places {
        [Value::Range(range)] => bounds(&range.get(heap), length as i64).unwrap_or((0, 0)),
        [Value::Int(from)] => (*from, (length as i64).saturating_sub(*from)),
        [Value::Int(from), Value::Int(count)] => (*from, *count),
        _ => (0, length as i64),
    };
    let from = if from < 0 { from + length as i64 } else { from };
    let (from, count) = (from.max(0) as usize, count.max(0) as usize);
    limited(from.saturating_add(count))?;
    Ok((from, count))
}

/// `a[1, 2] = value`: a list takes the place of the part item by item.
pub(super) fn replace_part(
    heap: &Heap,
    list: ListRef,
    from: i64,
    count: i64,
    value: &Value,
) -> Result<(), Stop> {
    let new = match value {
        Value::List(items) => items.items(heap),
        one => vec![one.clone()],
    };
    let from = usize::try_from(from).unwrap_or(0);
    limited(from.max(list.len(heap)).saturating_add(new.len()))?;
    heap.budget().spend_items(list.len(heap).max(from));
    list.edit(heap, |items| {
        items.resize(items.len().max(from), Value::Nil);
        let end = from.saturating_add(usize::try_from(count).unwrap_or(0)).min(items.len());
        items.splice(from..end, new);
    });
    Ok(())
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
