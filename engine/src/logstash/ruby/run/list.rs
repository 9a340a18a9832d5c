//! Methods of lists alone; what lists share with hashes and ranges stands in `enumerable`.

use super::enumerable::order;
use super::{Found1, Given, Machine, Stop, limited};
use crate::logstash::ruby::value::{DEPTH_MAX, Shared, Value};
use std::cmp::Ordering;

/// The methods of lists.
pub(super) const NAMES: &[&str] = &[
    "push",
    "append",
    "<<",
    "pop",
    "shift",
    "unshift",
    "prepend",
    "insert",
    "concat",
    "delete",
    "delete_at",
    "delete_if",
    "keep_if",
    "clear",
    "replace",
    "[]",
    "slice",
    "at",
    "dig",
    "fetch",
    "values_at",
    "first",
    "last",
    "length",
    "size",
    "empty?",
    "+",
    "-",
    "*",
    "&",
    "|",
    "join",
    "reverse",
    "rotate",
    "compact",
    "flatten",
    "uniq",
    "index",
    "find_index",
    "rindex",
    "to_a",
    "to_ary",
    "to_h",
    "transpose",
    "sample",
    "shuffle",
    "assoc",
    "pack",
    "fill",
    "slice!",
    "product",
    "combination",
    "permutation",
    "<=>",
    "compact!",
    "flatten!",
    "uniq!",
    "map!",
    "collect!",
    "select!",
    "reject!",
    "sort!",
    "sort_by!",
    "reverse!",
    "shuffle!",
    "each_index",
    "bsearch",
    "intersect?",
    "union",
    "difference",
    "intersection",
    "eql?",
    "none?",
    "sum",
    "filter!",
    "take",
    "drop",
    "to_s",
    "inspect",
];

impl Machine<'_, '_> {
    pub(super) fn list_method(
        &mut self,
        list: &Shared<Vec<Value>>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        if let Some(found) = change(list, name, arguments)? {
            return Ok(Some(found));
        }
        let items = list.lock().clone();
        if let Some(plain) = name.strip_suffix('!') {
            return self.change_in_place(list, items, plain, arguments, given);
        }
        if matches!(name, "delete_if" | "keep_if") {
            let plain = if name == "keep_if" { "select" } else { "reject" };
            self.change_in_place(list, items, plain, arguments, given)?;
            return Ok(Some(Value::List(list.clone())));
        }
        match read(&items, name, arguments)? {
            Some(found) => Ok(Some(found)),
            None => {
                self.enumerable_method(items, &Value::List(list.clone()), name, arguments, given)
            }
        }
    }

    /// `map!`: the list gets what `map` gives; `nil` when nothing changed, where Ruby says so.
    fn change_in_place(
        &mut self,
        list: &Shared<Vec<Value>>,
        items: Vec<Value>,
        plain: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        if plain == "slice" {
            let taken = read(&items, "[]", arguments)?.unwrap_or_default();
            let gone = match &taken {
                Value::List(gone) => gone.lock().clone(),
                one => vec![one.clone()],
            };
            list.lock().retain(|item| !gone.iter().any(|one| one.equals(item)));
            return Ok(Some(taken));
        }
        let copy = Value::list(items.clone());
        let new = self.invoke(&copy, plain, arguments, given)?;
        let Value::List(new) = new else { return Ok(None) };
        let new = new.lock().clone();
        let same = new.len() == items.len();
        *list.lock() = new;
        let tells =
            matches!(plain, "compact" | "uniq" | "flatten" | "select" | "reject" | "filter");
        Ok(Some(if same && tells { Value::Nil } else { Value::List(list.clone()) }))
    }

