//! `mutate`: changes fields, in an order of its own whatever the order in the file. What fails ends
//! it with a tag.

mod convert;
pub(crate) mod sequence;
mod text;

use super::common::Name;
use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Setting, Takes, option};
use convert::Target;
use temblor_lang::span::Span;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;
use temblor_ruby::plain::{split_text, strip};
use text::{Case, Substitution};

/// `mutate`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "mutate",
    doc: "Renames, replaces, converts and otherwise changes fields.",
    options: &[
        option("coerce", Takes::Hash, "Values for fields that are null."),
        option("rename", Takes::Hash, "New names of fields."),
        option("update", Takes::Hash, "New values of fields that are there."),
        option("replace", Takes::Hash, "New values of fields."),
        option("convert", Takes::Hash, "Types of fields."),
        option("gsub", Takes::List, "Triples of field, regular expression and replacement."),
        option("uppercase", Takes::List, "Fields to be put in upper case."),
        option("capitalize", Takes::List, "Fields to begin with a capital letter."),
        option("lowercase", Takes::List, "Fields to be put in lower case."),
        option("strip", Takes::List, "Fields to lose the blanks at both ends."),
        option("split", Takes::Hash, "Fields to become lists, with the separator."),
        option("join", Takes::Hash, "Lists to become texts, with the separator."),
        option("merge", Takes::Hash, "Fields to be added to others."),
        option("copy", Takes::Hash, "Fields to be copied to others."),
        option("tag_on_failure", Takes::Text, "The tag that says that it failed."),
    ],
    make,
};

#[derive(Debug)]
enum Step {
    Coerce(FieldRef, Template),
    Rename(Name, Name),
    Update(FieldRef, Template),
    Replace(FieldRef, Template),
    Convert(FieldRef, Target),
    Gsub(FieldRef, Substitution),
    Case(FieldRef, Case),
    Strip(FieldRef),
    Split(FieldRef, String),
    Join(FieldRef, String),
    Merge(Name, Vec<Name>),
    Copy(FieldRef, Name),
    /// An operation on what is no field reference: it fails.
    Fail,
}

#[derive(Debug)]
struct Mutate {
    steps: Vec<Step>,
    tag_on_failure: String,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    sequence::explain(arguments);
    let mut steps = Vec::new();
    let template = |value: &Setting| Some(Template::parse(&super::ruby_text(value)));
    each(arguments, "coerce", &mut steps, |field, value, _| {
        Some(Step::Coerce(field, template(value)?))
    });
    for (old, new) in arguments.pairs("rename") {
        // Of several names Ruby makes one text: `["a", "b"]`.
        let text = super::ruby_text(&new);
        let old = Name::compile(&old, new.span, arguments);
        steps.push(Step::Rename(old, Name::compile(&text, new.span, arguments)));
    }
    each(arguments, "update", &mut steps, |field, value, _| {
        Some(Step::Update(field, template(value)?))
    });
    each(arguments, "replace", &mut steps, |field, value, _| {
        Some(Step::Replace(field, template(value)?))
    });
    each(arguments, "convert", &mut steps, |field, value, arguments| {
        let target = value.text().and_then(Target::named);
        if target.is_none() {
            let wanted = format!("a type: {}", Target::NAMES.join(", "));
            arguments.complain(complain::bad_value("convert", value.span, &wanted));
        }
        Some(Step::Convert(field, target?))
    });
    gsub(arguments, &mut steps);
    for (name, case) in
        [("uppercase", Case::Upper), ("capitalize", Case::Capital), ("lowercase", Case::Lower)]
    {
        fields(arguments, name, &mut steps, |field| Step::Case(field, case));
    }
    fields(arguments, "strip", &mut steps, Step::Strip);
    let separator = |option, value: &Setting, arguments: &mut Arguments<'_>| {
        let text = value.text()?;
        explain_escapes(option, text, value.span, arguments);
        Some(text.to_string())
    };
    each(arguments, "split", &mut steps, |field, value, arguments| {
        Some(Step::Split(field, separator("split", value, arguments)?))
    });
    each(arguments, "join", &mut steps, |field, value, arguments| {
        Some(Step::Join(field, separator("join", value, arguments)?))
    });
    for (key, value) in arguments.pairs("merge") {
        let target = Name::compile(&key, value.span, arguments);
        let sources = value
            .items()
            .iter()
            .filter_map(|item| Some(Name::compile(item.text()?, item.span, arguments)));
        steps.push(Step::Merge(target, sources.collect()));
    }
    each(arguments, "copy", &mut steps, |field, value, arguments| {
        Some(Step::Copy(field, Name::compile(&super::ruby_text(value), value.span, arguments)))
    });
    let tag = arguments.text("tag_on_failure");
    let tag_on_failure = tag.unwrap_or_else(|| "_mutate_error".to_string());
    Some(Box::new(Mutate { steps, tag_on_failure }))
}

