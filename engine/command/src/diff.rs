//! `temblor diff`: runs a Logstash configuration and a program, another configuration, or what a Logstash
//! has written, side by side over samples, and shows where events differ. Both sides get the same clock.

use super::ends;
use super::logstash::EcsArg;
use clap::Args;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use temblor_catalog::registry;
use temblor_codec::InputCodec;
use temblor_lang::value::{Arena, JsonStyle};
use temblor_logstash::configuration::{self, Wishes};
use temblor_logstash::settings::Settings;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_pipeline::load::{self, LoadOptions};
use temblor_pipeline::operator::IN;
use temblor_pipeline::rehearsal::{Happening, Rehearsal};
use temblor_stdlib::formats::json;

/// Exit code when both sides give the same.
const SAME: u8 = 0;
/// Exit code when they differ.
const DIFFERENT: u8 = 1;
/// Exit code when one of them cannot be run.
const TROUBLE: u8 = 2;
/// Nanoseconds between two samples.
const STEP_NS: u64 = 1_000_000_000;
/// Differences that are shown unless the user wants all.
const SHOWN_MAX: usize = 20;

/// What can be typed behind `temblor diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Logstash configuration: a file, a folder of files, or pipelines.yml
    #[arg(long, value_name = "PATH")]
    logstash: PathBuf,
    /// The other side: a Temblor program, another configuration (.conf, .yml, a folder), or recorded
    /// events (.json, .ndjson, .jsonl, .log)
    #[arg(long, value_name = "FILE")]
    with: PathBuf,
    /// Samples, one a line; for both sides those of their first source
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// How samples are read where a side does not say
    #[arg(long, value_name = "CODEC", default_value = "json", value_parser = ends::reading())]
    codec: InputCodec,
    /// A field that does not count, such as @timestamp or [host][name]; may be repeated
    #[arg(long, value_name = "FIELD")]
    ignore: Vec<String>,
    /// Show all differences
    #[arg(long)]
    all: bool,
    /// Samples take the place of the inputs of configurations
    #[arg(long)]
    stdin: bool,
    /// Events count as they reach the outputs, however these would write them
    #[arg(long)]
    stdout: bool,
    /// Field names of Logstash plugins after the Elastic Common Schema
    #[arg(long, value_enum, default_value_t)]
    ecs: EcsArg,
    /// Read backslash escapes in the texts of the configuration
    #[arg(long)]
    support_escapes: bool,
}

/// Compares; gives the exit code.
pub(crate) fn diff(args: &DiffArgs) -> u8 {
    match compare(args) {
        Ok(true) => SAME,
        Ok(false) => DIFFERENT,
        Err(reason) => {
            eprintln!("error: {reason}");
            TROUBLE
        }
    }
}

/// What came of each sample, and at last of the end of the input.
type Outcomes = Vec<Vec<String>>;

/// A program that gets samples.
struct Side {
    rehearsal: Rehearsal,
    port: String,
    codec: InputCodec,
}

