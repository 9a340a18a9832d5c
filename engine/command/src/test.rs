//! `temblor test`: finds tests, runs them, says what is wrong; with `--watch` again and again.

use super::check::FAULTY;
use super::tables::TableArgs;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};
use temblor_casebook::report;
use temblor_casebook::selection::Selection;
use temblor_casebook::walk::{Results, WATCHED_ENDINGS, files_with, run_all, update_all};
use temblor_pipeline::load::colour;

/// How often `--watch` looks for changes.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);

/// What can be typed behind `temblor test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Files and folders to look into
    #[arg(default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Only tests whose file or name contains this
    #[arg(short, long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Only tests with this tag (a folder's name is a tag); may be repeated
    #[arg(short, long, value_name = "TAG")]
    pub include: Vec<String>,
    /// No tests with this tag; may be repeated
    #[arg(short, long, value_name = "TAG")]
    pub exclude: Vec<String>,
    /// How the results are told
    #[arg(long, value_enum, default_value_t)]
    pub format: TestFormat,
    /// Write what happens into the cases as what they expect
    #[arg(short, long)]
    pub update: bool,
    /// Run again whenever a file changes
    #[arg(short, long)]
    pub watch: bool,
    /// Name each test
    #[arg(short, long)]
    pub list: bool,
    #[command(flatten)]
    pub tables: TableArgs,
    /// Say which arms, cases, sides of `if` and output ports no test reached, and where they are
    #[arg(long)]
    pub coverage: bool,
}

/// The forms of the results.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum TestFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
    /// XML for build servers
    Junit,
}

/// Runs the tests; gives the exit code.
pub(crate) fn test(args: &TestArgs) -> u8 {
    if !args.watch {
        return once(args);
    }
    let mut before = None;
    loop {
        let now = stamps(&args.paths);
        if before.as_ref() != Some(&now) {
            once(args);
            // What is saved during a run calls for another; what the run itself rewrites does not.
            before = Some(if args.update { stamps(&args.paths) } else { now });
        }
        std::thread::sleep(WATCH_INTERVAL);
    }
}

/// When the files were last written: those with tests, and programs and modules beside them.
fn stamps(paths: &[PathBuf]) -> BTreeMap<PathBuf, Option<SystemTime>> {
    let stamp = |file: &PathBuf| std::fs::metadata(file).and_then(|data| data.modified()).ok();
    let files =
        paths.iter().flat_map(|path| files_with(path, &WATCHED_ENDINGS).unwrap_or_default());
    files.map(|file| (file.clone(), stamp(&file))).collect()
}

fn once(args: &TestArgs) -> u8 {
    let started = Instant::now();
    let results = match walk(args) {
        Ok(results) => results,
        Err(reason) => {
            eprintln!("error: {reason}");
            return FAULTY;
        }
    };
    match args.format {
        TestFormat::Text => {
            if args.list {
                list(&results);
            }
            print!("{}", report::text(&results, colour(), started.elapsed()));
            if args.coverage {
                print!("{}", report::coverage(&results.reach));
            }
        }
        TestFormat::Json => print!("{}", report::json(&results)),
        TestFormat::Junit => print!("{}", report::junit(&results)),
    }
    if results.tests.is_empty() {
        eprintln!(
            "error: no test was found: a test is a case in a .txt file, or a suite in .tremor"
        );
        return FAULTY;
    }
    if results.passed() { 0 } else { FAULTY }
}

fn list(results: &Results) {
    for test in &results.tests {
        println!("{}:{} {}", test.file.display(), test.line, test.name);
    }
}

fn walk(args: &TestArgs) -> Result<Results, String> {
    let selection = Selection {
        filter: args.filter.clone().unwrap_or_default(),
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        counted: args.coverage,
        tables: args.tables.open_if_any()?,
    };
    let mut all = Results::default();
    for path in &args.paths {
        let work = if args.update { update_all } else { run_all };
        let results: io::Result<Results> = work(path, &selection);
        let results = results.map_err(|error| format!("{}: {error}", path.display()))?;
        all.tests.extend(results.tests);
        all.updated.extend(results.updated);
        all.reach.merge(results.reach);
    }
    Ok(all)
}
