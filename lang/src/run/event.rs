//! The event while a program works on it. Its record is opened once and changed in place as long
//! as the program reads single fields; it becomes a value when the program takes all of it, and
//! a value never changes.

use super::Run;
use super::draft::{Draft, RecordDraft};
use crate::program::EventChanges;
use crate::value::{Editor, Key, Kind, Lazy, RecordBuilder, Value};

/// After so many reads of fields of an event on the tape, its fields are put in reach once:
/// each read of the tape walks all of it.
const TAPE_READS_MAX: u32 = 3;
/// Room for fields that a program adds to the event.
const MORE_FIELDS: usize = 8;

/// How the fields of the event are in reach.
#[derive(Debug, Default)]
enum Form<'a> {
    /// Only as in the context.
    #[default]
    Closed,
    /// By their places on the tape, with those that were set.
    Edited(Editor<'a>),
    /// As a record.
    Open(RecordBuilder<'a>),
    /// As a record of which some fields grow.
    Growing(RecordDraft<'a>),
}

/// The event's fields, when they have been put in reach.
#[derive(Debug, Default)]
pub(crate) struct Working<'a> {
    form: Form<'a>,
    /// Whether `form` differs from the event in the context.
    changed: bool,
    /// Reads of the tape so far.
    reads: u32,
    /// What the program does to most events.
    expected: EventChanges,
}

impl Working<'_> {
    /// The fields of an event that will be changed anyway are put in reach for the first read.
    pub(crate) fn expect(&mut self, expected: EventChanges) {
        self.expected = expected;
        if expected != EventChanges::None {
            self.reads = TAPE_READS_MAX;
        }
    }
}

impl<'a> Run<'a, '_, '_> {
    /// The event as a value that stays as it is.
    pub(super) fn whole_event(&mut self) -> Value<'a> {
        if std::mem::take(&mut self.event.changed) {
            self.context.event = match std::mem::take(&mut self.event.form) {
                Form::Open(record) => record.finish(),
                Form::Edited(editor) => editor.finish(),
                Form::Growing(record) => record.finish().finish(),
                Form::Closed => self.context.event,
            };
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
        match &self.event.form {
            Form::Closed => self.context.event.kind(),
            Form::Edited(_) | Form::Open(_) | Form::Growing(_) => Kind::Record,
        }
    }

    /// A field of the event; `None` when there is none, or the event is no record.
    #[inline]
    pub(super) fn event_field(&mut self, key: &Key<'_>) -> Option<Value<'a>> {
        match (&mut self.event.form, self.context.event) {
            (Form::Edited(editor), _) => editor.get(key),
            (Form::Open(record), _) => record.get_key(key),
            (Form::Growing(record), _) => record.get(key),
            (Form::Closed, Value::Lazy(lazy)) => self.tape_field(lazy, key),
            (Form::Closed, event) => event.get(key),
        }
    }

    fn tape_field(&mut self, lazy: Lazy<'a>, key: &Key<'_>) -> Option<Value<'a>> {
        self.event.reads += 1;
        if self.event.reads < TAPE_READS_MAX || !lazy.is_record() {
            return lazy.get(key.text());
        }
        if self.event.expected == EventChanges::Record {
            return self.open_event()?.get_key(key);
        }
        match Editor::of(self.arena(), lazy, self.context.text) {
            Some(editor) => {
                let found = editor.get(key);
                self.event.form = Form::Edited(editor);
                found
            }
            None => self.open_event()?.get_key(key),
        }
    }

