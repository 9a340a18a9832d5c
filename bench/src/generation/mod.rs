//! `temblor-bench generation`: the jobs that Splunk Eventgen publishes figures of, on one and two cores: into
//! memory, into files, and through a pipeline.
//!
//! Invariant: a figure stands only beside a count of events that was checked; Eventgen's figures are its
//! authors', measured on another machine, and are marked as such.

mod report;

use crate::core::measure::{Directory, median};
use crate::core::process::command;
pub use report::Report;
use report::{Figure, Row};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;
use temblor_generate::{Spec, Stream, eventgen};
use temblor_lang::value::Arena;

/// What is measured, and how thoroughly.
pub struct Options {
    /// The folder with the configuration of the sample.
    pub folder: PathBuf,
    /// Events of each run.
    pub events: u64,
    /// Runs of each case; figures are medians.
    pub repetitions: usize,
}

/// A job, and what Eventgen's authors say of it on two cores.
struct Job {
    name: &'static str,
    spec: Spec,
    /// The source of the same events in a program.
    source: String,
    /// Events a second of Eventgen, and how it made them.
    published: &'static [(f64, &'static str)],
}

/// Bytes that are made at a time.
const BLOCK_BYTES: usize = 128 * 1024;

/// Measures all jobs.
pub fn run(options: &Options) -> Result<Report, String> {
    let directory = Directory::make()?;
    let mut report = Report::default();
    for job in jobs(options)? {
        let mut row = Row { name: job.name, published: job.published, ..Row::default() };
        row.bytes_per_event = bytes_per_event(&job.spec)?;
        for (cores, figures) in [(1u64, &mut row.one), (2, &mut row.two)] {
            let median_of = |measure: &dyn Fn() -> Result<f64, String>| {
                let rates = (0..options.repetitions).map(|_| measure());
                Ok::<_, String>(median(rates.collect::<Result<Vec<_>, _>>()?.into_iter()))
            };
            let (events, spec) = (options.events, &job.spec);
            *figures = Figure {
                memory: median_of(&|| into(spec, events, cores, |_| Ok(std::io::sink())))?,
                files: median_of(&|| {
                    into(spec, events, cores, |number| {
                        let path = directory.file(&format!("{number}.log"));
                        let file =
                            std::fs::File::create(path).map_err(|error| error.to_string())?;
                        Ok(BufWriter::with_capacity(2 * BLOCK_BYTES, file))
                    })
                })?,
                pipeline: median_of(&|| piped(&job.source, events, cores))?,
            };
        }
        report.rows.push(row);
    }
    Ok(report)
}

fn jobs(options: &Options) -> Result<Vec<Job>, String> {
    let plain = |kind: &str| {
        let arena = Arena::new();
        let settings = arena.record_builder(0).finish();
        let spec = Spec::from_settings(kind, settings, None).map_err(|error| error.reason)?;
        let source = format!("source made from generator \"{kind}\" with codec = \"lines\"");
        Ok::<_, String>((spec, source))
    };
    let loaded = eventgen::load(&[options.folder.join("eventgen.conf")])?;
    let (program, _) = eventgen::convert::convert(&loaded, 0);
    let stanza = loaded.stanzas.into_iter().next().ok_or("the configuration has no stanza")?;
    let settings = program.split_once(" with").and_then(|(_, rest)| rest.split_once("\nend;"));
    let (settings, _) = settings.ok_or("the program has no source")?;
    // As fast as it goes, not so many a second.
    let is_pace = |line: &&str| {
        ["interval", "amount", "seed"].iter().any(|word| line.trim().starts_with(word))
    };
    let settings: Vec<_> = settings.lines().filter(|line| !is_pace(line)).collect();
    let sample = format!("source made from generator \"sample\" with{}", settings.join("\n"));
    let (windbag, windbag_source) = plain("windbag")?;
    let (access, access_source) = plain("access")?;
    Ok(vec![
        Job {
            name: "windbag",
            spec: windbag,
            source: windbag_source,
            published: &[(490_000.0, "threads"), (560_000.0, "processes")],
        },
        Job {
            name: "weblog, a sample and regexes",
            spec: stanza.spec,
            source: sample,
            published: &[(3_030.0, "a sample and regexes")],
        },
        Job {
            name: "weblog, built in",
            spec: access,
            source: access_source,
            published: &[(18_000.0, "Python by hand"), (92_846.0, "a program in C")],
        },
    ])
}

fn bytes_per_event(spec: &Spec) -> Result<f64, String> {
    const TRIED: u64 = 10_000;
    let spec = Spec { count: Some(TRIED), ..spec.clone() };
    let mut stream = Stream::open(&spec, 0).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    stream.fill(&mut out, u64::MAX, usize::MAX)?;
    Ok(out.len() as f64 / TRIED as f64)
}

/// Events a second of wall time of as many streams as cores, each in a thread that writes by itself.
fn into<W: Write>(
    spec: &Spec,
    events: u64,
    cores: u64,
    open: impl Fn(u64) -> Result<W, String> + Sync,
) -> Result<f64, String> {
    let started = Instant::now();
    let open = &open;
    let one = |number: u64| {
        let spec = Spec { count: Some(events), seed: number, ..spec.clone() };
        move || -> Result<u64, String> {
            let mut writer = open(number)?;
            let mut stream = Stream::open(&spec, 0).map_err(|error| error.to_string())?;
            let (mut block, mut made) = (Vec::with_capacity(2 * BLOCK_BYTES), 0);
            loop {
                block.clear();
                let filled = stream.fill(&mut block, u64::MAX, BLOCK_BYTES)?;
                writer.write_all(&block).map_err(|error| error.to_string())?;
                made += filled.events;
                if filled.next.is_none() {
                    break;
                }
            }
            writer.flush().map_err(|error| error.to_string())?;
            Ok(made)
        }
    };
    let made: u64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|number| scope.spawn(one(number))).collect();
        let joined = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        joined.sum::<Result<u64, String>>()
    })?;
    let seconds = started.elapsed().as_secs_f64();
    if made != events * cores {
        return Err(format!("{made} events, {} expected", events * cores));
    }
    Ok(made as f64 / seconds)
}

/// Events a second of the `temblor` command: sources, a pipeline and a sink that counts.
fn piped(source: &str, events: u64, cores: u64) -> Result<f64, String> {
    let mut program = String::new();
    for number in 0..cores {
        let source = source.replacen("made", &format!("made{number}"), 1);
        let settings = format!("count = {events}, seed = {number}");
        program.push_str(&format!("{source}, {settings} end;\nmade{number} |> out;\n"));
    }
    program.push_str("sink out into null;\n");
    let started = Instant::now();
    let output = Command::new(command()?)
        .args([
            "run",
            "--workers",
            &cores.to_string(),
            "--quiet",
            "--stats",
            "json",
            "-e",
            &program,
        ])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let seconds = started.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !said.contains(&(events * cores).to_string()) {
        return Err(format!("{} events expected, the run says {said}\n{program}", events * cores));
    }
    Ok((events * cores) as f64 / seconds)
}
