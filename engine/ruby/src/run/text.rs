//! Methods of strings. A method whose name ends in `!` runs the one without, see `call`.

mod bytes;
mod format;
mod object;
mod part;
mod set;
mod unpack;
mod whole;

pub(super) use set::successor;

use crate::heap::Heap;
pub(super) use bytes::{joined, no_text};
pub(super) use format::format;
pub(super) use unpack::{loose_base64, pack};

use super::{Found1, Given, Machine, Stop, pattern};
use crate::numeric;
use crate::run::methods::{ANY, Methods, takes};
use crate::value::{Range, Value};
use std::sync::Arc;

/// Digits that are read of a number.
const DIGITS_MAX: usize = 1 << 14;

/// The methods of texts.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "+@",
            "-@",
            "ascii_only?",
            "b",
            "bytes",
            "bytesize",
            "capitalize",
            "capitalize!",
            "chars",
            "chop",
            "chop!",
            "chr",
            "clear",
            "clone",
            "codepoints",
            "dump",
            "dup",
            "each_byte",
            "each_char",
            "empty?",
            "encoding",
            "freeze",
            "frozen?",
            "hex",
            "intern",
            "itself",
            "length",
            "lstrip",
            "lstrip!",
            "next",
            "next!",
            "oct",
            "ord",
            "reverse",
            "reverse!",
            "rstrip",
            "rstrip!",
            "size",
            "squish",
            "squish!",
            "strip",
            "strip!",
            "succ",
            "succ!",
            "sum",
            "swapcase",
            "swapcase!",
            "to_d",
            "to_f",
            "to_r",
            "to_s",
            "to_str",
            "to_string",
            "to_sym",
            "valid_encoding?",
        ],
    ),
    takes(
        0,
        1,
        &[
            "chomp",
            "chomp!",
            "downcase",
            "downcase!",
            "parse_csv",
            "scrub",
            "scrub!",
            "squeeze",
            "squeeze!",
            "to_i",
            "upcase",
            "upcase!",
        ],
    ),
    takes(0, 2, &["each_line", "lines", "split"]),
    takes(
        0,
        ANY,
        &[
            "<<",
            "concat",
            "count",
            "delete",
            "delete!",
            "encode",
            "encode!",
            "end_with?",
            "prepend",
            "start_with?",
        ],
    ),
    takes(
        1,
        1,
        &[
            "%",
            "*",
            "+",
            "<",
            "<=",
            "=~",
            ">",
            ">=",
            "casecmp",
            "casecmp?",
            "delete_prefix",
            "delete_prefix!",
            "delete_suffix",
            "delete_suffix!",
            "equal?",
            "force_encoding",
            "getbyte",
            "include?",
            "partition",
            "replace",
            "rpartition",
            "scan",
            "unpack",
            "unpack1",
        ],
    ),
    takes(
        1,
        2,
        &[
            "[]",
            "byteslice",
            "center",
            "clamp",
            "gsub",
            "gsub!",
            "index",
            "ljust",
            "match",
            "match?",
            "rindex",
            "rjust",
            "slice",
            "slice!",
            "sub",
            "sub!",
            "upto",
        ],
    ),
    takes(2, 2, &["between?", "insert", "tr", "tr!", "tr_s", "tr_s!"]),
    takes(2, 3, &["[]="]),
];

/// The methods of symbols, which are those of their texts.
pub(in crate::run) const OF_SYMBOLS: &[Methods] = &[
    takes(0, 0, &["capitalize", "empty?", "length", "next", "size", "succ", "swapcase"]),
    takes(0, 1, &["downcase", "upcase"]),
    takes(0, ANY, &["end_with?", "start_with?"]),
    takes(1, 1, &["<", "<=", "=~", ">", ">=", "casecmp", "casecmp?"]),
    takes(1, 2, &["[]", "match", "match?", "slice"]),
    takes(2, 2, &["between?"]),
];

impl Machine<'_, '_> {
    pub(super) fn text_method(
        &mut self,
        text: &Arc<str>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        if let Some(found) = whole::method(heap, text, name, arguments)? {
            return Ok(Some(found));
        }
        if let Some(found) = part::method(heap, text, name, arguments)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.text_by_pattern(text, name, arguments, given)? {
            return Ok(Some(found));
        }
        Ok(Some(match (name, arguments) {
            ("parse_csv", options) => {
                let arguments = [&[heap.shared_text(text)], options].concat();
                return super::module::csv(heap, "parse_line", &arguments);
            }
            ("split", arguments) => {
                let items = self.split(text, arguments)?;
                match given {
                    None => heap.list(items),
                    Some(given) => {
                        for item in items {
                            self.give_to(given, vec![item])?;
                        }
                        heap.text(text)
                    }
                }
            }
            ("gsub", [needle]) if given.is_none() => {
                let (text, needle) = (heap.text(text), std::slice::from_ref(needle));
                super::library::enumerator(heap, &text, "gsub", needle)
            }
            ("gsub" | "sub", [needle, rest @ ..]) => {
                heap.text(&self.substitute(text, needle, rest, given, name == "gsub")?)
            }
            ("upto", [to @ Value::Text(_), rest @ ..]) => {
                let (from, to) = (heap.shared_text(text), to.clone());
                let exclusive = rest.first().is_some_and(Value::is_true);
                let range = Range { from, to, exclusive };
                return self.range_method(&range, "each", &[], given);
            }
            ("each_char" | "each_line" | "each_byte", options) => {
                let items = match name {
                    "each_line" => lines(heap, text, options)?,
                    _ if !options.is_empty() => return Ok(None),
                    "each_char" => characters(heap, text),
                    _ => text.bytes().map(|byte| Value::Int(i64::from(byte))).collect(),
                };
                let Some(given) = given else { return Ok(Some(heap.list(items))) };
                for item in items {
                    self.give_to(given, vec![item])?;
                }
                heap.text(text)
            }
            _ => return Ok(None),
        }))
    }

