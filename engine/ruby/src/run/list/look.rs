//! Methods of lists that change nothing: items by index, several lists together, other orders.

use super::super::enumerable::order;
use super::super::random::Random;
use super::super::{Found1, Stop, limited};
use super::{bounds, flatten, unique};
use crate::dictionary::Key;
use crate::heap::Heap;
use crate::run::methods::{ANY, Methods, takes};
use crate::value::Value;
use std::collections::HashSet;

/// The methods that look at a list or a range.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "compact",
            "deconstruct",
            "empty?",
            "entries",
            "length",
            "reverse",
            "shuffle",
            "size",
            "to_a",
            "to_ary",
            "transpose",
        ],
    ),
    takes(0, 1, &["first", "join", "last", "permutation", "sample"]),
    takes(0, ANY, &["flatten", "product", "rotate", "values_at"]),
    takes(
        1,
        1,
        &[
            "&",
            "*",
            "+",
            "-",
            "<=>",
            "assoc",
            "at",
            "combination",
            "difference",
            "dig",
            "drop",
            "find_index",
            "index",
            "intersect?",
            "intersection",
            "pack",
            "rassoc",
            "repeated_combination",
            "repeated_permutation",
            "rindex",
            "take",
            "union",
            "|",
        ],
    ),
    takes(1, 2, &["[]", "fetch", "slice"]),
];

/// All of them.
pub(super) fn read(heap: &Heap, items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
    for family in [by_place, with_others, in_other_order] {
        if let Some(found) = family(heap, items, name, arguments)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Items and parts by their place.
fn by_place(heap: &Heap, items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("[]" | "slice" | "at", [Value::Int(place)]) => at(items, *place),
        ("[]" | "slice", [Value::Int(from), Value::Int(count)]) => part(heap, items, *from, *count),
        ("[]" | "slice", [Value::Range(range)]) => {
            match bounds(&range.get(heap), items.len() as i64) {
                Some((from, count)) => part(heap, items, from, count),
                None => Value::Nil,
            }
        }
        ("[]", [other]) => {
            return Err(no_number(other));
        }
        ("first" | "last" | "take" | "drop", [Value::Int(count)]) if *count < 0 => {
            let message = match name {
                "take" | "drop" => format!("attempt to {name} negative size"),
                _ => "negative array size (or size too big)".to_string(),
            };
            return Err(Stop::raise("ArgumentError", message));
        }
        ("first" | "last" | "take" | "drop" | "fetch", [other, ..])
            if !matches!(other, Value::Int(_)) =>
        {
            return Err(no_number(other));
        }
        ("fetch", [Value::Int(place), rest @ ..]) => {
            let wanted = if *place < 0 { place + items.len() as i64 } else { *place };
            match (usize::try_from(wanted).ok().and_then(|at| items.get(at)), rest) {
                (Some(item), _) => item.clone(),
                (None, [default]) => default.clone(),
                _ => {
                    let message = format!("index {wanted} out of array");
                    return Err(Stop::raise("IndexError", message));
                }
            }
        }
        ("dig", [Value::Int(place)]) => at(items, *place),
        ("assoc", [key]) => {
            let begins = |item: &&Value| match item {
                Value::List(pair) => {
                    pair.item(heap, 0).is_some_and(|first| first.equals(heap, key))
                }
                _ => false,
            };
            items.iter().find(begins).cloned().unwrap_or_default()
        }
        ("rassoc", [value]) => {
            let ends = |item: &&Value| match item {
                Value::List(pair) => {
                    pair.item(heap, 1).is_some_and(|second| second.equals(heap, value))
                }
                _ => false,
            };
            items.iter().find(ends).cloned().unwrap_or_default()
        }
        ("values_at", places) => {
            let mut found = Vec::with_capacity(places.len());
            for place in places {
                match place {
                    Value::Int(place) => found.push(at(items, *place)),
                    Value::Range(range) => {
                        let bounds = bounds(&range.get(heap), items.len() as i64);
                        let (from, count) = bounds.unwrap_or((0, 0));
                        found.extend_from_slice(&items[from as usize..(from + count) as usize]);
                    }
                    other => return Err(no_number(other)),
                }
                limited(found.len())?;
            }
            heap.list(found)
        }
        ("first", []) => at(items, 0),
        ("last", []) => at(items, -1),
        ("first" | "take", [Value::Int(count)]) => part(heap, items, 0, *count),
        ("last", [Value::Int(count)]) => {
            let count = (*count).clamp(0, items.len() as i64);
            part(heap, items, items.len() as i64 - count, count)
        }
        ("drop", [Value::Int(count)]) => {
            let count = (*count).clamp(0, items.len() as i64);
            part(heap, items, count, items.len() as i64)
        }
        ("length" | "size", []) => Value::Int(items.len() as i64),
        ("empty?", []) => Value::Bool(items.is_empty()),
        _ => return Ok(None),
    }))
}

