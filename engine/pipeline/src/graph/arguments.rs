//! `args` and `with`: the values that an instance gets.

use super::build::{Builder, Level};
use super::complain;
use std::sync::Arc;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{ArgDecl, Binding};
use temblor_lang::value::{Arena, Frozen, Key, Value};

impl Builder<'_, '_> {
    /// The record that `args` refers to: defaults, overridden by what is given. Both are evaluated
    /// where the instance is created, and may use the `args` there.
    pub(super) fn arguments(
        &mut self,
        declared: &[ArgDecl],
        given: &[Binding],
        level: &Level,
        span: Span,
    ) -> Arc<Frozen> {
        self.arguments_with(declared, given, level, span, None)
    }

    /// As [`Builder::arguments`]; the values of the record `over` come before all others.
    pub(super) fn arguments_with(
        &mut self,
        declared: &[ArgDecl],
        given: &[Binding],
        level: &Level,
        span: Span,
        over: Option<&Frozen>,
    ) -> Arc<Frozen> {
        let arena = Arena::new();
        let over = over.map(|over| over.get().copy_into(&arena)).unwrap_or(Value::Null);
        let mut record = arena.record_builder(declared.len());
        let values: Vec<_> = given.iter().map(|one| self.known(&one.value, level)).collect();
        for (binding, value) in given.iter().zip(&values) {
            let name = &binding.name.text;
            if declared.iter().any(|one| one.name.text == *name) {
                record.insert(name, value.get().copy_into(&arena));
            } else {
                let known = declared.iter().map(|one| one.name.text.as_str());
                let complaint = complain::unknown_argument(name, binding.name.span, known);
                self.complain(complaint);
            }
        }
        for one in declared {
            if let Some(value) = over.get(&Key::new(&one.name.text)) {
                record.insert(&one.name.text, value);
            }
            if record.contains(&one.name.text) {
                continue;
            }
            match &one.default {
                Some(default) => {
                    let value = self.known(default, level);
                    record.insert(&one.name.text, value.get().copy_into(&arena));
                }
                None => self.complain(complain::missing_argument(&one.name.text, span)),
            }
        }
        Arc::new(Frozen::new(record.finish()))
    }

    /// A value that must be known at load.
    pub(super) fn known(
        &mut self,
        tree: &temblor_lang::syntax::tree::Expr,
        level: &Level,
    ) -> Arc<Frozen> {
        self.compiler.constant(tree, &level.scope, level.args.clone()).unwrap_or_default()
    }
}
