//! `split`: one event for each line of a text or item of a list. The common options are those of the
//! new events; the old one ends.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `split`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "split",
    doc: "Sends one event for each line of a text or item of a list.",
    options: &[
        option("field", Takes::Text, "The text or list."),
        option("terminator", Takes::Text, "What stands between the pieces of a text."),
        option("target", Takes::Text, "Where each piece goes."),
    ],
    make,
};

#[derive(Debug)]
struct Split {
    field: FieldRef,
    terminator: String,
    target: Option<FieldRef>,
    failure: String,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let field = arguments.field("field", "message")?;
    let target = arguments.field_or_none("target");
    let terminator = arguments.text("terminator").unwrap_or_else(|| "\n".to_string());
    if terminator.contains("\\n") && !arguments.settings.escapes {
        let span = arguments.place("terminator");
        arguments.explain(complain::two_characters("terminator", span));
    }
    Some(Box::new(Split { field, terminator, target, failure: "_split_type_failure".to_string() }))
}

impl Filter for Split {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let pieces: Vec<Datum<'a>> = match event.get(&self.field) {
            Some(Datum::Str(text)) => {
                let pieces = self.pieces(text);
                // Empty pieces count: a text that ends with the terminator has two.
                if pieces.len() == 1 {
                    return Outcome::Unmatched;
                }
                pieces.into_iter().filter(|piece| !piece.is_empty()).map(Datum::Str).collect()
            }
            Some(Datum::List(items)) => {
                let filled = |item: &&Datum<'a>| !matches!(item, Datum::Null | Datum::Str(""));
                items.iter().filter(filled).cloned().collect()
            }
            _ => {
                event.tag(&self.failure);
                return Outcome::Unmatched;
            }
        };
        let target = self.target.as_ref().unwrap_or(&self.field);
        if self.target.is_none() {
            // Each copy has a piece in its place.
            if let Some(place) = event.get_mut(&self.field) {
                *place = Datum::Null;
            }
        }
        let whole = event.data.weight() + event.metadata.weight();
        if !turn.arena.charge(whole.saturating_mul(pieces.len())) {
            return Outcome::Unmatched;
        }
        for piece in pieces {
            let mut copy = event.clone();
            // The target can only be refused when the event's own field was already odd.
            let _ = copy.set(target, piece, turn.arena);
            turn.emit(copy);
        }
        event.cancelled = true;
        Outcome::Unmatched
    }
}

impl Split {
    /// Ruby's split of all pieces: an empty text has none, and a blank stands for any blanks.
    fn pieces<'t>(&self, text: &'t str) -> Vec<&'t str> {
        match &*self.terminator {
            _ if text.is_empty() => Vec::new(),
            " " => {
                let mut pieces: Vec<&str> = text.split_ascii_whitespace().collect();
                if text.ends_with(|last: char| last.is_ascii_whitespace()) {
                    pieces.push("");
                }
                pieces
            }
            terminator => text.split(terminator).collect(),
        }
    }
}
