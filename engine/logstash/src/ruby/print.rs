//! Values as text: `to_s`, `inspect`, JSON.

use super::text::Content;
use super::value::{Clock, DEPTH_MAX, Object, STRUCT, Value};
use crate::datum::{float_text, iso8601};
use chrono::Utc;
use temblor_lang::value::push_json_string;

impl Value {
    /// Ruby's `to_s`.
    #[must_use]
    pub fn print(&self) -> String {
        match self {
            Value::Nil => String::new(),
            Value::Text(text) => text.str().to_string(),
            Value::Regex(_, written) => written.to_string(),
            Value::Symbol(text) => text.to_string(),
            Value::Match(found) => found.groups[0].as_deref().unwrap_or_default().to_string(),
            Value::Error(error) => error.1.clone(),
            Value::Constant(name) => name.to_string(),
            Value::Time(time, Clock::Stamp) => iso8601(time.with_timezone(&Utc)),
            Value::Time(time, Clock::Date) => time.format("%Y-%m-%d").to_string(),
            Value::Time(time, Clock::DateTime) => time.format("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            Value::Address(address, _) => address.to_string(),
            Value::Big(number) => number.to_string(),
            Value::Rational(parts) => format!("{}/{}", parts.0, parts.1),
            Value::Object(object) if !object.is_record() => format!("#<{}>", object.class),
            other => other.inspect(),
        }
    }

    /// Ruby's `inspect`.
    #[must_use]
    pub fn inspect(&self) -> String {
        let mut out = String::new();
        self.push_inspect(&mut out, 0);
        out
    }

    fn push_inspect(&self, out: &mut String, depth: usize) {
        if depth > DEPTH_MAX {
            out.push_str("[...]");
            return;
        }
        match self {
            Value::Nil => out.push_str("nil"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Int(number) => out.push_str(&number.to_string()),
            Value::Float(number) => out.push_str(&float_text(*number)),
            Value::Text(text) => match text.content() {
                Content::Plain(text) => push_quoted(out, &text),
                Content::Bytes(bytes, _) => push_quoted_bytes(out, &bytes),
            },
            Value::Symbol(name) => push_symbol(out, name),
            Value::List(items) => {
                let items = items.lock().clone();
                out.push('[');
                push_listed(out, items.iter(), depth);
                out.push(']');
            }
            Value::Hash(hash) => {
                let pairs = hash.lock().pairs();
                push_pairs(out, &pairs, depth);
            }
            Value::Range(range) => {
                range.0.push_inspect(out, depth + 1);
                out.push_str(if range.2 { "..." } else { ".." });
                range.1.push_inspect(out, depth + 1);
            }
            Value::Time(time, Clock::Time) => {
                let zone = if time.offset().local_minus_utc() == 0 { " UTC" } else { " %z" };
                out.push_str(&time.format(&format!("%Y-%m-%d %H:%M:%S{zone}")).to_string());
            }
            Value::Regex(_, text) => push_regex(out, text),
            Value::Match(found) => {
                out.push_str("#<MatchData ");
                push_quoted(out, found.groups[0].as_deref().unwrap_or_default());
                out.push('>');
            }
            Value::Error(error) => out.push_str(&format!("#<{}: {}>", error.0, error.1)),
            Value::Lambda(_) | Value::NewEvent => out.push_str("#<Proc>"),
            Value::Address(address, length) => {
                out.push_str(&super::run::inspected_address(*address, *length));
            }
            Value::Event(_) => out.push_str("#<LogStash::Event>"),
            Value::Big(_) => out.push_str(&self.print()),
            Value::Rational(_) => out.push_str(&format!("({})", self.print())),
            Value::Decimal(number) => out.push_str(&number.to_string()),
            Value::Set(set) => {
                let members = set.lock().pairs();
                out.push_str("#<Set: {");
                push_listed(out, members.iter().map(|(member, _)| member), depth);
                out.push_str("}>");
            }
            Value::Object(object) => push_object(out, object, depth),
            Value::Time(..) | Value::Constant(_) => out.push_str(&self.print()),
        }
    }

    /// Ruby's `to_json`.
    #[must_use]
    pub fn json(&self) -> String {
        let mut out = String::new();
        self.push_json(&mut out, 0, None);
        out
    }

    /// Ruby's `JSON.pretty_generate`.
    #[must_use]
    pub fn pretty_json(&self) -> String {
        let mut out = String::new();
        self.push_json(&mut out, 0, Some(()));
        out
    }

    fn push_json(&self, out: &mut String, depth: usize, pretty: Option<()>) {
        let line = |out: &mut String, depth: usize| {
            if pretty.is_some() {
                out.push('\n');
                out.extend(std::iter::repeat_n("  ", depth));
            }
        };
        match self {
            _ if depth > DEPTH_MAX => out.push_str("null"),
            Value::Nil => out.push_str("null"),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Big(_) => {
                out.push_str(&self.inspect());
            }
            Value::List(items) => {
                let items = items.lock().clone();
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    line(out, depth + 1);
                    item.push_json(out, depth + 1, pretty);
                }
                if !items.is_empty() {
                    line(out, depth);
                }
                out.push(']');
            }
            Value::Hash(hash) => {
                let pairs = hash.lock().pairs();
                out.push('{');
                for (at, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    line(out, depth + 1);
                    push_json_text(out, &key.print());
                    out.push_str(if pretty.is_some() { ": " } else { ":" });
                    value.push_json(out, depth + 1, pretty);
                }
                if !pairs.is_empty() {
                    line(out, depth);
                }
                out.push('}');
            }
            other => push_json_text(out, &other.print()),
        }
    }
}

/// Whether a symbol needs no quotes.
fn is_bare(name: &str) -> bool {
    let word = name.strip_suffix(['?', '!', '=']).unwrap_or(name).trim_start_matches(['@', '$']);
    let letters = word.chars().all(|c| c.is_alphanumeric() || c == '_');
    (letters && word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        || matches!(
            name,
            "[]" | "[]="
                | "+"
                | "-"
                | "*"
                | "/"
                | "%"
                | "**"
                | "=="
                | "<=>"
                | "<"
                | ">"
                | "<="
                | ">="
                | "<<"
                | "!"
                | "=~"
        )
}

fn push_symbol(out: &mut String, name: &str) {
    out.push(':');
    match is_bare(name) {
        true => out.push_str(name),
        false => push_quoted(out, name),
    }
}

/// Items of something at `depth`, with commas between them.
fn push_listed<'a>(out: &mut String, items: impl Iterator<Item = &'a Value>, depth: usize) {
    for (at, item) in items.enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        item.push_inspect(out, depth + 1);
    }
}

