//! `:state`: what the steps remember, shown with the keys that the samples have, and changed.

use super::super::pipeline::Pipeline;
use super::super::samples::Samples;
use super::{Session, pipeline};
use std::collections::HashMap;
use temblor_lang::value::{Arena, Owned, Value, hash128, to_json};
use temblor_pipeline::row::Row;

/// Samples whose keys are known.
const SAMPLES_MAX: usize = 1_000;
/// Rows of a table that are shown.
const ROWS_MAX: usize = 50;

/// In front of the hash of a key that no sample has.
const HASH_MARK: char = '#';

const FORMS: &str = "error: write `:state`, `:state clear`, `:state STEP = EXPR`, \
                     `:state STEP set KEY = {\"COLUMN\": EXPR}` or `:state STEP forget KEY`";

/// `:state`, `:state clear`, `:state STEP = EXPR`, `:state STEP set KEY = EXPR`,
/// `:state STEP forget KEY`
pub(crate) fn state(session: &mut Session, text: &str) -> Result<String, String> {
    let (step, what) = split_step(session, text);
    let (verb, rest) = what.trim().split_once(char::is_whitespace).unwrap_or((what.trim(), ""));
    match (step, verb) {
        ("", _) => {}
        ("clear", "") => pipeline(&mut session.pipeline)?.restart()?,
        (step, "forget") => forget(session, step, rest)?,
        (step, "set") => set(session, step, rest)?,
        (step, "=") => {
            let new = value(session, rest)?;
            replace(session, step, &new)?;
        }
        _ => match text.split_once('=') {
            Some((step, new)) if !step.trim().contains(char::is_whitespace) => {
                let new = value(session, new)?;
                replace(session, step.trim(), &new)?;
            }
            _ => return Err(FORMS.to_string()),
        },
    }
    show(session)
}

/// The step that a text begins with, and the rest. Names of steps may hold blanks.
fn split_step<'t>(session: &Session, text: &'t str) -> (&'t str, &'t str) {
    let memories = session.pipeline.as_ref().map(|one| one.rehearsal.memories());
    let names = memories.iter().flatten().map(|(name, _)| name.as_str());
    let is_step = |name: &&str| {
        text.strip_prefix(name).is_some_and(|rest| rest.starts_with(char::is_whitespace))
    };
    match names.filter(is_step).max_by_key(|name| name.len()) {
        Some(name) => text.split_at(name.len()),
        None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
    }
}

/// The value of an expression for the current sample.
fn value(session: &mut Session, text: &str) -> Result<Owned, String> {
    let (sample, now_ns) = (session.samples.current()?, session.now_ns);
    session.with_expression(text.trim(), |evaluator, items, _| {
        let done = evaluator.run(items, &sample, now_ns)?;
        done.value.map_err(|error| evaluator.failure(&error))
    })
}

fn replace(session: &mut Session, step: &str, new: &Owned) -> Result<(), String> {
    let pipeline = pipeline(&mut session.pipeline)?;
    let arena = Arena::new();
    let name = pipeline.node_of(step)?;
    match pipeline.rehearsal.replace_memory(&name, new.read(&arena)) {
        Some(Err(error)) => Err(format!("error: {name} cannot remember that: {error}")),
        _ => Ok(()),
    }
}

/// The key of a row as it was typed: an expression, or the hash that was shown.
fn key(session: &mut Session, text: &str) -> Result<Named, String> {
    if let Some(hash) = text.trim().strip_prefix(HASH_MARK) {
        let wrong = |_| format!("error: `{text}` is no hash of a key as `:state` shows them");
        return u128::from_str_radix(hash, 16).map(Named::Hash).map_err(wrong);
    }
    value(session, text).map(Named::Key)
}

/// What a person calls a row by.
enum Named {
    Hash(u128),
    Key(Owned),
}

