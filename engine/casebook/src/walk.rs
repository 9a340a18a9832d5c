//! Finds tests in a folder and runs them on all cores. The order of the results is that of the
//! names of files and of the cases inside of them, however many cores there are.

use super::coverage::Reach;
use super::difference::Difference;
use super::file::{Case, CaseFile, is_case_file};
use super::selection::Selection;
use super::{run, suite};
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Files larger than this are no tests.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Folders nested deeper than this are not looked into.
const FOLDER_DEPTH_MAX: usize = 64;

/// The stack of a thread: deep programs are cases, too.
const STACK_BYTES: usize = 64 << 20;

/// What became of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is as expected.
    Passed,
    /// Sections of a case differ.
    Differs(Vec<Difference>),
    /// It could not be run, or a test of a suite failed: why.
    Failed(String),
}

/// A test and what became of it.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// The file as it was found.
    pub file: PathBuf,
    /// The line in the file, from 1.
    pub line: usize,
    /// Its name.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it took.
    pub duration: Duration,
}

/// The results of a walk.
#[derive(Debug, Default)]
pub struct Results {
    /// By file and place.
    pub tests: Vec<TestResult>,
    /// Files that were rewritten.
    pub updated: Vec<PathBuf>,
    /// What the tests reached, when that was asked for.
    pub reach: Reach,
}

impl Results {
    /// Whether all tests passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.tests.iter().all(|test| test.outcome == Outcome::Passed)
    }
}

/// What a file holds.
enum Found {
    Cases(CaseFile),
    Suite(String),
}

/// Endings of files that may hold tests.
const TEST_ENDINGS: [&str; 2] = ["txt", "tremor"];
/// Endings of program files.
pub const PROGRAM_ENDINGS: [&str; 4] = ["tmb", "tremor", "trickle", "troy"];
/// Endings of everything that the result of a test can depend on.
pub const WATCHED_ENDINGS: [&str; 5] = ["txt", "tmb", "tremor", "trickle", "troy"];

/// The files below `path` that may hold tests, by name; `path` itself when it is a file.
///
/// # Errors
/// When a folder cannot be read.
pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    files_with(path, &TEST_ENDINGS)
}

/// The files below `path` with one of these endings, by name; `path` itself when it is a file.
///
/// # Errors
/// When a folder cannot be read.
pub fn files_with(path: &Path, endings: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(path, endings, FOLDER_DEPTH_MAX, &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(
    path: &Path,
    endings: &[&str],
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        found.push(path.to_path_buf());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(".");
        let is_folder = path.is_dir();
        if name.starts_with('.') || (is_folder && (depth == 0 || name == "target")) {
            continue;
        }
        if is_folder {
            collect(&path, endings, depth - 1, found)?;
        } else if path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one)) {
            found.push(path);
        }
    }
    Ok(())
}

fn open(file: &Path) -> io::Result<Option<Found>> {
    if fs::metadata(file)?.len() > FILE_BYTES_MAX {
        return Ok(None);
    }
    let Ok(text) = String::from_utf8(fs::read(file)?) else { return Ok(None) };
    if file.extension().is_some_and(|ending| ending == "tremor") {
        return Ok(suite::may_be_suite(&text).then_some(Found::Suite(text)));
    }
    Ok(is_case_file(&text).then(|| Found::Cases(CaseFile::read(&text))))
}

/// Runs the tests below `path`.
///
/// # Errors
/// When a folder or a file cannot be read.
pub fn run_all(path: &Path, selection: &Selection) -> io::Result<Results> {
    let mut found = Vec::new();
    for file in files(path)? {
        if let Some(content) = open(&file)? {
            found.push((file, content));
        }
    }
    let jobs: Vec<Job<'_>> = found.iter().flat_map(|(file, found)| jobs(file, found)).collect();
    let mut results = Results::default();
    let outcomes = in_parallel(&jobs, |job| job.run(selection));
    for outcome in outcomes {
        results.tests.extend(outcome.tests);
        results.reach.merge(outcome.reach);
    }
    Ok(results)
}

/// Makes the tests below `path` expect what happens.
///
/// # Errors
/// When a file cannot be read or written.
pub fn update_all(path: &Path, selection: &Selection) -> io::Result<Results> {
    let mut results = Results::default();
    for file in files(path)? {
        let Some(Found::Cases(mut cases)) = open(&file)? else { continue };
        let mut changed = false;
        for case in &mut cases.cases {
            if !selection.takes(&file, &case.name, &[]) {
                continue;
            }
            let started = Instant::now();
            let outcome = match run::update(
                case,
                file.parent().unwrap_or(Path::new(".")),
                &selection.given(),
            ) {
                Ok(update) => {
                    changed |= update;
                    Outcome::Passed
                }
                Err(reason) => Outcome::Failed(reason),
            };
            results.tests.push(TestResult {
                file: file.clone(),
                line: case.line,
                name: case.name.clone(),
                outcome,
                duration: started.elapsed(),
            });
        }
        if changed {
            fs::write(&file, cases.write())?;
            results.updated.push(file);
        }
    }
    Ok(results)
}