/// With another list, a text or a number.
fn with_others(heap: &Heap, items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("+" | "union", [Value::List(other)]) => {
            let mut all = items.to_vec();
            all.extend(other.items(heap));
            limited(all.len())?;
            heap.list(if name == "+" { all } else { unique(heap, all) })
        }
        ("+", [other]) => {
            let what = super::super::object::word_of(other);
            let message = format!("no implicit conversion of {what} into Array");
            return Err(Stop::raise("TypeError", message));
        }
        ("-" | "&" | "|", [other]) if !matches!(other, Value::List(_)) => {
            let what = super::super::object::word_of(other);
            let message = format!("no implicit conversion of {what} into Array");
            return Err(Stop::raise("TypeError", message));
        }
        ("-" | "difference", [other]) => {
            let other = keys(heap, other);
            heap.list(items.iter().filter(|item| !has(heap, &other, item)).cloned().collect())
        }
        ("&" | "intersection", [other]) => {
            let other = keys(heap, other);
            let both = items.iter().filter(|item| has(heap, &other, item)).cloned().collect();
            heap.list(unique(heap, both))
        }
        ("|", [other]) => {
            let mut all = items.to_vec();
            all.extend(others(heap, other));
            heap.list(unique(heap, all))
        }
        ("intersect?", [other]) => {
            let other = keys(heap, other);
            Value::Bool(items.iter().any(|item| has(heap, &other, item)))
        }
        ("*", [Value::Text(separator)]) => heap.text(&join(heap, items, &separator.str(heap), 0)?),
        ("*", [Value::Int(..=-1)]) => {
            return Err(Stop::raise("ArgumentError", "negative argument"));
        }
        ("*", [Value::Nil]) => {
            return Err(Stop::raise("TypeError", "no implicit conversion from nil to integer"));
        }
        ("*", [Value::Int(count)]) => {
            let count = usize::try_from(*count).unwrap_or(0);
            limited(items.len().saturating_mul(count))?;
            heap.list(items.iter().cycle().take(items.len() * count).cloned().collect())
        }
        ("combination", [Value::Int(size)]) => {
            heap.list(combinations(heap, items, usize::try_from(*size).unwrap_or(0))?)
        }
        ("permutation", size) => {
            let size = match size {
                [Value::Int(size)] => usize::try_from(*size).unwrap_or(usize::MAX),
                _ => items.len(),
            };
            heap.list(choices(heap, items, size, |chosen, at| !chosen.contains(&at))?)
        }
        ("repeated_permutation", [Value::Int(size)]) => {
            let size = usize::try_from(*size).unwrap_or(usize::MAX);
            heap.list(choices(heap, items, size, |_, _| true)?)
        }
        ("repeated_combination", [Value::Int(size)]) => {
            let size = usize::try_from(*size).unwrap_or(usize::MAX);
            let sorted = |chosen: &[usize], at| chosen.last().is_none_or(|last| *last <= at);
            heap.list(choices(heap, items, size, sorted)?)
        }
        ("product", lists) if lists.iter().all(|one| matches!(one, Value::List(_))) => {
            let mut rows: Vec<Vec<Value>> = items.iter().map(|one| vec![one.clone()]).collect();
            for list in lists {
                let other = others(heap, list);
                let size = rows.len().saturating_mul(other.len());
                limited(size.saturating_mul(lists.len() + 1))?;
                let row = |row: &Vec<Value>, one: &Value| {
                    [row.as_slice(), std::slice::from_ref(one)].concat()
                };
                rows = rows
                    .iter()
                    .flat_map(|left| other.iter().map(move |one| row(left, one)))
                    .collect();
            }
            heap.list(rows.into_iter().map(|row| heap.list(row)).collect())
        }
        _ => return Ok(None),
    }))
}

