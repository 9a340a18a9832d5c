//! Converts values to text: `to_s`, `inspect` and JSON.

use super::budget::{Breach, SIZE_MAX};
use super::heap::{HashRef, Heap};
use super::text::Content;
use super::value::{Clock, Object, STRUCT, Value};
use chrono::{Datelike, Timelike, Utc};
use temblor_lang::value::push_json_string;
use temblor_logstash_event::datum::{float_text, iso8601};

impl Value {
    /// Ruby's `to_s`.
    #[must_use]
    pub fn print(&self, heap: &Heap) -> String {
        match self {
            Value::Nil => String::new(),
            Value::Text(text) => text.str(heap).to_string(),
            Value::Regex(_, written) => written.to_string(),
            Value::Symbol(text) => text.to_string(),
            Value::Match(found) => found.group(0).unwrap_or_default().to_string(),
            Value::Error(error) => error.1.clone(),
            Value::Constant(name) => name.to_string(),
            Value::Time(time, Clock::Stamp) => iso8601(time.with_timezone(&Utc)),
            Value::Time(time, clock @ (Clock::Time | Clock::Utc)) => {
                let zone = if *clock == Clock::Utc { "UTC" } else { "%z" };
                time.format(&format!("%Y-%m-%d %H:%M:%S {zone}")).to_string()
            }
            Value::Time(time, Clock::Date) => time.format("%Y-%m-%d").to_string(),
            Value::Time(time, Clock::DateTime) => time.format("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            Value::Address(address, _) => address.to_string(),
            Value::Big(number) => number.to_string(),
            Value::Rational(parts) => format!("{}/{}", parts.0, parts.1),
            Value::Object(object) if !object.is_record(heap) => format!("#<{}>", object.class),
            other => other.inspect(heap),
        }
    }

    /// Ruby's `inspect`.
    #[must_use]
    pub fn inspect(&self, heap: &Heap) -> String {
        let mut writer = Writer::new(heap);
        writer.inspect(self);
        writer.out
    }

    /// Ruby's `to_json`, or `JSON.pretty_generate`.
    ///
    /// # Errors
    /// A number that JSON does not have: `NaN`, `Infinity`.
    pub(crate) fn json(&self, heap: &Heap, pretty: bool) -> Result<String, f64> {
        let mut writer = Writer { no_json: None, ..Writer::new(heap) };
        writer.json(self, pretty);
        writer.no_json.map_or(Ok(writer.out), Err)
    }
}

/// Writes a value with all that is in it.
struct Writer<'h> {
    heap: &'h Heap,
    out: String,
    /// What is being written: who finds it within itself does not write it again.
    open: Vec<Container>,
    /// A number that JSON does not have.
    no_json: Option<f64>,
}

/// Something that values are in.
#[derive(PartialEq)]
enum Container {
    List(super::handle::ListRef),
    Pairs(HashRef),
    Range,
}

impl<'h> Writer<'h> {
    fn new(heap: &'h Heap) -> Self {
        Self { heap, out: String::new(), open: Vec::new(), no_json: None }
    }

    /// Whether there is room for more.
    fn has_room(&self) -> bool {
        if self.out.len() > SIZE_MAX {
            self.heap.budget().exceed(Breach::Size);
        }
        self.heap.budget().breach().is_none()
    }

    /// Goes into a container; false where it must not be gone into.
    fn enter(&mut self, container: Container) -> bool {
        let good = self.has_room() && self.heap.descend(self.open.len());
        if good {
            self.open.push(container);
        }
        good
    }

    fn inspect(&mut self, value: &Value) {
        let heap = self.heap;
        match value {
            Value::Nil => self.out.push_str("nil"),
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::Int(number) => self.out.push_str(&number.to_string()),
            Value::Float(number) => self.out.push_str(&float_text(*number)),
            Value::Text(text) => match text.content(heap) {
                Content::Plain(text) => push_quoted(&mut self.out, &text),
                Content::Bytes(bytes, _) => push_quoted_bytes(&mut self.out, &bytes),
            },
            Value::Symbol(name) => push_symbol(&mut self.out, name),
            Value::List(list) => {
                self.listed(Container::List(*list), ["[", "[...]", "]"], || list.items(heap))
            }
            Value::Hash(hash) => self.pairs(*hash),
            Value::Range(range) => {
                let range = range.get(heap);
                if self.enter(Container::Range) {
                    self.inspect(&range.from);
                    self.out.push_str(if range.exclusive { "..." } else { ".." });
                    self.inspect(&range.to);
                    self.open.pop();
                }
            }
            Value::Time(time, clock @ (Clock::Time | Clock::Utc)) => {
                self.out.push_str(&time.format("%Y-%m-%d %H:%M:%S").to_string());
                let nanos = time.timestamp_subsec_nanos();
                if nanos > 0 {
                    let fraction = format!(".{nanos:09}");
                    self.out.push_str(fraction.trim_end_matches('0'));
                }
                let zone = if *clock == Clock::Utc { " UTC" } else { " %z" };
                self.out.push_str(&time.format(zone).to_string());
            }
            Value::Time(time, Clock::Date | Clock::DateTime) => {
                let utc = time.to_utc();
                let day = utc.num_days_from_ce() + 1_721_425;
                let (second, nanos) = (utc.num_seconds_from_midnight(), utc.nanosecond());
                let offset = time.offset().local_minus_utc();
                let (class, shown) = (value.class(), value.print(heap));
                self.out.push_str(&format!(
                    "#<{class}: {shown} (({day}j,{second}s,{nanos}n),{offset:+}s,2299161j)>"
                ));
            }
            Value::Regex(_, text) => push_regex(&mut self.out, text),
            Value::Match(found) => {
                self.out.push_str("#<MatchData ");
                push_quoted(&mut self.out, found.group(0).unwrap_or_default());
                for at in 1..found.groups.len() {
                    let name = found.names.iter().find(|(_, group)| *group == at);
                    let name = name.map_or(at.to_string(), |(name, _)| name.clone());
                    self.out.push_str(&format!(" {name}:"));
                    match found.group(at) {
                        Some(text) => push_quoted(&mut self.out, text),
                        None => self.out.push_str("nil"),
                    }
                }
                self.out.push('>');
            }
            Value::Error(error) => self.out.push_str(&format!("#<{}: {}>", error.0, error.1)),
            Value::Lambda(_) | Value::NewEvent => self.out.push_str("#<Proc>"),
            Value::Address(address, length) => {
                self.out.push_str(&super::run::inspected_address(*address, *length));
            }
            Value::Event(_) => self.out.push_str("#<LogStash::Event>"),
            Value::Rational(_) => self.out.push_str(&format!("({})", value.print(heap))),
            Value::Decimal(number) => self.out.push_str(&number.to_string()),
            Value::Set(set) => {
                self.listed(Container::Pairs(*set), ["#<Set: {", "#<Set: {...}>", "}>"], || {
                    set.pairs(heap).into_iter().map(|(member, _)| member).collect()
                })
            }
            Value::Object(object) => self.object(object),
            Value::Big(_) | Value::Time(..) | Value::Constant(_) => {
                self.out.push_str(&value.print(heap));
            }
        }
    }

