//! The commands of the REPL: a table of name, arguments, help and code. Help and completion come
//! from the table.

use super::evaluate::Evaluator;
use super::explain::{self, Explainer};
use super::view::{self, Mode};
use super::{Session, flow};
use crate::graph::parse_duration;
use crate::load::{Directories, Language};
use std::path::Path;
use std::time::Instant;
use temblor_lang::builtin::{Arity, Function};
use temblor_lang::syntax::tree::Item;
use temblor_lang::value::Arena;

/// Samples that `:find` looks at, at the most.
const FIND_MAX: usize = 1_000_000;
/// Runs of `:time` without a number.
const TIMED_RUNS: u32 = 1_000;
/// Runs of `:time`, at the most.
const TIMED_RUNS_MAX: u32 = 1_000_000;

/// A command.
pub struct Command {
    /// Its name, without the colon.
    pub name: &'static str,
    /// What is typed behind it.
    pub arguments: &'static str,
    /// A line of help.
    pub help: &'static str,
    run: fn(&mut Session, &str) -> Result<String, String>,
}

/// All commands, as `:help` lists them.
pub const COMMANDS: &[Command] = &[
    Command { name: "help", arguments: "", help: "list the commands", run: |_, _| Ok(help()) },
    Command {
        name: "load",
        arguments: "FILE",
        help: "take samples from the lines of a file, or a pipeline from a program file",
        run: load,
    },
    Command {
        name: "sample",
        arguments: "JSON",
        help: "add a sample and go to it",
        run: |session, text| {
            session.samples.add(text)?;
            Ok(String::new())
        },
    },
    Command { name: "event", arguments: "", help: "show the current sample", run: event },
    Command {
        name: "next",
        arguments: "",
        help: "go to the next sample",
        run: |session, _| go_to(session, session.samples.number() + 1),
    },
    Command {
        name: "prev",
        arguments: "",
        help: "go to the sample before",
        run: |session, _| go_to(session, session.samples.number() - 1),
    },
    Command {
        name: "goto",
        arguments: "N",
        help: "go to the sample with this number, from 1",
        run: |session, text| go_to(session, number(text)?),
    },
    Command {
        name: "find",
        arguments: "EXPR",
        help: "go to the next sample for which this is true",
        run: find,
    },
    Command {
        name: "explain",
        arguments: "EXPR | grok \"PATTERN\" EXPR",
        help: "say why: the value of each part, each arm of a match, how far a pattern got",
        run: explain_entry,
    },
    Command {
        name: "diff",
        arguments: "",
        help: "show what the assignments so far change in the event",
        run: |session, _| {
            let done = session.replay(session.kept.len())?;
            let before = session.samples.current()?.event();
            Ok(view::difference(&before, &done, session.colour))
        },
    },
    Command {
        name: "steps",
        arguments: "",
        help: "show what each step of the chain, or each assignment, changes",
        run: steps,
    },
    Command {
        name: "run",
        arguments: "",
        help: "send all samples through the pipeline, from a fresh start",
        run: |session, _| {
            let (samples, mode, colour) = (&mut session.samples, session.mode, session.colour);
            pipeline(&mut session.pipeline)?.overview(samples, mode, colour)
        },
    },
    Command {
        name: "send",
        arguments: "",
        help: "send the current sample through the pipeline as it stands",
        run: |session, _| {
            let (sample, mode) = (session.samples.current()?, session.mode);
            Ok(pipeline(&mut session.pipeline)?.send_one(&sample, mode))
        },
    },
    Command { name: "clock", arguments: "[TIME]", help: "show the clock, or put it", run: clock },
    Command {
        name: "advance",
        arguments: "TIME",
        help: "move the clock, such as 10s; timers that are due run",
        run: |session, text| move_clock(session, session.clock_ns(), text),
    },
    Command {
        name: "state",
        arguments: "",
        help: "show how much the steps of the pipeline remember",
        run: |session, _| Ok(pipeline(&mut session.pipeline)?.state()),
    },
    Command { name: "time", arguments: "EXPR", help: "measure an expression", run: time },
    Command { name: "type", arguments: "EXPR", help: "show the kind of a value", run: kind },
    Command {
        name: "doc",
        arguments: "NAME",
        help: "show what a function, an aggregate or a step does",
        run: |_, text| doc(text),
    },
    Command {
        name: "mode",
        arguments: "json|pretty|logfmt|table|changes",
        help: "choose how events are shown",
        run: |session, text| {
            let mode = Mode::named(text);
            let wrong =
                || format!("error: `{text}` is no mode; json, pretty, logfmt, table or changes");
            session.mode = mode.ok_or_else(wrong)?;
            Ok(String::new())
        },
    },
    Command {
        name: "list",
        arguments: "",
        help: "list the definitions and assignments so far",
        run: |session, _| Ok(session.kept.iter().map(|text| format!("{text};\n")).collect()),
    },
    Command {
        name: "undo",
        arguments: "",
        help: "take back the last definition or assignment",
        run: |session, _| {
            let last = session.kept.pop().ok_or("error: there is nothing to take back")?;
            Ok(format!("took back {last}\n"))
        },
    },
    Command {
        name: "save",
        arguments: "test NAME FILE | session FILE",
        help: "write what is on the bench as a test, or the entries so far",
        run: save,
    },
    Command {
        name: "source",
        arguments: "FILE",
        help: "enter the lines of a file, such as a saved session",
        run: source,
    },
    Command { name: "quit", arguments: "", help: "end", run: |_, _| Ok(String::new()) },
];

