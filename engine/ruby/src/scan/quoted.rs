//! Quoted strings and regular expressions: escapes, interpolated code, and the brackets of `%w[a
//! b]`.

use super::{Piece, Problem, Scanner, Token};

/// Where code begins inside of a text.
const CODE: &str = "#{";

/// What a backslash does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    /// It begins an escape, as between `"`.
    Read,
    /// It stands before a quote or itself, as between `'`; there is no code inside.
    OfQuotes,
    /// It is left to the pattern, but for that of the delimiter.
    OfPattern,
}

impl Scanner<'_> {
    /// `%w[a b]`, `%q(a)`, `%r{a}`; false when it is the remainder.
    pub(super) fn percent(&mut self, start: usize, space: bool) -> Result<bool, Problem> {
        let rest = &self.rest()[1..];
        let mut characters = rest.chars();
        let Some(first) = characters.next() else { return Ok(false) };
        let (kind, open) = if first.is_ascii_alphabetic() {
            (first, characters.next().unwrap_or(' '))
        } else {
            ('Q', first)
        };
        if open.is_alphanumeric() || open.is_whitespace() || !"wWiIqQr".contains(kind) {
            return Ok(false);
        }
        self.at += 1 + usize::from(first.is_ascii_alphabetic()) + open.len_utf8();
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            same => same,
        };
        let nested = (open != close).then_some(open);
        let token = match kind {
            'w' | 'W' | 'i' | 'I' => {
                let is_plain = kind.is_lowercase();
                let escapes = if is_plain { Escapes::OfQuotes } else { Escapes::Read };
                let words = words(self.pieces(close, nested, escapes)?);
                Token::Words(words, matches!(kind, 'i' | 'I'))
            }
            'r' => {
                let pieces = self.pieces(close, nested, Escapes::OfPattern)?;
                self.regex(pieces)
            }
            'Q' => Token::Text(self.pieces(close, nested, Escapes::Read)?),
            _ => Token::Text(self.pieces(close, nested, Escapes::OfQuotes)?),
        };
        self.push(token, start, space);
        Ok(true)
    }

    pub(super) fn regex(&mut self, pieces: Vec<Piece>) -> Token {
        let rest = self.rest();
        let end = rest.find(|c: char| !"imxounse".contains(c)).unwrap_or(rest.len());
        let flags = rest[..end].to_string();
        self.at += end;
        Token::Regex(pieces, flags)
    }

    /// A text or a pattern up to its end.
    pub(super) fn pieces(
        &mut self,
        close: char,
        open: Option<char>,
        escapes: Escapes,
    ) -> Result<Vec<Piece>, Problem> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut depth = 0;
        loop {
            let Some(character) = self.rest().chars().next() else {
                return Err(self.problem(match escapes {
                    Escapes::OfPattern => "this pattern is never closed",
                    _ => "this text is never closed",
                }));
            };
            if escapes != Escapes::OfQuotes && self.rest().starts_with(CODE) {
                self.code(&mut pieces, &mut text)?;
                continue;
            }
            self.at += character.len_utf8();
            match (character, escapes) {
                ('\\', Escapes::Read) => self.escape(&mut text)?,
                ('\\', _) => {
                    let Some(next) = self.rest().chars().next() else { continue };
                    let is_quote = next == close || next == '\\' || Some(next) == open;
                    match escapes {
                        Escapes::OfPattern if next != '/' => text.extend(['\\', next]),
                        Escapes::OfQuotes if !is_quote => {
                            text.push('\\');
                            continue;
                        }
                        _ => text.push(next),
                    }
                    self.at += next.len_utf8();
                }
                _ if character == close && depth == 0 => break,
                _ => {
                    if Some(character) == open {
                        depth += 1;
                    } else if character == close {
                        depth -= 1;
                    }
                    text.push(character);
                }
            }
        }
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Ok(pieces.into_iter().map(with_bytes).collect())
    }

    /// `#{…}`
    fn code(&mut self, pieces: &mut Vec<Piece>, text: &mut String) -> Result<(), Problem> {
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(text)));
        }
        self.at += 2;
        let start = self.at;
        let mut depth = 0;
        let mut quote = None;
        let mut characters = self.rest().char_indices();
        while let Some((offset, character)) = characters.next() {
            match (quote, character) {
                (_, '\\') => {
                    let _ = characters.next();
                }
                (Some(open), close) if open == close => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(character),
                (None, '{') => depth += 1,
                (None, '}') if depth == 0 => {
                    let code = self.rest()[..offset].to_string();
                    self.at += offset + 1;
                    pieces.push(Piece::Code(code, self.base + start));
                    return Ok(());
                }
                (None, '}') => depth -= 1,
                _ => {}
            }
        }
        Err(self.problem("`#{` is never closed"))
    }

    pub(super) fn escape(&mut self, text: &mut String) -> Result<(), Problem> {
        let Some(next) = self.rest().chars().next() else {
            return Err(self.problem("this text is never closed"));
        };
        self.at += next.len_utf8();
        match next {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            '0'..='7' => {
                let more = self.rest().bytes().take(2).take_while(|b| (b'0'..=b'7').contains(b));
                let digits = format!("{next}{}", &self.rest()[..more.count()]);
                self.at += digits.len() - 1;
                let code = u8::from_str_radix(&digits, 8).unwrap_or(b'?');
                text.push(byte_mark(code));
            }
            'e' => text.push('\u{1b}'),
            's' => text.push(' '),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            '\n' => {}
            'u' | 'x' => {
                let rest = self.rest();
                let (digits, length) = match rest.strip_prefix('{') {
                    Some(inside) => {
                        let end = inside.find('}').unwrap_or(0);
                        (&inside[..end], end + 2)
                    }
                    None => {
                        let most = if next == 'u' { 4 } else { 2 };
                        let end = rest.bytes().take(most).take_while(u8::is_ascii_hexdigit).count();
                        (&rest[..end], end)
                    }
                };
                // `\u{61 62}` is several characters.
                for digits in digits.split(' ') {
                    let code = u32::from_str_radix(digits, 16).ok();
                    let character = match (next, code) {
                        ('x', Some(code @ 0..=255)) => Some(byte_mark(code as u8)),
                        (_, code) => code.and_then(char::from_u32),
                    };
                    text.push(character.ok_or_else(|| self.problem("this is no character"))?);
                }
                self.at += length;
            }
            other => text.push(other),
        }
        Ok(())
    }
}

