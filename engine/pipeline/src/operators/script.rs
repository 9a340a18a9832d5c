//! The script node: runs a script for each event, on the section that belongs to the port that the
//! event arrived on. All sections of one node share its state.

use crate::event::Event;
use crate::operator::{Emitter, IN, OUT, Operator, Surroundings};
use std::sync::Arc;
use temblor_lang::builtin::CallError;
use temblor_lang::error::EvalError;
use temblor_lang::program::Script;
use temblor_lang::run::{Context, Outcome};
use temblor_lang::value::{Arena, Frozen, Owned, Value};

/// A script in a graph.
#[derive(Debug)]
pub struct ScriptNode {
    /// The section for `in`.
    main: Script,
    /// The sections for other ports.
    sections: Vec<(String, Script)>,
    /// What `args` refers to.
    args: Arc<Frozen>,
    /// What `state` is before the first event.
    initial: Arc<Frozen>,
    /// Whether an error carries the event as it came, not what the script had made of it.
    is_transaction: bool,
}

impl ScriptNode {
    /// A node of its sections, arguments and initial state.
    #[must_use]
    pub fn new(
        main: Script,
        sections: Vec<(String, Script)>,
        args: Arc<Frozen>,
        initial: Arc<Frozen>,
    ) -> Self {
        Self { main, sections, args, initial, is_transaction: false }
    }

    /// The same node as a step of a chain, which happens as a whole or not at all.
    #[must_use]
    pub fn as_transaction(self, is_transaction: bool) -> Self {
        Self { is_transaction, ..self }
    }

    fn section(&self, port: &str) -> Result<&Script, EvalError> {
        if port == IN {
            return Ok(&self.main);
        }
        let section = self.sections.iter().find(|(name, _)| name == port);
        section.map(|(_, script)| script).ok_or_else(|| {
            EvalError::new("E0426", format!("unknown port `{port}`"))
                .with_help(format!("add a section `script from {port}`"))
        })
    }
}

/// What a script remembers. Only a script that mentions `state` has something to remember.
#[derive(Debug)]
pub struct State(Owned);

impl Operator for ScriptNode {
    type State = State;

    fn start(&self) -> State {
        State(Owned::from(self.initial.get()))
    }

    fn is_stateful(&self) -> bool {
        self.main.uses_state || self.sections.iter().any(|(_, script)| script.uses_state)
    }

    fn process<'a>(
        &'a self,
        state: &mut State,
        port: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let script = self.section(port)?;
        let (arena, facts) = (around.call.arena, around.call.facts);
        let mut context = Context::new(arena, facts, event.value, event.meta, &mut state.0);
        context.args = self.args.get();
        context.text = event.raw.unwrap_or_default();
        match script.run(&mut context) {
            Ok(Outcome::Emit { value, port }) => {
                let result = event.with_value(value).with_meta(context.meta);
                out.emit(port.unwrap_or(OUT), result);
                Ok(())
            }
            Ok(Outcome::Drop) => {
                out.count_drop();
                Ok(())
            }
            Err(error) if self.is_transaction => Err(error),
            Err(error) => {
                // tremor's error event carries what the script had made of the event so far.
                let so_far = event.with_value(context.event).with_meta(context.meta);
                out.fail(so_far, error);
                Ok(())
            }
        }
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        state.0.read(arena)
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        Ok(State(Owned::from(saved)))
    }
}