/// Explains `\n` and its like where no regular expression reads them.
fn explain_escapes(option: &str, text: &str, span: Span, arguments: &mut Arguments<'_>) {
    let has_escape = ["\\n", "\\t", "\\r"].iter().any(|escape| text.contains(escape));
    if has_escape && !arguments.settings.escapes {
        arguments.explain(complain::two_characters(option, span));
    }
}

/// Adds a step for each pair of a hash whose keys are fields.
fn each(
    arguments: &mut Arguments<'_>,
    option: &str,
    steps: &mut Vec<Step>,
    mut make: impl FnMut(FieldRef, &Setting, &mut Arguments<'_>) -> Option<Step>,
) {
    for (key, value) in arguments.pairs(option) {
        match FieldRef::parse(&key) {
            Ok(field) => match make(field, &value, arguments) {
                Some(step) => steps.push(step),
                None if value.text().is_none() => {
                    arguments.complain(complain::bad_value(option, value.span, "a hash of texts"));
                }
                None => {}
            },
            Err(reason) => {
                arguments.complain(complain::failing_reference(&key, value.span, reason));
                steps.push(Step::Fail);
            }
        }
    }
}

fn fields(
    arguments: &mut Arguments<'_>,
    option: &str,
    steps: &mut Vec<Step>,
    make: impl Fn(FieldRef) -> Step,
) {
    for (text, span) in arguments.texts(option).unwrap_or_default() {
        match FieldRef::parse(&text) {
            Ok(field) => steps.push(make(field)),
            Err(reason) => {
                arguments.complain(complain::failing_reference(&text, span, reason));
                steps.push(Step::Fail);
            }
        }
    }
}

fn gsub(arguments: &mut Arguments<'_>, steps: &mut Vec<Step>) {
    let Some(texts) = arguments.texts("gsub") else { return };
    if texts.len() % 3 != 0 {
        let wanted = "triples of field, regular expression and replacement";
        arguments.complain(complain::bad_value("gsub", arguments.place("gsub"), wanted));
        return;
    }
    for triple in texts.chunks_exact(3) {
        let [(field, span), (needle, needle_span), (replacement, last)] = triple else { continue };
        explain_escapes("gsub", replacement, *last, arguments);
        let field = FieldRef::parse(field).map_err(|reason| {
            arguments.complain(complain::failing_reference(field, *span, reason));
            steps.push(Step::Fail);
        });
        let substitution = Substitution::compile(needle, replacement).map_err(|reason| {
            arguments.complain(complain::bad_pattern(needle, *needle_span, &reason));
        });
        if let (Ok(field), Ok(substitution)) = (field, substitution) {
            steps.push(Step::Gsub(field, substitution));
        }
    }
}

/// The filter failed.
struct Failed;

impl Filter for Mutate {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        for step in &self.steps {
            if step.run(event, turn).is_err() {
                event.tag(&self.tag_on_failure);
                return Outcome::Unmatched;
            }
        }
        Outcome::Matched
    }
}

