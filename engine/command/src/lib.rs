//! The `temblor` command line: what can be typed, and who does it. Options are declared once, here;
//! help, manual and completions come from the declaration.

mod expand;
mod check;
pub mod measure;
mod bench;
mod letter;
mod graph;
mod ends;
mod logstash;
mod lsp;
mod tables;
mod repl;
mod explain;
mod buffer;
mod replay;
mod dead;
mod doc;
mod fmt;
mod misspelt;
mod parameters;
mod convert;
mod ctl;
mod diff;
mod layout;
mod operate;
mod run;
mod runner;
mod generate;
mod shell;
mod test;
mod threads;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use temblor_codec::InputCodec;
use temblor_pipeline::graph::Picture;
use temblor_pipeline::load::{LoadOptions, Loaded};
use temblor_runtime::disk::Durability;

/// Script-defined pipelines for logs and events.
#[derive(Debug, Parser)]
#[command(name = "temblor", version, about, max_term_width = 100)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run a program: a chain, a Temblor file, a script or a query
    Run(Box<RunArgs>),
    /// Say what is wrong with programs, without running them
    Check(CheckArgs),
    /// Draw the operators of a program
    Graph(GraphArgs),
    /// Measure a program: latency at a fixed rate, or the highest throughput
    Bench(BenchArgs),
    /// Run tests: cases in .txt files and suites in .tremor files, found by a walk
    Test(test::TestArgs),
    /// Print the page about a code such as E0401, a connector, operator or codec; all codes without one
    Explain(ExplainArgs),
    /// Try rules on samples: expressions, chains, why and how
    Repl(repl::ReplArgs),
    /// Serve an editor: diagnostics, completion, hover, rename and more (language server protocol)
    Lsp(lsp::LspArgs),
    /// Bring program files into the one style; comments stay
    Fmt(fmt::FmtArgs),
    /// Make Markdown pages from the doc comments of modules
    Doc(doc::DocArgs),
    /// Write the completions of a shell
    Completions(shell::CompletionsArgs),
    /// Write the manual page
    Man(shell::ManArgs),
    /// Print generated events
    Generate(GenerateArgs),
    /// Ask a running Temblor: status, reload, drain, log
    Ctl(ctl::CtlArgs),
    /// Put the program as it is on disk now into the place of the one that runs, or say what that would change
    Reload(ctl::ReloadArgs),
    /// Run a Logstash configuration and a program side by side and show where events differ
    Diff(diff::DiffArgs),
    /// Make a Temblor file from the configuration of another engine
    Convert(convert::ConvertArgs),
    /// Look into buffers on disk, check and mend them, and get their events out
    Buffer(buffer::BufferArgs),
    /// List, show and replay dead letters: events that a program could not use
    Dead(dead::DeadArgs),
}

/// Where the program comes from.
#[derive(Clone, Debug, Args)]
struct ProgramArgs {
    /// Program text: a chain such as 'where event.status >= 500'
    #[arg(short, long, value_name = "CHAIN", conflicts_with = "file")]
    expression: Option<String>,
    /// Program file: .tmb, .tremor, .trickle or .troy
    #[arg(required_unless_present_any = ["expression", "logstash"], conflicts_with = "logstash")]
    file: Option<PathBuf>,
    /// Directory with module files; may be repeated (also: TEMBLOR_PATH, TREMOR_PATH)
    #[arg(long, value_name = "DIR")]
    path: Vec<PathBuf>,
    #[command(flatten)]
    parameters: parameters::ParameterArgs,
    #[command(flatten)]
    tables: tables::TableArgs,
    #[command(flatten)]
    logstash: logstash::LogstashArgs,
}

impl ProgramArgs {
    /// Loads what the arguments name. The error is a sentence about the file itself, or about a table
    /// or the arguments of the program.
    fn load(&self) -> Result<Loaded, String> {
        self.load_with_errors(false)
    }

    /// Loads it once more, or another file with the same arguments.
    fn load_again(&self, file: Option<&Path>, errors_leave: bool) -> Result<Loaded, String> {
        match file {
            Some(file) => {
                let (file, logstash) = (Some(file.to_path_buf()), self.logstash.none());
                ProgramArgs { file, logstash, expression: None, ..self.clone() }
                    .load_with_errors(errors_leave)
            }
            None if self.expression.is_some() => {
                Err("the program stands on the command line; there is no file to read again"
                    .to_string())
            }
            None => self.load_with_errors(errors_leave),
        }
    }

