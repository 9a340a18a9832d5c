//! Objects of Ruby's library that gather or hand out text: `Digest::SHA256.new`, `StringIO.new`,
//! `Zlib::GzipReader.new`, `Zlib::Inflate.new`, `URI.parse`. What they hold stands in their fields.

use super::module::{bytes_of, digest, hex, text_bytes};
use super::{Answer, Found1, Given, Machine, Stop, limited, zlib};
use crate::ruby::text::{Content, Encoding, Text};
use crate::ruby::value::{Object, Shared, Value};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;

/// The methods of these objects.
pub(super) const NAMES: &[&str] = &[
    "hexdigest",
    "digest",
    "base64digest",
    "update",
    "<<",
    "reset",
    "read",
    "string",
    "gets",
    "rewind",
    "close",
    "write",
    "puts",
    "each_line",
    "inflate",
    "deflate",
    "finish",
    "to_s",
    "request_uri",
    "opaque",
    "hostname",
    "eof?",
];
/// The text that an object holds.
const HELD: &str = "@held";

/// An object of a class of the library.
pub(super) fn object(class: &str, fields: Vec<(Value, Value)>) -> Value {
    Value::Object(Arc::new(Object {
        class: class.into(),
        fields: Shared::new(fields.into_iter().collect()),
    }))
}

fn holding(class: &str, held: &[u8]) -> Value {
    object(class, vec![(Value::text(HELD), Value::bytes(held))])
}

fn held(object: &Object) -> Vec<u8> {
    object.fields.lock().get(&Value::text(HELD)).map_or(Vec::new(), |held| bytes_of(&held))
}

fn hold(object: &Object, bytes: &[u8]) -> Result<(), Stop> {
    limited(bytes.len())?;
    let held = Value::Text(Text::new(Content::of(bytes, Encoding::Utf8)));
    object.fields.lock().insert(Value::text(HELD), held);
    Ok(())
}

/// `Digest::MD5.new`, `StringIO.new("a")`, `Zlib::GzipReader.new(io)`
pub(super) fn make(class: &str, arguments: &[Value]) -> Found1 {
    Ok(match (class, arguments) {
        ("OpenSSL::Digest" | "OpenSSL::Digest::Digest", [method, rest @ ..]) => {
            let class = format!("OpenSSL::Digest::{}", method.print());
            let start = rest.first().map_or(Vec::new(), bytes_of);
            if digest(&class, &[]).is_none() {
                let message = format!("Unsupported digest algorithm ({}).", method.print());
                return Err(Stop::raise("RuntimeError", message));
            }
            Some(holding(&class, &start))
        }
        (class, start) if class.contains("Digest::") && digest(class, &[]).is_some() => {
            // `Digest::SHA2.new(512)` says how many bits.
            let class = match (class, start) {
                ("Digest::SHA2", [Value::Int(bits)]) => format!("Digest::SHA{bits}"),
                (class, _) => class.to_string(),
            };
            let start = match start {
                [text @ Value::Text(_)] => bytes_of(text),
                _ => Vec::new(),
            };
            Some(holding(&class, &start))
        }
        ("StringIO", []) => Some(holding("StringIO", &[])),
        ("StringIO", [text, ..]) => Some(holding("StringIO", &bytes_of(text))),
        ("Zlib::GzipReader", [Value::Object(io), ..]) => {
            Some(holding("Zlib::GzipReader", &zlib::gunzip(&held(io))?))
        }
        ("Zlib::Inflate", bits) => {
            let bits = bits.first().cloned().unwrap_or(Value::Int(zlib::WINDOW_BITS));
            Some(object("Zlib::Inflate", vec![(Value::text("@bits"), bits)]))
        }
        _ => None,
    })
}

impl Machine<'_, '_> {
    /// A method of an object of the library.
    pub(super) fn library_method(
        &mut self,
        object: &Arc<Object>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        match &*object.class {
            class if class.contains("Digest::") => digest_method(object, name, arguments),
            "StringIO" | "Zlib::GzipReader" => self.reader_method(object, name, arguments, given),
            "Zlib::Inflate" => inflate_method(object, name, arguments),
            class if class.starts_with("URI::") => Ok(locator_method(object, name, arguments)),
            "Enumerator" => self.enumerator_method(object, name, arguments, given),
            _ => Ok(None),
        }
    }

    fn reader_method(
        &mut self,
        object: &Arc<Object>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let all = held(object);
        Ok(Some(match (name, arguments) {
            ("read" | "string", _) => {
                if name == "read" {
                    hold(object, &[])?;
                }
                Value::bytes(&all)
            }
            ("gets", []) => {
                let end = all.iter().position(|byte| *byte == b'\n').map_or(all.len(), |at| at + 1);
                hold(object, &all[end..])?;
                if all.is_empty() { Value::Nil } else { Value::bytes(&all[..end]) }
            }
            ("eof?", []) => Value::Bool(all.is_empty()),
            ("each_line" | "lines" | "readlines", []) => {
                let name = if name == "each_line" { name } else { "lines" };
                return self.invoke(&Value::bytes(&all), name, &[], given).map(Some);
            }
            ("write" | "<<" | "print" | "puts", [text]) => {
                let mut all = all;
                all.extend(bytes_of(text));
                if name == "puts" && !all.ends_with(b"\n") {
                    all.push(b'\n');
                }
                hold(object, &all)?;
                Value::Object(object.clone())
            }
            ("rewind" | "close" | "sync" | "flush", []) => Value::Nil,
            _ => return Ok(None),
        }))
    }

