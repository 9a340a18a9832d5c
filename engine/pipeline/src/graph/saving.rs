//! What all nodes of a graph remember as one value, and back. A step is found again by its name, or by what
//! it is: see [`Identity`].

use super::identity::{Identity, pair};
use super::{Graph, States};
use temblor_lang::span::Sources;
use temblor_lang::value::{Arena, Key, Value};
use temblor_runtime::processor::Unmatched;

/// Letters of a step's text that are kept, so that messages can tell what was saved.
const TEXT_CHARS_MAX: usize = 60;

/// States that were taken up, and what is to be said of that.
#[derive(Debug)]
pub struct Restored {
    /// For the graph that they were restored for.
    pub states: States,
    /// A sentence for each thing that is not as it was.
    pub notes: Vec<String>,
}

/// What was saved of one step.
struct Saved<'a> {
    identity: Identity,
    text: &'a str,
    state: Value<'a>,
}

impl Graph {
    /// The states of all nodes that remember something.
    #[must_use]
    pub fn save<'a>(&self, states: &States, sources: &Sources, arena: &'a Arena) -> Value<'a> {
        let mut steps = arena.array_builder(self.nodes.len());
        for (number, operator) in self.operators().filter(|(_, one)| one.is_stateful()) {
            let identity = &self.nodes[number].identity;
            let text = self.text_of(number, sources);
            let mut step = arena.record_builder(7);
            let name = identity.name.as_deref();
            step.append("name", name.map_or(Value::Null, |name| Value::Str(arena.str(name))));
            step.append("path", Value::Str(arena.str(&identity.path)));
            step.append("kind", Value::Str(arena.str(&identity.kind)));
            step.append("settings", Value::UInt(identity.settings));
            step.append("core", Value::UInt(identity.core));
            step.append("text", Value::Str(arena.str(&text)));
            step.append("state", operator.save(states.0[number].as_ref(), arena));
            steps.push(step.finish());
        }
        let mut record = arena.record_builder(1);
        record.append("steps", steps.finish());
        record.finish()
    }

    /// The states that [`Graph::save`] gave; nodes that are not among them begin anew.
    ///
    /// # Errors
    /// A sentence about what does not fit.
    pub fn restore(
        &self,
        saved: Value<'_>,
        sources: &Sources,
        unmatched: Unmatched,
    ) -> Result<Restored, String> {
        let arena = Arena::new();
        let saved = read(saved.get(&Key::new("steps")), &arena)
            .ok_or("it was saved by an older temblor, whose steps this one cannot tell apart")?;
        let steps: Vec<_> = self.operators().filter(|(_, one)| one.is_stateful()).collect();
        let known: Vec<_> = saved.iter().map(|one| &one.identity).collect();
        let wanted: Vec<_> =
            steps.iter().map(|(number, _)| &self.nodes[*number].identity).collect();
        let found = pair(&known, &wanted);
        let mut lost: Vec<String> = (0..saved.len())
            .filter(|place| !found.contains(&Some(*place)))
            .map(|place| format!("{}: {}", saved[place].describe(), lack(&known, place, &wanted)))
            .collect();
        let (mut states, mut notes) = (self.start(), Vec::new());
        for ((number, operator), place) in steps.iter().zip(&found) {
            let Some(saved) = place.map(|place| &saved[place]) else { continue };
            match operator.restore(saved.state) {
                Ok(state) => {
                    states.0[*number] = state;
                    let text = self.text_of(*number, sources);
                    if saved.identity.settings != self.nodes[*number].identity.settings {
                        let was = saved.describe();
                        notes.push(format!("`{text}` goes on with what {was} remembered"));
                    }
                }
                Err(error) => lost.push(format!("{}: it does not fit: {error}", saved.describe())),
            }
        }
        match (lost.is_empty(), unmatched) {
            (true, _) => {}
            (false, Unmatched::Refuse) => return Err(lost.join("; ")),
            (false, Unmatched::Drop) => {
                notes.extend(lost.iter().map(|one| format!("dropped what was saved of {one}")));
            }
        }
        Ok(Restored { states, notes })
    }

    /// The text of a step, on one line.
    fn text_of(&self, number: usize, sources: &Sources) -> String {
        let node = &self.nodes[number];
        let text = node.span.map_or(node.name.as_str(), |span| sources.text(span));
        let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((end, _)) = words.char_indices().nth(TEXT_CHARS_MAX) {
            words.truncate(end);
            words.push('…');
        }
        words
    }
}

impl Saved<'_> {
    fn describe(&self) -> String {
        match &self.identity.name {
            Some(name) => format!("the step `{name}` (`{}`)", self.text),
            None => format!("the step `{}`", self.text),
        }
    }
}

/// Why no step has taken something.
fn lack(known: &[&Identity], place: usize, wanted: &[&Identity]) -> String {
    let lost = known[place];
    let named = lost.name.as_ref();
    if let Some(other) = wanted.iter().find(|one| named.is_some() && one.name == lost.name) {
        return format!("that name now stands for a `{}`", other.kind);
    }
    let is_near = |one: &&&Identity| one.kind == lost.kind;
    let (near, equal): (Vec<_>, Vec<_>) = (
        wanted.iter().filter(is_near).collect(),
        wanted.iter().filter(is_near).filter(|one| one.settings == lost.settings).collect(),
    );
    match (named, equal.as_slice(), near.as_slice()) {
        (Some(_), [only], _) if only.name.is_some() => {
            let now = only.name.as_deref().unwrap_or_default();
            format!("the program has no step of this name (is it `{now}` now?)")
        }
        (Some(_), _, _) => "the program has no step of this name".to_string(),
        (None, _, []) => "the program has no such step".to_string(),
        (None, _, _) => format!(
            "no `{}` of the program has these settings, or several might be meant; a step that is named \
             (`… as NAME`) is found by its name",
            lost.kind
        ),
    }
}

fn read<'a>(steps: Option<Value<'a>>, arena: &'a Arena) -> Option<Vec<Saved<'a>>> {
    let steps = steps?.as_array(arena)?;
    steps.iter().map(|step| read_step(*step)).collect()
}

fn read_step<'a>(step: Value<'a>) -> Option<Saved<'a>> {
    let field = |name| step.get(&Key::new(name));
    let text = |name| field(name).and_then(|value| value.as_str());
    let identity = Identity {
        name: text("name").map(str::to_string),
        path: text("path")?.to_string(),
        kind: text("kind")?.to_string(),
        settings: field("settings")?.as_u64()?,
        core: field("core")?.as_u64()?,
    };
    Some(Saved { identity, text: text("text")?, state: field("state")? })
}
