//! How a step is found again in what an earlier run saved, though the program has changed: by its name, or
//! else by its kind and settings.
//!
//! Invariant: what is saved goes to one step at most, and where several would do, the order in which they
//! stand decides only between equals. Nothing is guessed.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::Arc;
use temblor_declare::{Setting, Takes};
use temblor_lang::span::Span;
use temblor_lang::syntax::print_query;
use temblor_lang::syntax::tree::{
    Binding, Define, DefineKind, Ident, ModPath, OperatorDef, Query, Script, ScriptDef, Select,
    Statement, StreamRef,
};
use xxhash_rust::xxh3::xxh3_64;

/// What a step is known by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    /// The name that the program gives it, behind those of the pipelines around it.
    pub name: Option<String>,
    /// The pipelines around it, each with a `/` behind it.
    pub path: String,
    /// `stream::dedup`, `script`, `select`; of other nodes their name.
    pub kind: String,
    /// Hash of everything that is set.
    pub settings: u64,
    /// Hash of what must stay for the state to keep its meaning: keys, modes, what is computed.
    pub core: u64,
}

impl Identity {
    /// That of an operator; `rows` are the settings of its kind.
    pub(super) fn of_operator(def: &OperatorDef, rows: &[Setting]) -> Self {
        let mut with = def.with.clone();
        with.sort_by(|one, other| one.name.text.cmp(&other.name.text));
        let hash = |with: Vec<Binding>| {
            hash(DefineKind::Operator(OperatorDef { with, args: Vec::new(), ..def.clone() }))
        };
        let row = |one: &Binding| rows.iter().find(|row| row.name == one.name.text);
        let is_core = |one: &Binding| {
            row(one).is_none_or(|row| matches!(row.takes, Takes::Formula | Takes::Word(_)))
        };
        let core = with.iter().filter(|one| is_core(one)).cloned().collect();
        let (core, settings) = (hash(core), hash(with));
        Self { kind: def.kind.text(), settings, core, ..Self::default() }
    }

    /// That of a script: its text may change, the state that it begins with is what it is about.
    pub(super) fn of_script(def: &ScriptDef) -> Self {
        let bare = ScriptDef { main: Script::default(), ports: Vec::new(), ..def.clone() };
        let (settings, core) =
            (hash(DefineKind::Script(def.clone())), hash(DefineKind::Script(bare)));
        Self { kind: "script".to_string(), settings, core, ..Self::default() }
    }

    /// That of a select over the windows that are defined: how long these are may change.
    pub(super) fn of_select(select: &Select, windows: &[Arc<Define>]) -> Self {
        let end = StreamRef { node: name(), port: None, span: Span::default() };
        let select = Select { from: end.clone(), into: end, ..select.clone() };
        let windows = windows.iter().map(|one| Define { docs: Vec::new(), ..Define::clone(one) });
        let windows: Vec<_> = windows.map(Statement::Define).collect();
        let core = hash_of(vec![Statement::Select(Box::new(select))]);
        let settings = core ^ hash_of(windows).rotate_left(1);
        Self { kind: "select".to_string(), settings, core, ..Self::default() }
    }

    /// The same, created with arguments.
    pub(super) fn with(self, arguments: &[Binding]) -> Self {
        let settings = match arguments {
            [] => self.settings,
            _ => {
                let kind = ModPath { segments: vec![name()], span: Span::default() };
                let (with, args) = (arguments.to_vec(), Vec::new());
                self.settings ^ hash(DefineKind::Operator(OperatorDef { kind, args, with }))
            }
        };
        Self { settings, ..self }
    }
}

/// Stands for all names that do not matter.
fn name() -> Ident {
    Ident { text: "it".to_string(), span: Span::default() }
}

fn hash(kind: DefineKind) -> u64 {
    let define = Define { docs: Vec::new(), name: name(), kind, span: Span::default() };
    hash_of(vec![Statement::Define(define)])
}

/// Of what is printed: layout and comments are without effect.
fn hash_of(statements: Vec<Statement>) -> u64 {
    xxh3_64(print_query(&Query { statements, ..Query::default() }).as_bytes())
}

/// For each step the place of what was saved of it.
pub(super) fn pair(saved: &[&Identity], steps: &[&Identity]) -> Vec<Option<usize>> {
    let free = (0..saved.len()).collect();
    let mut pairing = Pairing { saved, steps, free, found: vec![None; steps.len()] };
    let named = |one: &Identity| Some((one.name.clone()?, one.kind.clone()));
    pairing.round(named, named);
    let unnamed = |one: &Identity| one.name.is_none();
    let equal = |one: &Identity| (one.kind.clone(), one.settings);
    let placed = |one: &Identity| unnamed(one).then(|| (one.path.clone(), equal(one)));
    pairing.round(placed, placed);
    // Moved into a pipeline or out of one; given a name, or bereft of it.
    pairing.round(|one| unnamed(one).then(|| equal(one)), |one| Some(equal(one)));
    pairing.round(|one| Some(equal(one)), |one| unnamed(one).then(|| equal(one)));
    pairing.only_ones();
    pairing.found
}

