//! The options of plugins: how they are declared, and how what a configuration says becomes what a
//! plugin asks for. Every complaint names the option and its place.

mod setting;
mod spec;

pub use setting::Setting;

pub(crate) use setting::SettingKind;
pub use spec::{COMMON, OptionSpec, Takes, gone, option, required};

use super::complain;
use super::duration;
use super::settings::{Ecs, Settings};
use super::syntax::tree::{Plugin, Value, ValueKind};
use setting::{flatten, is_hash, is_list, merge, names_codec, number};
use std::time::Duration;
use temblor_lang::diagnostic::{Diagnostic, Severity, nearest};
use temblor_lang::span::Span;
use temblor_logstash_event::reference::FieldRef;

/// How sure the declaration of a plugin is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// It has these options and no others.
    OfCode,
    /// Its options are known by name; another release may have more of them, or may have had.
    OfTables,
}

/// The options of one plugin in a configuration, checked against their declaration.
#[derive(Debug)]
pub struct Arguments<'c> {
    /// The plugin's name.
    pub plugin: &'c str,
    /// Where its name stands.
    pub span: Span,
    /// What holds around it.
    pub settings: &'c Settings,
    /// Which field names it uses.
    pub ecs: Ecs,
    strictness: Strictness,
    values: Vec<(String, Setting)>,
    diagnostics: &'c mut Vec<Diagnostic>,
}

impl<'c> Arguments<'c> {
    /// Checks what `plugin` says against `declared` and the common options.
    pub(crate) fn new(
        plugin: &'c Plugin,
        declared: &[OptionSpec],
        common: &[OptionSpec],
        settings: &'c Settings,
        diagnostics: &'c mut Vec<Diagnostic>,
    ) -> Self {
        Self::checked(plugin, (declared, common), Strictness::OfCode, settings, diagnostics)
    }

    /// As [`Arguments::new`], of a plugin whose declaration is as sure as that.
    pub(crate) fn checked(
        plugin: &'c Plugin,
        (declared, common): (&[OptionSpec], &[OptionSpec]),
        strictness: Strictness,
        settings: &'c Settings,
        diagnostics: &'c mut Vec<Diagnostic>,
    ) -> Self {
        let (name, span) = (&*plugin.name.text, plugin.name.span);
        let mut this = Self {
            plugin: name,
            span,
            settings,
            ecs: settings.ecs,
            strictness,
            values: Vec::new(),
            diagnostics,
        };
        for (word, value) in &plugin.options {
            let spec = declared.iter().chain(common).find(|spec| spec.name == word.text);
            match spec {
                None => {
                    let known = || declared.iter().chain(common).map(|spec| spec.name);
                    let is_near = nearest(&word.text, known()).is_some();
                    this.diagnostics.push(match strictness {
                        Strictness::OfTables if !is_near => {
                            complain::unlisted_option(name, &word.text, word.span)
                        }
                        _ => complain::unknown_option(name, &word.text, word.span, known()),
                    });
                }
                Some(OptionSpec { gone: Some(hint), .. }) => {
                    let make = match strictness {
                        Strictness::OfCode => complain::obsolete_option,
                        Strictness::OfTables => complain::former_option,
                    };
                    this.diagnostics.push(make(name, &word.text, word.span, hint));
                }
                Some(spec) => {
                    let setting = this.read(value, true);
                    this.add(&word.text, setting, spec.takes);
                }
            }
        }
        for spec in declared.iter().chain(common) {
            this.check(spec);
        }
        if let Some(ecs) = this.text("ecs_compatibility").and_then(|text| Ecs::named(&text)) {
            this.ecs = ecs;
        }
        this
    }

