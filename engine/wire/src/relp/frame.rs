//! Frames of RELP: `TXNR COMMAND LENGTH[ DATA]` and a line feed.
//!
//! Invariant: a head that is no frame is refused before anything is kept for it.

/// Digits of a number in a head.
const DIGITS_MAX: usize = 9;
/// Length of a command.
const COMMAND_BYTES_MAX: usize = 32;
/// The largest number of a transaction; the next one is 1.
pub(super) const TRANSACTION_MAX: u64 = 999_999_999;

/// A head that has come whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head<'a> {
    /// Number of the transaction; an answer has that of its request.
    pub transaction: u64,
    /// `open`, `syslog`, `close`, `rsp`, `serverclose`.
    pub command: &'a str,
    /// Where the data begins, from the beginning of the frame.
    pub start: usize,
    /// Length of the data in bytes.
    pub length: usize,
}

impl Head<'_> {
    /// Length of the frame with its line feed.
    pub(super) fn frame_bytes(&self) -> usize {
        self.start + self.length + 1
    }
}

/// Reads a head; `None` when it has not come whole.
///
/// # Errors
/// What is there instead.
pub(super) fn head(bytes: &[u8]) -> Result<Option<Head<'_>>, String> {
    let wrong = || {
        let begin = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        Err(format!("no frame of RELP: {begin:?}"))
    };
    let Some((transaction, rest)) = word(bytes, DIGITS_MAX) else {
        return if bytes.len() > DIGITS_MAX { wrong() } else { Ok(None) };
    };
    let Some((command, rest)) = word(rest, COMMAND_BYTES_MAX) else {
        return if rest.len() > COMMAND_BYTES_MAX { wrong() } else { Ok(None) };
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let Some(after) = rest.get(digits) else {
        return if digits > DIGITS_MAX { wrong() } else { Ok(None) };
    };
    let length = number(&rest[..digits]);
    let (Some(transaction), Some(length)) = (number(transaction), length) else { return wrong() };
    let Ok(command) = std::str::from_utf8(command) else { return wrong() };
    // Without data some senders leave the blank out, and others do not.
    let blank = match (after, length) {
        (b' ', _) => 1,
        (b'\n', 0) => 0,
        _ => return wrong(),
    };
    let start = bytes.len() - rest.len() + digits + blank;
    Ok(Some(Head { transaction, command, start, length: length as usize }))
}

/// What stands before the next blank.
fn word(bytes: &[u8], most: usize) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().take(most + 1).position(|byte| *byte == b' ')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > DIGITS_MAX {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Appends a frame.
pub(super) fn push(transaction: u64, command: &str, data: &[u8], to: &mut Vec<u8>) {
    to.extend_from_slice(format!("{transaction} {command} {}", data.len()).as_bytes());
    if !data.is_empty() {
        to.push(b' ');
        to.extend_from_slice(data);
    }
    to.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_however_much_has_come() {
        let frame = b"12 syslog 5 hello\n";
        for length in 0..11 {
            assert_eq!(head(&frame[..length]), Ok(None), "{length}");
        }
        let found = head(frame).unwrap().unwrap();
        assert_eq!((found.transaction, found.command), (12, "syslog"));
        assert_eq!(&frame[found.start..found.start + found.length], b"hello");
        assert_eq!(found.frame_bytes(), frame.len());
        let close = head(b"13 close 0\n").unwrap().unwrap();
        assert_eq!((close.length, close.frame_bytes()), (0, 11));
    }

    #[test]
    fn what_is_no_frame_is_refused_early() {
        for bytes in [
            &b"GET / HTTP/1.1"[..],
            b"1234567890123",
            b"x open 0\n",
            b"1 open 1234567890 ",
            b"1 open 5\n",
        ] {
            assert!(head(bytes).is_err(), "{bytes:?}");
        }
        let long = [b'1', b' '].iter().copied().chain([b'a'; 40]).collect::<Vec<_>>();
        assert!(head(&long).is_err());
    }

    #[test]
    fn frames_are_written_as_they_are_read() {
        let mut out = Vec::new();
        push(1, "rsp", b"200 OK", &mut out);
        push(2, "close", b"", &mut out);
        assert_eq!(out, b"1 rsp 6 200 OK\n2 close 0\n");
    }
}
