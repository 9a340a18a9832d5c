//! Where a piece of source text stands. A span is a byte range of one numbered source; it never
//! outlives the [`Sources`] that gave the number.

/// Number of a source text inside [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SourceId(pub u16);

/// A byte range `start..end` of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The text that the range is of.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of `source` from byte `start` up to byte `end`.
    #[must_use]
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { source, start: clamp(start), end: clamp(end) }
    }

    /// The smallest span that covers `self` and `other` (of the same source).
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span {
            source: self.source,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The byte range, for slicing the source's text.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A line and a column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One source text with its name (a path, or a label such as `<command line>`).
#[derive(Clone, Debug)]
pub struct Source {
    /// Path or label for diagnostics.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// All texts of one compilation.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
    /// Where the lines of each text begin.
    lines: Vec<Vec<u32>>,
}

impl Sources {
    /// Adds a text and returns its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        let id = SourceId(u16::try_from(self.list.len()).unwrap_or(u16::MAX));
        let text = text.into();
        let newlines = text.bytes().zip(1_u32..).filter(|(byte, _)| *byte == b'\n');
        self.lines.push(std::iter::once(0).chain(newlines.map(|(_, next)| next)).collect());
        self.list.push(Source { name: name.into(), text });
        id
    }

    /// Paths and labels of all texts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|source| source.name.as_str())
    }

    /// The source with this number, if it is one of ours.
    #[must_use]
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.list.get(usize::from(id.0))
    }

    /// The text that a span covers; empty when the span is not of these sources.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        self.get(span.source).and_then(|source| source.text.get(span.range())).unwrap_or("")
    }

    /// Line and column of a span's start.
    #[must_use]
    pub fn position(&self, span: Span) -> Position {
        let text = self.get(span.source).map_or("", |source| source.text.as_str());
        let end = text.floor_char_boundary(span.start as usize);
        let line = self.line_of(span.source, end);
        let start = self.line_start(span.source, line).min(end);
        Position { line, column: text[start..end].chars().count() + 1 }
    }

    /// The number of the line that the last character of a span stands in.
    #[must_use]
    pub(crate) fn last_line(&self, span: Span) -> usize {
        self.line_of(span.source, (span.end.max(span.start + 1) - 1) as usize)
    }

    /// Where a line begins, and its text without its end.
    #[must_use]
    pub fn line(&self, id: SourceId, number: usize) -> (usize, &str) {
        let text = self.get(id).map_or("", |source| source.text.as_str());
        let start = self.line_start(id, number).min(text.len());
        let end = self.line_start(id, number + 1).clamp(start, text.len());
        let line = &text[start..end];
        let line = line.strip_suffix('\n').unwrap_or(line);
        (start, line.strip_suffix('\r').unwrap_or(line))
    }

    fn line_of(&self, id: SourceId, at: usize) -> usize {
        let starts = self.lines.get(usize::from(id.0)).map_or(&[][..], Vec::as_slice);
        starts.partition_point(|start| *start as usize <= at).max(1)
    }

    /// Where a line begins; past the end of the text when it has fewer lines.
    fn line_start(&self, id: SourceId, number: usize) -> usize {
        let starts = self.lines.get(usize::from(id.0)).map_or(&[][..], Vec::as_slice);
        starts.get(number - 1).map_or(usize::MAX, |start| *start as usize)
    }
}
