//! Class methods such as `Time.now`, and which class a value has.

mod json;
mod names;

pub(super) use json::text as json_text;
pub(super) use names::{METHODS, NAMES};

use super::module::{base64, bytes_of, digest, hex, hmac, math, text_bytes, uri};
use super::{Answer, Found1, Given, Machine, Stop, limited};
use crate::dictionary::Dictionary;
use crate::heap::Heap;
use crate::value::Value;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What `logger` is: nothing is logged here.
pub(super) const LOGGER: &str = "logger";

pub(super) fn value(heap: &Heap, name: &str) -> Value {
    match name {
        "Encoding::UTF_8" => heap.text("UTF-8"),
        "Encoding::ASCII_8BIT" | "Encoding::BINARY" => heap.text("ASCII-8BIT"),
        "Encoding::ISO_8859_1" => heap.text("ISO-8859-1"),
        "Encoding::UTF_16LE" => heap.text("UTF-16LE"),
        "Float::INFINITY" => Value::Float(f64::INFINITY),
        "Float::NAN" => Value::Float(f64::NAN),
        "Float::MAX" => Value::Float(f64::MAX),
        "Float::MIN" => Value::Float(f64::MIN_POSITIVE),
        "Float::EPSILON" => Value::Float(f64::EPSILON),
        "Float::DIG" => Value::Int(15),
        "Date::MONTHNAMES" => month_names(heap, usize::MAX),
        "Date::ABBR_MONTHNAMES" => month_names(heap, 3),
        "Date::DAYNAMES" => heap.list(shortened(heap, DAYS, usize::MAX)),
        "Date::ABBR_DAYNAMES" => heap.list(shortened(heap, DAYS, 3)),
        "Regexp::IGNORECASE" => Value::Int(1),
        "Regexp::EXTENDED" => Value::Int(2),
        "Regexp::MULTILINE" => Value::Int(4),
        "Math::PI" => Value::Float(std::f64::consts::PI),
        "Process::CLOCK_MONOTONIC" | "Process::CLOCK_REALTIME" => Value::Int(1),
        "Zlib::MAX_WBITS" => Value::Int(super::zlib::WINDOW_BITS),
        "Socket::AF_INET" => Value::Int(2),
        "Socket::AF_INET6" => Value::Int(10),
        "RUBY_VERSION" => heap.text("3.1.4"),
        "Math::E" => Value::Float(std::f64::consts::E),
        name => Value::Constant(name.trim_start_matches("::").into()),
    }
}

const MONTHS: &str =
    "January February March April May June July August September October November December";
const DAYS: &str = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday";

/// The first letters of words.
fn shortened(heap: &Heap, words: &str, letters: usize) -> Vec<Value> {
    words.split(' ').map(|word| heap.text(&word[..letters.min(word.len())])).collect()
}

/// The names of months, which begin at 1.
fn month_names(heap: &Heap, letters: usize) -> Value {
    let names = [Value::Nil].into_iter().chain(shortened(heap, MONTHS, letters));
    heap.list(names.collect())
}

/// Whether a value is of a class or one above it.
pub(super) fn is_kind(value: &Value, class: &str) -> bool {
    match class {
        "Object" | "Kernel" | "BasicObject" => true,
        "Numeric" => value.is_number(),
        "Fixnum" | "Bignum" => value.class() == "Integer",
        "Comparable" => {
            matches!(value, Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Time(..))
        }
        "Enumerable" => matches!(value, Value::List(_) | Value::Hash(_) | Value::Range(_)),
        "Struct" => matches!(value, Value::Object(_)),
        "Date" => matches!(value.class(), "Date" | "DateTime"),
        class => match value {
            Value::Error(error) => is_error(&error.0, class),
            value => value.class() == class,
        },
    }
}

/// Exceptions that a bare `rescue` does not catch.
const BEYOND_STANDARD: &[&str] =
    &["Exception", "SystemStackError", "NotImplementedError", "ScriptError", "NoMemoryError"];

