//! What the options of a plugin become on their way to a connector: settings as a tree, and what is taken
//! from each event.
//!
//! Invariant: an option that cannot be kept is complained about; none changes its meaning in silence.

use crate::complain;
use crate::options::Arguments;
use chrono::{DateTime, Utc};
use temblor_lang::value::{Arena, Value};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// The value of a setting, or a record of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A text, as `with` of a `.tmb` file would have it.
    Text(String),
    /// Texts.
    Texts(Vec<String>),
    /// A whole number.
    Whole(u64),
    /// A flag.
    Flag(bool),
    /// Further settings.
    Record(Vec<(String, Node)>),
}

impl Node {
    /// The same as a value of the language.
    pub(crate) fn value<'a>(&self, arena: &'a Arena) -> Value<'a> {
        match self {
            Self::Text(text) => Value::Str(arena.str(text)),
            Self::Texts(texts) => arena.array(texts.iter().map(|text| Value::Str(arena.str(text)))),
            Self::Whole(number) => Value::UInt(*number),
            Self::Flag(flag) => Value::Bool(*flag),
            Self::Record(entries) => {
                let mut record = arena.record_builder(entries.len());
                for (name, node) in entries {
                    record.append(arena.str(name), node.value(arena));
                }
                record.finish()
            }
        }
    }
}

/// What a sink gets to know of each event besides its bytes.
#[derive(Clone, Debug)]
pub enum PerEvent {
    /// A text; nothing when it is empty.
    Text(Template),
    /// The time of the event in nanoseconds since 1970.
    Time,
    /// Texts by name.
    Texts(Vec<(String, Template)>),
    /// These fields at the top of the document, or all but `@timestamp`, where they have a text of their own.
    Labels(Vec<String>),
    /// The data stream that the fields `[data_stream][…]` name, or these parts without them.
    DataStream([(FieldRef, String); 3]),
}

impl PerEvent {
    /// The value for one event.
    pub(crate) fn value<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> Value<'a> {
        match self {
            Self::Text(template) => match template.render(event, arena, now) {
                "" => Value::Null,
                text => Value::Str(text),
            },
            Self::Time => {
                let time = event.timestamp().unwrap_or(now).timestamp_nanos_opt();
                Value::Str(arena.str(&time.unwrap_or_default().to_string()))
            }
            Self::Texts(texts) => {
                let mut record = arena.record_builder(texts.len());
                for (name, template) in texts {
                    record.append(name, Value::Str(template.render(event, arena, now)));
                }
                record.finish()
            }
            Self::Labels(names) => {
                let is_label = |name: &str| match names.is_empty() {
                    true => name != "@timestamp",
                    false => names.iter().any(|one| one == name),
                };
                let mut record = arena.record_builder(0);
                for (name, value) in event.data.iter().filter(|(name, _)| is_label(name)) {
                    if !matches!(value, Datum::Map(_) | Datum::List(_) | Datum::Null) {
                        record.append(arena.str(&label(name)), Value::Str(value.text_in(arena)));
                    }
                }
                record.finish()
            }
            Self::DataStream(parts) => {
                let part = |(field, default): &'a (FieldRef, String)| match event
                    .get(field)
                    .and_then(Datum::as_str)
                {
                    Some(text) => text,
                    None => default,
                };
                let [kind, dataset, namespace] = parts;
                let name = format!("{}-{}-{}", part(kind), part(dataset), part(namespace));
                Value::Str(arena.str(&name))
            }
        }
    }
}

/// A name as labels of Loki may have it: letters, digits and `_`.
fn label(name: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let plain: String = name.chars().map(|one| if fits(one) { one } else { '_' }).collect();
    if plain.starts_with(|one: char| one.is_ascii_digit()) { format!("_{plain}") } else { plain }
}

/// Settings that are being put together from the options of a plugin.
#[derive(Debug)]
pub(crate) struct Draft<'d, 'c> {
    /// The options.
    pub arguments: &'d mut Arguments<'c>,
    /// What is taken from each event, by setting.
    pub per_event: Vec<(&'static str, PerEvent)>,
    root: Vec<(String, Node)>,
}

impl<'d, 'c> Draft<'d, 'c> {
    /// Nothing yet.
    pub(crate) fn new(arguments: &'d mut Arguments<'c>) -> Self {
        Self { arguments, per_event: Vec::new(), root: Vec::new() }
    }

    /// Writes a setting; a dot leads into a record: `tls.cert`.
    pub(crate) fn set(&mut self, path: &str, node: Node) {
        put(&mut self.root, path, node);
    }

    /// Takes a setting back.
    pub(crate) fn remove(&mut self, path: &str) {
        let mut entries = &mut self.root;
        let mut rest = path;
        while let Some((first, behind)) = rest.split_once('.') {
            let Some((_, Node::Record(inner))) = entries.iter_mut().find(|(name, _)| name == first)
            else {
                return;
            };
            (entries, rest) = (inner, behind);
        }
        entries.retain(|(name, _)| name != rest);
    }

    /// A copy of a setting, which is kept out of [`Draft::value`] from now on.
    pub(crate) fn take(&mut self, name: &str) -> Option<Node> {
        let found = self.root.iter().find(|(known, _)| known == name).map(|(_, node)| node.clone());
        self.remove(name);
        found
    }

    /// Whether a setting is there.
    #[must_use]
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root.iter().any(|(known, _)| known == name)
    }

    /// Writes a setting that may hold `%{field}`.
    pub(crate) fn set_template(&mut self, setting: &'static str, text: &str) {
        let template = Template::parse(text);
        // What the setting must have, until the expression stands in its place.
        self.set(setting, Node::Text(template.source().to_string()));
        if !template.is_constant() {
            self.per_event.push((setting, PerEvent::Text(template)));
        }
    }

    /// The text of an option, or its default.
    #[must_use]
    pub(crate) fn text(&self, option: &str, default: &str) -> String {
        self.arguments.text(option).unwrap_or_else(|| default.to_string())
    }

    /// The text of an option that must be the same for all events.
    pub(crate) fn fixed(&mut self, option: &'static str, default: &str) -> String {
        let text = self.text(option, default);
        if !Template::parse(&text).is_constant() {
            self.wrong(option, "the same for all events here: without `%{…}`");
        }
        text
    }

    /// Complains about the value of an option.
    pub(crate) fn wrong(&mut self, option: &str, wanted: &str) {
        let place = self.arguments.place(option);
        self.arguments.complain(complain::bad_value(option, place, wanted));
    }

    /// The settings, and those that depend on the event.
    pub(crate) fn into_parts(self) -> (Vec<(String, Node)>, Vec<(&'static str, PerEvent)>) {
        (self.root, self.per_event)
    }

    /// All settings, as a value of the language.
    pub(crate) fn value<'a>(&self, arena: &'a Arena) -> Value<'a> {
        Node::Record(self.root.clone()).value(arena)
    }
}

fn put(entries: &mut Vec<(String, Node)>, path: &str, node: Node) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
    let at = match entries.iter().position(|(name, _)| name == first) {
        Some(at) => at,
        None => {
            entries.push((first.to_string(), Node::Record(Vec::new())));
            entries.len() - 1
        }
    };
    match (rest, &mut entries[at].1) {
        (None, place) => *place = node,
        (Some(rest), Node::Record(inner)) => put(inner, rest, node),
        (Some(_), _) => unreachable!("the table gives no setting both a value and keys"),
    }
}
