//! Strings that are not UTF-8: their bytes, other encodings, and the string methods that work on
//! them.

use super::super::{Answer, Found1, Given, Machine, Stop, list};
use super::unpack::unpack;
use crate::heap::Heap;
use crate::text::{Content, Encoding, encoded};
use crate::value::{Range, Value};

/// What `<<` puts behind a text.
pub(super) fn appended(heap: &Heap, value: &Value) -> Result<Content, Stop> {
    match value {
        Value::Text(text) => Ok(text.content(heap)),
        Value::Int(code) => {
            let character = u32::try_from(*code).ok().and_then(char::from_u32);
            let character = character
                .ok_or_else(|| Stop::raise("RangeError", format!("{code} out of char range")))?;
            Ok(Content::Plain(character.to_string().into()))
        }
        other => Err(no_text(other)),
    }
}

/// The exception for a value that is no text.
pub(in super::super) fn no_text(value: &Value) -> Stop {
    let what = super::super::object::word_of(value);
    Stop::raise("TypeError", format!("no implicit conversion of {what} into String"))
}

/// One text behind the other.
pub(in super::super) fn joined(left: &Content, right: &Content) -> Result<Content, Stop> {
    let ascii = |content: &Content| content.bytes().is_ascii();
    let encoding = |content: &Content| match content {
        Content::Plain(_) => Encoding::Utf8,
        Content::Bytes(_, encoding) => *encoding,
    };
    let (one, two) = (encoding(left), encoding(right));
    let common = match (ascii(left), ascii(right)) {
        _ if one == two => one,
        (true, _) => two,
        (_, true) => one,
        _ => {
            let (one, two) = (one.name(), two.name());
            let message = format!("incompatible character encodings: {one} and {two}");
            return Err(Stop::raise("Encoding::CompatibilityError", message));
        }
    };
    Ok(Content::of(&[left.bytes(), right.bytes()].concat(), common))
}

/// Methods of bytes.
pub(super) fn method(heap: &Heap, content: &Content, name: &str, arguments: &[Value]) -> Found1 {
    let bytes = content.bytes();
    let number = |byte: &u8| Value::Int(i64::from(*byte));
    let count = |number: usize| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    Ok(Some(match (name, arguments) {
        ("bytesize", []) => count(bytes.len()),
        ("bytes", []) => heap.list(bytes.iter().map(number).collect()),
        ("empty?", []) => Value::Bool(bytes.is_empty()),
        ("ascii_only?", []) => Value::Bool(bytes.is_ascii()),
        ("sum", []) => {
            Value::Int(bytes.iter().map(|byte| i64::from(*byte)).sum::<i64>() % (1 << 16))
        }
        ("getbyte", [Value::Int(at)]) => {
            let at = if *at < 0 { at + bytes.len() as i64 } else { *at };
            usize::try_from(at).ok().and_then(|at| bytes.get(at)).map_or(Value::Nil, number)
        }
        ("byteslice", [Value::Int(from), rest @ ..]) => {
            let length = match rest {
                [Value::Int(length)] => *length,
                _ => 1,
            };
            let (from, to) = (Value::Int(*from), Value::Int(from.saturating_add(length)));
            let range = Range { from, to, exclusive: true };
            part(heap, content, &range)
        }
        ("byteslice", [Value::Range(range)]) => part(heap, content, &range.get(heap)),
        ("unpack" | "unpack1", [Value::Text(format)]) => {
            let items = unpack(heap, bytes, &format.str(heap))?;
            match name {
                "unpack" => heap.list(items),
                _ => items.into_iter().next().unwrap_or_default(),
            }
        }
        ("+", [Value::Text(other)]) => heap.text_of(joined(content, &other.content(heap))?),
        ("+", [other]) => return Err(no_text(other)),
        _ => return Ok(None),
    }))
}

fn part(heap: &Heap, content: &Content, range: &Range) -> Value {
    let (bytes, encoding) = match content {
        Content::Plain(text) => (text.as_bytes(), Encoding::Utf8),
        Content::Bytes(bytes, encoding) => (&**bytes, *encoding),
    };
    match list::bounds(range, bytes.len() as i64) {
        Some((from, count)) => {
            let part = &bytes[from as usize..(from + count) as usize];
            heap.text_of(Content::of(part, encoding))
        }
        None => Value::Nil,
    }
}

impl Machine<'_, '_> {
    /// Bytes without an encoding have the methods of texts, a letter for each byte.
    pub(super) fn bytes_as_text(
        &mut self,
        content: &Content,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let mut letters = Vec::with_capacity(arguments.len());
        for argument in arguments {
            letters.push(match argument {
                Value::Text(text) => match (text.content(heap), content) {
                    (Content::Bytes(_, Encoding::Utf8), _) => return Err(invalid()),
                    (other, _) => {
                        // Only what fits together can be searched for.
                        joined(content, &other)?;
                        heap.text(&other.read())
                    }
                },
                other => other.clone(),
            });
        }
        match content {
            Content::Bytes(bytes, Encoding::Utf8) => match name {
                "length" | "size" => {
                    let text = String::from_utf8_lossy(bytes);
                    Ok(Some(Value::Int(text.chars().count() as i64)))
                }
                "inspect" | "==" | "!=" | "eql?" | "nil?" | "is_a?" | "class" => Ok(None),
                _ => Err(invalid()),
            },
            Content::Bytes(bytes, Encoding::Binary)
                if name.contains("case") || name == "capitalize" =>
            {
                let text: String = bytes.iter().copied().map(char::from).collect();
                let text = if name == "downcase" {
                    text.to_ascii_lowercase()
                } else {
                    text.to_ascii_uppercase()
                };
                Ok(Some(in_bytes(heap, heap.text(&text))))
            }
            Content::Bytes(_, encoding) => {
                let found = self.text_method(&content.read(), name, &letters, given)?;
                let back = |value| {
                    if *encoding == Encoding::Binary { in_bytes(heap, value) } else { value }
                };
                Ok(found.map(back))
            }
            Content::Plain(text) => self.text_method(&text.clone(), name, &letters, given),
        }
    }
}

