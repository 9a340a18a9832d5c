//! The one message of a unary call over gRPC, and its status.

use crate::unpack;

/// Codes of gRPC that matter here.
pub(crate) const OK: u32 = 0;
pub(crate) const INVALID_ARGUMENT: u32 = 3;
pub(crate) const RESOURCE_EXHAUSTED: u32 = 8;
pub(crate) const UNIMPLEMENTED: u32 = 12;
pub(crate) const UNAVAILABLE: u32 = 14;
/// Those after which the same call may be tried again: CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED,
/// ABORTED, OUT_OF_RANGE, UNAVAILABLE and DATA_LOSS, as OTLP says.
pub(crate) const PASSING: [u32; 7] = [1, 4, RESOURCE_EXHAUSTED, 10, 11, UNAVAILABLE, 15];

/// Length of what stands before a message: whether it is compressed, and its length.
const HEAD_BYTES: usize = 5;

/// A message with its head.
pub(crate) fn framed(message: &[u8], is_packed: bool) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("requests are bounded");
    let mut bytes = Vec::with_capacity(HEAD_BYTES + message.len());
    bytes.push(u8::from(is_packed));
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(message);
    bytes
}

/// The one message of a body.
///
/// # Errors
/// A sentence: it is not one whole message, or compressed in a way that was not announced.
pub(crate) fn message(
    body: &[u8],
    encoding: Option<&str>,
    bytes_max: usize,
) -> Result<Vec<u8>, String> {
    let Some((head, message)) = body.split_first_chunk::<HEAD_BYTES>() else {
        return Err("the body is shorter than the head of a message".to_string());
    };
    let [is_packed, length @ ..] = *head;
    if u32::from_be_bytes(length) as usize != message.len() {
        return Err("the body is not exactly one message".to_string());
    }
    match (is_packed, encoding) {
        (0, _) => Ok(message.to_vec()),
        (1, Some("gzip")) => unpack::gzip(message, bytes_max),
        (1, other) => Err(format!("messages may be compressed by gzip, not by {other:?}")),
        (flag, _) => Err(format!("a message begins with 0 or 1, not with {flag}")),
    }
}

/// A text as `grpc-message` takes it: what is no plain ASCII, and `%`, in hexadecimal digits.
pub(crate) fn escaped(text: &str) -> String {
    let one = |byte: u8| match byte {
        b' '..=b'~' if byte != b'%' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_back_and_anything_else_is_told() {
        assert_eq!(message(&framed(b"abc", false), None, 9), Ok(b"abc".to_vec()));
        assert!(message(b"\0\0\0", None, 9).unwrap_err().contains("shorter"));
        assert!(message(b"\0\0\0\0\x02a", None, 9).unwrap_err().contains("exactly one"));
        assert!(message(&framed(b"abc", true), Some("snappy"), 9).unwrap_err().contains("snappy"));
        assert!(message(b"\x07\0\0\0\0", None, 9).unwrap_err().contains("not with 7"));
        assert_eq!(escaped("50 %\n"), "50 %25%0A");
    }
}
