//! A script over the lines of a file, in memory and for a fixed number of passes: what tools that count instructions need.
//!
//! Invariant: it does what the engine does for an event and nothing else, so that counts compare.
//!
//! `valgrind --tool=callgrind target/release/examples/script_cost SCRIPT LINES [text|json] [PASSES]`

use temblor_lang::builtin::Facts;
use temblor_lang::diagnostic::{Colour, render_all};
use temblor_lang::lower::{Compiler, NoModules};
use temblor_lang::program::Script;
use temblor_lang::run::{Context, Outcome};
use temblor_lang::tape::{Reader, utf8};
use temblor_lang::value::{Arena, JsonStyle, Owned, Value, push_json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const USAGE: &str = "usage: script_cost SCRIPT LINES [text|json] [PASSES]";
    let mut arguments = std::env::args().skip(1);
    let script = std::fs::read_to_string(arguments.next().ok_or(USAGE)?)?;
    let lines = std::fs::read_to_string(arguments.next().ok_or(USAGE)?)?;
    let is_json = arguments.next().is_some_and(|word| word == "json");
    let passes: usize = arguments.next().map_or(Ok(1), |number| number.parse())?;
    let script = compile(&script)?;
    let lines: Vec<&str> = lines.lines().collect();
    let (mut runner, mut emitted, mut out) = (Runner::default(), 0, Vec::new());
    for _ in 0..passes {
        for line in &lines {
            emitted += usize::from(runner.run(&script, line, is_json, &mut out));
            if out.len() > 64 << 10 {
                std::hint::black_box(&out);
                out.clear();
            }
        }
    }
    println!("{emitted} events emitted of {}", passes * lines.len());
    Ok(())
}

fn compile(source: &str) -> Result<Script, String> {
    let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
    let id = compiler.sources.add("script", source);
    let script = compiler.script(id);
    script.ok_or_else(|| render_all(&compiler.diagnostics, &compiler.sources, Colour::Off))
}

#[derive(Default)]
struct Runner {
    arena: Arena,
    state: Owned,
    facts: Facts,
    reader: Reader,
}

impl Runner {
    /// Whether the script emits the event; its JSON is then at the end of `out`.
    fn run(&mut self, script: &Script, line: &str, is_json: bool, out: &mut Vec<u8>) -> bool {
        let event = if is_json {
            let Ok(event) = self.reader.read(line.as_bytes(), &self.arena) else { return false };
            event
        } else {
            Value::Str(utf8(line.as_bytes()).expect("lines are UTF-8"))
        };
        let meta = self.arena.record_builder(0).finish();
        let mut context = Context::new(&self.arena, &self.facts, event, meta, &mut self.state);
        context.text = line.as_bytes();
        let emitted = match script.run(&mut context) {
            Ok(Outcome::Emit { value, .. }) => {
                push_json(out, value, JsonStyle::AsRead);
                true
            }
            _ => false,
        };
        self.arena.reset();
        emitted
    }
}
