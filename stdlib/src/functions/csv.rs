//! `std::csv` and `std::logfmt`: lines of fields to and from values. CSV is that of RFC 4180 with
//! any separator; logfmt is `key=value` with quotes where a value has blanks.

use crate::declare::text_or;
use crate::declare::{Outcome, finish, items, optional, plain_text, pure, record, text, text_in};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Array, Record, String};
use temblor_lang::value::{TextBuilder, Value};

/// The functions of these modules.
pub(super) static FUNCTIONS: &[Function] = &[
    optional(
        1,
        pure(
            "std::csv::parse_line",
            &[("line", String), ("separator", String)],
            Array,
            "The fields of one line, separated by commas or what is given. A field in double \
             quotes may hold separators, line ends and doubled quotes.",
            &[
                r#"csv::parse_line("a,\"b,\"\"c\"\"\",,d") == ["a", "b,\"c\"", "", "d"]"#,
                r#"csv::parse_line("a;b", ";") == ["a", "b"]"#,
            ],
            |call, arguments| {
                let (line, separator) = (text(arguments, 0)?, separator(arguments, 1)?);
                let (fields, rest) = fields(call, trim_end(line), separator)?;
                if !rest.is_empty() {
                    return Err(CallError::failed("there is more than one line of CSV"));
                }
                Ok(fields)
            },
        ),
    ),
    optional(
        1,
        pure(
            "std::csv::parse",
            &[("text", String), ("separator", String)],
            Array,
            "The records of a text whose first line names the fields. A line with fewer fields \
             lacks the last ones; one with more is an error. Empty lines do not count.",
            &[r#"csv::parse("a,b\n1,2\n3\n") == [{"a": "1", "b": "2"}, {"a": "3"}]"#],
            parse,
        ),
    ),
    optional(
        1,
        pure(
            "std::csv::format_line",
            &[("fields", Array), ("separator", String)],
            String,
            "One line without its end: strings as they are, others as JSON, `null` as nothing; \
             in quotes where needed.",
            &[r#"csv::format_line(["a", 1, "b,c", null, "\""]) == "a,1,\"b,c\",,\"\"\"\"""#],
            format_line,
        ),
    ),
    pure(
        "std::logfmt::parse",
        &[("line", String)],
        Record,
        "The pairs of a line of `key=value`, parted by blanks. Values may stand in double quotes \
         with backslash escapes; a key alone is `true`.",
        &[
            r#"logfmt::parse("level=info msg=\"all \\\"ok\\\"\" debug") == {"level": "info", "msg": "all \"ok\"", "debug": true}"#,
        ],
        parse_logfmt,
    ),
    pure(
        "std::logfmt::format",
        &[("record", Record)],
        String,
        "A line of `key=value` for each field: strings as they are, in quotes where needed, \
         others as JSON.",
        &[r#"logfmt::format({"a": "x y", "b": 1, "c": "z"}) == "a=\"x y\" b=1 c=z""#],
        format_logfmt,
    ),
];

/// The separator, a single character.
fn separator(arguments: &[Value<'_>], at: usize) -> Result<char, CallError> {
    let mut characters = text_or(arguments, at, ",")?.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) if only != '"' => Ok(only),
        _ => Err(CallError::failed("the separator of CSV is one character, and no quote")),
    }
}

fn trim_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// The fields up to the end of the line, and what follows it.
fn fields<'a>(
    call: &Call<'a>,
    text: &'a str,
    separator: char,
) -> Result<(Value<'a>, &'a str), CallError> {
    let mut result = call.arena.array_builder(8);
    let mut rest = text;
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_field(call, quoted)?,
            None => {
                let is_end = |character| character == separator || character == '\n';
                let end = rest.find(is_end).unwrap_or(rest.len());
                let field = &rest[..end];
                let is_line_end = rest[end..].starts_with('\n');
                let field =
                    if is_line_end { field.strip_suffix('\r').unwrap_or(field) } else { field };
                (field, &rest[end..])
            }
        };
        result.push(Value::Str(field));
        if let Some(next) = after.strip_prefix(separator) {
            rest = next;
            continue;
        }
        let after = after.strip_prefix('\r').unwrap_or(after);
        return match after.strip_prefix('\n') {
            Some(next) => Ok((result.finish(), next)),
            None if after.is_empty() => Ok((result.finish(), "")),
            None => Err(CallError::failed("something follows the quote that ends a CSV field")),
        };
    }
}

