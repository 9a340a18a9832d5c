//! Temblor: lazy events on simd-json's tape, its interpreter, its JSON writer. As in its engine, one arena holds what an event makes
//! and is emptied after it, and an event that the script hands on untouched leaves as the bytes that it came in as.

use crate::engine::{Engine, Input, Outcome};
use temblor_lang::builtin::Facts;
use temblor_lang::diagnostic::{Colour, render_all};
use temblor_lang::lower::{Compiler, NoModules};
use temblor_lang::program::Script;
use temblor_lang::run::{Context, Outcome as Ran};
use temblor_lang::tape::{Reader, utf8};
use temblor_lang::value::{Arena, JsonStyle, Owned, Value, push_json};

/// A compiled script.
pub struct Temblor {
    script: Script,
    input: Input,
    state: Owned,
    facts: Facts,
    arena: Arena,
    reader: Reader,
}

impl Temblor {
    /// Compiles the script `source`, which is in the file `name`.
    pub fn prepare(name: &str, source: &str, input: Input) -> Result<Self, String> {
        let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
        let id = compiler.sources.add(name, source);
        let script = compiler
            .script(id)
            .ok_or_else(|| render_all(&compiler.diagnostics, &compiler.sources, Colour::Off))?;
        Ok(Self {
            script,
            input,
            state: Owned::Null,
            facts: Facts::default(),
            arena: Arena::new(),
            reader: Reader::default(),
        })
    }

    fn json(&mut self, line: &[u8], out: &mut Vec<u8>) -> Outcome {
        match self.reader.read(line, &self.arena) {
            Ok(event) => {
                run(&self.script, &self.arena, &self.facts, &mut self.state, (event, line), out)
            }
            Err(_) => Outcome::Failed,
        }
    }

    fn text(&mut self, line: &[u8], out: &mut Vec<u8>) -> Outcome {
        let Ok(text) = utf8(line) else { return Outcome::Failed };
        let event = Value::Str(text);
        run(&self.script, &self.arena, &self.facts, &mut self.state, (event, line), out)
    }
}

impl Engine for Temblor {
    fn name(&self) -> &str {
        "temblor"
    }

    fn run(&mut self, line: &[u8], out: &mut Vec<u8>) -> Outcome {
        let outcome = match self.input {
            Input::Json => self.json(line, out),
            Input::Text => self.text(line, out),
        };
        self.arena.reset();
        self.facts.ingest_ns += 1;
        outcome
    }
}

/// Runs `script` over one event and the text that it was read from.
fn run<'a>(
    script: &'a Script,
    arena: &'a Arena,
    facts: &'a Facts,
    state: &mut Owned,
    (event, raw): (Value<'a>, &'a [u8]),
    out: &mut Vec<u8>,
) -> Outcome {
    let meta = arena.record_builder(0).finish();
    let mut context = Context::new(arena, facts, event, meta, state);
    context.text = raw;
    match script.run(&mut context) {
        Ok(Ran::Emit { value, .. }) if is_untouched(event, value) => {
            out.extend_from_slice(raw);
            Outcome::Emitted
        }
        Ok(Ran::Emit { value, .. }) => {
            push_json(out, value, JsonStyle::AsRead);
            Outcome::Emitted
        }
        Ok(Ran::Drop) => Outcome::Dropped,
        Err(_) => Outcome::Failed,
    }
}

fn is_untouched(before: Value<'_>, after: Value<'_>) -> bool {
    matches!((before, after), (Value::Lazy(before), Value::Lazy(after)) if before.is_same(after))
}
