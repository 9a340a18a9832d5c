//! The stable codes of diagnostics, and the page that explains each. A code is never used for a
//! second matter.

mod compile;
mod configurations;
mod daemons;
mod graph;
mod operators;
mod running;
mod syntax;
mod warnings;

/// What `temblor explain` prints about a code.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The code.
    pub code: &'static str,
    /// What it is about, a few words.
    pub title: &'static str,
    /// Why it is so and what to do, one paragraph.
    pub text: &'static str,
    /// A text that gets this code.
    pub wrong: &'static str,
    /// The same text as it should be.
    pub right: &'static str,
}

/// The pages of each stage.
const PAGES: [&[Page]; 8] = [
    syntax::PAGES,
    compile::PAGES,
    running::PAGES,
    graph::PAGES,
    operators::PAGES,
    warnings::PAGES,
    configurations::PAGES,
    daemons::PAGES,
];

/// All pages, by stage and code.
pub fn pages() -> impl Iterator<Item = &'static Page> {
    PAGES.into_iter().flatten()
}

/// The page about a code, in any case of letters.
#[must_use]
pub fn page(code: &str) -> Option<&'static Page> {
    pages().find(|page| page.code.eq_ignore_ascii_case(code))
}

impl std::fmt::Display for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let indented = |text: &str| format!("    {}", text.replace('\n', "\n    "));
        writeln!(f, "{}: {}\n\n{}\n", self.code, self.title, self.text)?;
        writeln!(f, "Wrong:\n\n{}\n", indented(self.wrong))?;
        writeln!(f, "Right:\n\n{}", indented(self.right))
    }
}

/// A literal that is not closed before the end of its line or of the text.
pub(crate) const UNTERMINATED: &str = "E0101";
/// `"\x"`, or a backslash in a test literal that escapes nothing.
pub(crate) const BAD_ESCAPE: &str = "E0102";
/// `"\uD800"`
pub(crate) const BAD_UNICODE_ESCAPE: &str = "E0103";
/// An integer that does not fit 64 bits.
pub(crate) const INVALID_INTEGER: &str = "E0104";
/// `12q`, `1e5`, `1..2`
pub(crate) const INVALID_NUMBER: &str = "E0105";
/// `"#{}"`
pub(crate) const EMPTY_INTERPOLATION: &str = "E0106";
/// `"""text`
pub(crate) const HEREDOC_OPENING: &str = "E0107";
/// A character that starts no token.
pub(crate) const UNEXPECTED_CHARACTER: &str = "E0108";
/// A text that does not follow the grammar.
pub(crate) const UNEXPECTED: &str = "E0201";
/// Nested deeper than the limit.
pub(crate) const TOO_DEEP: &str = "E0202";
/// A call or a literal where only a path can stand.
pub(crate) const PATH_EXPECTED: &str = "E0203";
/// `if (a, b) then …`
pub(crate) const IF_CONDITION: &str = "E0204";
/// The size of a part of a bytes literal.
pub(crate) const BYTES_SIZE: &str = "E0205";
/// The type of a part of a bytes literal.
pub(crate) const BYTES_KIND: &str = "E0206";
/// `script from in`
pub(crate) const RESERVED_PORT: &str = "E0207";
/// Two scripts for one port, or a port named twice.
pub(crate) const DUPLICATE_PORT: &str = "E0208";
/// `connect /connector/a to /connector/b`
pub(crate) const CONNECTOR_TO_CONNECTOR: &str = "E0209";
/// A form or bracket that the text ends in.
pub(crate) const MISSING_END: &str = "E0210";
/// `fn f(a, ...) of case (1) => …`
pub(crate) const VARARGS_WITH_CASES: &str = "E0211";
/// `case _ => a, b` in an immutable match.
pub(crate) const DISCARDED_EXPRESSION: &str = "W0620";
