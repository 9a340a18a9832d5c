//! `clone`: sends copies of events, each marked with a name. The common options are those of the copies.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, required};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;

/// `clone`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "clone",
    doc: "Sends copies of events.",
    options: &[required("clones", Takes::List, "A name for each copy.")],
    make,
};

#[derive(Debug)]
struct CloneEvents {
    clones: Vec<String>,
    /// The name becomes a tag, not a type.
    as_tag: bool,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let clones = arguments.words("clones")?;
    Some(Box::new(CloneEvents { clones, as_tag: arguments.ecs.is_on() }))
}

impl Filter for CloneEvents {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let whole = event.data.weight() + event.metadata.weight();
        if !turn.arena.charge(whole.saturating_mul(self.clones.len())) {
            return Outcome::Unmatched;
        }
        for name in &self.clones {
            let mut copy = event.clone();
            if self.as_tag {
                copy.tag(name);
            } else {
                copy.data.insert("type", Datum::Str(name));
            }
            turn.emit(copy);
        }
        Outcome::Unmatched
    }
}
