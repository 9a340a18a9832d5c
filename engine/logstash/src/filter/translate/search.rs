//! The entries of a dictionary, made ready for the way in which they are searched.

use super::dictionary::Entry;
use crate::filter::{Added, ruby_to_s};
use crate::pattern::Pattern;
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;

/// How keys are compared with values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matching {
    /// Whether the whole value is looked up.
    pub exact: bool,
    /// Whether keys are patterns.
    pub regex: bool,
}

/// A dictionary that can be searched.
#[derive(Debug)]
pub(super) enum Search {
    /// The whole value is a key.
    Exact(HashMap<String, Added>),
    /// The first expression that is found.
    Regex(Vec<(Pattern, Added)>),
    /// All keys inside of the value are replaced.
    Inside(Option<Pattern>, HashMap<String, String>),
}

impl Search {
    /// Of the entries, in their order. Patterns that cannot be read go to `failed`, with the reason, and are
    /// left out.
    pub(super) fn build(
        entries: &[Entry],
        matching: Matching,
        mut failed: impl FnMut(&str, &str),
    ) -> Self {
        let mut compile = |text: &str| match Pattern::compile(text) {
            Ok(pattern) => Some(pattern),
            Err(reason) => {
                failed(text, &reason);
                None
            }
        };
        let all = entries.iter();
        match matching {
            Matching { exact: true, regex: false } => Search::Exact(all.cloned().collect()),
            Matching { exact: true, regex: true } => {
                let pattern = |(key, value): &Entry| Some((compile(key)?, value.clone()));
                Search::Regex(all.filter_map(pattern).collect())
            }
            // Keys are texts here, whatever `regex` says.
            Matching { exact: false, .. } => {
                let keys: Vec<_> = entries.iter().map(|(key, _)| regex::escape(key)).collect();
                let union = if keys.is_empty() { None } else { compile(&keys.join("|")) };
                let values = all.map(|(key, value)| (key.clone(), ruby_to_s(&value.unchanging())));
                Search::Inside(union, values.collect())
            }
        }
    }

    /// What stands for `text`.
    pub(super) fn find<'a>(
        &'a self,
        text: &str,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Option<Datum<'a>> {
        match self {
            Search::Exact(entries) => entries.get(text).map(|found| found.value(event, arena, now)),
            Search::Regex(entries) => entries
                .iter()
                .find(|(pattern, _)| pattern.is_in(text))
                .map(|(_, found)| found.value(event, arena, now)),
            Search::Inside(union, entries) => {
                let union = union.as_ref()?;
                inside(text, union, entries).map(|found| Datum::Str(arena.str(&found)))
            }
        }
    }
}

/// The text with all keys replaced, if there is one in it.
fn inside(text: &str, union: &Pattern, entries: &HashMap<String, String>) -> Option<String> {
    let found = union.find_all(text).ok()?;
    let mut out = String::new();
    let mut end = 0;
    for groups in &found {
        let (from, to) = groups[0]?;
        out.push_str(&text[end..from]);
        out.push_str(entries.get(&text[from..to]).map_or("", String::as_str));
        end = to;
    }
    out.push_str(&text[end..]);
    (out != text).then_some(out)
}
