//! Methods of lists that only look: items by place, lists beside others, other orders.

use super::super::enumerable::order;
use super::super::{Found1, Stop, limited};
use super::{bounds, flatten, unique};
use crate::ruby::value::{DEPTH_MAX, Value};

/// All of them.
pub(super) fn read(items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
    for family in [by_place, with_others, in_other_order] {
        if let Some(found) = family(items, name, arguments)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Items and parts by their place.
fn by_place(items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("[]" | "slice" | "at", [Value::Int(place)]) => at(items, *place),
        ("[]" | "slice", [Value::Int(from), Value::Int(count)]) => part(items, *from, *count),
        ("[]" | "slice", [Value::Range(range)]) => match bounds(range, items.len() as i64) {
            Some((from, count)) => part(items, from, count),
            None => Value::Nil,
        },
        ("[]", [other]) => {
            let message = format!("no implicit conversion of {} into Integer", other.class());
            return Err(Stop::raise("TypeError", message));
        }
        ("fetch", [Value::Int(place), rest @ ..]) => {
            let wanted = if *place < 0 { place + items.len() as i64 } else { *place };
            match (usize::try_from(wanted).ok().and_then(|at| items.get(at)), rest) {
                (Some(item), _) => item.clone(),
                (None, [default]) => default.clone(),
                _ => {
                    let message = format!("index {place} out of array");
                    return Err(Stop::raise("IndexError", message));
                }
            }
        }
        ("dig", [Value::Int(place)]) => at(items, *place),
        ("assoc", [key]) => {
            let begins = |item: &&Value| match item {
                Value::List(pair) => pair.lock().first().is_some_and(|first| first.equals(key)),
                _ => false,
            };
            items.iter().find(begins).cloned().unwrap_or_default()
        }
        ("values_at", places) => {
            let place = |place: &Value| match place {
                Value::Int(place) => at(items, *place),
                _ => Value::Nil,
            };
            Value::list(places.iter().map(place).collect())
        }
        ("first", []) => at(items, 0),
        ("last", []) => at(items, -1),
        ("first" | "take", [Value::Int(count)]) => part(items, 0, *count),
        ("last", [Value::Int(count)]) => {
            let count = (*count).clamp(0, items.len() as i64);
            part(items, items.len() as i64 - count, count)
        }
        ("drop", [Value::Int(count)]) => {
            let count = (*count).clamp(0, items.len() as i64);
            part(items, count, items.len() as i64)
        }
        ("length" | "size", []) => Value::Int(items.len() as i64),
        ("empty?", []) => Value::Bool(items.is_empty()),
        _ => return Ok(None),
    }))
}

/// With another list, a text or a number.
fn with_others(items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("+" | "union", [Value::List(other)]) => {
            let mut all = items.to_vec();
            all.extend(other.lock().clone());
            limited(all.len())?;
            Value::list(if name == "+" { all } else { unique(all) })
        }
        ("+", [other]) => {
            let message = format!("no implicit conversion of {} into Array", other.class());
            return Err(Stop::raise("TypeError", message));
        }
        ("-" | "difference", [other]) => {
            let other = others(other);
            Value::list(items.iter().filter(|item| !has(&other, item)).cloned().collect())
        }
        ("&" | "intersection", [other]) => {
            let other = others(other);
            Value::list(unique(items.iter().filter(|item| has(&other, item)).cloned().collect()))
        }
        ("|", [other]) => {
            let mut all = items.to_vec();
            all.extend(others(other));
            Value::list(unique(all))
        }
        ("intersect?", [other]) => {
            let other = others(other);
            Value::Bool(items.iter().any(|item| has(&other, item)))
        }
        ("*", [Value::Text(separator)]) => Value::text(&join(items, &separator.str(), 0)?),
        ("*", [Value::Int(count)]) => {
            let count = usize::try_from(*count).unwrap_or(0);
            limited(items.len().saturating_mul(count))?;
            Value::list(items.iter().cycle().take(items.len() * count).cloned().collect())
        }
        ("combination", [Value::Int(size)]) => {
            let mut made = Vec::new();
            combine(items, usize::try_from(*size).unwrap_or(0), &mut Vec::new(), &mut made)?;
            Value::list(made)
        }
        ("product", [Value::List(other)]) => {
            let other = other.lock().clone();
            limited(items.len().saturating_mul(other.len()))?;
            let rows = items.iter().flat_map(|left| {
                other.iter().map(|right| Value::list(vec![left.clone(), right.clone()]))
            });
            Value::list(rows.collect())
        }
        _ => return Ok(None),
    }))
}