    /// Methods that search by a regular expression.
    fn text_by_pattern(
        &mut self,
        text: &Arc<str>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("=~", [Value::Regex(pattern, _)]) => {
                let pattern = pattern.clone();
                self.search(&pattern, text)?.map_or(Value::Nil, Value::Int)
            }
            ("match" | "match?", [needle, from @ ..]) => {
                let pattern = pattern::of(heap, needle)?;
                let from = match from {
                    [Value::Int(from)] => part::byte_at(text, *from).unwrap_or(text.len()),
                    _ => 0,
                };
                let found = self.search_from(&pattern, text, from)?;
                match (name, found, &self.found) {
                    ("match?", found, _) => Value::Bool(found.is_some()),
                    (_, Some(_), Some(found)) => Value::Match(found.clone()),
                    _ => Value::Nil,
                }
            }
            ("scan", [needle]) => self.scan(text, needle, given)?,
            ("[]" | "slice", [Value::Regex(pattern, _), rest @ ..]) => {
                let pattern = pattern.clone();
                self.search(&pattern, text)?;
                match (&self.found, rest) {
                    (None, _) => Value::Nil,
                    (Some(found), []) => pattern::group(heap, found, &Value::Int(0)),
                    (Some(found), [group, ..]) => pattern::group(heap, found, group),
                }
            }
            ("index", [needle @ Value::Regex(..), rest @ ..]) => {
                let pattern = pattern::of(heap, needle)?;
                let from = match rest {
                    [Value::Int(from)] => part::byte_at(text, *from),
                    _ => Some(0),
                };
                match from {
                    Some(from) => {
                        self.search_from(&pattern, text, from)?.map_or(Value::Nil, Value::Int)
                    }
                    None => Value::Nil,
                }
            }
            ("rindex", [needle @ Value::Regex(..)]) => {
                let pattern = pattern::of(heap, needle)?;
                self.search_last(&pattern, text)?.map_or(Value::Nil, Value::Int)
            }
            ("start_with?", [needle @ Value::Regex(..)]) => {
                let pattern = pattern::of(heap, needle)?;
                Value::Bool(self.search(&pattern, text)? == Some(0))
            }
            ("partition" | "rpartition", [needle @ Value::Regex(..)]) => {
                let pattern = pattern::of(heap, needle)?;
                let place = match name {
                    "partition" => self.search(&pattern, text)?,
                    _ => self.search_last(&pattern, text)?,
                };
                let parts = match place.and(self.found.clone()) {
                    Some(found) => [
                        heap.text(found.before()),
                        pattern::group(heap, &found, &Value::Int(0)),
                        heap.text(found.after()),
                    ],
                    None if name == "partition" => [heap.text(text), heap.text(""), heap.text("")],
                    None => [heap.text(""), heap.text(""), heap.text(text)],
                };
                heap.list(parts.to_vec())
            }
            _ => return Ok(None),
        }))
    }
}

fn whole(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn characters(heap: &Heap, text: &str) -> Vec<Value> {
    let mut buffer = [0; 4];
    text.chars().map(|character| heap.text(character.encode_utf8(&mut buffer))).collect()
}

/// `lines`, `lines(chomp: true)`, `lines(",")`
fn lines(heap: &Heap, text: &str, options: &[Value]) -> Result<Vec<Value>, Stop> {
    let end = match options.first() {
        Some(Value::Text(end)) => end.str(heap),
        _ => "\n".into(),
    };
    if end.is_empty() {
        return Err(Stop::Unknown("`lines` by paragraphs is not known here".to_string()));
    }
    let chomps = options.iter().any(|one| one.entry(heap, "chomp").is_some_and(|on| on.is_true()));
    let line = |line: &str| match chomps {
        true => {
            let bare = line.strip_suffix(&*end).unwrap_or(line);
            heap.text(if &*end == "\n" { bare.strip_suffix('\r').unwrap_or(bare) } else { bare })
        }
        false => heap.text(line),
    };
    Ok(text.split_inclusive(&*end).map(line).collect())
}

/// Ruby's `to_i` with a radix: what stands at the beginning, else 0.
fn integer_in(text: &str, radix: i64) -> Value {
    let radix = u32::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)).unwrap_or(10);
    let text = text.trim_start();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let prefix = match radix {
        16 => ["0x", "0X"],
        2 => ["0b", "0B"],
        8 => ["0o", "0O"],
        _ => ["", ""],
    };
    let text = prefix.iter().find_map(|one| text.strip_prefix(one)).unwrap_or(text);
    let mut digits = String::new();
    let mut before = '_';
    for character in text.chars().take(DIGITS_MAX) {
        match character {
            '_' if before != '_' => {}
            digit if digit.is_digit(radix) => digits.push(digit),
            _ => break,
        }
        before = character;
    }
    let number = num_bigint::BigInt::parse_bytes(digits.as_bytes(), radix).unwrap_or_default();
    numeric::whole(if negative { -number } else { number })
}
