//! Reads one `%{NAME:field=definition}`.
//!
//! Invariant: a text that is no reference is left to the regular expression, as Logstash does.

/// A reference as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference<'a> {
    /// The pattern's name.
    pub name: &'a str,
    /// The field and perhaps the type, `field:int`.
    pub alias: Option<&'a str>,
    /// A definition given on the spot.
    pub definition: Option<&'a str>,
    /// Length of the whole reference, in bytes.
    pub length: usize,
}

impl<'a> Reference<'a> {
    /// Reads the reference that `text` starts with.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let inner = text.strip_prefix("%{")?;
        let name_length = prefix_length(inner, is_name_byte);
        if name_length == 0 {
            return None;
        }
        let (name, mut rest) = inner.split_at(name_length);
        let mut alias = None;
        if let Some(after) = rest.strip_prefix(':') {
            let length = prefix_length(after, is_alias_byte);
            if length > 0 {
                alias = Some(&after[..length]);
                rest = &after[length..];
            }
        }
        let mut definition = None;
        if let Some(after) = rest.strip_prefix('=') {
            let length = closing_brace(after)?;
            definition = Some(&after[..length]);
            rest = &after[length..];
        }
        let close = rest.find('}')?;
        let length = text.len() - rest.len() + close + 1;
        Some(Self { name, alias, definition, length })
    }
}

fn prefix_length(text: &str, accept: fn(u8) -> bool) -> usize {
    text.bytes().take_while(|&byte| accept(byte)).count()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn is_alias_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'@' | b'[' | b']')
}

/// Length up to the brace that closes the reference; braces inside pair up, `\}` does not count.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(index),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}
