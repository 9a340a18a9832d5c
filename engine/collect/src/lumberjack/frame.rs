//! The frames of Lumberjack, versions 1 and 2: a version, a letter, and numbers of 4 bytes, big-endian.

use std::ops::Range;

/// A frame, with the ranges of what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// `W`: so many events come, and are acknowledged together.
    Window { version: u8, events: u32 },
    /// `J`: an event as JSON.
    Json { sequence: u32, text: Range<usize> },
    /// `D`: an event as pairs of texts; the range holds their number and them.
    Pairs { sequence: u32, pairs: Range<usize> },
    /// `C`: further frames, compressed.
    Compressed(Range<usize>),
    /// `A`: all events up to this one have been taken.
    Ack(u32),
}

/// Pairs of one event.
pub(crate) const PAIRS_MAX: u32 = 65_536;

/// The first frame of `bytes` from `at` on, and where it ends; `None` when more bytes are needed.
///
/// # Errors
/// A sentence: this is no frame, or it is longer than `bytes_max`.
pub(crate) fn next(
    bytes: &[u8],
    at: usize,
    bytes_max: usize,
) -> Result<Option<(Frame, usize)>, String> {
    let Some([version, kind]) = bytes.get(at..at + 2) else { return Ok(None) };
    if !matches!(version, b'1' | b'2') {
        return Err(format!(
            "expected a frame of Lumberjack, version 1 or 2, found {}",
            shown(bytes, at)
        ));
    }
    let number = |place: usize| {
        let found = bytes.get(place..place + 4)?;
        Some(u32::from_be_bytes(found.try_into().expect("it has four bytes")))
    };
    let body = |length_at: usize| -> Result<Option<Range<usize>>, String> {
        let Some(length) = number(length_at) else { return Ok(None) };
        let (start, length) = (length_at + 4, length as usize);
        if length > bytes_max {
            return Err(format!(
                "a frame of {length} bytes is longer than `max_frame`, {bytes_max}"
            ));
        }
        Ok((bytes.len() - start >= length).then_some(start..start + length))
    };
    let first = number(at + 2);
    let frame = match (kind, first) {
        (b'W', Some(events)) => (Frame::Window { version: *version, events }, at + 6),
        (b'A', Some(sequence)) => (Frame::Ack(sequence), at + 6),
        (b'J', Some(sequence)) => match body(at + 6)? {
            Some(text) => (Frame::Json { sequence, text: text.clone() }, text.end),
            None => return Ok(None),
        },
        (b'D', Some(sequence)) => match pairs_end(bytes, at + 6, bytes_max)? {
            Some(end) => (Frame::Pairs { sequence, pairs: at + 6..end }, end),
            None => return Ok(None),
        },
        (b'C', Some(_)) => match body(at + 2)? {
            Some(packed) => (Frame::Compressed(packed.clone()), packed.end),
            None => return Ok(None),
        },
        (b'W' | b'A' | b'J' | b'D' | b'C', None) => return Ok(None),
        _ => return Err(format!("expected a frame W, J, D, C or A, found {}", shown(bytes, at))),
    };
    Ok(Some(frame))
}

fn shown(bytes: &[u8], at: usize) -> String {
    format!("`{}`", bytes[at..bytes.len().min(at + 16)].escape_ascii())
}

/// Where the pairs that begin at `at` end; `None` when more bytes are needed.
fn pairs_end(bytes: &[u8], at: usize, bytes_max: usize) -> Result<Option<usize>, String> {
    let number = |place: usize| {
        let found = bytes.get(place..place + 4)?;
        Some(u32::from_be_bytes(found.try_into().expect("it has four bytes")))
    };
    let Some(pairs) = number(at) else { return Ok(None) };
    if pairs > PAIRS_MAX {
        return Err(format!("an event of {pairs} pairs has more than {PAIRS_MAX}"));
    }
    let mut end = at + 4;
    for _ in 0..u64::from(pairs) * 2 {
        let Some(length) = number(end) else { return Ok(None) };
        end += 4 + length as usize;
        if end - at > bytes_max {
            return Err(format!("an event of pairs is longer than `max_frame`, {bytes_max}"));
        }
        if end > bytes.len() {
            return Ok(None);
        }
    }
    Ok(Some(end))
}

