//! String methods on parts: characters, lines, slices, sets of characters.

use super::super::{Found1, Stop, limited, list};
use super::set::{CharacterSet, pad, translate};
use super::unpack::unpack;
use super::{characters, lines, whole};
use crate::budget::Breach;
use crate::heap::Heap;
use crate::value::Value;
use std::sync::Arc;

/// All of them.
pub(super) fn method(heap: &Heap, text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    for family in [found, cut, by_set] {
        if let Some(found) = family(heap, text, name, arguments)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Where a part is, and lists of parts.
fn found(heap: &Heap, text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("include?", [Value::Text(part)]) => Value::Bool(text.contains(&*part.str(heap))),
        ("start_with?", parts) if parts.iter().all(|part| matches!(part, Value::Text(_))) => {
            Value::Bool(parts.iter().any(|part| text.starts_with(&part.print(heap))))
        }
        ("end_with?", parts) => {
            Value::Bool(parts.iter().any(|part| text.ends_with(&part.print(heap))))
        }
        ("chars", []) => heap.list(characters(heap, text)),
        ("lines", options) => heap.list(lines(heap, text, options)?),
        ("bytes", []) => heap.list(text.bytes().map(|byte| Value::Int(i64::from(byte))).collect()),
        ("codepoints", []) => heap.list(text.chars().map(|c| Value::Int(c as i64)).collect()),
        ("index", [Value::Text(part)]) => position(text, text.find(&*part.str(heap))),
        ("index", [Value::Text(part), Value::Int(from)]) => match byte_at(text, *from) {
            Some(from) => position(text, text[from..].find(&*part.str(heap)).map(|at| at + from)),
            None => Value::Nil,
        },
        ("rindex", [Value::Text(part)]) => position(text, text.rfind(&*part.str(heap))),
        ("rindex", [Value::Text(part), Value::Int(last)]) => {
            let part = part.str(heap);
            match byte_at(text, (*last).min(text.chars().count() as i64)) {
                Some(last) => {
                    let end = (last + part.len()).min(text.len());
                    let end = (end..=text.len()).find(|at| text.is_char_boundary(*at));
                    position(text, text[..end.unwrap_or(text.len())].rfind(&*part))
                }
                None => Value::Nil,
            }
        }
        ("partition", [Value::Text(part)]) => {
            let part = part.str(heap);
            let (head, middle, tail) = match text.split_once(&*part) {
                Some((head, tail)) => (head, &*part, tail),
                None => (&**text, "", ""),
            };
            heap.list([head, middle, tail].map(|one| heap.text(one)).to_vec())
        }
        ("rpartition", [Value::Text(part)]) => {
            let part = part.str(heap);
            let (head, middle, tail) = match text.rsplit_once(&*part) {
                Some((head, tail)) => (head, &*part, tail),
                None => ("", "", &**text),
            };
            heap.list([head, middle, tail].map(|one| heap.text(one)).to_vec())
        }
        _ => return Ok(None),
    }))
}

/// Slices.
fn cut(heap: &Heap, text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("[]" | "slice", [Value::Text(part)]) => match text.contains(&*part.str(heap)) {
            true => heap.text(&part.str(heap)),
            false => Value::Nil,
        },
        ("[]" | "slice", [Value::Int(at)]) => slice(heap, text, *at, 1, true),
        ("[]" | "slice", [Value::Int(at), Value::Int(length)]) => {
            slice(heap, text, *at, *length, false)
        }
        ("[]" | "slice", [Value::Range(range)]) => {
            let length = text.chars().count() as i64;
            match list::bounds(&range.get(heap), length) {
                Some((from, count)) => slice(heap, text, from, count, false),
                None => Value::Nil,
            }
        }
        _ => return Ok(None),
    }))
}

/// By sets of characters, width or format.
fn by_set(heap: &Heap, text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("tr" | "tr_s", [Value::Text(from), Value::Text(to)]) => {
            let translated = translate(text, &from.str(heap), &to.str(heap), name == "tr_s");
            heap.text(&translated.ok_or(Stop::Limit(Breach::Size))?)
        }
        ("delete", sets) => {
            let sets = sets_of(heap, sets);
            let kept = |c: &char| sets.is_empty() || !sets.iter().all(|set| set.has(*c));
            heap.text(&text.chars().filter(kept).collect::<String>())
        }
        ("count", sets) => {
            let sets = sets_of(heap, sets);
            let found = |c: &char| sets.iter().all(|set| set.has(*c));
            whole(text.chars().filter(found).count())
        }
        ("squeeze", sets) => {
            let set = sets.first().map(|set| CharacterSet::of(&set.print(heap)));
            let mut out = String::with_capacity(text.len());
            for character in text.chars() {
                let squeezed = set.as_ref().is_none_or(|set| set.has(character));
                if !(squeezed && out.ends_with(character)) {
                    out.push(character);
                }
            }
            heap.text(&out)
        }
        ("ljust" | "rjust" | "center", [Value::Int(width), fill @ ..]) => {
            let fill = fill.first().map_or(" ".to_string(), |one| one.print(heap));
            let width = usize::try_from(*width).unwrap_or(0);
            limited(width)?;
            heap.text(&pad(text, width, &fill, name))
        }
        ("unpack" | "unpack1", [Value::Text(format)]) => {
            let items = unpack(heap, text.as_bytes(), &format.str(heap))?;
            match name {
                "unpack" => heap.list(items),
                _ => items.into_iter().next().unwrap_or_default(),
            }
        }
        _ => return Ok(None),
    }))
}

fn sets_of(heap: &Heap, values: &[Value]) -> Vec<CharacterSet> {
    values.iter().map(|value| CharacterSet::of(&value.print(heap))).collect()
}

/// Where a character begins; a negative number counts from the end.
pub(super) fn byte_at(text: &str, character: i64) -> Option<usize> {
    let count = text.chars().count() as i64;
    let at = if character < 0 { character + count } else { character };
    match usize::try_from(at).ok()? {
        at if at as i64 == count => Some(text.len()),
        at => text.char_indices().nth(at).map(|(at, _)| at),
    }
}

/// The place of a byte, in characters.
fn position(text: &str, byte: Option<usize>) -> Value {
    byte.map_or(Value::Nil, |byte| whole(text[..byte].chars().count()))
}

/// `length` characters from `at` on; negative places count from the end.
fn slice(heap: &Heap, text: &str, at: i64, length: i64, inside: bool) -> Value {
    let all = text.chars().count() as i64;
    let at = if at < 0 { at + all } else { at };
    if at < 0 || at > all || length < 0 || (inside && at == all) {
        return Value::Nil;
    }
    let (at, length) = (at as usize, length as usize);
    heap.text(&text.chars().skip(at).take(length).collect::<String>())
}
