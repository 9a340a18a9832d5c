//! Texts, values and fields as Temblor writes them. Whatever is written here reads back as what it
//! was made from.

use crate::options::{Setting, SettingKind};
use std::fmt::Write;
use temblor_lang::syntax::RESERVED;
use temblor_logstash_event::reference::FieldRef;

/// Words of `if`, which may be names, but not beside it.
const WORDS_OF_IF: [&str; 4] = ["if", "then", "elif", "else"];

/// Lines are not filled beyond this.
pub(crate) const WIDTH: usize = 96;

/// Whether a name needs no quotes.
pub(crate) fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|one| one.is_ascii_alphanumeric() || one == '_')
        && !RESERVED.contains(&name)
        && !WORDS_OF_IF.contains(&name)
}

/// A name, in quotes where it needs them.
pub(super) fn name(name: &str) -> String {
    if is_plain(name) { name.to_string() } else { format!("`{name}`") }
}

/// The name with everything that names cannot hold replaced.
pub(super) fn plain(name: &str) -> String {
    let fits = |one: char| if one.is_ascii_alphanumeric() { one } else { '_' };
    let name: String = name.chars().map(fits).collect();
    if is_plain(&name) { name } else { format!("the_{name}") }
}

/// A text in quotes; one with backslashes is written raw where that is possible.
pub(super) fn text(content: &str) -> String {
    let is_tame = !content.contains(['"', '\n', '\r', '\t', '\0']) && !content.ends_with('\\');
    if content.contains('\\') && is_tame && !content.chars().any(char::is_control) {
        return format!("r\"{content}\"");
    }
    let mut out = String::from("\"");
    let mut characters = content.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '#' if characters.peek() == Some(&'{') => out.push_str("\\#"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A text of several lines, as a block of them.
pub(super) fn block(content: &str) -> String {
    let content = content.replace('\\', "\\\\").replace("\"\"\"", "\\\"\"\"").replace("#{", "\\#{");
    format!("\"\"\"\n{}\n\"\"\"", content.trim_end())
}

/// A text of several lines just as it is, but for empty ones around it.
pub(crate) fn raw_block(content: &str) -> String {
    let mut fence = "#".to_string();
    while content.contains(&format!("\"{fence}")) {
        fence.push('#');
    }
    format!("r{fence}\"\n{}\n\"{fence}", content.trim_end().trim_start_matches('\n'))
}

/// A number as Temblor reads it.
pub(super) fn number(written: &str) -> String {
    if written.contains('.') {
        let written = written.trim_end_matches('.');
        return if written.contains('.') { written.to_string() } else { format!("{written}.0") };
    }
    // Leading zeros are no octal numbers.
    let (sign, digits) = written.strip_prefix('-').map_or(("", written), |rest| ("-", rest));
    let digits = digits.trim_start_matches('0');
    match digits.parse::<u64>() {
        Ok(_) => format!("{sign}{digits}"),
        Err(_) if digits.is_empty() => "0".to_string(),
        Err(_) => format!("{sign}{digits}.0"),
    }
}

/// The field's value; fails the event when it is missing.
pub(super) fn field(reference: &FieldRef) -> String {
    let root = if reference.metadata { "$" } else { "event" };
    let is_index = |step: &str| step.parse::<i64>().is_ok();
    // A name in quotes cannot hold the quote, nor go over several lines.
    let is_odd = |step: &str| step.contains(['`', '\n', '\r']);
    if reference.steps.iter().any(|step| is_index(step) || is_odd(step)) {
        let step = |step: &str| if is_index(step) { step.to_string() } else { text(step) };
        let steps: Vec<_> = reference.steps.iter().map(|one| step(one)).collect();
        return format!("logstash::get({root}, [{}])", steps.join(", "));
    }
    let mut out = root.to_string();
    for step in &reference.steps {
        match (is_plain(step), out == "$") {
            (true, true) => out.push_str(step),
            (true, false) => {
                let _ = write!(out, ".{step}");
            }
            (false, true) => {
                let _ = write!(out, "`{step}`");
            }
            (false, false) => {
                let _ = write!(out, "[{}]", text(step));
            }
        }
    }
    out
}

/// The field's value, or null.
pub(crate) fn field_or_null(reference: &FieldRef) -> String {
    match field(reference) {
        call if call.starts_with("logstash::") => call,
        path => format!("{path} ?? null"),
    }
}

/// A setting; long lists and records go over several lines, `indent` deep.
pub(super) fn setting(setting: &Setting, indent: usize) -> String {
    let short = on_one_line(setting);
    if short.len() + indent <= WIDTH {
        return short;
    }
    let inner = " ".repeat(indent + 2);
    let outer = " ".repeat(indent);
    match &setting.kind {
        SettingKind::List(items) if !items.is_empty() => {
            let items: Vec<_> = items
                .iter()
                .map(|item| format!("{inner}{}", self::setting(item, indent + 2)))
                .collect();
            format!("[\n{}\n{outer}]", items.join(",\n"))
        }
        SettingKind::Hash(entries) if !entries.is_empty() => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| {
                    format!("{inner}{}: {}", text(key), self::setting(value, indent + 2))
                })
                .collect();
            format!("{{\n{}\n{outer}}}", entries.join(",\n"))
        }
        _ => short,
    }
}

fn on_one_line(setting: &Setting) -> String {
    match &setting.kind {
        SettingKind::Text(word) if word == "true" || word == "false" => word.clone(),
        SettingKind::Text(content) => text(content),
        SettingKind::Number(written) => number(written),
        SettingKind::List(items) => {
            let items: Vec<_> = items.iter().map(on_one_line).collect();
            format!("[{}]", items.join(", "))
        }
        SettingKind::Hash(entries) => {
            let entry =
                |(key, value): &(String, Setting)| format!("{}: {}", text(key), on_one_line(value));
            let entries: Vec<_> = entries.iter().map(entry).collect();
            if entries.is_empty() {
                "{}".to_string()
            } else {
                format!("{{ {} }}", entries.join(", "))
            }
        }
        SettingKind::Codec(plugin) => text(&plugin.name.text),
    }
}