struct Pairing<'i> {
    saved: &'i [&'i Identity],
    steps: &'i [&'i Identity],
    /// Places of what no step has taken.
    free: Vec<usize>,
    found: Vec<Option<usize>>,
}

impl Pairing<'_> {
    /// Gives each step the first of what is free that has the same key.
    fn round<K: Eq + Hash>(
        &mut self,
        of_saved: impl Fn(&Identity) -> Option<K>,
        of_step: impl Fn(&Identity) -> Option<K>,
    ) {
        let mut places: HashMap<K, VecDeque<usize>> = HashMap::new();
        for &place in &self.free {
            if let Some(key) = of_saved(self.saved[place]) {
                places.entry(key).or_default().push_back(place);
            }
        }
        for (step, found) in self.found.iter_mut().enumerate().filter(|(_, one)| one.is_none()) {
            let key = of_step(self.steps[step]);
            *found = key.and_then(|key| places.get_mut(&key)?.pop_front());
        }
        let taken: HashSet<usize> = self.found.iter().flatten().copied().collect();
        self.free.retain(|place| !taken.contains(place));
    }

    /// Gives a step what differs in its settings, where there is one of each.
    fn only_ones(&mut self) {
        let key = |one: &Identity| (one.kind.clone(), one.core);
        let mut counts: HashMap<_, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for &place in &self.free {
            counts.entry(key(self.saved[place])).or_default().0.push(place);
        }
        for step in (0..self.steps.len()).filter(|step| self.found[*step].is_none()) {
            counts.entry(key(self.steps[step])).or_default().1.push(step);
        }
        for (places, steps) in counts.into_values() {
            if let ([place], [step]) = (places.as_slice(), steps.as_slice())
                && (self.saved[*place].name.is_none() || self.steps[*step].name.is_none())
            {
                self.found[*step] = Some(*place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name kind settings core`; `-` for no name.
    fn identities(lines: &[&str]) -> Vec<Identity> {
        let identity = |line: &&str| {
            let words: Vec<_> = line.split(' ').collect();
            Identity {
                name: (words[0] != "-").then(|| words[0].to_string()),
                path: String::new(),
                kind: words[1].to_string(),
                settings: xxh3_64(words[2].as_bytes()),
                core: xxh3_64(words[3].as_bytes()),
            }
        };
        lines.iter().map(identity).collect()
    }

    fn pairs(saved: &[&str], steps: &[&str]) -> Vec<Option<usize>> {
        let (saved, steps) = (identities(saved), identities(steps));
        pair(&saved.iter().collect::<Vec<_>>(), &steps.iter().collect::<Vec<_>>())
    }

    #[test]
    fn steps_are_found_by_name_or_by_settings() {
        // Swapped, and one is new.
        let (a, b) = ("- dedup a10 a", "- dedup b10 b");
        assert_eq!(pairs(&[a, b], &["- dedup c10 c", b, a]), [None, Some(1), Some(0)]);
        // Equals keep their order.
        assert_eq!(pairs(&[a, a], &[a, a]), [Some(0), Some(1)]);
        assert_eq!(pairs(&[a, a], &[a]), [Some(0)]);
        // A name counts before anything else, whatever the settings.
        assert_eq!(pairs(&["x dedup a10 a", a], &[a, "x dedup b10 b"]), [Some(1), Some(0)]);
        assert_eq!(pairs(&["x dedup a10 a"], &["x limit a10 a"]), [None]);
        // A name is given, or taken away, but never another one.
        assert_eq!(pairs(&[a], &["x dedup a10 a"]), [Some(0)]);
        assert_eq!(pairs(&["x dedup a10 a"], &[a]), [Some(0)]);
        assert_eq!(pairs(&["x dedup a10 a"], &["y dedup a10 a"]), [None]);
    }

    #[test]
    fn changed_settings_are_followed_where_nothing_else_can_be_meant() {
        let (short, long, other) = ("- dedup a10 a", "- dedup a20 a", "- dedup b10 b");
        assert_eq!(pairs(&[short], &[long]), [Some(0)]);
        assert_eq!(pairs(&[short], &[other]), [None], "another key is another step");
        assert_eq!(pairs(&[short, other], &[other, long]), [Some(1), Some(0)]);
        assert_eq!(pairs(&[short], &[long, "- dedup a30 a"]), [None, None]);
        assert_eq!(pairs(&["x dedup a10 a"], &["y dedup a20 a"]), [None]);
    }
}
