//! The options of every filter, applied when it succeeds: fields added, fields removed, tags added,
//! tags removed, in this order.

use crate::complain;
use crate::options::{Arguments, Setting, SettingKind};
use chrono::{DateTime, Utc};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, iso8601};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::{FieldRef, Refused};
use temblor_logstash_event::template::Template;

/// A field whose name may depend on the event.
#[derive(Debug)]
pub(crate) enum Name {
    /// `[a][b]`
    Fixed(FieldRef),
    /// `%{a}_b`
    Open(Template),
    /// `a[b]`, which Logstash finds out when an event comes.
    Wrong,
}

impl Name {
    /// Reads a name; says so when it is no field reference.
    pub(crate) fn compile(
        text: &str,
        span: temblor_lang::span::Span,
        arguments: &mut Arguments<'_>,
    ) -> Self {
        let template = Template::parse(text);
        if !template.is_constant() {
            return Name::Open(template);
        }
        match FieldRef::parse(text) {
            Ok(field) => Name::Fixed(field),
            Err(reason) => {
                arguments.complain(complain::failing_reference(text, span, reason));
                Name::Wrong
            }
        }
    }

    /// The field for one event, if its name is one.
    pub(crate) fn of<'a>(
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
            Name::Wrong => None,
        }
    }
}

/// A value to be added: texts are completed for each event.
#[derive(Clone, Debug)]
pub(crate) enum Added {
    /// `"text %{a}"`
    Text(Template),
    /// A text that is the same for all events.
    Fixed(String),
    /// `12`, and in files `true` and `null`.
    Constant(Datum<'static>),
    /// Several.
    List(Vec<Added>),
    /// `{ "a" => 1 }`
    Map(Vec<(String, Added)>),
}

impl Added {
    /// What a setting says.
    #[must_use]
    pub(crate) fn of(setting: &Setting) -> Self {
        match &setting.kind {
            SettingKind::Text(text) => Added::Text(Template::parse(text)),
            SettingKind::Number(text) => Added::Constant(number(text)),
            SettingKind::List(items) => Added::List(items.iter().map(Added::of).collect()),
            SettingKind::Hash(entries) => Added::Map(
                entries.iter().map(|(key, value)| (key.clone(), Added::of(value))).collect(),
            ),
            SettingKind::Codec(plugin) => Added::Text(Template::parse(&plugin.name.text)),
        }
    }

    /// As [`Added::of`]; nothing in it depends on the event.
    #[must_use]
    pub(crate) fn constant(setting: &Setting) -> Self {
        match &setting.kind {
            SettingKind::Text(text) => Added::Fixed(text.clone()),
            SettingKind::List(items) => Added::List(items.iter().map(Added::constant).collect()),
            SettingKind::Hash(entries) => Added::Map(
                entries.iter().map(|(key, value)| (key.clone(), Added::constant(value))).collect(),
            ),
            _ => Added::of(setting),
        }
    }

    /// A value that was read from a file.
    #[must_use]
    pub(crate) fn read(value: &Datum<'_>) -> Self {
        match value {
            Datum::Null => Added::Constant(Datum::Null),
            Datum::Bool(value) => Added::Constant(Datum::Bool(*value)),
            Datum::Int(value) => Added::Constant(Datum::Int(*value)),
            Datum::UInt(value) => Added::Constant(Datum::UInt(*value)),
            Datum::Float(value) => Added::Constant(Datum::Float(*value)),
            Datum::Time(value) => Added::Constant(Datum::Time(*value)),
            Datum::Str(text) => Added::Fixed((*text).to_string()),
            Datum::List(items) => Added::List(items.iter().map(Added::read).collect()),
            Datum::Map(map) => Added::Map(
                map.iter().map(|(key, value)| (key.to_string(), Added::read(value))).collect(),
            ),
        }
    }

    /// The value where nothing depends on the event; templates are texts as written.
    #[must_use]
    pub(crate) fn unchanging(&self) -> Datum<'_> {
        match self {
            Added::Text(template) => Datum::Str(template.source()),
            Added::Fixed(text) => Datum::Str(text),
            Added::Constant(value) => value.clone(),
            Added::List(items) => Datum::List(items.iter().map(Added::unchanging).collect()),
            Added::Map(entries) => Datum::Map(
                entries.iter().map(|(key, value)| (&**key, value.unchanging())).collect(),
            ),
        }
    }

    /// The value for one event.
    #[must_use]
    pub(crate) fn value<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Datum<'a> {
        match self {
            Added::Text(template) => Datum::Str(template.render(event, arena, now)),
            Added::Fixed(text) => Datum::Str(text),
            Added::Constant(value) => value.clone(),
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
pub(super) fn number(text: &str) -> Datum<'static> {
    match text.parse() {
        Ok(number) => Datum::Int(number),
        Err(_) => Datum::Float(text.trim_end_matches('.').parse().unwrap_or(f64::NAN)),
    }
}

/// What happens to an event when its filter succeeds.
#[derive(Debug, Default)]
pub struct Common {
    add_field: Vec<(Name, Vec<Template>)>,
    remove_field: Vec<Name>,
    add_tag: Vec<Template>,
    remove_tag: Vec<Template>,
    /// What the filter tags an event with when a field cannot be added or removed; filters that have no
    /// tag for that go on.
    failed: Vec<String>,
}

impl Common {
    /// Reads the common options.
    pub(crate) fn compile(arguments: &mut Arguments<'_>) -> Self {
        let mut common = Self::default();
        for (key, value) in arguments.pairs("add_field") {
            let name = Name::compile(&key, value.span, arguments);
            common.add_field.push((name, added_texts(&value)));
        }
        for (text, span) in arguments.texts("remove_field").unwrap_or_default() {
            common.remove_field.push(Name::compile(&text, span, arguments));
        }
        let templates = |texts: Option<Vec<(String, _)>>| {
            texts.unwrap_or_default().iter().map(|(text, _)| Template::parse(text)).collect()
        };
        common.add_tag = templates(arguments.texts("add_tag"));
        common.remove_tag = templates(arguments.texts("remove_tag"));
        common.failed = match arguments.plugin {
            "mutate" => arguments.tags("tag_on_failure", "_mutate_error"),
            "kv" => arguments.tags("tag_on_failure", "_kv_filter_error"),
            "csv" => vec!["_csvparsefailure".to_string()],
            _ => Vec::new(),
        };
        common
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.add_field.is_empty()
            && self.remove_field.is_empty()
            && self.add_tag.is_empty()
            && self.remove_tag.is_empty()
    }

