//! `unpack` and `pack`: values from bytes, and bytes from values.

use super::super::{Answer, Stop};
use crate::heap::Heap;
use crate::numeric;
use crate::value::Value;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A letter of a format, whether `>` says that the highest byte comes first, and how often; `None` for `*`.
type Directive = (char, Option<bool>, Option<usize>);

fn directives(format: &str) -> Vec<Directive> {
    let mut found = Vec::new();
    let mut rest = format.trim_start();
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        let marks = rest.len() - rest.trim_start_matches(['<', '>', '!', '_']).len();
        let high_first = rest[..marks].chars().find_map(|mark| match mark {
            '>' => Some(true),
            '<' => Some(false),
            _ => None,
        });
        rest = &rest[marks..];
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
        found.push((letter, high_first, count));
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
        'Q' | 'q' | 'J' | 'j' => (8, false),
        'I' | 'i' => (4, false),
        _ => return None,
    })
}

/// Bytes of a number with a fraction (IEEE 754).
fn fraction_size(letter: char) -> Option<usize> {
    match letter {
        'g' | 'e' | 'f' | 'F' => Some(4),
        'G' | 'E' | 'd' | 'D' => Some(8),
        _ => None,
    }
}

fn fraction(bytes: &[u8], high_first: bool) -> Value {
    let mut bytes = bytes.to_vec();
    if !high_first {
        bytes.reverse();
    }
    let bits = bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    Value::Float(match bytes.len() {
        4 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    })
}

/// Half a byte, as `H` reads letters.
fn nibble(letter: u8) -> u8 {
    match letter {
        b'0'..=b'9' => letter - b'0',
        b'a'..=b'z' | b'A'..=b'Z' => ((letter & 15) + 9) & 15,
        other => other & 15,
    }
}

fn number(bytes: &[u8], high_first: bool, signed: bool) -> Value {
    let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    let whole = match high_first {
        true => bytes.iter().fold(0, fold),
        false => bytes.iter().rev().fold(0, fold),
    };
    let unused = 64 - 8 * bytes.len() as u32;
    let negative = (whole << unused) as i64 >> unused;
    if signed { Value::Int(negative) } else { numeric::whole(whole.into()) }
}

/// `unpack`
pub(super) fn unpack(heap: &Heap, bytes: &[u8], format: &str) -> Result<Vec<Value>, Stop> {
    let mut values = Vec::new();
    let mut rest = bytes;
    for (letter, order, count) in directives(format) {
        // What is missing at the end is told by a nil each.
        super::super::limited(values.len().saturating_add(count.unwrap_or(0)))?;
        if let Some(size) = fraction_size(letter) {
            for _ in 0..count.unwrap_or(usize::MAX) {
                let Some((part, after)) = rest.split_at_checked(size) else { break };
                values.push(fraction(part, "gG".contains(letter)));
                rest = after;
            }
            continue;
        }
        if let Some((size, high_first)) = width(letter) {
            let high_first = order.unwrap_or(high_first);
            let signed = letter.is_lowercase() && !"nv".contains(letter);
            for _ in 0..count.unwrap_or(usize::MAX) {
                match rest.split_at_checked(size) {
                    Some((part, after)) => {
                        values.push(number(part, high_first, signed));
                        rest = after;
                    }
                    None if count.is_some() => values.push(Value::Nil),
                    None => break,
                }
            }
            continue;
        }
        let all = rest.len();
        let taken = match letter {
            'H' | 'h' => count.map_or(all, |count| count.div_ceil(2)),
            'B' | 'b' => count.map_or(all, |count| count.div_ceil(8)),
            'a' | 'A' | 'Z' | 'x' => count.unwrap_or(all),
            '@' => {
                rest = bytes.get(count.unwrap_or(0)..).unwrap_or_default();
                continue;
            }
            _ => all,
        };
        let (part, after) = rest.split_at(taken.min(all));
        rest = after;
        match letter {
            'x' => {}
            'U' => {
                let text = String::from_utf8_lossy(part);
                values.extend(text.chars().map(|c| Value::Int(i64::from(c as u32))));
            }
            _ => values.push(text(heap, part, letter, count)?),
        }
    }
    Ok(values)
}

/// The text that bytes stand for, written out or as they are.
fn text(heap: &Heap, part: &[u8], letter: char, count: Option<usize>) -> Answer {
    Ok(match letter {
        'H' => {
            let hex: String = part.iter().map(|byte| format!("{byte:02x}")).collect();
            heap.text(&hex[..count.unwrap_or(hex.len()).min(hex.len())])
        }
        'B' => {
            let bits: String = part.iter().map(|byte| format!("{byte:08b}")).collect();
            heap.text(&bits[..count.unwrap_or(bits.len()).min(bits.len())])
        }
        'b' => {
            let bits = part.iter().map(|byte| format!("{:08b}", byte.reverse_bits()));
            let bits: String = bits.collect();
            heap.text(&bits[..count.unwrap_or(bits.len()).min(bits.len())])
        }
        'a' => heap.binary(part),
        'A' => {
            let kept = part.iter().rposition(|byte| !matches!(byte, 0 | b' '));
            heap.binary(&part[..kept.map_or(0, |at| at + 1)])
        }
        'Z' => heap.binary(part.split(|byte| *byte == 0).next().unwrap_or(part)),
        'm' if count == Some(0) => match STANDARD.decode(part) {
            Ok(bytes) => heap.binary(&bytes),
            Err(_) => return Err(Stop::raise("ArgumentError", "invalid base64")),
        },
        'm' => heap.binary(&loose_base64(part)),
        _ => return Err(Stop::raise("ArgumentError", "this format of unpack is not known")),
    })
}