    /// Items with commas between them. The texts stand before them, for what is within itself, and behind them.
    fn listed(
        &mut self,
        container: Container,
        [before, within, behind]: [&str; 3],
        items: impl FnOnce() -> Vec<Value>,
    ) {
        if self.open.contains(&container) {
            return self.out.push_str(within);
        }
        if !self.enter(container) {
            return;
        }
        self.out.push_str(before);
        for (at, item) in items().iter().enumerate() {
            if !self.has_room() {
                break;
            }
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.inspect(item);
        }
        self.out.push_str(behind);
        self.open.pop();
    }

    fn pairs(&mut self, hash: HashRef) {
        let container = Container::Pairs(hash);
        if self.open.contains(&container) {
            return self.out.push_str("{...}");
        }
        if !self.enter(container) {
            return;
        }
        self.out.push('{');
        for (at, (key, value)) in hash.pairs(self.heap).iter().enumerate() {
            if !self.has_room() {
                break;
            }
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.inspect(key);
            self.out.push_str("=>");
            self.inspect(value);
        }
        self.out.push('}');
        self.open.pop();
    }

    /// `#<struct Point x=1>`, `#<Counter: @n=1>`
    fn object(&mut self, object: &Object) {
        let (head, separator) = match &*object.class {
            "OpenStruct" => ("OpenStruct".to_string(), " "),
            class if class.starts_with(STRUCT) => ("struct".to_string(), " "),
            class if object.is_record(self.heap) => (format!("struct {class}"), " "),
            class => (class.to_string(), " @"),
        };
        self.out.push_str("#<");
        self.out.push_str(&head);
        let container = Container::Pairs(object.fields);
        if self.open.contains(&container) {
            return self.out.push_str(":...>");
        }
        if !self.enter(container) {
            return;
        }
        for (at, (name, value)) in object.fields.pairs(self.heap).iter().enumerate() {
            if !self.has_room() {
                break;
            }
            self.out.push_str(if at > 0 { "," } else { "" });
            self.out.push_str(separator);
            self.out.push_str(name.print(self.heap).trim_start_matches('@'));
            self.out.push('=');
            self.inspect(value);
        }
        self.out.push('>');
        self.open.pop();
    }

    fn json(&mut self, value: &Value, pretty: bool) {
        match value {
            Value::Nil => self.out.push_str("null"),
            Value::Float(number) if !number.is_finite() => self.no_json = Some(*number),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Big(_) => {
                self.out.push_str(&value.inspect(self.heap));
            }
            Value::List(list) => {
                if !self.enter(Container::List(*list)) {
                    return;
                }
                let items = list.items(self.heap);
                self.out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if !self.has_room() {
                        break;
                    }
                    self.out.push_str(if at > 0 { "," } else { "" });
                    self.line(pretty, self.open.len());
                    self.json(item, pretty);
                }
                self.open.pop();
                self.line(pretty && !items.is_empty(), self.open.len());
                self.out.push(']');
            }
            Value::Hash(hash) => {
                if !self.enter(Container::Pairs(*hash)) {
                    return;
                }
                let pairs = hash.pairs(self.heap);
                self.out.push('{');
                for (at, (key, value)) in pairs.iter().enumerate() {
                    if !self.has_room() {
                        break;
                    }
                    self.out.push_str(if at > 0 { "," } else { "" });
                    self.line(pretty, self.open.len());
                    push_json_text(&mut self.out, &key.print(self.heap));
                    self.out.push_str(if pretty { ": " } else { ":" });
                    self.json(value, pretty);
                }
                self.open.pop();
                self.line(pretty && !pairs.is_empty(), self.open.len());
                self.out.push('}');
            }
            other => {
                let text = other.print(self.heap);
                push_json_text(&mut self.out, &text);
            }
        }
    }

    /// A new line, where lines are wanted.
    fn line(&mut self, wanted: bool, depth: usize) {
        if wanted {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", depth));
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

/// A pattern between slashes, with its flags.
fn push_regex(out: &mut String, written: &str) {
    let (source, flags) = super::parse::source(written);
    out.push('/');
    out.push_str(&source.replace('/', "\\/"));
    out.push('/');
    out.push_str(flags);
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
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                out.push_str(&format!("\\u{:04X}", c as u32))
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
