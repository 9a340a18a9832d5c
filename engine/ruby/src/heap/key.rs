//! What tells the keys of hashes apart, read from the heap.

use super::Heap;
use crate::dictionary::Key;
use crate::text::Content;
use crate::value::Value;

impl Key {
    pub(crate) fn of(heap: &Heap, value: &Value) -> Self {
        match value {
            Value::Text(text) => match text.content(heap) {
                Content::Plain(text) => Key::Text(text),
                Content::Bytes(..) => Key::Other(value.inspect(heap).into()),
            },
            Value::Symbol(text) => Key::Symbol(text.clone()),
            Value::Int(number) => Key::Int(*number),
            Value::Time(time, _) => Key::Time(time.timestamp(), time.timestamp_subsec_nanos()),
            Value::Object(object) if !object.is_record(heap) => Key::Object(object.fields),
            Value::Lambda(closure) => Key::Lambda(*closure),
            Value::Event(number) => Key::Event(*number),
            other => Key::Other(other.inspect(heap).into()),
        }
    }
}