/// Bytes above ASCII that escapes name are held as these private characters until their text is whole.
const BYTE_MARKS: u32 = 0x0010_FF00;

/// The character that stands for a byte: itself where it is ASCII.
fn byte_mark(byte: u8) -> char {
    match byte.is_ascii() {
        true => char::from(byte),
        false => char::from_u32(BYTE_MARKS + u32::from(byte)).unwrap_or('?'),
    }
}

/// Puts bytes that escapes named in the place of their marks: `"\xC3\xA9"` is a text, `"\xFF"` is not.
fn with_bytes(piece: Piece) -> Piece {
    let Piece::Text(text) = &piece else { return piece };
    let is_mark = |one: char| (0x0010_FF80..=0x0010_FFFF).contains(&u32::from(one));
    if !text.contains(is_mark) {
        return piece;
    }
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match is_mark(character) {
            true => bytes.push((u32::from(character) - BYTE_MARKS) as u8),
            false => bytes.extend(character.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => Piece::Text(text),
        Err(error) => Piece::Bytes(error.into_bytes()),
    }
}

/// Words between blanks; code among them belongs to the word that it touches.
fn words(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut words: Vec<Vec<Piece>> = Vec::new();
    let mut is_open = false;
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                for (at, part) in text.split(char::is_whitespace).enumerate() {
                    is_open &= at == 0;
                    if part.is_empty() {
                        continue;
                    }
                    let part = Piece::Text(part.to_string());
                    match words.last_mut() {
                        Some(word) if is_open => word.push(part),
                        _ => words.push(vec![part]),
                    }
                    is_open = true;
                }
            }
            piece => {
                match words.last_mut() {
                    Some(word) if is_open => word.push(piece),
                    _ => words.push(vec![piece]),
                }
                is_open = true;
            }
        }
    }
    words
}
