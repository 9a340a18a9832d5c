//! The methods of `event`. Fields are addressed by Logstash's field references.

use super::{Answer, Found1, Machine, Stop};
use crate::budget::{Breach, SIZE_MAX};
use crate::heap::Heap;
use crate::run::methods::{ANY, Methods, takes};
use crate::value::{Clock, Value};
use chrono::{DateTime, FixedOffset};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// The methods of events.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "cancel",
            "cancelled?",
            "clone",
            "dup",
            "fields",
            "metadata",
            "timestamp",
            "to_hash",
            "to_hash_with_metadata",
            "to_s",
            "uncancel",
        ],
    ),
    takes(0, ANY, &["to_json"]),
    takes(0, 1, &["initialize"]),
    takes(
        1,
        1,
        &[
            "[]",
            "append",
            "get",
            "getField",
            "get_field",
            "include?",
            "overwrite",
            "remove",
            "sprintf",
            "tag",
        ],
    ),
    takes(2, 2, &["[]=", "set", "setField", "set_field"]),
];

/// Variables that code finds set.
pub(super) fn is_given(name: &str) -> bool {
    matches!(name, "event" | "new_event_block")
}

pub(super) fn given(name: &str) -> Value {
    match name {
        "event" => Value::Event(0),
        "new_event_block" => Value::NewEvent,
        _ => Value::Nil,
    }
}

fn field(heap: &Heap, name: &Value) -> Result<FieldRef, Stop> {
    FieldRef::parse(&name.print(heap)).map_err(|reason| {
        let message = format!("Invalid FieldReference: `{}`: {reason}", name.print(heap));
        Stop::raise("RuntimeError", message)
    })
}

impl Machine<'_, '_> {
    pub(super) fn event_method(
        &mut self,
        number: usize,
        name: &str,
        arguments: &[Value],
    ) -> Found1 {
        let heap = self.heap;
        if name == "initialize" {
            let fields = arguments.first().cloned().unwrap_or_else(|| heap.hash([]));
            if let Value::Event(new) = self.event_of(&fields)? {
                self.events[number] = self.events[new].clone();
            }
            return Ok(Some(Value::Nil));
        }
        let Some(event) = self.events.get_mut(number) else { return Ok(None) };
        Ok(Some(match (name, arguments) {
            ("get" | "[]" | "getField" | "get_field", [name]) => {
                let field = field(heap, name)?;
                event.value_of(&field).as_ref().map_or(Value::Nil, |one| Value::of_datum(heap, one))
            }
            ("set" | "[]=" | "setField" | "set_field", [name, value]) => {
                let field = field(heap, name)?;
                self.set_field(number, &field, value)?;
                value.clone()
            }
            ("remove", [name]) => {
                let field = field(heap, name)?;
                event.remove(&field).as_ref().map_or(Value::Nil, |one| Value::of_datum(heap, one))
            }
            ("include?", [name]) => Value::Bool(event.includes(&field(heap, name)?)),
            ("tag", [tag]) => {
                event.tag(self.arena.str(&tag.print(heap)));
                Value::Nil
            }
            ("cancel", []) => {
                event.cancelled = true;
                Value::Bool(true)
            }
            ("uncancel", []) => {
                event.cancelled = false;
                Value::Bool(false)
            }
            ("cancelled?", []) => Value::Bool(event.cancelled),
            ("to_json", _) => {
                super::constant::json_text(heap, &Value::of_map(heap, &event.data), false)?
            }
            _ => return Ok(self.whole_event(number, name, arguments)),
        }))
    }

    /// Methods of the event as a whole.
    fn whole_event(&mut self, number: usize, name: &str, arguments: &[Value]) -> Option<Value> {
        let heap = self.heap;
        let event = self.events.get_mut(number)?;
        Some(match (name, arguments) {
            ("to_hash" | "fields", []) => Value::of_map(heap, &event.data),
            ("to_hash_with_metadata", []) => {
                let whole = Value::of_map(heap, &event.data);
                if let (Value::Hash(hash), false) = (&whole, event.metadata.is_empty()) {
                    let metadata = Value::of_map(heap, &event.metadata);
                    hash.insert(heap, heap.text("@metadata"), metadata);
                }
                whole
            }
            ("metadata", []) => Value::of_map(heap, &event.metadata),
            ("to_s", []) => {
                let now = self.now;
                let template = Template::parse("%{@timestamp} %{host} %{message}");
                heap.text(&template.rendered(&self.events[number], now))
            }
            ("sprintf", [text]) => heap.text(&self.filled(number, &text.print(heap))),
            ("timestamp", []) => event.timestamp().map_or(Value::Nil, Value::timestamp),
            ("clone" | "dup", []) => {
                let copy = self.events[number].clone();
                self.events.push(copy);
                Value::Event(self.events.len() - 1)
            }
            ("append", [Value::Event(other)]) => {
                let (mine, others) = (
                    Value::of_map(heap, &self.events[number].data),
                    Value::of_map(heap, &self.events[*other].data),
                );
                merge(heap, &mine, &others, 0);
                if let Some(Datum::Map(data)) = mine.to_datum(heap, self.arena) {
                    self.events[number].data = data;
                }
                Value::Event(number)
            }
            ("overwrite", [Value::Event(other)]) => {
                self.events[number] = self.events[*other].clone();
                Value::Event(number)
            }
            _ => return None,
        })
    }

