//! Every case of Logstash there is, converted: the cases below `spec/logstash` and those recorded from a
//! real Logstash. What the report calls exact must do the same to every event as the configuration does.

use crate::recorded;

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use temblor_casebook::file::{Case, CaseFile, Section};
use temblor_casebook::run::{DIAGNOSTICS, INPUT, OUTPUT, update};
use temblor_catalog::registry;
use temblor_logstash::convert::report::Coverage;
use temblor_logstash::convert::{Conversion, Wishes, convert};
use temblor_logstash::load::of_text;
use temblor_logstash::settings::{Ecs, Settings};
use temblor_pipeline::load::LoadOptions;

/// The share of cases that a conversion must say exactly.
const EXACT_MIN: f64 = 0.9;

/// Filters that give something else every time.
const BY_CHANCE: &[&str] = &["uuid", "percentage => 50", "UUID", "TIME_NOW", "Time.now", "rand"];

/// What became of cases.
#[derive(Debug, Default)]
struct Tally {
    /// Whether filters stay the steps that have their names.
    exact: bool,
    /// By coverage: cases, and those whose events are the same.
    counts: BTreeMap<&'static str, (usize, usize)>,
    /// Cases that are called exact and differ.
    faults: Vec<String>,
}

/// A case with this program, and what comes out of it; nothing when it has errors.
fn played(case: &Case, kind: &str, program: String) -> Result<String, String> {
    let keeps = |one: &&Section| one.name != DIAGNOSTICS && one.name != OUTPUT;
    let mut copy = Case {
        kind: kind.to_string(),
        name: case.name.clone(),
        head: String::new(),
        line: case.line,
        program,
        sections: case.sections.iter().filter(keeps).cloned().collect(),
    };
    update(&mut copy, Path::new("."), &LoadOptions::new(registry()))
        .map_err(|error| error.to_string())?;
    let said = copy.section(DIAGNOSTICS).unwrap_or_default();
    if said.lines().any(|line| line.split(' ').nth(1).is_some_and(|code| code.starts_with('E'))) {
        return Err(said.to_string());
    }
    // An event that is not there is not there, however it is said.
    let out = copy.section(OUTPUT).unwrap_or_default().lines();
    let kept = out.filter(|line| *line != "(dropped)");
    // What failed has failed, whoever says so.
    let said = |line: &str| {
        if line.starts_with("error: ") { "error\n".into() } else { format!("{line}\n") }
    };
    Ok(kept.map(said).collect())
}

/// The settings of the kind of a case, `logstash v1 escapes`.
fn settings(kind: &str) -> Settings {
    let mut settings = Settings::default();
    for word in kind.split_whitespace().skip(1) {
        settings.ecs = Ecs::named(word).unwrap_or(settings.ecs);
        settings.escapes |= word == "escapes";
    }
    settings
}

impl Tally {
    /// Converts a case, runs both and compares.
    fn add(&mut self, place: &str, case: &Case) {
        if BY_CHANCE.iter().any(|word| case.program.contains(word)) {
            return;
        }
        let Ok(expected) = played(case, &case.kind, case.program.clone()) else { return };
        let read = of_text("case", case.program.clone(), &settings(&case.kind));
        let wishes = Wishes { title: "case", stdin: true, stdout: true, exact: self.exact };
        let Conversion { text, report } = convert(&read, wishes);
        let worst = report.blocks.iter().map(|block| block.coverage).max();
        let worst = worst.unwrap_or(Coverage::Exact);
        let found = played(case, "program", text.clone());
        let same = found.as_ref() == Ok(&expected);
        let (all, agree) = self.counts.entry(worst.key()).or_default();
        *all += 1;
        *agree += usize::from(same);
        if worst != Coverage::Exact && !same {
            println!("{place}: {} is called {} and differs", case.name, worst.words());
        }
        if worst == Coverage::Exact && !same {
            let found = found.unwrap_or_else(|error| error);
            self.faults.push(format!(
                "{place}: {}\n{}\n{text}\nexpected {expected}\nfound    {found}",
                case.name, case.program
            ));
        }
    }

    fn check(&self) {
        let all: usize = self.counts.values().map(|(all, _)| all).sum();
        let (exact, agree) = self.counts.get(Coverage::Exact.key()).copied().unwrap_or_default();
        println!("{all} cases: {:?} (cases, and those that agree)", self.counts);
        let faults = self.faults.join("\n\n");
        assert!(agree == exact, "{} of {exact} differ:\n\n{faults}", exact - agree);
        assert!(exact as f64 >= all as f64 * EXACT_MIN, "only {exact} of {all} are exact");
    }
}

#[test]
fn spec_cases_do_as_their_conversions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/logstash");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut tallies = [true, false].map(|exact| Tally { exact, ..Tally::default() });
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "txt")) {
        let text = std::fs::read_to_string(file).unwrap();
        for case in CaseFile::read(&text).cases {
            let is_run = case.kind.starts_with("logstash") && case.section(INPUT).is_some();
            if is_run {
                let place = format!("{}:{}", file.display(), case.line);
                tallies.iter_mut().for_each(|tally| tally.add(&place, &case));
            }
        }
    }
    tallies.iter().for_each(Tally::check);
}

/// A recorded case as one of this repository.
fn case_of(record: &Map<String, Value>, line: usize) -> Option<Case> {
    let ecs = record["ecs"].as_str().unwrap_or("v8");
    let inputs = match &record["input"] {
        Value::Array(inputs) => inputs.clone(),
        input => vec![input.clone()],
    };
    let (kind, program) = if record["kind"] == "sample" {
        (format!("logstash {ecs}"), record["config"].as_str()?.to_string())
    } else {
        (format!("logstash {ecs} escapes"), recorded::configuration(record))
    };
    let text = inputs.iter().map(|input| format!("{input}\n")).collect();
    let sections = vec![Section { name: INPUT.to_string(), line, text }];
    let name = format!("recorded {line}");
    Some(Case { kind, name, head: String::new(), line, program, sections })
}

#[test]
fn recorded_cases_do_as_their_conversions() {
    let folder = recorded::folder();
    let Ok(entries) = std::fs::read_dir(&folder) else {
        temblor_testing::skipped::for_want_of_recordings(&folder);
        return;
    };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut tallies = [true, false].map(|exact| Tally { exact, ..Tally::default() });
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl")) {
        let text = std::fs::read_to_string(file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let Ok(Value::Object(record)) = serde_json::from_str(line) else { continue };
            if let Some(case) = case_of(&record, number + 1) {
                let place = format!("{}:{}", file.display(), number + 1);
                tallies.iter_mut().for_each(|tally| tally.add(&place, &case));
            }
        }
    }
    tallies.iter().for_each(Tally::check);
}
