//! An event that outlives its batch: a copy of its own, and the claim on the batch it came with.
//! As long as the claim is neither released nor dropped, the source counts it as not delivered.

use crate::event::Event;
use crate::operator::{Emitter, Hold, Surroundings};
use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Frozen, Key, Value, deeper};

/// What an allocation of its own costs beside its contents, near enough: the struct, the arena's
/// first block and the allocator's own records.
const OVERHEAD_BYTES: usize = 512;

/// A kept event.
#[derive(Debug)]
pub struct Kept {
    /// Data and metadata, as an array of two.
    copy: Frozen,
    /// When it arrived.
    pub ingest_ns: u64,
    bytes: usize,
    hold: Hold,
}

impl Kept {
    /// A copy of `event`, with a claim on its batch.
    #[must_use]
    pub fn new(event: &Event<'_>, around: &Surroundings<'_>) -> Self {
        Self::with_hold(event, around.hold())
    }

    fn with_hold(event: &Event<'_>, hold: Hold) -> Self {
        let bytes = OVERHEAD_BYTES + footprint(event.value) + footprint(event.meta);
        let copy = Frozen::new(Value::Array(&[event.value, event.meta]));
        Self { copy, ingest_ns: event.ingest_ns, bytes, hold }
    }

    /// Bytes that it takes, near enough.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The data, for as long as it is kept.
    #[must_use]
    pub fn value(&self) -> Value<'_> {
        self.copy.get().at(0).unwrap_or(Value::Null)
    }

    /// A copy that lives in `arena`.
    #[must_use]
    pub fn event<'a>(&self, arena: &'a Arena) -> Event<'a> {
        let part = |at| self.copy.get().at(at).unwrap_or(Value::Null).copy_into(arena);
        Event::new(part(0), part(1), self.ingest_ns)
    }

    /// Gives the claim back: what stands for the event has been emitted, or nothing ever will.
    pub fn release(self, out: &mut Emitter<'_>) {
        out.release(self.hold);
    }

    /// Emits the event and gives its claim back.
    pub fn emit<'a>(self, port: &'a str, around: &Surroundings<'a>, out: &mut Emitter<'a>) {
        out.emit(port, self.event(around.arena()));
        self.release(out);
    }

    /// As a value, for saving.
    #[must_use]
    pub fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        let event = self.event(arena);
        let mut record = arena.record_builder(3);
        record.append("value", event.value);
        record.append("meta", event.meta);
        record.append("ingest_ns", Value::UInt(event.ingest_ns));
        record.finish()
    }

    /// What [`Kept::save`] gave. It holds no claim: the batch was settled when it was saved.
    ///
    /// # Errors
    /// When the value is not of that shape.
    pub fn restore(saved: Value<'_>) -> Result<Self, CallError> {
        let part = |name: &str| saved.get(&Key::new(name));
        match (part("value"), part("meta"), part("ingest_ns").and_then(Value::as_u64)) {
            (Some(value), Some(meta), Some(ingest_ns)) => {
                Ok(Self::with_hold(&Event::new(value, meta, ingest_ns), Hold::default()))
            }
            _ => Err(CallError::failed("a kept event needs value, meta and ingest_ns")),
        }
    }
}

/// Bytes that a copy of `value` takes, near enough.
#[must_use]
pub fn footprint(value: Value<'_>) -> usize {
    let inner = match value {
        Value::Str(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Array(items) => deeper(|| items.iter().map(|item| footprint(*item)).sum()),
        Value::Record(record) => deeper(|| record.iter().map(field_footprint).sum()),
        Value::Lazy(lazy) if lazy.is_record() => lazy.raw_fields().map(field_footprint).sum(),
        Value::Edited(edited) => deeper(|| edited.fields().map(field_footprint).sum()),
        Value::Lazy(lazy) => lazy.elements().map(footprint).sum(),
        _ => 0,
    };
    size_of::<Value<'_>>() + inner
}

fn field_footprint((key, value): (&str, Value<'_>)) -> usize {
    size_of::<&str>() + key.len() + footprint(value)
}
