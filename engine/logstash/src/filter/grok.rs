//! `grok`: takes fields out of text by named patterns.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::libraries::{Ingredients, PatternFile};
use crate::options::{Arguments, Takes, gone, option};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::map::Names;
use temblor_logstash_event::reference::{FieldRef, Refused};
use temblor_ruby::plain::{leading_digits, leading_float};
use temblor_stdlib::grok::{Conversion, Grok, Library, Options};

/// `grok`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "grok",
    doc: "Takes fields out of text by named patterns.",
    options: &[
        option("match", Takes::Hash, "Patterns by field."),
        option("patterns_dir", Takes::List, "Folders with files of patterns."),
        option("patterns_files_glob", Takes::Text, "Which files of these folders."),
        option("pattern_definitions", Takes::Hash, "Patterns by name."),
        option("break_on_match", Takes::Flag, "Whether the first match ends the search."),
        option("named_captures_only", Takes::Flag, "Whether only named fields are set."),
        option("keep_empty_captures", Takes::Flag, "Whether empty fields are set."),
        option("overwrite", Takes::List, "Fields whose old value is replaced."),
        option("target", Takes::Text, "Where the fields go."),
        option("tag_on_failure", Takes::List, "The tags of text that does not match."),
        option("tag_on_timeout", Takes::Text, "The tag of text that takes too long."),
        option("timeout_millis", Takes::Number, "Accepted; searches are bounded by steps."),
        option("timeout_scope", Takes::OneOf(&["pattern", "event"]), "Accepted."),
        gone("singles", "leave it out"),
    ],
    make,
};

#[derive(Debug)]
struct GrokFilter {
    /// Fields and their patterns.
    matches: Vec<(FieldRef, Vec<Plan>)>,
    break_on_match: bool,
    keep_empty: bool,
    tags: Vec<String>,
    timeout_tag: String,
}

/// A pattern and where its captures go.
#[derive(Debug)]
struct Plan {
    grok: Grok,
    targets: Vec<Target>,
    /// The names of all targets, when all are texts, each is free, and none stands twice.
    names: Option<Names>,
}

#[derive(Debug)]
struct Target {
    group: usize,
    conversion: Conversion,
    field: FieldRef,
    /// Whether the field is at the top and takes any value.
    is_free: bool,
    overwrite: bool,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let (library, is_complete) = library(arguments)?;
    let mut options = Options {
        named_captures_only: arguments.flag("named_captures_only", true),
        ..Options::default()
    };
    options.syntax.dot_matches_newline = true;
    let overwrite: Vec<String> = arguments
        .texts("overwrite")
        .unwrap_or_default()
        .into_iter()
        .map(|(text, _)| text)
        .collect();
    let target = arguments.field_or_none("target");
    let mut matches = Vec::new();
    for (key, value) in arguments.pairs("match") {
        let Some(field) = arguments.reference(&key, value.span) else { continue };
        let mut plans = Vec::new();
        for item in value.items() {
            let Some(text) = item.text() else {
                arguments.complain(complain::bad_value("match", item.span, "a hash of patterns"));
                continue;
            };
            match Grok::compile(text, &library, &options) {
                Ok(grok) => plans.push(plan(grok, target.as_ref(), &overwrite)),
                Err(error) if is_complete => {
                    arguments.complain(complain::bad_pattern(text, item.span, &error.to_string()));
                }
                Err(error) => {
                    arguments.complain(complain::absent_pattern(item.span, &error.to_string()));
                    return None;
                }
            }
        }
        matches.push((field, plans));
    }
    let break_on_match = arguments.flag("break_on_match", true);
    if !break_on_match && matches.iter().any(|(_, plans)| plans.len() > 1) {
        let span = arguments.place("break_on_match");
        arguments.explain(complain::odd(
            span,
            "of several patterns for a field, the last alone decides whether grok succeeds",
            "give the pattern that must match last, or write one `grok` for each",
        ));
    }
    Some(Box::new(GrokFilter {
        matches,
        break_on_match,
        keep_empty: arguments.flag("keep_empty_captures", false),
        tags: arguments.tags("tag_on_failure", "_grokparsefailure"),
        timeout_tag: arguments.text("tag_on_timeout").unwrap_or_else(|| "_groktimeout".to_string()),
    }))
}