/// Whether an exception of class `raised` is caught by `class`.
pub(super) fn is_error(raised: &str, class: &str) -> bool {
    raised == class
        || (class == "StandardError" && !BEYOND_STANDARD.contains(&raised))
        || matches!(class, "Exception" | "Java::JavaLang::Exception")
        || (class == "Zlib::Error" && raised.starts_with("Zlib::"))
        || (class == "IndexError" && raised == "StopIteration")
        || (class == "EncodingError" && raised.starts_with("Encoding::"))
        || (class == "JSON::JSONError" && raised.starts_with("JSON::"))
        || (class == "RuntimeError" && raised == "FrozenError")
        || (class == "URI::Error" && raised.starts_with("URI::"))
        || (class == "SystemCallError" && raised.starts_with("Errno::"))
        || (class == "ScriptError" && raised == "NotImplementedError")
        || (class == "NameError" && raised == "NoMethodError")
        || (class == "IndexError" && raised == "KeyError")
        || (class == "ArgumentError" && raised == "Date::Error")
        || (class == "Date::Error" && raised == "ArgumentError")
        || (class == "IPAddr::Error" && raised.starts_with("IPAddr::"))
        || (class == "ArgumentError" && raised.starts_with("IPAddr::"))
        || (class == "RangeError" && raised == "FloatDomainError")
}

/// A copy of a value and of all that is in it.
fn copied(heap: &Heap, value: &Value, depth: usize) -> Value {
    if !heap.descend(depth) {
        return Value::Nil;
    }
    match value {
        Value::Text(text) => heap.text_of(text.content(heap)),
        Value::List(items) => {
            let items = items.items(heap);
            heap.list(items.iter().map(|item| copied(heap, item, depth + 1)).collect())
        }
        Value::Hash(hash) => {
            let copy = hash.copy(heap);
            for (key, value) in hash.pairs(heap) {
                copy.insert(heap, key, copied(heap, &value, depth + 1));
            }
            Value::Hash(copy)
        }
        other => other.clone(),
    }
}

/// `raise "a"`, `raise A, "b"`, `raise e`
pub(super) fn raised(heap: &Heap, arguments: &[Value]) -> Stop {
    match arguments {
        [] => Stop::raise("RuntimeError", "unhandled exception"),
        [Value::Error(error), ..] => Stop::Raised(error.clone()),
        [Value::Constant(class)] => Stop::raise(class, &**class),
        [Value::Constant(class), message, ..] => Stop::raise(class, message.print(heap)),
        [message, ..] => Stop::raise("RuntimeError", message.print(heap)),
    }
}

/// `ENV["HOME"]`, `ENV.fetch("HOME", "/")`
fn environment(heap: &Heap, name: &str, arguments: &[Value]) -> Option<Value> {
    Some(match (name, arguments) {
        ("[]", [name]) | ("fetch", [name, ..]) => {
            match (std::env::var(name.print(heap)), arguments) {
                (Ok(text), _) => heap.text(&text),
                (Err(_), [_, default]) => default.clone(),
                (Err(_), _) => Value::Nil,
            }
        }
        ("key?", [name]) => Value::Bool(std::env::var(name.print(heap)).is_ok()),
        _ => return None,
    })
}

/// `Digest::MD5.hexdigest(text)`, `OpenSSL::Digest.digest("SHA256", text)`
fn digested(heap: &Heap, class: &str, name: &str, arguments: &[Value]) -> Found1 {
    let (class, text) = match (class, arguments) {
        ("OpenSSL::Digest", [class, text]) => (class.print(heap), text),
        (class, [text, ..]) => (class.to_string(), text),
        (_, []) => return Ok(None),
    };
    if digest(&class, &[]).is_none() {
        return Ok(None);
    }
    // OpenSSL takes the text of any value.
    let input = match class.starts_with("OpenSSL") {
        true => bytes_of(heap, text),
        false => text_bytes(heap, text)?,
    };
    let Some(bytes) = digest(&class, &input) else { return Ok(None) };
    Ok(Some(match name {
        "hexdigest" => heap.text(&hex(&bytes)),
        "base64digest" => heap.text(&STANDARD.encode(bytes)),
        _ => heap.binary(&bytes),
    }))
}

