//! `kv`: takes fields out of `key=value` text. Separators are sets of characters or regular
//! expressions; values may stand in quotes or brackets.

mod scan;

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::filter::common::Added;
use crate::options::{Arguments, Takes, option};
use crate::pattern::Pattern;
use scan::{Scanner, Tooling};
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// `kv`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "kv",
    doc: "Takes fields out of text of keys and values.",
    options: &[
        option("source", Takes::Text, "The text."),
        option("target", Takes::Text, "Where the fields go; without it, into the event."),
        option("field_split", Takes::Text, "Characters between pairs."),
        option("value_split", Takes::Text, "Characters between key and value."),
        option("field_split_pattern", Takes::Text, "Regular expression between pairs."),
        option("value_split_pattern", Takes::Text, "Regular expression between key and value."),
        option("whitespace", Takes::OneOf(&["strict", "lenient"]), "Whether blanks count."),
        option("include_brackets", Takes::Flag, "Whether brackets hide separators."),
        option("trim_key", Takes::Text, "Characters removed from the ends of keys."),
        option("trim_value", Takes::Text, "Characters removed from the ends of values."),
        option("remove_char_key", Takes::Text, "Characters removed from keys."),
        option("remove_char_value", Takes::Text, "Characters removed from values."),
        option("transform_key", Takes::OneOf(CASES), "The case of keys."),
        option("transform_value", Takes::OneOf(CASES), "The case of values."),
        option("prefix", Takes::Text, "What is put before keys."),
        option("include_keys", Takes::List, "Keys to keep."),
        option("exclude_keys", Takes::List, "Keys to leave out."),
        option("default_keys", Takes::Hash, "Values of keys that are not found."),
        option("allow_duplicate_values", Takes::Flag, "Whether a value may repeat."),
        option("allow_empty_values", Takes::Flag, "Whether a value may be empty."),
        option("recursive", Takes::Flag, "Whether values are read as pairs again."),
        option("timeout_millis", Takes::Number, "Accepted; searches are bounded by steps."),
        option("tag_on_timeout", Takes::Text, "The tag of text that takes too long."),
        option("tag_on_failure", Takes::List, "The tags of text that fails."),
    ],
    make,
};

const CASES: &[&str] = &["lowercase", "uppercase", "capitalize"];
/// Values inside of values, at the most.
const RECURSION_MAX: usize = 16;

#[derive(Clone, Copy, Debug)]
enum Case {
    Lower,
    Upper,
    Capital,
}

#[derive(Debug)]
struct Kv {
    source: FieldRef,
    target: Option<FieldRef>,
    tooling: Tooling,
    trim_key: Option<Pattern>,
    trim_value: Option<Pattern>,
    remove_key: Option<Pattern>,
    remove_value: Option<Pattern>,
    transform_key: Option<Case>,
    transform_value: Option<Case>,
    prefix: Template,
    include: Vec<Template>,
    exclude: Vec<Template>,
    defaults: Vec<(String, Added)>,
    duplicates: bool,
    recursive: bool,
    timeout_tag: String,
    tags: Vec<String>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    for name in ["field_split", "value_split", "field_split_pattern", "value_split_pattern"] {
        if arguments.text(name).is_some_and(|text| text.is_empty()) {
            let place = arguments.place(name);
            arguments.complain(complain::bad_value(name, place, "at least one character"));
            return None;
        }
    }
    let field_split = class(arguments, "field_split", " ", "field_split_pattern")?;
    let is_pattern = |name| arguments.get(name).is_some();
    let by_pattern = is_pattern("field_split_pattern") || is_pattern("value_split_pattern");
    let tooling = Tooling {
        blanks_end_keys: by_pattern || field_split.is_in(" "),
        field_split,
        value_split: class(arguments, "value_split", "=", "value_split_pattern")?,
        lenient: arguments.text("whitespace").is_none_or(|text| text == "lenient"),
        brackets: arguments.flag("include_brackets", true),
        allow_empty: arguments.flag("allow_empty_values", false),
    };
    let templates = |texts: Option<Vec<(String, _)>>| -> Vec<Template> {
        texts.unwrap_or_default().iter().map(|(text, _)| Template::parse(text)).collect()
    };
    let defaults = arguments.pairs("default_keys");
    Some(Box::new(Kv {
        source: arguments.field("source", "message")?,
        target: arguments.field_or_none("target"),
        tooling,
        trim_key: characters(arguments, "trim_key", |class| format!("^[{class}]+|[{class}]+$")),
        trim_value: characters(arguments, "trim_value", |class| format!("^[{class}]+|[{class}]+$")),
        remove_key: characters(arguments, "remove_char_key", |class| format!("[{class}]")),
        remove_value: characters(arguments, "remove_char_value", |class| format!("[{class}]")),
        transform_key: case(arguments, "transform_key"),
        transform_value: case(arguments, "transform_value"),
        prefix: Template::parse(&arguments.text("prefix").unwrap_or_default()),
        include: templates(arguments.texts("include_keys")),
        exclude: templates(arguments.texts("exclude_keys")),
        defaults: defaults
            .iter()
            .map(|(key, value)| (key.clone(), Added::constant(value)))
            .collect(),
        duplicates: arguments.flag("allow_duplicate_values", true),
        recursive: arguments.flag("recursive", false),
        timeout_tag: arguments
            .text("tag_on_timeout")
            .unwrap_or_else(|| "_kv_filter_timeout".to_string()),
        tags: arguments.tags("tag_on_failure", "_kv_filter_error"),
    }))
}

