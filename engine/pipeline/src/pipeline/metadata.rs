//! The metadata that events arrive with: that of their connection, read once, and their own, read with them.

use std::sync::Arc;
use temblor_lang::tape::Reader;
use temblor_lang::value::{Arena, Frozen, RecordBuilder, Value};
use temblor_runtime::batch::Origin;

/// The metadata of the connection that the last batch came from.
#[derive(Default)]
pub(super) struct Metadata {
    origin: Option<Arc<Origin>>,
    record: Option<Frozen>,
}

impl Metadata {
    /// Takes up the connection of a batch.
    pub(super) fn of(&mut self, origin: &Arc<Origin>) {
        if self.origin.as_ref().is_some_and(|known| Arc::ptr_eq(known, origin)) {
            return;
        }
        self.record = origin.meta.as_deref().and_then(|text| {
            let arena = Arena::new();
            read(text.as_bytes(), &arena).map(Frozen::new)
        });
        self.origin = Some(Arc::clone(origin));
    }

    /// The metadata of an event: that of the connection, with its own (`text`, JSON) over it.
    pub(super) fn event<'a>(&'a self, text: &'a [u8], arena: &'a Arena) -> Value<'a> {
        let shared = self.record.as_ref().map(Frozen::get);
        let own = if text.is_empty() { None } else { read(text, arena) };
        match (shared, own) {
            (Some(shared), None) => shared,
            (None, Some(own)) => own,
            (None, None) => arena.record_builder(0).finish(),
            (Some(shared), Some(own)) => merged(shared, own, arena),
        }
    }
}

/// Sources make these texts themselves; one that cannot be read is no metadata.
fn read<'a>(text: &'a [u8], arena: &'a Arena) -> Option<Value<'a>> {
    Reader::default().read(text, arena).ok()
}

/// Both records; those fields that are records in both are merged as well.
fn merged<'a>(shared: Value<'a>, own: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let (Some(base), Some(over)) = (shared.as_record(arena), own.as_record(arena)) else {
        return own;
    };
    let mut record = RecordBuilder::from_record(arena, base, over.len());
    for (key, value) in over.iter() {
        let value = match base.get(key) {
            Some(under) if under.as_record(arena).is_some() => merged(under, value, arena),
            _ => value,
        };
        record.insert(key, value);
    }
    record.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    #[test]
    fn an_event_has_the_metadata_of_its_connection_and_its_own() {
        let mut metadata = Metadata::default();
        let origin = Origin::with_meta("peer", r#"{"http":{"peer":"a","id":1}}"#);
        metadata.of(&origin);
        let arena = Arena::new();
        assert_eq!(to_json(metadata.event(b"", &arena)), r#"{"http":{"peer":"a","id":1}}"#);
        let own = metadata.event(br#"{"http":{"id":2},"x":3}"#, &arena);
        assert_eq!(to_json(own), r#"{"http":{"peer":"a","id":2},"x":3}"#);
        metadata.of(&Origin::named("other"));
        assert_eq!(to_json(metadata.event(b"", &arena)), "{}");
    }
}
