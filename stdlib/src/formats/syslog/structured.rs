//! Structured data (RFC 5424, section 6.3): `[id key="value"][id2]`, or `-` for none. It becomes
//! `{"id": [{"key": "value"}], "id2": []}`.

use super::SyslogDialect;
use crate::formats::cursor::Cursor;
use temblor_lang::value::{Arena, Value};

/// Reads structured data. `None` (and nothing read) when there is none; `Some(None)` when it is
/// empty. With `forgiving`, elements that are not well-formed are passed over.
pub(super) fn structured_data<'a>(
    cursor: &mut Cursor<'a>,
    dialect: SyslogDialect,
    forgiving: bool,
    arena: &'a Arena,
) -> Option<Option<Value<'a>>> {
    if cursor.eat("-") {
        return Some(None);
    }
    let mut elements = arena.record_builder(0);
    let mut any = false;
    while cursor.peek() == Some(b'[') {
        let mut ahead = *cursor;
        if let Some((id, pairs)) = element(&mut ahead, dialect, arena) {
            elements.insert(id, pairs);
        } else {
            ahead = *cursor;
            ahead.eat("[");
            if !forgiving || ahead.take_until(b']').is_none() {
                break;
            }
        }
        any = true;
        *cursor = ahead;
    }
    any.then(|| (!elements.is_empty()).then(|| elements.finish()))
}

/// `[id key="value" …]`
fn element<'a>(
    cursor: &mut Cursor<'a>,
    dialect: SyslogDialect,
    arena: &'a Arena,
) -> Option<(&'a str, Value<'a>)> {
    cursor.eat("[");
    let id = cursor.take_while(|next| !next.is_whitespace() && next != ']' && next != '=');
    if id.is_empty() {
        return None;
    }
    cursor.blanks();
    let mut pairs = arena.array_builder(0);
    let mut ahead = *cursor;
    while let Some((key, value)) = pair(&mut ahead) {
        let value = match dialect {
            SyslogDialect::Lenient => value,
            SyslogDialect::Strict => unescape(value, arena),
        };
        let mut record = arena.record_builder(1);
        record.append(key, Value::Str(value));
        pairs.push(record.finish());
        *cursor = ahead;
        if !ahead.eat(" ") {
            break;
        }
    }
    cursor.eat("]").then(|| (id, pairs.finish()))
}

/// `key="value"`; the value with its backslashes.
fn pair<'a>(cursor: &mut Cursor<'a>) -> Option<(&'a str, &'a str)> {
    let key = cursor.take_bytes(|byte| byte != b']' && byte != b'=');
    if key.is_empty() || !cursor.eat("=") {
        return None;
    }
    cursor.blanks();
    if !cursor.eat("\"") {
        return None;
    }
    let rest = cursor.rest().as_bytes();
    let mut end = 0;
    loop {
        end += memchr::memchr2(b'"', b'\\', &rest[end..])?;
        if rest[end] == b'"' {
            break;
        }
        // The escaped character may be longer than a byte, but none of its bytes is a quote.
        end += 2;
        if end > rest.len() {
            return None;
        }
    }
    let value = cursor.take(end);
    cursor.eat("\"");
    Some((key, value))
}

/// Without the backslashes before `"`, `\` and `]`.
fn unescape<'a>(value: &'a str, arena: &'a Arena) -> &'a str {
    if memchr::memchr(b'\\', value.as_bytes()).is_none() {
        return value;
    }
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = characters.peek().copied().filter(|next| matches!(next, '"' | '\\' | ']'));
        match escaped {
            Some(next) if character == '\\' => {
                plain.push(next);
                characters.next();
            }
            _ => plain.push(character),
        }
    }
    arena.str(&plain)
}
