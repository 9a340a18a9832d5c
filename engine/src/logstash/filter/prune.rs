//! `prune`: keeps or removes the fields at the top of the document by their names and values.

use super::{Declaration, Filter, Outcome, Turn};
use crate::logstash::complain;
use crate::logstash::datum::Datum;
use crate::logstash::event::LogEvent;
use crate::logstash::options::{Arguments, Takes, option};
use crate::logstash::pattern::Pattern;

/// `prune`
pub static DECLARATION: Declaration = Declaration {
    name: "prune",
    doc: "Keeps or removes fields by name and value.",
    options: &[
        option("whitelist_names", Takes::List, "Expressions of names to keep."),
        option("blacklist_names", Takes::List, "Expressions of names to remove."),
        option("whitelist_values", Takes::Hash, "Expressions of values to keep, by field."),
        option("blacklist_values", Takes::Hash, "Expressions of values to remove, by field."),
        option("interpolate", Takes::Flag, "Accepted; expressions are the same for all events."),
    ],
    make,
};

#[derive(Debug)]
struct Prune {
    keep: Vec<Pattern>,
    remove: Vec<Pattern>,
    keep_values: Vec<(String, Pattern)>,
    remove_values: Vec<(String, Pattern)>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let keep = names(arguments, "whitelist_names");
    let remove = names(arguments, "blacklist_names").unwrap_or_else(|| {
        vec![Pattern::compile("%\\{[^}]+\\}").expect("this expression is right")]
    });
    Some(Box::new(Prune {
        keep: keep.unwrap_or_default(),
        remove,
        keep_values: values(arguments, "whitelist_values"),
        remove_values: values(arguments, "blacklist_values"),
    }))
}

fn compile(
    arguments: &mut Arguments<'_>,
    text: &str,
    span: temblor_lang::span::Span,
) -> Option<Pattern> {
    match Pattern::compile(text) {
        Ok(pattern) => Some(pattern),
        Err(reason) => {
            arguments.complain(complain::bad_pattern(text, span, &reason));
            None
        }
    }
}

fn names(arguments: &mut Arguments<'_>, option: &str) -> Option<Vec<Pattern>> {
    let texts = arguments.texts(option)?;
    Some(texts.into_iter().filter_map(|(text, span)| compile(arguments, &text, span)).collect())
}

fn values(arguments: &mut Arguments<'_>, option: &str) -> Vec<(String, Pattern)> {
    let mut found = Vec::new();
    for (key, value) in arguments.pairs(option) {
        if let Some(text) = value.text() {
            found.extend(compile(arguments, text, value.span).map(|pattern| (key, pattern)));
        }
    }
    found
}

impl Filter for Prune {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, _turn: &mut Turn<'a, '_>) -> Outcome {
        let any = |patterns: &[Pattern], name: &str| patterns.iter().any(|one| one.is_in(name));
        event.data.retain(|name, _| {
            (self.keep.is_empty() || any(&self.keep, name)) && !any(&self.remove, name)
        });
        for (name, pattern) in &self.keep_values {
            event.data.retain(|key, value| key != name || keep(value, |text| pattern.is_in(text)));
        }
        for (name, pattern) in &self.remove_values {
            event.data.retain(|key, value| key != name || keep(value, |text| !pattern.is_in(text)));
        }
        Outcome::Matched
    }
}

/// Whether a value stays; the items of a list go one by one.
fn keep(value: &mut Datum<'_>, stays: impl Fn(&str) -> bool) -> bool {
    match value {
        Datum::List(items) => {
            items.retain(|item| stays(&item.text()));
            !items.is_empty()
        }
        one => stays(&one.text()),
    }
}