impl Machine<'_, '_> {
    pub(super) fn constant_method(
        &mut self,
        constant: &str,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let named: std::sync::Arc<str> = constant.into();
        if let Some(found) = self.class_method(&named, name, arguments, given)? {
            return Ok(Some(found));
        }
        match constant {
            "Struct" if name == "new" => self.make_struct(arguments, given).map(Some),
            "OpenStruct" if name == "new" => Ok(Some(self.make_open_struct(arguments))),
            "Proc" if name == "new" => Ok(given.map(|given| self.value_of(given))),
            "Set" if matches!(name, "new" | "[]") => {
                self.make_set(name, arguments, given).map(Some)
            }
            "Time" | "DateTime" | "Date" => self.time_constant(constant, name, arguments),
            "LogStash::Event" | "LogStash::Timestamp" => {
                self.logstash_constant(constant, name, arguments)
            }
            "JSON" | "LogStash::Json" => self.json(name, arguments),
            LOGGER => Ok(Some(match name.ends_with('?') {
                true => Value::Bool(false),
                false => Value::Nil,
            })),
            "Base64" => base64(heap, name, arguments),
            "Math" => math(name, arguments),
            // Who copies all that is in a value writes it and reads it again.
            "Marshal" if matches!(name, "dump" | "load") => match arguments {
                [value] => {
                    let copy = copied(heap, value, 0);
                    heap.check()?;
                    Ok(Some(copy))
                }
                _ => Ok(None),
            },
            "Kernel" | "Random" => match (name, arguments) {
                ("rand" | "format" | "sprintf", _) => {
                    self.known_function(&name.into(), arguments).map(Some)
                }
                _ => super::conversion::convert(heap, name, arguments),
            },
            "SecureRandom" => super::module::random(heap, name, arguments),
            "IPAddr" => super::address::make(heap, name, arguments),
            "CSV" => super::module::csv(heap, name, arguments),
            "File" => super::module::file(heap, name, arguments),
            "Zlib" | "Zlib::Inflate" | "Zlib::Deflate" if name != "new" => {
                super::zlib::function(heap, name, arguments)
            }
            "Zlib::GzipReader" if matches!(name, "wrap" | "zcat") => {
                let reader = super::library::make(heap, "Zlib::GzipReader", arguments)?;
                let Some(reader) = reader else { return Ok(None) };
                match given {
                    Some(given) => self.give_to(given, vec![reader]).map(Some),
                    None => Ok(Some(reader)),
                }
            }
            "Process" if name == "clock_gettime" => {
                Ok(Some(Value::Float(self.now.timestamp_micros() as f64 / 1e6)))
            }
            "Socket" if name == "gethostname" => {
                Ok(Some(heap.text(&gethostname::gethostname().to_string_lossy())))
            }
            "Socket" if name == "sockaddr_in" || name == "pack_sockaddr_in" => {
                super::address::packed(heap, arguments)
            }
            "Addressable::URI" if name == "parse" => {
                super::locator::addressable(heap, arguments).map(Some)
            }
            "ENV" => Ok(environment(heap, name, arguments)),
            "URI" | "CGI" | "URI::DEFAULT_PARSER" | "ERB::Util" => {
                uri(heap, name, arguments, constant == "CGI")
            }
            "Regexp" => self.regexp(name, arguments),
            "OpenSSL::HMAC" => hmac(heap, name, arguments),
            _ => self.make(constant, name, arguments, given),
        }
    }

    /// `Regexp.new(…)`, `Regexp.union(…)`
    fn regexp(&mut self, name: &str, arguments: &[Value]) -> Found1 {
        let heap = self.heap;
        Ok(Some(match (name, arguments) {
            ("escape" | "quote", [text]) if !matches!(text, Value::Text(_) | Value::Symbol(_)) => {
                return Err(super::text::no_text(text));
            }
            ("escape" | "quote", [text]) => heap.text(&super::pattern::escape(&text.print(heap))),
            ("new", [Value::Text(text), flags @ ..]) => {
                let flags = match flags.first() {
                    Some(Value::Int(bits)) => [(1, "i"), (2, "x"), (4, "m")]
                        .iter()
                        .filter(|(bit, _)| bits & bit != 0)
                        .map(|(_, flag)| *flag)
                        .collect(),
                    Some(given) if given.is_true() => "i".to_string(),
                    _ => String::new(),
                };
                super::pattern::pay_for(heap, &text.str(heap))?;
                super::pattern::compile(&text.str(heap), &flags)?
            }
            ("union", items) => {
                let items = match items {
                    [Value::List(items)] => items.items(heap),
                    items => items.to_vec(),
                };
                let texts: Vec<String> = items
                    .iter()
                    .map(|item| match item {
                        Value::Regex(_, text) => text.to_string(),
                        other => super::pattern::escape(&other.print(heap)),
                    })
                    .collect();
                let text = if texts.is_empty() { "(?!)".to_string() } else { texts.join("|") };
                limited(text.len())?;
                super::pattern::pay_for(heap, &text)?;
                super::pattern::compile(&text, "")?
            }
            ("new", [regex @ Value::Regex(..), ..]) => regex.clone(),
            ("last_match", []) => self.found.clone().map_or(Value::Nil, Value::Match),
            ("last_match", [which]) => match &self.found {
                Some(found) => super::pattern::group(heap, found, which),
                None => Value::Nil,
            },
            _ => return Ok(None),
        }))
    }