/// The pairs of a `D` frame as the text of a JSON record. Bytes that are no UTF-8 become replacement
/// characters.
pub(crate) fn json_of_pairs(pairs: &[u8]) -> Vec<u8> {
    let mut out = vec![b'{'];
    let mut rest = pairs.get(4..).unwrap_or_default();
    let mut is_key = true;
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let length = (u32::from_be_bytes(*length) as usize).min(behind.len());
        let (text, behind) = behind.split_at(length);
        match is_key {
            true if out.len() > 1 => out.push(b','),
            true => {}
            false => out.push(b':'),
        }
        let text = String::from_utf8_lossy(text);
        serde_json::to_writer(&mut out, &text).expect("a text can be written to memory");
        (rest, is_key) = (behind, !is_key);
    }
    out.push(b'}');
    out
}

/// Appends `2W`.
pub(crate) fn push_window(events: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(b"2W");
    out.extend_from_slice(&events.to_be_bytes());
}

/// Appends `2J`.
pub(crate) fn push_json(sequence: u32, text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"2J");
    out.extend_from_slice(&sequence.to_be_bytes());
    out.extend_from_slice(&u32::try_from(text.len()).expect("events are bounded").to_be_bytes());
    out.extend_from_slice(text);
}

/// `2C`, or of another version.
pub(crate) fn push_compressed(packed: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"2C");
    out.extend_from_slice(&u32::try_from(packed.len()).expect("windows are bounded").to_be_bytes());
    out.extend_from_slice(packed);
}

/// An acknowledgement.
pub(crate) fn ack(version: u8, sequence: u32) -> [u8; 6] {
    let [a, b, c, d] = sequence.to_be_bytes();
    [version, b'A', a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_back_and_wait_for_their_last_byte() {
        let mut bytes = Vec::new();
        push_window(2, &mut bytes);
        push_json(1, b"{}", &mut bytes);
        push_compressed(b"xyz", &mut bytes);
        bytes.extend_from_slice(&ack(b'2', 7));
        let (mut at, mut frames) = (0, Vec::new());
        while let Some((frame, end)) = next(&bytes, at, 64).unwrap() {
            frames.push(frame);
            at = end;
        }
        let window = Frame::Window { version: b'2', events: 2 };
        let json = Frame::Json { sequence: 1, text: 16..18 };
        assert_eq!(frames, [window, json, Frame::Compressed(24..27), Frame::Ack(7)]);
        assert_eq!(at, bytes.len());
        for cut in 0..6 {
            assert_eq!(next(&bytes[..cut], 0, 64), Ok(None));
        }
        for cut in 7..18 {
            assert_eq!(next(&bytes[6..cut], 0, 64), Ok(None), "{cut}");
        }
    }

    #[test]
    fn what_is_no_frame_or_too_long_is_told() {
        let error = next(b"GET / HTTP/1.1", 0, 64).unwrap_err();
        assert_eq!(error, "expected a frame of Lumberjack, version 1 or 2, found `GET / HTTP/1.1`");
        assert!(next(b"2X\0\0\0\0", 0, 64).unwrap_err().contains("found `2X"));
        let long = next(b"2J\0\0\0\x01\0\0\0\x41", 0, 64).unwrap_err();
        assert_eq!(long, "a frame of 65 bytes is longer than `max_frame`, 64");
        assert!(next(b"1D\0\0\0\x01\xff\xff\xff\xff", 0, 64).unwrap_err().contains("pairs"));
        let endless = b"1D\0\0\0\x01\0\0\0\x01\xff\xff\xff\xff";
        assert!(next(endless, 0, 64).unwrap_err().contains("longer than `max_frame`"));
    }

    #[test]
    fn pairs_become_a_record() {
        let frame = b"1D\0\0\0\x01\0\0\0\x02\0\0\0\x01a\0\0\0\x02\"b\0\0\0\x01c\0\0\0\0";
        let Ok(Some((Frame::Pairs { sequence: 1, pairs }, end))) = next(frame, 0, 64) else {
            panic!("it is one");
        };
        assert_eq!(end, frame.len());
        assert_eq!(json_of_pairs(&frame[pairs]), br#"{"a":"\"b","c":""}"#);
    }
}
