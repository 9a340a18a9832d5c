//! Numbers of JSON texts (RFC 8259, section 6): whole ones of 64 bits, and fractions as the nearest
//! number of 64 bits. What has no room there is left to others.

use simd_json::StaticNode;

/// So many digits fit into 64 bits whatever they are.
const DIGITS_MAX: usize = 18;
/// Whole numbers of so many digits, and powers of ten up to this one, are exact as floats, so that
/// their quotient is rounded once (Clinger, "How to read floating point numbers accurately", 1990).
const EXACT_DIGITS_MAX: usize = 15;
const POWERS: [f64; EXACT_DIGITS_MAX + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The number that starts at `at`, and the place behind it.
#[inline(always)]
pub(super) fn number(text: &str, at: usize) -> Option<(StaticNode, usize)> {
    let bytes = text.as_bytes();
    let is_negative = bytes.get(at) == Some(&b'-');
    let start = at + usize::from(is_negative);
    let (value, end) = digits(bytes, start, 0);
    let count = end - start;
    if count == 0 || (count > 1 && bytes.get(start) == Some(&b'0')) {
        return None;
    }
    if let Some(b'.' | b'e' | b'E') = bytes.get(end) {
        return fraction(text, at, end, value);
    }
    if count > DIGITS_MAX {
        return large(text, at, end);
    }
    let number =
        if is_negative { StaticNode::I64(-(value as i64)) } else { StaticNode::U64(value) };
    Some((number, end))
}

/// Appends the digits from `at` on to `value`, which wraps around; and the place behind them.
#[inline(always)]
fn digits(bytes: &[u8], mut at: usize, mut value: u64) -> (u64, usize) {
    while let Some(byte) = bytes.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (value, at)
}

#[cold]
fn large(text: &str, at: usize, end: usize) -> Option<(StaticNode, usize)> {
    let digits = text.get(at..end)?;
    let number = match digits.parse() {
        Ok(number) => StaticNode::U64(number),
        Err(_) => StaticNode::I64(digits.parse().ok()?),
    };
    Some((number, end))
}

/// A number of which the digits before the point or the exponent at `end` make `value`.
#[inline(never)]
fn fraction(text: &str, at: usize, end: usize, value: u64) -> Option<(StaticNode, usize)> {
    let bytes = text.as_bytes();
    let (mut value, mut end, mut places) = (value, end, 0);
    let digits_before = end - at;
    if bytes.get(end) == Some(&b'.') {
        let from = end + 1;
        (value, end) = digits(bytes, from, value);
        places = end - from;
        if places == 0 {
            return None;
        }
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let from = end + 1 + sign;
        (_, end) = digits(bytes, from, 0);
        return if end == from { None } else { nearest(text.get(at..end)?, end) };
    }
    if digits_before + places > EXACT_DIGITS_MAX {
        return nearest(text.get(at..end)?, end);
    }
    let size = value as f64 / POWERS[places];
    let number = if bytes.get(at) == Some(&b'-') { -size } else { size };
    Some((StaticNode::from(number), end))
}

fn nearest(digits: &str, end: usize) -> Option<(StaticNode, usize)> {
    let number: f64 = digits.parse().ok()?;
    number.is_finite().then(|| (StaticNode::from(number), end))
}
