//! `unpack` and `pack`: what bytes stand for, and bytes of values. Bytes that are no UTF-8 do not survive, as
//! texts here are UTF-8.

use super::super::Stop;
use crate::logstash::ruby::value::Value;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

/// A letter of a format, and how often; `None` for `*`.
type Directive = (char, Option<usize>);

fn directives(format: &str) -> Vec<Directive> {
    let mut found = Vec::new();
    let mut rest = format.trim_start();
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        rest = rest.trim_start_matches(['<', '>', '!', '_']);
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let count = match rest.strip_prefix('*') {
            Some(after) => {
                rest = after;
                None
            }
            None if digits > 0 => {
                let count = rest[..digits].parse().ok();
                rest = &rest[digits..];
                count
            }
            None => Some(1),
        };
        found.push((letter, count));
        rest = rest.trim_start();
    }
    found
}

/// Bytes of a whole number, and whether the highest comes first.
fn width(letter: char) -> Option<(usize, bool)> {
    Some(match letter {
        'C' | 'c' => (1, true),
        'n' => (2, true),
        'N' => (4, true),
        'v' | 'S' | 's' => (2, false),
        'V' | 'L' | 'l' => (4, false),
        'Q' | 'q' => (8, false),
        _ => return None,
    })
}

fn number(bytes: &[u8], high_first: bool, signed: bool) -> Value {
    let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    let whole = match high_first {
        true => bytes.iter().fold(0, fold),
        false => bytes.iter().rev().fold(0, fold),
    };
    let unused = 64 - 8 * bytes.len() as u32;
    let negative = (whole << unused) as i64 >> unused;
    Value::Int(if signed { negative } else { whole as i64 })
}

/// `unpack`
pub(super) fn unpack(bytes: &[u8], format: &str) -> Result<Vec<Value>, Stop> {
    let text = |bytes: &[u8]| Value::text(&String::from_utf8_lossy(bytes));
    let mut values = Vec::new();
    let mut rest = bytes;
    for (letter, count) in directives(format) {
        if let Some((size, high_first)) = width(letter) {
            for _ in 0..count.unwrap_or(usize::MAX) {
                let Some((part, after)) = rest.split_at_checked(size) else {
                    if count.is_some() {
                        values.push(Value::Nil);
                        continue;
                    }
                    break;
                };
                values.push(number(
                    part,
                    high_first,
                    letter.is_lowercase() && !"nv".contains(letter),
                ));
                rest = after;
            }
            continue;
        }
        let all = rest.len();
        let taken = match letter {
            'H' | 'h' => count.map_or(all, |count| count.div_ceil(2)),
            'B' | 'b' => count.map_or(all, |count| count.div_ceil(8)),
            'a' | 'A' | 'Z' | 'x' => count.unwrap_or(all),
            _ => all,
        };
        let (part, after) = rest.split_at(taken.min(all));
        rest = after;
        values.push(match letter {
            'H' => {
                let hex: String = part.iter().map(|byte| format!("{byte:02x}")).collect();
                Value::text(&hex[..count.unwrap_or(hex.len()).min(hex.len())])
            }
            'B' => {
                let bits: String = part.iter().map(|byte| format!("{byte:08b}")).collect();
                Value::text(&bits[..count.unwrap_or(bits.len()).min(bits.len())])
            }
            'a' => text(part),
            'A' => text(part.trim_ascii_end()),
            'Z' => text(part.split(|byte| *byte == 0).next().unwrap_or(part)),
            'm' => text(&unpacked(part)?),
            'x' => continue,
            'U' => {
                let text = String::from_utf8_lossy(part);
                values.extend(text.chars().map(|c| Value::Int(i64::from(c as u32))));
                continue;
            }
            _ => return Err(Stop::raise("ArgumentError", "this format of unpack is not known")),
        });
    }
    Ok(values)
}

fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, Stop> {
    let letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    let clean: Vec<u8> = bytes.iter().copied().filter(letter).collect();
    let whole = &clean[..clean.len() - usize::from(clean.len() % 4 == 1)];
    STANDARD_NO_PAD.decode(whole).or_else(|_| Ok(Vec::new()))
}

/// `pack`
pub(in crate::logstash::ruby::run) fn pack(items: &[Value], format: &str) -> Result<String, Stop> {
    let mut bytes = Vec::new();
    let mut items = items.iter();
    let missing = || Stop::raise("ArgumentError", "too few arguments");
    for (letter, count) in directives(format) {
        if letter == 'U' || width(letter).is_some() {
            let times = count.unwrap_or(items.len());
            for _ in 0..times {
                let Some(Value::Int(number)) = items.next() else { return Err(missing()) };
                match width(letter) {
                    Some((size, true)) => bytes.extend(&number.to_be_bytes()[8 - size..]),
                    Some((size, false)) => bytes.extend(&number.to_le_bytes()[..size]),
                    None => {
                        let code = u32::try_from(*number).ok().and_then(char::from_u32);
                        bytes.extend(code.unwrap_or('?').to_string().bytes());
                    }
                }
            }
            continue;
        }
        let text = items.next().ok_or_else(missing)?.print();
        match letter {
            'H' => {
                let pair = |at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
                bytes.extend((0..text.len() / 2).filter_map(pair));
            }
            'B' => {
                let eight = |at| u8::from_str_radix(text.get(8 * at..8 * at + 8)?, 2).ok();
                bytes.extend((0..text.len() / 8).filter_map(eight));
            }
            'm' if count == Some(0) => bytes.extend(STANDARD.encode(&text).bytes()),
            'm' => {
                // Lines of 60 characters, each with its end.
                let encoded = STANDARD.encode(&text);
                for line in encoded.as_bytes().chunks(60) {
                    bytes.extend(line);
                    bytes.push(b'\n');
                }
            }
            'a' | 'A' => {
                let length = count.unwrap_or(text.len());
                super::super::limited(length)?;
                let fill = if letter == 'a' { 0 } else { b' ' };
                let mut part = text.into_bytes();
                part.resize(length, fill);
                bytes.extend(part);
            }
            _ => return Err(Stop::raise("ArgumentError", "this format of pack is not known")),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