fn help() -> String {
    let head = |one: &Command| format!(":{} {}", one.name, one.arguments);
    let mut text: String =
        COMMANDS.iter().map(|one| format!("{:36} {}\n", head(one), one.help)).collect();
    text.push_str("anything else is an expression, a definition, a chain or a pipeline\n");
    text
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("error: `{text}` is no number"))
}

fn pipeline(pipeline: &mut Option<flow::Pipeline>) -> Result<&mut flow::Pipeline, String> {
    pipeline.as_mut().ok_or_else(|| {
        "error: there is no pipeline: enter a chain such as `where event.a > 1`".to_string()
    })
}

impl Session {
    /// Runs a command, which is given without its colon.
    pub(super) fn command(&mut self, text: &str) -> Result<String, String> {
        let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match COMMANDS.iter().find(|one| one.name == name) {
            Some(command) => (command.run)(self, arguments.trim()),
            None => {
                let names = COMMANDS.iter().map(|one| one.name);
                let near = temblor_lang::diagnostic::nearest(name, names);
                let help = near.map_or(":help lists all".to_string(), |near| {
                    format!("did you mean `:{near}`?")
                });
                Err(format!("error: there is no command `:{name}`; {help}"))
            }
        }
    }

    /// The time of the next event.
    fn clock_ns(&self) -> u64 {
        self.pipeline.as_ref().map_or(self.now_ns, flow::Pipeline::now_ns)
    }

    /// The event of the current sample behind the first `count` kept entries.
    fn replay(&mut self, count: usize) -> Result<temblor_lang::value::Owned, String> {
        let sample = self.samples.current()?;
        let directories = Directories::new(&self.path, None);
        let mut evaluator = Evaluator::new(&directories, &self.kept[..count], self.colour);
        let items = evaluator.parse("event").map_err(|unreadable| unreadable.text)?;
        let done = evaluator.run(items, &sample, self.now_ns)?;
        done.value.map_err(|error| evaluator.failure(&error))?;
        Ok(done.event)
    }

