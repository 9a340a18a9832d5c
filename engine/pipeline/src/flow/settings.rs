//! The settings of one connector: the six keys of `with`, and the keys of `config`. Every value is
//! known when the flow starts; what is wrong is a diagnostic at the setting.

use crate::graph::{CONNECTOR_KEYS, FlowConnector, connector_setting};
use std::sync::Arc;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::{Compiler, Scope};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::EndpointDef;
use temblor_lang::value::{Arena, Frozen, Record, Value, to_json};

/// The settings of a connector.
#[derive(Debug)]
pub struct Settings {
    values: Vec<(String, Span, Arc<Frozen>)>,
    /// The definition, for what is missing.
    pub span: Span,
}

/// A name and its configuration: `"json"` or `{"name": "json", "config": {…}}`.
#[derive(Debug)]
pub struct Named<'a> {
    /// The name.
    pub name: &'a str,
    config: Option<&'a Record<'a>>,
    /// Where it stands.
    pub span: Span,
}

impl Settings {
    /// Evaluates the settings; reports those that do not exist.
    pub fn of(connector: &FlowConnector, compiler: &mut Compiler<'_>) -> Self {
        let mut values = Vec::new();
        for binding in connector.def().map_or(&[][..], |def| &def.with) {
            let name = &binding.name;
            if !CONNECTOR_KEYS.contains(&name.text.as_str()) {
                compiler.diagnostics.push(connector_setting(&name.text, name.span));
            }
            let args = Some(connector.args.clone());
            let value = compiler.constant(&binding.value, &connector.scope, args);
            values.push((name.text.clone(), binding.value.span, value.unwrap_or_default()));
        }
        Self { values, span: connector.definition.name.span }
    }

    /// Evaluates those settings of a source or sink that connectors have as well.
    pub fn of_endpoint(def: &EndpointDef, compiler: &mut Compiler<'_>) -> Self {
        let shared = def.with.iter().filter(|one| CONNECTOR_KEYS.contains(&one.name.text.as_str()));
        let values = shared.map(|binding| {
            let value = compiler.constant(
                &binding.value,
                &Scope::with_prelude(),
                compiler.program_args.clone(),
            );
            (binding.name.text.clone(), binding.value.span, value.unwrap_or_default())
        });
        Self { values: values.collect(), span: def.kind.span }
    }

    fn entry(&self, name: &str) -> Option<(Span, Value<'_>)> {
        let found = self.values.iter().find(|(key, ..)| key == name);
        found.map(|(_, span, value)| (*span, value.get()))
    }

    /// Where a setting stands; the connector when it is not set.
    pub fn span_of(&self, name: &str) -> Span {
        self.entry(name).map_or(self.span, |(span, _)| span)
    }

    /// A whole number from `least`, if it is set.
    pub fn whole(&self, key: &str, least: u64, compiler: &mut Compiler<'_>) -> Option<u64> {
        let (span, value) = self.entry(key)?;
        let number = value.as_u64().filter(|number| *number >= least);
        if number.is_none() {
            let got = to_json(value);
            let message = format!("`{key}` must be a whole number from {least}, got {got}");
            complain(compiler, span, message);
        }
        number
    }

    /// The codec, if one is set.
    pub fn codec<'a>(&'a self, arena: &'a Arena, compiler: &mut Compiler<'_>) -> Option<Named<'a>> {
        let (span, value) = self.entry("codec")?;
        named(value, span, arena, compiler)
    }

    /// The preprocessors or postprocessors.
    pub fn interceptors<'a>(
        &'a self,
        key: &str,
        arena: &'a Arena,
        compiler: &mut Compiler<'_>,
    ) -> Vec<Named<'a>> {
        let Some((span, value)) = self.entry(key) else { return Vec::new() };
        let Some(items) = value.as_array(arena) else {
            complain(compiler, span, format!("`{key}` must be an array, got {}", to_json(value)));
            return Vec::new();
        };
        items.iter().filter_map(|item| named(*item, span, arena, compiler)).collect()
    }

    /// The value of `config`, and where it stands.
    pub fn config_value(&self) -> (Span, Value<'_>) {
        self.entry("config").unwrap_or((self.span, Value::Null))
    }

    /// The record `config`, whose keys must be among `known`.
    pub fn config<'a>(
        &'a self,
        known: &[&str],
        arena: &'a Arena,
        compiler: &mut Compiler<'_>,
    ) -> Config<'a> {
        let (span, value) = self.entry("config").unwrap_or((self.span, Value::Null));
        let record = value.as_record(arena);
        if record.is_none() && !matches!(value, Value::Null) {
            let message = format!("`config` must be a record, got {}", to_json(value));
            complain(compiler, span, message);
        }
        Config::new(record, span, known, compiler)
    }
}