    pub(super) fn range_method(
        &mut self,
        range: &(Value, Value, bool),
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let whole = || Value::Range(std::sync::Arc::new(range.clone()));
        Ok(Some(match (name, arguments) {
            ("include?" | "member?" | "cover?" | "===", [value]) => {
                let low = order(&range.0, value);
                let high = match range.1 {
                    Value::Nil => Some(Ordering::Less),
                    _ => order(value, &range.1),
                };
                let below = matches!(high, Some(Ordering::Less))
                    || (!range.2 && matches!(high, Some(Ordering::Equal)));
                Value::Bool(matches!(low, Some(Ordering::Less | Ordering::Equal)) && below)
            }
            ("first" | "begin" | "min", []) => range.0.clone(),
            ("end", []) => range.1.clone(),
            ("last" | "max", []) if !range.2 => range.1.clone(),
            ("step", [Value::Int(step)]) if *step > 0 => {
                let all = self.items(&whole())?;
                let steps = all.into_iter().step_by(*step as usize).collect();
                return self.enumerable_method(steps, &whole(), "each", &[], given);
            }
            ("to_a" | "to_ary" | "entries", []) => Value::list(self.items(&whole())?),
            _ => {
                let items = self.items(&whole())?;
                return match read(&items, name, arguments)? {
                    Some(found) => Ok(Some(found)),
                    None => self.enumerable_method(items, &whole(), name, arguments, given),
                };
            }
        }))
    }

    /// The items that a value goes through.
    pub(super) fn items(&mut self, value: &Value) -> Result<Vec<Value>, Stop> {
        Ok(match value {
            Value::List(items) => items.lock().clone(),
            Value::Hash(hash) => {
                let pairs = hash.lock().pairs();
                pairs.into_iter().map(|(key, value)| Value::list(vec![key, value])).collect()
            }
            Value::Range(range) => match (&range.0, &range.1) {
                (Value::Int(from), Value::Int(to)) => {
                    let to = if range.2 { to.saturating_sub(1) } else { *to };
                    limited(usize::try_from(to.saturating_sub(*from)).unwrap_or(0))?;
                    (*from..=to).map(Value::Int).collect()
                }
                (Value::Text(from), Value::Text(to)) => {
                    let mut items = Vec::new();
                    let mut text = Value::Text(from.clone());
                    while text.print().len() <= to.len() {
                        self.step()?;
                        let last = text.print() == **to;
                        if !(last && range.2) {
                            items.push(text.clone());
                        }
                        if last {
                            break;
                        }
                        text = self.invoke(&text, "succ", &[], None)?;
                    }
                    items
                }
                _ => return Err(Stop::raise("TypeError", "can't iterate over this range")),
            },
            other => {
                let message = format!("undefined method `each' for {}", other.class());
                return Err(Stop::raise("NoMethodError", message));
            }
        })
    }
}

/// Methods that change the list.
fn change(list: &Shared<Vec<Value>>, name: &str, arguments: &[Value]) -> Found1 {
    let whole = || Value::List(list.clone());
    let mut items = list.lock();
    limited(items.len())?;
    Ok(Some(match (name, arguments) {
        ("push" | "append" | "<<", new) => {
            items.extend(new.iter().cloned());
            whole()
        }
        ("pop", []) => items.pop().unwrap_or_default(),
        ("shift", []) if items.is_empty() => Value::Nil,
        ("shift", []) => items.remove(0),
        ("shift", [Value::Int(count)]) => {
            let count = usize::try_from(*count).unwrap_or(0).min(items.len());
            Value::list(items.drain(..count).collect())
        }
        ("pop", [Value::Int(count)]) => {
            let count = usize::try_from(*count).unwrap_or(0).min(items.len());
            let from = items.len() - count;
            Value::list(items.split_off(from))
        }
        ("unshift" | "prepend", new) => {
            items.splice(0..0, new.iter().cloned());
            whole()
        }
        ("insert", [Value::Int(at), new @ ..]) => {
            let length = items.len() as i64;
            let at = if *at < 0 { at + length + 1 } else { *at };
            let at = usize::try_from(at).unwrap_or(0);
            limited(at)?;
            if at > items.len() {
                items.resize(at, Value::Nil);
            }
            items.splice(at..at, new.iter().cloned());
            whole()
        }
        ("delete", [value]) => {
            let before = items.len();
            let old = std::mem::take(&mut *items);
            // Comparing may look into other lists, so this one is free meanwhile.
            drop(items);
            let kept: Vec<Value> = old.into_iter().filter(|item| !item.equals(value)).collect();
            let gone = kept.len() < before;
            *list.lock() = kept;
            return Ok(Some(if gone { value.clone() } else { Value::Nil }));
        }
        ("delete_at", [Value::Int(at)]) => {
            let at = if *at < 0 { at + items.len() as i64 } else { *at };
            match usize::try_from(at).ok().filter(|at| *at < items.len()) {
                Some(at) => items.remove(at),
                None => Value::Nil,
            }
        }
        ("clear", []) => {
            items.clear();
            whole()
        }
        ("concat" | "replace", lists) => {
            drop(items);
            let mut added = Vec::new();
            for other in lists {
                if let Value::List(other) = other {
                    added.extend(other.lock().clone());
                }
            }
            if name == "replace" {
                *list.lock() = added;
            } else {
                list.lock().extend(added);
            }
            return Ok(Some(whole()));
        }
        _ => return Ok(None),
    }))
}

