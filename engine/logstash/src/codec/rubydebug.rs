//! `rubydebug`: an event as Ruby would show it, keys aligned at their right end.

use std::fmt::Write;
use temblor_logstash_event::datum::{Datum, Map, float_text, iso8601};

/// Columns of one level.
const INDENT: usize = 4;

/// Appends a document and the newline behind it.
pub(crate) fn push_event(out: &mut String, data: &Map<'_>, metadata: Option<&Map<'_>>) {
    let mut entries: Vec<(&str, &Datum<'_>)> = data.iter().collect();
    let shown = metadata.map(|map| Datum::Map(map.clone()));
    entries.extend(shown.as_ref().map(|map| ("@metadata", map)));
    push_entries(out, &entries, INDENT);
    out.push('\n');
}

fn push_entries(out: &mut String, entries: &[(&str, &Datum<'_>)], indent: usize) {
    if entries.is_empty() {
        out.push_str("{}");
        return;
    }
    let keys: Vec<String> = entries.iter().map(|(key, _)| quoted(key)).collect();
    let longest = keys.iter().map(|key| key.chars().count()).max().unwrap_or(0);
    let width = longest + indent;
    out.push_str("{\n");
    for (at, (key, (_, value))) in keys.iter().zip(entries).enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "" });
        let _ = write!(out, "{key:>width$} => ");
        push(out, value, indent + INDENT);
    }
    let _ = write!(out, "\n{:1$}}}", "", indent - INDENT);
}

fn push(out: &mut String, value: &Datum<'_>, indent: usize) {
    // Writing into a String does not fail.
    let _ = match value {
        Datum::Null => write!(out, "nil"),
        Datum::Bool(value) => write!(out, "{value}"),
        Datum::Int(value) => write!(out, "{value}"),
        Datum::UInt(value) => write!(out, "{value}"),
        Datum::Float(value) => write!(out, "{}", float_text(*value)),
        Datum::Str(text) => write!(out, "{}", quoted(text)),
        Datum::Time(time) => write!(out, "{}", iso8601(*time)),
        Datum::List(items) if items.is_empty() => write!(out, "[]"),
        Datum::List(items) => {
            push_items(out, items, indent);
            Ok(())
        }
        Datum::Map(map) => {
            let entries: Vec<_> = map.iter().collect();
            push_entries(out, &entries, indent);
            Ok(())
        }
    };
}

fn push_items(out: &mut String, items: &[Datum<'_>], indent: usize) {
    let width = (items.len() - 1).to_string().len();
    out.push_str("[\n");
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "" });
        let _ = write!(out, "{:indent$}[{at:>width$}] ", "");
        push(out, item, indent + INDENT);
    }
    let _ = write!(out, "\n{:1$}]", "", indent - INDENT);
}

/// A text as Ruby writes it.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\u{7}' => out.push_str("\\a"),
            '\u{1b}' => out.push_str("\\e"),
            '#' if matches!(characters.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
            control if control.is_ascii_control() => {
                let _ = write!(out, "\\x{:02X}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::push_event;
    use chrono::DateTime;
    use temblor_lang::value::Arena;
    use temblor_logstash_event::datum::Datum;
    use temblor_logstash_event::event::LogEvent;
    use temblor_stdlib::formats::json;

    #[test]
    fn aligns_keys_and_indents() {
        let arena = Arena::new();
        let text = r#"{"@timestamp":"2026-05-01T00:00:00.000Z","message":"a\"b\n#{x}","n":1.0,
            "list":["a",[1]],"none":null,"map":{"x":{},"yy":[]}}"#;
        let value = json::parse(text, &arena).expect("it is JSON");
        let event = LogEvent::from_value(value, &arena, DateTime::UNIX_EPOCH);
        let mut meta = temblor_logstash_event::datum::Map::default();
        meta.insert("k", Datum::Bool(true));
        let mut out = String::new();
        push_event(&mut out, &event.data, Some(&meta));
        let expected = r#"{
    "@timestamp" => 2026-05-01T00:00:00.000Z,
       "message" => "a\"b\n\#{x}",
             "n" => 1.0,
          "list" => [
        [0] "a",
        [1] [
            [0] 1
        ]
    ],
          "none" => nil,
           "map" => {
         "x" => {},
        "yy" => []
    },
      "@version" => "1",
     "@metadata" => {
        "k" => true
    }
}
"#;
        assert_eq!(out, expected);
    }
}