/// Explains a separator that looks like a sequence: a character twice means no more than once.
fn explain_set(arguments: &mut Arguments<'_>, name: &str) {
    let Some(text) = arguments.text(name) else { return };
    let twice = |(at, character): (usize, char)| text[..at].contains(character);
    if !text.contains(['\\', '-']) && text.char_indices().any(twice) {
        let span = arguments.place(name);
        arguments.explain(complain::odd(
            span,
            &format!("`{name}` is a set of characters, each of which separates"),
            &format!("write `{name}_pattern` for a sequence"),
        ));
    }
}

/// The regular expression of a separator.
fn class(
    arguments: &mut Arguments<'_>,
    set: &str,
    default: &str,
    pattern: &str,
) -> Option<Pattern> {
    let (text, name) = match arguments.text(pattern) {
        Some(text) => (text, pattern),
        None => {
            explain_set(arguments, set);
            (format!("[{}]", arguments.text(set).unwrap_or_else(|| default.to_string())), set)
        }
    };
    compile(arguments, &text, name)
}

fn characters(
    arguments: &mut Arguments<'_>,
    name: &str,
    form: impl Fn(&str) -> String,
) -> Option<Pattern> {
    let text = form(&arguments.text(name)?);
    compile(arguments, &text, name)
}

fn compile(arguments: &mut Arguments<'_>, text: &str, name: &str) -> Option<Pattern> {
    match Pattern::compile(text) {
        Ok(pattern) => Some(pattern),
        Err(reason) => {
            let span = arguments.place(name);
            arguments.complain(complain::bad_pattern(text, span, &reason));
            None
        }
    }
}

fn case(arguments: &Arguments<'_>, name: &str) -> Option<Case> {
    Some(match arguments.text(name)?.as_str() {
        "lowercase" => Case::Lower,
        "uppercase" => Case::Upper,
        _ => Case::Capital,
    })
}

impl Case {
    fn apply(self, text: &str) -> String {
        match self {
            Case::Lower => text.to_lowercase(),
            Case::Upper => text.to_uppercase(),
            Case::Capital => temblor_ruby::plain::capitalize(text),
        }
    }
}

/// A search that took too long.
#[derive(Debug)]
pub(super) struct TooLong;

/// What the event decides before its text is read.
struct Choice<'a> {
    prefix: &'a str,
    include: Vec<&'a str>,
    exclude: Vec<&'a str>,
}

impl Filter for Kv {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let (arena, now) = (turn.arena, turn.now);
        let all = |list: &'a [Template], event: &LogEvent<'a>| {
            list.iter().map(|one| one.render(event, arena, now)).collect()
        };
        let choice = Choice {
            prefix: self.prefix.render(event, arena, now),
            include: all(&self.include, event),
            exclude: all(&self.exclude, event),
        };
        let texts: Vec<&'a str> = match event.get(&self.source) {
            Some(Datum::Str(text)) => vec![text],
            Some(Datum::List(items)) => items.iter().filter_map(Datum::as_str).collect(),
            _ => Vec::new(),
        };
        let mut found = Map::default();
        for text in texts {
            if self.read(text, &choice, &mut found, turn, 0).is_err() {
                event.tag(&self.timeout_tag);
                return Outcome::Unmatched;
            }
        }
        for (key, value) in &self.defaults {
            if found.get(key).is_none() {
                found.insert(key, value.value(event, arena, now));
            }
        }
        if found.is_empty() {
            return Outcome::Unmatched;
        }
        let stored = match &self.target {
            Some(target) => event.set(target, Datum::Map(found), arena).is_ok(),
            None => found.into_entries().into_iter().all(|(key, value)| {
                let field = FieldRef::parse(key);
                field.is_ok_and(|field| event.set(&field, value, arena).is_ok())
            }),
        };
        if stored { Outcome::Matched } else { turn.fail(event, &self.tags) }
    }
}

