//! Dictionaries in files: JSON objects, two columns of CSV, and YAML maps. Lines of `key: value` are read
//! one by one, which is fastest for long lists; whatever else there is goes to the reader of all YAML.

use crate::logstash::datum::Datum;
use crate::logstash::options::{Setting, SettingKind};
use temblor_lang::span::Span;
use temblor_lang::value::Arena;

/// Files larger than this are refused.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// A key and what stands for it.
pub(super) type Entry = (String, Setting);
type Entries = Vec<Entry>;

/// Reads a dictionary; all values get `span`. The error is a sentence about the file.
pub(super) fn read(path: &str, span: Span) -> Result<Entries, String> {
    let failed = |error: std::io::Error| format!("{path}: {error}");
    if std::fs::metadata(path).map_err(failed)?.len() > FILE_BYTES_MAX {
        return Err(format!("{path}: larger than {FILE_BYTES_MAX} bytes"));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lower = path.to_lowercase();
    if lower.ends_with(".json") {
        return json(text, span).ok_or_else(|| format!("{path}: is no JSON object"));
    }
    if lower.ends_with(".csv") {
        return csv(text, span).map_err(|line| format!("{path}: line {line} has no two columns"));
    }
    if lower.ends_with(".yml") || lower.ends_with(".yaml") {
        return yaml(text, span).or_else(|line| {
            whole_yaml(text, span)
                .ok_or_else(|| format!("{path}: line {line} is no `key: value` of a map"))
        });
    }
    Err(format!("{path}: a dictionary ends in .yml, .yaml, .json or .csv"))
}

fn json(text: &str, span: Span) -> Option<Entries> {
    let arena = Arena::new();
    match crate::logstash::filter::json::read(text, &arena)? {
        Datum::Map(map) => {
            Some(map.iter().map(|(key, value)| (key.to_string(), setting(value, span))).collect())
        }
        _ => None,
    }
}

fn setting(value: &Datum<'_>, span: Span) -> Setting {
    let kind = match value {
        Datum::Int(_) | Datum::UInt(_) | Datum::Float(_) => SettingKind::Number(value.text()),
        Datum::List(items) => {
            SettingKind::List(items.iter().map(|item| setting(item, span)).collect())
        }
        Datum::Map(map) => SettingKind::Hash(
            map.iter().map(|(key, value)| (key.to_string(), setting(value, span))).collect(),
        ),
        other => SettingKind::Text(other.text()),
    };
    Setting { span, kind }
}

fn csv(text: &str, span: Span) -> Result<Entries, usize> {
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (key, rest) = csv_value(line).ok_or(number + 1)?;
        let rest = rest.strip_prefix(',').ok_or(number + 1)?;
        let (value, _) = csv_value(rest).ok_or(number + 1)?;
        entries.push((key, Setting { span, kind: SettingKind::Text(value) }));
    }
    Ok(entries)
}

/// The first value of a line, and what follows it.
fn csv_value(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find(',').unwrap_or(text.len());
        return Some((text[..end].to_string(), &text[end..]));
    };
    let mut value = String::new();
    loop {
        let (part, after) = rest.split_once('"')?;
        value.push_str(part);
        match after.strip_prefix('"') {
            Some(after) => {
                value.push('"');
                rest = after;
            }
            None => return Some((value, after)),
        }
    }
}

/// A map of any depth.
fn whole_yaml(text: &str, span: Span) -> Option<Entries> {
    let arena = Arena::new();
    let value = temblor_stdlib::formats::yaml::parse(text, &arena).ok()?;
    match Datum::from_value(value, &arena) {
        Datum::Map(map) => {
            Some(map.iter().map(|(key, value)| (key.to_string(), setting(value, span))).collect())
        }
        _ => None,
    }
}

/// A map of one level. Deeper maps, anchors and block texts are beyond this reader.
fn yaml(text: &str, span: Span) -> Result<Entries, usize> {
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let plain = line.trim_end();
        if plain.is_empty() || plain.starts_with(['#', '%']) || plain == "---" || plain == "..." {
            continue;
        }
        let (key, rest) = yaml_scalar(plain, true).ok_or(number + 1)?;
        let rest = rest.trim_start().strip_prefix(':').ok_or(number + 1)?;
        entries.push((key, yaml_value(rest.trim_start(), span).ok_or(number + 1)?));
    }
    Ok(entries)
}

fn yaml_value(text: &str, span: Span) -> Option<Setting> {
    if let Some(inside) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        let items = inside.split(',').map(|item| yaml_value(item.trim(), span));
        return Some(Setting { span, kind: SettingKind::List(items.collect::<Option<_>>()?) });
    }
    // No plain scalar begins with these (YAML 1.2.2, 7.3.3).
    if text.starts_with(['&', '*', '|', '>', '{', '}', '[', ']', ',', '!', '%', '@', '`']) {
        return None;
    }
    let quoted = text.starts_with(['"', '\'']);
    let (value, rest) = yaml_scalar(text, false)?;
    if !rest.is_empty() && !rest.trim_start().starts_with('#') {
        return None;
    }
    let number =
        !quoted && value.parse::<f64>().is_ok() && value.ends_with(|c: char| c.is_ascii_digit());
    let kind = if number { SettingKind::Number(value) } else { SettingKind::Text(value) };
    Some(Setting { span, kind })
}

/// A scalar and what follows it. A plain key ends at `: `, a plain value at ` #`.
fn yaml_scalar(text: &str, key: bool) -> Option<(String, &str)> {
    match text.chars().next() {
        Some('\'') => {
            let mut rest = &text[1..];
            let mut value = String::new();
            loop {
                let (part, after) = rest.split_once('\'')?;
                value.push_str(part);
                match after.strip_prefix('\'') {
                    Some(after) => {
                        value.push('\'');
                        rest = after;
                    }
                    None => return Some((value, after)),
                }
            }
        }
        Some('"') => {
            let mut value = String::new();
            let mut characters = text[1..].char_indices();
            while let Some((at, character)) = characters.next() {
                match character {
                    '"' => return Some((value, &text[at + 2..])),
                    '\\' => match characters.next()?.1 {
                        'n' => value.push('\n'),
                        't' => value.push('\t'),
                        other => value.push(other),
                    },
                    other => value.push(other),
                }
            }
            None
        }
        _ if key => {
            if text.starts_with([' ', '-', '?']) {
                return None;
            }
            let end = match text.find(": ") {
                Some(end) => end,
                None => text.strip_suffix(':')?.len(),
            };
            Some((text[..end].trim_end().to_string(), &text[end..]))
        }
        _ => {
            let end = text.find(" #").unwrap_or(text.len());
            Some((text[..end].trim_end().to_string(), &text[end..]))
        }
    }
}
