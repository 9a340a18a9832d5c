//! `:state`: what the steps remember, shown with the keys that the samples have, and changed.

use super::super::pipeline::Pipeline;
use super::super::samples::Samples;
use super::{Session, pipeline};
use std::collections::HashMap;
use temblor_lang::value::{Arena, Owned, Value, hash128, to_json};

/// Samples whose keys are known.
const SAMPLES_MAX: usize = 1_000;
/// Rows of a table that are shown.
const ROWS_MAX: usize = 50;

/// `:state`, `:state clear`, `:state STEP forget EXPR`, `:state STEP = EXPR`
pub fn state(session: &mut Session, text: &str) -> Result<String, String> {
    if text == "clear" {
        pipeline(&mut session.pipeline)?.restart()?;
    } else if let Some((step, key)) = text.split_once(" forget ") {
        let key = value(session, key)?;
        forget(session, step.trim(), &key)?;
    } else if let Some((step, new)) = text.split_once('=') {
        let new = value(session, new)?;
        replace(session, step.trim(), &new)?;
    } else if !text.is_empty() {
        return Err("error: write `:state`, `:state clear`, `:state STEP forget KEY` or `:state STEP = EXPR`"
            .to_string());
    }
    show(session)
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

fn forget(session: &mut Session, step: &str, key: &Owned) -> Result<(), String> {
    let pipeline = pipeline(&mut session.pipeline)?;
    let arena = Arena::new();
    let (name, key) = (pipeline.node_of(step)?, key.read(&arena));
    if pipeline.rehearsal.rows(&name).is_none() {
        return Err(format!("error: {name} keeps no table by key; write `:state {name} = EXPR`"));
    }
    match pipeline.rehearsal.forget(&name, hash128(key)) {
        true => Ok(()),
        false => Err(format!("error: {name} does not know {}", to_json(key))),
    }
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
                let keeps = self.rehearsal.rows(&self.rehearsal.graph().nodes()[visit.node].name);
                if let Some(key) = keeps.and_then(|_| self.key_at(visit)) {
                    let arena = Arena::new();
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
        match pipeline.rehearsal.rows(node) {
            Some(rows) => text.push_str(&table(&rows, &keys)),
            None if matches!(value.read(&arena), Value::Null) => {}
            None => text.push_str(&format!("  {}\n", to_json(value.read(&arena)))),
        }
    }
    Ok(text)
}

/// A line for each key; a key that no sample has is shown by its hash.
fn table(rows: &[crate::operator::Row], keys: &HashMap<u128, String>) -> String {
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let key = keys.get(&row.hash).cloned().unwrap_or_else(|| format!("#{:032x}", row.hash));
            let columns = row.columns.iter().map(|(name, value)| format!(" {name}={value}"));
            format!("  {key}{}\n", columns.collect::<String>())
        })
        .collect();
    lines.sort_unstable();
    let hidden = lines.len().saturating_sub(ROWS_MAX);
    lines.truncate(ROWS_MAX);
    let more = if hidden > 0 { format!("  and {hidden} more\n") } else { String::new() };
    lines.concat() + &more
}
