//! Blocks of Ruby over an event. What one event may spend is small here, so that each case is short.

use chrono::{DateTime, Utc};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_ruby::{Limits, Machine, Memory, Script};

const LIMITS: Limits = Limits { steps: 20_000, event_bytes: 4 << 20, heap_bytes: 16 << 20 };
/// Bytes that one method may make before it is asked.
const OVERSHOOT: usize = 48 << 20;

/// Runs `code NUL message` over three events with one memory: it ends within its bounds.
pub fn ruby(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (code, message) = text.split_once('\0').unwrap_or((text, "a=1 b"));
    // What waits is no failure.
    let Ok(script) = Script::parse(code, &[]) else { return };
    let now = DateTime::<Utc>::UNIX_EPOCH;
    let mut memory = Memory::bounded(LIMITS);
    for _ in 0..3 {
        let arena = Arena::new();
        let mut fields = Map::default();
        fields.insert("message", Datum::Str(message));
        let mut machine = Machine::new(LogEvent::new(fields, now), &mut memory, &arena, now);
        machine.collect_while_running();
        if let Ok(value) = machine.run(&script) {
            let _ = value.inspect(machine.heap());
        }
        memory.settle(std::iter::empty());
        assert!(memory.heap().held() < LIMITS.heap_bytes + OVERSHOOT);
    }
}
