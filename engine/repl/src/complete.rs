//! What can follow a beginning: commands, functions, aggregates, steps, words of the language, ports,
//! the fields of the samples; behind `%{` grok patterns, and files behind the commands that take one.

use super::Session;
use super::commands::COMMANDS;
use std::path::Path;
use temblor_codec::names::CODECS;
use temblor_declare::shared::{QUEUE, READING, STREAM, WRITING};
use temblor_declare::{Notation, Setting};
use temblor_lang::syntax::RESERVED;
use temblor_lang::value::Arena;
use temblor_stdlib::grok::Library;

/// Samples whose fields are known, from the first on.
const SAMPLES_SEEN: usize = 50;
/// Fields nested deeper are typed too seldom.
const DEPTH_MAX: usize = 3;
/// Names that are offered at once.
const OFFERED_MAX: usize = 500;
/// Commands whose argument is a file.
const TAKE_FILES: [&str; 6] = [":load", ":watch", ":source", ":edit", ":compare", ":save session"];

impl Session {
    /// The names that are known now, each as it is typed, sorted.
    pub(crate) fn vocabulary(&mut self) -> Vec<String> {
        let registry = temblor_stdlib::registry();
        let short = |path: &str| path.strip_prefix("std::").unwrap_or(path).to_string();
        let mut words: Vec<String> =
            COMMANDS.iter().map(|command| format!(":{}", command.name)).collect();
        words.extend(registry.function_paths().into_iter().map(short));
        words.extend(registry.aggregate_paths().into_iter().map(str::to_string));
        words.extend(declared());
        words.extend(RESERVED.iter().map(ToString::to_string));
        words.extend(self.kept.iter().flat_map(|kept| kept.defines.clone()));
        words.extend(["out", "err", "in"].map(str::to_string));
        if let Some(pipeline) = &self.pipeline {
            words.extend(pipeline.ports().iter().cloned());
        }
        words.extend(self.fields());
        words.sort_unstable();
        words.dedup();
        words
    }

    /// `event.a`, `event.a.b` … of the current sample and of the first ones.
    fn fields(&mut self) -> Vec<String> {
        let mut samples = self.first_samples(SAMPLES_SEEN).unwrap_or_default();
        samples.extend(self.samples.current());
        let mut found = Vec::new();
        for sample in samples {
            let (arena, event) = (Arena::new(), sample.event());
            let mut open = vec![("event".to_string(), event.read(&arena), 0)];
            while let Some((path, value, depth)) = open.pop() {
                let Some(record) = value.as_record(&arena).filter(|_| depth < DEPTH_MAX) else {
                    continue;
                };
                for (key, value) in record.iter() {
                    let is_name = key.chars().all(|c| c.is_alphanumeric() || c == '_');
                    let key = if is_name { key.to_string() } else { format!("`{key}`") };
                    let inner = format!("{path}.{key}");
                    found.push(inner.clone());
                    open.push((inner, value, depth + 1));
                }
            }
        }
        found
    }
}

/// Operators, the words of their steps, connectors, codecs and what can be set of all of them.
fn declared() -> impl Iterator<Item = String> {
    let registry = temblor_catalog::registry();
    let word = |row: &Setting| row.word().unwrap_or(row.name);
    let operators = registry.operators().filter_map(|kind| kind.word);
    let steps = registry.operators().filter(|kind| kind.word.is_some());
    let of_steps = steps.flat_map(move |kind| kind.settings.iter().map(word));
    let connectors = || registry.connectors().filter(|row| row.notation == Notation::Temblor);
    let ours = connectors().flat_map(|row| row.source.iter().chain(row.sink));
    let shared = [READING, WRITING, STREAM, QUEUE].into_iter().flatten();
    let of_connectors = ours.chain(shared).filter(|row| !row.takes.is_hidden());
    operators
        .chain(of_steps)
        .chain(connectors().map(|row| row.kind))
        .chain(of_connectors.map(|row| row.name))
        .chain(CODECS.iter().map(|row| row.name))
        .map(str::to_string)
}

/// Where the word before `at` begins, and what it can become; `vocabulary` is sorted.
#[must_use]
pub(crate) fn candidates(vocabulary: &[String], line: &str, at: usize) -> (usize, Vec<String>) {
    let before = line.get(..at).unwrap_or(line);
    if let Some(found) = patterns(before).or_else(|| files(before)) {
        return found;
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '`');
    let start = before
        .rfind(|c: char| !is_part(c))
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let word = &before[start..];
    if word.is_empty() {
        return (start, Vec::new());
    }
    let fitting = vocabulary.iter().filter(|known| known.starts_with(word) && *known != word);
    (start, fitting.take(OFFERED_MAX).cloned().collect())
}

/// Names of grok patterns behind `%{`.
fn patterns(before: &str) -> Option<(usize, Vec<String>)> {
    let start = before.rfind("%{")? + 2;
    let word = before[start..].to_string();
    // In lower case it is a record pattern, or a field of dissect.
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if word.is_empty() || !word.chars().all(is_name) {
        return None;
    }
    let library = Library::legacy();
    let names = library.names().into_iter().filter(|name| name.starts_with(&word));
    Some((start, names.take(OFFERED_MAX).map(str::to_string).collect()))
}

/// Files behind a command that takes one; directories end in `/`.
fn files(before: &str) -> Option<(usize, Vec<String>)> {
    TAKE_FILES
        .iter()
        .find(|command| before.strip_prefix(**command).is_some_and(|rest| rest.starts_with(' ')))?;
    let start = before.rfind(' ')? + 1;
    let typed = &before[start..];
    let (folder, name) = match typed.rfind('/') {
        Some(slash) => typed.split_at(slash + 1),
        None => ("", typed),
    };
    let listed =
        std::fs::read_dir(if folder.is_empty() { Path::new(".") } else { Path::new(folder) });
    let mut found: Vec<String> = listed
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let is_hidden = file.starts_with('.') && !name.starts_with('.');
            let slash = if entry.path().is_dir() { "/" } else { "" };
            (file.starts_with(name) && !is_hidden).then(|| format!("{folder}{file}{slash}"))
        })
        .collect();
    found.sort_unstable();
    found.truncate(OFFERED_MAX);
    Some((start, found))
}
