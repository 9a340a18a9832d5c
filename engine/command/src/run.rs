//! `temblor run`: sources, sinks and workers for a program, and what is said at its end.

use super::check::FAULTY;
use super::layout::{self, Layout};
use super::runner::Runner;
use super::{RunArgs, StatsFormat, letter};
use std::io::IsTerminal;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use temblor_operate::operations::Operations;
use temblor_pipeline::endpoint::{SinkEndpoint, SourceEndpoint, wire_sinks};
use temblor_pipeline::graph::{Graph, is_of_partition};
use temblor_pipeline::load::{Language, Loaded};
use temblor_pipeline::operator::ERR;
use temblor_pipeline::pipeline::{ErrorInput, Input, Output, Pipeline};
use temblor_runtime::clock::Clock;
use temblor_runtime::console::Console;
use temblor_runtime::error::Error;
use temblor_runtime::overseer::Overseer;
use temblor_runtime::processor::Unmatched;
use temblor_runtime::report;
use temblor_runtime::run::{RunPlan, Summary};
use temblor_runtime::stats::Counts;

/// Runs a program; gives the exit code.
pub(crate) fn run(args: RunArgs) -> u8 {
    let started = Instant::now();
    if let Some(name) = &args.instance {
        temblor_stdlib::functions::name_instance(name);
    }
    let read = args.program.load_with_errors(errors_leave(&args));
    let loaded = match read.map(|loaded| keeping_letters(loaded, &args)) {
        Ok(loaded) => loaded,
        Err(reason) => return refuse(&reason),
    };
    if loaded.has_errors() {
        eprint!("{}", loaded.report(false));
        return FAULTY;
    }
    if !args.quiet {
        eprint!("{}", loaded.report(true));
    }
    if loaded.language == Language::Deploy && loaded.endpoints.sources.is_empty() {
        eprintln!("note: no flow with a source is deployed; there is nothing to do");
        return 0;
    }
    let has_endpoints = !loaded.endpoints.is_empty();
    let planned = match planned(loaded, &args, started) {
        Ok(planned) => planned,
        Err(error) => return refuse(&error.to_string()),
    };
    match perform(planned, &args) {
        Ok(summary) => finish(&summary, &args, has_endpoints),
        Err(error) => {
            eprintln!("error: {error}");
            error.exit_code()
        }
    }
}

/// Whether what fails leaves by the port `err`, even without a sink there.
pub(crate) fn errors_leave(args: &RunArgs) -> bool {
    args.ends.shows_ports() || args.dead_letters.is_some()
}

/// The program with the folder of dead letters that the command line names.
pub(crate) fn keeping_letters(mut loaded: Loaded, args: &RunArgs) -> Loaded {
    if let Some(directory) = args.dead_letters.as_deref().filter(|_| !loaded.has_errors()) {
        letter::keep_letters(&mut loaded, directory);
    }
    loaded
}

/// Runs the program, with everything that watches and steers it.
fn perform(planned: Planned, args: &RunArgs) -> Result<Summary, Error> {
    let Planned { pipeline, mut plan, sources } = planned;
    let pipeline = Arc::new(pipeline);
    let log = args.operate.log().map_err(|reason| Error::config("log", reason))?;
    if let Some(log) = log.clone() {
        plan.console = Some(Console::telling(move |text| log.tell(text)));
        plan.progress_width = None;
    }
    let overseer = Overseer::new();
    let begun = (Arc::clone(&pipeline), Layout::of(&plan, &sources));
    let runner = Runner::new(args.clone(), Arc::clone(&overseer), log, begun);
    args.operate.give_away(args.state.as_deref())?;
    args.operate.become_user(&overseer);
    plan.overseer = Some(overseer);
    let reloading = Arc::clone(&runner);
    plan.on_reload = Some(Arc::new(move || reloading.reload_soon()));
    let operations: Arc<dyn Operations> = Arc::clone(&runner) as _;
    let mut socket = None;
    if args.operate.watches() {
        runner.watch();
    }
    let alone = plan.workers == 1;
    let ended = temblor_runtime::run::run(plan, |number| {
        // By now the state directory is ours and the inputs are there.
        if number == 0 {
            socket = args.operate.open(args.state.as_deref(), &operations)?;
        }
        Ok(pipeline.worker(alone))
    });
    drop(socket);
    ended
}

fn refuse(reason: &str) -> u8 {
    eprintln!("error: {reason}");
    FAULTY
}

fn finish(summary: &Summary, args: &RunArgs, has_endpoints: bool) -> u8 {
    match args.stats {
        Some(StatsFormat::Json) => eprintln!("{}", report::json(&summary.counts)),
        Some(StatsFormat::Table) => eprintln!("{}", report::summary_table(&summary.counts)),
        None if args.quiet => {}
        None if has_endpoints || std::io::stderr().is_terminal() => {
            eprintln!("{}", report::summary_table(&summary.counts));
        }
        None => failures(&summary.counts),
    }
    match summary.exit_code() {
        0 if args.strict && summary.counts.error_count() > 0 => FAILED_EVENTS,
        code => code,
    }
}

