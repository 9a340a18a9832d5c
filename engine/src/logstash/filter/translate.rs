//! `translate`: looks a field up in a dictionary that stands in the configuration or in a file. A file
//! is read at the start.

use super::common::Added;
use super::{Declaration, Filter, Outcome, Turn};
use crate::logstash::complain;
use crate::logstash::datum::Datum;
use crate::logstash::event::LogEvent;
use crate::logstash::options::{Arguments, Setting, Takes, gone, option};
use crate::logstash::pattern::Pattern;
use crate::logstash::reference::FieldRef;
use crate::logstash::template::Template;
use std::collections::HashMap;

mod dictionary;

/// `translate`
pub static DECLARATION: Declaration = Declaration {
    name: "translate",
    doc: "Looks a field up in a dictionary.",
    options: &[
        option("source", Takes::Text, "The field to look up."),
        option("field", Takes::Text, "The old name of `source`."),
        option("target", Takes::Text, "Where the result goes."),
        option("destination", Takes::Text, "The old name of `target`."),
        option("dictionary", Takes::Hash, "Values by key."),
        option("dictionary_path", Takes::Text, "A file of values by key: .yml, .json or .csv."),
        option("yaml_dictionary_code_point_limit", Takes::Number, "Accepted."),
        option("yaml_load_strategy", Takes::OneOf(&["one_shot", "streaming"]), "Accepted."),
        option("exact", Takes::Flag, "Whether the whole value is looked up."),
        option("regex", Takes::Flag, "Whether keys are regular expressions."),
        option("fallback", Takes::Text, "The result when nothing is found."),
        option("override", Takes::Flag, "Whether an existing target is replaced."),
        option("refresh_interval", Takes::Number, "Accepted; files are read at the start."),
        option("refresh_behaviour", Takes::OneOf(&["merge", "replace"]), "Accepted."),
        option("iterate_on", Takes::Text, "A list whose items are looked up one by one."),
        gone("add_field_in_dictionary", "leave it out"),
    ],
    make,
};

#[derive(Debug)]
struct Translate {
    source: FieldRef,
    target: FieldRef,
    lookup: Lookup,
    fallback: Option<Template>,
    overwrite: bool,
    iterate_on: Option<FieldRef>,
}

#[derive(Debug)]
enum Lookup {
    /// The whole value is a key.
    Exact(HashMap<String, Added>),
    /// The first expression that is found.
    Regex(Vec<(Pattern, Added)>),
    /// All keys inside of the value are replaced.
    Inside(Option<Pattern>, HashMap<String, String>),
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let source_option = if arguments.get("source").is_some() { "source" } else { "field" };
    let Some(text) = arguments.text(source_option) else {
        let span = arguments.span;
        arguments.complain(complain::missing_option("translate", "source", span));
        return None;
    };
    let source = arguments.field(source_option, &text)?;
    let target_option = if arguments.get("target").is_some() { "target" } else { "destination" };
    let default = if arguments.ecs.is_on() { text } else { "translation".to_string() };
    let target = arguments.field(target_option, &default)?;
    let entries = match arguments.text("dictionary_path") {
        Some(path) => {
            let span = arguments.place("dictionary_path");
            match dictionary::read(&path, span) {
                Ok(entries) => entries,
                Err(reason) => {
                    arguments.complain(complain::missing_file(span, &reason));
                    Vec::new()
                }
            }
        }
        None => arguments.pairs("dictionary"),
    };
    let exact = arguments.flag("exact", true);
    let lookup = lookup(entries, exact, arguments.flag("regex", false), arguments);
    let iterate_on = arguments.field_or_none("iterate_on");
    Some(Box::new(Translate {
        overwrite: arguments.flag("override", source == target),
        source,
        target,
        lookup,
        fallback: arguments.text("fallback").as_deref().map(Template::parse),
        iterate_on,
    }))
}