    /// A method without its code, and what is done with it: `select.with_index { … }`.
    fn enumerator_method(
        &mut self,
        object: &Arc<Object>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let field = |name: &str| object.fields.lock().get(&Value::text(name)).unwrap_or_default();
        let (receiver, method) = (field("@receiver"), field("@method").print());
        let parameters = match field("@arguments") {
            Value::List(items) => items.lock().clone(),
            _ => Vec::new(),
        };
        match (name, arguments, given) {
            ("with_index" | "each_with_index", start, Some(given)) => {
                let start = match start {
                    [Value::Int(start)] => *start,
                    _ => 0,
                };
                let counter = Shared::new(start);
                let counted = Given::Counted(Box::new(given.clone()), counter);
                self.invoke(&receiver, &method, &parameters, Some(&counted)).map(Some)
            }
            ("with_object" | "each_with_object", [memo], Some(given)) => {
                let with = Given::With(Box::new(given.clone()), memo.clone());
                self.invoke(&receiver, &method, &parameters, Some(&with))?;
                Ok(Some(memo.clone()))
            }
            ("each", [], Some(_)) => self.invoke(&receiver, &method, &parameters, given).map(Some),
            ("class" | "is_a?" | "nil?" | "inspect" | "respond_to?", ..) => Ok(None),
            _ => {
                let items = match (method.as_str(), &receiver) {
                    ("gsub", Value::Text(_)) => {
                        self.invoke(&receiver, "scan", &parameters, None)?
                    }
                    _ => Value::list(self.items(&receiver)?),
                };
                self.invoke(&items, name, arguments, given).map(Some)
            }
        }
    }
}

/// `select` without code.
pub(super) fn enumerator(receiver: &Value, method: &str, arguments: &[Value]) -> Value {
    object(
        "Enumerator",
        vec![
            (Value::text("@receiver"), receiver.clone()),
            (Value::text("@method"), Value::text(method)),
            (Value::text("@arguments"), Value::list(arguments.to_vec())),
        ],
    )
}

fn digest_method(object: &Arc<Object>, name: &str, arguments: &[Value]) -> Found1 {
    let mut all = held(object);
    let this = || Value::Object(object.clone());
    let sum = |bytes: &[u8]| digest(&object.class, bytes).unwrap_or_default();
    Ok(Some(match (name, arguments) {
        ("<<" | "update", [text]) => {
            all.extend(text_bytes(text)?);
            hold(object, &all)?;
            this()
        }
        ("reset", []) => {
            hold(object, &[])?;
            this()
        }
        ("hexdigest" | "to_s", []) => Value::text(&hex(&sum(&all))),
        ("hexdigest", [text]) => Value::text(&hex(&sum(&bytes_of(text)))),
        ("digest", []) => Value::binary(&sum(&all)),
        ("digest", [text]) => Value::binary(&sum(&bytes_of(text))),
        ("base64digest", []) => Value::text(&STANDARD.encode(sum(&all))),
        ("name", []) => Value::text(object.class.rsplit("::").next().unwrap_or_default()),
        _ => return Ok(None),
    }))
}

fn inflate_method(object: &Arc<Object>, name: &str, arguments: &[Value]) -> Found1 {
    let bits = match object.fields.lock().get(&Value::text("@bits")) {
        Some(Value::Int(bits)) => bits,
        _ => zlib::WINDOW_BITS,
    };
    Ok(Some(match (name, arguments) {
        ("inflate", [text, ..]) => inflated(&bytes_of(text), bits)?,
        ("finish", []) => Value::text(""),
        ("close" | "end" | "reset", []) => Value::Nil,
        _ => return Ok(None),
    }))
}

fn inflated(bytes: &[u8], bits: i64) -> Answer {
    Ok(Value::binary(&zlib::inflate(bytes, bits)?))
}

fn locator_method(object: &Arc<Object>, name: &str, arguments: &[Value]) -> Option<Value> {
    let field = |name: &str| object.fields.lock().get(&Value::Symbol(name.into()));
    match (name, arguments) {
        ("request_uri", []) => {
            let text = |name: &str| field(name).unwrap_or_default().print();
            let query = text("query");
            let mark = if query.is_empty() { "" } else { "?" };
            Some(Value::text(&format!("{}{mark}{query}", text("path"))))
        }
        ("opaque", []) => Some(Value::Nil),
        ("==", [other]) => Some(Value::Bool(other.print() == field("to_s")?.print())),
        (name, []) => field(name),
        _ => None,
    }
}