/// The field that begins behind its opening quote, and what follows the closing one.
fn quoted_field<'a>(call: &Call<'a>, text: &'a str) -> Result<(&'a str, &'a str), CallError> {
    let mut unquoted = None;
    let mut rest = text;
    loop {
        let end = memchr::memchr(b'"', rest.as_bytes())
            .ok_or_else(|| CallError::failed("a quoted CSV field does not end"))?;
        let after = &rest[end + 1..];
        match (after.strip_prefix('"'), &mut unquoted) {
            (Some(next), unquoted) => {
                let text = unquoted.get_or_insert_with(|| text_in(call.arena, text.len()));
                text.push_str(&rest[..=end]);
                rest = next;
            }
            (None, None) => return Ok((&rest[..end], after)),
            (None, Some(_)) => {
                let mut whole = unquoted.take().unwrap_or_else(|| text_in(call.arena, 0));
                whole.push_str(&rest[..end]);
                return Ok((whole.into_str(), after));
            }
        }
    }
}

fn parse<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let separator = separator(arguments, 1)?;
    let (names, mut rest) = fields(call, text(arguments, 0)?, separator)?;
    let names = names.as_array(call.arena).unwrap_or_default();
    let mut result = call.arena.array_builder(8);
    while !rest.is_empty() {
        if let Some(next) = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')) {
            rest = next;
            continue;
        }
        let (line, next) = fields(call, rest, separator)?;
        let line = line.as_array(call.arena).unwrap_or_default();
        if line.len() > names.len() {
            return Err(CallError::failed(format!(
                "a line of CSV has {} fields, its head {}",
                line.len(),
                names.len()
            )));
        }
        let mut record = call.arena.record_builder(names.len());
        for (name, field) in names.iter().zip(line) {
            record.insert(plain_text(call.arena, *name), *field);
        }
        result.push(record.finish());
        rest = next;
    }
    Ok(result.finish())
}

fn format_line<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let separator = separator(arguments, 1)?;
    let mut result = text_in(call.arena, 0);
    for (at, field) in items(call, arguments, 0)?.iter().enumerate() {
        if at > 0 {
            result.push(separator);
        }
        if matches!(field, Value::Null) {
            continue;
        }
        let field = plain_text(call.arena, *field);
        let needs_quotes = |character| character == separator || "\"\r\n".contains(character);
        if !field.contains(needs_quotes) {
            result.push_str(field);
            continue;
        }
        result.push('"');
        for (at, part) in field.split('"').enumerate() {
            if at > 0 {
                result.push_str("\"\"");
            }
            result.push_str(part);
        }
        result.push('"');
    }
    Ok(finish(result))
}

fn parse_logfmt<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let mut rest = text(arguments, 0)?.trim_start();
    let mut result = call.arena.record_builder(8);
    while !rest.is_empty() {
        let is_end = |character: char| character == '=' || character.is_whitespace();
        let end = rest.find(is_end).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        let (value, after) = match after.strip_prefix('=') {
            None => (Value::Bool(true), after),
            Some(quoted) if quoted.starts_with('"') => {
                let (text, after) = unescaped(call, &quoted[1..])?;
                (Value::Str(text), after)
            }
            Some(plain) => {
                let end = plain.find(char::is_whitespace).unwrap_or(plain.len());
                (Value::Str(&plain[..end]), &plain[end..])
            }
        };
        result.insert(key, value);
        rest = after.trim_start();
    }
    Ok(result.finish())
}

/// The text up to the closing quote with its escapes undone, and what follows the quote.
fn unescaped<'a>(call: &Call<'a>, text: &'a str) -> Result<(&'a str, &'a str), CallError> {
    let mut result = text_in(call.arena, text.len());
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((result.into_str(), &text[at + 1..])),
            '\\' => match characters.next() {
                Some((_, 'n')) => result.push('\n'),
                Some((_, 't')) => result.push('\t'),
                Some((_, 'r')) => result.push('\r'),
                Some((_, other)) => result.push(other),
                None => break,
            },
            other => result.push(other),
        }
    }
    Err(CallError::failed("a quoted value does not end"))
}

fn format_logfmt<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let mut result = text_in(call.arena, 0);
    for (key, value) in record(call, arguments, 0)?.iter() {
        if !result.is_empty() {
            result.push(' ');
        }
        result.push_str(key);
        result.push('=');
        let text = plain_text(call.arena, value);
        let needs_quotes =
            |character: char| character.is_whitespace() || "=\"\\".contains(character);
        if text.is_empty() || text.contains(needs_quotes) {
            push_quoted(&mut result, text);
        } else {
            result.push_str(text);
        }
    }
    Ok(finish(result))
}

fn push_quoted(out: &mut TextBuilder<'_>, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
