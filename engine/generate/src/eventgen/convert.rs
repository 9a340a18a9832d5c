//! A program that generates what a configuration generates.
//!
//! Invariant: the settings are those that the configuration itself runs with, so that both make the same events.

use super::outputs::{Given, Output, SinkUse};
use super::{Loaded, Stanza};
use crate::settings::SETTINGS;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt::Write;
use temblor_declare::Takes;

/// The program, and what of the configuration is not in it.
#[must_use]
pub fn convert(loaded: &Loaded, seed: u64) -> (String, Vec<String>) {
    let mut text = String::from("# Made from a configuration of Splunk Eventgen.\n");
    let mut report = loaded.notes.clone();
    let mut names = BTreeSet::new();
    for stanza in &loaded.stanzas {
        let name = name(&stanza.name, &mut names);
        for note in &stanza.notes {
            let note = format!("{}: [{}]: {note}", stanza.place, stanza.section);
            // A stanza of several samples says the same of each.
            if !report.contains(&note) {
                report.push(note);
            }
        }
        write_stanza(stanza, &name, seed, &mut text, &mut report);
    }
    (text, report)
}

fn write_stanza(
    stanza: &Stanza,
    name: &str,
    seed: u64,
    text: &mut String,
    report: &mut Vec<String>,
) {
    let codec = if stanza.settings.get("output").is_some_and(|form| form == "hec") {
        "json"
    } else {
        "lines"
    };
    let _ = writeln!(text, "\n# {} [{}]", stanza.place, stanza.section.replace('\n', " "));
    let _ = writeln!(text, "source {name} from generator {} with", quoted(stanza.kind));
    let seed = stanza.settings.get("seed").map_or_else(|| seed.to_string(), literal);
    let _ = write!(text, "  codec = \"{codec}\",\n  seed = {seed}");
    for (key, value) in stanza.settings.iter().filter(|(key, _)| *key != "seed") {
        let _ = write!(text, ",\n  {key} = {}", setting(key, value));
    }
    text.push_str("\nend;\n");
    let place = format!("{}: [{}]", stanza.place, stanza.section);
    let sink = match &stanza.output {
        Output::Stdout => format!("stdout with codec = \"{codec}\" end"),
        Output::Nothing => "null".to_string(),
        Output::File { path, bytes_max, .. } => {
            if bytes_max.is_some() {
                report.push(format!(
                    "{place}: fileMaxBytes: the sink `file` does not set files aside"
                ));
            }
            let path = quoted(&path.display().to_string());
            format!("file {path} with codec = \"{codec}\", mode = \"append\" end")
        }
        Output::Sinks { sinks, is_mirrored, steps } => {
            return write_sinks(name, sinks, *is_mirrored, steps, text);
        }
        Output::Refused(reason) => {
            report.push(format!("{place}: outputMode: {reason}; the program prints the events"));
            format!("stdout with codec = \"{codec}\" end")
        }
    };
    let _ = writeln!(text, "sink {name}_out into {sink};\n{name} |> {name}_out;");
}

/// Sinks, and the chain that leads to them.
fn write_sinks(name: &str, sinks: &[SinkUse], is_mirrored: bool, steps: &str, text: &mut String) {
    let mut names = Vec::new();
    for (number, SinkUse { kind, target, settings }) in sinks.iter().enumerate() {
        let own = match sinks.len() {
            1 => format!("{name}_out"),
            _ => format!("{name}_out_{}", number + 1),
        };
        let shown: Vec<_> = settings
            .iter()
            .map(|(key, given)| match given {
                Given::Value(value) => format!("{key} = {}", literal(value)),
                Given::Expression(expression) => format!("{key} = {expression}"),
            })
            .collect();
        let _ = write!(text, "sink {own} into {kind} {}", quoted(target));
        let _ = writeln!(text, " with\n  {}\nend;", shown.join(",\n  "));
        names.push(own);
    }
    let steps = if steps.is_empty() { String::new() } else { format!(" |> {steps}") };
    let ends = match (names.len(), is_mirrored) {
        (1, _) | (_, true) => names.join(" |> "),
        (_, false) => {
            let quoted: Vec<_> = names.iter().map(|name| quoted(name)).collect();
            format!("roundrobin [{}]", quoted.join(", "))
        }
    };
    let _ = writeln!(text, "{name}{steps} |> {ends};");
}

