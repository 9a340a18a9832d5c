//! Methods that look at parts of a text: characters, lines, slices, sets.

use super::super::{Found1, limited, list};
use super::set::{CharacterSet, pad, translate};
use super::unpack::unpack;
use super::{characters, lines, whole};
use crate::ruby::value::Value;
use std::sync::Arc;

/// All of them.
pub(super) fn method(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    for family in [found, cut, by_set] {
        if let Some(found) = family(text, name, arguments)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Where a part is, and lists of parts.
fn found(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("include?", [Value::Text(part)]) => Value::Bool(text.contains(&*part.str())),
        ("start_with?", parts) if parts.iter().all(|part| matches!(part, Value::Text(_))) => {
            Value::Bool(parts.iter().any(|part| text.starts_with(&part.print())))
        }
        ("end_with?", parts) => Value::Bool(parts.iter().any(|part| text.ends_with(&part.print()))),
        ("chars", []) => Value::list(characters(text)),
        ("lines", []) => Value::list(lines(text)),
        ("bytes", []) => {
            Value::list(text.bytes().map(|byte| Value::Int(i64::from(byte))).collect())
        }
        ("codepoints", []) => Value::list(text.chars().map(|c| Value::Int(c as i64)).collect()),
        ("index", [Value::Text(part)]) => position(text, text.find(&*part.str())),
        ("index", [Value::Text(part), Value::Int(from)]) => {
            let from = text.char_indices().nth(usize::try_from(*from).unwrap_or(0));
            let from = from.map_or(text.len(), |(at, _)| at);
            position(text, text[from..].find(&*part.str()).map(|at| at + from))
        }
        ("rindex", [Value::Text(part)]) => position(text, text.rfind(&*part.str())),
        ("partition", [Value::Text(part)]) => {
            let part = part.str();
            let (head, middle, tail) = match text.split_once(&*part) {
                Some((head, tail)) => (head, &*part, tail),
                None => (&**text, "", ""),
            };
            Value::list([head, middle, tail].map(Value::text).to_vec())
        }
        ("rpartition", [Value::Text(part)]) => {
            let part = part.str();
            let (head, middle, tail) = match text.rsplit_once(&*part) {
                Some((head, tail)) => (head, &*part, tail),
                None => ("", "", &**text),
            };
            Value::list([head, middle, tail].map(Value::text).to_vec())
        }
        _ => return Ok(None),
    }))
}

/// Slices.
fn cut(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("[]" | "slice", [Value::Text(part)]) => match text.contains(&*part.str()) {
            true => Value::text(&part.str()),
            false => Value::Nil,
        },
        ("[]" | "slice", [Value::Int(at)]) => slice(text, *at, 1, true),
        ("[]" | "slice", [Value::Int(at), Value::Int(length)]) => slice(text, *at, *length, false),
        ("[]" | "slice", [Value::Range(range)]) => {
            let length = text.chars().count() as i64;
            match list::bounds(range, length) {
                Some((from, count)) => slice(text, from, count, false),
                None => Value::Nil,
            }
        }
        _ => return Ok(None),
    }))
}

/// By sets of characters, width or format.
fn by_set(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("tr", [Value::Text(from), Value::Text(to)]) => {
            Value::text(&translate(text, &from.str(), &to.str()))
        }
        ("delete", sets) => {
            let sets: Vec<String> = sets.iter().map(Value::print).collect();
            let kept = |c: &char| !sets.iter().all(|set| CharacterSet::of(set).has(*c));
            Value::text(&text.chars().filter(kept).collect::<String>())
        }
        ("count", sets) => {
            let sets: Vec<String> = sets.iter().map(Value::print).collect();
            let found = |c: &char| sets.iter().all(|set| CharacterSet::of(set).has(*c));
            whole(text.chars().filter(found).count())
        }
        ("squeeze", sets) => {
            let set = sets.first().map(|set| CharacterSet::of(&set.print()));
            let mut out = String::with_capacity(text.len());
            for character in text.chars() {
                let squeezed = set.as_ref().is_none_or(|set| set.has(character));
                if !(squeezed && out.ends_with(character)) {
                    out.push(character);
                }
            }
            Value::text(&out)
        }
        ("ljust" | "rjust" | "center", [Value::Int(width), fill @ ..]) => {
            let fill = fill.first().map_or(" ".to_string(), Value::print);
            let width = usize::try_from(*width).unwrap_or(0);
            limited(width)?;
            Value::text(&pad(text, width, &fill, name))
        }
        ("unpack" | "unpack1", [Value::Text(format)]) => {
            let items = unpack(text.as_bytes(), &format.str())?;
            match name {
                "unpack" => Value::list(items),
                _ => items.into_iter().next().unwrap_or_default(),
            }
        }
        _ => return Ok(None),
    }))
}

/// The place of a byte, in characters.
fn position(text: &str, byte: Option<usize>) -> Value {
    byte.map_or(Value::Nil, |byte| whole(text[..byte].chars().count()))
}

/// `length` characters from `at` on; negative places count from the end.
fn slice(text: &str, at: i64, length: i64, inside: bool) -> Value {
    let all = text.chars().count() as i64;
    let at = if at < 0 { at + all } else { at };
    if at < 0 || at > all || length < 0 || (inside && at == all) {
        return Value::Nil;
    }
    let (at, length) = (at as usize, length as usize);
    Value::text(&text.chars().skip(at).take(length).collect::<String>())
}
