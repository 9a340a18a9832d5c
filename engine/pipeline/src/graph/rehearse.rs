//! Definitions that nothing uses are built once all the same, for their errors; what that makes is
//! thrown away. Their arguments are not known then, so what depends on those is not judged.

use super::build::{Builder, Definition, Level};
use super::complain;
use super::definitions::Namespace;
use std::sync::Arc;
use temblor_declare::shared::FLOW;
use temblor_lang::diagnostic::{Class, Diagnostic, Severity};
use temblor_lang::lower::Rules;
use temblor_lang::syntax::tree::{ConnectorDef, DefineKind, OperatorDef};
use temblor_lang::value::Frozen;

/// Faults of graphs that are errors also in what is never built, as they are in tremor.
const ERRORS: [&str; 8] = ["E0504", "E0505", "E0506", "E0512", "E0513", "E0514", "E0523", "E0530"];

/// Further ones in flows, whose instances and their arguments tremor looks up when it reads them.
const ERRORS_OF_FLOWS: [&str; 3] = ["E0501", "E0508", "E0509"];

impl Builder<'_, '_> {
    /// What `args` refers to; unknown while a definition is only built for its errors.
    pub(super) fn args_of(&self, args: &Arc<Frozen>) -> Option<Arc<Frozen>> {
        (!self.rehearsing).then(|| args.clone())
    }

    /// Reports and tries out the definitions of a level that nothing has used.
    pub(super) fn check_unused(&mut self, level: &Level) {
        let unused: Vec<_> = level
            .definitions()
            .filter(|one| !self.used.contains(&one.define.span))
            .cloned()
            .collect();
        for definition in unused {
            if !self.rehearsing {
                let name = &definition.define.name;
                let word = Namespace::of(&definition.define.kind).word();
                self.complain(complain::unused(word, &name.text, name.span));
            }
            self.rehearse(&definition, level);
        }
    }

    fn rehearse(&mut self, definition: &Definition, level: &Level) {
        let diagnostics = self.compiler.diagnostics.len();
        let was = std::mem::replace(&mut self.rehearsing, true);
        let mark = self.mark();
        self.at = definition.define.span;
        self.build_once(definition, level);
        self.reset(mark);
        self.rehearsing = was;
        let found = self.compiler.diagnostics.split_off(diagnostics);
        let is_flow = matches!(definition.define.kind, DefineKind::Flow(_));
        let keep = |one: Diagnostic| match is_flow && ERRORS_OF_FLOWS.contains(&one.code) {
            true => Some(one),
            false => self.judge(one),
        };
        let judged: Vec<_> = found.into_iter().filter_map(keep).collect();
        self.compiler.diagnostics.extend(judged);
    }

    fn build_once(&mut self, definition: &Definition, level: &Level) {
        match &definition.define.kind {
            DefineKind::Window(def) => drop(self.window(def, definition, level)),
            DefineKind::Script(def) => drop(self.script(def, definition, Arc::default())),
            DefineKind::Operator(def) => self.operator_settings(def, definition),
            DefineKind::Connector(def) => self.connector_settings(def, definition),
            DefineKind::Pipeline(def) => {
                let prefix = format!("{}{}/", level.prefix, definition.define.name.text);
                let scope = self.body_scope(&definition.scope);
                let mut inner = self.level(scope, None, prefix);
                self.nest_body(def, &mut inner);
            }
            DefineKind::Flow(def) => {
                let name = &definition.define.name.text;
                let mut inner = self.level(definition.scope.clone(), None, format!("{name}/"));
                self.flow(def, name, &mut inner);
            }
        }
    }

    fn operator_settings(&mut self, def: &OperatorDef, definition: &Definition) {
        for binding in &def.with {
            self.compiler.lower_formula(&binding.value, &definition.scope, Rules::FORMULA, None);
        }
    }

    /// Reports settings that connectors do not have.
    pub(super) fn connector_keys(&mut self, def: &ConnectorDef) {
        for name in def.with.iter().map(|binding| &binding.name) {
            if !FLOW.iter().any(|row| row.name == name.text) {
                self.complain(complain::connector_setting(&name.text, name.span));
            }
        }
    }

    fn connector_settings(&mut self, def: &ConnectorDef, definition: &Definition) {
        self.connector_keys(def);
        for binding in &def.with {
            self.compiler.lower_formula(&binding.value, &definition.scope, Rules::CONSTANT, None);
        }
    }

    /// What remains of a fault that was found without knowing arguments.
    fn judge(&self, mut one: Diagnostic) -> Option<Diagnostic> {
        let not_known = self.compiler.sources.text(one.span).contains("args");
        let is_graphs = one.code.starts_with("E05") || one.code.starts_with("E06");
        match one.severity {
            Severity::Error if ERRORS.contains(&one.code) => Some(one),
            Severity::Error if is_graphs || one.code == "E0301" => {
                if one.code != "E0301" {
                    one.severity = Severity::Warning;
                    one.class = Class::General;
                }
                (!not_known).then_some(one)
            }
            Severity::Error => Some(one),
            _ => None,
        }
    }
}
