//! Strings of JSON texts with escapes (RFC 8259, section 7).

use crate::value::Arena;

/// So many bytes are copied at once, even where fewer are wanted: most pieces between escapes are
/// short.
const PIECE_BYTES: usize = 16;

/// The string from `start` to `end`, and those of the `escapes` of the text that come behind it.
/// `None` for an escape that is none.
#[inline(never)]
pub(super) fn unescaped<'a, 'm>(
    text: &'a str,
    (start, end): (usize, usize),
    mut escapes: &'m [u32],
    arena: &'a Arena,
) -> Option<(&'a str, &'m [u32])> {
    let raw = text.as_bytes().get(..end)?;
    // No escape is shorter than what it stands for.
    let room = end.checked_sub(start)? + PIECE_BYTES;
    let string = arena.bump().alloc_slice_fill_copy(room, 0_u8);
    let (mut from, mut length) = (start, 0);
    while let [escape, rest @ ..] = escapes
        && let at = *escape as usize
        && at < end
    {
        length = put(string, length, raw, (from, at))?;
        let (character, consumed) = character(raw.get(at + 1..)?)?;
        length += match u8::try_from(character) {
            Ok(byte) if byte.is_ascii() => {
                *string.get_mut(length)? = byte;
                1
            }
            _ => character.encode_utf8(string.get_mut(length..)?).len(),
        };
        from = at + 1 + consumed;
        escapes = rest;
        // The second half of a surrogate pair is an escape of its own.
        while let [next, rest @ ..] = escapes
            && (*next as usize) < from
        {
            escapes = rest;
        }
    }
    length = put(string, length, raw, (from, end))?;
    let string = simdutf8::basic::from_utf8(string.get(..length)?).ok()?;
    Some((string, escapes))
}

/// Copies a piece of the text to `length`; the new length.
#[inline(always)]
fn put(string: &mut [u8], length: usize, raw: &[u8], (from, to): (usize, usize)) -> Option<usize> {
    let size = to.checked_sub(from)?;
    let place = string.get_mut(length..)?;
    if size <= PIECE_BYTES
        && let Some(piece) = raw.get(from..)?.first_chunk::<PIECE_BYTES>()
        && let Some(place) = place.first_chunk_mut()
    {
        *place = *piece;
    } else {
        place.get_mut(..size)?.copy_from_slice(raw.get(from..to)?);
    }
    Some(length + size)
}

/// What the escape behind a backslash stands for, and its length without the backslash.
#[inline(always)]
fn character(bytes: &[u8]) -> Option<(char, usize)> {
    let character = match bytes.first()? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return code_point(bytes),
        _ => return None,
    };
    Some((character, 1))
}

/// `uXXXX`, or `uXXXX\uXXXX` for the two halves of a surrogate pair.
fn code_point(bytes: &[u8]) -> Option<(char, usize)> {
    const LENGTH: usize = 5;
    let first = hexadecimal(bytes.get(1..LENGTH)?)?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first).map(|character| (character, LENGTH));
    }
    let second = bytes.get(LENGTH..)?.strip_prefix(b"\\u")?;
    let low = hexadecimal(second.get(..4)?)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    let character = char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + low)?;
    Some((character, 2 * LENGTH + 1))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))
}