impl Kv {
    fn read<'a>(
        &'a self,
        text: &'a str,
        choice: &Choice<'a>,
        found: &mut Map<'a>,
        turn: &Turn<'a, '_>,
        depth: usize,
    ) -> Result<(), TooLong> {
        let mut scanner = Scanner::new(&self.tooling, text);
        while let Some((key, value)) = scanner.next()? {
            // Whether a value is empty counts before anything is cut from it.
            if value.is_empty() && !self.tooling.allow_empty {
                continue;
            }
            let Some(key) = self.key(key, choice, turn) else { continue };
            let value = self.value(value, turn);
            if !self.duplicates && found.get(key).is_some_and(|old| has(old, value)) {
                continue;
            }
            let mut datum = Datum::Str(value);
            if self.recursive && depth < RECURSION_MAX {
                let mut inner = Map::default();
                self.read(value, choice, &mut inner, turn, depth + 1)?;
                if !inner.is_empty() {
                    datum = Datum::Map(inner);
                }
            }
            store(found, key, datum);
        }
        Ok(())
    }

    fn key<'a>(
        &'a self,
        key: &'a str,
        choice: &Choice<'a>,
        turn: &Turn<'a, '_>,
    ) -> Option<&'a str> {
        let key = without(key, &self.trim_key, turn);
        let mut key = without(key, &self.remove_key, turn);
        if let Some(case) = self.transform_key {
            key = turn.arena.str(&case.apply(key));
        }
        let included = choice.include.is_empty() || choice.include.contains(&key);
        if !included || choice.exclude.contains(&key) {
            return None;
        }
        if choice.prefix.is_empty() {
            return Some(key);
        }
        Some(turn.arena.format(format_args!("{}{key}", choice.prefix)))
    }

    fn value<'a>(&'a self, value: &'a str, turn: &Turn<'a, '_>) -> &'a str {
        let value = without(value, &self.trim_value, turn);
        let value = without(value, &self.remove_value, turn);
        match self.transform_value {
            Some(case) => turn.arena.str(&case.apply(value)),
            None => value,
        }
    }
}

/// Whether a value is there already: as an item, or, as Ruby's `include?` has it, as a part of the one
/// text or as a key of the one map.
fn has(old: &Datum<'_>, value: &str) -> bool {
    match old {
        Datum::List(items) => items.iter().any(|item| item.as_str() == Some(value)),
        Datum::Str(text) => text.contains(value),
        Datum::Map(map) => map.get(value).is_some(),
        _ => false,
    }
}

fn store<'a>(found: &mut Map<'a>, key: &'a str, value: Datum<'a>) {
    match found.get_mut(key) {
        None => found.append(key, value),
        Some(Datum::List(items)) => items.push(value),
        Some(old) => {
            let first = std::mem::take(old);
            *old = Datum::List(vec![first, value]);
        }
    }
}

/// The text without what the pattern finds.
fn without<'a>(text: &'a str, pattern: &Option<Pattern>, turn: &Turn<'a, '_>) -> &'a str {
    let Some(pattern) = pattern else { return text };
    let Ok(spans) = pattern.spans(text) else { return text };
    let (mut rest, mut spans) = (text, spans.as_slice());
    // What is cut off at an end leaves the rest as it is.
    if let [(_, to @ 1..), more @ ..] = spans
        && spans[0].0 == 0
    {
        (rest, spans) = (&text[*to..], more);
    }
    let begin = text.len() - rest.len();
    if let [less @ .., (from, to)] = spans
        && *to == text.len()
    {
        (rest, spans) = (&text[begin..*from], less);
    }
    if spans.is_empty() {
        return rest;
    }
    let (mut kept, mut at) = (String::with_capacity(rest.len()), begin);
    for (from, to) in spans {
        kept.push_str(&text[at..*from]);
        at = *to;
    }
    kept.push_str(&text[at..begin + rest.len()]);
    turn.arena.str(&kept)
}