/// The patterns, and whether all files of them were there.
pub(crate) fn library(arguments: &mut Arguments<'_>) -> Option<(Library, bool)> {
    let mut is_complete = true;
    let mut files = Vec::new();
    let glob = arguments.text("patterns_files_glob").unwrap_or_else(|| "*".to_string());
    let folders = arguments.texts("patterns_dir").unwrap_or_default();
    for (folder, span) in &folders {
        match PatternFile::all(folder, &glob) {
            Ok(found) => files.extend(found),
            Err(reason) => {
                is_complete = false;
                arguments.complain(complain::missing_file(*span, &reason));
            }
        }
    }
    let own = arguments.pairs("pattern_definitions").into_iter();
    let own = own.filter_map(|(name, value)| Some((name, value.text()?.to_string()))).collect();
    let ingredients = Ingredients { ecs: arguments.ecs.is_on(), files, own };
    match arguments.settings.libraries.of(ingredients) {
        Ok(library) => Some((library, is_complete)),
        Err(reason) => {
            let span = arguments.place("patterns_dir");
            arguments.complain(complain::bad_file(span, &reason));
            None
        }
    }
}

fn plan(grok: Grok, target: Option<&FieldRef>, overwrite: &[String]) -> Plan {
    let fields = grok.fields();
    let targets = fields.iter().enumerate().filter_map(|(at, spec)| {
        // As in Logstash, a type counts only where its name first stands in the pattern.
        let first = fields[..at].iter().all(|earlier| earlier.name != spec.name);
        let conversion = if first { spec.conversion } else { Conversion::Text };
        let mut field = FieldRef::parse(&spec.name).ok()?;
        if let Some(target) = target {
            field = target.join(&field.steps);
        }
        let overwrite = overwrite.iter().any(|name| {
            *name == spec.name || FieldRef::parse(name).is_ok_and(|known| known == field)
        });
        let is_free = field.is_free();
        Some(Target { group: spec.group, conversion, field, is_free, overwrite })
    });
    let targets: Vec<Target> = targets.collect();
    let names = plain_names(&targets);
    Plan { grok, targets, names }
}

impl Plan {
    /// Whether the event has no field of these names, which are those of all targets.
    fn is_absent(&self, names: Names, event: &LogEvent<'_>) -> bool {
        event.data.lacks_all(names)
            || self.targets.iter().all(|one| event.get(&one.field).is_none())
    }
}

/// The names of targets that are all texts, free, and none twice.
fn plain_names(targets: &[Target]) -> Option<Names> {
    let is_new = |at: usize| targets[..at].iter().all(|one| one.field != targets[at].field);
    let is_plain = |(at, one): (usize, &Target)| {
        one.is_free && one.conversion == Conversion::Text && is_new(at)
    };
    let names = || Names::of(targets.iter().map(|one| one.field.steps[0].key()));
    targets.iter().enumerate().all(is_plain).then(names)
}

/// How a search went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    Found,
    NotFound,
    GaveUp,
    /// A field could not be set: nothing more is tried.
    Refused,
}

impl Filter for GrokFilter {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let mut matched = false;
        for (field, plans) in &self.matches {
            match self.field(field, plans, event, turn) {
                Search::Found => {
                    matched = true;
                    if self.break_on_match {
                        break;
                    }
                }
                Search::NotFound | Search::Refused => {}
                Search::GaveUp => {
                    event.tag(&self.timeout_tag);
                    return Outcome::Unmatched;
                }
            }
        }
        if matched { Outcome::Matched } else { turn.fail(event, &self.tags) }
    }
}

