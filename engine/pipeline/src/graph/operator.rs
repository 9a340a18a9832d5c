//! `define operator`: its settings, checked against the declaration of its kind.

use super::build::{Builder, Definition};
use super::{Step, complain};
use crate::operators::{Given, OperatorKind, Setting, Settings, Takes};
use std::sync::Arc;
use temblor_lang::lower::Rules;
use temblor_lang::syntax::tree::{Binding, OperatorDef};
use temblor_lang::units::parse_duration;
use temblor_lang::value::{Frozen, Kind, Value, to_json};

impl Builder<'_, '_> {
    pub(super) fn operator(
        &mut self,
        def: &OperatorDef,
        definition: &Definition,
        args: Arc<Frozen>,
    ) -> Option<Step> {
        let path = def.kind.text();
        let Some(kind) = self.registry.operator(&path) else {
            let known = self.registry.operators().map(|kind| kind.path);
            self.complain(complain::unknown_operator(&path, def.kind.span, known));
            return None;
        };
        let mut settings =
            Settings::new(kind.path, definition.define.span).with_tables(self.tables.clone());
        settings.shared_counts = self.registry.shared_counts();
        settings.shared_tokens = self.registry.shared_tokens();
        if kind.path.starts_with("logstash::") {
            self.compiler.metadata_is_written(None);
        }
        for binding in &def.with {
            self.setting(kind, binding, definition, &args, &mut settings);
        }
        if self.rehearsing {
            // Settings may depend on arguments that are not known.
            return None;
        }
        for one in kind.settings.iter().filter(|one| one.required) {
            let is_given = def.with.iter().any(|binding| binding.name.text == one.name);
            if !is_given {
                self.complain(complain::missing_setting(one.name, one.doc, settings.span));
            }
            if !settings.has(one.name) {
                return None;
            }
        }
        match (kind.build)(&settings) {
            Ok(operator) => Some(Step::Operator(operator)),
            Err(diagnostic) => {
                self.complain(diagnostic);
                None
            }
        }
    }

    fn setting(
        &mut self,
        kind: &'static OperatorKind,
        binding: &Binding,
        definition: &Definition,
        args: &Arc<Frozen>,
        settings: &mut Settings,
    ) {
        let name = &binding.name;
        let Some(setting) = kind.settings.iter().find(|one| one.name == name.text) else {
            let known = kind.settings.iter().map(|one| one.name);
            return self.complain(complain::unknown_setting(&name.text, name.span, known));
        };
        let span = binding.value.span;
        if setting.takes == Takes::Formula {
            let args = self.args_of(args);
            let scope = &definition.scope;
            let formula = self.compiler.lower_formula(&binding.value, scope, Rules::FORMULA, args);
            return settings.set(setting.name, span, Given::Formula(Arc::new(formula)));
        }
        let value = self.compiler.constant(&binding.value, &definition.scope, self.args_of(args));
        let Some(value) = value else { return };
        match check(setting, &value) {
            Ok(value) => {
                // A text may be a place, or the name of one, that the operator writes to.
                if let Some(key) = value.get().as_str().and_then(|place| place.split('.').next()) {
                    self.compiler.metadata_is_written(Some(key.trim_start_matches('$')));
                }
                settings.set(setting.name, span, Given::Constant(value));
            }
            Err(expected) => {
                let got = to_json(value.get());
                self.complain(complain::bad_setting(setting.name, &expected, &got, span));
            }
        }
    }
}

/// The value as the operator gets it, or what was expected instead.
fn check(setting: &Setting, value: &Arc<Frozen>) -> Result<Arc<Frozen>, String> {
    let given = value.get();
    match setting.takes {
        Takes::Formula => Ok(value.clone()),
        Takes::Constant(kind) if given.kind().fits(kind) => Ok(value.clone()),
        Takes::Constant(kind) => Err(format!("of kind {}", kind.name())),
        Takes::Place if given.as_str().is_some() => Ok(value.clone()),
        Takes::Place => Err("a place such as event.a.b".to_string()),
        Takes::Duration => match duration(given) {
            Some(nanoseconds) => Ok(Arc::new(Frozen::new(Value::UInt(nanoseconds)))),
            None => Err("a duration such as 10s or nanoseconds".to_string()),
        },
        Takes::Word(words) => match given.as_str() {
            Some(word) if words.contains(&word) => Ok(value.clone()),
            _ => Err(format!("one of {}", words.join(", "))),
        },
    }
}

/// Nanoseconds as a number, or a text.
fn duration(value: Value<'_>) -> Option<u64> {
    match value.kind() {
        Kind::Integer => value.as_u64(),
        _ => parse_duration(value.as_str()?),
    }
}
