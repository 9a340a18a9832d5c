//! Strings as objects: methods that change them in place, copies, and the encoding.

use super::super::{Answer, Found1, Given, Machine, Stop, limited};
use super::bytes;
use crate::heap::Heap;
use crate::heap::TextRef;
use crate::text::{Content, Encoding};
use crate::value::Value;

/// Methods that change a text in place, besides those whose name ends in `!`.
const CHANGES: &[&str] = &["<<", "concat", "insert", "prepend", "replace", "clear", "[]="];
/// Methods with `!` that give the text even when nothing has changed.
const ALWAYS_THE_TEXT: &[&str] = &["encode", "scrub", "succ", "next", "reverse"];

impl Machine<'_, '_> {
    /// A method of a text.
    pub(in super::super) fn string_method(
        &mut self,
        text: TextRef,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        if let Some(found) = as_object(heap, text, name, arguments)? {
            return Ok(Some(found));
        }
        if CHANGES.contains(&name) || (name.ends_with('!') && name != "!") {
            return self.change_text(text, name, arguments, given).map(Some);
        }
        let is_bytes = |value: &Value| matches!(value, Value::Text(text) if text.is_bytes(heap));
        match text.content(heap) {
            Content::Plain(plain) if !arguments.iter().any(is_bytes) => {
                match self.text_method(&plain, name, arguments, given)? {
                    Some(found) => Ok(Some(found)),
                    None => bytes::method(heap, &text.content(heap), name, arguments),
                }
            }
            content => match bytes::method(heap, &content, name, arguments)? {
                Some(found) => Ok(Some(found)),
                None => self.bytes_as_text(&content, name, arguments, given),
            },
        }
    }

    /// Changes a text; methods with `!` give `nil` when it was so before.
    fn change_text(
        &mut self,
        text: TextRef,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Answer {
        let heap = self.heap;
        let receiver = Value::Text(text);
        if text.is_frozen(heap) {
            let message = format!("can't modify frozen String: {}", receiver.inspect(heap));
            return Err(Stop::raise("FrozenError", message));
        }
        if matches!(name, "<<" | "concat") {
            append(heap, text, arguments)?;
            return Ok(receiver);
        }
        let before = heap.text_of(text.content(heap));
        match (name, arguments) {
            ("[]=", [keys @ .., new]) => {
                let part = self.invoke(&before, "[]", keys, None)?.print(heap);
                let whole = self.replaced(&text.str(heap), keys, &part, &new.print(heap))?;
                text.set(heap, Content::Plain(whole.into()));
                return Ok(new.clone());
            }
            ("slice!", _) => {
                let part = self.invoke(&before, "[]", arguments, None)?;
                if !matches!(part, Value::Nil) {
                    let whole = self.replaced(&text.str(heap), arguments, &part.print(heap), "")?;
                    text.set(heap, Content::Plain(whole.into()));
                }
                return Ok(part);
            }
            _ => {}
        }
        let plain = name.trim_end_matches('!');
        let new = match self.plain_change(&before, plain, arguments, given)? {
            Value::Text(new) => new.content(heap),
            other => Content::Plain(other.print(heap).into()),
        };
        let same = matches!(&before, Value::Text(before) if before.content(heap) == new);
        text.set(heap, new);
        let tells = name.ends_with('!') && !ALWAYS_THE_TEXT.contains(&plain);
        Ok(if same && tells { Value::Nil } else { receiver })
    }

    /// What the method without `!` makes of a copy.
    fn plain_change(
        &mut self,
        copy: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Answer {
        let heap = self.heap;
        if let (Value::Text(text), true) = (copy, CHANGES.contains(&name))
            && let Content::Plain(plain) = text.content(heap)
            && let Some(found) = self.text_method(&plain, name, arguments, given)?
        {
            return Ok(found);
        }
        if CHANGES.contains(&name) {
            return Err(Stop::raise("ArgumentError", format!("wrong arguments of `{name}`")));
        }
        self.invoke(copy, name, arguments, given)
    }
}

/// Puts texts behind a text, without a copy of what is there, so that gathering is linear.
fn append(heap: &Heap, text: TextRef, arguments: &[Value]) -> Result<(), Stop> {
    for argument in arguments {
        let more = bytes::appended(heap, argument)?;
        limited(text.len(heap).saturating_add(more.bytes().len()))?;
        let pushed = matches!(&more, Content::Plain(more) if text.push(heap, more));
        if !pushed {
            text.set(heap, bytes::joined(&text.content(heap), &more)?);
        }
    }
    Ok(())
}

/// Methods that need no look at the letters.
fn as_object(heap: &Heap, text: TextRef, name: &str, arguments: &[Value]) -> Found1 {
    let receiver = || Value::Text(text);
    let encoding = |name: &Value| {
        let name = name.print(heap);
        Encoding::named(&name)
            .ok_or_else(|| Stop::raise("ArgumentError", format!("unknown encoding name - {name}")))
    };
    Ok(Some(match (name, arguments) {
        ("to_s" | "to_str" | "itself", []) => receiver(),
        ("dup" | "clone" | "+@" | "to_string", _) => heap.text_of(text.content(heap)),
        ("freeze" | "-@", []) => {
            text.freeze(heap);
            receiver()
        }
        ("frozen?", []) => Value::Bool(text.is_frozen(heap)),
        ("equal?", [Value::Text(other)]) => Value::Bool(text == *other),
        ("force_encoding", [name]) => {
            let encoding = encoding(name)?;
            text.set(heap, Content::of(text.content(heap).bytes(), encoding));
            receiver()
        }
        ("b", []) => heap.binary(text.content(heap).bytes()),
        ("encoding", []) => heap.text(match text.content(heap) {
            Content::Plain(_) => "UTF-8",
            Content::Bytes(_, encoding) => encoding.name(),
        }),
        ("encode", arguments) => bytes::encode(heap, &text.content(heap), arguments, encoding)?,
        ("scrub", arguments) => {
            let replacement =
                arguments.first().map_or("\u{fffd}".to_string(), |one| one.print(heap));
            bytes::scrubbed(heap, &text.content(heap), &replacement)
        }
        ("valid_encoding?", []) => {
            Value::Bool(!matches!(text.content(heap), Content::Bytes(_, Encoding::Utf8)))
        }
        _ => return Ok(None),
    }))
}