/// Where a range lies in `length` items: the first, and how many.
pub(super) fn bounds(range: &(Value, Value, bool), length: i64) -> Option<(i64, i64)> {
    let from = match range.0 {
        Value::Int(from) if from < 0 => from + length,
        Value::Int(from) => from,
        _ => 0,
    };
    let to = match range.1 {
        Value::Int(to) if to < 0 => to + length,
        Value::Int(to) => to,
        _ => length - 1,
    };
    let exclusive = range.2 && !matches!(range.1, Value::Nil);
    let to = if exclusive { to - 1 } else { to };
    (0..=length).contains(&from).then(|| (from, (to.min(length - 1) - from + 1).max(0)))
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

pub(super) fn unique(items: Vec<Value>) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    items
        .into_iter()
        .filter(|item| seen.insert((item.class().to_string(), item.inspect())))
        .collect()
}

pub(super) fn flatten(items: &[Value], depth: usize, out: &mut Vec<Value>) -> Result<(), Stop> {
    for item in items {
        match item {
            Value::List(inner) if depth > 0 => {
                let inner = inner.lock().clone();
                flatten(&inner, depth - 1, out)?;
            }
            other => out.push(other.clone()),
        }
        limited(out.len())?;
    }
    Ok(())
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

/// Methods that only look.
fn read(items: &[Value], name: &str, arguments: &[Value]) -> Found1 {
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
                    let message = format!("index {place} outside of array bounds");
                    return Err(Stop::raise("IndexError", message));
                }
            }
        }
        ("dig", [Value::Int(place)]) => at(items, *place),
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
        ("*", [Value::Text(separator)]) => Value::text(&join(items, separator, 0)?),
        ("*", [Value::Int(count)]) => {
            let count = usize::try_from(*count).unwrap_or(0);
            limited(items.len().saturating_mul(count))?;
            Value::list(items.iter().cycle().take(items.len() * count).cloned().collect())
        }
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
        ("pack", [Value::Text(format)]) => Value::text(&pack(items, format)?),
        ("<=>", [other @ Value::List(_)]) => match order(&Value::list(items.to_vec()), other) {
            Some(order) => Value::Int(order as i64),
            None => Value::Nil,
        },
        _ => return Ok(None),
    }))
}

fn place(at: Option<usize>) -> Value {
    at.map_or(Value::Nil, |at| Value::Int(at as i64))
}

/// `pack` of bytes and of hexadecimal digits.
fn pack(items: &[Value], format: &str) -> Result<String, Stop> {
    let bytes: Vec<u8> = match (format.chars().next(), items) {
        (Some('C' | 'c' | 'U'), items) => {
            let number = |item: &Value| match item {
                Value::Int(number) => u8::try_from(*number).unwrap_or(b'?'),
                _ => b'?',
            };
            items.iter().map(number).collect()
        }
        (Some('H'), [Value::Text(digits)]) => (0..digits.len() / 2)
            .filter_map(|at| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok())
            .collect(),
        (Some('m'), [Value::Text(text)]) => {
            use base64::Engine;
            base64::engine::general_purpose::STANDARD.encode(text.as_bytes()).into_bytes()
        }
        _ => return Err(Stop::raise("ArgumentError", "this format of pack is not known")),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
