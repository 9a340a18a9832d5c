//! `define script`: its sections and its state.

use super::build::{Builder, Definition, Notation};
use super::{Step, complain};
use crate::operator::IN;
use crate::operators::script::ScriptNode;
use std::sync::Arc;
use temblor_lang::lower::Rules;
use temblor_lang::syntax::tree::{self, ScriptDef};
use temblor_lang::value::Frozen;

impl Builder<'_, '_> {
    pub(super) fn script(
        &mut self,
        def: &ScriptDef,
        definition: &Definition,
        args: Arc<Frozen>,
    ) -> Option<Step> {
        let initial = match &def.state {
            None => Arc::default(),
            Some(state) => {
                let known = self.args_of(&args);
                self.compiler.constant(state, &definition.scope, known).unwrap_or_default()
            }
        };
        self.compiler.begin_state(&initial);
        let main = self.section(&def.main, definition, &args);
        let mut sections = Vec::with_capacity(def.ports.len());
        for (port, script) in &def.ports {
            if port.text == IN {
                self.complain(complain::reserved_port(port.span));
            }
            if sections.iter().any(|(name, _)| *name == port.text) {
                self.complain(complain::port_defined_already(&port.text, port.span));
            }
            sections.push((port.text.clone(), self.section(script, definition, &args)));
        }
        self.compiler.end_state();
        let node = ScriptNode::new(main, sections, args, initial)
            .as_transaction(self.notation == Notation::Short);
        Some(Step::Operator(Box::new(node)))
    }

    fn section(
        &mut self,
        script: &tree::Script,
        definition: &Definition,
        args: &Arc<Frozen>,
    ) -> temblor_lang::program::Script {
        let scope = self.body_scope(&definition.scope);
        self.compiler.lower_script(script, scope, Rules::SCRIPT, self.args_of(args))
    }
}