/// A name for a source.
fn name(sample: &str, names: &mut BTreeSet<String>) -> String {
    let word = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' }
    };
    let mut name: String = sample.chars().map(word).collect();
    if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        name.insert_str(0, "sample_");
    }
    // A word of the language with an ending is a name like any other.
    name.push_str("_events");
    let mut unique = name.clone();
    let mut number = 2;
    while !names.insert(unique.clone()) {
        unique = format!("{name}_{number}");
        number += 1;
    }
    unique
}

/// The value of a setting: a duration with its unit, records one below the other.
fn setting(key: &str, value: &Value) -> String {
    let takes = SETTINGS.iter().find(|row| row.name == key).map(|row| row.takes);
    match (takes, value.as_u64(), value.as_array()) {
        (Some(Takes::Duration), Some(nanoseconds), _) => duration(nanoseconds),
        (_, _, Some(items)) if items.iter().any(Value::is_object) => {
            let lines = items.iter().map(|item| format!("    {}", literal(item)));
            format!("[\n{}\n  ]", lines.collect::<Vec<_>>().join(",\n"))
        }
        _ => literal(value),
    }
}

/// Nanoseconds in the largest unit that divides them.
fn duration(nanoseconds: u64) -> String {
    const UNITS: [(&str, u64); 6] = [
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ];
    if nanoseconds == 0 {
        return "0s".to_string();
    }
    let fits = |(_, size): &&(&str, u64)| nanoseconds.is_multiple_of(*size);
    let (unit, size) = UNITS.iter().find(fits).expect("a nanosecond divides all of them");
    format!("{}{unit}", nanoseconds / size)
}

/// A value as the language writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => record(fields),
        other => other.to_string(),
    }
}

fn record(fields: &Map<String, Value>) -> String {
    let fields = fields.iter().map(|(key, value)| format!("{}: {}", quoted(key), literal(value)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

/// A text as the language writes it: as JSON does, but for what begins a formula in it.
fn quoted(text: &str) -> String {
    // A regex is read more easily without its backslashes doubled.
    let is_raw = text.contains('\\') && !text.ends_with('\\');
    if is_raw && !text.contains(['"', '#']) && !text.contains(char::is_control) {
        return format!("r\"{text}\"");
    }
    Value::from(text).to_string().replace("#{", "\\u0023{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_and_patterns_no_doubled_backslashes() {
        let written = |key: &str, value: Value| setting(key, &value);
        assert_eq!(written("interval", 10_000_000_000_u64.into()), "10s");
        assert_eq!(written("interval", 0.into()), "0s");
        assert_eq!(written("interval", 1_500_000_000.into()), "1500ms");
        assert_eq!(written("amount", 60_000_000_000_u64.into()), "60000000000");
        assert_eq!(quoted(r"\d+"), r#"r"\d+""#);
        assert_eq!(quoted("a\"\\d"), r#""a\"\\d""#);
        let tokens = serde_json::json!([{"token": "a"}, {"token": "b"}]);
        assert_eq!(
            setting("tokens", &tokens),
            "[\n    {\"token\": \"a\"},\n    {\"token\": \"b\"}\n  ]"
        );
    }

    #[test]
    fn values_and_names_are_those_of_the_language() {
        let value = serde_json::json!({"a": ["#{x}", 1.5, true], "b": "\"\\d\n"});
        assert_eq!(literal(&value), r#"{"a": ["\u0023{x}", 1.5, true], "b": "\"\\d\n"}"#);
        let mut names = BTreeSet::new();
        let mut name = |sample: &str| name(sample, &mut names);
        assert_eq!(name("a.sample"), "a_sample_events");
        assert_eq!(name("a-sample"), "a_sample_events_2");
        assert_eq!(name("9.log"), "sample_9_log_events");
    }
}
