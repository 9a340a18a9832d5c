//! The module `JSON`: reads and writes texts.

use super::super::{Found1, Machine, Stop};
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
            ("parse" | "load", [other, ..]) => {
                let message = format!(
                    "no implicit conversion of {} into String",
                    super::super::object::word_of(other)
                );
                return Err(Stop::raise("TypeError", message));
            }
            ("generate" | "dump", [Value::Event(number), ..]) => {
                heap.text(&Value::of_map(heap, &self.events[*number].data).json(heap))
            }
            ("generate" | "dump", [value, ..]) => heap.text(&value.json(heap)),
            // An event is one value to the generator, not a hash.
            ("pretty_generate", [Value::Event(number), ..]) => {
                heap.text(&Value::of_map(heap, &self.events[*number].data).json(heap))
            }
            ("pretty_generate", [value, ..]) => heap.text(&value.pretty_json(heap)),
            _ => return Ok(None),
        }))
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