    /// The event's record, to look into; `None` when the event is no record.
    fn open_event(&mut self) -> Option<&mut RecordBuilder<'a>> {
        let arena = self.arena();
        if let Form::Growing(_) = &self.event.form
            && let Form::Growing(record) = std::mem::take(&mut self.event.form)
        {
            self.event.form = Form::Open(record.finish());
        }
        let opened = match (&self.event.form, self.context.event) {
            (Form::Open(_) | Form::Growing(_), _) => None,
            (Form::Edited(editor), _) => Some(editor.open(MORE_FIELDS)),
            (Form::Closed, Value::Record(record)) => {
                Some(RecordBuilder::from_record(arena, record, MORE_FIELDS))
            }
            (Form::Closed, Value::Edited(edited)) => Some(edited.open(arena, MORE_FIELDS)),
            (Form::Closed, Value::Lazy(lazy)) if lazy.is_record() => {
                Some(RecordBuilder::from_tape(arena, lazy, MORE_FIELDS, self.context.text))
            }
            (Form::Closed, _) => return None,
        };
        if let Some(opened) = opened {
            self.event.form = Form::Open(opened);
        }
        match &mut self.event.form {
            Form::Open(record) => Some(record),
            Form::Closed | Form::Edited(_) | Form::Growing(_) => None,
        }
    }

    /// The draft of a field, if there is one.
    pub(super) fn event_draft(&mut self, key: &Key<'_>) -> Option<&mut Draft<'a>> {
        match &mut self.event.form {
            Form::Growing(record) => record.drafted(key),
            Form::Closed | Form::Edited(_) | Form::Open(_) => None,
        }
    }

    /// The event's record, for fields of it to grow; `None` when the event is no record.
    pub(super) fn grow_event(&mut self) -> Option<&mut RecordDraft<'a>> {
        if !matches!(self.event.form, Form::Growing(_)) {
            let record = self.take_event()?;
            self.event.form = Form::Growing(RecordDraft::of(record));
        }
        self.event.changed = true;
        match &mut self.event.form {
            Form::Growing(record) => Some(record),
            Form::Closed | Form::Edited(_) | Form::Open(_) => None,
        }
    }

    /// Sets a field; false when the event is no record.
    pub(super) fn set_event_field(&mut self, key: &Key<'a>, value: Value<'a>) -> bool {
        if let (Form::Closed, Value::Lazy(lazy)) = (&self.event.form, self.context.event)
            && self.event.expected != EventChanges::Record
            && let Some(editor) = Editor::of(self.arena(), lazy, self.context.text)
        {
            self.event.form = Form::Edited(editor);
        }
        if let Form::Growing(record) = &mut self.event.form {
            record.set(key, value);
            return true;
        }
        if let Form::Edited(editor) = &mut self.event.form
            && editor.set(key, value)
        {
            self.event.changed = true;
            return true;
        }
        match self.change_event() {
            Some(record) => {
                record.insert_key(key, value);
                true
            }
            None => false,
        }
    }

    /// The event's record, to be changed in place; `None` when the event is no record.
    pub(super) fn change_event(&mut self) -> Option<&mut RecordBuilder<'a>> {
        self.open_event()?;
        self.event.changed = true;
        self.open_event()
    }

    /// A copy of a record, to be changed; `None` when `value` is no record.
    pub(super) fn copy_of(&self, value: Value<'a>, more: usize) -> Option<RecordBuilder<'a>> {
        let arena = self.arena();
        match value {
            Value::Record(record) => Some(RecordBuilder::from_record(arena, record, more)),
            Value::Edited(edited) => Some(edited.open(arena, more)),
            Value::Lazy(lazy) if lazy.is_record() => {
                let is_event =
                    matches!(self.context.event, Value::Lazy(event) if event.is_same(lazy));
                let text = if is_event { self.context.text } else { &[] };
                Some(RecordBuilder::from_tape(arena, lazy, more, text))
            }
            _ => None,
        }
    }

    /// An editor for a copy of the event as it was read; `None` when `value` is something else, or
    /// when it must be opened.
    pub(super) fn editor_of(&self, value: Value<'a>) -> Option<Editor<'a>> {
        match (value, self.context.event) {
            (Value::Lazy(lazy), Value::Lazy(event)) if event.is_same(lazy) => {
                Editor::of(self.arena(), lazy, self.context.text)
            }
            _ => None,
        }
    }

    /// As [`Run::change_event`], for changes that need the rest of the run as well; to be followed
    /// by [`Run::put_back`].
    pub(super) fn take_event(&mut self) -> Option<RecordBuilder<'a>> {
        self.open_event()?;
        match std::mem::take(&mut self.event.form) {
            Form::Open(record) => Some(record),
            Form::Closed | Form::Edited(_) | Form::Growing(_) => None,
        }
    }

    /// See [`Run::take_event`].
    pub(super) fn put_back(&mut self, record: RecordBuilder<'a>) {
        self.event.form = Form::Open(record);
        self.event.changed = true;
    }
}
