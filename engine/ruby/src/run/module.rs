//! What modules of Ruby's library compute: digests, encodings, addresses and mathematics.

use super::random::Random;
use super::{Answer, Found1, Stop};
use crate::heap::Heap;
use crate::value::Value;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use hmac::{Hmac, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use std::collections::HashMap;

/// The digest that the last part of a name says, such as `Digest::MD5`.
pub(super) fn digest(class: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    Some(match method(class).as_str() {
        "MD5" => Md5::digest(bytes).to_vec(),
        "SHA1" => Sha1::digest(bytes).to_vec(),
        "SHA256" | "SHA2" => Sha256::digest(bytes).to_vec(),
        "SHA384" => Sha384::digest(bytes).to_vec(),
        "SHA512" => Sha512::digest(bytes).to_vec(),
        _ => return None,
    })
}

fn method(class: &str) -> String {
    class.rsplit("::").next().unwrap_or(class).replace('-', "").to_uppercase()
}

/// The bytes of a text; of other values those of the text that they print.
pub(super) fn bytes_of(heap: &Heap, value: &Value) -> Vec<u8> {
    match value {
        Value::Text(text) => text.content(heap).bytes().to_vec(),
        other => other.print(heap).into_bytes(),
    }
}

/// The bytes of a text; an exception for any other value.
pub(super) fn text_bytes(heap: &Heap, value: &Value) -> Result<Vec<u8>, Stop> {
    match value {
        Value::Text(text) => Ok(text.content(heap).bytes().to_vec()),
        other => Err(super::text::no_text(other)),
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn base64(heap: &Heap, name: &str, arguments: &[Value]) -> Found1 {
    let [value, ..] = arguments else { return Ok(None) };
    let (bytes, text) = (text_bytes(heap, value)?, value.print(heap));
    let decoded = |bytes: Result<Vec<u8>, base64::DecodeError>| -> Answer {
        let bytes = bytes.map_err(|_| Stop::raise("ArgumentError", "invalid base64"))?;
        Ok(heap.binary(&bytes))
    };
    Ok(Some(match name {
        "strict_encode64" => heap.text(&STANDARD.encode(bytes)),
        "urlsafe_encode64" => {
            let padding = arguments.iter().find_map(|one| one.entry(heap, "padding"));
            let text = URL_SAFE.encode(bytes);
            heap.text(match padding {
                Some(flag) if !flag.is_true() => text.trim_end_matches('='),
                _ => &text,
            })
        }
        "encode64" => {
            // Lines of 60 characters, each with its end.
            let encoded = STANDARD.encode(bytes);
            let lines = encoded.as_bytes().chunks(60).map(String::from_utf8_lossy);
            heap.text(&lines.map(|line| format!("{line}\n")).collect::<String>())
        }
        "strict_decode64" => decoded(STANDARD.decode(text.trim()))?,
        "decode64" => heap.binary(&super::text::loose_base64(&bytes)),
        "urlsafe_decode64" => {
            let clean = text.trim_end_matches('=');
            decoded(base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(clean))?
        }
        _ => return Ok(None),
    }))
}

pub(super) fn math(name: &str, arguments: &[Value]) -> Found1 {
    let mut numbers = Vec::with_capacity(arguments.len());
    for argument in arguments {
        numbers.push(match argument {
            Value::Int(number) => *number as f64,
            Value::Float(number) => *number,
            other => {
                let message = format!("can't convert {} into Float", other.class());
                return Err(Stop::raise("TypeError", message));
            }
        });
    }
    let is_outside = match (name, numbers.as_slice()) {
        ("sqrt" | "log" | "log2" | "log10", [number, ..]) => *number < 0.0,
        ("asin" | "acos", [number]) => !(-1.0..=1.0).contains(number),
        _ => false,
    };
    if is_outside {
        let message = format!("Numerical argument is out of domain - \"{name}\"");
        return Err(Stop::raise("Math::DomainError", message));
    }
    Ok(Some(Value::Float(match (name, numbers.as_slice()) {
        ("asin", [number]) => number.asin(),
        ("acos", [number]) => number.acos(),
        ("sinh", [number]) => number.sinh(),
        ("cosh", [number]) => number.cosh(),
        ("tanh", [number]) => number.tanh(),
        ("sqrt", [number]) => number.sqrt(),
        ("cbrt", [number]) => number.cbrt(),
        ("exp", [number]) => number.exp(),
        ("log", [number]) => number.ln(),
        ("log", [number, base]) => number.log(*base),
        ("log2", [number]) => number.log2(),
        ("log10", [number]) => number.log10(),
        ("sin", [number]) => number.sin(),
        ("cos", [number]) => number.cos(),
        ("tan", [number]) => number.tan(),
        ("atan", [number]) => number.atan(),
        ("atan2", [y, x]) => y.atan2(*x),
        ("hypot", [x, y]) => x.hypot(*y),
        ("pow", [base, power]) => base.powf(*power),
        _ => return Ok(None),
    })))
}

pub(super) fn hmac(heap: &Heap, name: &str, arguments: &[Value]) -> Found1 {
    let [method, key, text] = arguments else { return Ok(None) };
    let method = match method {
        Value::Object(digest) => digest.class.to_string(),
        name => name.print(heap),
    };
    let (key, text) = (bytes_of(heap, key), bytes_of(heap, text));
    let bytes = match self::method(&method).as_str() {
        "MD5" => keyed::<Hmac<Md5>>(&key, &text),
        "SHA1" => keyed::<Hmac<Sha1>>(&key, &text),
        "SHA256" => keyed::<Hmac<Sha256>>(&key, &text),
        "SHA384" => keyed::<Hmac<Sha384>>(&key, &text),
        "SHA512" => keyed::<Hmac<Sha512>>(&key, &text),
        _ => return Ok(None),
    };
    Ok(match name {
        "hexdigest" => Some(heap.text(&hex(&bytes))),
        "base64digest" => Some(heap.text(&STANDARD.encode(bytes))),
        "digest" => Some(heap.binary(&bytes)),
        _ => None,
    })
}

fn keyed<M: Mac + hmac::digest::KeyInit>(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mac = <M as Mac>::new_from_slice(key);
    let mut mac = mac.expect("HMAC takes keys of any length");
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

/// `SecureRandom`
pub(super) fn random(heap: &Heap, name: &str, arguments: &[Value]) -> Found1 {
    /// Bytes that are drawn when nobody says how many.
    const BYTES: usize = 16;
    let mut random = Random::new();
    let count = match arguments.first() {
        Some(Value::Int(count)) => usize::try_from(*count).unwrap_or(0),
        _ => BYTES,
    };
    super::limited(count)?;
    if name == "uuid" {
        return Ok(Some(heap.text(&random.uuid())));
    }
    let mut draw = |range: u64| random.bits() % range.max(1);
    Ok(Some(match (name, arguments) {
        ("hex", _) => {
            let bytes: Vec<u8> = (0..count).map(|_| draw(256) as u8).collect();
            heap.text(&hex(&bytes))
        }
        ("alphanumeric", _) => {
            const LETTERS: &[u8] =
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
            let letter = |_| char::from(LETTERS[draw(LETTERS.len() as u64) as usize]);
            heap.text(&(0..count).map(letter).collect::<String>())
        }
        ("random_number" | "rand", [Value::Int(limit)]) if *limit > 0 => {
            Value::Int(draw(*limit as u64) as i64)
        }
        ("random_number" | "rand", []) => Value::Float(draw(1 << 53) as f64 / (1_u64 << 53) as f64),
        _ => return Ok(None),
    }))
}

/// `CSV.parse_line` of one line, `CSV.parse` of several.
pub(super) fn csv(heap: &Heap, name: &str, arguments: &[Value]) -> Found1 {
    let (text, options) = match arguments {
        [text, options @ ..] if matches!(name, "parse_line" | "parse") => {
            (text.print(heap), options)
        }
        _ => return Ok(None),
    };
    let option = |name: &str, default: &str| {
        let given = options.first().and_then(|options| options.entry(heap, name));
        given.map_or(default.to_string(), |value| value.print(heap))
    };
    let separator = option("col_sep", ",");
    let quote = option("quote_char", "\"").chars().next().unwrap_or('\0');
    let malformed = || Stop::raise("CSV::MalformedCSVError", "Illegal quoting in line 1.");
    let row = |line: &str| -> Answer {
        let cells = crate::plain::csv_cells(line, &separator, quote);
        let cell = |cell: Option<String>| cell.map_or(Value::Nil, |text| heap.text(&text));
        Ok(heap.list(cells.ok_or_else(malformed)?.into_iter().map(cell).collect()))
    };
    Ok(Some(match name {
        "parse_line" if text.is_empty() => Value::Nil,
        "parse_line" => row(&text)?,
        _ => heap.list(text.lines().map(row).collect::<Result<_, _>>()?),
    }))
}

/// Names of files, and small files.
pub(super) fn file(heap: &Heap, name: &str, arguments: &[Value]) -> Found1 {
    let [path, rest @ ..] = arguments else { return Ok(None) };
    if !matches!(path, Value::Text(_)) {
        let message =
            format!("no implicit conversion of {} into String", super::object::word_of(path));
        return Err(Stop::raise("TypeError", message));
    }
    let path = path.print(heap);
    let trimmed = if path.len() > 1 { path.trim_end_matches('/') } else { &path };
    let base = trimmed.rsplit('/').next().unwrap_or(trimmed);
    let dot = base.rfind('.').filter(|at| *at > 0 && at + 1 < base.len());
    let read = || -> Result<String, Stop> {
        let size = std::fs::metadata(&path).map_or(0, |data| data.len());
        super::limited(usize::try_from(size).unwrap_or(usize::MAX))?;
        std::fs::read_to_string(&path).map_err(|_| {
            let message = format!("No such file or directory - {path}");
            Stop::raise("Errno::ENOENT", message)
        })
    };
    Ok(Some(match (name, rest) {
        ("basename", []) => heap.text(base),
        ("basename", [end]) => match end.print(heap).as_str() {
            ".*" => heap.text(&base[..dot.unwrap_or(base.len())]),
            end => {
                heap.text(base.strip_suffix(end).filter(|rest| !rest.is_empty()).unwrap_or(base))
            }
        },
        ("extname", []) => heap.text(dot.map_or("", |at| &base[at..])),
        ("dirname", []) => match trimmed.rfind('/') {
            Some(0) => heap.text("/"),
            Some(at) => heap.text(&trimmed[..at]),
            None => heap.text("."),
        },
        ("join", rest) => {
            let parts = std::iter::once(trimmed.to_string());
            let parts =
                parts.chain(rest.iter().map(|part| part.print(heap).trim_matches('/').into()));
            heap.text(&parts.collect::<Vec<_>>().join("/"))
        }
        ("exist?" | "exists?" | "file?", []) => Value::Bool(std::path::Path::new(&path).exists()),
        ("read", _) => heap.text(&read()?),
        ("readlines", _) => {
            let chomp = rest.first().and_then(|one| one.entry(heap, "chomp")).is_some();
            let text = read()?;
            let lines = text.split_inclusive('\n');
            let line = |line: &str| heap.text(if chomp { line.trim_end() } else { line });
            heap.list(lines.map(line).collect())
        }
        _ => return Ok(None),
    }))
}

/// `a=1&b=c+d`
fn form(heap: &Heap, pairs: &Value) -> Found1 {
    let part =
        |value: &Value| uri(heap, "encode_www_form_component", std::slice::from_ref(value), false);
    let pairs = match pairs {
        Value::Hash(hash) => hash.pairs(heap),
        Value::List(items) => {
            let pair = |item: &Value| match item {
                Value::List(pair) => match pair.items(heap).as_slice() {
                    [key, value] => Some((key.clone(), value.clone())),
                    _ => None,
                },
                _ => None,
            };
            items.items(heap).iter().filter_map(pair).collect()
        }
        _ => return Ok(None),
    };
    let mut out = Vec::new();
    for (key, value) in pairs {
        let values = match value {
            Value::List(values) => values.items(heap),
            one => vec![one],
        };
        for value in values {
            let (key, value) = (part(&key)?.unwrap_or_default(), part(&value)?.unwrap_or_default());
            out.push(format!("{}={}", key.print(heap), value.print(heap)));
        }
    }
    Ok(Some(heap.text(&out.join("&"))))
}

/// Escapes of addresses.
pub(super) fn uri(heap: &Heap, name: &str, arguments: &[Value], is_query: bool) -> Found1 {
    let [value, ..] = arguments else { return Ok(None) };
    if name == "encode_www_form" {
        return form(heap, value);
    }
    let text = match (value, name) {
        (Value::Text(text), _) => text.str(heap).to_string(),
        // Pairs may hold values of any kind.
        (other, "encode_www_form_component" | "url_encode") => other.print(heap),
        (other, "parse") => {
            let message = format!("bad URI(is not URI?): {}", other.inspect(heap));
            return Err(Stop::raise("URI::InvalidURIError", message));
        }
        (other, _) => return Err(super::text::no_text(other)),
    };
    Ok(Some(match name {
        // Of `CGI` this is a query, of `URI` an address.
        "parse" if is_query => query(heap, &text),
        "parse" => super::locator::parse(heap, &text)?,
        "decode_www_form_component" | "decode_www_form" if has_bad_escape(&text) => {
            let message = format!("invalid %-encoding ({text})");
            return Err(Stop::raise("ArgumentError", message));
        }
        "decode_www_form_component" | "unescape" | "decode" => {
            let text = if name == "decode" { text } else { text.replace('+', " ") };
            heap.text(&decoded(&text))
        }
        "encode_www_form_component" | "escape" | "url_encode" | "encode" => {
            let mut out = String::new();
            for byte in text.bytes() {
                match byte {
                    b' ' if name != "url_encode" => out.push('+'),
                    byte if byte.is_ascii_alphanumeric() || b"-_.*".contains(&byte) => {
                        out.push(char::from(byte));
                    }
                    byte => out.push_str(&format!("%{byte:02X}")),
                }
            }
            heap.text(&out)
        }
        "escapeHTML" | "html_escape" | "h" => heap.text(
            &text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;")
                .replace('"', "&quot;")
                .replace('\'', "&#39;"),
        ),
        "unescapeHTML" => heap.text(&without_entities(&text)),
        "decode_www_form" => {
            let part = |part: &str| heap.text(&decoded(&part.replace('+', " ")));
            let pair = |pair: &str| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                heap.list(vec![part(key), part(value)])
            };
            heap.list(text.split('&').filter(|pair| !pair.is_empty()).map(pair).collect())
        }
        _ => return Ok(None),
    }))
}

/// `&lt;` as `<`, `&#65;` and `&#x41;` as `A`; what is none stays.
fn without_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(';').unwrap_or(0);
        let character = match rest.get(1..end).unwrap_or_default() {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            "amp" => Some('&'),
            name => name.strip_prefix('#').and_then(|digits| {
                let code = match digits.strip_prefix(['x', 'X']) {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => digits.parse(),
                };
                code.ok().and_then(char::from_u32)
            }),
        };
        match character {
            Some(character) => {
                out.push(character);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// Whether a `%` has no two digits behind it.
pub(super) fn has_bad_escape(text: &str) -> bool {
    let good = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    text.split('%').skip(1).any(|rest| !good(rest))
}

/// `a=1&a=2` as lists of values by name.
fn query(heap: &Heap, text: &str) -> Value {
    let (mut names, mut places) = (Vec::<(String, Vec<Value>)>::new(), HashMap::new());
    for pair in text.split(['&', ';']).filter(|pair| !pair.is_empty()) {
        let part = |part: &str| decoded(&part.replace('+', " "));
        // A name without `=` has no value.
        let (name, value) = match pair.split_once('=') {
            Some((name, value)) => (part(name), Some(heap.text(&part(value)))),
            None => (part(pair), None),
        };
        let place = *places.entry(name.clone()).or_insert(names.len());
        match names.get_mut(place) {
            Some((_, values)) => values.extend(value),
            None => names.push((name, value.into_iter().collect())),
        }
    }
    heap.hash(names.into_iter().map(|(name, values)| (heap.text(&name), heap.list(values))))
}

/// Without the escapes; a text that is no UTF-8 then stays as it was.
pub(super) fn decoded(text: &str) -> String {
    crate::plain::decode_percent(text).unwrap_or_else(|| text.to_string())
}