    /// Reads an expression and gives it to `act`, with what was entered before.
    fn with_expression<T>(
        &mut self,
        text: &str,
        act: impl FnOnce(&mut Evaluator<'_>, Vec<Item>, &mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        let path = self.path.clone();
        let directories = Directories::new(&path, None);
        let mut evaluator = Evaluator::new(&directories, &self.kept, self.colour);
        let items = evaluator.parse(text).map_err(|unreadable| unreadable.text)?;
        act(&mut evaluator, items, self)
    }
}

fn load(session: &mut Session, text: &str) -> Result<String, String> {
    let file = Path::new(text);
    if Language::of(file).is_none() {
        session.load(file)?;
        return event(session, "");
    }
    let (_, program) =
        crate::load::read_program(file).map_err(|error| format!("error: {error}"))?;
    session.program(&program)
}

fn event(session: &mut Session, _: &str) -> Result<String, String> {
    let event = session.samples.current()?.event();
    let shown = match session.mode {
        Mode::Changes => Mode::Pretty,
        mode => mode,
    };
    Ok(view::value(&event, &event, shown, session.colour))
}

fn go_to(session: &mut Session, number: usize) -> Result<String, String> {
    session.samples.go_to(number)?;
    event(session, "")
}

fn find(session: &mut Session, text: &str) -> Result<String, String> {
    let now_ns = session.now_ns;
    let from = session.samples.number();
    let found = session.with_expression(text, |evaluator, items, session| {
        for index in from..from.saturating_add(FIND_MAX) {
            let Some(line) = session.samples.read(index)? else { return Ok(None) };
            let sample = super::samples::Sample { line: Some(line) };
            // A sample for which the expression fails is not the one that is looked for.
            let value = evaluator.run(items.clone(), &sample, now_ns)?.value;
            if value.is_ok_and(|value| value.read(&Arena::new()).as_bool() == Some(true)) {
                return Ok(Some(index + 1));
            }
        }
        Ok(None)
    })?;
    match found {
        Some(number) => Ok(format!("sample {number}\n{}", go_to(session, number)?)),
        None => Err("error: no sample behind this one is like that".to_string()),
    }
}

fn explain_entry(session: &mut Session, text: &str) -> Result<String, String> {
    if let Some(rest) = text.strip_prefix("grok ") {
        return explain_grok(session, rest.trim());
    }
    let (sample, now_ns) = (session.samples.current()?, session.now_ns);
    session.with_expression(text, |evaluator, items, _| {
        let Some(Item::Expr(expr)) = items.last() else {
            return Err("error: only an expression can be explained".to_string());
        };
        Explainer { evaluator, sample: &sample, now_ns }.explain(expr)
    })
}

/// `"PATTERN" EXPR`: the text is the sample itself where there is no expression.
fn explain_grok(session: &mut Session, text: &str) -> Result<String, String> {
    let wrong = "error: write `:explain grok \"PATTERN\" EXPR`";
    let (pattern, rest) = text.strip_prefix('"').and_then(|t| t.rsplit_once('"')).ok_or(wrong)?;
    let (pattern, expr) = match (rest.trim(), pattern.find("\" ")) {
        ("", None) => (pattern, "event"),
        (expr, _) => (pattern, expr),
    };
    let (sample, now_ns) = (session.samples.current()?, session.now_ns);
    session.with_expression(expr, |evaluator, items, _| {
        let done = evaluator.run(items, &sample, now_ns)?;
        let value = done.value.map_err(|error| evaluator.failure(&error))?;
        let arena = Arena::new();
        let text = value.read(&arena);
        let text = text.as_str().ok_or("error: a grok pattern needs a string")?;
        explain::grok(pattern, text)
    })
}

fn steps(session: &mut Session, _: &str) -> Result<String, String> {
    if let Some(pipeline) = &session.pipeline {
        return pipeline.steps(&session.samples.current()?);
    }
    let mut text = String::new();
    let mut before = session.samples.current()?.event();
    for count in 1..=session.kept.len() {
        let after = session.replay(count)?;
        let head = format!("{count}. {}", session.kept[count - 1]);
        text.push_str(&format!("{}\n", view::paint(session.colour, "1", &head)));
        text.push_str(&view::difference(&before, &after, session.colour));
        before = after;
    }
    Ok(text)
}

fn clock(session: &mut Session, text: &str) -> Result<String, String> {
    if !text.is_empty() {
        return move_clock(session, 0, text);
    }
    Ok(format!("{} ns since 1970-01-01 UTC\n", session.clock_ns()))
}

fn move_clock(session: &mut Session, from_ns: u64, text: &str) -> Result<String, String> {
    let wrong = || format!("error: `{text}` is no duration: write it like 250ms or 10s");
    let step_ns = parse_duration(text).ok_or_else(wrong)?;
    session.now_ns = from_ns.saturating_add(step_ns);
    match &mut session.pipeline {
        Some(pipeline) => Ok(pipeline.set_clock(session.now_ns, session.mode)),
        None => Ok(String::new()),
    }
}

fn time(session: &mut Session, text: &str) -> Result<String, String> {
    let (text, runs) = match text.rsplit_once(' ').map(|(head, n)| (head, n.parse::<u32>())) {
        Some((head, Ok(runs)))
            if !head.trim_end().ends_with(['+', '-', '*', '/', '=', '<', '>']) =>
        {
            (head, runs.clamp(1, TIMED_RUNS_MAX))
        }
        _ => (text, TIMED_RUNS),
    };
    let (sample, now_ns) = (session.samples.current()?, session.now_ns);
    session.with_expression(text, |evaluator, items, _| {
        let started = Instant::now();
        let ran = evaluator.measure(items, &sample, now_ns, runs)?;
        let each = ran.as_nanos() / u128::from(runs);
        let compiled = started.elapsed().saturating_sub(ran);
        Ok(format!("{each} ns each of {runs} runs; compiled in {} µs\n", compiled.as_micros()))
    })
}

fn kind(session: &mut Session, text: &str) -> Result<String, String> {
    let (sample, now_ns) = (session.samples.current()?, session.now_ns);
    session.with_expression(text, |evaluator, items, _| {
        let done = evaluator.run(items, &sample, now_ns)?;
        let value = done.value.map_err(|error| evaluator.failure(&error))?;
        let arena = Arena::new();
        let value = value.read(&arena);
        let mut text = format!("{}\n", value.kind().name());
        for (key, field) in value.as_record(&arena).into_iter().flat_map(|record| record.iter()) {
            text.push_str(&format!("  {key}: {}\n", field.kind().name()));
        }
        Ok(text)
    })
}

fn doc(name: &str) -> Result<String, String> {
    let registry = temblor_stdlib::registry();
    if let Some(function) = registry.function(name) {
        return Ok(function_page(function));
    }
    let aggregate =
        registry.aggregate(name).or_else(|| registry.aggregate(&format!("aggr::{name}")));
    if let Some(aggregate) = aggregate {
        return Ok(format!("{}: aggregate\n{}\n", aggregate.path, aggregate.doc));
    }
    if let Some(step) = crate::operators::find(name) {
        return Ok(format!("{}: step\n{}\n", step.path, step.doc));
    }
    let mut known = registry.function_paths();
    known.extend(registry.aggregate_paths());
    let full = format!("std::{name}");
    let near = temblor_lang::diagnostic::nearest(&full, known).map_or(String::new(), |near| {
        format!("; did you mean `{}`?", near.strip_prefix("std::").unwrap_or(near))
    });
    Err(format!("error: nothing is named `{name}`{near}"))
}

fn function_page(function: &Function) -> String {
    let params: Vec<_> =
        function.params.iter().map(|(name, kind)| format!("{name}: {}", kind.name())).collect();
    let rest = if function.arity == Arity::Variadic { ", ..." } else { "" };
    let mut text = format!(
        "{}({}{rest}) -> {}\n{}\n",
        function.path,
        params.join(", "),
        function.returns.name(),
        function.doc
    );
    for example in function.examples {
        text.push_str(&format!("  {example}\n"));
    }
    text
}

fn save(session: &mut Session, text: &str) -> Result<String, String> {
    let told = |file: &str, error: std::io::Error| format!("error: {file}: {error}");
    if let Some(file) = text.strip_prefix("session ") {
        let text: String =
            session.log.iter().map(|entry| format!("{}\n", one_line(entry))).collect();
        std::fs::write(file, text).map_err(|error| told(file, error))?;
        return Ok(format!("wrote {file}\n"));
    }
    let arguments = text.strip_prefix("test ").and_then(|rest| rest.trim().rsplit_once(' '));
    let (name, file) =
        arguments.ok_or("error: write `:save test NAME FILE` or `:save session FILE`")?;
    let mut case = test_case(session, name)?;
    let folder = Path::new(file).parent().unwrap_or(Path::new("."));
    crate::casebook::run::update(&mut case, folder).map_err(|error| format!("error: {error}"))?;
    let before = std::fs::read_to_string(file).unwrap_or_default();
    let mut cases = crate::casebook::file::CaseFile::read(&before);
    cases.cases.retain(|other| other.head != case.head);
    cases.cases.push(case);
    std::fs::write(file, cases.write()).map_err(|error| told(file, error))?;
    Ok(format!("wrote {file}\n"))
}

fn one_line(entry: &str) -> String {
    entry.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// What is on the bench as a case: the pipeline, or else the assignments, with the current sample.
fn test_case(session: &mut Session, name: &str) -> Result<crate::casebook::file::Case, String> {
    let (kind, program) = match &session.pipeline {
        Some(pipeline) => ("program", format!("{}\n", pipeline.text)),
        None if session.kept.is_empty() => {
            return Err(
                "error: there is nothing to test: enter a pipeline or an assignment".to_string()
            );
        }
        None => ("script", prelude_free(session)?),
    };
    let line = session.samples.current()?.line.ok_or("error: there is no sample")?;
    let is_json = temblor_stdlib::formats::json::parse(&line, &Arena::new()).is_ok();
    let mut text = format!("=== {kind}: {name}\n{program}");
    if !is_json {
        text.push_str("--- codec string\n");
    }
    text.push_str(&format!("--- in\n{line}\n"));
    let mut file = crate::casebook::file::CaseFile::read(&text);
    Ok(file.cases.remove(0))
}

/// The assignments as a script; standard modules that they name are taken into use.
fn prelude_free(session: &Session) -> Result<String, String> {
    let body: String = session.kept.iter().map(|text| format!("{text};\n")).collect();
    let modules = temblor_stdlib::registry().module_paths();
    let mut uses = String::new();
    for module in modules.iter().filter_map(|path| path.strip_prefix("std::")) {
        let is_named = !module.contains("::") && body.contains(&format!("{module}::"));
        if is_named && !body.contains(&format!("use std::{module}")) {
            uses.push_str(&format!("use std::{module};\n"));
        }
    }
    Ok(format!("{uses}{body}event\n"))
}

fn source(session: &mut Session, file: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("error: {file}: {error}"))?;
    let mut shown = String::new();
    for line in text.lines().filter(|line| !line.starts_with(":source")) {
        let reply = session.enter(line);
        if reply.failed {
            return Err(format!("{shown}{}", reply.text));
        }
        shown.push_str(&reply.text);
    }
    Ok(shown)
}

/// A line about a name that can be completed to.
pub(super) fn hint(word: &str) -> Option<String> {
    if let Some(name) = word.strip_prefix(':') {
        let command = COMMANDS.iter().find(|one| one.name == name)?;
        return Some(command.help.to_string());
    }
    let page = doc(word).ok()?;
    page.lines().next().map(str::to_string)
}
