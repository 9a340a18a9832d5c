//! The event while a program works on it. Its record is opened once and changed in place as long
//! as the program reads single fields; it becomes a value when the program takes all of it, and
//! a value never changes.

use super::Run;
use crate::value::{Key, Kind, Lazy, RecordBuilder, Value};

/// After so many reads of fields of an event on the tape, its fields are put in reach once:
/// each read of the tape walks all of it.
const TAPE_READS_MAX: u32 = 3;
/// Room for fields that a program adds to the event.
const MORE_FIELDS: usize = 8;

/// The event's record, when it has been opened.
#[derive(Debug, Default)]
pub(crate) struct Working<'a> {
    open: Option<RecordBuilder<'a>>,
    /// Whether `open` differs from the event in the context.
    changed: bool,
    /// Reads of the tape so far.
    reads: u32,
}

impl Working<'_> {
    /// A record that will be opened anyway is opened for the first read.
    pub fn expect_change(&mut self, expected: bool) {
        if expected {
            self.reads = TAPE_READS_MAX;
        }
    }
}

impl<'a> Run<'a, '_, '_> {
    /// The event as a value that stays as it is.
    pub(super) fn whole_event(&mut self) -> Value<'a> {
        if self.event.changed
            && let Some(record) = self.event.open.take()
        {
            self.event.changed = false;
            self.context.event = record.finish();
        }
        self.context.event
    }

    /// Puts another value in the event's place.
    pub(super) fn replace_event(&mut self, value: Value<'a>) {
        self.event = Working::default();
        self.context.event = value;
        self.context.text = &[];
    }

    /// The event's kind.
    #[inline]
    pub(super) fn event_kind(&self) -> Kind {
        if self.event.open.is_some() { Kind::Record } else { self.context.event.kind() }
    }

    /// A field of the event; `None` when there is none, or the event is no record.
    #[inline]
    pub(super) fn event_field(&mut self, key: &Key<'_>) -> Option<Value<'a>> {
        if let Some(record) = &self.event.open {
            return record.get_key(key);
        }
        match self.context.event {
            Value::Lazy(lazy) => self.tape_field(lazy, key),
            event => event.get(key),
        }
    }

    fn tape_field(&mut self, lazy: Lazy<'a>, key: &Key<'_>) -> Option<Value<'a>> {
        self.event.reads += 1;
        if self.event.reads < TAPE_READS_MAX || !lazy.is_record() {
            return lazy.get(key.text());
        }
        self.open_event()?.get_key(key)
    }

    /// The event's record, to look into; `None` when the event is no record.
    fn open_event(&mut self) -> Option<&mut RecordBuilder<'a>> {
        if self.event.open.is_none() {
            let arena = self.arena();
            self.event.open = Some(match self.context.event {
                Value::Record(record) => RecordBuilder::from_record(arena, record, MORE_FIELDS),
                Value::Lazy(lazy) if lazy.is_record() => {
                    RecordBuilder::from_tape(arena, lazy, MORE_FIELDS, self.context.text)
                }
                _ => return None,
            });
        }
        self.event.open.as_mut()
    }

    /// The event's record, to be changed in place; `None` when the event is no record.
    pub(super) fn change_event(&mut self) -> Option<&mut RecordBuilder<'a>> {
        self.open_event()?;
        self.event.changed = true;
        self.event.open.as_mut()
    }

    /// A copy of a record, to be changed; `None` when `value` is no record.
    pub(super) fn copy_of(&self, value: Value<'a>, more: usize) -> Option<RecordBuilder<'a>> {
        let arena = self.arena();
        match value {
            Value::Record(record) => Some(RecordBuilder::from_record(arena, record, more)),
            Value::Lazy(lazy) if lazy.is_record() => {
                let is_event =
                    matches!(self.context.event, Value::Lazy(event) if event.is_same(lazy));
                let text = if is_event { self.context.text } else { &[] };
                Some(RecordBuilder::from_tape(arena, lazy, more, text))
            }
            _ => None,
        }
    }

    /// As [`Run::change_event`], for changes that need the rest of the run as well; to be followed
    /// by [`Run::put_back`].
    pub(super) fn take_event(&mut self) -> Option<RecordBuilder<'a>> {
        self.open_event()?;
        self.event.open.take()
    }

    /// See [`Run::take_event`].
    pub(super) fn put_back(&mut self, record: RecordBuilder<'a>) {
        self.event.open = Some(record);
        self.event.changed = true;
    }
}