    /// Hands checked options to `make`; `None` when anything is wrong, which has been said.
    pub(crate) fn build<T>(
        plugin: &'c Plugin,
        (declared, common): (&[OptionSpec], &[OptionSpec]),
        settings: &'c Settings,
        diagnostics: &mut Vec<Diagnostic>,
        make: impl FnOnce(&mut Arguments<'_>) -> Option<T>,
    ) -> Option<T> {
        let before = diagnostics.len();
        let made = make(&mut Arguments::new(plugin, declared, common, settings, diagnostics));
        let is_error = |one: &Diagnostic| one.severity == Severity::Error;
        if diagnostics[before..].iter().any(is_error) { None } else { made }
    }

    /// Takes the field names of the plugin around this one, unless it says its own.
    pub(crate) fn inherit(&mut self, ecs: Ecs) {
        if self.get("ecs_compatibility").is_none() {
            self.ecs = ecs;
        }
    }

    /// Adds a diagnostic about this plugin.
    pub(crate) fn complain(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds a diagnostic that explains what Logstash does here; under `--strict-logstash` nobody asks.
    pub(crate) fn explain(&mut self, diagnostic: Diagnostic) {
        if self.settings.explains {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Lets `work` add diagnostics.
    pub(crate) fn with_diagnostics<T>(
        &mut self,
        work: impl FnOnce(&mut Vec<Diagnostic>) -> T,
    ) -> T {
        work(self.diagnostics)
    }

    /// A repeated option adds to what is there.
    fn add(&mut self, name: &str, new: Setting, takes: Takes) {
        let Some((_, old)) = self.values.iter_mut().find(|(known, _)| known == name) else {
            self.values.push((name.to_string(), new));
            return;
        };
        match (&mut old.kind, new.kind) {
            (SettingKind::Hash(old), SettingKind::Hash(new)) => {
                new.into_iter().for_each(|(key, value)| merge(old, key, value));
            }
            (SettingKind::List(old), SettingKind::List(new)) => old.extend(new),
            (SettingKind::List(old), kind) => old.push(Setting { span: new.span, kind }),
            (_, kind) => {
                let second = Setting { span: new.span, kind };
                let same = old.text().is_some() && old.text() == second.text();
                if !same || takes == Takes::Hash {
                    let first = old.clone();
                    old.kind = SettingKind::List(vec![first, second]);
                }
            }
        }
    }

    /// A value with its variables and escapes replaced.
    fn read(&mut self, value: &Value, top: bool) -> Setting {
        let span = value.span;
        let kind = match &value.kind {
            ValueKind::Bare(text) => self.read_text(text, span, false, top),
            ValueKind::Text(text) => self.read_text(text, span, true, top),
            ValueKind::Number(number) => SettingKind::Number(number.clone()),
            ValueKind::Array(items) => {
                SettingKind::List(items.iter().map(|item| self.read(item, false)).collect())
            }
            ValueKind::Hash(entries) => {
                let mut read = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let name = self.settings.unescape(&key.text);
                    let name = self.substitute(&name, key.span);
                    read.push((name, self.read(value, false)));
                }
                SettingKind::Hash(setting::with_keys_once(read))
            }
            ValueKind::Plugin(plugin) => SettingKind::Codec(plugin.clone()),
        };
        Setting { span, kind }
    }

    fn substitute(&mut self, text: &str, span: Span) -> String {
        match self.settings.substitute(text) {
            Ok(text) => text,
            Err(name) => {
                let unset = match self.strictness {
                    Strictness::OfCode => complain::unset_variable,
                    Strictness::OfTables => complain::unset_elsewhere,
                };
                self.diagnostics.push(unset(&name, span));
                text.to_string()
            }
        }
    }

    fn read_text(&mut self, text: &str, span: Span, quoted: bool, top: bool) -> SettingKind {
        let text = if quoted { self.settings.unescape(text) } else { text.to_string() };
        if !text.contains("${") || self.settings.keeps_variables {
            return SettingKind::Text(text);
        }
        let mut text = self.substitute(&text, span);
        if !top {
            return SettingKind::Text(text);
        }
        for quote in ['\'', '"'] {
            let inside = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
            if let Some(inside) = inside {
                text = inside.to_string();
            }
        }
        let listed = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        match listed {
            Some(inside) if !inside.contains(['[', ']']) && inside.contains(',') => {
                let item =
                    |item: &str| Setting { span, kind: SettingKind::Text(item.trim().to_string()) };
                SettingKind::List(inside.split(',').map(item).collect())
            }
            _ => SettingKind::Text(text),
        }
    }

    fn check(&mut self, spec: &OptionSpec) {
        let Some((_, setting)) = self.values.iter().find(|(name, _)| name == spec.name) else {
            if spec.required {
                self.diagnostics.push(complain::missing_option(self.plugin, spec.name, self.span));
            }
            return;
        };
        let text = setting.text();
        // Of what is not known nothing can be said.
        let keeps = self.settings.keeps_variables || self.strictness == Strictness::OfTables;
        let is_open = keeps && text.is_some_and(|text| text.contains("${"));
        let wrong = match spec.takes {
            _ if is_open => None,
            Takes::Text if text.is_none() => Some("one text".to_string()),
            Takes::Number if text.and_then(number).is_none() => Some("a number".to_string()),
            Takes::Flag if !matches!(text, Some("true" | "false")) => {
                Some("true or false".to_string())
            }
            Takes::OneOf(words) if !text.is_some_and(|text| words.contains(&text)) => {
                Some(format!("one of {}", words.join(", ")))
            }
            Takes::List if self.strictness == Strictness::OfCode && !is_list(setting) => {
                Some("a list of texts".to_string())
            }
            Takes::Codec if !names_codec(setting) => {
                Some("the name of a codec, or a codec with its options".to_string())
            }
            Takes::Duration if text.and_then(duration::parse).is_none() => {
                Some(format!("a number of seconds, or a time: {}", duration::EXAMPLES))
            }
            Takes::Hash if !is_hash(setting) => {
                Some("a hash, or a list of keys and values in turn".to_string())
            }
            _ => None,
        };
        if let Some(wanted) = wrong {
            let complaint = complain::bad_value(spec.name, setting.span, &wanted);
            self.diagnostics.push(match (spec.takes, text) {
                (Takes::OneOf(words), Some(text)) => {
                    complaint.with_nearest(text, words.iter().copied())
                }
                _ => complaint,
            });
            self.values.retain(|(name, _)| name != spec.name);
        }
    }

    /// All options that are given, in the order of writing.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.values.iter().map(|(name, setting)| (name.as_str(), setting))
    }

    /// The value of an option.
    #[must_use]
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, setting)| setting)
    }

    /// Where an option's value stands, or the plugin's name.
    #[must_use]
    pub(crate) fn place(&self, name: &str) -> Span {
        self.get(name).map_or(self.span, |setting| setting.span)
    }

    /// The place of byte `at` of an option's text, where the text stands as it was written; else the
    /// whole option.
    #[must_use]
    pub(crate) fn place_within(&self, name: &str, text: &str, at: usize) -> Span {
        let span = self.place(name);
        let length = (span.end - span.start) as usize;
        if length != text.len() + 2 || self.get(name).is_none() {
            return span;
        }
        let start = span.start as usize + 1 + at.min(text.len());
        let rest = &text[at.min(text.len())..];
        let word = rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len()).max(1);
        Span::new(span.source, start, start + word)
    }

    /// The text of an option.
    #[must_use]
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.text().map(str::to_string)
    }

    /// The number of an option.
    #[must_use]
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        number(self.get(name)?.text()?)
    }

    /// The length of time that an option says.
    #[must_use]
    pub(crate) fn duration(&self, name: &str) -> Option<Duration> {
        duration::parse(self.get(name)?.text()?)
    }

    /// A flag, or its default.
    #[must_use]
    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        self.get(name).and_then(Setting::text).map_or(default, |text| text == "true")
    }

    /// The texts of a list with their places; nothing when the option is absent.
    pub(crate) fn texts(&mut self, name: &str) -> Option<Vec<(String, Span)>> {
        let items = self.get(name)?.items().to_vec();
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match item.text() {
                Some(text) => texts.push((text.to_string(), item.span)),
                None => {
                    self.diagnostics.push(complain::bad_value(name, item.span, "a list of texts"))
                }
            }
        }
        Some(texts)
    }

    /// The texts of a list; nothing when the option is absent.
    pub(crate) fn words(&mut self, name: &str) -> Option<Vec<String>> {
        Some(self.texts(name)?.into_iter().map(|(text, _)| text).collect())
    }

    /// The field that an option names, or its default. `None` when it is no reference.
    pub(crate) fn field(&mut self, name: &str, default: &str) -> Option<FieldRef> {
        let text = self.text(name).unwrap_or_else(|| default.to_string());
        let span = self.place(name);
        self.reference(&text, span)
    }

    /// The field that a text of the configuration names. `None` when it is no reference.
    pub(crate) fn reference(&mut self, text: &str, span: Span) -> Option<FieldRef> {
        FieldRef::parse(text)
            .map_err(|reason| self.complain(complain::bad_reference(text, span, reason)))
            .ok()
    }

    /// The fields that an option lists, without what is no reference; `None` when it is not there.
    pub(crate) fn references(&mut self, name: &str) -> Option<Vec<FieldRef>> {
        let texts = self.texts(name)?;
        Some(texts.iter().filter_map(|(text, span)| self.reference(text, *span)).collect())
    }

    /// The field that an option names, if it is there.
    pub(crate) fn field_or_none(&mut self, name: &str) -> Option<FieldRef> {
        self.get(name)?;
        self.field(name, "")
    }

    /// Tags, or the one that is the default.
    pub(crate) fn tags(&mut self, name: &str, default: &str) -> Vec<String> {
        self.words(name).unwrap_or_else(|| vec![default.to_string()])
    }

    /// The pairs of a hash; the values of a repeated key are in one list.
    #[must_use]
    pub(crate) fn pairs(&self, name: &str) -> Vec<(String, Setting)> {
        let Some(setting) = self.get(name) else { return Vec::new() };
        let mut merged = Vec::new();
        flatten(setting, &mut merged);
        merged
    }
}
