//! Ruby's string methods on plain `str`, for filters that Logstash implements in Ruby.

use temblor_stdlib::pattern::{Groups, Pattern};

/// The first letter in upper case, all others in lower case.
#[must_use]
pub fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => {
            first.to_uppercase().chain(characters.as_str().to_lowercase().chars()).collect()
        }
        None => String::new(),
    }
}

/// Without the blanks, and the zeros at the end, that Ruby strips.
#[must_use]
pub fn strip(text: &str) -> &str {
    let blank = |character: char| matches!(character, '\t'..='\r' | ' ');
    text.trim_start_matches(|c| blank(c) || c == '\0').trim_end_matches(|c| blank(c) || c == '\0')
}

/// Ruby's `to_i`: the digits at the beginning, else 0.
#[must_use]
pub fn leading_integer(text: &str) -> i64 {
    leading_digits(text).parse().unwrap_or(0)
}

/// The sign and the digits at the beginning, without underscores.
#[must_use]
pub fn leading_digits(text: &str) -> String {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits =
        text[sign..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count();
    text[..sign + digits].replace('_', "")
}

/// Ruby's `to_f`: the number at the beginning, else 0.
#[must_use]
pub fn leading_float(text: &str) -> f64 {
    let text = text.trim_start();
    let bytes = text.as_bytes();
    // An underscore may stand between two digits.
    let digits = |from: usize| {
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let mut end = from;
        while is_digit(end) || (end > from && bytes.get(end) == Some(&b'_') && is_digit(end + 1)) {
            end += 1;
        }
        end - from
    };
    let sign = usize::from(text.starts_with(['+', '-']));
    let mut end = sign + digits(sign);
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if end > sign && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent_sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + exponent_sign).min(bytes.len()));
        if exponent > 0 {
            end += 1 + exponent_sign + exponent;
        }
    }
    text[..end].replace('_', "").parse().unwrap_or(0.0)
}

/// Ruby's split by a text: empty pieces at the end are dropped, a blank stands for any blanks.
#[must_use]
pub fn split_text<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let mut pieces: Vec<&str> = match separator {
        " " => text.split_ascii_whitespace().collect(),
        "" => text.split("").filter(|piece| !piece.is_empty()).collect(),
        separator => text.split(separator).collect(),
    };
    while pieces.last().is_some_and(|piece| piece.is_empty()) {
        pieces.pop();
    }
    pieces
}

/// Ruby's gsub with a text as replacement; nothing when it becomes longer than `most` bytes.
#[must_use]
pub fn replace_all(
    pattern: &Pattern,
    text: &str,
    found: &[Groups],
    replacement: &str,
    most: usize,
) -> Option<String> {
    let names = if replacement.contains("\\k<") { pattern.names() } else { Vec::new() };
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for groups in found {
        let (from, to) = groups[0].expect("a match has a place");
        out.push_str(&text[end..from]);
        push_replacement(&mut out, text, groups, &names, replacement);
        end = to;
        if out.len() > most {
            return None;
        }
    }
    out.push_str(&text[end..]);
    (out.len() <= most).then_some(out)
}

/// `\1` is the first group, `\k<a>` that of a name, `\0` and `\&` the whole match, ``\` `` and `\'`
/// what stands before and behind it, `\\` a backslash.
fn push_replacement(
    out: &mut String,
    text: &str,
    groups: &Groups,
    names: &[(String, usize)],
    replacement: &str,
) {
    let mut rest = replacement;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let Some(next) = after.chars().next() else {
            out.push('\\');
            return;
        };
        let mut length = next.len_utf8();
        let part = |group: usize| groups.get(group).copied().flatten();
        let span = match next {
            '0'..='9' => Some(part(next as usize - '0' as usize)),
            '&' => Some(part(0)),
            '`' => Some(part(0).map(|(from, _)| (0, from))),
            '\'' => Some(part(0).map(|(_, to)| (to, text.len()))),
            'k' => after[1..].strip_prefix('<').and_then(|inner| inner.split_once('>')).and_then(
                |(name, _)| {
                    length = name.len() + 3;
                    names.iter().find(|(known, _)| known == name).map(|(_, group)| part(*group))
                },
            ),
            _ => None,
        };
        match (span, next) {
            (Some(span), _) => out.push_str(span.map_or("", |(from, to)| &text[from..to])),
            (None, '\\') => out.push('\\'),
            (None, _) => {
                out.push('\\');
                out.push_str(&after[..length]);
            }
        }
        rest = &after[length..];
    }
    out.push_str(rest);
}

/// A text without the escapes of an address; nothing when it is not UTF-8 afterwards.
#[must_use]
pub(crate) fn decode_percent(text: &str) -> Option<String> {
    String::from_utf8(unescaped(text)).ok()
}

/// Bytes without the escapes of an address.
#[must_use]
pub fn unescaped(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits =
            text.get(at + 1..at + 3).filter(|two| two.bytes().all(|b| b.is_ascii_hexdigit()));
        match (bytes[at], digits.and_then(|two| u8::from_str_radix(two, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// The values of the first line, by the strict rules of Ruby: quotes only around whole values,
/// and lines end as the first one does. An empty value without quotes is nothing.
#[must_use]
pub fn csv_cells(text: &str, separator: &str, quote: char) -> Option<Vec<Option<String>>> {
    if separator.is_empty() {
        return None;
    }
    let line_end = match text.find(['\r', '\n']) {
        Some(at) if text[at..].starts_with("\r\n") => "\r\n",
        Some(at) => &text[at..=at],
        None => "\n",
    };
    let mut values = Vec::new();
    let mut rest = text;
    if rest.starts_with(line_end) {
        return Some(values);
    }
    loop {
        let (value, after) = match rest.strip_prefix(quote) {
            Some(inside) if quote != '\0' => {
                let (value, after) = quoted(inside, quote)?;
                (Some(value), after)
            }
            _ => {
                let end = rest.find(separator).unwrap_or(rest.len());
                let end = rest[..end].find(['\r', '\n']).unwrap_or(end);
                let value = &rest[..end];
                if quote != '\0' && value.contains(quote) {
                    return None;
                }
                ((!value.is_empty()).then(|| value.to_string()), &rest[end..])
            }
        };
        values.push(value);
        match after.strip_prefix(separator) {
            Some(next) => rest = next,
            None if after.is_empty() || after.starts_with(line_end) => return Some(values),
            None => return None,
        }
    }
}

/// A value up to its closing quote; two quotes stand for one.
fn quoted(mut text: &str, quote: char) -> Option<(String, &str)> {
    let mut value = String::new();
    loop {
        let end = text.find(quote)?;
        value.push_str(&text[..end]);
        text = &text[end + quote.len_utf8()..];
        match text.strip_prefix(quote) {
            Some(rest) => {
                value.push(quote);
                text = rest;
            }
            None => return Some((value, text)),
        }
    }
}
