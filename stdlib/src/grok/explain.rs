//! Says how far into a text a pattern got, and which part of the pattern stopped it.
//!
//! Invariant: explaining never changes what matches; it runs a program of its own.

use super::captures::Captures;
use super::error::GrokError;
use super::expand::{Expanded, expand};
use super::library::Library;
use super::pattern::{Options, TEXT_BYTES_MAX};
use super::reference::Reference;
use super::scan::{self, Outcome, Program};

/// Deepest chain of definitions that is opened to name a part more exactly.
const OPENINGS_MAX: usize = 8;

/// Why a text does not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Byte offset up to which the longest attempt matched.
    pub matched_prefix_end: usize,
    /// Number of the part of the pattern that could not match there, from 0.
    pub(crate) stopped_at_index: usize,
    /// The text of that part, such as `%{IP:client}`; empty when all parts matched.
    pub stopped_at_token: String,
    /// The parts of the pattern that did match, as one pattern.
    pub matched_pattern: String,
    /// What of the text was left.
    pub rest: String,
}

/// The parts of a pattern, ready to explain texts.
#[derive(Debug)]
pub(super) struct Explainer {
    tokens: Vec<String>,
    /// `None` when the pattern has constructs that only the general engines know.
    program: Option<Program>,
    groups: usize,
}

impl Explainer {
    /// Splits the pattern into parts and compiles them.
    pub(super) fn new(
        pattern: &str,
        library: &Library,
        options: &Options,
    ) -> Result<Self, GrokError> {
        let mut tokens = Vec::new();
        open(pattern, library, OPENINGS_MAX, &mut tokens);
        let mut parts = Vec::with_capacity(tokens.len());
        for token in &tokens {
            // A definition that is no complete expression by itself cannot be taken apart.
            match expand(token, library, options.syntax, options.named_captures_only) {
                Ok(expanded) => parts.push(expanded),
                Err(_) => {
                    tokens = vec![pattern.to_string()];
                    let whole =
                        expand(pattern, library, options.syntax, options.named_captures_only)?;
                    parts = vec![whole];
                    break;
                }
            }
        }
        let groups = parts.iter().map(Expanded::groups).sum();
        let parts: Vec<_> = parts.iter().map(Expanded::tree).collect();
        Ok(Self { program: scan::compile_marked(&parts), tokens, groups })
    }

    /// Explains why `text` does not match.
    pub(super) fn explain(&self, text: &str, captures: &mut Captures) -> Explanation {
        captures.reset(self.groups);
        let mut reached = (0, 0);
        if let Some(program) = self.program.as_ref().filter(|_| text.len() <= TEXT_BYTES_MAX) {
            let Captures { scratch, slots, whole, .. } = captures;
            let outcome = program.search(text, scratch, slots, whole);
            reached = scratch.furthest.unwrap_or_default();
            if outcome == Outcome::Match {
                reached = (self.tokens.len() as u32, captures.whole.1);
            }
        }
        let (index, end) = (reached.0 as usize, reached.1 as usize);
        Explanation {
            matched_prefix_end: end,
            stopped_at_index: index,
            matched_pattern: self.tokens[..index.min(self.tokens.len())].concat(),
            stopped_at_token: self.tokens.get(index).cloned().unwrap_or_default(),
            rest: text.get(end..).unwrap_or_default().to_string(),
        }
    }
}

/// Splits a pattern into parts; a part that only stands for a sequence with fields is opened.
fn open(pattern: &str, library: &Library, openings: usize, tokens: &mut Vec<String>) {
    let Some(parts) = split(pattern) else {
        tokens.push(pattern.to_string());
        return;
    };
    for part in parts {
        let reference = Reference::read(part).filter(|reference| reference.length == part.len());
        let definition = reference.and_then(|reference| match reference.alias {
            Some(_) => None,
            None => reference.definition.or_else(|| library.get(reference.name)),
        });
        match definition {
            Some(definition) if openings > 0 && has_fields(definition, library, openings) => {
                open(definition, library, openings - 1, tokens);
            }
            _ => tokens.push(part.to_string()),
        }
    }
}

/// Whether a definition can be split and has a field in one of its parts.
fn has_fields(definition: &str, library: &Library, openings: usize) -> bool {
    split(definition).is_some_and(|parts| {
        parts.into_iter().filter_map(Reference::read).any(|reference| {
            reference.alias.is_some()
                || library
                    .get(reference.name)
                    .is_some_and(|inner| openings > 1 && has_fields(inner, library, openings - 1))
        })
    })
}

/// Cuts a pattern at its outermost references; `None` when it is a choice or sets flags, which
/// reach over several parts.
fn split(pattern: &str) -> Option<Vec<&str>> {
    let bytes = pattern.as_bytes();
    let (mut parts, mut from, mut at, mut depth, mut set) = (Vec::new(), 0, 0, 0usize, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => set += 1,
            b']' if set > 0 => set -= 1,
            _ if set > 0 => {}
            b'(' => {
                let flags = bytes.get(at + 1) == Some(&b'?')
                    && bytes.get(at + 2).is_some_and(|byte| b"imxadu-".contains(byte));
                if flags {
                    return None;
                }
                depth += 1;
            }
            b')' => depth = depth.saturating_sub(1),
            b'|' if depth == 0 => return None,
            b'%' if depth == 0 => {
                if let Some(reference) = pattern.get(at..).and_then(Reference::read) {
                    let end = quantified_end(bytes, at + reference.length);
                    if from < at {
                        parts.push(&pattern[from..at]);
                    }
                    parts.push(&pattern[at..end]);
                    from = end;
                    at = end;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if from < pattern.len() {
        parts.push(&pattern[from..]);
    }
    Some(parts)
}

/// The end of the quantifiers that start at `at`.
fn quantified_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            Some(b'?' | b'*' | b'+') => at += 1,
            Some(b'{') => match bytes[at..].iter().position(|&byte| byte == b'}') {
                Some(length) => at += length + 1,
                None => return at,
            },
            _ => return at,
        }
    }
}
