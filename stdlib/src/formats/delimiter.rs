//! Fixed texts that separate fields: their escapes and the search for them. A delimiter is never
//! empty.

use memchr::memmem::Finder;

/// A fixed text, prepared for being searched.
#[derive(Clone, Debug)]
pub(crate) struct Delimiter {
    text: Box<str>,
    /// `None` when the text is one byte, which `memchr` finds faster.
    finder: Option<Box<Finder<'static>>>,
}

impl Delimiter {
    /// Prepares the search for `text`, which must not be empty.
    #[must_use]
    pub(super) fn new(text: &str) -> Self {
        assert!(!text.is_empty(), "a delimiter is never empty");
        let finder = (text.len() > 1).then(|| Box::new(Finder::new(text).into_owned()));
        Self { text: text.into(), finder }
    }

    /// The delimiter itself.
    #[must_use]
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Its length in bytes.
    #[must_use]
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The first place in `text` where the delimiter stands.
    #[inline]
    #[must_use]
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        match &self.finder {
            None => find_byte(self.text.as_bytes()[0], text.as_bytes()),
            Some(finder) => finder.find(text.as_bytes()),
        }
    }
}

/// As `memchr`, which fields of a few bytes are too short for: two words are looked at first.
#[inline]
fn find_byte(byte: u8, text: &[u8]) -> Option<usize> {
    const WORD: usize = size_of::<u64>();
    let pattern = u64::from_le_bytes([byte; WORD]);
    let (words, _) = text.as_chunks::<WORD>();
    for (number, word) in words.iter().take(2).enumerate() {
        let hits = zero_bytes(u64::from_le_bytes(*word) ^ pattern);
        if hits != 0 {
            return Some(number * WORD + hits.trailing_zeros() as usize / 8);
        }
    }
    let seen = words.len().min(2) * WORD;
    memchr::memchr(byte, text.get(seen..)?).map(|at| seen + at)
}

/// The top bit of each byte that is zero; bytes behind the first zero may be marked wrongly. See
/// "Bit Twiddling Hacks" (S. E. Anderson), "Determine if a word has a zero byte".
#[inline]
fn zero_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    word.wrapping_sub(ONES) & !word & TOPS
}

/// `text` with `\n`, `\t`, `\r` and `\\` replaced by what they stand for.
///
/// # Errors
/// A sentence, when a backslash is followed by anything else.
pub(super) fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        plain.push(match characters.next() {
            Some('\\') => '\\',
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some(other) => {
                return Err(format!(
                    r"'\{other}' is no escape; in a delimiter there are \n, \t, \r and \\"
                ));
            }
            None => {
                return Err(r"a delimiter ends in a lone backslash; write \\ for one".into());
            }
        });
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_short_and_long() {
        assert_eq!(Delimiter::new(",").find("ab,c,"), Some(2));
        assert_eq!(Delimiter::new("::").find("a:b::c"), Some(3));
        assert_eq!(Delimiter::new("é").find("caf\u{e8}é"), Some(5));
        assert_eq!(Delimiter::new("x").find(""), None);
    }

    #[test]
    fn finds_a_byte_at_every_place() {
        let delimiter = Delimiter::new("\t");
        for length in 0..80 {
            let text = "x\u{8}\u{a}\u{89}".repeat(20).chars().take(length).collect::<String>();
            assert_eq!(delimiter.find(&text), None, "{length}");
            let longer = format!("{text}\t{text}\t");
            assert_eq!(delimiter.find(&longer), Some(text.len()), "{length}");
        }
    }

    #[test]
    fn unescapes() {
        assert_eq!(unescape(r"a\n\t\r\\b").as_deref(), Ok("a\n\t\r\\b"));
        assert!(unescape(r"\x").is_err_and(|reason| reason.contains("no escape")));
        assert!(unescape(r"a\").is_err_and(|reason| reason.contains("lone backslash")));
    }
}
