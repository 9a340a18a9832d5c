//! Methods that change a list in place.

use super::super::{Found1, Stop, limited};
use super::bounds;
use crate::heap::{Heap, ListRef};
use crate::value::Value;

/// `slice!`: the part that is taken out.
pub(super) fn take_part(heap: &Heap, list: ListRef, arguments: &[Value]) -> Result<Value, Stop> {
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
pub(super) fn change(heap: &Heap, list: ListRef, name: &str, arguments: &[Value]) -> Found1 {
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
                    let what = super::super::object::word_of(other);
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
pub(super) fn filled(heap: &Heap, length: usize, places: &[Value]) -> Result<(usize, usize), Stop> {
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
pub(in crate::run) fn replace_part(
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
