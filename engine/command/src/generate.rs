//! `temblor generate`: generated events on standard output.

use super::check::FAULTY;
use super::{Command, GenerateArgs, Verb};
use clap::Parser;
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::time::{Duration, Instant};
use temblor_generate::envelope::EnvelopeParts;
use temblor_generate::eventgen::outputs::Output;
use temblor_generate::eventgen::rotation::Rotation;
use temblor_generate::eventgen::{self, Loaded, Stanza};
use temblor_generate::spec::SETTINGS;
use temblor_generate::{Spec, Stream};
use temblor_lang::lower::{Compiler, NoModules, Rules, Scope};
use temblor_lang::program::Formula;
use temblor_lang::value::{Arena, Value};
use temblor_runtime::clock::{Timestamp, nanoseconds, system_time};
use temblor_runtime::limits::BLOCK_BYTES;
use temblor_stdlib::formats::datetime::DateFormat;

/// Generates events; gives the exit code.
pub(crate) fn generate(args: &GenerateArgs) -> u8 {
    let result = match (&args.explain, args.conf.is_empty()) {
        (Some(file), _) => explain(file),
        (None, true) => {
            spec(args).and_then(|spec| print(&[(spec, Output::Stdout)], args)).map(|()| 0)
        }
        (None, false) => configured(args),
    };
    result.unwrap_or_else(|reason| {
        eprintln!("error: {}", reason.trim_end());
        FAULTY
    })
}

fn explain(file: &std::path::Path) -> Result<u8, String> {
    let loaded = eventgen::load(&[file.to_path_buf()])?;
    let _ = std::io::stdout().write_all(eventgen::explain::explain(&loaded).as_bytes());
    Ok(0)
}

/// Generates what configurations say.
fn configured(args: &GenerateArgs) -> Result<u8, String> {
    let Loaded { mut stanzas, notes } = eventgen::load(&args.conf)?;
    for note in &notes {
        eprintln!("note: {note}");
    }
    let wanted = |one: &Stanza| {
        args.kind.as_ref().is_none_or(|name| *name == one.name || *name == one.section)
    };
    stanzas.retain(wanted);
    if stanzas.is_empty() {
        let names: Vec<_> = args.conf.iter().map(|file| file.display().to_string()).collect();
        return Err(format!("{}: there is no such stanza that makes events", names.join(", ")));
    }
    let mut told = BTreeSet::new();
    for Stanza { place, section, notes, .. } in &stanzas {
        // A stanza of several samples says the same of each.
        for note in notes.iter().filter(|note| told.insert((place, *note))) {
            eprintln!("note: {place}: [{section}]: {note}");
        }
    }
    for stanza in &mut stanzas {
        given(stanza, args)?;
    }
    let is_sent = |one: &Stanza| matches!(one.output, Output::Sinks { .. });
    let (sent, printed): (Vec<_>, Vec<_>) = stanzas.into_iter().partition(is_sent);
    let specs: Vec<_> = printed.into_iter().map(|one| (one.spec, one.output)).collect();
    if sent.is_empty() {
        return print(&specs, args).map(|()| 0);
    }
    std::thread::scope(|scope| {
        let printing = scope.spawn(|| print(&specs, args));
        let code = through_sinks(sent, args)?;
        printing.join().map_err(|_| "printing panicked".to_string())??;
        Ok(code)
    })
}

/// What the command line says of a stanza.
fn given(stanza: &mut Stanza, args: &GenerateArgs) -> Result<(), String> {
    if args.stdout {
        stanza.output = Output::Stdout;
        stanza.spec.envelope = EnvelopeParts::default();
    }
    let place = || format!("{}: [{}]: outputMode", stanza.place, stanza.section);
    match &stanza.output {
        Output::Refused(reason) => {
            return Err(format!("{}: {reason}; --stdout prints the events", place()));
        }
        Output::Sinks { sinks, .. } => {
            let registry = temblor_catalog::registry();
            if let Some(sink) = sinks.iter().find(|sink| !registry.has_sink(sink.kind)) {
                let (place, kind) = (place(), sink.kind);
                return Err(format!(
                    "{place}: this build has no sink `{kind}`; --stdout prints the events"
                ));
            }
        }
        _ => {}
    }
    if let Some(count) = args.count {
        stanza.spec.count = Some(count);
        stanza.settings.insert("count".to_string(), count.into());
    }
    if let Some(seed) = args.seed {
        stanza.spec.seed = seed;
        stanza.settings.insert("seed".to_string(), seed.into());
    }
    if let Some(start) = start(args)? {
        stanza.spec.start = Some(start);
        stanza.settings.insert("start".to_string(), start.into());
    }
    Ok(())
}

