//! Texts as objects: what changes them in place, their copies, and their encoding.

use super::super::{Answer, Found1, Given, Machine, Stop};
use super::bytes;
use crate::ruby::text::{Content, Encoding, Text};
use crate::ruby::value::Value;

/// Methods that change a text in place, besides those whose name ends in `!`.
const CHANGES: &[&str] = &["<<", "concat", "insert", "prepend", "replace", "clear", "[]="];
/// Methods with `!` that give the text even when nothing has changed.
const ALWAYS_THE_TEXT: &[&str] = &["encode", "scrub", "succ", "next", "reverse"];

impl Machine<'_, '_> {
    /// A method of a text.
    pub(in super::super) fn string_method(
        &mut self,
        text: &Text,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        if let Some(found) = as_object(text, name, arguments)? {
            return Ok(Some(found));
        }
        if CHANGES.contains(&name) || (name.ends_with('!') && name != "!") {
            return self.change_text(text, name, arguments, given).map(Some);
        }
        let is_bytes = |value: &Value| matches!(value, Value::Text(text) if text.is_bytes());
        match text.content() {
            Content::Plain(plain) if !arguments.iter().any(is_bytes) => {
                match self.text_method(&plain, name, arguments, given)? {
                    Some(found) => Ok(Some(found)),
                    None => bytes::method(&text.content(), name, arguments),
                }
            }
            content => match bytes::method(&content, name, arguments)? {
                Some(found) => Ok(Some(found)),
                None => self.bytes_as_text(&content, name, arguments, given),
            },
        }
    }

    /// Changes a text; methods with `!` give `nil` when it was so before.
    fn change_text(
        &mut self,
        text: &Text,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Answer {
        let receiver = Value::Text(text.clone());
        if text.is_frozen() {
            let message = format!("can't modify frozen String: {}", receiver.inspect());
            return Err(Stop::raise("FrozenError", message));
        }
        let before = Value::Text(Text::new(text.content()));
        match (name, arguments) {
            ("[]=", [keys @ .., new]) => {
                let part = self.invoke(&before, "[]", keys, None)?.print();
                let whole = self.replaced(&text.str(), keys, &part, &new.print())?;
                text.set(Content::Plain(whole.into()));
                return Ok(new.clone());
            }
            ("slice!", _) => {
                let part = self.invoke(&before, "[]", arguments, None)?;
                if !matches!(part, Value::Nil) {
                    let whole = self.replaced(&text.str(), arguments, &part.print(), "")?;
                    text.set(Content::Plain(whole.into()));
                }
                return Ok(part);
            }
            ("<<" | "concat", arguments) => {
                for argument in arguments {
                    text.set(bytes::joined(&text.content(), &bytes::appended(argument)?)?);
                    super::super::limited(text.content().bytes().len())?;
                }
                return Ok(receiver);
            }
            _ => {}
        }
        let plain = name.trim_end_matches('!');
        let new = match self.plain_change(&before, plain, arguments, given)? {
            Value::Text(new) => new.content(),
            other => Content::Plain(other.print().into()),
        };
        let same = matches!(&before, Value::Text(before) if before.content() == new);
        text.set(new);
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
        if let (Value::Text(text), true) = (copy, CHANGES.contains(&name))
            && let Content::Plain(plain) = text.content()
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

/// Methods that need no look at the letters.
fn as_object(text: &Text, name: &str, arguments: &[Value]) -> Found1 {
    let receiver = || Value::Text(text.clone());
    let encoding = |name: &Value| {
        let name = name.print();
        Encoding::named(&name)
            .ok_or_else(|| Stop::raise("ArgumentError", format!("unknown encoding name - {name}")))
    };
    Ok(Some(match (name, arguments) {
        ("to_s" | "to_str" | "itself", []) => receiver(),
        ("dup" | "clone" | "+@" | "to_string", _) => Value::Text(Text::new(text.content())),
        ("freeze" | "-@", []) => {
            text.freeze();
            receiver()
        }
        ("frozen?", []) => Value::Bool(text.is_frozen()),
        ("equal?", [Value::Text(other)]) => Value::Bool(text.is(other)),
        ("force_encoding", [name]) => {
            let encoding = encoding(name)?;
            text.set(Content::of(text.content().bytes(), encoding));
            receiver()
        }
        ("b", []) => Value::binary(text.content().bytes()),
        ("encoding", []) => Value::text(match text.content() {
            Content::Plain(_) => "UTF-8",
            Content::Bytes(_, encoding) => encoding.name(),
        }),
        ("encode", arguments) => bytes::encode(&text.content(), arguments, encoding)?,
        ("scrub", arguments) => {
            let replacement = arguments.first().map_or("\u{fffd}".to_string(), Value::print);
            bytes::scrubbed(&text.content(), &replacement)
        }
        ("valid_encoding?", []) => {
            Value::Bool(!matches!(text.content(), Content::Bytes(_, Encoding::Utf8)))
        }
        _ => return Ok(None),
    }))
}
