//! The blocks of a Logstash configuration, as far as braces tell them: also of one that is being written
//! and cannot be read yet. Every brace outside of texts, comments and patterns opens or closes one.

use std::ops::Range;

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// `filter { … }`
    Section,
    /// `if [a] { … }`, `else { … }`
    Branch,
    /// `mutate { … }`, `codec => json { … }`
    Plugin {
        /// Whether it is the value of an option.
        is_codec: bool,
    },
    /// `match => { … }`
    Hash,
}

/// A block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// In front of its brace: a word, or a condition from `if` on.
    pub head: Range<usize>,
    /// Behind its opening brace.
    pub inside: Range<usize>,
    /// The block around it.
    pub parent: Option<usize>,
}

/// A word or mark outside of comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub place: Range<usize>,
}

/// The kinds of tokens that matter to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// `mutate`
    Word,
    /// `=>`
    Arrow,
    /// `{`
    Open,
    /// `}`
    Close,
    /// A text, a pattern, a field, any other mark.
    Other,
}

/// The blocks of a text, and its tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    /// In the order of their beginnings.
    pub all: Vec<Block>,
    /// In the order of the text.
    pub tokens: Vec<Token>,
}

impl Blocks {
    /// Reads the blocks of a text.
    #[must_use]
    pub(crate) fn of(text: &str) -> Self {
        let tokens = tokens(text);
        let mut all: Vec<Block> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        // Where the statement begins that is being read.
        let mut statement = 0;
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Open => {
                    let parent = open.last().copied();
                    let around = parent.map(|number: usize| &all[number].kind);
                    let (kind, head) = head(text, &tokens[..at], statement, around);
                    let inside = token.place.end..text.len();
                    open.push(all.len());
                    all.push(Block { kind, head, inside, parent });
                    statement = at + 1;
                }
                TokenKind::Close => {
                    if let Some(number) = open.pop() {
                        all[number].inside.end = token.place.start;
                    }
                    statement = at + 1;
                }
                _ => {}
            }
        }
        Self { all, tokens }
    }

    /// The innermost block around a byte.
    #[must_use]
    pub(crate) fn around(&self, offset: usize) -> Option<usize> {
        let holds = |block: &Block| block.inside.start <= offset && offset <= block.inside.end;
        self.all.iter().rposition(holds)
    }

    /// The section that a block belongs to.
    #[must_use]
    pub(crate) fn section(&self, mut number: usize) -> &Block {
        while let Some(parent) = self.all[number].parent {
            number = parent;
        }
        &self.all[number]
    }
}

/// The kind and the head of a block that begins behind `before`.
fn head(
    text: &str,
    before: &[Token],
    statement: usize,
    around: Option<&BlockKind>,
) -> (BlockKind, Range<usize>) {
    let nowhere = before.last().map_or(0, |token| token.place.end);
    let nowhere = nowhere..nowhere;
    let kinds = (before.iter().rev().nth(1).map(|one| one.kind), before.last().map(|one| one.kind));
    let last = before.last().map_or(nowhere.clone(), |token| token.place.clone());
    match (kinds, around) {
        ((_, Some(TokenKind::Arrow)), _) => (BlockKind::Hash, nowhere),
        ((Some(TokenKind::Arrow), Some(TokenKind::Word)), _) => {
            (BlockKind::Plugin { is_codec: true }, last)
        }
        ((_, Some(TokenKind::Word)), None) => (BlockKind::Section, last),
        (_, None) => (BlockKind::Section, nowhere),
        (_, Some(BlockKind::Section | BlockKind::Branch)) => {
            let first = before.get(statement).map(|token| token.place.clone());
            let is_branch = |place: &Range<usize>| matches!(&text[place.clone()], "if" | "else");
            match first.filter(is_branch) {
                Some(first) => (BlockKind::Branch, first.start..last.end),
                None => (BlockKind::Plugin { is_codec: false }, last),
            }
        }
        _ => (BlockKind::Hash, nowhere),
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let after_match = tokens.last().is_some_and(|last| text[last.place.clone()].ends_with('~'));
        let (kind, length) = match first {
            one if one.is_whitespace() => {
                at += one.len_utf8();
                continue;
            }
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            '"' | '\'' => (TokenKind::Other, closed(rest, first)),
            '/' if after_match => (TokenKind::Other, closed(rest, '/')),
            '{' => (TokenKind::Open, 1),
            '}' => (TokenKind::Close, 1),
            _ if rest.starts_with("=>") => (TokenKind::Arrow, 2),
            '=' | '!' if rest[1..].starts_with('~') => (TokenKind::Other, 2),
            one if is_part(one) => {
                let end = rest.find(|one: char| !is_part(one)).unwrap_or(rest.len());
                (TokenKind::Word, end)
            }
            one => (TokenKind::Other, one.len_utf8()),
        };
        tokens.push(Token { kind, place: at..at + length });
        at += length;
    }
    tokens
}

fn is_part(one: char) -> bool {
    one.is_alphanumeric() || matches!(one, '_' | '-')
}

/// How long a text is that begins with a mark and ends with the next one that is not escaped.
fn closed(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, one) in text.char_indices().skip(1) {
        match one {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if one == mark => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let blocks = Blocks::of(text);
        let mut shown = String::new();
        for block in &blocks.all {
            let kind = match block.kind {
                BlockKind::Section => "section",
                BlockKind::Branch => "branch",
                BlockKind::Plugin { is_codec: false } => "plugin",
                BlockKind::Plugin { is_codec: true } => "codec",
                BlockKind::Hash => "hash",
            };
            shown.push_str(&format!("{kind} {};", &text[block.head.clone()]));
        }
        shown
    }

    #[test]
    fn blocks_are_told_by_their_heads() {
        for (text, expected) in [
            ("input { stdin { codec => json { } } }", "section input;plugin stdin;codec json;"),
            (
                "filter { if [a] =~ /x{2}/ { drop { } } else { mutate { add_field => { \"}\" => \"{\" } } } }",
                "section filter;branch if [a] =~ /x{2}/;plugin drop;branch else;plugin mutate;hash ;",
            ),
            ("filter { # } {\n grok { match => {", "section filter;plugin grok;hash ;"),
            ("} }{ 'é' {", "section ;plugin 'é';"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn the_innermost_block_counts() {
        let text = "filter { mutate { } } output { }";
        let blocks = Blocks::of(text);
        let around = |needle: &str| blocks.around(text.find(needle).expect("it is there"));
        assert_eq!(around("mutate").map(|one| blocks.all[one].head.clone()), Some(0..6));
        assert_eq!(around("} } out").map(|one| blocks.all[one].head.clone()), Some(9..15));
        assert_eq!(around("output"), None);
    }
}
