//! Values as a person wants to see them: in one of several layouts, or as what changed.

use temblor_lang::diagnostic::Colour;
use temblor_lang::value::{Arena, JsonStyle, Owned, Value, equal, push_json, push_text, to_json};

/// Characters of a text that are shown in one line.
const TITLE_CHARS_MAX: usize = 60;

/// How values are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// JSON in one line.
    Json,
    /// JSON over several lines.
    Pretty,
    /// `key=value`
    Logfmt,
    /// A line for each field.
    Table,
    /// Only what differs from the sample.
    Changes,
}

impl Mode {
    /// The mode with this name.
    #[must_use]
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "json" => Mode::Json,
            "pretty" => Mode::Pretty,
            "logfmt" => Mode::Logfmt,
            "table" => Mode::Table,
            "changes" => Mode::Changes,
            _ => return None,
        })
    }
}

pub(crate) fn paint(colour: Colour, code: &str, text: &str) -> String {
    match colour {
        Colour::On => format!("\x1b[{code}m{text}\x1b[0m"),
        Colour::Off => text.to_string(),
    }
}

/// A value in a mode; `before` is the sample.
pub(crate) fn value(value: &Owned, before: &Owned, mode: Mode, colour: Colour) -> String {
    let arena = Arena::new();
    let shown = value.read(&arena);
    let record = shown.as_record(&arena);
    let text = match (mode, record) {
        (Mode::Changes, Some(_)) => return difference(before, value, colour),
        (Mode::Logfmt, Some(record)) => {
            let fields: Vec<_> =
                record.iter().map(|(key, value)| format!("{key}={}", quoted(value))).collect();
            fields.join(" ")
        }
        (Mode::Table, Some(record)) => {
            let width = record.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
            let line = |(key, value): (&str, Value<'_>)| {
                format!("{} {}", paint(colour, "36", &format!("{key:width$}")), to_json(value))
            };
            record.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        (Mode::Json, _) => to_json(shown),
        _ => pretty(shown),
    };
    format!("{text}\n")
}

fn pretty(value: Value<'_>) -> String {
    let mut bytes = Vec::new();
    push_json(&mut bytes, value, JsonStyle::Pretty);
    String::from_utf8(bytes).expect("JSON output is UTF-8")
}

/// A value of logfmt: in quotes when it would not be read as one word.
fn quoted(value: Value<'_>) -> String {
    let mut bytes = Vec::new();
    push_text(&mut bytes, value);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let is_word = !text.is_empty() && !text.contains([' ', '"', '=', '\n']);
    if is_word { text } else { to_json(Value::Str(&text)) }
}

/// What was added, removed and changed, a line for each field.
pub(crate) fn difference(before: &Owned, after: &Owned, colour: Colour) -> String {
    let arena = Arena::new();
    let mut lines = Vec::new();
    compare("event", before.read(&arena), after.read(&arena), &arena, &mut lines);
    if lines.is_empty() {
        return "nothing changed\n".to_string();
    }
    let painted = lines.iter().map(|line| match line.as_bytes().first() {
        Some(b'+') => paint(colour, "32", line),
        Some(b'-') => paint(colour, "31", line),
        _ => paint(colour, "33", line),
    });
    painted.map(|line| format!("{line}\n")).collect()
}

fn compare<'a>(
    path: &str,
    before: Value<'a>,
    after: Value<'a>,
    arena: &'a Arena,
    lines: &mut Vec<String>,
) {
    if let (Some(old), Some(new)) = (before.as_record(arena), after.as_record(arena)) {
        for (key, value) in old.iter() {
            let inner = format!("{path}.{key}");
            match new.get(key) {
                Some(now) => compare(&inner, value, now, arena, lines),
                None => lines.push(format!("- {inner}: {}", to_json(value))),
            }
        }
        for (key, value) in new.iter().filter(|(key, _)| old.get(key).is_none()) {
            lines.push(format!("+ {path}.{key}: {}", to_json(value)));
        }
        return;
    }
    let (old, new) = (before.kind(), after.kind());
    if old == new && equal(before, after) {
        return;
    }
    let kinds =
        if old == new { String::new() } else { format!(" ({} -> {})", old.name(), new.name()) };
    lines.push(format!("~ {path}: {} -> {}{kinds}", to_json(before), to_json(after)));
}

/// A line of coverage: what was missed stands out.
pub(crate) fn branch_line(line: &str, colour: Colour) -> String {
    let is_missed = line.starts_with("not reached");
    if is_missed { paint(colour, "31", line) } else { line.to_string() }
}

/// A text in one line, not too long.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
