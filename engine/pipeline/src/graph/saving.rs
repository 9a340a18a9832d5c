//! What all nodes of a graph remember as one value, and back. A node is known by its name; a select,
//! which has none, by its text, so that a select that was changed is another one.

use super::{Graph, Node, States};
use temblor_lang::span::Sources;
use temblor_lang::value::{Arena, Value};
use xxhash_rust::xxh3::xxh3_64;

/// The name that the builder gives to selects, without their number.
const UNNAMED: &str = "select ";

impl Graph {
    /// The states of all nodes that remember something.
    #[must_use]
    pub fn save<'a>(&self, states: &States, sources: &Sources, arena: &'a Arena) -> Value<'a> {
        let mut record = arena.record_builder(self.nodes.len());
        let mut keys = self.keys(sources).into_iter();
        for (node, operator) in self.operators().filter(|(_, one)| one.is_stateful()) {
            let key = keys.next().expect("there is a key for each of these nodes");
            record.append(arena.str(&key), operator.save(states.0[node].as_ref(), arena));
        }
        record.finish()
    }

    /// The states that [`Graph::save`] gave; nodes that are not among them begin anew.
    ///
    /// # Errors
    /// A sentence about what does not fit.
    pub fn restore(&self, saved: Value<'_>, sources: &Sources) -> Result<States, String> {
        let arena = Arena::new();
        let saved = saved.as_record(&arena).ok_or("it is no record of nodes")?;
        let keys = self.keys(sources);
        if let Some((key, _)) = saved.iter().find(|(key, _)| !keys.iter().any(|one| one == key)) {
            return Err(match key.split_once('#') {
                Some((select, _)) => format!("it belongs to a `{select}` that was changed"),
                None => format!("it belongs to the node `{key}`, which the program has not"),
            });
        }
        let mut states = self.start();
        let nodes = self.operators().filter(|(_, one)| one.is_stateful());
        for ((node, operator), key) in nodes.zip(&keys) {
            if let Some(value) = saved.get(key) {
                let name = &self.nodes[node].name;
                states.0[node] = operator
                    .restore(value)
                    .map_err(|error| format!("what `{name}` remembers does not fit: {error}"))?;
            }
        }
        Ok(states)
    }

    /// What the states of the nodes with a memory are known by, in the order of the nodes.
    pub(super) fn keys(&self, sources: &Sources) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for (node, _) in self.operators().filter(|(_, one)| one.is_stateful()) {
            let key = key(&self.nodes[node], sources);
            let same =
                keys.iter().filter(|one| **one == key || one.starts_with(&format!("{key}.")));
            let same = same.count();
            keys.push(if same == 0 { key } else { format!("{key}.{same}") });
        }
        keys
    }
}

fn key(node: &Node, sources: &Sources) -> String {
    match (node.name.rfind(UNNAMED), node.span) {
        (Some(at), Some(span)) if at == 0 || node.name[..at].ends_with('/') => {
            let text: String = sources.text(span).split_whitespace().collect();
            format!(
                "{}#{:016x}",
                node.name[..at + UNNAMED.len()].trim_end(),
                xxh3_64(text.as_bytes())
            )
        }
        _ => node.name.clone(),
    }
}
