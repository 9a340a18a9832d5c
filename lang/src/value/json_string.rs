//! Strings as JSON (RFC 8259, section 7). Only what must be escaped is escaped; it is looked for in
//! whole words and blocks.

/// Appends `text` as a JSON string with its quotes.
pub fn push_json_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = first_escape(rest) {
        out.extend_from_slice(&rest[..at]);
        let (escape, length) = escape(rest[at]);
        out.extend_from_slice(&escape[..length]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// The place of the first byte to escape.
fn first_escape(bytes: &[u8]) -> Option<usize> {
    let (blocks, tail) = bytes.as_chunks();
    match blocks.iter().position(block_needs_escape) {
        Some(number) => Some(number * BLOCK_BYTES + place_in_block(&blocks[number])),
        None => place_in_tail(tail).map(|at| blocks.len() * BLOCK_BYTES + at),
    }
}

/// The bytes that are looked at together.
pub(super) const BLOCK_BYTES: usize = 16;

/// Without a branch, so that the compiler makes vector instructions of it.
#[inline]
pub(super) fn block_needs_escape(block: &[u8; BLOCK_BYTES]) -> bool {
    block.iter().fold(false, |any, byte| any | byte_needs_escape(*byte))
}

/// The place of the first byte to escape in a block that has one.
#[inline]
pub(super) fn place_in_block(block: &[u8; BLOCK_BYTES]) -> usize {
    let block = u128::from_le_bytes(*block);
    match escapes(block as u64) {
        0 => 8 + place(escapes((block >> 64) as u64)),
        found => place(found),
    }
}

/// The place of the first byte to escape in less than a block. Words may overlap: what is seen
/// twice was good.
#[inline]
pub(super) fn place_in_tail(bytes: &[u8]) -> Option<usize> {
    let length = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        match (escapes(u64::from_le_bytes(*first)), escapes(u64::from_le_bytes(*last))) {
            (0, 0) => None,
            (0, last) => Some(length - 8 + place(last)),
            (first, _) => Some(place(first)),
        }
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let [first, last] = [*first, *last].map(u32::from_le_bytes).map(u64::from);
        match escapes(first | last << 32) {
            0 => None,
            found if place(found) < 4 => Some(place(found)),
            found => Some(length + place(found) - 8),
        }
    } else {
        bytes.iter().position(|byte| byte_needs_escape(*byte))
    }
}

/// Turning one bit puts the quote just behind the control characters, so that one comparison finds
/// both.
const TURNED: u8 = 0x02;
const TURNED_LIMIT: u8 = (b'"' ^ TURNED) + 1;

#[inline]
fn byte_needs_escape(byte: u8) -> bool {
    ((byte ^ TURNED) < TURNED_LIMIT) | (byte == b'\\')
}

/// The place of the first byte that [`escapes`] has marked.
#[inline]
fn place(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// Marks the top bit of the bytes to escape, eight bytes at once; only the first mark is certain.
/// See "Bit Twiddling Hacks" (S. E. Anderson), "Determine if a word has a byte less than n".
/// Bytes beyond ASCII are never escaped.
#[inline]
fn escapes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit));
    let turned = word ^ (ONES * u64::from(TURNED));
    let backslash = word ^ (ONES * u64::from(b'\\'));
    (below(turned, TURNED_LIMIT) | below(backslash, 1)) & !word & TOPS
}

/// Longest escape, in bytes.
pub(super) const ESCAPE_BYTES_MAX: usize = 6;

/// How a byte is escaped; the number tells how many bytes of it count.
pub(super) fn escape(byte: u8) -> ([u8; ESCAPE_BYTES_MAX], usize) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            return ([b'\\', b'u', b'0', b'0', digits[0], digits[1]], 6);
        }
    };
    ([b'\\', short, 0, 0, 0, 0], 2)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Texts with every byte of ASCII at every place, with and without a quote at the end.
    pub(in super::super) fn texts() -> impl Iterator<Item = String> {
        let places = (1..40).flat_map(|length| (0..length).map(move |place| (length, place)));
        let bytes = places.flat_map(|at| (0..128_u8).map(move |byte| (at, byte)));
        bytes.flat_map(|((length, place), byte)| {
            ["x", "\""].map(|end| {
                let mut text = "a".repeat(length - 1) + end;
                text.replace_range(place..=place, &char::from(byte).to_string());
                text
            })
        })
    }

    /// What a JSON string of `text` is, character by character.
    pub(in super::super) fn expected(text: &str) -> String {
        let inner: String = text
            .chars()
            .map(|character| match character {
                '"' => "\\\"".to_string(),
                '\\' => "\\\\".to_string(),
                '\n' => "\\n".to_string(),
                '\r' => "\\r".to_string(),
                '\t' => "\\t".to_string(),
                '\u{8}' => "\\b".to_string(),
                '\u{c}' => "\\f".to_string(),
                control if control < ' ' => format!("\\u{:04x}", u32::from(control)),
                other => other.to_string(),
            })
            .collect();
        format!("\"{inner}\"")
    }

    #[test]
    fn whatever_stands_wherever_is_escaped() {
        for text in texts().chain(["äöü€ßäöü\n€äöüß\u{7f}".to_string()]) {
            let mut out = Vec::new();
            push_json_string(&mut out, &text);
            assert_eq!(String::from_utf8(out).expect("JSON is UTF-8"), expected(&text));
            let clean = expected(&text).len() == text.len() + 2;
            assert_eq!(first_escape(text.as_bytes()).is_none(), clean);
        }
    }
}
