//! `alter`: rewrites fields by their value, and takes the first of several values that is there.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// `alter`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "alter",
    doc: "Rewrites fields by their value.",
    options: &[
        option("condrewrite", Takes::List, "Triples of field, expected value and new value."),
        option(
            "condrewriteother",
            Takes::List,
            "Fours of field, expected value, other field and its new value.",
        ),
        option(
            "coalesce",
            Takes::List,
            "A field, and values of which the first that is there counts.",
        ),
    ],
    make,
};

#[derive(Debug)]
struct Rewrite {
    field: FieldRef,
    expected: Template,
    target: FieldRef,
    value: Template,
}

#[derive(Debug)]
struct Alter {
    rewrites: Vec<Rewrite>,
    coalesce: Option<(FieldRef, Vec<Template>)>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let mut rewrites = Vec::new();
    for (option, size) in [("condrewrite", 3), ("condrewriteother", 4)] {
        let texts = arguments.texts(option).unwrap_or_default();
        if !texts.len().is_multiple_of(size) {
            let span = arguments.place(option);
            let wanted = format!("a list of {size} texts, or of so many again");
            arguments.complain(complain::bad_value(option, span, &wanted));
        }
        for part in texts.chunks_exact(size) {
            let target = if size == 3 { &part[0].0 } else { &part[2].0 };
            rewrites.push(Rewrite {
                field: arguments.reference(&part[0].0, part[0].1)?,
                expected: Template::parse(&part[1].0),
                target: arguments.reference(target, part[0].1)?,
                value: Template::parse(&part[size - 1].0),
            });
        }
    }
    let coalesce = match arguments.texts("coalesce").as_deref() {
        Some([] | [_]) => {
            let span = arguments.place("coalesce");
            let wanted = "a field and at least one value";
            arguments.complain(complain::bad_value("coalesce", span, wanted));
            None
        }
        Some([(field, span), values @ ..]) => {
            let field = arguments.reference(field, *span)?;
            Some((field, values.iter().map(|(text, _)| Template::parse(text)).collect()))
        }
        _ => None,
    };
    Some(Box::new(Alter { rewrites, coalesce }))
}

impl Filter for Alter {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let (arena, now) = (turn.arena, turn.now);
        for rewrite in &self.rewrites {
            rewrite.run(event, turn);
        }
        if let Some((field, values)) = &self.coalesce {
            for value in values {
                let text = value.render(event, arena, now);
                // What is not there stays as it was written, with its percent sign.
                if text != "nil" && !text.contains('%') {
                    let _ = event.set(field, Datum::Str(text), arena);
                    break;
                }
            }
        }
        Outcome::Matched
    }
}

impl Rewrite {
    /// Texts alone are compared. In a list each item is; where the list is rewritten itself, each item that
    /// is equal.
    fn run<'a>(&'a self, event: &mut LogEvent<'a>, turn: &Turn<'a, '_>) {
        let (arena, now) = (turn.arena, turn.now);
        let expected = Datum::Str(self.expected.render(event, arena, now));
        let value = Datum::Str(self.value.render(event, arena, now));
        let changed = match event.value_of(&self.field) {
            Some(Datum::List(mut items)) if self.field == self.target => {
                let equal = items.iter_mut().filter(|item| **item == expected);
                equal.for_each(|item| *item = value.clone());
                Datum::List(items)
            }
            Some(Datum::List(items)) if items.contains(&expected) => value,
            Some(found) if found == expected => value,
            _ => return,
        };
        // What cannot be set stays as it is.
        let _ = event.set(&self.target, changed, arena);
    }
}
