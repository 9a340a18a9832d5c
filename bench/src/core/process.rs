//! What only a process of its own can show: resident memory, and the time to the first event.

use super::measure::{Directory, median};
use super::report::{Report, Row};
use crate::workload::Workload;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Resident memory that a run may take.
const MEMORY_MIB_MAX: f64 = 64.0;
/// Time from the start of the process to its first event.
const START_MS_MAX: f64 = 30.0;
/// Time from the start of the REPL to its first answer.
const REPL_MS_MAX: f64 = 50.0;
/// Time between two looks at a process's memory; the peak is kept by the system.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// Distinct lines of the memory case's input.
const LINES: usize = 2000;

/// The `temblor` command that was built together with this program.
pub(crate) fn command() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = own.with_file_name("temblor");
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!("{} is not there: build the workspace, or give --memory-mb 0", path.display()))
    }
}

/// The peak of resident memory over `megabytes` of input with one worker.
pub(crate) fn memory(report: &mut Report, megabytes: usize, to: &Directory) -> Result<(), String> {
    let path = to.file("memory.ndjson");
    let events = fill(&path, megabytes * 1_000_000).map_err(|error| error.to_string())?;
    let input = std::fs::File::open(&path).map_err(|error| error.to_string())?;
    let mut child = Command::new(command()?)
        .args(["run", "--workers", "1", "--quiet", "--stats", "json", "-e", "where event.aint > 0"])
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let peak_kib = watch(&mut child)?;
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let stats = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() || !stats.contains(&format!("{events}")) {
        return Err(format!("memory: {events} events expected, the run says {stats}"));
    }
    // Linux counts kibibytes under the name kB.
    let mib = peak_kib as f64 / 1024.0;
    report.add(Row::figure(
        &format!("resident memory, {megabytes} MB"),
        mib,
        "MiB",
        MEMORY_MIB_MAX,
    ));
    std::fs::remove_file(&path).map_err(|error| error.to_string())
}

/// Writes about `bytes` of events; gives their number.
fn fill(path: &Path, bytes: usize) -> std::io::Result<u64> {
    let lines = Workload::AppEvents.lines(1, LINES);
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let (mut written, mut events) = (0, 0);
    for line in lines.iter().cycle() {
        if written >= bytes {
            break;
        }
        writeln!(file, "{line}")?;
        written += line.len() + 1;
        events += 1;
    }
    file.flush()?;
    Ok(events)
}

/// The peak of resident memory until the process ends.
fn watch(child: &mut Child) -> Result<u64, String> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if let Ok(text) = std::fs::read_to_string(&status) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
            peak = peak.max(kib.unwrap_or(0));
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
    if peak == 0 { Err("memory: /proc does not tell".to_string()) } else { Ok(peak) }
}

/// From the start of the process to the first event on its output.
pub(crate) fn start(report: &mut Report, repetitions: usize) -> Result<(), String> {
    let milliseconds = median_ms(&FIRST_EVENT, repetitions)?;
    report.add(Row::figure(FIRST_EVENT.name, milliseconds, "ms", START_MS_MAX));
    let milliseconds = median_ms(&FIRST_ANSWER, repetitions)?;
    report.add(Row::figure(FIRST_ANSWER.name, milliseconds, "ms", REPL_MS_MAX));
    Ok(())
}

/// Milliseconds from the start of a process to its first output, for each way to start.
pub(crate) fn starts() -> Result<Vec<(&'static str, f64)>, String> {
    const REPETITIONS: usize = 9;
    [FIRST_EVENT, FIRST_ANSWER]
        .iter()
        .map(|start| Ok((start.name, median_ms(start, REPETITIONS)?)))
        .collect()
}

/// A command that answers its first line of input.
struct Start {
    name: &'static str,
    arguments: &'static [&'static str],
    input: &'static str,
    output: &'static str,
}

const FIRST_EVENT: Start = Start {
    name: "start to first event",
    arguments: &["run", "--quiet", "-e", "where event.a == 1"],
    input: "{\"a\":1}\n",
    output: "{\"a\":1}\n",
};

/// The prompt of a terminal comes before this answer.
const FIRST_ANSWER: Start = Start {
    name: "REPL: start to first answer",
    arguments: &["repl"],
    input: "1 + 1\n",
    output: "2\n",
};

fn median_ms(start: &Start, repetitions: usize) -> Result<f64, String> {
    let runs =
        (0..repetitions.max(1)).map(|_| first_output(start)).collect::<Result<Vec<_>, _>>()?;
    Ok(median(runs.into_iter()))
}

fn first_output(start: &Start) -> Result<f64, String> {
    let failed = |reason: &dyn std::fmt::Display| format!("{}: {reason}", start.name);
    let started = Instant::now();
    let mut child = Command::new(command()?)
        .args(start.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    let mut input = child.stdin.take().ok_or_else(|| failed(&"no input"))?;
    let output = child.stdout.take().ok_or_else(|| failed(&"no output"))?;
    let sent = input.write_all(start.input.as_bytes()).and_then(|()| input.flush());
    sent.map_err(|error| failed(&error))?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).map_err(|error| failed(&error))?;
    let elapsed = started.elapsed();
    drop(input);
    child.wait().map_err(|error| failed(&error))?;
    if line == start.output {
        Ok(elapsed.as_secs_f64() * 1e3)
    } else {
        Err(failed(&format!("the first output is {line:?}")))
    }
}
