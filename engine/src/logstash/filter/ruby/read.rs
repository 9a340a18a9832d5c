//! The statements of inline code. All of it is understood, or none.

use super::{Call, Expr, Start, Statement};
use crate::logstash::datum::Datum;
use crate::logstash::filter::common::number;
use crate::logstash::reference::FieldRef;

/// Reads code; nothing when there is something in it that is not understood.
pub(super) fn read(code: &str) -> Option<Vec<Statement>> {
    let mut statements = Vec::new();
    let mut rest = code.trim_start_matches([' ', '\t', '\r', '\n', ';']);
    while !rest.is_empty() {
        let (statement, after) = statement(rest)?;
        statements.push(statement);
        let after = after.trim_start_matches([' ', '\t', '\r']);
        if !after.is_empty() && !after.starts_with([';', '\n']) {
            return None;
        }
        rest = after.trim_start_matches([' ', '\t', '\r', '\n', ';']);
    }
    Some(statements)
}

fn statement(text: &str) -> Option<(Statement, &str)> {
    if let Some(rest) = text.strip_prefix("event.set(") {
        let (name, rest) = quoted(rest.trim_start())?;
        let (expr, rest) = expr(rest.trim_start().strip_prefix(',')?.trim_start())?;
        let rest = rest.trim_start().strip_prefix(')')?;
        return Some((Statement::Set(FieldRef::parse(name).ok()?, expr), rest));
    }
    if let Some(rest) = text.strip_prefix("event.remove(") {
        let (name, rest) = argument(rest)?;
        return Some((Statement::Remove(FieldRef::parse(name).ok()?), rest));
    }
    if let Some(rest) = text.strip_prefix("event.tag(") {
        let (tag, rest) = argument(rest)?;
        return Some((Statement::Tag(tag.to_string()), rest));
    }
    if let Some(rest) = text.strip_prefix("event.cancel") {
        return Some((Statement::Cancel, rest.strip_prefix("()").unwrap_or(rest)));
    }
    if let Some(rest) = text.strip_prefix("new_event_block.call(event.clone)") {
        return Some((Statement::Emit, rest));
    }
    let (_, rest) = quoted(text.strip_prefix("raise ")?.trim_start())?;
    Some((Statement::Raise, rest))
}

/// `"a")`
fn argument(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = quoted(text.trim_start())?;
    Some((name, rest.trim_start().strip_prefix(')')?))
}

/// A text without escapes and interpolation, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let (inside, rest) = text[1..].split_once(quote)?;
    (!inside.contains('\\') && !inside.contains("#{")).then_some((inside, rest))
}

fn expr(text: &str) -> Option<(Expr, &str)> {
    let (start, mut rest) = start(text)?;
    let mut calls = Vec::new();
    while let Some(after) = rest.strip_prefix('.') {
        let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let (name, mut after) = after.split_at(end.unwrap_or(after.len()));
        let mut given = None;
        if let Some(inside) = after.strip_prefix('(') {
            let (text, behind) = match inside.strip_prefix(')') {
                Some(behind) => (None, behind),
                None => argument(inside).map(|(text, behind)| (Some(text.to_string()), behind))?,
            };
            given = text;
            after = behind;
        }
        calls.push(call(name, given)?);
        rest = after;
    }
    Some((Expr { start, calls }, rest))
}

fn start(text: &str) -> Option<(Start, &str)> {
    if let Some(rest) = text.strip_prefix("event.get(") {
        let (name, rest) = argument(rest)?;
        return Some((Start::Field(FieldRef::parse(name).ok()?), rest));
    }
    if let Some((inside, rest)) = quoted(text) {
        return Some((Start::Text(inside.to_string()), rest));
    }
    for (word, value) in
        [("true", Datum::Bool(true)), ("false", Datum::Bool(false)), ("nil", Datum::Null)]
    {
        if let Some(rest) = text.strip_prefix(word) {
            return Some((Start::Constant(value), rest));
        }
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    digits.parse::<f64>().ok()?;
    Some((Start::Constant(number(digits)), rest))
}

fn call(name: &str, given: Option<String>) -> Option<Call> {
    Some(match (name, given) {
        ("to_i", None) => Call::ToInteger,
        ("to_f", None) => Call::ToFloat,
        ("to_s", None) => Call::ToText,
        ("upcase", None) => Call::Upcase,
        ("downcase", None) => Call::Downcase,
        ("capitalize", None) => Call::Capitalize,
        ("strip", None) => Call::Strip,
        ("length" | "size", None) => Call::Length,
        ("first", None) => Call::First,
        ("last", None) => Call::Last,
        ("uniq", None) => Call::Unique,
        ("compact", None) => Call::Compact,
        ("reverse", None) => Call::Reverse,
        ("split", given) => Call::Split(given.unwrap_or_else(|| " ".to_string())),
        ("join", given) => Call::Join(given.unwrap_or_default()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn understands_the_idioms_and_nothing_else() {
        for code in [
            "event.set('a', event.get('[b][c]').to_i)",
            "event.set(\"a\", event.get(\"b\").split(\",\").uniq.first); event.remove('b')\nevent.cancel",
            "event.tag('x'); event.set('n', 1.5)",
            "new_event_block.call(event.clone);\n  event.cancel;",
        ] {
            assert!(read(code).is_some(), "{code}");
        }
        for code in [
            "event.set('a', event.get('b').to_i * 2)",
            "x = 1",
            "event.set('a', \"#{b}\")",
            "puts 1",
        ] {
            assert!(read(code).is_none(), "{code}");
        }
    }
}
