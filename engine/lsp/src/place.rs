//! Places as editors count them: lines from 0, columns in UTF-16 code units. Every position of an
//! editor leads to some byte between two characters: one behind the end of a line to that end.

use lsp_types::{Position, Range, Uri};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use temblor_lang::span::Span;

/// Where the lines of a text begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// The lines of a text.
    #[must_use]
    pub(crate) fn of(text: &str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        Self { starts: std::iter::once(0).chain(ends.map(|end| end + 1)).collect() }
    }

    /// The position of a byte; of one inside of a character, that of the character.
    #[must_use]
    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = &text[self.starts.get(line).copied().unwrap_or(0)..offset];
        Position::new(count(line), count(before.encode_utf16().count()))
    }

    /// The byte at a position.
    #[must_use]
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize).copied() else {
            return text.len();
        };
        let line = text[start..].split('\n').next().unwrap_or("");
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut units = position.character as usize;
        for (at, character) in line.char_indices() {
            if units < character.len_utf16() {
                return start + at;
            }
            units -= character.len_utf16();
        }
        start + line.len()
    }

    /// The range of a span.
    #[must_use]
    pub(crate) fn range(&self, text: &str, span: Span) -> Range {
        let bytes = span.range();
        Range::new(self.position(text, bytes.start), self.position(text, bytes.end))
    }

    /// The line of a byte.
    #[must_use]
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The file that a URI names (RFC 8089); `None` for texts that are no files.
#[must_use]
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.as_bytes();
    while let Some((first, rest)) = left.split_first() {
        let hex = rest.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(code) => {
                bytes.push(code);
                left = &rest[2..];
            }
            None => {
                bytes.push(*first);
                left = rest;
            }
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The URI of a file.
#[must_use]
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    let mut text = String::from("file://");
    for byte in path.to_str()?.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                text.push(char::from(byte));
            }
            // Writing into a String does not fail.
            _ => drop(write!(text, "%{byte:02X}")),
        }
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_utf16_units() {
        let text = "a\u{1f600}b\r\nü\n";
        let lines = Lines::of(text);
        assert_eq!(lines.position(text, 5), Position::new(0, 3));
        assert_eq!(lines.offset(text, Position::new(0, 3)), 5);
        assert_eq!(lines.offset(text, Position::new(0, 2)), 1, "inside of a pair");
        assert_eq!(lines.offset(text, Position::new(0, 99)), 6, "in front of the line's end");
        assert_eq!(lines.offset(text, Position::new(1, 1)), 10);
        assert_eq!(lines.offset(text, Position::new(9, 0)), text.len());
        assert_eq!(lines.position(text, 9), Position::new(1, 0), "inside of a character");
        for offset in (0..text.len()).filter(|offset| text.is_char_boundary(*offset)) {
            // Between \r and \n no editor can stand.
            if offset != 7 {
                assert_eq!(lines.offset(text, lines.position(text, offset)), offset);
            }
        }
    }

    #[test]
    fn uris_and_paths_lead_to_each_other() {
        for path in ["/a/b c.tmb", "/ü/100%.tremor", "/x#y?.troy"] {
            let uri = uri_of(Path::new(path)).expect("it is a path");
            assert_eq!(path_of(&uri).expect("it is a file"), Path::new(path), "{uri:?}");
        }
        assert_eq!(path_of(&"untitled:1".parse().expect("it is a URI")), None);
    }
}