impl Step {
    fn run<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Result<(), Failed> {
        let (arena, now) = (turn.arena, turn.now);
        let set = |event: &mut LogEvent<'a>, field: &FieldRef, value| {
            event.set(field, value, arena).map_err(|_| Failed)
        };
        match self {
            Step::Coerce(field, value) => {
                if event.get(field) == Some(&Datum::Null) {
                    let value = value.render(event, arena, now);
                    set(event, field, Datum::Str(value))?;
                }
            }
            Step::Rename(old, new) => {
                let old = old.of(event, arena, now).ok_or(Failed)?;
                let new = new.of(event, arena, now).ok_or(Failed)?;
                if event.includes(&old) {
                    // What cannot be put elsewhere stays where it is.
                    if !event.get(&old).is_none_or(|value| value.fits(new.steps.len())) {
                        return Err(Failed);
                    }
                    let value = event.remove(&old).unwrap_or_default();
                    set(event, &new, value)?;
                }
            }
            Step::Update(field, value) => {
                if event.includes(field) {
                    let value = value.render(event, arena, now);
                    set(event, field, Datum::Str(value))?;
                }
            }
            Step::Replace(field, value) => {
                let value = value.render(event, arena, now);
                set(event, field, Datum::Str(value))?;
            }
            Step::Convert(field, target) => {
                if let Some(value) = event.get_mut(field) {
                    target.convert(value, arena).map_err(|_| Failed)?;
                }
            }
            Step::Gsub(field, substitution) => {
                let Some(value) = event.value_of(field) else { return Ok(()) };
                if let Some(changed) = substitution.run(&value, event, turn).ok_or(Failed)? {
                    set(event, field, changed)?;
                }
            }
            Step::Case(..) | Step::Strip(_) | Step::Split(..) | Step::Join(..) => {
                return self.in_place(event, arena);
            }
            Step::Fail => return Err(Failed),
            Step::Merge(target, sources) => {
                let target = target.of(event, arena, now).ok_or(Failed)?;
                merge_all(event, &target, sources, turn)?;
            }
            Step::Copy(from, to) => {
                let to = to.of(event, arena, now).ok_or(Failed)?;
                if !event.get(from).is_none_or(|value| value.admits_copies(1, arena)) {
                    return Err(Failed);
                }
                match event.value_of(from) {
                    None | Some(Datum::Null) => {}
                    Some(value) => set(event, &to, value)?,
                }
            }
        }
        Ok(())
    }
}

impl Step {
    /// Operations on the texts and lists of one field.
    fn in_place<'a>(&'a self, event: &mut LogEvent<'a>, arena: &'a Arena) -> Result<(), Failed> {
        match self {
            Step::Case(field, case) => {
                if let Some(value) = event.get_mut(field) {
                    text::each_text(value, |text| case.apply(text, arena));
                }
            }
            Step::Strip(field) => {
                if let Some(value) = event.get_mut(field) {
                    if matches!(value, Datum::List(items) if items.iter().any(|item| item.as_str().is_none()))
                    {
                        return Err(Failed);
                    }
                    text::each_text(value, strip);
                }
            }
            Step::Split(field, separator) => {
                if let Some(value) = event.get_mut(field)
                    && let Datum::Str(text) = value
                {
                    let pieces = split_text(text, separator);
                    *value = Datum::List(pieces.into_iter().map(Datum::Str).collect());
                }
            }
            Step::Join(field, separator) => {
                if let Some(value) = event.get_mut(field)
                    && let Datum::List(items) = value
                {
                    *value = Datum::Str(arena.str(&text::join(items, separator)));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Adds sources to a field. The field is read once, before all: when it is no list and no map, only
/// what the last source adds stays.
fn merge_all<'a>(
    event: &mut LogEvent<'a>,
    target: &FieldRef,
    sources: &'a [Name],
    turn: &Turn<'a, '_>,
) -> Result<(), Failed> {
    let admits = |event: &LogEvent<'a>, field: &FieldRef| {
        event.get(field).is_none_or(|value| value.admits_copies(2, turn.arena))
    };
    if !admits(event, target) {
        return Err(Failed);
    }
    let mut old = event.value_of(target).unwrap_or_default();
    for source in sources {
        let source = source.of(event, turn.arena, turn.now).ok_or(Failed)?;
        if !admits(event, &source) {
            return Err(Failed);
        }
        let added = event.value_of(&source).unwrap_or_default();
        let merged = match (&mut old, added) {
            (Datum::Map(old), Datum::Map(new)) => {
                merge_maps(old, new);
                Datum::Map(old.clone())
            }
            // Maps and others do not mix.
            (Datum::Map(_), _) | (_, Datum::Map(_)) => continue,
            (Datum::List(items), new) => {
                items.extend(listed(new));
                Datum::List(items.clone())
            }
            (old, new) => {
                let mut items = listed(old.clone());
                items.extend(listed(new));
                Datum::List(items)
            }
        };
        event.set(target, merged, turn.arena).map_err(|_| Failed)?;
    }
    Ok(())
}

fn merge_maps<'a>(old: &mut Map<'a>, new: Map<'a>) {
    new.into_entries().into_iter().for_each(|(key, value)| old.insert(key, value));
}

fn listed(value: Datum<'_>) -> Vec<Datum<'_>> {
    match value {
        Datum::Null => Vec::new(),
        Datum::List(items) => items,
        one => vec![one],
    }
}
