//! Formats that lines may be in as a whole, such as syslog, pairs and CSV, and lines that belong
//! together. Each is tried by the step that would run, on all lines.

use super::proposal::{Numbered, Proposal};
use super::setup::Setup;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use temblor_catalog::registry;
use temblor_codec::InputCodec;
use temblor_lang::lower::NoModules;
use temblor_lang::value::{Arena, JsonStyle, Value, to_json};
use temblor_pipeline::load::{Language, LoadOptions};
use temblor_pipeline::operator::{IN, OUT};
use temblor_pipeline::rehearsal::{Happening, Rehearsal};
use temblor_stdlib::formats::json;

/// Steps for formats that need no settings, and the fields that a line has at the least if it is of
/// the format.
const FORMATS: [(&str, usize); 7] = [
    ("parse syslog", 4),
    ("parse syslog with strict = false end", 5),
    ("parse cef", 4),
    ("parse leef", 4),
    ("parse influx", 3),
    ("parse logfmt", 2),
    ("parse kv", 2),
];
/// What may stand between pairs, beside a blank.
const PAIR_SPLITS: [char; 4] = [';', ',', '|', '&'];
/// What may stand between the columns of a line.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];
/// Columns of a line at the least, if it is CSV.
const COLUMNS_MIN: usize = 3;
/// Beginnings of events that may have further lines.
const STARTS: [&str; 8] = [
    "^%{TIMESTAMP_ISO8601}",
    "^\\[%{TIMESTAMP_ISO8601}",
    "^%{SYSLOGTIMESTAMP}",
    "^\\[%{HTTPDATE}",
    "^%{DATESTAMP}",
    "^\\[%{DATESTAMP}",
    "^%{LOGLEVEL}",
    "^\\[%{LOGLEVEL}",
];
/// Lines that continue what is before them, where nothing tells a beginning.
const CONTINUATIONS: [&str; 2] = ["^\\s", "^(\\s|Caused by:|\\.\\.\\.)"];

static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[A-Za-z_][\w .-]*$").expect("the expression is tested"));

/// The formats that most of the lines are in.
pub(crate) fn formats(lines: &[Numbered], setup: &Setup) -> Vec<Proposal> {
    let mut steps: Vec<(String, usize)> =
        FORMATS.iter().map(|(step, fields)| (step.to_string(), *fields)).collect();
    let is_there = |one: &char| lines.iter().all(|(_, line)| line.contains(*one));
    for split in PAIR_SPLITS.iter().filter(|one| is_there(one)) {
        steps.push((format!("parse kv with field_split = \"{split}\" end"), 2));
    }
    let tables = SEPARATORS.iter().filter(|one| is_there(one));
    steps.extend(tables.filter_map(|one| table(lines, *one)).map(|step| (step, COLUMNS_MIN)));
    let mut found: Vec<_> = steps
        .iter()
        .filter_map(|(step, fields)| tried(step, *fields, lines, setup))
        .filter(|one| one.missed.len() * 2 < lines.len())
        .collect();
    // What is read without leniency, or without settings, needs none.
    let strict = found.iter().any(|one| one.step == FORMATS[0].0 && one.missed.is_empty());
    found.retain(|one| !strict || one.step != FORMATS[1].0);
    let plain = found.iter().find(|one| one.step == "parse logfmt").map(|one| one.fields);
    found.retain(|one| !one.step.starts_with("parse kv") || plain.is_none_or(|n| one.fields > n));
    found
}

/// The step that reads lines with a separator, if all have the same number of columns.
fn table(lines: &[Numbered], separator: char) -> Option<String> {
    let rows: Vec<Vec<String>> = lines.iter().map(|(_, line)| cells(line, separator)).collect();
    let (first, others) = rows.split_first()?;
    if first.len() < COLUMNS_MIN || others.iter().any(|row| row.len() != first.len()) {
        return None;
    }
    let names: BTreeSet<&String> = first.iter().collect();
    let is_header = names.len() == first.len()
        && first.iter().all(|cell| NAME.is_match(cell))
        && others.iter().any(|row| row.iter().any(|cell| !NAME.is_match(cell)));
    let columns: Vec<String> = match is_header {
        true => first.clone(),
        false => (1..=first.len()).map(|number| format!("column{number}")).collect(),
    };
    let columns: Vec<_> = columns.iter().map(|name| to_json(Value::Str(name))).collect();
    let settings = match separator {
        ',' => String::new(),
        '\t' => " with separator = \"\\t\" end".to_string(),
        other => format!(" with separator = \"{other}\" end"),
    };
    Some(format!("parse csv columns [{}]{settings}", columns.join(", ")))
}