/// Letters as the bytes that they stand for.
fn in_bytes(heap: &Heap, value: Value) -> Value {
    match value {
        Value::Text(text) => match encoded(&text.str(heap), Encoding::Latin1) {
            Some(bytes) => heap.binary(&bytes),
            None => Value::Text(text),
        },
        Value::List(items) => {
            let items = items.items(heap);
            heap.list(items.into_iter().map(|one| in_bytes(heap, one)).collect())
        }
        other => other,
    }
}

fn invalid() -> Stop {
    Stop::raise("ArgumentError", "invalid byte sequence in UTF-8")
}

/// With `replacement` for bytes that are wrong.
pub(super) fn scrubbed(heap: &Heap, content: &Content, replacement: &str) -> Value {
    let Content::Bytes(bytes, Encoding::Utf8) = content else {
        return heap.text_of(content.clone());
    };
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push_str(replacement);
        }
    }
    heap.text(&text)
}

/// A character, or bytes that are none, and why.
enum Unit {
    Character(char),
    Invalid(Vec<u8>),
    Undefined(Vec<u8>),
}

fn units(content: &Content, from: Encoding) -> Vec<Unit> {
    let bytes = content.bytes();
    let mut units = Vec::new();
    match from {
        Encoding::Utf8 => {
            for chunk in bytes.utf8_chunks() {
                units.extend(chunk.valid().chars().map(Unit::Character));
                if !chunk.invalid().is_empty() {
                    units.push(Unit::Invalid(chunk.invalid().to_vec()));
                }
            }
        }
        Encoding::Binary | Encoding::Ascii => {
            units.extend(bytes.iter().map(|byte| match byte.is_ascii() {
                true => Unit::Character(char::from(*byte)),
                false => Unit::Undefined(vec![*byte]),
            }))
        }
        Encoding::Latin1 => {
            units.extend(bytes.iter().map(|byte| Unit::Character(char::from(*byte))))
        }
        Encoding::Utf16Little | Encoding::Utf16Big => {
            let join = match from {
                Encoding::Utf16Little => u16::from_le_bytes,
                _ => u16::from_be_bytes,
            };
            let words = bytes.chunks_exact(2).map(|pair| join([pair[0], pair[1]]));
            units.extend(char::decode_utf16(words).map(|one| match one {
                Ok(character) => Unit::Character(character),
                Err(wrong) => Unit::Invalid(wrong.unpaired_surrogate().to_be_bytes().to_vec()),
            }));
            if bytes.len() % 2 == 1 {
                units.push(Unit::Invalid(bytes[bytes.len() - 1..].to_vec()));
            }
        }
    }
    units
}

/// `encode("UTF-8", "ISO-8859-1", invalid: :replace)`
pub(super) fn encode(
    heap: &Heap,
    content: &Content,
    arguments: &[Value],
    named: impl Fn(&Value) -> Result<Encoding, Stop>,
) -> Answer {
    let (options, names): (Vec<&Value>, Vec<&Value>) =
        arguments.iter().partition(|one| matches!(one, Value::Hash(_)));
    let option = |name: &str| options.first().and_then(|one| one.entry(heap, name));
    let to = names.first().map_or(Ok(Encoding::Utf8), |name| named(name))?;
    let from = match (names.get(1), content) {
        (Some(name), _) => named(name)?,
        (None, Content::Bytes(_, encoding)) => *encoding,
        (None, Content::Plain(_)) => Encoding::Utf8,
    };
    let replaces =
        |name: &str| matches!(option(name), Some(Value::Symbol(how)) if &*how == "replace");
    if from == to && !replaces("invalid") {
        return Ok(heap.text_of(content.clone()));
    }
    let usual = match to {
        Encoding::Latin1 | Encoding::Binary | Encoding::Ascii => "?",
        _ => "\u{fffd}",
    };
    let replacement = option("replace").map_or(usual.to_string(), |text| text.print(heap));
    let shown =
        |bytes: &[u8]| bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect::<String>();
    let failed = |bytes: &[u8], class: &str| {
        let message = format!("\"{}\" from {} to {}", shown(bytes), from.name(), to.name());
        Stop::raise(class, message)
    };
    let mut out = Vec::new();
    for unit in units(content, from) {
        let (bytes, class, how) = match unit {
            Unit::Character(character) => match encoded(character.encode_utf8(&mut [0; 4]), to) {
                Some(bytes) => {
                    out.extend(bytes);
                    continue;
                }
                None => {
                    let bytes = character.to_string().into_bytes();
                    (bytes, "Encoding::UndefinedConversionError", "undef")
                }
            },
            Unit::Undefined(bytes) => (bytes, "Encoding::UndefinedConversionError", "undef"),
            Unit::Invalid(bytes) => (bytes, "Encoding::InvalidByteSequenceError", "invalid"),
        };
        if let (Some(Value::Hash(other)), "undef") = (option("fallback"), how) {
            let character = heap.bytes(&bytes);
            if let Some(value) = other.get(heap, &character) {
                out.extend(encoded(&value.print(heap), to).unwrap_or_default());
                continue;
            }
        }
        match replaces(how) {
            true => out.extend(encoded(&replacement, to).unwrap_or_default()),
            false => return Err(failed(&bytes, class)),
        }
    }
    Ok(heap.text_of(Content::of(&out, to)))
}
