//! The module `JSON`: reads and writes texts.

use super::super::{Found1, Machine, Stop};
use crate::filter::read_json;
use crate::ruby::value::{DEPTH_MAX, Value};

impl Machine<'_, '_> {
    pub(super) fn json(&mut self, name: &str, arguments: &[Value]) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("parse" | "load" | "parse!", [Value::Text(text), options @ ..]) => {
                let text = text.str();
                let Some(datum) = read_json(&text, self.arena) else {
                    let shown: String = text.chars().take(40).collect();
                    let message = format!("unexpected token at '{shown}'");
                    return Err(Stop::raise("JSON::ParserError", message));
                };
                let value = Value::of_datum(&datum);
                let symbols = match options {
                    [Value::Hash(options)] => options
                        .lock()
                        .get(&Value::Symbol("symbolize_names".into()))
                        .is_some_and(|flag| flag.is_true()),
                    _ => false,
                };
                if symbols { symbolized(&value, 0) } else { value }
            }
            ("parse" | "load", [other, ..]) => {
                let message = format!(
                    "no implicit conversion of {} into String",
                    super::super::object::word_of(other)
                );
                return Err(Stop::raise("TypeError", message));
            }
            ("generate" | "dump", [Value::Event(number), ..]) => {
                Value::text(&Value::of_map(&self.events[*number].data).json())
            }
            ("generate" | "dump", [value, ..]) => Value::text(&value.json()),
            // An event is one value to the generator, not a hash.
            ("pretty_generate", [Value::Event(number), ..]) => {
                Value::text(&Value::of_map(&self.events[*number].data).json())
            }
            ("pretty_generate", [value, ..]) => Value::text(&value.pretty_json()),
            _ => return Ok(None),
        }))
    }
}

fn symbolized(value: &Value, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Nil;
    }
    match value {
        Value::Hash(hash) => Value::hash(hash.lock().pairs().into_iter().map(|(key, value)| {
            (Value::Symbol(key.print().into()), symbolized(&value, depth + 1))
        })),
        Value::List(items) => {
            Value::list(items.lock().iter().map(|item| symbolized(item, depth + 1)).collect())
        }
        other => other.clone(),
    }
}
