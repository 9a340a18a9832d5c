//! `temblor run`: sources, sinks and workers for a program, and what is said at its end.

use super::check::FAULTY;
use super::{RunArgs, StatsFormat};
use std::io::IsTerminal;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use temblor_pipeline::endpoint::{SinkEndpoint, SourceEndpoint, wire_sinks};
use temblor_pipeline::graph::Graph;
use temblor_pipeline::load::{Language, Loaded};
use temblor_pipeline::operator::ERR;
use temblor_pipeline::pipeline::{ErrorInput, Input, Output, Pipeline};
use temblor_runtime::clock::Clock;
use temblor_runtime::error::Error;
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
    let loaded = match args.program.load_with_errors(args.ends.shows_ports()) {
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
    let (pipeline, plan) = match plan(loaded, &args, started) {
        Ok(planned) => planned,
        Err(error) => return refuse(&error.to_string()),
    };
    let alone = plan.workers == 1;
    match temblor_runtime::run::run(plan, |_| Ok(pipeline.worker(alone))) {
        Ok(summary) => finish(&summary, &args, has_endpoints),
        Err(error) => {
            eprintln!("error: {error}");
            error.exit_code()
        }
    }
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

fn plan(
    loaded: Loaded,
    args: &RunArgs,
    started: Instant,
) -> Result<(Arc<Pipeline>, RunPlan), Error> {
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
        progress_width: progress_width(args),
        started,
        ..RunPlan::default()
    };
    let Loaded { graph, endpoints, sources, .. } = loaded;
    // A sink for `err` also takes what cannot even be read.
    let has_sink = args.ends.shows_ports() || endpoints.sinks.iter().any(|sink| sink.port == ERR);
    let dead_letters = if has_sink { graph.output(ERR) } else { None };
    let errors = graph.outputs().iter().position(|port| has_sink && port == ERR);
    let inputs = inputs(&graph, endpoints.sources, dead_letters, args, &mut plan)?;
    let outputs = outputs(&graph, endpoints.sinks, args, &mut plan);
    let states = Mutex::new(graph.start());
    let sources = Arc::new(sources);
    let (seed, tables) = (args.seed, endpoints.tables.shared());
    let pipeline = Pipeline { graph, sources, inputs, outputs, errors, seed, tables, states };
    Ok((Arc::new(pipeline), plan))
}

fn progress_width(args: &RunArgs) -> Option<usize> {
    (!args.quiet && std::io::stderr().is_terminal()).then_some(PROGRESS_WIDTH)
}

/// The sources of the file; that of the command line when it names none.
fn inputs(
    graph: &Graph,
    declared: Vec<SourceEndpoint>,
    dead_letters: Option<usize>,
    args: &RunArgs,
    plan: &mut RunPlan,
) -> Result<Vec<Input>, Error> {
    let (back, declared): (Vec<_>, Vec<_>) =
        declared.into_iter().partition(SourceEndpoint::is_feedback);
    let sources = if declared.is_empty() { vec![args.ends.source()] } else { declared };
    let mut inputs = Vec::with_capacity(sources.len());
    for source in back {
        // What nothing reads is printed and counted.
        let refused = source.port.ends_with("/err");
        let node = graph.input(&source.port).or(dead_letters.filter(|_| refused));
        if let Some(node) = node {
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
            .and_then(|(port, source)| {
                let node = graph.input(&port)?;
                Some(ErrorInput { node, source, with_frame: false })
            })
            .or_else(|| {
                let node = dead_letters?;
                Some(ErrorInput { node, source: source.port.clone(), with_frame: true })
            });
        plan.sources.push(source.config);
        inputs.push(Input { node, codec: source.codec, errors });
    }
    Ok(inputs)
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
