//! The vrl crate: serde_json into its value tree, its interpreter, serde_json out. An `abort` drops the event.

use crate::engine::{Engine, Input, Outcome};
use std::collections::BTreeMap;
use vrl::compiler::state::RuntimeState;
use vrl::compiler::{Context, ExpressionError, Program, TargetValueRef, TimeZone};
use vrl::value::{Secrets, Value};

/// A compiled VRL program.
pub struct Vrl {
    name: String,
    program: Program,
    input: Input,
    state: RuntimeState,
    zone: TimeZone,
    metadata: Value,
    secrets: Secrets,
}

impl Vrl {
    /// Compiles `source`; `name` goes to the report.
    pub fn prepare(name: &str, source: &str, input: Input) -> Result<Self, String> {
        let compiled = vrl::compiler::compile(source, &vrl::stdlib::all())
            .map_err(|errors| vrl::diagnostic::Formatter::new(source, errors).to_string())?;
        Ok(Self {
            name: name.to_string(),
            program: compiled.program,
            input,
            state: RuntimeState::default(),
            zone: TimeZone::parse("UTC").ok_or("VRL knows no time zone UTC")?,
            metadata: Value::Object(BTreeMap::new()),
            secrets: Secrets::default(),
        })
    }

    fn parse(&self, line: &[u8]) -> Option<Value> {
        match self.input {
            Input::Json => serde_json::from_slice(line).ok(),
            Input::Text => Some(Value::from(line)),
        }
    }
}

impl Engine for Vrl {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, line: &[u8], out: &mut Vec<u8>) -> Outcome {
        let Some(mut value) = self.parse(line) else { return Outcome::Failed };
        let mut target = TargetValueRef {
            value: &mut value,
            metadata: &mut self.metadata,
            secrets: &mut self.secrets,
        };
        let mut context = Context::new(&mut target, &mut self.state, &self.zone);
        let result = self.program.resolve(&mut context);
        self.state.clear();
        match result {
            Ok(_) => match serde_json::to_writer(out, &value) {
                Ok(()) => Outcome::Emitted,
                Err(_) => Outcome::Failed,
            },
            Err(ExpressionError::Abort { .. }) => Outcome::Dropped,
            Err(_) => Outcome::Failed,
        }
    }
}