    /// A text with the fields of an event in it. Texts of many fields are filled part by part, so that none becomes
    /// larger than may be.
    fn filled(&self, number: usize, text: &str) -> String {
        /// Texts up to here are filled at once.
        const PART_BYTES: usize = 1 << 10;
        let event = &self.events[number];
        let fill = |part: &str| Template::parse(part).rendered(event, self.now);
        let mut out = String::new();
        let mut rest = text;
        while rest.len() > PART_BYTES {
            let Some(at) = rest.get(1..).and_then(|rest| rest.find("%{")) else { break };
            out.push_str(&fill(&rest[..=at]));
            rest = &rest[at + 1..];
            if out.len() > SIZE_MAX {
                self.heap.budget().exceed(Breach::Size);
                return out;
            }
        }
        out.push_str(&fill(rest));
        out
    }

    fn set_field(&mut self, number: usize, field: &FieldRef, value: &Value) -> Result<(), Stop> {
        let heap = self.heap;
        let Some(datum) = value.to_datum(heap, self.arena) else {
            let message =
                format!("Missing Converter handling for full class name={}", value.class());
            return Err(Stop::raise("MissingConverterException", message));
        };
        // Only a time of Logstash may stand there.
        if field.top() == Some("@timestamp") && !matches!(value, Value::Time(_, Clock::Stamp)) {
            let message =
                format!("wrong argument type {} (expected LogStash::Timestamp)", value.class());
            return Err(Stop::raise("TypeError", message));
        }
        self.events[number]
            .set(field, datum, self.arena)
            .map_err(|reason| Stop::raise("TypeError", reason))
    }

    /// `LogStash::Event.new(…)`, `LogStash::Timestamp.now`
    pub(super) fn logstash_constant(
        &mut self,
        constant: &str,
        name: &str,
        arguments: &[Value],
    ) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (constant, name, arguments) {
            ("LogStash::Event", "new", []) => self.event_of(&heap.hash([]))?,
            ("LogStash::Event", "new", [fields @ Value::Hash(_)]) => self.event_of(fields)?,
            ("LogStash::Timestamp", "now" | "new", []) => Value::timestamp(self.now),
            ("LogStash::Timestamp", "new" | "coerce" | "parse_iso8601", [value]) => {
                stamped(heap, value, name)?
            }
            ("LogStash::Timestamp", "at", arguments) => {
                match self.time_constant("Time", "at", arguments)? {
                    Some(value) => stamped(heap, &value, name)?,
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// What `filter(event)` of a file returned: the events that go on.
    pub fn replace_events(&mut self, returned: Value) {
        let heap = self.heap;
        let numbers = match returned {
            Value::List(items) => items.items(heap),
            Value::Nil => Vec::new(),
            one => vec![one],
        };
        let numbers = numbers.iter().filter_map(|one| match one {
            Value::Event(number) => Some(*number),
            _ => None,
        });
        let numbers: Vec<usize> = numbers.collect();
        self.events[0].cancelled |= !numbers.contains(&0);
        self.emitted.extend(numbers.into_iter().filter(|number| *number != 0));
    }

    fn event_of(&mut self, fields: &Value) -> Answer {
        let heap = self.heap;
        let Some(Datum::Map(data)) = fields.to_datum(heap, self.arena) else {
            return Err(Stop::raise("TypeError", "these fields cannot be those of an event"));
        };
        let event = LogEvent::new(data, self.now);
        self.events.push(event);
        Ok(Value::Event(self.events.len() - 1))
    }
}

/// What an event makes of another one's fields: hashes are merged, other values that differ become a list.
fn merge(heap: &Heap, target: &Value, added: &Value, depth: usize) {
    let (Value::Hash(target), Value::Hash(added)) = (target, added) else { return };
    if !heap.descend(depth) {
        return;
    }
    for (key, new) in added.pairs(heap) {
        let old = target.get(heap, &key).unwrap_or_default();
        let value = match (&old, &new) {
            (Value::Nil, _) => new,
            (Value::Hash(_), Value::Hash(_)) => {
                merge(heap, &old, &new, depth + 1);
                continue;
            }
            (Value::List(one), Value::List(two)) => {
                let mut all = one.items(heap);
                all.extend(two.items(heap));
                heap.list(super::list::unique(heap, all))
            }
            (Value::List(one), new) => {
                let mut all = one.items(heap);
                if !all.iter().any(|item| item.equals(heap, new)) {
                    all.push(new.clone());
                }
                heap.list(all)
            }
            (old, Value::List(two)) => {
                let mut all = two.items(heap);
                if !all.iter().any(|item| item.equals(heap, old)) {
                    all.push(old.clone());
                }
                heap.list(all)
            }
            (old, new) if old.equals(heap, new) => continue,
            (old, new) => heap.list(vec![old.clone(), new.clone()]),
        };
        target.insert(heap, key, value);
    }
}

fn stamped(heap: &Heap, value: &Value, name: &str) -> Answer {
    match value {
        Value::Time(time, _) => Ok(Value::Time(*time, Clock::Stamp)),
        Value::Text(text) => {
            match temblor_logstash_event::timestamp::parse_iso8601(&text.str(heap)) {
                Some(time) => Ok(Value::Time(DateTime::<FixedOffset>::from(time), Clock::Stamp)),
                None if name == "coerce" => Ok(Value::Nil),
                None => {
                    Err(Stop::raise("LogStash::TimestampParserError", "invalid timestamp string"))
                }
            }
        }
        _ if name == "coerce" => Ok(Value::Nil),
        _ => Err(Stop::raise("TypeError", "wrong argument type")),
    }
}
