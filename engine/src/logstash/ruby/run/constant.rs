//! Classes and modules: what they make, and which class a value is of.

use super::module::{base64, bytes_of, digest, hex, hmac, math, text_bytes, uri};
use super::{Found1, Given, Machine, Stop};
use crate::logstash::filter::read_json;
use crate::logstash::ruby::value::{Dictionary, Shared, Value};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Classes and modules that code may name.
pub(super) const NAMES: &[&str] = &[
    "String",
    "Integer",
    "Fixnum",
    "Bignum",
    "Float",
    "Numeric",
    "Array",
    "Hash",
    "Symbol",
    "NilClass",
    "TrueClass",
    "FalseClass",
    "Regexp",
    "Range",
    "Time",
    "Date",
    "DateTime",
    "Proc",
    "Object",
    "Comparable",
    "Enumerable",
    "Math",
    "JSON",
    "LogStash::Json",
    "Base64",
    "Digest::MD5",
    "Digest::SHA1",
    "Digest::SHA256",
    "Digest::SHA384",
    "Digest::SHA512",
    "Digest::SHA2",
    "OpenSSL::Digest",
    "OpenSSL::HMAC",
    "OpenSSL::Digest::SHA256",
    "OpenSSL::Digest::SHA1",
    "SecureRandom",
    "IPAddr",
    "IPAddr::Error",
    "CSV",
    "File",
    "Zlib",
    "Process",
    "Process::CLOCK_MONOTONIC",
    "Process::CLOCK_REALTIME",
    "Socket",
    "Socket::AF_INET",
    "Socket::AF_INET6",
    "RUBY_VERSION",
    "OpenSSL::Digest::SHA384",
    "OpenSSL::Digest::SHA512",
    "OpenSSL::Digest::MD5",
    "OpenSSL::Digest::Digest",
    "LogStash::Event",
    "LogStash::Timestamp",
    "Exception",
    "StandardError",
    "ArgumentError",
    "TypeError",
    "RuntimeError",
    "NoMethodError",
    "NameError",
    "ZeroDivisionError",
    "KeyError",
    "IndexError",
    "RangeError",
    "RegexpError",
    "JSON::ParserError",
    "FloatDomainError",
    "Float::INFINITY",
    "Float::NAN",
    "Math::PI",
    "Math::E",
    "URI",
    "CGI",
    "ENV",
    "Random",
    "Zlib::Inflate",
    "Zlib::Deflate",
    "Zlib::GzipReader",
    "Zlib::MAX_WBITS",
    "StringIO",
    "URI::HTTP",
    "URI::HTTPS",
    "URI::Generic",
    "Set",
    "Struct",
    "OpenStruct",
    "BigDecimal",
    "Rational",
    "Class",
    "Module",
    "MatchData",
    "BasicObject",
    "StopIteration",
    "LocalJumpError",
    "SystemStackError",
    "EncodingError",
    "JSON::JSONError",
    "URI::Error",
    "Encoding::ASCII_8BIT",
    "Encoding::BINARY",
    "Encoding::ISO_8859_1",
    "Encoding::UTF_16LE",
    "Kernel",
    "Float::MAX",
    "Integer::MAX",
    "Java::JavaLang::Exception",
    "URI::DEFAULT_PARSER",
    "Date::Error",
    "Encoding::UTF_8",
    "ERB::Util",
    "Regexp::IGNORECASE",
    "Regexp::EXTENDED",
    "Regexp::MULTILINE",
];

/// What `logger` is: nothing is logged here.
pub(super) const LOGGER: &str = "logger";

/// The methods of classes and modules.
pub(super) const METHODS: &[&str] = &[
    "debug",
    "debug?",
    "info",
    "info?",
    "error",
    "fatal",
    "trace",
    "new",
    "now",
    "at",
    "parse",
    "strptime",
    "iso8601",
    "mktime",
    "local",
    "utc",
    "gm",
    "today",
    "generate",
    "pretty_generate",
    "dump",
    "load",
    "encode64",
    "decode64",
    "strict_encode64",
    "strict_decode64",
    "urlsafe_encode64",
    "urlsafe_decode64",
    "hexdigest",
    "digest",
    "base64digest",
    "uuid",
    "hex",
    "random_number",
    "sqrt",
    "log",
    "log2",
    "log10",
    "pow",
    "exp",
    "sin",
    "cos",
    "tan",
    "atan",
    "atan2",
    "hypot",
    "cbrt",
    "floor",
    "escape",
    "unescape",
    "union",
    "last_match",
    "coerce",
    "parse_iso8601",
    "decode_www_form_component",
    "encode_www_form_component",
    "decode_www_form",
    "[]",
    "fetch",
    "name",
    "unescapeHTML",
    "escapeHTML",
    "rand",
    "Integer",
    "Float",
    "String",
    "Array",
    "host",
    "path",
    "query",
    "port",
    "scheme",
    "quote",
    "civil",
    "xmlschema",
    "rfc3339",
    "key?",
    "url_encode",
    "try_convert",
    "valid_date?",
    "leap?",
    "rfc2822",
    "httpdate",
    "basename",
    "dirname",
    "extname",
    "exist?",
    "exists?",
    "file?",
    "read",
    "readlines",
    "parse_line",
    "inflate",
    "deflate",
    "gunzip",
    "gzip",
    "wrap",
    "open",
    "encode_www_form",
    "crc32",
    "adler32",
    "clock_gettime",
    "gethostname",
    "alphanumeric",
    "fragment",
    "userinfo",
    "html_escape",
    "current",
];

