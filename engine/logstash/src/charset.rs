//! From bytes of a stated charset to text. Bytes that are no text in it are shown as what they are.

use encoding_rs::Encoding;
use std::borrow::Cow;

/// How bytes are letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Charset {
    /// The usual one.
    #[default]
    Utf8,
    /// ISO 8859-1: every byte is the letter of its number.
    Latin1,
    /// One of the others that the Encoding Standard has (<https://encoding.spec.whatwg.org>).
    Other(&'static Encoding),
}

/// Names of Ruby that the Encoding Standard does not know, or takes for something else.
const RUBY_NAMES: [(&str, &str); 11] = [
    ("CP932", "Shift_JIS"),
    ("CP936", "GBK"),
    ("CP949", "EUC-KR"),
    ("CP950", "Big5"),
    ("CP878", "KOI8-R"),
    ("CP51932", "EUC-JP"),
    ("EUCJP", "EUC-JP"),
    ("EUCKR", "EUC-KR"),
    ("MACROMAN", "macintosh"),
    ("MACCYRILLIC", "x-mac-cyrillic"),
    ("UTF-16", "UTF-16BE"),
];

impl Charset {
    /// The names, for people.
    pub(crate) const NAMES: &str =
        "the name of a charset, such as UTF-8, ISO-8859-1, CP1252, UTF-16LE or GBK";

    /// The charset of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "UTF-8" | "UTF8" | "ASCII" | "US-ASCII" | "ASCII-8BIT" | "BINARY" => Self::Utf8,
            "ISO-8859-1" | "ISO8859-1" | "LATIN1" => Self::Latin1,
            name => {
                let known = RUBY_NAMES.iter().find(|(ruby, _)| *ruby == name);
                let label = known.map_or(name, |(_, standard)| standard);
                Self::Other(Encoding::for_label_no_replacement(label.as_bytes())?)
            }
        })
    }

    /// The text. In UTF-8 a byte that belongs to no letter is written as `\xE9`.
    pub(crate) fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Self::Utf8 => match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => Cow::Owned(escaped(bytes)),
            },
            Self::Latin1 => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
            Self::Other(encoding) => encoding.decode_without_bom_handling(bytes).0,
        }
    }
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
            ("UTF-16", b"\0a\0b", "ab"),
            ("ISO-8859-15", b"\xa4", "€"),
            ("Windows-1251", b"\xcf\xf0", "Пр"),
            ("KOI8-R", b"\xf0\xd2", "Пр"),
            ("Shift_JIS", b"\x93\xfa", "日"),
            ("CP936", b"\xc8\xd5", "日"),
            ("eucJP", b"\xc6\xfc", "日"),
            ("GB18030", b"\xc8\xd5", "日"),
            ("Big5", b"\xa4\xe9", "日"),
        ] {
            assert_eq!(Charset::named(name).expect("known").decode(bytes), text, "{name}");
        }
        assert_eq!(Charset::named("EBCDIC"), None);
    }
}
