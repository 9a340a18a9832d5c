//! Texts changed: case, blanks, pieces, replacements. What is no text stays as it is.

use super::super::{Turn, ruby_to_s};
use crate::datum::Datum;
use crate::event::LogEvent;
use crate::pattern::{Groups, Pattern};
use crate::template::Template;
use temblor_lang::value::Arena;

/// Which case.
#[derive(Clone, Copy, Debug)]
pub(super) enum Case {
    Upper,
    Lower,
    Capital,
}

impl Case {
    pub(super) fn apply<'a>(self, text: &'a str, arena: &'a Arena) -> &'a str {
        arena.str(&match self {
            Case::Upper => text.to_uppercase(),
            Case::Lower => text.to_lowercase(),
            Case::Capital => capitalize(text),
        })
    }
}

/// The first letter in upper case, all others in lower case.
pub(crate) fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => {
            first.to_uppercase().chain(characters.as_str().to_lowercase().chars()).collect()
        }
        None => String::new(),
    }
}

/// Without the blanks, and the zeros at the end, that Ruby strips.
pub(crate) fn strip(text: &str) -> &str {
    let blank = |character: char| matches!(character, '\t'..='\r' | ' ');
    text.trim_start_matches(|c| blank(c) || c == '\0').trim_end_matches(|c| blank(c) || c == '\0')
}

/// Changes a text, or the texts in a list.
pub(super) fn each_text<'a>(value: &mut Datum<'a>, change: impl Fn(&'a str) -> &'a str) {
    match value {
        Datum::Str(text) => *text = change(text),
        Datum::List(items) => {
            for item in items {
                if let Datum::Str(text) = item {
                    *text = change(text);
                }
            }
        }
        _ => {}
    }
}

/// Ruby's split by a text: empty pieces at the end are dropped, a blank stands for any blanks.
pub(crate) fn split<'a>(text: &'a str, separator: &str) -> Vec<Datum<'a>> {
    let mut pieces: Vec<&str> = match separator {
        " " => text.split_ascii_whitespace().collect(),
        "" => text.split("").filter(|piece| !piece.is_empty()).collect(),
        separator => text.split(separator).collect(),
    };
    while pieces.last().is_some_and(|piece| piece.is_empty()) {
        pieces.pop();
    }
    pieces.into_iter().map(Datum::Str).collect()
}

/// The texts of a list and of the lists in it.
pub(super) fn join(items: &[Datum<'_>], separator: &str) -> String {
    let text = |item: &Datum<'_>| match item {
        Datum::List(inner) => join(inner, separator),
        other => ruby_to_s(other),
    };
    items.iter().map(text).collect::<Vec<_>>().join(separator)
}

/// A regular expression and what stands in its place.
#[derive(Debug)]
pub(super) struct Substitution {
    needle: Needle,
    replacement: Template,
}

#[derive(Debug)]
enum Needle {
    Fixed(Pattern),
    /// Depends on the event.
    Open(Template),
}

impl Substitution {
    pub(super) fn compile(needle: &str, replacement: &str) -> Result<Self, String> {
        let template = Template::parse(needle);
        let needle = if template.is_constant() {
            Needle::Fixed(Pattern::compile(needle)?)
        } else {
            Needle::Open(template)
        };
        Ok(Self { needle, replacement: Template::parse(replacement) })
    }

    /// The changed value, or none when it is no text; nothing at all when the needle is no
    /// regular expression.
    pub(super) fn run<'a>(
        &'a self,
        value: &Datum<'a>,
        event: &LogEvent<'a>,
        turn: &Turn<'a, '_>,
    ) -> Option<Option<Datum<'a>>> {
        let (arena, now) = (turn.arena, turn.now);
        let compiled;
        let pattern = match &self.needle {
            Needle::Fixed(pattern) => pattern,
            Needle::Open(template) => {
                compiled = Pattern::compile(template.render(event, arena, now)).ok()?;
                &compiled
            }
        };
        let replacement = self.replacement.render(event, arena, now);
        let replace = |text: &'a str| match pattern.find_all(text) {
            Ok(found) if !found.is_empty() => {
                arena.str(&replace_all(pattern, text, &found, replacement))
            }
            _ => text,
        };
        Some(match value {
            Datum::Str(text) => Some(Datum::Str(replace(text))),
            Datum::List(items) => Some(Datum::List(
                items
                    .iter()
                    .map(|item| match item {
                        Datum::Str(text) => Datum::Str(replace(text)),
                        other => other.clone(),
                    })
                    .collect(),
            )),
            _ => None,
        })
    }
}

/// Ruby's gsub with a text as replacement.
pub(crate) fn replace_all(
    pattern: &Pattern,
    text: &str,
    found: &[Groups],
    replacement: &str,
) -> String {
    let names = if replacement.contains("\\k<") { pattern.names() } else { Vec::new() };
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for groups in found {
        let (from, to) = groups[0].expect("a match has a place");
        out.push_str(&text[end..from]);
        push_replacement(&mut out, text, groups, &names, replacement);
        end = to;
    }
    out.push_str(&text[end..]);
    out
}

/// `\1` is the first group, `\k<a>` that of a name, `\0` and `\&` the whole match, ``\` `` and `\'`
/// what stands before and behind it, `\\` a backslash.
fn push_replacement(
    out: &mut String,
    text: &str,
    groups: &Groups,
    names: &[(String, usize)],
    replacement: &str,
) {
    let mut rest = replacement;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let Some(next) = after.chars().next() else {
            out.push('\\');
            return;
        };
        let mut length = next.len_utf8();
        let part = |group: usize| groups.get(group).copied().flatten();
        let span = match next {
            '0'..='9' => Some(part(next as usize - '0' as usize)),
            '&' => Some(part(0)),
            '`' => Some(part(0).map(|(from, _)| (0, from))),
            '\'' => Some(part(0).map(|(_, to)| (to, text.len()))),
            'k' => after[1..].strip_prefix('<').and_then(|inner| inner.split_once('>')).and_then(
                |(name, _)| {
                    length = name.len() + 3;
                    names.iter().find(|(known, _)| known == name).map(|(_, group)| part(*group))
                },
            ),
            _ => None,
        };
        match (span, next) {
            (Some(span), _) => out.push_str(span.map_or("", |(from, to)| &text[from..to])),
            (None, '\\') => out.push('\\'),
            (None, _) => {
                out.push('\\');
                out.push_str(&after[..length]);
            }
        }
        rest = &after[length..];
    }
    out.push_str(rest);
}
