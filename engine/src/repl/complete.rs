//! What can follow a beginning: commands, functions, aggregates, steps, words of the language, and
//! the fields of the current sample.

use super::Session;
use super::command::COMMANDS;
use temblor_lang::syntax::RESERVED;
use temblor_lang::value::Arena;

/// Everything that a word can be completed to.
impl Session {
    /// The names that are known now, each as it is typed.
    pub fn vocabulary(&mut self) -> Vec<String> {
        let registry = temblor_stdlib::registry();
        let short = |path: &str| path.strip_prefix("std::").unwrap_or(path).to_string();
        let mut words: Vec<String> =
            COMMANDS.iter().map(|command| format!(":{}", command.name)).collect();
        words.extend(registry.function_paths().into_iter().map(short));
        words.extend(registry.aggregate_paths().into_iter().map(str::to_string));
        words.extend(crate::operators::kinds().filter_map(|kind| kind.word).map(str::to_string));
        words.extend(RESERVED.iter().map(ToString::to_string));
        words.extend(self.fields());
        words.sort_unstable();
        words.dedup();
        words
    }

    /// `event.a`, `event.a.b` … of the current sample.
    fn fields(&mut self) -> Vec<String> {
        /// Fields nested deeper are typed too seldom.
        const DEPTH_MAX: usize = 3;
        let Ok(sample) = self.samples.current() else { return Vec::new() };
        let (arena, event) = (Arena::new(), sample.event());
        let mut found = Vec::new();
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
        found
    }
}

/// Where the word before `at` begins, and the words of the (sorted) vocabulary that it can become.
#[must_use]
pub fn candidates<'v>(vocabulary: &'v [String], line: &str, at: usize) -> (usize, Vec<&'v str>) {
    let before = line.get(..at).unwrap_or(line);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '`');
    let start = before
        .rfind(|c: char| !is_part(c))
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let word = &before[start..];
    if word.is_empty() {
        return (start, Vec::new());
    }
    let fitting = vocabulary.iter().filter(|known| known.starts_with(word) && *known != word);
    (start, fitting.map(String::as_str).collect())
}