pub(super) fn value(name: &str) -> Value {
    match name {
        "Encoding::UTF_8" => Value::text("UTF-8"),
        "Encoding::ASCII_8BIT" | "Encoding::BINARY" => Value::text("ASCII-8BIT"),
        "Encoding::ISO_8859_1" => Value::text("ISO-8859-1"),
        "Encoding::UTF_16LE" => Value::text("UTF-16LE"),
        "Float::INFINITY" => Value::Float(f64::INFINITY),
        "Float::NAN" => Value::Float(f64::NAN),
        "Float::MAX" => Value::Float(f64::MAX),
        "Integer::MAX" => Value::Int(i64::MAX),
        "Regexp::IGNORECASE" => Value::Int(1),
        "Regexp::EXTENDED" => Value::Int(2),
        "Regexp::MULTILINE" => Value::Int(4),
        "Math::PI" => Value::Float(std::f64::consts::PI),
        "Process::CLOCK_MONOTONIC" | "Process::CLOCK_REALTIME" => Value::Int(1),
        "Zlib::MAX_WBITS" => Value::Int(super::zlib::WINDOW_BITS),
        "Socket::AF_INET" => Value::Int(2),
        "Socket::AF_INET6" => Value::Int(10),
        "RUBY_VERSION" => Value::text("3.1.4"),
        "Math::E" => Value::Float(std::f64::consts::E),
        name => Value::Constant(name.trim_start_matches("::").into()),
    }
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

/// `raise "a"`, `raise A, "b"`, `raise e`
pub(super) fn raised(arguments: &[Value]) -> Stop {
    match arguments {
        [] => Stop::raise("RuntimeError", "unhandled exception"),
        [Value::Error(error), ..] => Stop::Raised(error.clone()),
        [Value::Constant(class)] => Stop::raise(class, &**class),
        [Value::Constant(class), message, ..] => Stop::raise(class, message.print()),
        [message, ..] => Stop::raise("RuntimeError", message.print()),
    }
}

impl Machine<'_, '_> {
    pub(super) fn constant_method(
        &mut self,
        constant: &str,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let named: std::sync::Arc<str> = constant.into();
        if let Some(found) = self.class_method(&named, name, arguments, given)? {
            return Ok(Some(found));
        }
        match constant {
            "Struct" if name == "new" => self.make_struct(arguments, given).map(Some),
            "OpenStruct" if name == "new" => Ok(Some(self.make_open_struct(arguments))),
            "Proc" if name == "new" => Ok(given.map(|given| self.value_of(given))),
            "Set" if matches!(name, "new" | "[]") => {
                let items = match (name, arguments) {
                    ("new", []) => Vec::new(),
                    ("new", [Value::Nil, ..]) => Vec::new(),
                    ("new", [list, ..]) => self.items(list)?,
                    (_, items) => items.to_vec(),
                };
                Ok(Some(super::set::of(items)))
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
            "Base64" => base64(name, arguments),
            "Math" => math(name, arguments),
            "Kernel" => super::conversion::convert(name, arguments),
            "SecureRandom" => super::module::random(name, arguments),
            "IPAddr" => super::address::make(name, arguments),
            "CSV" => super::module::csv(name, arguments),
            "File" => super::module::file(name, arguments),
            "Zlib" | "Zlib::Inflate" | "Zlib::Deflate" if name != "new" => {
                super::zlib::function(name, arguments)
            }
            "Zlib::GzipReader" if matches!(name, "wrap" | "zcat") => {
                let reader = super::library::make("Zlib::GzipReader", arguments)?;
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
                Ok(Some(Value::text(&gethostname::gethostname().to_string_lossy())))
            }
            "ENV" => Ok(Some(match (name, arguments) {
                ("[]", [name]) | ("fetch", [name, ..]) => {
                    match (std::env::var(name.print()), arguments) {
                        (Ok(text), _) => Value::text(&text),
                        (Err(_), [_, default]) => default.clone(),
                        (Err(_), _) => Value::Nil,
                    }
                }
                ("key?", [name]) => Value::Bool(std::env::var(name.print()).is_ok()),
                _ => return Ok(None),
            })),
            "URI" | "CGI" | "URI::DEFAULT_PARSER" | "ERB::Util" => {
                uri(name, arguments, constant == "CGI")
            }
            "Regexp" => self.regexp(name, arguments),
            "OpenSSL::HMAC" => hmac(name, arguments),
            _ => self.make(constant, name, arguments, given),
        }
    }

    /// `Regexp.new(…)`, `Regexp.union(…)`
    fn regexp(&mut self, name: &str, arguments: &[Value]) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("escape" | "quote", [text]) if !matches!(text, Value::Text(_) | Value::Symbol(_)) => {
                return Err(super::text::no_text(text));
            }
            ("escape" | "quote", [text]) => Value::text(&super::pattern::escape(&text.print())),
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
                super::pattern::compile(&text.str(), &flags)?
            }
            ("union", items) => {
                let items = match items {
                    [Value::List(items)] => items.lock().clone(),
                    items => items.to_vec(),
                };
                let texts: Vec<String> = items
                    .iter()
                    .map(|item| match item {
                        Value::Regex(_, text) => text.to_string(),
                        other => super::pattern::escape(&other.print()),
                    })
                    .collect();
                super::pattern::compile(&texts.join("|"), "")?
            }
            ("new", [regex @ Value::Regex(..), ..]) => regex.clone(),
            ("last_match", []) => self.found.clone().map_or(Value::Nil, Value::Match),
            ("last_match", [which]) => match &self.found {
                Some(found) => super::pattern::group(found, which),
                None => Value::Nil,
            },
            _ => return Ok(None),
        }))
    }

    /// `Array.new(3) { … }`, `Hash.new(0)`, `Digest::MD5.hexdigest(…)`
    fn make(
        &mut self,
        constant: &str,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        if matches!(name, "new" | "open")
            && let Some(made) = super::library::make(constant, arguments)?
        {
            return Ok(Some(made));
        }
        Ok(Some(match (constant, name, arguments) {
            ("Hash", "new", default) => {
                let mut hash = Dictionary::default();
                hash.default = match given {
                    Some(Given::Block(block)) => self.closure(block, false),
                    Some(Given::Lambda(closure)) => Value::Lambda(closure.clone()),
                    _ => default.first().cloned().unwrap_or_default(),
                };
                Value::Hash(Shared::new(hash))
            }
            ("Hash", "[]", [Value::Hash(pairs)]) => Value::Hash(pairs.clone()),
            ("Hash", "[]", [list]) => self.invoke(list, "to_h", &[], None)?,
            ("Hash", "[]", all) if all.len() % 2 == 0 => {
                let pairs = all.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
                Value::hash(pairs.collect::<Vec<_>>())
            }
            ("Array", "new", []) => Value::list(Vec::new()),
            ("Array", "new", [Value::Int(count), value @ ..]) => {
                let count = usize::try_from(*count).unwrap_or(0);
                super::limited(count)?;
                let mut items = Vec::with_capacity(count);
                for at in 0..count {
                    items.push(match given {
                        Some(given) => self.give_to(given, vec![Value::Int(at as i64)])?,
                        None => value.first().cloned().unwrap_or_default(),
                    });
                }
                Value::list(items)
            }
            ("String", "new", [Value::Text(text), ..]) => Value::text(&text.str()),
            ("String", "new", _) => Value::text(""),
            ("Object", "new", []) => Value::hash([]),
            (class, "hexdigest" | "digest" | "base64digest", [text, ..]) => {
                let (class, text) = match (class, arguments) {
                    ("OpenSSL::Digest", [class, text]) => (class.print(), text),
                    (class, _) => (class.to_string(), text),
                };
                if digest(&class, &[]).is_none() {
                    return Ok(None);
                }
                // OpenSSL takes the text of any value.
                let input = match class.starts_with("OpenSSL") {
                    true => bytes_of(text),
                    false => text_bytes(text)?,
                };
                let Some(bytes) = digest(&class, &input) else { return Ok(None) };
                match name {
                    "hexdigest" => Value::text(&hex(&bytes)),
                    "base64digest" => Value::text(&STANDARD.encode(bytes)),
                    _ => Value::binary(&bytes),
                }
            }
            (class, "name" | "to_s", []) => Value::text(class),
            (class, "new" | "exception", message)
                if class.ends_with("Error") || class == "Exception" =>
            {
                let message = message.first().map_or(class.to_string(), Value::print);
                Value::Error(std::sync::Arc::new((class.to_string(), message)))
            }
            (class, "===", [value]) => Value::Bool(self.is_kind(value, class)),
            _ => return Ok(None),
        }))
    }

    fn json(&mut self, name: &str, arguments: &[Value]) -> Found1 {
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
                    super::object::word_of(other)
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
    if depth > crate::logstash::ruby::value::DEPTH_MAX {
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
