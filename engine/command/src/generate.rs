//! `temblor generate`: generated events on standard output.

use super::GenerateArgs;
use super::check::FAULTY;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use temblor_generate::{Rate, Spec, Stream, eventgen};
use temblor_lang::lower::{Compiler, NoModules, Rules, Scope};
use temblor_lang::program::Formula;
use temblor_lang::value::{Arena, Value};
use temblor_runtime::clock::{Timestamp, system_time};
use temblor_runtime::limits::BLOCK_BYTES;

/// Generates events; gives the exit code.
pub fn generate(args: &GenerateArgs) -> u8 {
    match specs(args).and_then(|specs| print(&specs, args)) {
        Ok(()) => 0,
        Err(reason) => {
            eprintln!("error: {}", reason.trim_end());
            FAULTY
        }
    }
}

fn specs(args: &GenerateArgs) -> Result<Vec<Spec>, String> {
    let Some(file) = &args.conf else { return Ok(vec![spec(args)?]) };
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let directory = file.parent().unwrap_or(Path::new("."));
    let mut stanzas = eventgen::read(&text, directory)?;
    stanzas.retain(|one| args.kind.is_none() || args.kind.as_ref() == Some(&one.name));
    if stanzas.is_empty() {
        return Err(format!("{}: there is no such stanza", file.display()));
    }
    for stanza in stanzas.iter().filter(|stanza| !stanza.ignored.is_empty()) {
        eprintln!("note: [{}]: no effect here: {}", stanza.name, stanza.ignored.join(", "));
    }
    let mut specs: Vec<_> = stanzas.into_iter().map(|stanza| stanza.spec).collect();
    for spec in &mut specs {
        spec.count = args.count.or(spec.count);
        spec.seed = args.seed;
    }
    Ok(specs)
}

/// The spec of a kind; options and `--set` pairs are settings like those of a `source`.
fn spec(args: &GenerateArgs) -> Result<Spec, String> {
    let arena = Arena::new();
    let mut record = arena.record_builder(args.set.len() + 3);
    for pair in &args.set {
        let (name, text) = pair.split_once('=').ok_or(format!("`{pair}` is not NAME=VALUE"))?;
        let name = name.trim();
        if !temblor_generate::spec::SETTINGS.contains(&name) {
            let known = temblor_generate::spec::SETTINGS.join(", ");
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
    record.insert("seed", Value::UInt(args.seed));
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

/// A stream on its way to standard output.
struct Running {
    stream: Stream,
    /// Whether its events have times that must be waited for.
    is_paced: bool,
    /// The stream's time when the run began.
    start: Timestamp,
    /// How far it is behind its times, in nanoseconds.
    behind: u64,
}

impl Running {
    fn open(spec: &Spec, begin: Timestamp) -> Result<Self, String> {
        Ok(Running {
            stream: Stream::open(spec, begin).map_err(|error| error.to_string())?,
            is_paced: spec.rate != Rate::Unlimited || spec.has_rhythm(),
            start: spec.start.unwrap_or(begin),
            behind: 0,
        })
    }

    /// Appends what is due; gives the number of events, and the wait for the next unless there is none.
    fn fill(
        &mut self,
        block: &mut Vec<u8>,
        passed: u64,
    ) -> Result<(u64, Option<Duration>), String> {
        let until = if self.is_paced { self.start + passed } else { u64::MAX };
        let filled = self.stream.fill(block, until, BLOCK_BYTES / 2)?;
        let due = |next| if self.is_paced { until.saturating_sub(next) } else { 0 };
        self.behind = filled.next.map_or(0, due);
        let wait = |next: Timestamp| Duration::from_nanos(next.saturating_sub(until));
        Ok((filled.events, filled.next.map(wait)))
    }
}

/// Prints the events of all specs at once, each in its own time.
fn print(specs: &[Spec], args: &GenerateArgs) -> Result<(), String> {
    let (begin, started) = (system_time(), Instant::now());
    let opened = specs.iter().map(|spec| Running::open(spec, begin));
    let mut running = opened.collect::<Result<Vec<_>, _>>()?;
    let mut output = std::io::stdout().lock();
    let failed = |error: std::io::Error| format!("standard output: {error}");
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    let (mut figures, mut told) = (Figures::default(), started);
    while !running.is_empty() {
        let mut wait = WAIT_MAX;
        let mut index = 0;
        while index < running.len() {
            block.clear();
            let passed = temblor_runtime::clock::nanoseconds(started.elapsed());
            let (events, next) = running[index].fill(&mut block, passed)?;
            figures.add(events, block.len());
            match output.write_all(&block) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                other => other.map_err(failed)?,
            }
            match next {
                Some(next) => (wait, index) = (wait.min(next), index + 1),
                None => drop(running.swap_remove(index)),
            }
        }
        if args.stats && told.elapsed() >= FIGURES_EVERY {
            told = Instant::now();
            eprintln!("{}", figures.line(started.elapsed(), &running));
        }
        if !wait.is_zero() && !running.is_empty() {
            output.flush().map_err(failed)?;
            std::thread::sleep(wait);
        }
    }
    output.flush().map_err(failed)?;
    if args.stats {
        eprintln!("{}", figures.line(started.elapsed(), &running));
    }
    Ok(())
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
