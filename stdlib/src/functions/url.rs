//! `std::url`: percent encoding (RFC 3986), query strings and the parts of a URL. A text that is
//! no URL is an error, never a half-filled record.

use crate::declare::{Outcome, finish, plain_text, pure, record, text, text_in};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Record, String};
use temblor_lang::value::{TextBuilder, Value};

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::url::encode",
        &[("text", String)],
        String,
        "The text with everything but ASCII letters and digits percent-encoded.",
        &[r#"url::encode("a b/ä") == "a%20b%2F%C3%A4""#],
        |call, arguments| {
            let mut result = text_in(call.arena, 0);
            push_encoded(&mut result, text(arguments, 0)?);
            Ok(finish(result))
        },
    ),
    pure(
        "std::url::decode",
        &[("text", String)],
        String,
        "The text with its percent encoding undone. A `+` stays, as does a `%` without two \
         digits; an error when the result is not UTF-8.",
        &[r#"url::decode("a%20b+c") == "a b+c""#],
        |call, arguments| decoded(call, text(arguments, 0)?, false).map(Value::Str),
    ),
    pure(
        "std::url::parse",
        &[("url", String)],
        Record,
        "The parts of a URL: `scheme`, `user`, `password`, `host`, `port`, `path`, `query`, \
         `params` (the query as a record) and `fragment`, each where present. Nothing is decoded \
         but `params`.",
        &[
            r#"url::parse("https://u@h.de:8443/p?a=1&b=x%20y#f") == {"scheme": "https", "user": "u", "host": "h.de", "port": 8443, "path": "/p", "query": "a=1&b=x%20y", "params": {"a": "1", "b": "x y"}, "fragment": "f"}"#,
        ],
        parse,
    ),
    pure(
        "std::url::parse_query",
        &[("query", String)],
        Record,
        "The parameters of a query string, decoded, `+` as a blank. A name that comes again makes \
         its value an array; a name without `=` has an empty value.",
        &[
            r#"url::parse_query("a=1&b=x+y&a=2") == {"a": ["1", "2"], "b": "x y"}"#,
            r#"url::parse_query("?flag") == {"flag": ""}"#,
        ],
        |call, arguments| parse_query(call, text(arguments, 0)?),
    ),
    pure(
        "std::url::build_query",
        &[("params", Record)],
        String,
        "A query string of the fields of a record, encoded; an array gives one parameter for each \
         of its elements.",
        &[r#"url::build_query({"a": [1, 2], "b": "x y"}) == "a=1&a=2&b=x%20y""#],
        build_query,
    ),
];

fn push_encoded(out: &mut TextBuilder<'_>, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
            continue;
        }
        out.push('%');
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
        }
    }
}

/// `text` without its percent encoding; `plus_is_blank` for query strings.
fn decoded<'a>(call: &Call<'a>, text: &'a str, plus_is_blank: bool) -> Result<&'a str, CallError> {
    if memchr::memchr2(b'%', b'+', text.as_bytes()).is_none() {
        return Ok(text);
    }
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, encoded_byte(after)) {
            (b'%', Some(byte)) => {
                result.push(byte);
                rest = &after[2..];
            }
            (b'+', _) if plus_is_blank => result.push(b' '),
            _ => result.push(*first),
        }
    }
    std::str::from_utf8(call.arena.bytes(&result))
        .map_err(|_| CallError::failed(format!("`{text}` does not decode to UTF-8")))
}

fn encoded_byte(after: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
    Some((digit(0)? << 4 | digit(1)?) as u8)
}

fn parse<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let url = text(arguments, 0)?;
    let bad = || CallError::failed(format!("`{url}` is no URL with a scheme"));
    let (scheme, rest) = url.split_once(':').ok_or_else(bad)?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme {
        return Err(bad());
    }
    let (rest, fragment) = cut(rest, '#');
    let (rest, query) = cut(rest, '?');
    let mut result = call.arena.record_builder(9);
    result.append("scheme", Value::Str(call.arena.str(&scheme.to_ascii_lowercase())));
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            parse_authority(authority, &mut result).ok_or_else(bad)?;
            path
        }
        None => rest,
    };
    result.append("path", Value::Str(path));
    if let Some(query) = query {
        result.append("query", Value::Str(query));
        result.append("params", parse_query(call, query)?);
    }
    if let Some(fragment) = fragment {
        result.append("fragment", Value::Str(fragment));
    }
    Ok(result.finish())
}

fn cut(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// `user:password@host:port`; `None` when the port is no number.
fn parse_authority<'a>(
    authority: &'a str,
    result: &mut temblor_lang::value::RecordBuilder<'a>,
) -> Option<()> {
    let (user, host_port) = match authority.rsplit_once('@') {
        Some((user, rest)) => (Some(user), rest),
        None => (None, authority),
    };
    if let Some(user) = user {
        let (name, password) = cut(user, ':');
        result.append("user", Value::Str(name));
        if let Some(password) = password {
            result.append("password", Value::Str(password));
        }
    }
    // The colons of an IPv6 address stand within brackets.
    let colon = host_port.rfind(':').filter(|at| !host_port[*at..].contains(']'));
    let (host, port) = match colon {
        Some(at) => (&host_port[..at], &host_port[at + 1..]),
        None => (host_port, ""),
    };
    result.append("host", Value::Str(host));
    if !port.is_empty() {
        result.append("port", Value::UInt(u64::from(port.parse::<u16>().ok()?)));
    }
    Some(())
}

fn parse_query<'a>(call: &Call<'a>, query: &'a str) -> Outcome<'a> {
    let query = query.strip_prefix('?').unwrap_or(query);
    let mut result = call.arena.record_builder(8);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, text) = cut(pair, '=');
        let name = decoded(call, name, true)?;
        let text = Value::Str(decoded(call, text.unwrap_or(""), true)?);
        let value = match result.get(name) {
            None => text,
            Some(Value::Array(earlier)) => {
                call.arena.array(earlier.iter().copied().chain(std::iter::once(text)))
            }
            Some(earlier) => call.arena.array([earlier, text]),
        };
        result.insert(name, value);
    }
    Ok(result.finish())
}

fn build_query<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let mut result = text_in(call.arena, 0);
    for (name, value) in record(call, arguments, 0)?.iter() {
        let single = [value];
        for item in value.as_array(call.arena).unwrap_or(&single) {
            if !result.is_empty() {
                result.push('&');
            }
            push_encoded(&mut result, name);
            result.push('=');
            push_encoded(&mut result, plain_text(call.arena, *item));
        }
    }
    Ok(finish(result))
}
