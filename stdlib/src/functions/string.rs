//! `std::string` as tremor has it. Positions and lengths count code points, never bytes.

use crate::declare::{Outcome, Params, bytes, count, finish, integer, pure, text, text_in};
use crate::declare::{plain_text, value, variadic};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Bool, Bytes, Integer, String};
use temblor_lang::value::{Kind, Value};

const TEXT: Params = &[("text", Kind::String)];

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::string::len",
        TEXT,
        Integer,
        "The number of code points.",
        &[r#"string::len("snot") == 4"#, r#"string::len("größe") == 5"#],
        |_, arguments| Ok(integer(text(arguments, 0)?.chars().count())),
    ),
    pure(
        "std::string::bytes",
        TEXT,
        Integer,
        "The number of bytes of the text in UTF-8.",
        &[r#"string::bytes("größe") == 7"#],
        |_, arguments| Ok(integer(text(arguments, 0)?.len())),
    ),
    pure(
        "std::string::is_empty",
        TEXT,
        Bool,
        "Whether the text has no character.",
        &[r#"string::is_empty("")"#, r#"not string::is_empty(" ")"#],
        |_, arguments| Ok(Value::Bool(text(arguments, 0)?.is_empty())),
    ),
    pure(
        "std::string::trim",
        TEXT,
        String,
        "The text without white space at both ends.",
        &[r#"string::trim(" a b ") == "a b""#],
        |_, arguments| Ok(Value::Str(text(arguments, 0)?.trim())),
    ),
    pure(
        "std::string::trim_start",
        TEXT,
        String,
        "The text without white space at its start.",
        &[r#"string::trim_start(" a ") == "a ""#],
        |_, arguments| Ok(Value::Str(text(arguments, 0)?.trim_start())),
    ),
    pure(
        "std::string::trim_end",
        TEXT,
        String,
        "The text without white space at its end.",
        &[r#"string::trim_end(" a ") == " a""#],
        |_, arguments| Ok(Value::Str(text(arguments, 0)?.trim_end())),
    ),
    pure(
        "std::string::lowercase",
        TEXT,
        String,
        "Every letter in lower case.",
        &[r#"string::lowercase("ÄbC1") == "äbc1""#],
        |call, arguments| Ok(lowercase(call, text(arguments, 0)?)),
    ),
    pure(
        "std::string::uppercase",
        TEXT,
        String,
        "Every letter in upper case.",
        &[r#"string::uppercase("ab1") == "AB1""#, r#"string::uppercase("ß") == "SS""#],
        |call, arguments| Ok(uppercase(call, text(arguments, 0)?)),
    ),
    pure(
        "std::string::capitalize",
        TEXT,
        String,
        "The first letter in upper case, the rest as it is.",
        &[r#"string::capitalize("hello World") == "Hello World""#],
        capitalize,
    ),
    pure(
        "std::string::reverse",
        TEXT,
        String,
        "The code points from last to first.",
        &[r#"string::reverse("abc") == "cba""#],
        |call, arguments| {
            let text = text(arguments, 0)?;
            let mut result = text_in(call.arena, text.len());
            result.extend(text.chars().rev());
            Ok(finish(result))
        },
    ),
    pure(
        "std::string::contains",
        &[("text", String), ("part", String)],
        Bool,
        "Whether `part` stands somewhere in the text.",
        &[r#"string::contains("hello", "ell")"#, r#"string::contains("hello", "")"#],
        |_, arguments| {
            let (text, part) = (text(arguments, 0)?, text(arguments, 1)?);
            Ok(Value::Bool(memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some()))
        },
    ),
    pure(
        "std::string::replace",
        &[("text", String), ("old", String), ("new", String)],
        String,
        "The text with every `old` replaced by `new`. Both are plain text.",
        &[r#"string::replace("a.b.c", ".", "-") == "a-b-c""#],
        replace,
    ),
    pure(
        "std::string::split",
        &[("text", String), ("separator", String)],
        Array,
        "The parts between separators. An empty separator splits at every code point, and \
         before the first and after the last.",
        &[
            r#"string::split("a,b,,c", ",") == ["a", "b", "", "c"]"#,
            r#"string::split("ab", "") == ["", "a", "b", ""]"#,
        ],
        |call, arguments| {
            let (text, separator) = (text(arguments, 0)?, text(arguments, 1)?);
            Ok(call.arena.array(text.split(separator).map(Value::Str)))
        },
    ),
    pure(
        "std::string::substr",
        &[("text", String), ("start", Integer), ("finish", Integer)],
        String,
        "The code points from `start` up to, not including, `finish`. A start beyond the end \
         counts as 0, a finish beyond it as the end; a finish before the start gives the whole \
         text.",
        &[
            r#"string::substr("snot badger", 0, 4) == "snot""#,
            r#"string::substr("hello", 3, 99) == "lo""#,
            r#"string::substr("hello", 9, 10) == "hello""#,
        ],
        substr,
    ),
    pure(
        "std::string::from_utf8_lossy",
        &[("bytes", Bytes)],
        String,
        "The bytes as text; what is not UTF-8 becomes U+FFFD.",
        &[r#"string::from_utf8_lossy(<< 104, 105 >>) == "hi""#],
        |call, arguments| {
            let decoded = std::string::String::from_utf8_lossy(bytes(arguments, 0)?);
            Ok(Value::Str(match decoded {
                std::borrow::Cow::Borrowed(text) => text,
                std::borrow::Cow::Owned(text) => call.arena.str(&text),
            }))
        },
    ),
    pure(
        "std::string::into_binary",
        TEXT,
        Bytes,
        "The text's bytes in UTF-8.",
        &[r#"string::into_binary("hi") == << 104, 105 >>"#],
        |_, arguments| Ok(Value::Bytes(text(arguments, 0)?.as_bytes())),
    ),
    variadic(pure(
        "std::string::format",
        &[("format", Any), ("values", Any)],
        String,
        "The format with each `{}` replaced by the next value: strings as they are, others as \
         JSON. `{{` and `}}` stand for the braces themselves, as do `\\{` and `\\}`. There must \
         be as many values as places for them.",
        &[
            r#"string::format("{} is {}", "x", [1]) == "x is [1]""#,
            r#"string::format("{{}}") == "{}""#,
        ],
        format,
    )),
];

/// `text` in lower case; untouched text is not copied.
pub(super) fn lowercase<'a>(call: &Call<'a>, text: &'a str) -> Value<'a> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Value::Str(text);
    }
    if text.is_ascii() {
        let lower = call.arena.str_mut(text);
        lower.make_ascii_lowercase();
        return Value::Str(lower);
    }
    Value::Str(call.arena.str(&text.to_lowercase()))
}

/// `text` in upper case; untouched text is not copied.
pub(super) fn uppercase<'a>(call: &Call<'a>, text: &'a str) -> Value<'a> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_lowercase()) {
        return Value::Str(text);
    }
    if text.is_ascii() {
        let upper = call.arena.str_mut(text);
        upper.make_ascii_uppercase();
        return Value::Str(upper);
    }
    let mut result = text_in(call.arena, text.len());
    result.extend(text.chars().flat_map(char::to_uppercase));
    finish(result)
}

fn capitalize<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let text = text(arguments, 0)?;
    let mut rest = text.chars();
    let Some(first) = rest.next() else { return Ok(Value::Str(text)) };
    let mut result = text_in(call.arena, text.len());
    result.extend(first.to_uppercase());
    result.push_str(rest.as_str());
    Ok(finish(result))
}

fn replace<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, old, new) = (text(arguments, 0)?, text(arguments, 1)?, text(arguments, 2)?);
    let mut result = text_in(call.arena, text.len());
    let mut copied = 0;
    for (at, found) in text.match_indices(old) {
        result.push_str(&text[copied..at]);
        result.push_str(new);
        if call.arena.is_spent() {
            break;
        }
        copied = at + found.len();
    }
    if copied == 0 && result.is_empty() {
        return Ok(Value::Str(text));
    }
    result.push_str(&text[copied..]);
    Ok(finish(result))
}

fn substr<'a>(_: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, start, end) = (text(arguments, 0)?, count(arguments, 1)?, count(arguments, 2)?);
    let place = |index: usize| text.char_indices().nth(index).map(|(at, _)| at);
    let start = place(start).unwrap_or(0);
    let end = place(end).unwrap_or(text.len());
    Ok(Value::Str(text.get(start..end).unwrap_or(text)))
}

fn format<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let Some(format) = value(arguments, 0).as_str() else {
        return Err(CallError::failed("the first argument of format must be a format string"));
    };
    let mut values = arguments[1..].iter();
    let mut result = text_in(call.arena, format.len());
    let mut rest = format.char_indices();
    while let Some((at, character)) = rest.next() {
        match (character, rest.clone().next().map(|(_, next)| next)) {
            ('{', Some('}')) => {
                let value = values.next().ok_or_else(|| too_few(at))?;
                result.push_str(plain_text(call.arena, *value));
            }
            ('{', Some('{')) => result.push('{'),
            ('}', Some('}')) => result.push('}'),
            ('\\', Some(next @ ('{' | '}'))) => result.push(next),
            ('\\', Some(next)) => {
                result.push('\\');
                result.push(next);
            }
            ('{' | '}' | '\\', _) => return Err(bad_format(character, at)),
            (other, _) => {
                result.push(other);
                continue;
            }
        }
        rest.next();
    }
    if values.next().is_some() {
        return Err(CallError::failed("there are more values than `{}` in the format"));
    }
    Ok(finish(result))
}

#[cold]
fn too_few(at: usize) -> CallError {
    CallError::failed(format!("there is no value for the `{{}}` at byte {at} of the format"))
}

#[cold]
fn bad_format(character: char, at: usize) -> CallError {
    CallError::failed(match character {
        '\\' => format!("the format ends in the middle of the escape at byte {at}"),
        brace => format!("the `{brace}` at byte {at} of the format stands alone; double it"),
    })
}
