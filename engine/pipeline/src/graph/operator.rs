//! `define operator`: its settings, checked against the declaration of its kind.

use super::build::{Builder, Definition};
use super::{Step, complain};
use crate::operators::Supplies;
use std::sync::Arc;
use temblor_declare::read::Reader;
use temblor_declare::{Given, Settings};
use temblor_lang::diagnostic::Severity;
use temblor_lang::syntax::tree::OperatorDef;
use temblor_lang::value::Frozen;

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
        if kind.path.starts_with("logstash::") {
            self.compiler.metadata_is_written(None);
        }
        let span = definition.define.span;
        let args = self.args_of(&args);
        let is_tremors = kind.path.contains("::");
        let reader = Reader {
            rows: &[kind.settings],
            span,
            scope: &definition.scope,
            args,
            wants_units: !is_tremors,
        };
        let before = self.compiler.diagnostics.len();
        let settings = reader.bindings(&def.with, Settings::new(span), self.compiler);
        self.note_places(&settings);
        let mut said = self.compiler.diagnostics[before..].iter();
        if self.rehearsing || said.any(|one| one.severity == Severity::Error) {
            // Settings may depend on arguments that are not known.
            return None;
        }
        let supplies = Supplies {
            kind: kind.path,
            tables: self.tables.clone(),
            shared_counts: self.registry.shared_counts(),
            shared_tokens: self.registry.shared_tokens(),
        };
        match (kind.build)(&settings, &supplies) {
            Ok(operator) => Some(Step::Operator(operator)),
            Err(diagnostic) => {
                self.complain(diagnostic);
                None
            }
        }
    }

    /// A text may be a place, or the name of one, that the operator writes to.
    fn note_places(&mut self, settings: &Settings) {
        for (_, _, given) in settings.entries() {
            let value = match given {
                Given::Any { value, .. } => value.get().as_str(),
                Given::Text(text) => Some(text.as_str()),
                _ => None,
            };
            if let Some(key) = value.and_then(|place| place.split('.').next()) {
                self.compiler.metadata_is_written(Some(key.trim_start_matches('$')));
            }
        }
    }
}