    /// The same; `errors_leave` says that what fails leaves by the port `err`, even without a sink there.
    fn load_with_errors(&self, errors_leave: bool) -> Result<Loaded, String> {
        if let Some(loaded) = self.logstash.load() {
            return loaded;
        }
        let parameters = self.parameters.read()?;
        let tables = Some(self.tables.open()?);
        let options = parameters.options().with_path(&self.path);
        let options = LoadOptions { tables, errors_leave, ..options };
        match (&self.expression, &self.file) {
            (Some(text), _) => Ok(options.text(text)),
            (None, Some(file)) => options.file(file),
            (None, None) => Err("there is no program: give a file, or a chain with -e".to_string()),
        }
    }
}

#[derive(Clone, Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    ends: ends::EndArgs,
    #[command(flatten)]
    threads: threads::ThreadArgs,
    #[command(flatten)]
    operate: operate::OperateArgs,
    /// Keep checkpoints and what operators remember in this directory, and go on from there
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Give up what the directory of --state holds, and begin anew
    #[arg(long, requires = "state")]
    fresh_state: bool,
    /// What --state survives: the end of the process (flush), or a failure of power, too (fsync)
    #[arg(long, value_name = "HOW", default_value = "flush", value_parser = parse_durability, requires = "state")]
    durability: Durability,
    /// Drop what is saved of steps that the program no longer has
    #[arg(long, requires = "state")]
    drop_unmatched_state: bool,
    /// Keep events that fail as dead letters in this directory, unless the program has a sink for `err`
    #[arg(long, value_name = "DIR")]
    dead_letters: Option<PathBuf>,
    /// Event i (from 0) arrives at i × STEP since 1970, such as 1ns or 1s; one worker
    #[arg(long, value_name = "STEP", value_parser = parse_step)]
    virtual_clock: Option<std::time::Duration>,
    /// What system::instance() says: the name of this process among others
    #[arg(long, value_name = "NAME")]
    instance: Option<String>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// End at the first event that fails, with exit code 3
    #[arg(long)]
    fail_fast: bool,
    /// Exit code 3 when an event failed; all others are processed
    #[arg(long)]
    strict: bool,
    /// No progress line and no summary
    #[arg(short, long)]
    quiet: bool,
    /// Write counts at the end
    #[arg(long, value_enum, value_name = "FORMAT")]
    stats: Option<StatsFormat>,
}

#[derive(Debug, Args)]
struct ExplainArgs {
    /// A code such as E0401, or a name such as kafka; a sort (codec, connector, operator,
    /// postprocessor, preprocessor, window) lists its names, and may stand in front of a name
    #[arg(value_name = "WHAT", num_args = 0..=2)]
    what: Vec<String>,
}