/// The parts of a line between separators outside of quotes.
fn cells(line: &str, separator: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for one in line.chars() {
        match one {
            '"' => quoted = !quoted,
            one if one == separator && !quoted => cells.push(String::new()),
            one => cells.last_mut().expect("there is one from the start").push(one),
        }
    }
    cells
}

/// How a step fares on lines; `None` when it cannot be compiled.
fn tried(step: &str, fields: usize, lines: &[Numbered], setup: &Setup) -> Option<Proposal> {
    let mut rehearsal = rehearsal(step, setup)?;
    let (mut missed, mut most) = (Vec::new(), 0);
    for (number, line) in lines {
        setup.refill();
        let happenings = rehearsal.send(IN, InputCodec::String, line.as_bytes())?;
        let count = happenings.iter().filter_map(output).map(size).max().unwrap_or(0);
        most = most.max(count);
        if count < fields {
            missed.push(*number);
        }
    }
    Some(Proposal { step: step.to_string(), pattern: None, missed, fields: most, events: None })
}

fn rehearsal(step: &str, setup: &Setup) -> Option<Rehearsal> {
    let (name, text) = ("<proposal>", step.to_string());
    let budget = setup.budget.clone();
    let options = LoadOptions { budget: Some(budget.clone()), ..LoadOptions::new(registry()) };
    let loaded = options.compile(name, text, Language::Temblor, &NoModules);
    if loaded.has_errors() {
        return None;
    }
    let rehearsal = Rehearsal::new(loaded.graph, loaded.sources, JsonStyle::Compact);
    Some(rehearsal.bounded_by(budget))
}

fn output(happening: &Happening) -> Option<&str> {
    match happening {
        Happening::Output { port, data, .. } if port == OUT => Some(data),
        _ => None,
    }
}

/// Number of fields of a record.
fn size(data: &str) -> usize {
    let arena = Arena::new();
    let value = json::parse(data, &arena).unwrap_or(Value::Null);
    value.as_record(&arena).map_or(0, |record| record.iter().len())
}

/// The step that joins lines which belong together, and the joined texts, each with the number of its
/// first line; `None` where each line is an event.
pub(crate) fn joined(lines: &[Numbered], setup: &Setup) -> Option<(String, Vec<Numbered>)> {
    let is_indented = |line: &str| line.starts_with([' ', '\t']);
    let indented = lines.iter().filter(|(_, line)| is_indented(line)).count();
    if indented == 0 || lines.first().is_none_or(|(_, first)| is_indented(first)) {
        return None;
    }
    let quoted = |pattern: &str| to_json(Value::Str(pattern));
    let starts = STARTS.iter().map(|one| format!("join {} mode start", quoted(one)));
    let continued = CONTINUATIONS.iter().map(|one| format!("join {}", quoted(one)));
    let mut best: Option<(String, Vec<Numbered>)> = None;
    for step in starts.chain(continued) {
        let Some(events) = join(&step, lines, setup) else { continue };
        // One event of all lines says nothing; an event that begins with a blank is torn off.
        let is_whole = |events: &[Numbered]| !events.iter().any(|(_, text)| is_indented(text));
        let joins = events.len() > 1 && events.len() < lines.len() && is_whole(&events);
        if joins && best.as_ref().is_none_or(|(_, known)| events.len() < known.len()) {
            let is_start = step.ends_with("start");
            best = Some((step, events));
            if is_start {
                break;
            }
        }
    }
    best
}

fn join(step: &str, lines: &[Numbered], setup: &Setup) -> Option<Vec<Numbered>> {
    let mut rehearsal = rehearsal(step, setup)?;
    let mut texts = Vec::new();
    for (_, line) in lines {
        setup.refill();
        texts.extend(rehearsal.send(IN, InputCodec::String, line.as_bytes())?);
    }
    texts.extend(rehearsal.flush());
    let mut at = 0;
    let mut events = Vec::new();
    for data in texts.iter().filter_map(output) {
        let arena = Arena::new();
        let text = json::parse(data, &arena).ok()?.as_str()?.to_string();
        let number = lines.get(at)?.0;
        at += text.split('\n').count();
        events.push((number, text));
    }
    Some(events)
}
