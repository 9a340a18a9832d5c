//! Dictionaries in files: JSON objects, two columns of CSV, and YAML maps. Lines of `key: value` are read
//! one by one, which is fastest for long lists; whatever else there is goes to the reader of all YAML.

use crate::filter::Added;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;

/// Files larger than this are refused.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// A key and what stands for it.
pub(super) type Entry = (String, Added);
type Entries = Vec<Entry>;

/// Reads a dictionary. The error is a sentence about the file.
pub(super) fn read(path: &str) -> Result<Entries, String> {
    let failed = |error: std::io::Error| format!("{path}: {error}");
    if std::fs::metadata(path).map_err(failed)?.len() > FILE_BYTES_MAX {
        return Err(format!("{path}: larger than {FILE_BYTES_MAX} bytes"));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lower = path.to_lowercase();
    if lower.ends_with(".json") {
        return json(text).ok_or_else(|| format!("{path}: is no JSON object"));
    }
    if lower.ends_with(".csv") {
        return csv(text).map_err(|line| format!("{path}: line {line} has no two columns"));
    }
    if lower.ends_with(".yml") || lower.ends_with(".yaml") {
        return yaml(text).or_else(|line| {
            whole_yaml(text)
                .ok_or_else(|| format!("{path}: line {line} is no `key: value` of a map"))
        });
    }
    Err(format!("{path}: a dictionary ends in .yml, .yaml, .json or .csv"))
}

fn json(text: &str) -> Option<Entries> {
    let arena = Arena::new();
    of_map(&crate::filter::json::read(text, &arena)?)
}

/// The entries of a map.
fn of_map(value: &Datum<'_>) -> Option<Entries> {
    let Datum::Map(map) = value else { return None };
    Some(map.iter().map(|(key, value)| (key.to_string(), Added::read(value))).collect())
}

fn csv(text: &str) -> Result<Entries, usize> {
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (key, rest) = csv_value(line).ok_or(number + 1)?;
        let rest = rest.strip_prefix(',').ok_or(number + 1)?;
        let (value, _) = csv_value(rest).ok_or(number + 1)?;
        entries.push((key, Added::Fixed(value)));
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
fn whole_yaml(text: &str) -> Option<Entries> {
    let arena = Arena::new();
    let value = temblor_stdlib::formats::yaml::parse(text, &arena).ok()?;
    of_map(&Datum::from_value(value, &arena))
}

/// A map of one level. Deeper maps, anchors and block texts are beyond this reader.
fn yaml(text: &str) -> Result<Entries, usize> {
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let plain = line.trim_end();
        if plain.is_empty() || plain.starts_with(['#', '%']) || plain == "---" || plain == "..." {
            continue;
        }
        let (key, rest) = yaml_scalar(plain, true).ok_or(number + 1)?;
        let rest = rest.trim_start().strip_prefix(':').ok_or(number + 1)?;
        entries.push((key, yaml_value(rest.trim_start()).ok_or(number + 1)?));
    }
    Ok(entries)
}

fn yaml_value(text: &str) -> Option<Added> {
    if let Some(inside) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        let items = inside.split(',').map(|item| yaml_value(item.trim()));
        return Some(Added::List(items.collect::<Option<_>>()?));
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
    let typed = if quoted { None } else { plain(&value) };
    Some(typed.map_or(Added::Fixed(value), Added::Constant))
}

/// What a scalar without quotes stands for when it is no text (YAML 1.1, which Ruby reads).
fn plain(text: &str) -> Option<Datum<'static>> {
    match text.to_ascii_lowercase().as_str() {
        "" | "~" | "null" => return Some(Datum::Null),
        "true" | "yes" | "on" => return Some(Datum::Bool(true)),
        "false" | "no" | "off" => return Some(Datum::Bool(false)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match unsigned.split_once('.') {
        Some((whole, fraction))
            if digits(whole) && fraction.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            text.parse().ok().map(Datum::Float)
        }
        Some(_) => None,
        // A zero in front says that the number is octal.
        None if digits(unsigned) && unsigned.len() > 1 && unsigned.starts_with('0') => {
            let size = i64::from_str_radix(unsigned, 8).ok()?;
            Some(Datum::Int(if text.starts_with('-') { -size } else { size }))
        }
        None if digits(unsigned) => text.parse().ok().map(Datum::Int),
        None => None,
    }
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
                    '\\' => value.push(escaped(&mut characters)?),
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

/// The character that an escape stands for (YAML 1.2.2, 5.7); nothing for one that is rare.
fn escaped(characters: &mut std::str::CharIndices<'_>) -> Option<char> {
    let digits = match characters.next()?.1 {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        other @ ('"' | '\\' | '/' | ' ') => return Some(other),
        'x' => 2,
        'u' => 4,
        _ => return None,
    };
    let number = (0..digits).try_fold(0, |number, _| {
        let digit = characters.next()?.1.to_digit(16)?;
        Some(number * 16 + digit)
    })?;
    char::from_u32(number)
}
