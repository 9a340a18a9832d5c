//! `temblor generate`: generated events on standard output.

use super::GenerateArgs;
use super::check::FAULTY;
use crate::clock::system_time;
use crate::generate::{Rate, Spec, Stream, eventgen};
use crate::limits::BLOCK_BYTES;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use temblor_lang::lower::{Compiler, NoModules, Rules, Scope};
use temblor_lang::program::Formula;
use temblor_lang::value::{Arena, Value};

/// Generates events; gives the exit code.
pub fn generate(args: &GenerateArgs) -> u8 {
    match specs(args).and_then(|specs| specs.iter().try_for_each(|spec| print(spec, args))) {
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
        if !crate::generate::spec::SETTINGS.contains(&name) {
            let known = crate::generate::spec::SETTINGS.join(", ");
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

fn print(spec: &Spec, args: &GenerateArgs) -> Result<(), String> {
    let (begin, started) = (system_time(), Instant::now());
    let mut stream = Stream::open(spec, begin).map_err(|error| error.to_string())?;
    let is_paced = spec.rate != Rate::Unlimited || spec.has_rhythm();
    let start = spec.start.unwrap_or(begin);
    let mut output = std::io::stdout().lock();
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    let (mut events, mut bytes) = (0, 0);
    loop {
        let passed = crate::clock::nanoseconds(started.elapsed());
        let until = if is_paced { start + passed } else { u64::MAX };
        block.clear();
        let filled = stream.fill(&mut block, until, BLOCK_BYTES / 2)?;
        (events, bytes) = (events + filled.events, bytes + block.len() as u64);
        match output.write_all(&block) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            other => other.map_err(|error| format!("standard output: {error}"))?,
        }
        match filled.next {
            None => break,
            Some(next) if next > until => {
                output.flush().map_err(|error| format!("standard output: {error}"))?;
                std::thread::sleep(Duration::from_nanos(next - until).min(WAIT_MAX));
            }
            Some(_) => {}
        }
    }
    if args.stats {
        eprintln!("{}", volumes(events, bytes, started.elapsed()));
    }
    Ok(())
}

/// The figures that people who size log stores ask for.
fn volumes(events: u64, bytes: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let (eps, bps) = (events as f64 / seconds, bytes as f64 / seconds);
    format!(
        "{events} events, {bytes} bytes in {seconds:.2} s: {eps:.0} events/s, {:.1} KB/s, {:.2} GB/day",
        bps / 1e3,
        bps * 86_400.0 / 1e9
    )
}