impl Named {
    /// The hash of the row that is meant, which need not be there yet.
    fn hash(&self, rows: &[Row<'_>], known: &HashMap<u128, String>) -> u128 {
        let arena = Arena::new();
        match self {
            Self::Hash(hash) => *hash,
            Self::Key(key) => {
                let key = key.read(&arena);
                let row = rows.iter().find(|row| row.key == Some(key)).map(|row| row.hash);
                let shown = to_json(key);
                let shown = known.iter().find(|(_, known)| **known == shown).map(|(hash, _)| *hash);
                row.or(shown).unwrap_or_else(|| hash128(key))
            }
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Hash(hash) => format!("{HASH_MARK}{hash:032x}"),
            Self::Key(key) => to_json(key.read(&Arena::new())),
        }
    }
}

fn forget(session: &mut Session, step: &str, text: &str) -> Result<(), String> {
    let named = key(session, text)?;
    let pipeline = pipeline(&mut session.pipeline)?;
    let (arena, name) = (Arena::new(), pipeline.node_of(step)?);
    let known = pipeline.known_keys(&mut session.samples)?;
    let rows = pipeline.rehearsal.rows(&name, &arena).ok_or_else(|| no_table(&name))?;
    match pipeline.rehearsal.forget(&name, named.hash(&rows, &known)) {
        true => Ok(()),
        false => Err(format!("error: {name} does not know {}", named.show())),
    }
}

/// `KEY = {"COLUMN": EXPR}`: columns that are not named stay.
fn set(session: &mut Session, step: &str, text: &str) -> Result<(), String> {
    let (named, columns) = text.split_once('=').ok_or(FORMS)?;
    let (named, columns) = (key(session, named)?, value(session, columns)?);
    let pipeline = pipeline(&mut session.pipeline)?;
    let (arena, name) = (Arena::new(), pipeline.node_of(step)?);
    let shown = pipeline.known_keys(&mut session.samples)?;
    let rows = pipeline.rehearsal.rows(&name, &arena).ok_or_else(|| no_table(&name))?;
    let (hash, columns) = (named.hash(&rows, &shown), columns.read(&arena));
    let known = rows.iter().find(|row| row.hash == hash);
    let columns = match known {
        Some(row) => row.changed(columns, &arena).map(|row| row.columns),
        None => Ok(columns),
    };
    let is_new = if known.is_none() { "; a new row needs all columns" } else { "" };
    let amended = columns
        .and_then(|columns| pipeline.rehearsal.amend(&name, hash, columns).unwrap_or(Ok(())));
    let key = named.show();
    amended.map_err(|error| format!("error: {name} cannot remember that of {key}: {error}{is_new}"))
}

fn no_table(name: &str) -> String {
    format!("error: {name} keeps no table by key; write `:state {name} = EXPR`")
}

impl Pipeline {
    /// The name of a node that remembers: by itself, or by the number of its step.
    fn node_of(&self, step: &str) -> Result<String, String> {
        let memories = self.rehearsal.memories();
        let prefix = format!("{step}. ");
        let is_it = |node: &str| node == step || self.title(node).starts_with(&prefix);
        let found = memories.iter().find(|(node, _)| is_it(node));
        found.map(|(node, _)| node.clone()).ok_or_else(|| {
            let known: Vec<_> = memories.iter().map(|(node, _)| node.as_str()).collect();
            format!(
                "error: no step that remembers is named `{step}`; there are {}",
                known.join(", ")
            )
        })
    }

    /// The keys that the samples have at the steps, by their hashes.
    fn known_keys(&self, samples: &mut Samples) -> Result<HashMap<u128, String>, String> {
        let mut keys = HashMap::new();
        let mut part = self.fresh()?;
        for index in 0..SAMPLES_MAX {
            self.setup.check()?;
            let Some(sample) = samples.read(index)? else { break };
            for visit in part.follow(&sample).1.iter().filter(|visit| visit.works) {
                let arena = Arena::new();
                let name = &self.rehearsal.graph().nodes()[visit.node].name;
                let keeps = self.rehearsal.rows(name, &arena);
                if let Some((hash, key)) = &visit.key {
                    keys.insert(*hash, to_json(key.read(&arena)));
                } else if let Some(key) = keeps.and_then(|_| self.key_at(visit)) {
                    let key = key.read(&arena);
                    keys.insert(hash128(key), to_json(key));
                }
            }
        }
        Ok(keys)
    }
}

/// What the steps remember, and how much.
fn show(session: &mut Session) -> Result<String, String> {
    let pipeline = pipeline(&mut session.pipeline)?;
    let memories = pipeline.rehearsal.memories();
    if memories.is_empty() {
        return Ok("no step remembers anything\n".to_string());
    }
    let keys = pipeline.known_keys(&mut session.samples)?;
    let usage = pipeline.rehearsal.usage();
    let arena = Arena::new();
    let mut text = String::new();
    for (node, value) in &memories {
        text.push_str(&format!("{node}  {}\n", pipeline.title(node)));
        if let Some((_, usage)) = usage.iter().find(|(name, _)| name == node) {
            let (entries, bytes, evicted) = (usage.entries, usage.bytes, usage.evicted);
            text.push_str(&format!("  {entries} entries, {bytes} bytes, {evicted} given up\n"));
        }
        match pipeline.rehearsal.rows(node, &arena) {
            Some(rows) => text.push_str(&table(&rows, &keys)),
            None if matches!(value.read(&arena), Value::Null) => {}
            None => text.push_str(&format!("  {}\n", to_json(value.read(&arena)))),
        }
    }
    Ok(text)
}

/// A line for each key; a key that no sample has is shown by its hash.
fn table(rows: &[Row<'_>], keys: &HashMap<u128, String>) -> String {
    let arena = Arena::new();
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let known = row.key.map(to_json).or_else(|| keys.get(&row.hash).cloned());
            let key = known.unwrap_or_else(|| format!("{HASH_MARK}{:032x}", row.hash));
            let columns = row.columns.as_record(&arena).into_iter().flat_map(|one| one.iter());
            let columns = columns.map(|(name, value)| format!(" {name}={}", to_json(value)));
            format!("  {key}{}\n", columns.collect::<String>())
        })
        .collect();
    lines.sort_unstable();
    let hidden = lines.len().saturating_sub(ROWS_MAX);
    lines.truncate(ROWS_MAX);
    let more = if hidden > 0 { format!("  and {hidden} more\n") } else { String::new() };
    lines.concat() + &more
}