    /// Applies the options.
    pub(crate) fn apply<'a>(
        &'a self,
        event: &mut LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) {
        if !self.change_fields(event, arena, now) && !self.failed.is_empty() {
            self.failed.iter().for_each(|tag| event.tag(tag));
            return;
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

    /// Adds and removes fields; whether all went well. What goes wrong ends it where that has a tag.
    fn change_fields<'a>(
        &'a self,
        event: &mut LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> bool {
        let ends = !self.failed.is_empty();
        for (name, texts) in &self.add_field {
            let added = name.of(event, arena, now).is_some_and(|field| {
                texts.iter().all(|text| {
                    let value = Datum::Str(text.render(event, arena, now));
                    add(event, &field, value, arena).is_ok()
                })
            });
            if ends && !added {
                return false;
            }
        }
        for name in &self.remove_field {
            if let Name::Fixed(field) = name {
                event.remove(field);
                continue;
            }
            match name.of(event, arena, now) {
                Some(field) => drop(event.remove(&field)),
                None if ends => return false,
                None => {}
            }
        }
        true
    }

    /// Other than failure tags, these are added even if they are there.
    fn add_tags<'a>(&'a self, event: &mut LogEvent<'a>, arena: &'a Arena, now: DateTime<Utc>) {
        for tag in &self.add_tag {
            let tag = tag.render(event, arena, now);
            event.append_tag(tag);
        }
    }
}

/// What `add_field` adds under one name: always texts, as Logstash completes each value as one.
pub(crate) fn added_texts(setting: &Setting) -> Vec<Template> {
    match &setting.kind {
        SettingKind::Hash(entries) => {
            let pair = |(key, value): &(String, Setting)| {
                format!("[{}, {}]", quoted(key), inspected(value))
            };
            entries.iter().map(|entry| Template::parse(&pair(entry))).collect()
        }
        _ => setting.items().iter().map(|item| Template::parse(&ruby_text(item))).collect(),
    }
}

/// A value of a configuration where Ruby's `to_s` makes a text of it.
pub(crate) fn ruby_text(setting: &Setting) -> String {
    match &setting.kind {
        SettingKind::Text(text) => text.clone(),
        _ => inspected(setting),
    }
}

/// A value as Ruby's `inspect` writes it.
fn inspected(setting: &Setting) -> String {
    match &setting.kind {
        SettingKind::Text(text) => quoted(text),
        SettingKind::Number(text) => number(text).text(),
        SettingKind::List(items) => {
            format!("[{}]", items.iter().map(inspected).collect::<Vec<_>>().join(", "))
        }
        SettingKind::Hash(entries) => {
            let entry =
                |(key, value): &(String, Setting)| format!("{}=>{}", quoted(key), inspected(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        SettingKind::Codec(plugin) => plugin.name.text.clone(),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A value where Ruby puts it into a text: lists and maps as `inspect` writes them.
pub(crate) fn ruby_to_s(value: &Datum<'_>) -> String {
    match value {
        Datum::List(_) | Datum::Map(_) => inspected_value(value),
        Datum::Time(time) => iso8601(*time),
        other => other.text(),
    }
}

fn inspected_value(value: &Datum<'_>) -> String {
    match value {
        Datum::Null => "nil".to_string(),
        Datum::Str(text) => quoted(text),
        Datum::List(items) => {
            format!("[{}]", items.iter().map(inspected_value).collect::<Vec<_>>().join(", "))
        }
        Datum::Map(map) => {
            let entry = |(key, value)| format!("\"{key}\"=>{}", inspected_value(value));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        scalar => scalar.text(),
    }
}

/// Adds to a field: what is there already becomes a list, as Ruby's `Array()` makes one.
pub fn add<'a>(
    event: &mut LogEvent<'a>,
    field: &FieldRef,
    value: Datum<'a>,
    arena: &'a Arena,
) -> Result<(), Refused> {
    match event.get_mut(field) {
        Some(Datum::List(items)) => items.push(value),
        Some(old) => {
            let mut items = match std::mem::take(old) {
                Datum::Null => Vec::new(),
                Datum::Map(map) => map
                    .into_entries()
                    .into_iter()
                    .map(|(key, value)| Datum::List(vec![Datum::Str(key), value]))
                    .collect(),
                one => vec![one],
            };
            items.push(value);
            *old = Datum::List(items);
        }
        None => return event.set(field, value, arena),
    }
    Ok(())
}