    /// `Set.new([1, 2])`, `Set[1, 2]`
    fn make_set(&mut self, name: &str, arguments: &[Value], given: Option<&Given>) -> Answer {
        let mut items = match (name, arguments) {
            ("new", []) => Vec::new(),
            ("new", [Value::Nil, ..]) => Vec::new(),
            ("new", [list, ..]) => self.items(list)?,
            (_, items) => items.to_vec(),
        };
        if let Some(given) = given {
            for item in &mut items {
                *item = self.give_to(given, vec![item.clone()])?;
            }
        }
        Ok(super::set::of(self.heap, items))
    }

    /// `Array.new(3, 0)`, `Array.new(3) { … }`
    fn make_list(&mut self, count: i64, value: Option<&Value>, given: Option<&Given>) -> Answer {
        let heap = self.heap;
        let count = usize::try_from(count).unwrap_or(0);
        super::limited(count)?;
        let mut items = Vec::with_capacity(count);
        for at in 0..count {
            items.push(match given {
                Some(given) => self.give_to(given, vec![Value::Int(at as i64)])?,
                None => value.cloned().unwrap_or_default(),
            });
        }
        Ok(heap.list(items))
    }

    /// `Array.new(3) { … }`, `Hash.new(0)`, `Digest::MD5.hexdigest(…)`
    fn make(
        &mut self,
        constant: &str,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        if matches!(name, "new" | "open")
            && let Some(made) = super::library::make(heap, constant, arguments)?
        {
            return Ok(Some(made));
        }
        Ok(Some(match (constant, name, arguments) {
            ("Hash", "new", default) => {
                let hash = heap.new_hash(Dictionary::default());
                let default = match given {
                    Some(Given::Block(block)) => self.closure(block, false),
                    Some(Given::Lambda(closure)) => Value::Lambda(*closure),
                    _ => default.first().cloned().unwrap_or_default(),
                };
                hash.set_default(heap, default);
                Value::Hash(hash)
            }
            ("Hash", "[]", [Value::Hash(pairs)]) => Value::Hash(*pairs),
            ("Hash", "[]", [list]) => self.invoke(list, "to_h", &[], None)?,
            ("Hash", "[]", all) if all.len() % 2 == 1 => {
                return Err(Stop::raise("ArgumentError", "odd number of arguments for Hash"));
            }
            ("Integer", "sqrt", [number]) => match crate::numeric::big(number) {
                Some(number) if number.sign() == num_bigint::Sign::Minus => {
                    let message = "Numerical argument is out of domain - \"isqrt\"";
                    return Err(Stop::raise("Math::DomainError", message));
                }
                Some(number) => crate::numeric::whole(number.sqrt()),
                None => return Ok(None),
            },
            ("Range", "new", [from, to, rest @ ..]) => {
                heap.range(from.clone(), to.clone(), rest.first().is_some_and(Value::is_true))
            }
            ("Hash", "[]", all) if all.len() % 2 == 0 => {
                let pairs = all.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
                heap.hash(pairs.collect::<Vec<_>>())
            }
            ("Array", "new", []) => heap.list(Vec::new()),
            ("Array", "new", [Value::Int(count), value @ ..]) => {
                self.make_list(*count, value.first(), given)?
            }
            ("String", "new", [Value::Text(text), ..]) => heap.text(&text.str(heap)),
            ("String", "new", _) => heap.text(""),
            ("Object", "new", []) => heap.hash([]),
            (_, "hexdigest" | "digest" | "base64digest", _) => {
                return digested(heap, constant, name, arguments);
            }
            (class, "name" | "to_s", []) => heap.text(class),
            (class, "new" | "exception", message)
                if class.ends_with("Error") || class == "Exception" =>
            {
                let message = message.first().map_or(class.to_string(), |one| one.print(heap));
                Value::Error(std::sync::Arc::new((class.to_string(), message)))
            }
            (class, "===", [value]) => Value::Bool(self.is_kind(value, class)),
            _ => return Ok(None),
        }))
    }
}
