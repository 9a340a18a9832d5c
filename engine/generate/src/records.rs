//! Cuts files into lines and rows, whatever their line ends are.
//!
//! Invariant: every text has records; a row that is no good CSV is read as Python's `csv` module reads it,
//! never refused.

/// The lines of a text: they end with `\n`, `\r\n` or `\r`, mixed as they come.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
    std::iter::from_fn(move || {
        let text = rest.filter(|text| !text.is_empty())?;
        let Some(at) = memchr::memchr2(b'\n', b'\r', text) else {
            rest = None;
            return Some(text);
        };
        let is_pair = text[at] == b'\r' && text.get(at + 1) == Some(&b'\n');
        rest = Some(&text[at + 1 + usize::from(is_pair)..]);
        Some(&text[..at])
    })
}

/// The text with `\n` at the end of each of its lines.
#[must_use]
pub(crate) fn with_plain_ends(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    for line in lines(text) {
        plain.extend_from_slice(line);
        plain.push(b'\n');
    }
    if !text.ends_with(b"\n") && !text.ends_with(b"\r") {
        plain.pop();
    }
    plain
}

/// Where the reader of CSV stands in a row.
#[derive(Clone, Copy, PartialEq)]
enum At {
    CellStart,
    Bare,
    Quoted,
    /// Behind a quotation mark inside of a quoted cell: its end, or the first of two.
    Mark,
}

/// The rows of a CSV text; empty lines are none.
#[must_use]
pub(crate) fn csv(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let text = with_plain_ends(text);
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = At::CellStart;
    for byte in text.iter().copied().chain((!text.ends_with(b"\n")).then_some(b'\n')) {
        at = match (at, byte) {
            (At::Quoted, b'"') => At::Mark,
            (At::Quoted, other) => {
                cell.push(other);
                At::Quoted
            }
            (At::Mark, b'"') => {
                cell.push(b'"');
                At::Quoted
            }
            (At::CellStart, b'"') => At::Quoted,
            (_, b',') => {
                row.push(std::mem::take(&mut cell));
                At::CellStart
            }
            (_, b'\n') => {
                row.push(std::mem::take(&mut cell));
                let row = std::mem::take(&mut row);
                if row.len() > 1 || !row[0].is_empty() {
                    rows.push(row);
                }
                At::CellStart
            }
            (_, other) => {
                cell.push(other);
                At::Bare
            }
        };
    }
    if at == At::Quoted {
        // The last quotation was never closed: what it swallowed is one cell.
        cell.pop();
        row.push(cell);
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(rows: Vec<Vec<Vec<u8>>>) -> Vec<Vec<String>> {
        let text = |cell: Vec<u8>| String::from_utf8(cell).unwrap();
        rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
    }

    #[test]
    fn all_line_ends_are_ends() {
        let all: Vec<_> = lines(b"\xef\xbb\xbfa\nb\r\nc\rd\n\re").collect();
        assert_eq!(all, [&b"a"[..], b"b", b"c", b"d", b"", b"e"]);
        assert_eq!(with_plain_ends(b"a\r\rb\r\n"), b"a\n\nb\n");
        assert_eq!(with_plain_ends(b"a"), b"a");
        assert_eq!(lines(b"").count(), 0);
    }

    #[test]
    fn rows_are_read_as_python_reads_them() {
        let rows = csv(b"a,\"b, \"\"c\"\"\nd\"\r\n\r\n\"x\" y,z\"q\"\n,\n");
        let expected = [vec!["a", "b, \"c\"\nd"], vec!["x y", "z\"q\""], vec!["", ""]];
        assert_eq!(texts(rows), expected);
        assert_eq!(texts(csv(b"a,\"open\nb")), [["a", "open\nb"]]);
    }
}
