//! Cases recorded from a real Logstash, run through the filters here. A case counts only when every
//! event that comes out is the same, field by field.

use crate::recorded;

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use temblor_lang::diagnostic::{Colour, render_all};
use temblor_lang::value::Arena;
use temblor_logstash::load::Loaded;
use temblor_logstash::settings::{Ecs, Settings};
use temblor_logstash_event::datum::{Datum, iso8601};
use temblor_logstash_event::event::LogEvent;

/// The share of cases that must agree.
const AGREEMENT_MIN: f64 = 0.98;

/// Cases that do not agree: file, lines, and why.
const EXCEPTIONS: &[(&str, &[usize], &str)] = &[
    ("filter-date", &[14, 15], "recorded with an event that the test had cancelled before"),
    ("filter-grok", &[2, 5], "no pattern takes that long here"),
    ("filter-grok", &[28, 29], "recorded with a pattern that the test had replaced"),
    ("filter-kv", &[34, 35, 36], "no pattern takes that long here"),
    ("filter-kv", &[38, 39], "recorded with an error that the test had put in"),
    ("filter-mutate", &[41, 51], "a float whose fraction the record has lost"),
];

fn datum<'a>(value: &Value, arena: &'a Arena) -> Datum<'a> {
    match value {
        Value::Null => Datum::Null,
        Value::Bool(value) => Datum::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Datum::Int(number),
            (_, Some(number)) => Datum::UInt(number),
            _ => Datum::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Datum::Str(arena.str(text)),
        Value::Array(items) => Datum::List(items.iter().map(|item| datum(item, arena)).collect()),
        Value::Object(fields) => Datum::Map(
            fields.iter().map(|(key, value)| (arena.str(key), datum(value, arena))).collect(),
        ),
    }
}

fn json(datum: &Datum<'_>) -> Value {
    match datum {
        Datum::Null => Value::Null,
        Datum::Bool(value) => Value::Bool(*value),
        Datum::Int(number) => (*number).into(),
        Datum::UInt(number) => (*number).into(),
        Datum::Float(number) => (*number).into(),
        Datum::Str(text) => Value::String((*text).to_string()),
        Datum::Time(time) => Value::String(iso8601(*time)),
        Datum::List(items) => Value::Array(items.iter().map(json).collect()),
        Datum::Map(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.to_string(), json(value))).collect())
        }
    }
}

/// Runs a configuration over events.
fn run(config: &str, settings: &Settings, inputs: &[Value]) -> Result<Vec<Value>, String> {
    let mut loaded = Loaded::default();
    loaded.add("case", config.to_string());
    let program = loaded.program(settings);
    if !loaded.diagnostics.is_empty() {
        return Err(render_all(&loaded.diagnostics, &loaded.sources, Colour::Off));
    }
    let arena = Arena::new();
    let mut state = program.start();
    let now = chrono::DateTime::from(std::time::SystemTime::now());
    let mut outputs = Vec::new();
    for input in inputs {
        let Datum::Map(data) = datum(input, &arena) else { return Err("no event".to_string()) };
        let mut events = vec![LogEvent::new(data, now)];
        program.run(&mut events, &mut state, &arena, now);
        outputs.extend(events.into_iter().map(|event| json(&Datum::Map(event.data))));
    }
    Ok(outputs)
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The events of a case, and those that came out in Logstash. The last input is that of the case.
fn case(case: &Map<String, Value>, inputs: &[Value]) -> Result<(Vec<Value>, Vec<Value>), String> {
    let ecs = case["ecs"].as_str().and_then(Ecs::named).unwrap_or_default();
    let mut settings = Settings { ecs, ..Default::default() };
    if case["kind"] == "sample" {
        let config = case["config"].as_str().unwrap_or_default();
        let inputs = list(&case["input"]);
        if case["output"].is_null() {
            // Logstash refused the configuration.
            return match run(config, &settings, &inputs) {
                Ok(_) => Err("the configuration should have been refused".to_string()),
                Err(_) => Ok((Vec::new(), Vec::new())),
            };
        }
        return Ok((run(config, &settings, &inputs)?, list(&case["output"])));
    }
    settings.escapes = true;
    let config = recorded::configuration(case);
    let mut outputs = run(&config, &settings, inputs)?;
    // Earlier events of a sequence are there for the filter's memory alone.
    if inputs.len() > 1 {
        outputs = outputs.split_off(outputs.len() - 1);
    }
    let mut expected = Vec::new();
    if case["cancelled"] != true {
        expected.push(case["output"].clone());
    }
    expected.extend(list(&case["emitted"]));
    Ok((outputs, expected))
}

/// Numbers by value, fields by name, and times that a clock made left out.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(value.clone(), Value::from),
        Value::Array(items) => Value::Array(items.iter().map(normal).collect()),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| {
                let clock = key.as_str() == "@timestamp"
                    && value.as_str().is_some_and(|text| text.starts_with("2026-11-2"));
                !clock
            });
            // The order of fields does not count.
            let sorted: BTreeMap<String, Value> =
                kept.map(|(key, value)| (key.clone(), normal(value))).collect();
            Value::Object(sorted.into_iter().collect())
        }
        other => other.clone(),
    }
}