/// A piece of work for one core.
enum Job<'f> {
    Case(&'f Path, &'f Case),
    Suite(&'f Path, &'f str),
}

fn jobs<'f>(file: &'f Path, found: &'f Found) -> Vec<Job<'f>> {
    match found {
        Found::Cases(cases) => cases.cases.iter().map(|case| Job::Case(file, case)).collect(),
        Found::Suite(text) => vec![Job::Suite(file, text)],
    }
}

/// What a job gives.
#[derive(Default)]
struct Done {
    tests: Vec<TestResult>,
    reach: Reach,
}

impl Job<'_> {
    fn run(&self, selection: &Selection) -> Done {
        let work = || match self {
            Job::Case(file, case) => run_case(file, case, selection),
            Job::Suite(file, text) => run_suite(file, text, selection),
        };
        // A bug that one case finds must not hide the results of the others.
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| self.panicked())
    }

    #[cold]
    fn panicked(&self) -> Done {
        let (file, line, name) = match self {
            Job::Case(file, case) => (file, case.line, case.name.as_str()),
            Job::Suite(file, _) => (file, 1, "suite"),
        };
        let reason = "temblor itself has a bug: the message is on standard error".to_string();
        let (file, name) = (file.to_path_buf(), name.to_string());
        let outcome = Outcome::Failed(reason);
        let test = TestResult { file, line, name, outcome, duration: Duration::ZERO };
        Done { tests: vec![test], reach: Reach::default() }
    }
}

fn run_case(file: &Path, case: &Case, selection: &Selection) -> Done {
    if !selection.takes(file, &case.name, &[]) {
        return Done::default();
    }
    let started = Instant::now();
    let mut reach = Reach::default();
    let outcome = match run::run(case, file, &selection.given(), selection.counted) {
        Ok(verdict) => {
            reach = verdict.reach;
            match verdict.differences {
                differences if differences.is_empty() => Outcome::Passed,
                differences => Outcome::Differs(differences),
            }
        }
        Err(reason) => Outcome::Failed(reason),
    };
    let (file, line, name) = (file.to_path_buf(), case.line, case.name.clone());
    Done {
        tests: vec![TestResult { file, line, name, outcome, duration: started.elapsed() }],
        reach,
    }
}

fn run_suite(file: &Path, text: &str, selection: &Selection) -> Done {
    let started = Instant::now();
    let result = |line, name, outcome| TestResult {
        file: file.to_path_buf(),
        line,
        name,
        outcome,
        duration: started.elapsed(),
    };
    let mut reach = Reach::default();
    let counted = selection.counted.then_some(&mut reach);
    let tests = match suite::run(file, text, selection.tables.as_ref(), counted) {
        Err(reason) if selection.takes(file, "", &[]) => {
            vec![result(1, "suite".to_string(), Outcome::Failed(reason))]
        }
        Err(_) => Vec::new(),
        Ok(suites) => {
            let mut results = Vec::new();
            for suite in suites {
                for test in suite.tests {
                    let name = format!("{}: {}", suite.name, test.name);
                    let outcome = test.result.map_or_else(Outcome::Failed, |()| Outcome::Passed);
                    if selection.takes(file, &name, &suite.tags) {
                        results.push(result(test.line, name, outcome));
                    }
                }
            }
            results
        }
    };
    Done { tests, reach }
}

/// The results of all jobs in their order; every core takes the next that nobody has begun.
fn in_parallel<'j, J: Sync>(jobs: &'j [J], work: impl Fn(&'j J) -> Done + Sync) -> Vec<Done> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    let next = AtomicUsize::new(0);
    let slots: Vec<Mutex<Done>> = jobs.iter().map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            let run = || {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(job) = jobs.get(at)
                {
                    let done = work(job);
                    *slots[at].lock().expect("each slot is written once") = done;
                }
            };
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            if builder.spawn_scoped(scope, run).is_err() {
                // The system has no room for a thread: the work is done here.
                run();
            }
        }
    });
    slots.into_iter().map(|slot| slot.into_inner().expect("no thread panicked")).collect()
}
