//! The values of options, after variables and escapes.

use crate::syntax::tree::{Plugin, Value, ValueKind, Word};
use temblor_lang::span::Span;

/// A value after variables and escapes.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: SettingKind,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub enum SettingKind {
    /// A text or bare word.
    Text(String),
    /// A number as it was written.
    Number(String),
    /// A list.
    List(Vec<Setting>),
    /// Keys and values.
    Hash(Vec<(String, Setting)>),
    /// A plugin with options.
    Codec(Plugin),
}

impl Setting {
    /// The text of a single value.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            SettingKind::Text(text) | SettingKind::Number(text) => Some(text),
            SettingKind::Codec(plugin) => Some(&plugin.name.text),
            SettingKind::List(items) if items.len() == 1 => items[0].text(),
            _ => None,
        }
    }

    /// As the tree of an option's value.
    #[must_use]
    pub fn tree(&self) -> Value {
        let word = |text: &str| Word { text: text.to_string(), span: self.span };
        let kind = match &self.kind {
            SettingKind::Text(text) => ValueKind::Text(text.clone()),
            SettingKind::Number(number) => ValueKind::Number(number.clone()),
            SettingKind::List(items) => ValueKind::Array(items.iter().map(Self::tree).collect()),
            SettingKind::Hash(entries) => ValueKind::Hash(
                entries.iter().map(|(key, value)| (word(key), value.tree())).collect(),
            ),
            SettingKind::Codec(plugin) => ValueKind::Plugin(plugin.clone()),
        };
        Value { span: self.span, kind }
    }

    /// All items; a single value is a list of one.
    #[must_use]
    pub fn items(&self) -> &[Setting] {
        match &self.kind {
            SettingKind::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }
}

pub(super) fn flatten(setting: &Setting, merged: &mut Vec<(String, Setting)>) {
    match &setting.kind {
        SettingKind::Hash(entries) => {
            entries.iter().for_each(|(key, value)| merge(merged, key.clone(), value.clone()));
        }
        SettingKind::List(items) => {
            let mut items = items.iter();
            while let Some(key) = items.next() {
                match &key.kind {
                    SettingKind::Hash(_) => flatten(key, merged),
                    _ => {
                        if let (Some(key), Some(value)) = (key.text(), items.next()) {
                            merge(merged, key.to_string(), value.clone());
                        }
                    }
                }
            }
        }
        _ => {}
    }
}

pub(super) fn is_list(setting: &Setting) -> bool {
    setting.items().iter().all(|item| item.text().is_some())
}

pub(super) fn names_codec(setting: &Setting) -> bool {
    let is_number = matches!(setting.kind, SettingKind::Number(_));
    setting.text().is_some() && !is_number
}

pub(super) fn is_hash(setting: &Setting) -> bool {
    match &setting.kind {
        SettingKind::Hash(_) => true,
        SettingKind::List(items) => {
            let hashes = items.iter().filter(|item| matches!(item.kind, SettingKind::Hash(_)));
            (items.len() - hashes.count()).is_multiple_of(2)
        }
        SettingKind::Text(text) => text.is_empty(),
        _ => false,
    }
}

/// Adds a value to a key; several values become a list.
pub(super) fn merge(entries: &mut Vec<(String, Setting)>, key: String, value: Setting) {
    let Some((_, old)) = entries.iter_mut().find(|(known, _)| *known == key) else {
        entries.push((key, value));
        return;
    };
    let span = value.span;
    let new = match value.kind {
        SettingKind::List(items) => items,
        kind => vec![Setting { span, kind }],
    };
    match &mut old.kind {
        SettingKind::List(items) => items.extend(new),
        _ => {
            let mut items = vec![old.clone()];
            items.extend(new);
            old.kind = SettingKind::List(items);
        }
    }
}

/// The values of a key that is there several times become a list.
pub(super) fn with_keys_once(entries: Vec<(String, Setting)>) -> Vec<(String, Setting)> {
    let mut keys = std::collections::HashSet::new();
    if entries.iter().all(|(key, _)| keys.insert(key.as_str())) {
        return entries;
    }
    let mut merged = Vec::with_capacity(entries.len());
    entries.into_iter().for_each(|(key, value)| merge(&mut merged, key, value));
    merged
}

/// A number as Logstash reads it.
pub(super) fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    if plain { text.parse().ok() } else { None }
}
