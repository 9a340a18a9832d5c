//! Objects of Ruby's library that produce or consume text: `Digest::SHA256.new`, `StringIO.new`,
//! `Zlib::GzipReader.new`, `Zlib::Inflate.new`, `URI.parse`. Their state is kept in fields.

use super::module::{bytes_of, digest, hex, text_bytes};
use super::{Answer, Found1, Given, Machine, Stop, limited, zlib};
use crate::heap::Heap;
use crate::run::methods::{ANY, Methods, takes};
use crate::text::{Content, Encoding};
use crate::value::{Object, Value};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::cell::Cell;
use std::rc::Rc;

/// The methods of digests, readers, and enumerators.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "base64digest",
            "close",
            "each",
            "each_line",
            "end",
            "eof?",
            "finish",
            "flush",
            "gets",
            "lines",
            "name",
            "next",
            "opaque",
            "peek",
            "readlines",
            "request_uri",
            "reset",
            "rewind",
            "sync",
            "to_s",
        ],
    ),
    takes(0, 1, &["digest", "each_with_index", "hexdigest", "with_index"]),
    takes(0, ANY, &["read", "string"]),
    takes(1, 1, &["<<", "each_with_object", "print", "puts", "update", "with_object", "write"]),
    takes(1, ANY, &["inflate"]),
];

/// The text that an object holds.
const HELD: &str = "@held";

/// An object of a class of the library.
pub(super) fn object(heap: &Heap, class: &str, fields: Vec<(Value, Value)>) -> Value {
    let Value::Hash(fields) = heap.hash(fields) else { return Value::Nil };
    Value::Object(Object { class: class.into(), fields })
}

fn holding(heap: &Heap, class: &str, held: &[u8]) -> Value {
    object(heap, class, vec![(heap.text(HELD), heap.bytes(held))])
}

fn held(heap: &Heap, object: &Object) -> Vec<u8> {
    object.fields.get(heap, &heap.text(HELD)).map_or(Vec::new(), |held| bytes_of(heap, &held))
}

fn hold(heap: &Heap, object: &Object, bytes: &[u8]) -> Result<(), Stop> {
    limited(bytes.len())?;
    let held = heap.text_of(Content::of(bytes, Encoding::Utf8));
    object.fields.insert(heap, heap.text(HELD), held);
    Ok(())
}

/// `Digest::MD5.new`, `StringIO.new("a")`, `Zlib::GzipReader.new(io)`
pub(super) fn make(heap: &Heap, class: &str, arguments: &[Value]) -> Found1 {
    Ok(match (class, arguments) {
        ("OpenSSL::Digest" | "OpenSSL::Digest::Digest", [method, rest @ ..]) => {
            let class = format!("OpenSSL::Digest::{}", method.print(heap));
            let start = rest.first().map_or(Vec::new(), |one| bytes_of(heap, one));
            if digest(&class, &[]).is_none() {
                let message = format!("Unsupported digest algorithm ({}).", method.print(heap));
                return Err(Stop::raise("RuntimeError", message));
            }
            Some(holding(heap, &class, &start))
        }
        (class, start) if class.contains("Digest::") && digest(class, &[]).is_some() => {
            // `Digest::SHA2.new(512)` says how many bits.
            let class = match (class, start) {
                ("Digest::SHA2", [Value::Int(bits)]) => format!("Digest::SHA{bits}"),
                (class, _) => class.to_string(),
            };
            let start = match start {
                [text @ Value::Text(_)] => bytes_of(heap, text),
                _ => Vec::new(),
            };
            Some(holding(heap, &class, &start))
        }
        ("StringIO", []) => Some(holding(heap, "StringIO", &[])),
        ("StringIO", [text, ..]) => Some(holding(heap, "StringIO", &bytes_of(heap, text))),
        ("Zlib::GzipReader", [Value::Object(io), ..]) => {
            Some(holding(heap, "Zlib::GzipReader", &zlib::gunzip(&held(heap, io))?))
        }
        ("Zlib::Inflate", bits) => {
            let bits = bits.first().cloned().unwrap_or(Value::Int(zlib::WINDOW_BITS));
            Some(object(heap, "Zlib::Inflate", vec![(heap.text("@bits"), bits)]))
        }
        _ => None,
    })
}

impl Machine<'_, '_> {
    /// A method of an object of the library.
    pub(super) fn library_method(
        &mut self,
        object: &Object,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        match &*object.class {
            class if class.contains("Digest::") => digest_method(heap, object, name, arguments),
            "StringIO" | "Zlib::GzipReader" => self.reader_method(object, name, arguments, given),
            "Zlib::Inflate" => inflate_method(heap, object, name, arguments),
            class if class.starts_with("URI::") || class == "Addressable::URI" => {
                Ok(locator_method(heap, object, name, arguments))
            }
            "Enumerator" => self.enumerator_method(object, name, arguments, given),
            _ => Ok(None),
        }
    }

    fn reader_method(
        &mut self,
        object: &Object,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let all = held(heap, object);
        Ok(Some(match (name, arguments) {
            ("read" | "string", _) => {
                if name == "read" {
                    hold(heap, object, &[])?;
                }
                heap.bytes(&all)
            }
            ("gets", []) => {
                let end = all.iter().position(|byte| *byte == b'\n').map_or(all.len(), |at| at + 1);
                hold(heap, object, &all[end..])?;
                if all.is_empty() { Value::Nil } else { heap.bytes(&all[..end]) }
            }
            ("eof?", []) => Value::Bool(all.is_empty()),
            ("each_line" | "lines" | "readlines", []) => {
                let name = if name == "each_line" { name } else { "lines" };
                return self.invoke(&heap.bytes(&all), name, &[], given).map(Some);
            }
            ("write" | "<<" | "print" | "puts", [text]) => {
                let mut all = all;
                all.extend(bytes_of(heap, text));
                if name == "puts" && !all.ends_with(b"\n") {
                    all.push(b'\n');
                }
                hold(heap, object, &all)?;
                Value::Object(object.clone())
            }
            ("rewind" | "close" | "sync" | "flush", []) => Value::Nil,
            _ => return Ok(None),
        }))
    }

