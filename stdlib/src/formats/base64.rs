//! Base64 (RFC 4648, standard alphabet). Padding may be absent, but nothing else may differ.

use super::FormatError;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeSliceError, Engine};
use temblor_lang::value::{Arena, Value};

const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes that `text` stands for.
///
/// # Errors
/// At the first character that is not of the alphabet, or at the end if that is cut short.
pub(crate) fn decode<'a>(text: &str, arena: &'a Arena) -> Result<&'a [u8], FormatError> {
    let room = arena.zeros(base64::decoded_len_estimate(text.len()));
    match ENGINE.decode_slice(text, room) {
        Ok(length) => Ok(&room[..length]),
        Err(DecodeSliceError::DecodeError(base64::DecodeError::InvalidByte(at, _))) => {
            Err(FormatError::new(text, at, "a base64 character"))
        }
        Err(_) => Err(FormatError::new(text, text.len(), "more base64 characters")),
    }
}

/// Whether `text` is base64.
#[must_use]
pub(crate) fn is_valid(text: &str) -> bool {
    decode(text, &Arena::new()).is_ok()
}

/// The text that `text` stands for.
///
/// # Errors
/// When it is not base64 or stands for bytes that are not UTF-8.
pub(crate) fn parse<'a>(text: &str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    let bytes = decode(text, arena)?;
    match std::str::from_utf8(bytes) {
        Ok(plain) => Ok(Value::Str(plain)),
        Err(error) => {
            // Each four characters stand for three bytes.
            let at = error.valid_up_to() / 3 * 4;
            Err(FormatError::new(text, at.min(text.len()), "base64 of UTF-8 text"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes() {
        let arena = Arena::new();
        for (text, expected) in [
            ("", Some("")),
            ("aGVsbG8=", Some("hello")),
            ("aGVsbG8", Some("hello")),
            ("aGVsbG8==", None),
            ("aGVs bG8=", None),
            ("a", None),
            ("/w==", None),
            ("_w==", None),
        ] {
            assert_eq!(parse(text, &arena).ok().and_then(Value::as_str), expected, "{text}");
        }
        assert!(is_valid("/w=="), "bytes need not be UTF-8 to be base64");
    }
}
