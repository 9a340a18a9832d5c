//! `translate`: looks a field up in a dictionary that stands in the configuration or in a file. A file
//! is read at the start, and again when it has changed.

use super::{Added, Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, gone, option};
use refreshed::Refreshed;
use search::{Matching, Search};
use std::sync::Arc;
use std::time::Duration;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

mod dictionary;
mod refreshed;
mod search;

/// Seconds from look to look at a dictionary's file, as in Logstash.
const REFRESH_SECONDS: f64 = 300.0;

/// `translate`
pub(crate) static DECLARATION: Declaration = Declaration {
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
        option(
            "refresh_interval",
            Takes::Number,
            "Seconds from look to look at the file (300); 0 is never.",
        ),
        option(
            "refresh_behaviour",
            Takes::OneOf(&["merge", "replace"]),
            "Whether keys that have gone from the file stay (merge) or go.",
        ),
        option("iterate_on", Takes::Text, "A list whose items are looked up one by one."),
        gone("add_field_in_dictionary", "leave it out"),
    ],
    make,
};

#[derive(Debug)]
struct Translate {
    source: FieldRef,
    target: FieldRef,
    table: Table,
    fallback: Option<Template>,
    overwrite: bool,
    iterate_on: Option<FieldRef>,
}

#[derive(Debug)]
enum Table {
    /// It stays as it is.
    Fixed(Search),
    /// It follows its file.
    Refreshed(Arc<Refreshed>),
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
    let table = table(arguments);
    let iterate_on = arguments.field_or_none("iterate_on");
    Some(Box::new(Translate {
        overwrite: arguments.flag("override", source == target),
        source,
        target,
        table,
        fallback: arguments.text("fallback").as_deref().map(Template::parse),
        iterate_on,
    }))
}

/// The dictionary; what is wrong with it has been said.
fn table(arguments: &mut Arguments<'_>) -> Table {
    let matching =
        Matching { exact: arguments.flag("exact", true), regex: arguments.flag("regex", false) };
    let Some(path) = arguments.text("dictionary_path") else {
        let pairs = arguments.pairs("dictionary");
        let entries: Vec<_> =
            pairs.iter().map(|(key, value)| (key.clone(), Added::constant(value))).collect();
        return Table::Fixed(search(&entries, matching, arguments));
    };
    let span = arguments.place("dictionary_path");
    let every = arguments.number("refresh_interval").unwrap_or(REFRESH_SECONDS);
    let every = Duration::try_from_secs_f64(every).ok().filter(|every| !every.is_zero());
    let merges = arguments.text("refresh_behaviour").as_deref() != Some("replace");
    let file = refreshed::DictionaryFile::new(&path, matching, merges);
    match dictionary::read(&path) {
        Ok(entries) => {
            let search = search(&entries, matching, arguments);
            match every {
                Some(every) => Table::Refreshed(Refreshed::new(file, every, entries, search)),
                None => Table::Fixed(search),
            }
        }
        Err(reason) => {
            arguments.complain(complain::missing_file(span, &reason));
            Table::Fixed(search(&[], matching, arguments))
        }
    }
}

fn search(
    entries: &[dictionary::Entry],
    matching: Matching,
    arguments: &mut Arguments<'_>,
) -> Search {
    let place = |text: &str| {
        let pairs = arguments.pairs("dictionary");
        let found = pairs.iter().find(|(key, _)| key == text);
        found.map_or_else(|| arguments.place("dictionary_path"), |(_, value)| value.span)
    };
    let mut wrong = Vec::new();
    let search = Search::build(entries, matching, |text, reason| {
        wrong.push(complain::bad_pattern(text, place(text), reason));
    });
    wrong.into_iter().for_each(|one| arguments.complain(one));
    search
}

impl Filter for Translate {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let found = match &self.iterate_on {
            None => self.one(event, None, turn),
            Some(list) if *list == self.source => self.each_value(event, turn),
            Some(list) => self.each_map(list, event, turn),
        };
        if found.is_some() { Outcome::Matched } else { Outcome::Unmatched }
    }
}

impl Translate {
    fn one<'a>(
        &'a self,
        event: &mut LogEvent<'a>,
        around: Option<&LogEvent<'a>>,
        turn: &Turn<'a, '_>,
    ) -> Option<()> {
        if !self.overwrite && event.includes(&self.target) {
            return None;
        }
        let source = match event.get(&self.source)? {
            Datum::List(items) => items.first().cloned().unwrap_or_default(),
            value => value.clone(),
        };
        let found = self.find(&source, around.unwrap_or(event), turn)?;
        event.set(&self.target, found, turn.arena).ok()
    }

    /// A list of results; what is not found is null in it.
    fn each_value<'a>(&'a self, event: &mut LogEvent<'a>, turn: &Turn<'a, '_>) -> Option<()> {
        if !self.overwrite && event.includes(&self.target) {
            return None;
        }
        let items = match event.get(&self.source)? {
            Datum::List(items) => items.clone(),
            one => vec![one.clone()],
        };
        let results: Vec<_> =
            items.iter().map(|item| self.find(item, event, turn).unwrap_or_default()).collect();
        let any = results.iter().any(|one| !matches!(one, Datum::Null | Datum::Bool(false)));
        event.set(&self.target, Datum::List(results), turn.arena).ok()?;
        any.then_some(())
    }

    /// A result in each map of a list; what the fallback names is in the event around.
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
            any = self.one(&mut inner, Some(event), turn).or(any);
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
        let found = match &self.table {
            Table::Fixed(search) => search.find(text, event, arena, now),
            Table::Refreshed(file) => file.find(text, event, arena, now),
        };
        found.or_else(|| {
            self.fallback.as_ref().map(|text| Datum::Str(text.render(event, arena, now)))
        })
    }
}