impl GrokFilter {
    /// All patterns over one field. The items of a list are searched one by one.
    fn field<'a>(
        &'a self,
        field: &FieldRef,
        plans: &'a [Plan],
        event: &mut LogEvent<'a>,
        turn: &mut Turn<'a, '_>,
    ) -> Search {
        let texts: Vec<&'a str> = match event.get(field) {
            Some(Datum::List(items)) => items.iter().map(|item| item.text_in(turn.arena)).collect(),
            found => {
                let text = found.map_or("", |value| value.text_in(turn.arena));
                return self.text(plans, text, event, turn);
            }
        };
        let mut result = Search::NotFound;
        for text in texts {
            match self.text(plans, text, event, turn) {
                Search::NotFound => {}
                Search::Found => result = Search::Found,
                ended => return ended,
            }
        }
        result
    }

    /// All patterns over one text; the last one decides when none ends the search.
    fn text<'a>(
        &'a self,
        plans: &'a [Plan],
        text: &'a str,
        event: &mut LogEvent<'a>,
        turn: &mut Turn<'a, '_>,
    ) -> Search {
        let mut result = Search::NotFound;
        for plan in plans {
            if plan.grok.matches(text, turn.captures) {
                if self.capture(plan, text, event, turn).is_err() {
                    return Search::Refused;
                }
                result = Search::Found;
                if self.break_on_match {
                    return result;
                }
            } else if turn.captures.exhausted() {
                return Search::GaveUp;
            } else {
                result = Search::NotFound;
            }
        }
        result
    }

    /// Sets the fields of a match. One that cannot be set ends it.
    fn capture<'a>(
        &'a self,
        plan: &'a Plan,
        text: &'a str,
        event: &mut LogEvent<'a>,
        turn: &mut Turn<'a, '_>,
    ) -> Result<(), Refused> {
        if let Some(names) = plan.names
            && !self.keep_empty
            && plan.is_absent(names, event)
        {
            let captures = &*turn.captures;
            let text_of = |target: &'a Target| {
                let found = captures.get(target.group, text).filter(|found| !found.is_empty())?;
                Some((target.field.steps[0].key(), found))
            };
            event.data.append_texts(names, plan.targets.iter().map(text_of));
            return Ok(());
        }
        for (at, target) in plan.targets.iter().enumerate() {
            let found = turn.captures.get(target.group, text);
            let value = found.map_or(Datum::Null, |found| convert(found, target.conversion));
            if matches!(value, Datum::Null | Datum::Str("")) && !self.keep_empty {
                continue;
            }
            if target.is_free && event.data.lacks(&target.field.steps[0].key()) {
                event.data.append_key(target.field.steps[0].key(), value);
                continue;
            }
            if target.overwrite {
                // A name that repeats in the pattern makes a list even so.
                let first = plan.targets[..at].iter().all(|earlier| earlier.field != target.field);
                if first {
                    event.set(&target.field, value, turn.arena)?;
                    continue;
                }
            }
            store(event, &target.field, value, turn)?;
        }
        Ok(())
    }
}

/// Adds a capture to what is there; what is neither text nor list stays alone.
fn store<'a>(
    event: &mut LogEvent<'a>,
    field: &'a FieldRef,
    value: Datum<'a>,
    turn: &Turn<'a, '_>,
) -> Result<(), Refused> {
    match event.get_mut(field) {
        None => return event.add(field, value, turn.arena),
        Some(Datum::Null) => return event.set(field, value, turn.arena),
        Some(Datum::List(items)) => items.push(value),
        Some(old @ Datum::Str(_)) => {
            let first = std::mem::take(old);
            *old = Datum::List(vec![first, value]);
        }
        Some(_) => {}
    }
    Ok(())
}

fn convert(text: &str, conversion: Conversion) -> Datum<'_> {
    match conversion {
        Conversion::Integer => whole(text),
        Conversion::Float => Datum::Float(leading_float(text)),
        _ => Datum::Str(text),
    }
}

/// As [`leading_integer`]; what is too large for all kinds of whole numbers has a fraction.
fn whole<'a>(text: &str) -> Datum<'a> {
    let digits = leading_digits(text);
    let signed = digits.parse().map(Datum::Int);
    let unsigned = signed.or_else(|_| digits.parse().map(Datum::UInt));
    unsigned.unwrap_or_else(|_| digits.parse().map_or(Datum::Int(0), Datum::Float))
}
