//! Strings of Ruby code, which are mutable objects shared by all who hold them.
//!
//! Invariant: bytes that are not UTF-8 are kept as they are with the name of their encoding, so
//! that nothing is lost on the way to a digest or a decoder.

use std::sync::Arc;

/// A text as the heap keeps it.
#[derive(Debug)]
pub(crate) struct Stored {
    form: Form,
    /// Whether it can no longer be changed.
    pub frozen: bool,
}

#[derive(Debug)]
enum Form {
    Whole(Content),
    /// UTF-8 that code puts more and more behind.
    Growing(String),
}

impl Stored {
    pub(crate) fn new(content: Content) -> Self {
        Self { form: Form::Whole(content), frozen: false }
    }

    /// What it holds, shared.
    pub(crate) fn content(&mut self) -> Content {
        if let Form::Growing(text) = &self.form {
            self.form = Form::Whole(Content::Plain(text.as_str().into()));
        }
        match &self.form {
            Form::Whole(content) => content.clone(),
            Form::Growing(_) => Content::default(),
        }
    }

    pub(crate) fn set(&mut self, content: Content) {
        self.form = Form::Whole(content);
    }

    /// Puts UTF-8 behind UTF-8; false where there are other bytes.
    pub(crate) fn push(&mut self, more: &str) -> bool {
        if let Form::Whole(Content::Plain(text)) = &self.form {
            let mut grown = String::with_capacity(2 * (text.len() + more.len()));
            grown.push_str(text);
            self.form = Form::Growing(grown);
        }
        match &mut self.form {
            Form::Growing(text) => {
                text.push_str(more);
                true
            }
            Form::Whole(_) => false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.form {
            Form::Whole(content) => content.bytes().len(),
            Form::Growing(text) => text.len(),
        }
    }

    /// Whether bytes are in it that no text stands for.
    pub(crate) fn is_bytes(&self) -> bool {
        matches!(self.form, Form::Whole(Content::Bytes(..)))
    }
}

/// What a text holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// UTF-8
    Plain(Arc<str>),
    /// Bytes of another encoding, or wrong ones.
    Bytes(Arc<[u8]>, Encoding),
}

/// How bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// `ASCII-8BIT`
    Binary,
    /// `UTF-8` with bytes that are none.
    Utf8,
    /// `US-ASCII`
    Ascii,
    /// `ISO-8859-1`, `Windows-1252`
    Latin1,
    /// `UTF-16LE`
    Utf16Little,
    /// `UTF-16BE`
    Utf16Big,
}

impl Encoding {
    /// The encoding that a name means.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().replace('_', "-").as_str() {
            "ASCII-8BIT" | "BINARY" => Encoding::Binary,
            "UTF-8" => Encoding::Utf8,
            "US-ASCII" | "ASCII" => Encoding::Ascii,
            "ISO-8859-1" | "ISO8859-1" | "LATIN1" | "WINDOWS-1252" | "CP1252" => Encoding::Latin1,
            "UTF-16LE" => Encoding::Utf16Little,
            "UTF-16BE" | "UTF-16" => Encoding::Utf16Big,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Encoding::Binary => "ASCII-8BIT",
            Encoding::Utf8 => "UTF-8",
            Encoding::Ascii => "US-ASCII",
            Encoding::Latin1 => "ISO-8859-1",
            Encoding::Utf16Little => "UTF-16LE",
            Encoding::Utf16Big => "UTF-16BE",
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Content::Plain("".into())
    }
}

impl Content {
    /// Bytes in an encoding; UTF-8 where that is the same.
    pub(crate) fn of(bytes: &[u8], encoding: Encoding) -> Self {
        let plain = match encoding {
            Encoding::Utf8 => std::str::from_utf8(bytes).ok(),
            Encoding::Utf16Little | Encoding::Utf16Big => None,
            Encoding::Binary | Encoding::Latin1 | Encoding::Ascii => {
                std::str::from_utf8(bytes).ok().filter(|text| text.is_ascii())
            }
        };
        match plain {
            Some(text) => Content::Plain(text.into()),
            None => Content::Bytes(bytes.into(), encoding),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Content::Plain(text) => text.as_bytes(),
            Content::Bytes(bytes, _) => bytes,
        }
    }

    /// As Java reads it: bytes without an encoding are Latin 1, wrong ones are replaced.
    pub(crate) fn read(&self) -> Arc<str> {
        match self {
            Content::Plain(text) => text.clone(),
            Content::Bytes(bytes, encoding) => decoded(bytes, *encoding).into(),
        }
    }
}

/// Bytes as text; what is wrong becomes U+FFFD.
pub(crate) fn decoded(bytes: &[u8], encoding: Encoding) -> String {
    let wide = |join: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| join([pair[0], pair[1]]));
        let text: String = char::decode_utf16(units).map(|one| one.unwrap_or('\u{fffd}')).collect();
        text
    };
    match encoding {
        Encoding::Binary | Encoding::Latin1 | Encoding::Ascii => {
            bytes.iter().copied().map(char::from).collect()
        }
        Encoding::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
        Encoding::Utf16Little => wide(u16::from_le_bytes),
        Encoding::Utf16Big => wide(u16::from_be_bytes),
    }
}

/// Text as bytes; nothing where the encoding has no place for one of its characters.
pub(crate) fn encoded(text: &str, encoding: Encoding) -> Option<Vec<u8>> {
    match encoding {
        Encoding::Utf8 => Some(text.as_bytes().to_vec()),
        Encoding::Binary | Encoding::Ascii => text.is_ascii().then(|| text.as_bytes().to_vec()),
        Encoding::Latin1 => text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect(),
        Encoding::Utf16Little => Some(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        Encoding::Utf16Big => Some(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
    }
}