    /// A method without its code, and what is done with it: `select.with_index { … }`.
    fn enumerator_method(
        &mut self,
        object: &Object,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let field = |name: &str| object.fields.get(heap, &heap.text(name)).unwrap_or_default();
        let (receiver, method) = (field("@receiver"), field("@method").print(heap));
        let parameters = match field("@arguments") {
            Value::List(items) => items.items(heap),
            _ => Vec::new(),
        };
        match (name, arguments, given) {
            ("with_index" | "each_with_index", start, Some(given)) => {
                let start = match start {
                    [Value::Int(start)] => *start,
                    _ => 0,
                };
                let counter = Rc::new(Cell::new(start));
                let counted = Given::Counted(Box::new(given.clone()), counter);
                self.invoke(&receiver, &method, &parameters, Some(&counted)).map(Some)
            }
            ("with_object" | "each_with_object", [memo], Some(given)) => {
                let with = Given::With(Box::new(given.clone()), memo.clone());
                self.invoke(&receiver, &method, &parameters, Some(&with))?;
                Ok(Some(memo.clone()))
            }
            ("next" | "peek", ..) => {
                let message = format!("`{name}` of an enumerator is not known here; `each` is");
                Err(Stop::Unknown(message))
            }
            ("each", [], Some(_)) => self.invoke(&receiver, &method, &parameters, given).map(Some),
            ("class" | "is_a?" | "nil?" | "inspect" | "respond_to?", ..) => Ok(None),
            _ => {
                let items = match (method.as_str(), &receiver) {
                    ("gsub", Value::Text(_)) => {
                        self.invoke(&receiver, "scan", &parameters, None)?
                    }
                    ("reverse_each", _) => {
                        heap.list(self.items(&receiver)?.into_iter().rev().collect())
                    }
                    _ => heap.list(self.items(&receiver)?),
                };
                self.invoke(&items, name, arguments, given).map(Some)
            }
        }
    }
}

/// `select` without code.
pub(super) fn enumerator(
    heap: &Heap,
    receiver: &Value,
    method: &str,
    arguments: &[Value],
) -> Value {
    object(
        heap,
        "Enumerator",
        vec![
            (heap.text("@receiver"), receiver.clone()),
            (heap.text("@method"), heap.text(method)),
            (heap.text("@arguments"), heap.list(arguments.to_vec())),
        ],
    )
}

fn digest_method(heap: &Heap, object: &Object, name: &str, arguments: &[Value]) -> Found1 {
    let mut all = held(heap, object);
    let this = || Value::Object(object.clone());
    let sum = |bytes: &[u8]| digest(&object.class, bytes).unwrap_or_default();
    Ok(Some(match (name, arguments) {
        ("<<" | "update", [text]) => {
            all.extend(text_bytes(heap, text)?);
            hold(heap, object, &all)?;
            this()
        }
        ("reset", []) => {
            hold(heap, object, &[])?;
            this()
        }
        ("hexdigest" | "to_s", []) => heap.text(&hex(&sum(&all))),
        ("hexdigest", [text]) => heap.text(&hex(&sum(&bytes_of(heap, text)))),
        ("digest", []) => heap.binary(&sum(&all)),
        ("digest", [text]) => heap.binary(&sum(&bytes_of(heap, text))),
        ("base64digest", []) => heap.text(&STANDARD.encode(sum(&all))),
        ("name", []) => heap.text(object.class.rsplit("::").next().unwrap_or_default()),
        _ => return Ok(None),
    }))
}

fn inflate_method(heap: &Heap, object: &Object, name: &str, arguments: &[Value]) -> Found1 {
    let bits = match object.fields.get(heap, &heap.text("@bits")) {
        Some(Value::Int(bits)) => bits,
        _ => zlib::WINDOW_BITS,
    };
    Ok(Some(match (name, arguments) {
        ("inflate", [text, ..]) => inflated(heap, &bytes_of(heap, text), bits)?,
        ("finish", []) => heap.text(""),
        ("close" | "end" | "reset", []) => Value::Nil,
        _ => return Ok(None),
    }))
}

fn inflated(heap: &Heap, bytes: &[u8], bits: i64) -> Answer {
    Ok(heap.binary(&zlib::inflate(bytes, bits)?))
}

fn locator_method(heap: &Heap, object: &Object, name: &str, arguments: &[Value]) -> Option<Value> {
    let field = |name: &str| object.fields.get(heap, &Value::Symbol(name.into()));
    match (name, arguments) {
        ("request_uri", []) => {
            let text = |name: &str| field(name).unwrap_or_default().print(heap);
            let query = text("query");
            let mark = if query.is_empty() { "" } else { "?" };
            Some(heap.text(&format!("{}{mark}{query}", text("path"))))
        }
        ("opaque", []) => Some(Value::Nil),
        ("==", [other]) => Some(Value::Bool(other.print(heap) == field("to_s")?.print(heap))),
        (name, []) => field(name),
        _ => None,
    }
}