/// Base64 as Ruby reads it loosely: other characters are passed over, and bits without a whole byte are dropped.
pub(in super::super) fn loose_base64(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in bytes.iter().take_while(|byte| **byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    out
}

/// `pack`
pub(in crate::run) fn pack(heap: &Heap, items: &[Value], format: &str) -> Answer {
    let mut bytes = Vec::new();
    let mut items = items.iter();
    let missing = || Stop::raise("ArgumentError", "too few arguments");
    for (letter, order, count) in directives(format) {
        super::super::limited(bytes.len())?;
        if letter == 'x' {
            super::super::limited(count.unwrap_or(0))?;
            bytes.extend(std::iter::repeat_n(0, count.unwrap_or(0)));
            continue;
        }
        if let Some(size) = fraction_size(letter) {
            for _ in 0..count.unwrap_or(items.len()) {
                let item = items.next().ok_or_else(missing)?;
                let number = numeric::float(item).ok_or_else(|| {
                    let what = super::super::object::word_of(item);
                    Stop::raise("TypeError", format!("can't convert {what} into Float"))
                })?;
                let mut part = match size {
                    4 => (number as f32).to_be_bytes().to_vec(),
                    _ => number.to_be_bytes().to_vec(),
                };
                if !"gG".contains(letter) {
                    part.reverse();
                }
                bytes.extend(part);
            }
            continue;
        }
        if letter == 'U' || width(letter).is_some() {
            let times = count.unwrap_or(items.len());
            for _ in 0..times {
                push_number(&mut bytes, letter, order, items.next().ok_or_else(missing)?)?;
            }
            continue;
        }
        push_text(heap, &mut bytes, letter, count, items.next().ok_or_else(missing)?)?;
    }
    Ok(if format.starts_with('U') { heap.bytes(&bytes) } else { heap.binary(&bytes) })
}

fn push_number(
    bytes: &mut Vec<u8>,
    letter: char,
    order: Option<bool>,
    item: &Value,
) -> Result<(), Stop> {
    let number = match item {
        Value::Int(number) => *number,
        Value::Big(number) => {
            let low: num_bigint::BigInt = &**number & num_bigint::BigInt::from(u64::MAX);
            u64::try_from(low).unwrap_or(0) as i64
        }
        Value::Float(number) => *number as i64,
        other => {
            let what = super::super::object::word_of(other);
            let message = format!("no implicit conversion of {what} into Integer");
            return Err(Stop::raise("TypeError", message));
        }
    };
    let width = width(letter).map(|(size, first)| (size, order.unwrap_or(first)));
    match width {
        Some((size, true)) => bytes.extend(&number.to_be_bytes()[8 - size..]),
        Some((size, false)) => bytes.extend(&number.to_le_bytes()[..size]),
        None => {
            let code = u32::try_from(number).ok().and_then(char::from_u32);
            bytes.extend(code.unwrap_or('?').to_string().bytes());
        }
    }
    Ok(())
}

fn push_text(
    heap: &Heap,
    bytes: &mut Vec<u8>,
    letter: char,
    count: Option<usize>,
    value: &Value,
) -> Result<(), Stop> {
    let bytes_of = match value {
        Value::Nil if letter != 'm' => Vec::new(),
        value => super::super::module::text_bytes(heap, value)?,
    };
    let text = value.print(heap);
    match letter {
        'H' => {
            let digits: Vec<u8> = text.bytes().map(nibble).collect();
            let most = count.unwrap_or(digits.len()).min(digits.len());
            let pair = |pair: &[u8]| pair[0] << 4 | pair.get(1).copied().unwrap_or(0);
            bytes.extend(digits[..most].chunks(2).map(pair));
        }
        'B' => {
            let bits: Vec<u8> = text.bytes().take(count.unwrap_or(text.len())).collect();
            let byte = |eight: &[u8]| {
                let bit = |at: usize| eight.get(at).map_or(0, |bit| bit & 1);
                (0..8).fold(0, |byte, at| byte << 1 | bit(at))
            };
            bytes.extend(bits.chunks(8).map(byte));
        }
        'm' if count == Some(0) => bytes.extend(STANDARD.encode(&bytes_of).bytes()),
        'm' => {
            // Lines of 60 characters, each with its end.
            let encoded = STANDARD.encode(&bytes_of);
            for line in encoded.as_bytes().chunks(60) {
                bytes.extend(line);
                bytes.push(b'\n');
            }
        }
        'a' | 'A' | 'Z' => {
            let length = count.unwrap_or(bytes_of.len() + usize::from(letter == 'Z'));
            super::super::limited(length)?;
            let fill = if letter == 'A' { b' ' } else { 0 };
            let mut part = bytes_of;
            part.resize(length, fill);
            bytes.extend(part);
        }
        _ => return Err(Stop::raise("ArgumentError", "this format of pack is not known")),
    }
    Ok(())
}