#[derive(Debug, Args)]
struct GraphArgs {
    #[command(flatten)]
    program: ProgramArgs,
    /// How it is drawn
    #[arg(long, value_enum, default_value_t)]
    format: PictureArg,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum PictureArg {
    /// A tree of lines
    #[default]
    Text,
    /// For Graphviz
    Dot,
    /// For Mermaid
    Mermaid,
    /// A picture
    Svg,
}

impl From<PictureArg> for Picture {
    fn from(picture: PictureArg) -> Self {
        match picture {
            PictureArg::Text => Picture::Text,
            PictureArg::Dot => Picture::Dot,
            PictureArg::Mermaid => Picture::Mermaid,
            PictureArg::Svg => Picture::Svg,
        }
    }
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// Program text: a chain such as 'where event.status >= 500'
    #[arg(short, long, value_name = "CHAIN")]
    expression: Option<String>,
    /// Program files
    #[arg(required_unless_present_any = ["expression", "logstash"])]
    files: Vec<PathBuf>,
    /// Directory with module files; may be repeated (also: TEMBLOR_PATH, TREMOR_PATH)
    #[arg(long, value_name = "DIR")]
    path: Vec<PathBuf>,
    /// Print the long form of chains
    #[arg(long)]
    expand: bool,
    /// List the places that some event can make fail, each with the cheapest mend
    #[arg(long)]
    can_fail: bool,
    #[command(flatten)]
    parameters: parameters::ParameterArgs,
    #[command(flatten)]
    tables: tables::TableArgs,
    #[command(flatten)]
    logstash: logstash::LogstashArgs,
}

#[derive(Debug, Args)]
struct GenerateArgs {
    /// A generator such as access, syslog, json-app, firewall, template, sample or replay; with --conf, a stanza
    #[arg(required_unless_present_any = ["conf", "template", "explain"])]
    kind: Option<String>,
    /// How many events
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
    /// How much, such as 200/s, 5MB/s or 30GB/day [default: as fast as it goes]
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Seed of everything random [default: 0, or that of the configuration]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Text of an event, such as '#{event.index} user=#{event.user.name}'
    #[arg(long, value_name = "TEXT")]
    template: Option<String>,
    /// A setting as in a `source`, such as loss=0.01 or 'draws={"n": {"uniform": [1, 6]}}'; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// A configuration of Splunk Eventgen, or the folder of an app; may be repeated, what later ones say counts
    #[arg(long, value_name = "FILE")]
    conf: Vec<PathBuf>,
    /// Say what each stanza of a configuration will do, and what has no effect and why
    #[arg(long, value_name = "FILE")]
    explain: Option<PathBuf>,
    /// Print the events of all stanzas and nothing around them, wherever the configuration sends them
    #[arg(long)]
    stdout: bool,
    /// When the first event is, such as 2026-01-01T00:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    start: Option<String>,
    /// End after so much of the events' time, such as 1h
    #[arg(long = "for", value_name = "TIME", value_parser = parse_step)]
    span: Option<std::time::Duration>,
    /// Do not wait: the events' time passes as fast as they are made
    #[arg(long)]
    virtual_clock: bool,
    /// At the end, print events/s, KB/s and GB/day on standard error
    #[arg(long)]
    stats: bool,
}

#[derive(Debug, Args)]
struct BenchArgs {
    #[command(flatten)]
    program: ProgramArgs,
    /// Events a second, such as 200k or 1.5M; without it, as many as are taken (closed loop)
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    rate: Option<f64>,
    /// How long is measured
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = parse_step)]
    measured: std::time::Duration,
    /// The beginning that is not measured
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_step)]
    warmup: std::time::Duration,
    /// Inject the lines of this file [default: those of the program's own source]
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// How injected lines are read, when the program does not say
    #[arg(long, value_name = "CODEC", default_value = "json", value_parser = ends::reading())]
    codec: InputCodec,
    /// Write to the program's own sinks instead of nowhere
    #[arg(long)]
    keep_sinks: bool,
    #[command(flatten)]
    threads: threads::ThreadArgs,
    /// Search the highest rate that keeps a promise, such as 'p99<10ms'
    #[arg(long, value_name = "PROMISE", conflicts_with = "rate")]
    find_max: Option<temblor_generate::inject::Limit>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the latencies in HdrHistogram's text format
    #[arg(long, value_name = "FILE")]
    hgrm: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StatsFormat {
    /// A table on standard error
    Table,
    /// One JSON object on standard error
    Json,
}

/// `1ns`, `250ms`, `1s`, `2m`, `1h`
fn parse_step(text: &str) -> Result<std::time::Duration, String> {
    temblor_lang::units::parse_duration(text)
        .map(std::time::Duration::from_nanos)
        .ok_or_else(|| format!("`{text}` is no duration: write it like 1ns, 250ms or 1s"))
}

fn parse_durability(text: &str) -> Result<Durability, String> {
    let found = Durability::WORDS.iter().find(|(word, _)| *word == text);
    found.map(|(_, durability)| *durability).ok_or_else(|| "it is flush or fsync".to_string())
}

/// `200k`, `1.5M`, `1000`: events a second
fn parse_rate(text: &str) -> Result<f64, String> {
    let (number, factor) = match text.trim().strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => match text.trim().strip_suffix('M') {
            Some(number) => (number, 1e6),
            None => (text.trim(), 1.0),
        },
    };
    let rate = number.parse::<f64>().ok().map(|number| number * factor);
    rate.filter(|rate| rate.is_finite() && *rate > 0.0)
        .ok_or_else(|| format!("`{text}` is no rate: write it like 500, 200k or 1.5M"))
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let command = Command::try_parse().unwrap_or_else(|error| misspelt::explained(error).exit());
    let code = match command.verb {
        Verb::Run(args) => run::run(*args),
        Verb::Check(args) => check::check(&args),
        Verb::Graph(args) => graph::graph(&args),
        Verb::Bench(args) => bench::bench(&args),
        Verb::Test(args) => test::test(&args),
        Verb::Explain(args) => explain::explain(&args),
        Verb::Repl(args) => repl::repl(&args),
        Verb::Lsp(args) => lsp::lsp(&args),
        Verb::Fmt(args) => fmt::fmt(&args),
        Verb::Doc(args) => doc::doc(&args),
        Verb::Completions(args) => shell::completions(&args),
        Verb::Man(args) => shell::man(&args),
        Verb::Generate(args) => generate::generate(&args),
        Verb::Convert(args) => convert::convert(&args),
        Verb::Ctl(args) => ctl::ctl(&args),
        Verb::Reload(args) => ctl::reload(&args),
        Verb::Diff(args) => diff::diff(&args),
        Verb::Buffer(args) => buffer::buffer(&args),
        Verb::Dead(args) => dead::dead(args),
    };
    ExitCode::from(code)
}