impl<'a> Named<'a> {
    /// Whether it is a name alone.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.config.is_none()
    }

    /// A name without configuration.
    pub fn plain_at(name: &'a str, span: Span) -> Self {
        Self { name, config: None, span }
    }

    /// The configuration, whose keys must be among `known`.
    pub fn config(&self, known: &[&str], compiler: &mut Compiler<'_>) -> Config<'a> {
        Config::new(self.config, self.span, known, compiler)
    }
}

fn named<'a>(
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
    compiler: &mut Compiler<'_>,
) -> Option<Named<'a>> {
    if let Some(name) = value.as_str() {
        return Some(Named { name, config: None, span });
    }
    let record = value.as_record(arena);
    let name = record.and_then(|record| record.get("name")).and_then(Value::as_str);
    if name.is_none() {
        let expected = "a name, or {\"name\": …, \"config\": {…}}";
        complain(compiler, span, format!("expected {expected}, got {}", to_json(value)));
    }
    let config = record.and_then(|record| record.get("config"));
    Some(Named { name: name?, config: config.and_then(|config| config.as_record(arena)), span })
}

/// Reports an error about a setting.
pub fn complain(compiler: &mut Compiler<'_>, span: Span, message: String) {
    compiler.diagnostics.push(Diagnostic::error("E0510", span, message));
}

/// A record of settings.
#[derive(Debug)]
pub struct Config<'a> {
    record: Option<&'a Record<'a>>,
    /// Where it stands.
    pub span: Span,
}

impl<'a> Config<'a> {
    fn new(
        record: Option<&'a Record<'a>>,
        span: Span,
        known: &[&str],
        compiler: &mut Compiler<'_>,
    ) -> Self {
        for (key, _) in record.iter().flat_map(|record| record.iter()) {
            if !known.contains(&key) {
                let complaint =
                    Diagnostic::error("E0506", span, format!("unknown setting `{key}`"))
                        .with_nearest(key, known.iter().copied());
                compiler.diagnostics.push(complaint);
            }
        }
        Self { record, span }
    }

    fn get(&self, key: &str) -> Option<Value<'a>> {
        self.record.and_then(|record| record.get(key))
    }

    fn checked<T>(
        &self,
        key: &str,
        expected: &str,
        compiler: &mut Compiler<'_>,
        read: impl FnOnce(Value<'a>) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(key)?;
        let found = read(value);
        if found.is_none() {
            let message = format!("`{key}` must be {expected}, got {}", to_json(value));
            complain(compiler, self.span, message);
        }
        found
    }

    /// A text.
    pub fn text(&self, key: &str, compiler: &mut Compiler<'_>) -> Option<&'a str> {
        self.checked(key, "a text", compiler, Value::as_str)
    }

    /// A flag.
    pub fn flag(&self, key: &str, compiler: &mut Compiler<'_>) -> Option<bool> {
        self.checked(key, "true or false", compiler, Value::as_bool)
    }

    /// A whole number from `least`.
    pub fn whole(&self, key: &str, least: u64, compiler: &mut Compiler<'_>) -> Option<u64> {
        let expected = format!("a whole number from {least}");
        let from_least = |value: Value<'a>| value.as_u64().filter(|number| *number >= least);
        self.checked(key, &expected, compiler, from_least)
    }

    /// A whole number from `least` to `most`.
    pub fn within(
        &self,
        key: &str,
        least: i64,
        most: i64,
        compiler: &mut Compiler<'_>,
    ) -> Option<i64> {
        let expected = format!("a whole number from {least} to {most}");
        let within = |value: Value<'a>| value.as_i64().filter(|one| (least..=most).contains(one));
        self.checked(key, &expected, compiler, within)
    }

    /// An array of records, not empty, whose keys must be among `known`.
    pub fn records(
        &self,
        key: &str,
        known: &[&str],
        arena: &'a Arena,
        compiler: &mut Compiler<'_>,
    ) -> Option<Vec<Config<'a>>> {
        let records = self.checked(key, "an array of records, not empty", compiler, |value| {
            let items = value.as_array(arena)?;
            let records = items.iter().map(|item| item.as_record(arena));
            records.collect::<Option<Vec<_>>>().filter(|records| !records.is_empty())
        })?;
        let config = |record| Config::new(Some(record), self.span, known, compiler);
        Some(records.into_iter().map(config).collect())
    }

    /// Any value, as JSON.
    pub fn json(&self, key: &str) -> Option<String> {
        self.get(key).map(to_json)
    }

    /// Reports a key that has no meaning here.
    pub fn refused<T>(&self, key: &str, why: &str, compiler: &mut Compiler<'_>) -> Option<T> {
        if self.get(key).is_some() {
            complain(compiler, self.span, format!("`{key}` cannot be set: {why}"));
        }
        None
    }

    /// Reports a key that must be there.
    pub fn missing(&self, key: &str, doc: &str, compiler: &mut Compiler<'_>) {
        let message = format!("the setting `{key}` is missing");
        let complaint = Diagnostic::error("E0507", self.span, message).with_help(doc);
        compiler.diagnostics.push(complaint);
    }
}