/// Runs the program that a configuration is converted to: its sinks are those of programs.
fn through_sinks(mut stanzas: Vec<Stanza>, args: &GenerateArgs) -> Result<u8, String> {
    for Stanza { settings, .. } in &mut stanzas {
        if let Some(span) = args.span {
            settings.insert("span".to_string(), nanoseconds(span).into());
        }
        if args.virtual_clock {
            // The clock of a run begins at 0, that of the events now.
            settings.entry("start").or_insert_with(|| system_time().into());
        }
    }
    let loaded = Loaded { stanzas, notes: Vec::new() };
    let (text, _) = eventgen::convert::convert(&loaded, 0);
    let mut words = vec!["temblor", "run", "--quiet", "-e", &text];
    if args.virtual_clock {
        words.extend(["--virtual-clock", "1ns"]);
    }
    let command = Command::try_parse_from(words);
    match command.map_err(|error| error.to_string())?.verb {
        Verb::Run(run) => Ok(super::run::run(*run)),
        _ => Err("the program could not be run".to_string()),
    }
}

/// The time at which events begin.
fn start(args: &GenerateArgs) -> Result<Option<Timestamp>, String> {
    let Some(text) = &args.start else { return Ok(None) };
    let time = DateFormat::compile("%Y-%m-%dT%H:%M:%SZ").nanoseconds(text);
    let time = time.and_then(|time| u64::try_from(time).ok());
    time.map(Some).ok_or_else(|| format!("--start: `{text}` is not like 2026-01-01T00:00:00Z"))
}

/// The spec of a kind; options and `--set` pairs are settings like those of a `source`.
fn spec(args: &GenerateArgs) -> Result<Spec, String> {
    let arena = Arena::new();
    let mut record = arena.record_builder(args.set.len() + 4);
    for pair in &args.set {
        let (name, text) = pair.split_once('=').ok_or(format!("`{pair}` is not NAME=VALUE"))?;
        let name = name.trim();
        if !SETTINGS.iter().any(|row| row.name == name) {
            let known = SETTINGS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
            return Err(format!("there is no setting `{name}`; known are {known}"));
        }
        record.insert(arena.str(name), value(text, &arena));
    }
    if let Some(count) = args.count {
        record.insert("count", Value::UInt(count));
    }
    if let Some(rate) = &args.rate {
        record.insert("rate", Value::Str(arena.str(rate)));
    }
    if let Some(seed) = args.seed {
        record.insert("seed", Value::UInt(seed));
    }
    if let Some(start) = start(args)? {
        record.insert("start", Value::UInt(start));
    }
    let kind = args.kind.as_deref().unwrap_or("template");
    let text = args.template.as_deref().map(template).transpose()?;
    Spec::from_settings(kind, record.finish(), text)
        .map_err(|error| format!("{}: {}", error.name, error.reason))
}

/// JSON where it is some, else a string.
fn value<'a>(text: &str, arena: &'a Arena) -> Value<'a> {
    let parsed = temblor_stdlib::formats::json::parse(text, arena);
    parsed.unwrap_or_else(|_| Value::Str(arena.str(text)))
}

/// The text of a template as the inside of a string of the language.
fn template(text: &str) -> Result<Formula, String> {
    use temblor_lang::diagnostic::{Colour, render_all};
    let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
    // In this form of string quotation marks need no escape; the generator cuts off its last line end.
    let literal = format!("\"\"\"\n{text}\n\"\"\"");
    let source = compiler.sources.add("<template>", literal);
    let parsed = temblor_lang::syntax::parse_script(&compiler.sources, source);
    compiler.diagnostics.extend(parsed.diagnostics);
    let expr = parsed.tree.items.iter().find_map(|item| match item {
        temblor_lang::syntax::tree::Item::Expr(expr) => Some(expr),
        _ => None,
    });
    let formula =
        expr.map(|expr| compiler.lower_formula(expr, &Scope::with_prelude(), Rules::FORMULA, None));
    match formula.filter(|_| !compiler.has_errors()) {
        Some(formula) => Ok(formula),
        None => Err(render_all(&compiler.diagnostics, &compiler.sources, Colour::Off)),
    }
}

/// The longest single wait.
const WAIT_MAX: Duration = Duration::from_millis(100);
/// Time from one line of figures to the next.
const FIGURES_EVERY: Duration = Duration::from_secs(10);

/// A stream on its way out.
struct Running {
    stream: Stream,
    outlet: Outlet,
    is_paced: bool,
    /// The stream's time when the run began.
    start: Timestamp,
    /// How far it is behind its times, in nanoseconds.
    behind: u64,
}

/// Where events go.
enum Outlet {
    Stdout,
    Nothing,
    File(Rotation, String),
}

impl Outlet {
    fn open(output: &Output) -> Result<Self, String> {
        Ok(match output {
            Output::File { path, bytes_max, backups } => {
                let name = path.display().to_string();
                let file = Rotation::open(path, *bytes_max, *backups);
                Outlet::File(file.map_err(|error| format!("{name}: {error}"))?, name)
            }
            Output::Nothing => Outlet::Nothing,
            Output::Stdout | Output::Sinks { .. } | Output::Refused(_) => Outlet::Stdout,
        })
    }

