//! The module `JSON`: reads and writes texts.

use super::super::{Answer, Found1, Machine, Stop};
use crate::heap::Heap;
use crate::value::Value;
use temblor_logstash_event::datum::Datum;
use temblor_stdlib::formats::json;

impl Machine<'_, '_> {
    pub(super) fn json(&mut self, name: &str, arguments: &[Value]) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("parse" | "load" | "parse!", [Value::Text(text), options @ ..]) => {
                let text = text.str(heap);
                let Ok(value) = json::parse(&text, self.arena) else {
                    let shown: String = text.chars().take(40).collect();
                    let message = format!("unexpected token at '{shown}'");
                    return Err(Stop::raise("JSON::ParserError", message));
                };
                let value = Value::of_datum(heap, &Datum::from_value(value, self.arena));
                let symbols = match options {
                    [Value::Hash(options)] => options
                        .get(heap, &Value::Symbol("symbolize_names".into()))
                        .is_some_and(|flag| flag.is_true()),
                    _ => false,
                };
                if symbols { symbolized(heap, &value, 0) } else { value }
            }
            ("load", [Value::Nil, ..]) => Value::Nil,
            ("parse" | "load", [other, ..]) => {
                let message = format!(
                    "no implicit conversion of {} into String",
                    super::super::object::word_of(other)
                );
                return Err(Stop::raise("TypeError", message));
            }
            ("generate" | "dump", [Value::Event(number), ..]) => {
                text(heap, &Value::of_map(heap, &self.events[*number].data), false)?
            }
            ("generate" | "dump", [value, ..]) => text(heap, value, false)?,
            // An event is one value to the generator, not a hash.
            ("pretty_generate", [Value::Event(number), ..]) => {
                text(heap, &Value::of_map(heap, &self.events[*number].data), false)?
            }
            ("pretty_generate", [value, ..]) => text(heap, value, true)?,
            _ => return Ok(None),
        }))
    }
}

/// A value as JSON.
pub(in crate::run) fn text(heap: &Heap, value: &Value, pretty: bool) -> Answer {
    match value.json(heap, pretty) {
        Ok(text) => Ok(heap.text(&text)),
        Err(number) => {
            let shown = Value::Float(number).print(heap);
            Err(Stop::raise("JSON::GeneratorError", format!("{shown} not allowed in JSON")))
        }
    }
}

fn symbolized(heap: &Heap, value: &Value, depth: usize) -> Value {
    if !heap.descend(depth) {
        return Value::Nil;
    }
    match value {
        Value::Hash(hash) => heap.hash(hash.pairs(heap).into_iter().map(|(key, value)| {
            (Value::Symbol(key.print(heap).into()), symbolized(heap, &value, depth + 1))
        })),
        Value::List(items) => heap
            .list(items.items(heap).iter().map(|item| symbolized(heap, item, depth + 1)).collect()),
        other => other.clone(),
    }
}
