//! Texts changed: case, blanks, pieces, replacements. What is no text stays as it is.

use super::super::{Turn, ruby_to_s};
use crate::pattern::Pattern;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::template::Template;
use temblor_ruby::plain::{capitalize, replace_all};

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
                match replace_all(pattern, text, &found, replacement, arena.bytes_left()) {
                    Some(changed) => arena.str(&changed),
                    None => {
                        // It has no room: the event's way ends.
                        let _ = arena.charge(usize::MAX);
                        text
                    }
                }
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
