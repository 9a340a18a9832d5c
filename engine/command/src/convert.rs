//! `temblor convert`: a Temblor file from a configuration of Logstash, Eventgen, syslog-ng or rsyslog, and the report about what
//! became of each block. The report goes to standard error unless it is what was asked for.

use super::check::FAULTY;
use super::logstash::EcsArg;
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::{Path, PathBuf};
use temblor_lang::diagnostic::render_all;
use temblor_logstash::convert::report::Report;
use temblor_logstash::convert::{self, Conversion, Wishes};
use temblor_logstash::load;
use temblor_logstash::settings::Settings;
use temblor_pipeline::load::colour;

/// The exit code of a conversion in which something is left for a person to decide.
const UNDECIDED: u8 = 3;

/// What can be typed behind `temblor convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, Subcommand)]
enum From {
    /// A Logstash configuration: a file, a folder of files, or pipelines.yml
    Logstash(LogstashArgs),
    /// A configuration of Splunk Eventgen, or the folder of an app
    Eventgen(EventgenArgs),
    /// A configuration of syslog-ng, with all that it includes
    SyslogNg(MigrateArgs),
    /// A configuration of rsyslog, with all that it includes
    Rsyslog(MigrateArgs),
}

#[derive(Debug, Args)]
struct MigrateArgs {
    /// The configuration
    path: PathBuf,
    /// Write the Temblor file here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the coverage report, and the Temblor file only with --out
    #[arg(long)]
    report: bool,
    /// Print the coverage report as JSON, and the Temblor file only with --out
    #[arg(long)]
    json: bool,
    /// Standard input stands for all sources
    #[arg(long)]
    stdin: bool,
    /// Standard output stands for all destinations
    #[arg(long)]
    stdout: bool,
}

#[derive(Debug, Args)]
struct EventgenArgs {
    /// The configuration; of several, what later ones say counts
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Write the Temblor file here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

#[derive(Debug, Args)]
struct LogstashArgs {
    /// The configuration
    path: PathBuf,
    /// Write the Temblor file here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the coverage report, and the Temblor file only with --out
    #[arg(long)]
    report: bool,
    /// Print the coverage report as JSON, and the Temblor file only with --out
    #[arg(long)]
    json: bool,
    /// Field names of plugins after the Elastic Common Schema
    #[arg(long, value_enum, default_value_t)]
    ecs: EcsArg,
    /// Read backslash escapes in texts
    #[arg(long)]
    support_escapes: bool,
    /// Keep every filter as the step that has its name, with its file and line above it
    #[arg(long)]
    exact: bool,
    /// Standard input stands for the inputs
    #[arg(long)]
    stdin: bool,
    /// Standard output stands for the outputs
    #[arg(long)]
    stdout: bool,
}

/// Converts; gives the exit code.
pub(crate) fn convert(args: &ConvertArgs) -> u8 {
    let converted = match &args.from {
        From::Logstash(args) => logstash(args),
        From::Eventgen(args) => eventgen(args),
        From::SyslogNg(args) => migrated(args, temblor_migrate::syslog_ng::convert),
        From::Rsyslog(args) => migrated(args, temblor_migrate::rsyslog::convert),
    };
    match converted {
        Ok(code) => code,
        Err(reason) => {
            eprintln!("error: {reason}");
            FAULTY
        }
    }
}

fn eventgen(args: &EventgenArgs) -> Result<u8, String> {
    let loaded = temblor_generate::eventgen::load(&args.paths)?;
    let (text, report) = temblor_generate::eventgen::convert::convert(&loaded, args.seed);
    match &args.out {
        Some(file) => {
            std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?
        }
        None => say(&text),
    }
    for line in report {
        eprintln!("note: {line}");
    }
    Ok(0)
}

/// Converts a configuration of a syslog daemon.
fn migrated(
    args: &MigrateArgs,
    convert: fn(&Path, temblor_migrate::Wishes<'_>) -> Result<temblor_migrate::Conversion, String>,
) -> Result<u8, String> {
    let title = args.path.display().to_string();
    let (stdin, stdout) = (args.stdin, args.stdout);
    let made = convert(&args.path, temblor_migrate::Wishes { title: &title, stdin, stdout })?;
    eprint!("{}", render_all(&made.diagnostics, &made.sources, colour()));
    deliver(&args.out, (args.report, args.json), &made.text, &made.report, made.has_errors())
}

/// Writes what was asked for; gives the exit code.
fn deliver(
    out: &Option<PathBuf>,
    (wants_report, wants_json): (bool, bool),
    text: &str,
    report: &Report,
    has_errors: bool,
) -> Result<u8, String> {
    let asks_report = wants_report || wants_json;
    if has_errors && (out.is_some() || !asks_report) {
        let reason = "nothing was converted, since what cannot be read would be missing without a trace: mend \
                      the mistakes above first; --report alone tells of the rest";
        return Err(reason.to_string());
    }
    match out {
        Some(file) => {
            std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?
        }
        None if asks_report => {}
        None => say(text),
    }
    match (wants_json, wants_report) {
        (true, _) => say(&report.json()),
        (false, true) => say(&report.text()),
        (false, false) => eprint!("{}", report.text()),
    }
    Ok(match (has_errors, report.is_decided()) {
        (true, _) => FAULTY,
        (false, false) => UNDECIDED,
        (false, true) => 0,
    })
}

fn logstash(args: &LogstashArgs) -> Result<u8, String> {
    let (ecs, escapes) = (args.ecs.into(), args.support_escapes);
    let connectors = Some(temblor_catalog::registry());
    let settings = Settings { ecs, escapes, connectors, ..Settings::of_environment() };
    let texts = load::pipelines(&args.path, &settings)?;
    let title = args.path.display().to_string();
    let (stdin, stdout, exact) = (args.stdin, args.stdout, args.exact);
    let wishes = Wishes { title: &title, stdin, stdout, exact };
    let Conversion { text, report } = convert::convert(&texts, wishes);
    eprint!("{}", render_all(&texts.diagnostics, &texts.sources, colour()));
    deliver(&args.out, (args.report, args.json), &text, &report, texts.has_errors())
}

/// To standard output; nobody who stopped reading misses anything.
fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
