//! The comments of a configuration, which its tree does not hold. Quotes and regular expressions are
//! passed over, so that what looks like a comment in them is none.

/// A comment: where it begins, and its text without the `#`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// Byte offset of the `#`.
    pub at: usize,
    /// What it says.
    pub text: String,
}

/// All comments of a text, in order.
#[must_use]
pub(crate) fn comments(text: &str) -> Vec<Comment> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'#' => {
                let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
                let words = text[at..end].trim_start_matches('#').trim();
                found.push(Comment { at, text: words.to_string() });
                at = end;
            }
            quote @ (b'"' | b'\'') => at = behind(bytes, at, quote),
            b'~' => {
                // `=~` and `!~` may be followed by a regular expression.
                at += 1;
                while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                    at += 1;
                }
                if bytes.get(at) == Some(&b'/') {
                    at = behind(bytes, at, b'/');
                }
            }
            _ => at += 1,
        }
    }
    found
}

/// Behind the quote that closes the one at `start`.
fn behind(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        if bytes[at] == quote && bytes[at - 1] != b'\\' {
            return at + 1;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::comments;

    #[test]
    fn finds_comments_outside_of_texts() {
        let text = "# a\nfilter { # b\n  x { y => \"# no\" z => '\\'# no' }\n\
                    if [a] =~ /#'\\/\"/ { } ## c\r\n}#";
        let found: Vec<_> = comments(text).into_iter().map(|one| one.text).collect();
        assert_eq!(found, ["a", "b", "c", ""]);
    }
}
