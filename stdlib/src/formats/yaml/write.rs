//! YAML in block style, arrays within records not indented. Text is quoted only where a reader would
//! take it for something else.

use super::DEPTH_MAX;
use super::scalar::plain;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use temblor_lang::value::{Arena, JsonStyle, Value, push_json, push_text};

/// Appends `value` as one document that ends in a newline. Bytes become base64 text, as in JSON.
pub fn encode<'a>(value: Value<'a>, arena: &'a Arena, out: &mut Vec<u8>) {
    let mut writer = Writer { arena, out, depth: 0 };
    match filled(value, arena) {
        true => writer.block(value, 0, true),
        false => writer.inline(value, 0),
    }
}

struct Writer<'a, 'o> {
    arena: &'a Arena,
    out: &'o mut Vec<u8>,
    depth: usize,
}

impl<'a> Writer<'a, '_> {
    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn indent(&mut self, columns: usize) {
        self.out.resize(self.out.len() + columns, b' ');
    }

    /// The lines of a container that is not empty, each `columns` wide indented but for the first
    /// when `placed`.
    fn block(&mut self, value: Value<'a>, columns: usize, placed: bool) {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            // JSON is YAML in flow style, and needs no column of its own for each level.
            if !placed {
                self.indent(columns);
            }
            push_json(self.out, value, JsonStyle::Compact);
            self.push("\n");
        } else {
            self.lines(value, columns, placed);
        }
        self.depth -= 1;
    }

    fn lines(&mut self, value: Value<'a>, columns: usize, mut placed: bool) {
        if let Some(items) = value.as_array(self.arena) {
            for item in items {
                if !std::mem::take(&mut placed) {
                    self.indent(columns);
                }
                self.push("- ");
                match filled(*item, self.arena) {
                    true => self.block(*item, columns + 2, true),
                    false => self.inline(*item, columns + 2),
                }
            }
        } else if let Some(record) = value.as_record(self.arena) {
            for (key, value) in record.iter() {
                if !std::mem::take(&mut placed) {
                    self.indent(columns);
                }
                self.key(key);
                self.field(value, columns);
            }
        }
    }

    fn field(&mut self, value: Value<'a>, columns: usize) {
        if !filled(value, self.arena) {
            self.push(" ");
            return self.inline(value, columns + 2);
        }
        self.push("\n");
        let deeper = if value.as_array(self.arena).is_some() { 0 } else { 2 };
        self.block(value, columns + deeper, false);
    }

    fn key(&mut self, key: &str) {
        if key.contains('\n') || !printable(key) {
            self.double_quoted(key);
        } else {
            self.one_line(key);
        }
        self.push(":");
    }

    /// A scalar or an empty container, up to the end of its last line.
    fn inline(&mut self, value: Value<'a>, columns: usize) {
        match value {
            Value::Str(text) => self.text(text, columns),
            Value::Bytes(bytes) => {
                let text = STANDARD.encode(bytes);
                self.text(&text, columns);
            }
            Value::Float(number) => self.float(number),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::UInt(_) => {
                push_text(self.out, value);
            }
            _ if value.as_array(self.arena).is_some() => self.push("[]"),
            _ => self.push("{}"),
        }
        if self.out.last() != Some(&b'\n') {
            self.push("\n");
        }
    }

    fn float(&mut self, number: f64) {
        if number.is_nan() {
            self.push(".nan");
        } else if number.is_infinite() {
            self.push(if number > 0.0 { ".inf" } else { "-.inf" });
        } else {
            push_text(self.out, Value::Float(number));
        }
    }

    fn text(&mut self, text: &str, columns: usize) {
        if !printable(text) {
            self.double_quoted(text);
        } else if text.contains('\n') {
            self.literal(text, columns.max(2));
        } else {
            self.one_line(text);
        }
    }

    fn one_line(&mut self, text: &str) {
        if is_plain(text) {
            self.push(text);
        } else {
            self.push("'");
            self.push(&text.replace('\'', "''"));
            self.push("'");
        }
    }

    /// `|` with the sign that keeps exactly the newlines at the end.
    fn literal(&mut self, text: &str, columns: usize) {
        let body = text.trim_end_matches('\n');
        let starts_blank = text.starts_with([' ', '\n', '\t']);
        if body.is_empty() || starts_blank {
            return self.double_quoted(text);
        }
        self.push(match text.len() - body.len() {
            0 => "|-\n",
            1 => "|\n",
            _ => "|+\n",
        });
        for line in text.split_terminator('\n') {
            if !line.is_empty() {
                self.indent(columns);
                self.push(line);
            }
            self.push("\n");
        }
    }

    fn double_quoted(&mut self, text: &str) {
        self.push("\"");
        for character in text.chars() {
            match character {
                '"' => self.push("\\\""),
                '\\' => self.push("\\\\"),
                '\n' => self.push("\\n"),
                '\r' => self.push("\\r"),
                '\t' => self.push("\\t"),
                other if is_printable(other) => self.push(other.encode_utf8(&mut [0; 4])),
                other => self.push(&format!("\\U{:08x}", u32::from(other))),
            }
        }
        self.push("\"");
    }
}

fn filled<'a>(value: Value<'a>, arena: &'a Arena) -> bool {
    match value {
        Value::Str(_) | Value::Bytes(_) => false,
        _ => {
            value.as_array(arena).is_some_and(|items| !items.is_empty())
                || value.as_record(arena).is_some_and(|record| !record.is_empty())
        }
    }
}

fn printable(text: &str) -> bool {
    text.chars().all(|character| character == '\n' || is_printable(character))
}

/// Characters that stand for themselves in any style, on one line.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether a text of one line reads as itself without quotes.
fn is_plain(text: &str) -> bool {
    const INDICATORS: &str = "-?:,[]{}#&*!|>'\"%@`=<";
    matches!(plain(text), Value::Str(_))
        && !text.starts_with(|first: char| INDICATORS.contains(first) || first.is_whitespace())
        && !text.ends_with(|last: char| last == ':' || last.is_whitespace())
        && !text.contains(": ")
        && !text.contains(" #")
        && !matches!(text, "yes" | "no" | "on" | "off" | "y" | "n")
        && !text.starts_with("...")
}
