//! The tremor-script crate: its SIMD value tree, its interpreter, its JSON writer. Buffers are reused from line to line.

use std::path::PathBuf;

use crate::engine::{Engine, Input, Outcome};
use tremor_script::module::Manager;
use tremor_script::prelude::*;
use tremor_script::{Return, Script, registry};
use tremor_value::{Buffers, Value};

/// A compiled tremor script.
pub struct Tremor {
    script: Script,
    input: Input,
    state: Value<'static>,
    line: Vec<u8>,
    buffers: Buffers,
    events: u64,
}

impl Tremor {
    /// Compiles `source`. The modules of tremor's library are found by the `TREMOR_PATH` variable, or in the package of the
    /// crate where cargo unpacked it.
    pub fn prepare(source: &str, input: Input) -> Result<Self, String> {
        for folder in packaged_libraries() {
            Manager::add_path(&folder.display()).map_err(|error| error.to_string())?;
        }
        let script = Script::parse(source, &registry()).map_err(|error| {
            tremor_script::highlighter::Dumb::error_to_string(&error)
                .unwrap_or_else(|_| error.to_string())
        })?;
        Ok(Self {
            script,
            input,
            state: Value::null(),
            line: Vec::new(),
            buffers: Buffers::default(),
            events: 0,
        })
    }
}

impl Engine for Tremor {
    fn name(&self) -> &str {
        "tremor-script"
    }

    fn run(&mut self, line: &[u8], out: &mut Vec<u8>) -> Outcome {
        self.line.clear();
        self.line.extend_from_slice(line);
        let parsed = match self.input {
            Input::Json => {
                tremor_value::parse_to_value_with_buffers(&mut self.line, &mut self.buffers).ok()
            }
            Input::Text => std::str::from_utf8(&self.line).ok().map(Value::from),
        };
        let Some(mut event) = parsed else { return Outcome::Failed };
        let mut meta = Value::object();
        let context = EventContext::new(self.events, None);
        self.events += 1;
        let result =
            self.script.run(&context, AggrType::Tick, &mut event, &mut self.state, &mut meta);
        match result {
            Ok(Return::Drop) => Outcome::Dropped,
            Ok(Return::Emit { value, .. }) => write(&value, out),
            Ok(Return::EmitEvent { .. }) => write(&event, out),
            Err(_) => Outcome::Failed,
        }
    }
}

fn write(value: &Value<'_>, out: &mut Vec<u8>) -> Outcome {
    match value.write(out) {
        Ok(()) => Outcome::Emitted,
        Err(_) => Outcome::Failed,
    }
}

fn packaged_libraries() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let Some(home) = home else { return Vec::new() };
    let Ok(registries) = std::fs::read_dir(home.join("registry/src")) else { return Vec::new() };
    registries
        .filter_map(Result::ok)
        .map(|registry| registry.path().join("tremor-script-0.13.0-rc.33/lib"))
        .filter(|folder| folder.is_dir())
        .collect()
}
