//! The options of every filter, applied when it succeeds: fields added, fields removed, tags added,
//! tags removed, in this order.

use crate::logstash::complain;
use crate::logstash::datum::Datum;
use crate::logstash::event::LogEvent;
use crate::logstash::options::{Arguments, Setting, SettingKind};
use crate::logstash::reference::FieldRef;
use crate::logstash::template::Template;
use chrono::{DateTime, Utc};
use temblor_lang::value::Arena;

/// A field whose name may depend on the event.
#[derive(Debug)]
pub enum Name {
    /// `[a][b]`
    Fixed(FieldRef),
    /// `%{a}_b`
    Open(Template),
}

impl Name {
    /// Reads a name; says so when it is no field reference.
    pub fn compile(
        text: &str,
        span: temblor_lang::span::Span,
        arguments: &mut Arguments<'_>,
    ) -> Option<Self> {
        let template = Template::parse(text);
        if !template.is_constant() {
            return Some(Name::Open(template));
        }
        match FieldRef::parse(text) {
            Ok(field) => Some(Name::Fixed(field)),
            Err(reason) => {
                arguments.complain(complain::bad_reference(text, span, reason));
                None
            }
        }
    }

    /// The field for one event, if its name is one.
    pub fn of<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Option<std::borrow::Cow<'a, FieldRef>> {
        match self {
            Name::Fixed(field) => Some(std::borrow::Cow::Borrowed(field)),
            Name::Open(template) => {
                let text = template.render(event, arena, now);
                FieldRef::parse(text).ok().map(std::borrow::Cow::Owned)
            }
        }
    }
}

/// A value to be added: texts are completed for each event.
#[derive(Debug)]
pub enum Added {
    /// `"text %{a}"`
    Text(Template),
    /// A text that is the same for all events.
    Fixed(String),
    /// `12`
    Number(Datum<'static>),
    /// Several.
    List(Vec<Added>),
    /// `{ "a" => 1 }`
    Map(Vec<(String, Added)>),
}

impl Added {
    /// What a setting says.
    #[must_use]
    pub fn of(setting: &Setting) -> Self {
        match &setting.kind {
            SettingKind::Text(text) => Added::Text(Template::parse(text)),
            SettingKind::Number(text) => Added::Number(number(text)),
            SettingKind::List(items) => Added::List(items.iter().map(Added::of).collect()),
            SettingKind::Hash(entries) => Added::Map(
                entries.iter().map(|(key, value)| (key.clone(), Added::of(value))).collect(),
            ),
            SettingKind::Codec(plugin) => Added::Text(Template::parse(&plugin.name.text)),
        }
    }

    /// The value for one event.
    #[must_use]
    pub fn value<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Datum<'a> {
        match self {
            Added::Text(template) => Datum::Str(template.render(event, arena, now)),
            Added::Fixed(text) => Datum::Str(text),
            Added::Number(number) => number.clone(),
            Added::List(items) => {
                Datum::List(items.iter().map(|item| item.value(event, arena, now)).collect())
            }
            Added::Map(entries) => Datum::Map(
                entries
                    .iter()
                    .map(|(key, value)| (&**key, value.value(event, arena, now)))
                    .collect(),
            ),
        }
    }
}

/// A number of a configuration.
pub fn number(text: &str) -> Datum<'static> {
    match text.parse() {
        Ok(number) => Datum::Int(number),
        Err(_) => Datum::Float(text.trim_end_matches('.').parse().unwrap_or(f64::NAN)),
    }
}

/// What happens to an event when its filter succeeds.
#[derive(Debug, Default)]
pub struct Common {
    add_field: Vec<(Name, Added)>,
    remove_field: Vec<Name>,
    add_tag: Vec<Template>,
    remove_tag: Vec<Template>,
}

impl Common {
    /// Reads the common options.
    pub fn compile(arguments: &mut Arguments<'_>) -> Self {
        let mut common = Self::default();
        for (key, value) in arguments.pairs("add_field") {
            if let Some(name) = Name::compile(&key, value.span, arguments) {
                common.add_field.push((name, Added::of(&value)));
            }
        }
        for (text, span) in arguments.texts("remove_field").unwrap_or_default() {
            common.remove_field.extend(Name::compile(&text, span, arguments));
        }
        let templates = |texts: Option<Vec<(String, _)>>| {
            texts.unwrap_or_default().iter().map(|(text, _)| Template::parse(text)).collect()
        };
        common.add_tag = templates(arguments.texts("add_tag"));
        common.remove_tag = templates(arguments.texts("remove_tag"));
        common
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.add_field.is_empty()
            && self.remove_field.is_empty()
            && self.add_tag.is_empty()
            && self.remove_tag.is_empty()
    }

    /// Applies the options.
    pub fn apply<'a>(&'a self, event: &mut LogEvent<'a>, arena: &'a Arena, now: DateTime<Utc>) {
        for (name, added) in &self.add_field {
            let Some(field) = name.of(event, arena, now) else { continue };
            match added.value(event, arena, now) {
                Datum::List(items) => {
                    items.into_iter().for_each(|item| add(event, &field, item, arena));
                }
                value => add(event, &field, value, arena),
            }
        }
        for name in &self.remove_field {
            if let Some(field) = name.of(event, arena, now) {
                event.remove(&field);
            }
        }
        if !self.add_tag.is_empty() {
            self.add_tags(event, arena, now);
        }
        for tag in &self.remove_tag {
            let tag = tag.render(event, arena, now);
            if let Some(Datum::List(tags)) = event.data.get_mut("tags") {
                tags.retain(|one| one.as_str() != Some(tag));
            }
        }
    }

    /// Other than failure tags, these are added even if they are there.
    fn add_tags<'a>(&'a self, event: &mut LogEvent<'a>, arena: &'a Arena, now: DateTime<Utc>) {
        for tag in &self.add_tag {
            let tag = tag.render(event, arena, now);
            event.append_tag(tag);
        }
    }
}

/// Adds to a field: what is there already becomes a list.
pub fn add<'a>(event: &mut LogEvent<'a>, field: &FieldRef, value: Datum<'a>, arena: &'a Arena) {
    match event.get_mut(field) {
        Some(Datum::List(items)) => items.push(value),
        Some(old) if *old != Datum::Null => {
            let first = std::mem::take(old);
            *old = Datum::List(vec![first, value]);
        }
        _ => {
            // A scalar in the way: the field is left out, as there is nobody to tell.
            let _ = event.set(field, value, arena);
        }
    }
}