fn agrees(found: &[Value], expected: &[Value]) -> bool {
    let all = |events: &[Value]| {
        let mut texts: Vec<_> = events.iter().map(|event| normal(event).to_string()).collect();
        texts.sort();
        texts
    };
    all(found) == all(expected)
}

#[test]
fn agrees_with_a_real_logstash() {
    let folder = recorded::folder();
    let Ok(entries) = std::fs::read_dir(&folder) else {
        temblor_testing::skipped::for_want_of_recordings(&folder);
        return;
    };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let verbose = std::env::var("LOGSTASH_CASES").ok();
    let mut surprises = Vec::new();
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl")) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).unwrap();
        let mut sequence: Vec<Value> = Vec::new();
        let mut parameters = Value::Null;
        for (number, line) in text.lines().enumerate() {
            let value: Value = serde_json::from_str(line).unwrap();
            let recorded = value.as_object().unwrap();
            // A throttle counts: its cases follow each other up to a sample or to other options.
            let options = recorded.get("params").cloned().unwrap_or_default();
            if recorded.get("plugin").is_none_or(|plugin| plugin != "throttle")
                || options != parameters
            {
                sequence.clear();
            }
            parameters = options;
            sequence.push(recorded["input"].clone());
            let result = case(recorded, &sequence);
            let good = match &result {
                Ok((found, expected)) => agrees(found, expected),
                Err(_) => false,
            };
            let (agreeing, all) = counts.entry(name.clone()).or_default();
            *all += 1;
            *agreeing += usize::from(good);
            let listed = EXCEPTIONS
                .iter()
                .any(|(file, lines, _)| *file == name && lines.contains(&(number + 1)));
            if !good && !listed {
                surprises.push(format!("{name}:{}", number + 1));
            }
            if !good && verbose.as_deref().is_some_and(|wanted| name.contains(wanted)) {
                report(&name, number + 1, recorded, &result);
            }
        }
    }
    let mut agreeing = 0;
    let mut total = 0;
    for (name, (good, all)) in &counts {
        println!("{name:24} {good:4} of {all:4}");
        agreeing += good;
        total += all;
    }
    println!("{agreeing} of {total} agree");
    assert!(surprises.is_empty(), "these do not agree and are not listed: {surprises:?}");
    assert!(agreeing as f64 >= AGREEMENT_MIN * total as f64, "only {agreeing} of {total} agree");
}

type Outcome = Result<(Vec<Value>, Vec<Value>), String>;

fn report(name: &str, number: usize, case: &Map<String, Value>, result: &Outcome) {
    println!(
        "--- {name}:{number} {} {}",
        case["ecs"],
        case.get("params").or(case.get("config")).expect("every case has options or a text")
    );
    println!("    in       {}", case["input"]);
    match result {
        Err(reason) => println!("    {reason}"),
        Ok((found, expected)) => {
            println!("    found    {}", Value::Array(found.clone()));
            println!("    expected {}", Value::Array(expected.clone()));
        }
    }
}
