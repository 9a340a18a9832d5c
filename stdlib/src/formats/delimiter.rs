//! Fixed texts that separate fields: their escapes and the search for them. A delimiter is never
//! empty.

use memchr::memmem::Finder;

/// A fixed text, prepared for being searched.
#[derive(Clone, Debug)]
pub struct Delimiter {
    text: Box<str>,
    /// `None` when the text is one byte, which `memchr` finds faster.
    finder: Option<Box<Finder<'static>>>,
}

impl Delimiter {
    /// Prepares the search for `text`, which must not be empty.
    #[must_use]
    pub fn new(text: &str) -> Self {
        assert!(!text.is_empty(), "a delimiter is never empty");
        let finder = (text.len() > 1).then(|| Box::new(Finder::new(text).into_owned()));
        Self { text: text.into(), finder }
    }

    /// The delimiter itself.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its length in bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a delimiter is never empty")]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// The first place in `text` where the delimiter stands.
    #[inline]
    #[must_use]
    pub fn find(&self, text: &str) -> Option<usize> {
        match &self.finder {
            None => memchr::memchr(self.text.as_bytes()[0], text.as_bytes()),
            Some(finder) => finder.find(text.as_bytes()),
        }
    }
}

/// `text` with `\n`, `\t`, `\r` and `\\` replaced by what they stand for.
///
/// # Errors
/// A sentence, when a backslash is followed by anything else.
pub fn unescape(text: &str) -> Result<String, String> {
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
    fn unescapes() {
        assert_eq!(unescape(r"a\n\t\r\\b").as_deref(), Ok("a\n\t\r\\b"));
        assert!(unescape(r"\x").is_err_and(|reason| reason.contains("no escape")));
        assert!(unescape(r"a\").is_err_and(|reason| reason.contains("lone backslash")));
    }
}