fn push_pairs(out: &mut String, pairs: &[(Value, Value)], depth: usize) {
    out.push('{');
    for (at, (key, value)) in pairs.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        key.push_inspect(out, depth + 1);
        out.push_str("=>");
        value.push_inspect(out, depth + 1);
    }
    out.push('}');
}

/// A pattern between slashes, with its flags.
fn push_regex(out: &mut String, written: &str) {
    let (source, flags) = super::parse::source(written);
    out.push('/');
    out.push_str(&source.replace('/', "\\/"));
    out.push('/');
    out.push_str(flags);
}

/// `#<struct Point x=1>`, `#<Counter: @n=1>`
fn push_object(out: &mut String, object: &Object, depth: usize) {
    let (head, separator) = match &*object.class {
        "OpenStruct" => ("OpenStruct".to_string(), " "),
        class if class.starts_with(STRUCT) => ("struct".to_string(), " "),
        class if object.is_record() => (format!("struct {class}"), " "),
        class => (class.to_string(), " @"),
    };
    out.push_str("#<");
    out.push_str(&head);
    for (at, (name, value)) in object.fields.lock().pairs().iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        out.push_str(separator);
        out.push_str(name.print().trim_start_matches('@'));
        out.push('=');
        value.push_inspect(out, depth + 1);
    }
    out.push('>');
}

fn push_json_text(out: &mut String, text: &str) {
    let mut bytes = Vec::with_capacity(text.len() + 2);
    push_json_string(&mut bytes, text);
    out.push_str(&String::from_utf8_lossy(&bytes));
}

/// Bytes that are no text, with their numbers.
fn push_quoted_bytes(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for byte in bytes {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b' '..=b'~' => out.push(char::from(*byte)),
            byte => out.push_str(&format!("\\x{byte:02X}")),
        }
    }
    out.push('"');
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for (at, character) in text.char_indices() {
        match character {
            // Ruby would read it as code otherwise.
            '#' if text[at + 1..].starts_with(['{', '$', '@']) => out.push_str("\\#"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{1b}' => out.push_str("\\e"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}
