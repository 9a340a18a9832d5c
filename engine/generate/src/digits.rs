//! Numbers and identifiers as text, straight into a buffer.
//!
//! Invariant: nothing allocates but the buffer itself.

use super::Random;

const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Appends a number in decimal.
#[inline]
pub(crate) fn push_number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    while number >= 100 {
        let pair = (number % 100) as usize * 2;
        number /= 100;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if number >= 10 {
        let pair = number as usize * 2;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    } else {
        at -= 1;
        digits[at] = b'0' + number as u8;
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a number below 100 with two digits.
#[inline]
pub(crate) fn push_two(number: u64, out: &mut Vec<u8>) {
    let pair = (number % 100) as usize * 2;
    out.extend_from_slice(&PAIRS[pair..pair + 2]);
}

/// Appends a number with leading zeros.
pub(crate) fn push_padded(number: u64, width: usize, out: &mut Vec<u8>) {
    let before = out.len();
    push_number(number, out);
    let short = width.saturating_sub(out.len() - before);
    out.splice(before..before, std::iter::repeat_n(b'0', short));
}

/// Appends random hexadecimal digits.
pub(crate) fn push_hex(random: &mut Random, digits: usize, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut left = digits;
    while left > 0 {
        let mut bits = random.bits();
        for _ in 0..left.min(16) {
            out.push(HEX[(bits & 15) as usize]);
            bits >>= 4;
        }
        left -= left.min(16);
    }
}

/// Appends a random identifier in the form of a UUID (RFC 9562, version 4).
pub(crate) fn push_uuid(random: &mut Random, out: &mut Vec<u8>) {
    for (index, digits) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            out.push(b'-');
        }
        let at = out.len();
        push_hex(random, digits, out);
        match index {
            2 => out[at] = b'4',
            3 => out[at] = b"89ab"[random.below(4) as usize],
            _ => {}
        }
    }
}

/// Appends a random public or private IPv4 address.
#[inline]
pub(crate) fn push_ipv4(random: &mut Random, out: &mut Vec<u8>) {
    let bits = random.bits();
    push_number(11 + (bits & 0xff) % 212, out);
    for shift in [8, 16, 24] {
        out.push(b'.');
        push_number((bits >> shift) & 0xff, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_format_makes_of_them() {
        for number in [0, 7, 10, 99, 100, 101, 12_345, 999_999, u64::MAX] {
            let mut out = Vec::new();
            push_number(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
        let mut out = b"x".to_vec();
        push_padded(42, 5, &mut out);
        push_two(7, &mut out);
        assert_eq!(out, b"x0004207");
    }

    #[test]
    fn identifiers_have_their_form() {
        let mut out = Vec::new();
        push_uuid(&mut Random::seeded(1), &mut out);
        let text = String::from_utf8(out).unwrap();
        let lengths: Vec<_> = text.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(&text[14..15], "4");
    }
}
