//! The event on its way through the graph. It is `Copy`: branches share its values, which never
//! change; a step that changes something puts a new value in its place.

use temblor_lang::value::Value;

/// An event and what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The data: `event`.
    pub value: Value<'a>,
    /// The metadata: `$`.
    pub meta: Value<'a>,
    /// When it arrived, in nanoseconds since 1970-01-01 UTC.
    pub ingest_ns: u64,
    /// The JSON text that `value` was read from, as long as nothing has put another value in its
    /// place: such an event leaves as the bytes that it came in as.
    pub raw: Option<&'a [u8]>,
    /// The events that a batched event consists of, as long as `value` is the array of their data:
    /// a sink that writes events one by one writes these.
    pub members: Option<&'a Members<'a>>,
}

/// The events of a batched event.
#[derive(Clone, Copy, Debug)]
pub struct Members<'a> {
    /// In order of arrival.
    pub events: &'a [Event<'a>],
}

impl<'a> Event<'a> {
    /// An event that came without a text.
    #[must_use]
    pub fn new(value: Value<'a>, meta: Value<'a>, ingest_ns: u64) -> Self {
        Self { value, meta, ingest_ns, raw: None, members: None }
    }

    /// The same event with other data.
    #[must_use]
    pub fn with_value(self, value: Value<'a>) -> Self {
        if is_same(self.value, value) {
            return Self { value, ..self };
        }
        Self { value, raw: None, members: None, ..self }
    }

    /// The same event with other metadata.
    #[must_use]
    pub fn with_meta(self, meta: Value<'a>) -> Self {
        Self { meta, ..self }
    }
}

/// Whether both are one and the same value, found without looking into it.
fn is_same(left: Value<'_>, right: Value<'_>) -> bool {
    match (left, right) {
        (Value::Lazy(left), Value::Lazy(right)) => left.is_same(right),
        (Value::Str(left), Value::Str(right)) => std::ptr::eq(left, right),
        (Value::Array(left), Value::Array(right)) => std::ptr::eq(left, right),
        _ => false,
    }
}