fn compare(args: &DiffArgs) -> Result<bool, String> {
    let ignored = args.ignore.iter().map(|text| {
        FieldRef::parse(text).map_err(|reason| format!("`{text}` is no field: {reason}"))
    });
    let ignored: Vec<FieldRef> = ignored.collect::<Result<_, _>>()?;
    let samples = read(&args.input)?;
    let samples: Vec<&str> = samples.lines().collect();
    let events = run(configured(args, &args.logstash, true)?, &samples, &ignored);
    let ending = args.with.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    if matches!(ending.as_deref(), Some("json" | "ndjson" | "jsonl" | "log")) {
        let recorded = read(&args.with)?;
        let lines = recorded.lines().filter(|line| !line.trim().is_empty());
        let recorded: Outcomes = lines.map(|line| vec![plain(line, &ignored)]).collect();
        let flat: Outcomes = events.into_iter().flatten().map(|one| vec![one]).collect();
        return Ok(report(&flat, &recorded, &[], args));
    }
    if matches!(ending.as_deref(), Some("conf" | "yml" | "yaml")) || args.with.is_dir() {
        let other = run(configured(args, &args.with, true)?, &samples, &ignored);
        return Ok(report(&events, &other, &samples, args));
    }
    let written = run(configured(args, &args.logstash, args.stdout)?, &samples, &ignored);
    let other = run(programmed(args)?, &samples, &ignored);
    // Some programs write events as Logstash's outputs do, others leave that to their sinks.
    let count = |left: &Outcomes| left.iter().zip(&other).filter(|(a, b)| a != b).count();
    let left = if count(&written) < count(&events) { &written } else { &events };
    Ok(report(left, &other, &samples, args))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The configuration, with its own outputs or with the events that reach them.
fn configured(args: &DiffArgs, path: &Path, stdout: bool) -> Result<Side, String> {
    let ecs = args.ecs.into();
    let connectors = Some(registry());
    let escapes = args.support_escapes;
    let settings = Settings { ecs, escapes, connectors, ..Settings::of_environment() };
    let mut wishes = Wishes { settings, stdin: args.stdin, stdout };
    let mut found = configuration::load(path, &wishes)?;
    if found.loaded.endpoints.sources.is_empty() {
        wishes.stdin = true;
        found = configuration::load(path, &wishes)?;
    }
    side(found.loaded, args)
}

fn programmed(args: &DiffArgs) -> Result<Side, String> {
    side(LoadOptions::new(registry()).file(&args.with)?, args)
}

fn side(loaded: load::Loaded, args: &DiffArgs) -> Result<Side, String> {
    if loaded.has_errors() {
        return Err(format!("a side cannot be run\n{}", loaded.report(false)));
    }
    let first = loaded.endpoints.sources.first();
    let (port, codec) = match first {
        Some(source) => (source.port.clone(), source.codec),
        None => (IN.to_string(), args.codec),
    };
    let rehearsal = Rehearsal::new(loaded.graph, loaded.sources, JsonStyle::Sorted);
    Ok(Side { rehearsal, port, codec })
}

fn run(mut side: Side, samples: &[&str], ignored: &[FieldRef]) -> Outcomes {
    let mut outcomes = Vec::with_capacity(samples.len() + 1);
    for (number, sample) in samples.iter().enumerate() {
        let mut happened = side.rehearsal.set_clock(number as u64 * STEP_NS);
        let sent = side.rehearsal.send(&side.port, side.codec, sample.as_bytes());
        happened.extend(sent.unwrap_or_default());
        outcomes.push(results(happened, ignored));
    }
    outcomes.push(results(side.rehearsal.flush(), ignored));
    outcomes
}

/// The events that left, each once.
fn results(happened: Vec<Happening>, ignored: &[FieldRef]) -> Vec<String> {
    let mut results: Vec<String> = Vec::new();
    for one in happened {
        if let Happening::Output { data, .. } = one {
            let data = plain(&data, ignored);
            if !results.contains(&data) {
                results.push(data);
            }
        }
    }
    results
}

/// A JSON text with sorted keys and without the fields that do not count.
fn plain(text: &str, ignored: &[FieldRef]) -> String {
    let arena = Arena::new();
    let Ok(value) = json::parse(text, &arena) else { return text.to_string() };
    match Datum::from_value(value, &arena) {
        Datum::Map(data) => {
            let mut event = LogEvent { data, metadata: Map::default(), cancelled: false };
            ignored.iter().for_each(|field| drop(event.remove(field)));
            let mut out = Vec::new();
            let value = event.data.to_value(&arena);
            temblor_lang::value::push_json(&mut out, value, JsonStyle::Sorted);
            String::from_utf8_lossy(&out).into_owned()
        }
        _ => text.to_string(),
    }
}

/// Shows the differences; whether there are none.
fn report(left: &Outcomes, right: &Outcomes, samples: &[&str], args: &DiffArgs) -> bool {
    let mut out = String::new();
    let nothing = Vec::new();
    let count = left.len().max(right.len());
    let shown = if args.all { usize::MAX } else { SHOWN_MAX };
    let mut different = 0;
    for number in 0..count {
        let (ours, theirs) =
            (left.get(number).unwrap_or(&nothing), right.get(number).unwrap_or(&nothing));
        if ours == theirs {
            continue;
        }
        different += 1;
        if different <= shown {
            show(&mut out, number, samples.get(number).copied(), (ours, theirs));
        }
    }
    if different > shown {
        let _ = writeln!(out, "… and {} more; --all shows them", different - shown);
    }
    // What comes at the end of the input is of no sample.
    let compared = if samples.is_empty() { count } else { samples.len() };
    let _ = writeln!(out, "{compared} compared, {different} differ");
    // Nobody who stopped reading misses anything.
    let _ = std::io::stdout().write_all(out.as_bytes());
    different == 0
}

/// Writing into a String does not fail.
fn show(
    out: &mut String,
    number: usize,
    sample: Option<&str>,
    (left, right): (&[String], &[String]),
) {
    let _ = writeln!(out, "{}: {}", number + 1, sample.unwrap_or(""));
    for (these, those, sign) in [(left, right, "-"), (right, left, "+")] {
        for one in these.iter().filter(|one| !those.contains(one)) {
            let _ = writeln!(out, "  {sign} {one}");
        }
    }
    if let ([left], [right]) = (left, right) {
        fields(out, left, right);
    }
}

/// Names the fields that differ.
fn fields(out: &mut String, left: &str, right: &str) {
    let arena = Arena::new();
    let read = |text: &str| json::parse(text, &arena).ok().map(|it| Datum::from_value(it, &arena));
    let (Some(left), Some(right)) = (read(left), read(right)) else { return };
    walk(out, "", Some(&left), Some(&right));
}

fn walk(out: &mut String, path: &str, left: Option<&Datum<'_>>, right: Option<&Datum<'_>>) {
    if left == right {
        return;
    }
    if let (Some(Datum::Map(left)), Some(Datum::Map(right))) = (left, right) {
        for (key, value) in left.iter() {
            walk(out, &format!("{path}[{key}]"), Some(value), right.get(key));
        }
        for (key, value) in right.iter().filter(|(key, _)| left.get(key).is_none()) {
            walk(out, &format!("{path}[{key}]"), None, Some(value));
        }
        return;
    }
    let text = |datum: Option<&Datum<'_>>| match datum {
        None => "nothing".to_string(),
        Some(datum) => {
            let mut out = String::new();
            datum.push_json(&mut out);
            out
        }
    };
    let _ = writeln!(out, "    {path}: {} instead of {}", text(right), text(left));
}
