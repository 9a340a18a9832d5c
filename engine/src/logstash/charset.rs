//! From bytes of a stated charset to text. Bytes that are no text in it are shown as what they are.

use std::borrow::Cow;

/// How bytes are letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Charset {
    /// The usual one.
    #[default]
    Utf8,
    /// ISO 8859-1: every byte is the letter of its number.
    Latin1,
    /// Windows-1252, which has letters where ISO 8859-1 has controls.
    Windows1252,
    /// UTF-16 with the lower byte first.
    Utf16Little,
    /// UTF-16 with the higher byte first.
    Utf16Big,
}

/// Windows-1252 from 0x80 to 0x9F (<https://encoding.spec.whatwg.org/index-windows-1252.txt>).
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl Charset {
    /// The names, for people.
    pub const NAMES: &str = "UTF-8, ISO-8859-1, CP1252, UTF-16LE or UTF-16BE";

    /// The charset of this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "UTF-8" | "UTF8" | "ASCII" | "US-ASCII" | "ASCII-8BIT" | "BINARY" => Self::Utf8,
            "ISO-8859-1" | "ISO8859-1" | "LATIN1" => Self::Latin1,
            "CP1252" | "WINDOWS-1252" => Self::Windows1252,
            "UTF-16LE" => Self::Utf16Little,
            "UTF-16BE" | "UTF-16" => Self::Utf16Big,
            _ => return None,
        })
    }

    /// The text. In UTF-8 a byte that belongs to no letter is written as `\xE9`.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Self::Utf8 => match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => Cow::Owned(escaped(bytes)),
            },
            Self::Latin1 => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
            Self::Windows1252 => Cow::Owned(bytes.iter().map(|byte| windows(*byte)).collect()),
            Self::Utf16Little => Cow::Owned(wide(bytes, u16::from_le_bytes)),
            Self::Utf16Big => Cow::Owned(wide(bytes, u16::from_be_bytes)),
        }
    }
}

fn windows(byte: u8) -> char {
    match byte {
        0x80..=0x9F => WINDOWS_1252[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}

fn wide(bytes: &[u8], join: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| join([pair[0], pair[1]]));
    char::decode_utf16(units).map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn escaped(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Charset;

    #[test]
    fn reads_each_charset() {
        for (name, bytes, text) in [
            ("UTF-8", &b"caf\xc3\xa9"[..], "café"),
            ("UTF-8", b"caf\xe9", "caf\\xE9"),
            ("ISO-8859-1", b"caf\xe9", "café"),
            ("CP1252", b"\x80\x93x\x94", "€“x”"),
            ("UTF-16LE", b"a\0b\0", "ab"),
        ] {
            assert_eq!(Charset::named(name).expect("known").decode(bytes), text, "{name}");
        }
        assert_eq!(Charset::named("EBCDIC"), None);
    }
}