/// Exit code of a run with `--strict` in which an event failed.
const FAILED_EVENTS: u8 = 3;

/// Says in one line how many events failed, and why, where no table says it.
fn failures(counts: &Counts) {
    if counts.error_count() > 0 {
        let kinds = counts.errors.iter().map(|(kind, count)| format!("{kind} {count}"));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        eprintln!("note: {} events failed ({kinds})", counts.error_count());
    }
}

/// Width of the progress line where the terminal does not say.
const PROGRESS_WIDTH: usize = 100;

/// A program that is ready to run.
pub(crate) struct Planned {
    /// The program.
    pub(crate) pipeline: Pipeline,
    /// What is to be run apart from it.
    pub(crate) plan: RunPlan,
    /// Name and makings of each source of the plan.
    pub(crate) sources: Vec<(String, String)>,
}

/// Wires a program to its sources and sinks.
pub(crate) fn planned(loaded: Loaded, args: &RunArgs, started: Instant) -> Result<Planned, Error> {
    let workers = if args.virtual_clock.is_some() { 1 } else { args.threads.workers() };
    let mut plan = RunPlan {
        workers,
        order: args.threads.order(),
        batch_bytes: args.threads.batch_bytes(),
        clock: args.virtual_clock.map_or(Clock::System, |step| Clock::Virtual { step }),
        state: args.state.clone(),
        fresh_state: args.fresh_state,
        durability: args.durability,
        unmatched: if args.drop_unmatched_state { Unmatched::Drop } else { Unmatched::Refuse },
        fail_fast: args.fail_fast,
        signals: true,
        drain_max: args.operate.drain_max(),
        memory_max: args.operate.memory_max(),
        progress_width: progress_width(args),
        started,
        ..RunPlan::default()
    };
    let Loaded { graph, endpoints, sources: texts, .. } = loaded;
    // A sink for `err` also takes what cannot even be read.
    let has_sink = args.ends.shows_ports() || endpoints.sinks.iter().any(|sink| sink.port == ERR);
    let dead_letters = if has_sink { graph.output(ERR) } else { None };
    let errors = graph.outputs().iter().position(|port| has_sink && port == ERR);
    let (inputs, sources) = inputs(&graph, endpoints.sources, dead_letters, args, &mut plan)?;
    let outputs = outputs(&graph, endpoints.sinks, args, &mut plan);
    let letters = letter::letters_of(&outputs, &mut plan, args.dead_letters.as_deref());
    let states = Mutex::new(graph.start());
    let (seed, tables) = (args.seed, endpoints.tables.shared());
    let pipeline = Pipeline {
        graph,
        sources: Arc::new(texts),
        inputs,
        outputs,
        errors,
        seed,
        letters,
        tables,
        states,
    };
    Ok(Planned { pipeline, plan, sources })
}

fn progress_width(args: &RunArgs) -> Option<usize> {
    (!args.quiet && std::io::stderr().is_terminal()).then_some(PROGRESS_WIDTH)
}

/// What a source is called, and what it is made of.
type MadeOf = (String, String);

/// The sources of the file; that of the command line when it names none.
fn inputs(
    graph: &Graph,
    declared: Vec<SourceEndpoint>,
    dead_letters: Option<usize>,
    args: &RunArgs,
    plan: &mut RunPlan,
) -> Result<(Vec<Input>, Vec<MadeOf>), Error> {
    let mut made_of = Vec::new();
    let (back, declared): (Vec<_>, Vec<_>) =
        declared.into_iter().partition(SourceEndpoint::is_feedback);
    let mut sources = declared;
    if sources.iter().all(|one| is_of_partition(&one.port)) {
        sources.insert(0, args.ends.source());
    }
    let mut inputs = Vec::with_capacity(sources.len());
    for source in back {
        // What nothing reads is printed and counted.
        let refused = source.port.ends_with("/err");
        let node = graph.input(&source.port).or(dead_letters.filter(|_| refused));
        if let Some(node) = node {
            made_of.push((source.port.clone(), layout::made_of(&source)));
            plan.sources.push(source.config);
            inputs.push(Input::new(node, source.codec));
        }
    }
    for source in sources {
        let node = graph.input(&source.port).ok_or_else(|| {
            Error::config(source.port.clone(), "the program has no input port of this name")
        })?;
        let errors = source
            .errors
            .clone()
            .and_then(|(port, source)| {
                let node = graph.input(&port)?;
                Some(ErrorInput { node, source, with_frame: false })
            })
            .or_else(|| {
                let node = dead_letters?;
                Some(ErrorInput { node, source: source.port.clone(), with_frame: true })
            });
        made_of.push((source.port.clone(), layout::made_of(&source)));
        plan.sources.push(source.config);
        inputs.push(Input { node, codec: source.codec, errors });
    }
    Ok((inputs, made_of))
}

/// The sinks of the file; that of the command line for ports that it names none for.
fn outputs(
    graph: &Graph,
    declared: Vec<SinkEndpoint>,
    args: &RunArgs,
    plan: &mut RunPlan,
) -> Vec<Vec<Output>> {
    wire_sinks(graph, declared, args.ends.sink(), plan)
}