/// The same items in another form.
fn in_other_order(heap: &Heap, items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("join", []) | ("join", [Value::Nil]) => heap.text(&join(heap, items, "", 0)?),
        ("join", [separator]) if !matches!(separator, Value::Text(_)) => {
            return Err(super::super::text::no_text(separator));
        }
        ("join", [separator]) => heap.text(&join(heap, items, &separator.print(heap), 0)?),
        ("reverse", []) => heap.list(items.iter().rev().cloned().collect()),
        ("rotate" | "flatten", [other]) if !matches!(other, Value::Int(_) | Value::Nil) => {
            return Err(no_number(other));
        }
        ("rotate", count) => {
            let count = match count {
                [Value::Int(count)] => *count,
                _ => 1,
            };
            let mut turned = items.to_vec();
            if !turned.is_empty() {
                let length = turned.len() as i64;
                turned.rotate_left(count.rem_euclid(length) as usize);
            }
            heap.list(turned)
        }
        ("compact", []) => {
            heap.list(items.iter().filter(|item| !matches!(item, Value::Nil)).cloned().collect())
        }
        ("flatten", depth) => {
            let depth = match depth {
                [Value::Int(depth)] => usize::try_from(*depth).unwrap_or(usize::MAX),
                _ => usize::MAX,
            };
            heap.list(flatten(heap, items, depth)?)
        }
        ("index" | "find_index", [value]) => {
            place(items.iter().position(|one| one.equals(heap, value)))
        }
        ("rindex", [value]) => place(items.iter().rposition(|one| one.equals(heap, value))),
        ("to_a" | "to_ary" | "entries", []) => heap.list(items.to_vec()),
        ("transpose", []) => {
            let rows: Vec<Vec<Value>> = items.iter().map(|one| others(heap, one)).collect();
            let width = rows.first().map_or(0, Vec::len);
            if let Some(row) = rows.iter().find(|row| row.len() != width) {
                let message = format!("element size differs ({} should be {width})", row.len());
                return Err(Stop::raise("IndexError", message));
            }
            let column = |at: usize| rows.iter().map(|row| row[at].clone()).collect();
            heap.list((0..width).map(|at| heap.list(column(at))).collect())
        }
        ("sample", []) => at(&shuffled(items), 0),
        ("sample", [Value::Int(..=-1)]) => {
            return Err(Stop::raise("ArgumentError", "negative sample number"));
        }
        ("sample", [Value::Int(count)]) => part(heap, &shuffled(items), 0, *count),
        ("shuffle", []) => heap.list(shuffled(items)),
        ("deconstruct", []) => heap.list(items.to_vec()),
        ("pack", [Value::Text(format)]) => {
            super::super::text::pack(heap, items, &format.str(heap))?
        }
        ("<=>", [other @ Value::List(_)]) => match order(heap, &heap.list(items.to_vec()), other) {
            Some(order) => Value::Int(order as i64),
            None => Value::Nil,
        },
        _ => return Ok(None),
    }))
}

/// The items in an order by chance.
fn shuffled(items: &[Value]) -> Vec<Value> {
    let mut random = Random::new();
    let mut mixed = items.to_vec();
    for at in (1..mixed.len()).rev() {
        mixed.swap(at, (random.fraction() * (at + 1) as f64) as usize);
    }
    mixed
}

