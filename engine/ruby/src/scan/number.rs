//! Number literals: integers in any base, floats, and exact ones such as `3r`.

use super::{Problem, Scanner, Token};

impl Scanner<'_> {
    pub(super) fn number(&mut self) -> Result<Token, Problem> {
        let rest = self.rest();
        if let Some(token) = self.in_radix()? {
            return Ok(token);
        }
        let bytes = rest.as_bytes();
        let digits = |from: usize| {
            bytes[from..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count()
        };
        let mut end = digits(0);
        let mut fraction = false;
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            fraction = true;
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
                fraction = true;
                end += 1 + sign + digits(end + 1 + sign);
            }
        }
        let text = rest[..end].replace('_', "");
        let token = if fraction {
            text.parse().ok().map(Token::Float)
        } else if text.len() > 1 && text.starts_with('0') {
            i64::from_str_radix(&text, 8).ok().map(Token::Int)
        } else {
            text.parse().ok().map(Token::Int)
        };
        let is_rational = bytes.get(end) == Some(&b'r')
            && !bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        let token = match token {
            _ if is_rational => Token::Number(format!("{text}r")),
            Some(token) => token,
            None => Token::Number(text),
        };
        self.at += end + usize::from(is_rational);
        Ok(token)
    }

    /// `0x1f`, `0b101`, `0o17`
    fn in_radix(&mut self) -> Result<Option<Token>, Problem> {
        let rest = self.rest();
        for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2), ("0o", 8)] {
            let Some(digits) = rest.strip_prefix(prefix) else { continue };
            let end = digits.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let digits = &digits[..end.unwrap_or(digits.len())];
            self.at += prefix.len() + digits.len();
            let plain = digits.replace('_', "");
            return match i64::from_str_radix(&plain, radix) {
                Ok(number) => Ok(Some(Token::Int(number))),
                Err(_) if radix == 16 && plain.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                    Ok(Some(Token::Number(format!("0x{plain}"))))
                }
                Err(_) => Err(self.problem("this is no number")),
            };
        }
        Ok(None)
    }
}