    /// Writes a block; `false` when nobody reads any more.
    fn write(&mut self, block: &[u8]) -> Result<bool, String> {
        match self {
            Outlet::Nothing => Ok(true),
            Outlet::File(file, name) => match file.write(block) {
                Ok(()) => Ok(true),
                Err(error) => Err(format!("{name}: {error}")),
            },
            Outlet::Stdout => match std::io::stdout().lock().write_all(block) {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
                Err(error) => Err(format!("standard output: {error}")),
            },
        }
    }
}

impl Running {
    fn open(spec: &Spec, output: &Output, begin: Timestamp) -> Result<Self, String> {
        let mut spec = spec.clone();
        spec.start.get_or_insert(begin);
        Ok(Running {
            stream: Stream::open(&spec, begin).map_err(|error| error.to_string())?,
            outlet: Outlet::open(output)?,
            is_paced: spec.is_paced(),
            start: spec.start.unwrap_or(begin),
            behind: 0,
        })
    }

    /// Appends what is due; gives the number of events, and how long after the beginning the next is due
    /// unless there is none.
    fn fill(
        &mut self,
        block: &mut Vec<u8>,
        passed: u64,
        span: u64,
    ) -> Result<(u64, Option<u64>), String> {
        let end = self.start.saturating_add(span);
        let now = if self.is_paced { self.start.saturating_add(passed) } else { u64::MAX };
        let until = now.min(end.saturating_sub(1));
        let filled = self.stream.fill(block, until, BLOCK_BYTES / 2)?;
        let next = filled.next.filter(|next| *next < end);
        self.behind = next.filter(|_| self.is_paced).map_or(0, |next| now.saturating_sub(next));
        Ok((filled.events, next.map(|next| next.saturating_sub(self.start))))
    }
}

/// Virtual time goes on by at least so much at a time, in nanoseconds.
const VIRTUAL_STEP: u64 = 1_000_000_000;

/// Prints the events of all specs at once, each in its own time.
fn print(specs: &[(Spec, Output)], args: &GenerateArgs) -> Result<(), String> {
    let (begin, started) = (system_time(), Instant::now());
    let opened = specs.iter().map(|(spec, output)| Running::open(spec, output, begin));
    let mut running = opened.collect::<Result<Vec<_>, _>>()?;
    let span = args.span.map_or(u64::MAX, nanoseconds);
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    let (mut figures, mut told, mut virtual_time) = (Figures::default(), started, 0);
    while !running.is_empty() {
        let passed = if args.virtual_clock { virtual_time } else { nanoseconds(started.elapsed()) };
        let mut next_due = u64::MAX;
        let mut index = 0;
        while index < running.len() {
            block.clear();
            let (events, next) = running[index].fill(&mut block, passed, span)?;
            figures.add(events, block.len());
            if !running[index].outlet.write(&block)? {
                return Ok(());
            }
            match next {
                Some(next) => (next_due, index) = (next_due.min(next), index + 1),
                None => drop(running.remove(index)),
            }
        }
        if args.stats && told.elapsed() >= FIGURES_EVERY {
            told = Instant::now();
            eprintln!("{}", figures.line(started.elapsed(), &running));
        }
        if next_due <= passed || running.is_empty() {
            continue;
        }
        if args.virtual_clock {
            virtual_time = next_due.saturating_add(VIRTUAL_STEP);
        } else if running.iter().any(|one| one.is_paced) {
            flush()?;
            std::thread::sleep(Duration::from_nanos(next_due - passed).min(WAIT_MAX));
        }
    }
    flush()?;
    if args.stats {
        eprintln!("{}", figures.line(started.elapsed(), &running));
    }
    Ok(())
}

fn flush() -> Result<(), String> {
    match std::io::stdout().flush() {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// What was printed.
#[derive(Default)]
struct Figures {
    events: u64,
    bytes: u64,
}

impl Figures {
    fn add(&mut self, events: u64, bytes: usize) {
        (self.events, self.bytes) = (self.events + events, self.bytes + bytes as u64);
    }

    /// The figures that people who size log stores ask for. Events are printed when they are made, so
    /// what other generators call the depth of their queue is how far behind its times a stream is.
    fn line(&self, elapsed: Duration, running: &[Running]) -> String {
        let seconds = elapsed.as_secs_f64().max(1e-9);
        let (eps, bps) = (self.events as f64 / seconds, self.bytes as f64 / seconds);
        let behind = running.iter().map(|one| one.behind).max().unwrap_or(0) as f64 / 1e9;
        format!(
            "{} events, {} bytes in {seconds:.2} s: {eps:.0} events/s, {:.1} KB/s, {:.2} GB/day; \
             {} streams, at most {behind:.1} s behind",
            self.events,
            self.bytes,
            bps / 1e3,
            bps * 86_400.0 / 1e9,
            running.len()
        )
    }
}
