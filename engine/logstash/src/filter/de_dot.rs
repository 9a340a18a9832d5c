//! `de_dot`: takes the dots out of the names of fields, or makes maps of them.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{DEPTH_MAX, Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::{FieldRef, Step};

/// `de_dot`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "de_dot",
    doc: "Takes the dots out of the names of fields.",
    options: &[
        option("separator", Takes::Text, "What stands in the place of a dot."),
        option("nested", Takes::Flag, "Whether a name becomes maps instead."),
        option("fields", Takes::List, "The fields; without it, all at the top."),
        option("recursive", Takes::Flag, "Whether names in maps change, too."),
    ],
    make,
};

#[derive(Debug)]
struct DeDot {
    separator: String,
    nested: bool,
    recursive: bool,
    fields: Option<Vec<String>>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let fields = arguments.words("fields");
    let separator = arguments.text("separator").unwrap_or_else(|| "_".to_string());
    if separator.contains('.') {
        let place = arguments.place("separator");
        arguments.complain(complain::bad_value("separator", place, "a text without a dot"));
        return None;
    }
    Some(Box::new(DeDot {
        separator,
        nested: arguments.flag("nested", false),
        recursive: arguments.flag("recursive", false),
        fields,
    }))
}

impl Filter for DeDot {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        if let Some(fields) = &self.fields {
            return self.named(fields, event, turn);
        }
        let fields = std::mem::take(&mut event.data).into_entries();
        let mut good = true;
        for (name, mut value) in fields {
            if self.recursive {
                self.inside(&mut value, turn.arena);
            }
            good &= self.put(&mut event.data, name, value, turn.arena);
        }
        if !good {
            event.tag("_de_dot_error");
            return Outcome::Unmatched;
        }
        Outcome::Matched
    }
}

impl DeDot {
    /// Only these fields, which may lie deep.
    fn named<'a>(
        &self,
        fields: &[String],
        event: &mut LogEvent<'a>,
        turn: &Turn<'a, '_>,
    ) -> Outcome {
        for text in fields.iter().filter(|text| text.contains('.')) {
            let dot = if self.nested { "][" } else { &self.separator };
            let new = match self.nested && !text.starts_with('[') {
                true => format!("[{}]", text.replace('.', dot)),
                false => text.replace('.', dot),
            };
            let (Ok(old), Ok(new)) = (FieldRef::parse(text), FieldRef::parse(&new)) else {
                event.tag("_de_dot_error");
                return Outcome::Unmatched;
            };
            let Some(mut value) = event.remove(&old) else { continue };
            if self.recursive {
                self.inside(&mut value, turn.arena);
            }
            if event.set(&new, value, turn.arena).is_err() {
                event.tag("_de_dot_error");
                return Outcome::Unmatched;
            }
        }
        Outcome::Matched
    }

    /// Puts a field under its new name; false when something stands in the way.
    fn put<'a>(
        &self,
        map: &mut Map<'a>,
        name: &'a str,
        value: Datum<'a>,
        arena: &'a Arena,
    ) -> bool {
        if !name.contains('.') {
            map.insert(name, value);
            return true;
        }
        if !self.nested {
            map.insert(arena.str(&name.replace('.', &self.separator)), value);
            return true;
        }
        let steps: Vec<Step> = name.split('.').take(DEPTH_MAX + 1).map(Step::from).collect();
        if !value.fits(steps.len()) {
            map.insert(name, value);
            return false;
        }
        let field = FieldRef { metadata: false, steps };
        temblor_logstash_event::reference::set(map, &field.steps, value, arena).is_ok()
    }

    fn inside<'a>(&self, value: &mut Datum<'a>, arena: &'a Arena) {
        let Datum::Map(map) = value else { return };
        for (name, mut value) in std::mem::take(map).into_entries() {
            self.inside(&mut value, arena);
            self.put(map, name, value, arena);
        }
    }
}
