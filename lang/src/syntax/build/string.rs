//! Strings with their escapes and interpolations, and test literals with their continuations.

use super::super::grammar::{Pair, Rule};
use super::super::tree::{StringForm, StringLit, StringPart, Test};
use super::{Builder, only, parts, sole, take};
use crate::diagnostic::{Diagnostic, codes};
use crate::span::Span;

impl Builder {
    /// A string in any of its forms.
    pub(super) fn string(&mut self, pair: Pair) -> StringLit {
        let span = self.span(&pair);
        let inner = sole(pair);
        let form = match inner.as_rule() {
            Rule::raw_string => StringForm::Raw,
            Rule::heredoc => StringForm::Heredoc,
            _ => StringForm::Quoted,
        };
        let mut built: Vec<StringPart> = Vec::new();
        for part in parts(inner) {
            match part.as_rule() {
                Rule::interpolation => self.interpolation(part, &mut built),
                Rule::escape => {
                    let escaped = self.escape(&part);
                    push_text(&mut built, escaped.encode_utf8(&mut [0; 4]));
                }
                _ => push_text(&mut built, part.as_str()),
            }
        }
        StringLit { parts: built, form, span }
    }

    fn interpolation(&mut self, pair: Pair, built: &mut Vec<StringPart>) {
        let span = self.span(&pair);
        match parts(pair).next() {
            Some(value) => built.push(StringPart::Expr(self.expr(value))),
            None => self.report(
                Diagnostic::error(codes::EMPTY_INTERPOLATION, span, "nothing is interpolated here")
                    .with_label("empty")
                    .with_help("write an expression between the braces, or `\\#{}` for the text"),
            ),
        }
    }

    fn escape(&mut self, pair: &Pair) -> char {
        let text = pair.as_str();
        let span = self.span(pair);
        match text[1..].chars().next() {
            Some(same @ ('"' | '\\' | '#')) => same,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => self.unicode_escape(&text[2..], span),
            _ => {
                self.report(bad_escape(text, span));
                char::REPLACEMENT_CHARACTER
            }
        }
    }

    fn unicode_escape(&mut self, digits: &str, span: Span) -> char {
        let code = u32::from_str_radix(digits, 16).ok();
        code.and_then(char::from_u32).unwrap_or_else(|| {
            let help = "`\\u` takes exactly four hexadecimal digits and no surrogates; \
                        write other characters as they are";
            self.report(
                Diagnostic::error(codes::BAD_UNICODE_ESCAPE, span, "this is no character")
                    .with_label("invalid `\\u` escape")
                    .with_help(help),
            );
            char::REPLACEMENT_CHARACTER
        })
    }

    /// `name|pattern|`
    pub(super) fn test(&mut self, pair: Pair) -> Test {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let name = self.ident(&take(&mut inner));
        let pattern = self.test_literal(take(&mut inner));
        Test { name, pattern, span }
    }

    /// The segments between continuations lose their common indentation and are joined.
    fn test_literal(&mut self, pair: Pair) -> String {
        let text = pair.as_str();
        let text = &text[1..text.len() - 1];
        let mut segments = vec![String::new()];
        let mut characters = text.char_indices();
        while let Some((at, character)) = characters.next() {
            let segment = segments.last_mut().expect("it starts with one segment");
            if character != '\\' {
                segment.push(character);
                continue;
            }
            match characters.next() {
                Some((_, same @ ('|' | '\\'))) => segment.push(same),
                Some((_, '\n')) => segments.push(String::new()),
                Some((_, '\r')) if text[at + 2..].starts_with('\n') => {
                    characters.next();
                    segments.push(String::new());
                }
                other => {
                    let other = other.map_or(String::new(), |(_, c)| c.to_string());
                    let span = self.part(&pair, at + 1, at + 2 + other.len());
                    self.report(bad_test_escape(&other, span));
                }
            }
        }
        join_segments(&segments)
    }

    /// The string among the parts of a pair, if it has one.
    pub(super) fn string_in(&mut self, pair: Pair) -> Option<StringLit> {
        only(pair, Rule::string).next().map(|string| self.string(string))
    }
}

fn push_text(built: &mut Vec<StringPart>, text: &str) {
    match built.last_mut() {
        _ if text.is_empty() => {}
        Some(StringPart::Text(last)) => last.push_str(text),
        _ => built.push(StringPart::Text(text.to_string())),
    }
}

/// Blanks of every kind count as indentation, one character each.
fn join_segments(segments: &[String]) -> String {
    let indentation = |segment: &String| {
        segment.chars().take_while(|character| character.is_whitespace()).count()
    };
    let filled = segments.iter().filter(|segment| !segment.is_empty());
    let common = filled.map(indentation).min().unwrap_or(0);
    segments.iter().flat_map(|segment| segment.chars().skip(common)).collect()
}

fn bad_escape(text: &str, span: Span) -> Diagnostic {
    let message =
        format!("`{}` is no escape", text.escape_debug().to_string().replace("\\\\", "\\"));
    Diagnostic::error(codes::BAD_ESCAPE, span, message).with_label("unknown escape").with_help(
        "escapes are \\\" \\\\ \\# \\b \\f \\n \\r \\t \\uXXXX; write `\\\\` for a backslash",
    )
}

fn bad_test_escape(character: &str, span: Span) -> Diagnostic {
    let message = format!("`\\{character}` is no escape of a test literal");
    Diagnostic::error(codes::BAD_ESCAPE, span, message)
        .with_label("unknown escape")
        .with_help(format!("double the backslash: `\\\\{character}`; `\\|` is the bar itself"))
}

#[cfg(test)]
mod tests {
    use super::join_segments;

    #[test]
    fn common_indentation_of_test_literals_goes() {
        for (segments, joined) in [
            (&["  a "][..], "a "),
            (&["\t\u{a0}a"], "a"),
            (&["   "], ""),
            (&["", "  a", "   b"], "a b"),
            (&["a", "  b"], "a  b"),
            (&["\ta", "\t\tb"], "a\tb"),
            (&["", ""], ""),
        ] {
            let segments: Vec<_> = segments.iter().map(|one| (*one).to_string()).collect();
            assert_eq!(join_segments(&segments), joined, "{segments:?}");
        }
    }
}