fn lookup(
    entries: Vec<(String, Setting)>,
    exact: bool,
    regex: bool,
    arguments: &mut Arguments<'_>,
) -> Lookup {
    let mut compile = |text: &str, setting: &Setting| match Pattern::compile(text) {
        Ok(pattern) => Some(pattern),
        Err(reason) => {
            arguments.complain(complain::bad_pattern(text, setting.span, &reason));
            None
        }
    };
    if exact && !regex {
        return Lookup::Exact(
            entries.iter().map(|(key, value)| (key.clone(), Added::constant(value))).collect(),
        );
    }
    if exact {
        let patterns = entries
            .iter()
            .filter_map(|(key, value)| Some((compile(key, value)?, Added::constant(value))));
        return Lookup::Regex(patterns.collect());
    }
    // Keys are texts here, whatever `regex` says.
    let Some((_, first)) = entries.first() else { return Lookup::Inside(None, HashMap::new()) };
    let all: Vec<_> = entries.iter().map(|(key, _)| regex::escape(key)).collect();
    let union = compile(&all.join("|"), first);
    Lookup::Inside(
        union,
        entries.iter().map(|(key, value)| (key.clone(), super::ruby_text(value))).collect(),
    )
}

impl Filter for Translate {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let found = match &self.iterate_on {
            None => self.one(event, turn),
            Some(list) if *list == self.source => self.each_value(event, turn),
            Some(list) => self.each_map(list, event, turn),
        };
        if found.is_some() { Outcome::Matched } else { Outcome::Unmatched }
    }
}

impl Translate {
    fn one<'a>(&'a self, event: &mut LogEvent<'a>, turn: &Turn<'a, '_>) -> Option<()> {
        if !self.overwrite && event.includes(&self.target) {
            return None;
        }
        let source = match event.get(&self.source)? {
            Datum::List(items) => items.first().cloned().unwrap_or_default(),
            value => value.clone(),
        };
        let found = self.find(&source, event, turn)?;
        event.set(&self.target, found, turn.arena).ok()
    }

    fn each_value<'a>(&'a self, event: &mut LogEvent<'a>, turn: &Turn<'a, '_>) -> Option<()> {
        if !self.overwrite && event.includes(&self.target) {
            return None;
        }
        let items = match event.get(&self.source)? {
            Datum::List(items) => items.clone(),
            one => vec![one.clone()],
        };
        let mut any = None;
        let results = items.iter().map(|item| {
            let found = self.find(item, event, turn);
            any = any.or(found.as_ref().map(|_| ()));
            found.unwrap_or_default()
        });
        let results = Datum::List(results.collect());
        any?;
        event.set(&self.target, results, turn.arena).ok()
    }

    fn each_map<'a>(
        &'a self,
        list: &FieldRef,
        event: &mut LogEvent<'a>,
        turn: &Turn<'a, '_>,
    ) -> Option<()> {
        let Datum::List(mut items) = event.value_of(list)? else { return None };
        let mut any = None;
        for item in &mut items {
            let Datum::Map(map) = item else { continue };
            let mut inner = LogEvent { data: std::mem::take(map), ..LogEvent::default() };
            any = self.one(&mut inner, turn).or(any);
            *map = inner.data;
        }
        any?;
        event.set(list, Datum::List(items), turn.arena).ok()
    }

    fn find<'a>(
        &'a self,
        value: &Datum<'a>,
        event: &LogEvent<'a>,
        turn: &Turn<'a, '_>,
    ) -> Option<Datum<'a>> {
        let (arena, now) = (turn.arena, turn.now);
        let text = value.text_in(arena);
        let found = match &self.lookup {
            Lookup::Exact(entries) => entries.get(text).map(|found| found.value(event, arena, now)),
            Lookup::Regex(entries) => entries
                .iter()
                .find(|(pattern, _)| pattern.is_in(text))
                .map(|(_, found)| found.value(event, arena, now)),
            Lookup::Inside(union, entries) => union
                .as_ref()
                .and_then(|union| inside(text, union, entries))
                .map(|found| Datum::Str(arena.str(&found))),
        };
        found.or_else(|| {
            self.fallback.as_ref().map(|text| Datum::Str(text.render(event, arena, now)))
        })
    }
}

/// The text with all keys replaced, if there is one in it.
fn inside(text: &str, union: &Pattern, entries: &HashMap<String, String>) -> Option<String> {
    let found = union.find_all(text).ok()?;
    let mut out = String::new();
    let mut end = 0;
    for groups in &found {
        let (from, to) = groups[0]?;
        out.push_str(&text[end..from]);
        out.push_str(entries.get(&text[from..to]).map_or("", String::as_str));
        end = to;
    }
    out.push_str(&text[end..]);
    (out != text).then_some(out)
}