/// The exception for a value that is no whole number.
fn no_number(value: &Value) -> Stop {
    match value {
        Value::Nil => Stop::raise("TypeError", "no implicit conversion from nil to integer"),
        other => {
            let what = super::super::object::word_of(other);
            Stop::raise("TypeError", format!("no implicit conversion of {what} into Integer"))
        }
    }
}

/// All rows of `size` items that `fits` allows, in order: it is given the places so far and the next one.
fn choices(
    heap: &Heap,
    items: &[Value],
    size: usize,
    fits: impl Fn(&[usize], usize) -> bool,
) -> Result<Vec<Value>, Stop> {
    let mut made = Vec::new();
    limited(size)?;
    let mut chosen: Vec<usize> = Vec::new();
    let mut next = 0;
    loop {
        if !heap.budget().spend(1) {
            heap.check()?;
        }
        if chosen.len() == size {
            made.push(heap.list(chosen.iter().map(|at| items[*at].clone()).collect()));
            limited(made.len().saturating_mul(size.max(1)))?;
        } else if let Some(at) = (next..items.len()).find(|at| fits(&chosen, *at)) {
            chosen.push(at);
            next = 0;
            continue;
        }
        match chosen.pop() {
            Some(last) => next = last + 1,
            None => return Ok(made),
        }
    }
}

fn at(items: &[Value], at: i64) -> Value {
    let at = if at < 0 { at + items.len() as i64 } else { at };
    usize::try_from(at).ok().and_then(|at| items.get(at).cloned()).unwrap_or_default()
}

fn part(heap: &Heap, items: &[Value], from: i64, count: i64) -> Value {
    let length = items.len() as i64;
    let from = if from < 0 { from + length } else { from };
    if !(0..=length).contains(&from) || count < 0 {
        return Value::Nil;
    }
    let end = from.saturating_add(count).min(length);
    heap.list(items[from as usize..end as usize].to_vec())
}

fn others(heap: &Heap, value: &Value) -> Vec<Value> {
    match value {
        Value::List(items) => items.items(heap),
        Value::Nil => Vec::new(),
        one => vec![one.clone()],
    }
}

/// What the items of a list are known by.
fn keys(heap: &Heap, value: &Value) -> HashSet<Key> {
    others(heap, value).iter().map(|item| Key::of(heap, item)).collect()
}

fn has(heap: &Heap, keys: &HashSet<Key>, value: &Value) -> bool {
    keys.contains(&Key::of(heap, value))
}

/// The texts with `separator` between them; lists inside are joined too.
fn join(heap: &Heap, items: &[Value], separator: &str, depth: usize) -> Result<String, Stop> {
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        match item {
            Value::List(inner) => {
                if !heap.descend(depth) {
                    heap.check()?;
                }
                out.push_str(&join(heap, &inner.items(heap), separator, depth + 1)?);
            }
            other => out.push_str(&other.print(heap)),
        }
        limited(out.len())?;
    }
    Ok(out)
}

/// All choices of `size` items, in order.
fn combinations(heap: &Heap, items: &[Value], size: usize) -> Result<Vec<Value>, Stop> {
    let mut made = Vec::new();
    if size > items.len() {
        return Ok(made);
    }
    let mut chosen: Vec<usize> = (0..size).collect();
    loop {
        made.push(heap.list(chosen.iter().map(|at| items[*at].clone()).collect()));
        limited(made.len())?;
        heap.check()?;
        // The last place that can go on does; those behind it begin behind it.
        let last = |at: usize| items.len() - size + at;
        let Some(at) = (0..size).rev().find(|at| chosen[*at] < last(*at)) else { return Ok(made) };
        chosen[at] += 1;
        for next in at + 1..size {
            chosen[next] = chosen[next - 1] + 1;
        }
    }
}

fn place(at: Option<usize>) -> Value {
    at.map_or(Value::Nil, |at| Value::Int(at as i64))
}
