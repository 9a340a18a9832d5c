//! A script over lines in memory, with the engine's decoder and encoder and nothing else around it.

use temblor_codec::{Decoder, InputCodec};
use temblor_lang::builtin::Facts;
use temblor_lang::diagnostic::{Colour, render_all};
use temblor_lang::lower::{Compiler, NoModules};
use temblor_lang::program::Script;
use temblor_lang::run::{Context, Outcome};
use temblor_lang::value::{Arena, JsonStyle, Owned, Value, push_json};
use temblor_runtime::framing::{FrameCursor, Framing};

/// What becomes of an event behind the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The script itself drops it.
    Drop,
    /// It is written as JSON; one that is untouched as it came.
    Encode,
}

/// A compiled script and the memory that it uses again and again.
pub(super) struct Memory {
    script: Script,
    codec: InputCodec,
    ending: Ending,
    arena: Arena,
    decoder: Decoder,
    facts: Facts,
    out: Vec<u8>,
}

/// Output is thrown away in pieces of this size, as the engine does with its buffers.
const OUT_BYTES: usize = 256 * 1024;

impl Memory {
    /// Compiles `script`.
    pub(super) fn prepare(
        name: &str,
        script: &str,
        is_json: bool,
        ending: Ending,
    ) -> Result<Self, String> {
        let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
        let source = compiler.sources.add(name, script);
        let compiled = compiler.script(source);
        let script = compiled
            .ok_or_else(|| render_all(&compiler.diagnostics, &compiler.sources, Colour::Off))?;
        Ok(Self {
            script,
            codec: if is_json { InputCodec::Json } else { InputCodec::String },
            ending,
            arena: Arena::new(),
            decoder: Decoder::default(),
            facts: Facts::default(),
            out: Vec::with_capacity(OUT_BYTES),
        })
    }

    /// Runs it over every line; gives the number of events that it dealt with.
    pub(super) fn run(&mut self, text: &[u8]) -> Result<u64, String> {
        let mut cursor = FrameCursor::new(Framing::Lines, 0..text.len());
        let mut events = 0;
        while let Some(range) = cursor.next(text) {
            events += u64::from(self.line(&text[range])?);
            self.arena.reset();
            if self.out.len() > OUT_BYTES {
                std::hint::black_box(&self.out);
                self.out.clear();
            }
        }
        Ok(events)
    }

    fn line(&mut self, line: &[u8]) -> Result<bool, String> {
        let Self { script, codec, ending, arena, decoder, facts, out } = self;
        let Ok(Some((event, raw))) = decoder.decode(*codec, line, facts.ingest_ns, arena) else {
            return Ok(false);
        };
        let mut state = Owned::Null;
        let meta = arena.record_builder(0).finish();
        let mut context = Context::new(arena, facts, event, meta, &mut state);
        context.text = raw.unwrap_or_default();
        let outcome = script.run(&mut context).map_err(|error| error.message().to_string())?;
        if let (Outcome::Emit { value, .. }, Ending::Encode) = (outcome, *ending) {
            match (event, value, raw) {
                (Value::Lazy(before), Value::Lazy(after), Some(raw)) if before.is_same(after) => {
                    out.extend_from_slice(raw);
                }
                _ => push_json(out, value, JsonStyle::AsRead),
            }
            out.push(b'\n');
        }
        Ok(true)
    }
}
