//! What `std::string` offers beyond tremor: affixes, padding, lines and the like. Positions and
//! lengths count code points, as everywhere in `std::string`.

use crate::declare::{Outcome, Params, count, finish, integer, optional, plain_text, pure};
use crate::declare::{text, text_in, text_or, value};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Bool, Integer, String};
use temblor_lang::value::{Kind, Value};

/// The longest text that padding and repeating make, in bytes.
const BYTES_MAX: usize = 1 << 24;

/// No code point takes more bytes in UTF-8.
const UTF8_BYTES_MAX: usize = 4;

const TEXT: Params = &[("text", Kind::String)];
const AFFIX: Params = &[("text", Kind::String), ("affix", Kind::String)];
const PADDING: Params = &[("text", Kind::String), ("width", Kind::Integer), ("fill", Kind::String)];

/// The functions of this kind.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::string::starts_with",
        AFFIX,
        Bool,
        "Whether the text begins with `affix`.",
        &[r#"string::starts_with("snot", "sn")"#],
        |_, arguments| Ok(Value::Bool(text(arguments, 0)?.starts_with(text(arguments, 1)?))),
    ),
    pure(
        "std::string::ends_with",
        AFFIX,
        Bool,
        "Whether the text ends with `affix`.",
        &[r#"string::ends_with("snot", "ot")"#],
        |_, arguments| Ok(Value::Bool(text(arguments, 0)?.ends_with(text(arguments, 1)?))),
    ),
    pure(
        "std::string::trim_prefix",
        AFFIX,
        String,
        "The text without `affix` at its start, if it is there.",
        &[r#"string::trim_prefix("v1.2", "v") == "1.2""#],
        |_, arguments| {
            let (text, affix) = (text(arguments, 0)?, text(arguments, 1)?);
            Ok(Value::Str(text.strip_prefix(affix).unwrap_or(text)))
        },
    ),
    pure(
        "std::string::trim_suffix",
        AFFIX,
        String,
        "The text without `affix` at its end, if it is there.",
        &[r#"string::trim_suffix("a.log", ".log") == "a""#],
        |_, arguments| {
            let (text, affix) = (text(arguments, 0)?, text(arguments, 1)?);
            Ok(Value::Str(text.strip_suffix(affix).unwrap_or(text)))
        },
    ),
    optional(
        1,
        pure(
            "std::string::pad_start",
            PADDING,
            String,
            "The text with `fill`, a blank unless given, before it until it is `width` long.",
            &[r#"string::pad_start("7", 3, "0") == "007""#],
            |call, arguments| padded(call, arguments, true),
        ),
    ),
    optional(
        1,
        pure(
            "std::string::pad_end",
            PADDING,
            String,
            "The text with `fill`, a blank unless given, behind it until it is `width` long.",
            &[r#"string::pad_end("7", 3) == "7  ""#],
            |call, arguments| padded(call, arguments, false),
        ),
    ),
    pure(
        "std::string::repeat",
        &[("text", String), ("times", Integer)],
        String,
        "The text so many times.",
        &[r#"string::repeat("ab", 2) == "abab""#],
        |call, arguments| {
            let (text, times) = (text(arguments, 0)?, count(arguments, 1)?);
            if text.is_empty() {
                return Ok(Value::Str(text));
            }
            check_length(text.len().saturating_mul(times))?;
            let mut result = text_in(call.arena, text.len() * times);
            (0..times).for_each(|_| result.push_str(text));
            Ok(finish(result))
        },
    ),
    pure(
        "std::string::split_n",
        &[("text", String), ("separator", String), ("count", Integer)],
        Array,
        "The parts between separators, at most `count` of them: the last is all the rest.",
        &[r#"string::split_n("a=b=c", "=", 2) == ["a", "b=c"]"#],
        |call, arguments| {
            let (text, separator) = (text(arguments, 0)?, text(arguments, 1)?);
            let parts = text.splitn(count(arguments, 2)?, separator);
            Ok(call.arena.array(parts.map(Value::Str)))
        },
    ),
    pure(
        "std::string::lines",
        TEXT,
        Array,
        "The lines without their ends, which are line feeds with or without carriage returns.",
        &[r#"string::lines("a\r\nb\n") == ["a", "b"]"#],
        |call, arguments| Ok(call.arena.array(text(arguments, 0)?.lines().map(Value::Str))),
    ),
    pure(
        "std::string::words",
        TEXT,
        Array,
        "The parts between white space; none of them is empty.",
        &[r#"string::words("  a \t b ") == ["a", "b"]"#],
        |call, arguments| {
            Ok(call.arena.array(text(arguments, 0)?.split_whitespace().map(Value::Str)))
        },
    ),
    pure(
        "std::string::index_of",
        &[("text", String), ("part", String)],
        Any,
        "Where `part` stands first, counted from 0; `null` when it does not.",
        &[r#"string::index_of("größe", "ß") == 3"#, r#"string::index_of("a", "b") == null"#],
        |_, arguments| {
            let text = text(arguments, 0)?;
            let at = text.find(crate::declare::text(arguments, 1)?);
            Ok(at.map_or(Value::Null, |at| integer(text[..at].chars().count())))
        },
    ),
    optional(
        1,
        pure(
            "std::string::truncate",
            &[("text", String), ("length", Integer), ("ending", String)],
            String,
            "The text cut to `length`; `ending`, if given, stands behind what was cut and is not \
             counted.",
            &[
                r#"string::truncate("größe", 3) == "grö""#,
                r#"string::truncate("abc", 2, "…") == "ab…""#,
                r#"string::truncate("abc", 3, "…") == "abc""#,
            ],
            truncated,
        ),
    ),
    optional(
        1,
        pure(
            "std::string::slice",
            &[("text", String), ("start", Integer), ("finish", Integer)],
            String,
            "The code points from `start` up to, not including, `finish` or the end. Negative \
             positions count from the end; what lies outside is not there.",
            &[
                r#"string::slice("hello", 1, 3) == "el""#,
                r#"string::slice("hello", -3) == "llo""#,
                r#"string::slice("hello", 9) == """#,
            ],
            slice,
        ),
    ),
    pure(
        "std::string::to_text",
        &[("value", Any)],
        String,
        "Any value as text: strings as they are, others as JSON.",
        &[r#"string::to_text(1.5) == "1.5""#, r#"string::to_text("a") == "a""#],
        |call, arguments| Ok(Value::Str(plain_text(call.arena, value(arguments, 0)))),
    ),
    pure(
        "std::string::is_ascii",
        TEXT,
        Bool,
        "Whether every character is an ASCII one.",
        &[r#"not string::is_ascii("größe")"#],
        |_, arguments| Ok(Value::Bool(text(arguments, 0)?.is_ascii())),
    ),
];

fn check_length(bytes: usize) -> Result<(), CallError> {
    if bytes > BYTES_MAX {
        return Err(CallError::failed(format!("the text would be longer than {BYTES_MAX} bytes")));
    }
    Ok(())
}

fn padded<'a>(call: &Call<'a>, arguments: &[Value<'a>], at_start: bool) -> Outcome<'a> {
    let (text, width) = (text(arguments, 0)?, count(arguments, 1)?);
    let fill = text_or(arguments, 2, " ")?;
    if fill.is_empty() {
        return Err(CallError::failed("there is nothing to fill with"));
    }
    let missing = width.saturating_sub(text.chars().count());
    if missing == 0 {
        return Ok(Value::Str(text));
    }
    check_length(missing.saturating_mul(UTF8_BYTES_MAX))?;
    let mut result = text_in(call.arena, text.len() + missing);
    if !at_start {
        result.push_str(text);
    }
    result.extend(fill.chars().cycle().take(missing));
    if at_start {
        result.push_str(text);
    }
    Ok(finish(result))
}

fn truncated<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, length) = (text(arguments, 0)?, count(arguments, 1)?);
    let Some((end, _)) = text.char_indices().nth(length) else { return Ok(Value::Str(text)) };
    match text_or(arguments, 2, "")? {
        "" => Ok(Value::Str(&text[..end])),
        ending => Ok(Value::Str(call.arena.format(format_args!("{}{ending}", &text[..end])))),
    }
}

fn slice<'a>(_: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let text = text(arguments, 0)?;
    let length = text.chars().count();
    let place = |at: usize| -> Result<usize, CallError> {
        let Some(given) = arguments.get(at) else { return Ok(text.len()) };
        let position = given.as_i64().ok_or(CallError::BadType)?;
        let distance = usize::try_from(position.unsigned_abs()).unwrap_or(usize::MAX);
        let index = if position < 0 { length.saturating_sub(distance) } else { distance };
        Ok(text.char_indices().nth(index).map_or(text.len(), |(at, _)| at))
    };
    Ok(Value::Str(text.get(place(1)?..place(2)?).unwrap_or("")))
}