/// The same items in another form.
fn in_other_order(items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("join", []) | ("join", [Value::Nil]) => Value::text(&join(items, "", 0)?),
        ("join", [separator]) => Value::text(&join(items, &separator.print(), 0)?),
        ("reverse", []) => Value::list(items.iter().rev().cloned().collect()),
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
            Value::list(turned)
        }
        ("compact", []) => {
            Value::list(items.iter().filter(|item| !matches!(item, Value::Nil)).cloned().collect())
        }
        ("flatten", depth) => {
            let depth = match depth {
                [Value::Int(depth)] => usize::try_from(*depth).unwrap_or(DEPTH_MAX),
                _ => DEPTH_MAX,
            };
            let mut out = Vec::new();
            flatten(items, depth, &mut out)?;
            Value::list(out)
        }
        ("index" | "find_index", [value]) => place(items.iter().position(|one| one.equals(value))),
        ("rindex", [value]) => place(items.iter().rposition(|one| one.equals(value))),
        ("to_a" | "to_ary" | "entries", []) => Value::list(items.to_vec()),
        ("transpose", []) => {
            let rows: Vec<Vec<Value>> = items.iter().map(others).collect();
            let width = rows.first().map_or(0, Vec::len);
            if rows.iter().any(|row| row.len() != width) {
                return Err(Stop::raise("IndexError", "element size differs"));
            }
            let column = |at: usize| rows.iter().map(|row| row[at].clone()).collect();
            Value::list((0..width).map(|at| Value::list(column(at))).collect())
        }
        ("sample", []) => at(items, 0),
        ("shuffle", []) => Value::list(items.to_vec()),
        ("pack", [Value::Text(format)]) => super::super::text::pack(items, &format.str())?,
        ("<=>", [other @ Value::List(_)]) => match order(&Value::list(items.to_vec()), other) {
            Some(order) => Value::Int(order as i64),
            None => Value::Nil,
        },
        _ => return Ok(None),
    }))
}

fn at(items: &[Value], at: i64) -> Value {
    let at = if at < 0 { at + items.len() as i64 } else { at };
    usize::try_from(at).ok().and_then(|at| items.get(at).cloned()).unwrap_or_default()
}

fn part(items: &[Value], from: i64, count: i64) -> Value {
    let length = items.len() as i64;
    let from = if from < 0 { from + length } else { from };
    if !(0..=length).contains(&from) || count < 0 {
        return Value::Nil;
    }
    let end = (from + count).min(length);
    Value::list(items[from as usize..end as usize].to_vec())
}

fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::List(items) => items.lock().clone(),
        Value::Nil => Vec::new(),
        one => vec![one.clone()],
    }
}

fn has(items: &[Value], value: &Value) -> bool {
    items.iter().any(|item| item.equals(value))
}

/// The texts with `separator` between them; lists inside are joined too.
fn join(items: &[Value], separator: &str, depth: usize) -> Result<String, Stop> {
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        match item {
            Value::List(inner) if depth < DEPTH_MAX => {
                let inner = inner.lock().clone();
                out.push_str(&join(&inner, separator, depth + 1)?);
            }
            other => out.push_str(&other.print()),
        }
        limited(out.len())?;
    }
    Ok(out)
}

/// All choices of `size` items, in order.
fn combine(
    items: &[Value],
    size: usize,
    chosen: &mut Vec<Value>,
    made: &mut Vec<Value>,
) -> Result<(), Stop> {
    if chosen.len() == size {
        made.push(Value::list(chosen.clone()));
        return limited(made.len());
    }
    for (at, item) in items.iter().enumerate() {
        chosen.push(item.clone());
        combine(&items[at + 1..], size, chosen, made)?;
        chosen.pop();
    }
    Ok(())
}

fn place(at: Option<usize>) -> Value {
    at.map_or(Value::Nil, |at| Value::Int(at as i64))
}
