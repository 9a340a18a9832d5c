//! `prune`: keeps or removes the fields at the top of the document by their names and values.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option};
use crate::pattern::Pattern;
use chrono::{DateTime, Utc};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::template::Template;

/// `prune`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "prune",
    doc: "Keeps or removes fields by name and value.",
    options: &[
        option("whitelist_names", Takes::List, "Expressions of names to keep."),
        option("blacklist_names", Takes::List, "Expressions of names to remove."),
        option("whitelist_values", Takes::Hash, "Expressions of values to keep, by field."),
        option("blacklist_values", Takes::Hash, "Expressions of values to remove, by field."),
        option("interpolate", Takes::Flag, "Whether `%{…}` counts in names and expressions."),
    ],
    make,
};

#[derive(Debug)]
struct Prune {
    keep: Vec<Expression>,
    remove: Vec<Expression>,
    keep_values: Vec<(Template, Expression)>,
    remove_values: Vec<(Template, Expression)>,
}

/// A regular expression, which may depend on the event.
#[derive(Debug)]
enum Expression {
    Fixed(Pattern),
    Open(Template),
}

impl Expression {
    /// Whether it is found; one that the event makes wrong is nowhere.
    fn is_in(&self, text: &str, event: &LogEvent<'_>, now: DateTime<Utc>) -> bool {
        match self {
            Self::Fixed(pattern) => pattern.is_in(text),
            Self::Open(template) => Pattern::compile(&template.rendered(event, now))
                .is_ok_and(|pattern| pattern.is_in(text)),
        }
    }
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let keep = names(arguments, "whitelist_names");
    let remove = names(arguments, "blacklist_names").unwrap_or_else(|| {
        let unresolved = Pattern::compile("%\\{[^}]+\\}").expect("this expression is right");
        vec![Expression::Fixed(unresolved)]
    });
    let loses = |name: &str| {
        let keeps = |one: &Expression| match one {
            Expression::Fixed(pattern) => pattern.is_in(name),
            Expression::Open(_) => true,
        };
        keep.as_ref().is_some_and(|keep| !keep.iter().any(keeps))
    };
    if loses("@timestamp") {
        let span = arguments.place("whitelist_names");
        arguments.explain(complain::odd(
            span,
            "this removes `@timestamp` as well, and `tags` and `@version` unless they are named",
            "add `^@timestamp$` to the list",
        ));
    }
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
) -> Option<Expression> {
    let template = Template::parse(text);
    if arguments.flag("interpolate", false) && !template.is_constant() {
        return Some(Expression::Open(template));
    }
    match Pattern::compile(text) {
        Ok(pattern) => Some(Expression::Fixed(pattern)),
        Err(reason) => {
            arguments.complain(complain::bad_pattern(text, span, &reason));
            None
        }
    }
}

fn names(arguments: &mut Arguments<'_>, option: &str) -> Option<Vec<Expression>> {
    let texts = arguments.texts(option)?;
    Some(texts.into_iter().filter_map(|(text, span)| compile(arguments, &text, span)).collect())
}

fn values(arguments: &mut Arguments<'_>, option: &str) -> Vec<(Template, Expression)> {
    let interpolate = arguments.flag("interpolate", false);
    let mut found = Vec::new();
    for (key, value) in arguments.pairs(option) {
        let key = if interpolate { Template::parse(&key) } else { Template::literal(&key) };
        if let Some(text) = value.text() {
            found.extend(compile(arguments, text, value.span).map(|pattern| (key, pattern)));
        }
    }
    found
}

impl Filter for Prune {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let now = turn.now;
        let mut data = std::mem::take(&mut event.data);
        // Expressions see the event as it was.
        event.data = data.clone();
        let before = &*event;
        let any =
            |all: &[Expression], name: &str| all.iter().any(|one| one.is_in(name, before, now));
        data.retain(|name, _| {
            (self.keep.is_empty() || any(&self.keep, name)) && !any(&self.remove, name)
        });
        for (values, wanted) in [(&self.keep_values, true), (&self.remove_values, false)] {
            for (name, expression) in values {
                let name = name.rendered(before, now);
                let stays = |text: Option<&str>| {
                    text.is_some_and(|text| expression.is_in(text, before, now)) == wanted
                };
                data.retain(|key, value| *key != *name || keep(value, stays));
            }
        }
        event.data = data;
        Outcome::Matched
    }
}

/// Whether a value stays; the items of a list go one by one. `stays` decides about `None` where there
/// is no text, in which no expression is ever found.
fn keep(value: &mut Datum<'_>, stays: impl Fn(Option<&str>) -> bool) -> bool {
    match value {
        Datum::Null | Datum::Bool(false) => true,
        Datum::List(items) => {
            items.retain(|item| stays(item.as_str()));
            !items.is_empty()
        }
        one => stays(one.as_str()),
    }
}
