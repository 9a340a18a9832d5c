//! The REPL: rules are tried, explained and measured over samples by the engine of production. The
//! core is a [`Session`] that takes an entry and gives text; it neither prints nor asks a terminal.

mod setup;
mod lines;
mod samples;
mod view;
mod outcome;
mod evaluate;
mod patterns;
mod explain;
mod program;
mod steps;
mod pipeline;
mod logstash;
mod stepping;
mod why;
mod coverage;
mod compare;
mod shape;
mod proposal;
mod formats;
mod suggest;
mod commands;
mod complete;
mod hint;
mod spare;
mod worker;
mod editor;

pub(crate) use complete::candidates;
pub use editor::interact;
pub(crate) use view::Mode;

use commands::Watched;
use evaluate::Evaluator;
use pipeline::Pipeline;
use program::{Notation, Program};
use samples::Samples;
use setup::{STEPS_MAX, Setup};
use spare::Spare;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use temblor_lang::budget::Budget;
use temblor_lang::builtin::Tables;
use temblor_lang::diagnostic::Colour;
use temblor_lang::syntax::parse_script;
use temblor_lang::syntax::tree::Item;
use temblor_logstash::configuration::Wishes;
use temblor_pipeline::load::{Directories, Language};

/// What an entry gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What is shown; ends in a newline unless it is empty.
    pub text: String,
    /// Whether the session ends.
    pub ends: bool,
    /// Whether the entry was wrong.
    pub failed: bool,
}

impl Reply {
    fn new(result: Result<String, String>) -> Self {
        let failed = result.is_err();
        let mut text = result.unwrap_or_else(|reason| reason);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Self { text, ends: false, failed }
    }
}

/// A definition or an assignment as it was entered.
#[derive(Clone, Debug)]
struct Kept {
    text: String,
    /// Whether it takes part.
    on: bool,
    /// Names that it defines for pipelines: none for assignments.
    defines: Vec<String>,
}

/// What a person has entered so far, and the samples that it is tried on.
#[derive(Debug)]
pub struct Session {
    samples: Samples,
    /// Definitions and assignments: they run in front of every expression.
    kept: Vec<Kept>,
    /// The pipeline that was entered last, with what it remembers.
    pipeline: Option<Pipeline>,
    /// The program that was on the bench before it.
    before: Option<Program>,
    /// The last expression.
    last: Option<String>,
    mode: Mode,
    /// Everything that was entered and not refused, for `:save session`.
    log: Vec<String>,
    /// Lines that are being pasted.
    pasted: Option<Vec<String>>,
    watched: Option<Watched>,
    setup: Setup,
    /// Nanoseconds since 1970 at which the next event arrives.
    now_ns: u64,
    /// How configurations of Logstash are read.
    wishes: Wishes,
}

impl Session {
    /// An empty session; modules are searched in `path`.
    #[must_use]
    pub fn new(path: Vec<PathBuf>, colour: Colour) -> Self {
        let setup = Setup::new(path, colour);
        Self {
            samples: Samples::none(setup.budget.clone()),
            kept: Vec::new(),
            pipeline: None,
            before: None,
            last: None,
            mode: Mode::Pretty,
            log: Vec::new(),
            pasted: None,
            watched: None,
            setup,
            now_ns: 0,
            wishes: Wishes::default(),
        }
    }

    /// Takes in a file of samples.
    ///
    /// # Errors
    /// A sentence about the file, when it cannot be read.
    pub fn load(&mut self, file: &Path) -> Result<(), String> {
        self.samples = Samples::open(file, self.setup.budget.clone())?;
        Ok(())
    }

    /// Gives programs lookup tables.
    pub fn set_tables(&mut self, tables: Option<Arc<dyn Tables>>) {
        self.setup.tables = tables;
    }

    /// How configurations of Logstash are read that are loaded from here on.
    pub fn set_wishes(&mut self, wishes: Wishes) {
        self.wishes = wishes;
    }

    /// Puts a configuration of Logstash on the bench: a file, a folder, or a `pipelines.yml`.
    /// `wishes` hold for those that are loaded later, too.
    pub fn load_configuration(&mut self, path: &Path, wishes: Wishes) -> Reply {
        self.setup.budget.fill(STEPS_MAX);
        self.wishes = wishes;
        let program = program::configuration_at(path, &self.wishes);
        let compiled = program.and_then(|program| {
            Pipeline::compile(program, &self.setup).map_err(|unreadable| unreadable.text)
        });
        Reply::new(compiled.and_then(|pipeline| self.put_on_bench(pipeline)))
    }

    /// What ends an evaluation from another thread, such as at Ctrl-C.
    #[must_use]
    pub fn budget(&self) -> Arc<Budget> {
        self.setup.budget.clone()
    }

    /// The columns of the terminal, for drawings.
    pub(crate) fn set_width(&mut self, columns: usize) {
        self.setup.width.set(columns);
    }

    /// The file that is looked at, by `:watch`.
    #[must_use]
    pub fn watched(&self) -> Option<&Path> {
        self.watched.as_ref().map(|watched| watched.file.as_path())
    }

    /// Takes a line or more: a command that begins with `:`, definitions, assignments, an
    /// expression, a chain or a whole pipeline.
    pub fn enter(&mut self, entry: &str) -> Reply {
        self.setup.budget.fill(STEPS_MAX);
        if let Some(reply) = self.pasting(entry) {
            return reply;
        }
        let entry = entry.trim();
        if entry.is_empty() {
            return Reply::new(Ok(String::new()));
        }
        let reply = match entry.strip_prefix(':') {
            Some("quit" | "q" | "exit") => {
                return Reply { text: String::new(), ends: true, failed: false };
            }
            Some(command) => Reply::new(self.command(command)),
            None if are_records(entry) => {
                let lines: Vec<&str> = entry.lines().collect();
                Reply::new(commands::take_samples(self, &lines))
            }
            None => Reply::new(self.program(entry)),
        };
        if !reply.failed && !entry.starts_with(":save") {
            self.log.push(entry.to_string());
        }
        reply
    }

    /// While lines are pasted, they are taken as they are.
    fn pasting(&mut self, entry: &str) -> Option<Reply> {
        const END: &str = ":end";
        let mut lines = self.pasted.take()?;
        for line in entry.lines().map(str::trim_end) {
            if line.trim() == END {
                let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                return Some(Reply::new(commands::take_samples(self, &lines)));
            }
            if !line.is_empty() {
                lines.push(line.to_string());
            }
        }
        self.pasted = Some(lines);
        Some(Reply::new(Ok(String::new())))
    }

    /// The entries that take part.
    fn live(&self) -> Vec<String> {
        self.kept.iter().filter(|kept| kept.on).map(|kept| kept.text.clone()).collect()
    }

    /// A piece of a script, or a pipeline: whichever the text can be read as.
    fn program(&mut self, entry: &str) -> Result<String, String> {
        let setup = self.setup.clone();
        let directories = Directories::new(&setup.path, None);
        let mut evaluator = Evaluator::new(&directories, &self.live(), &setup);
        let script = match evaluator.parse(entry) {
            Ok(items) => return self.script(entry, items, evaluator),
            Err(script) => script,
        };
        let program = Program {
            name: "<entry>".to_string(),
            prelude: self.definitions_for(entry),
            text: entry.to_string(),
            notation: Notation::Of(Language::Temblor),
            file: None,
        };
        match Pipeline::compile(program, &setup) {
            Ok(pipeline) => self.put_on_bench(pipeline),
            // The notation that could be read further is the one that was meant.
            Err(flow) if flow.end > script.end => Err(flow.text),
            Err(_) => Err(script.text),
        }
    }

    fn put_on_bench(&mut self, pipeline: Pipeline) -> Result<String, String> {
        if let Some(old) = self.pipeline.take() {
            self.before = Some(old.program);
        }
        self.pipeline.insert(pipeline).overview(&mut self.samples, self.mode)
    }

    /// A program file. A script that only defines adds to what was entered; all else goes on the
    /// bench.
    fn enter_file(&mut self, name: &str) -> Result<String, String> {
        let program = commands::program_of(name, &self.wishes)?;
        if matches!(program.notation, Notation::Of(Language::Script)) {
            let mut sources = temblor_lang::span::Sources::default();
            let source = sources.add(name, program.text.as_str());
            let items = parse_script(&sources, source).tree.items;
            if !items.is_empty() && items.iter().all(|item| !matches!(item, Item::Expr(_))) {
                return self.program(&program.text);
            }
        }
        let pipeline = Pipeline::compile(program, &self.setup);
        self.put_on_bench(pipeline.map_err(|unreadable| unreadable.text)?)
    }

    /// The definitions that an entry names, to stand in front of a pipeline.
    fn definitions_for(&self, entry: &str) -> String {
        let words: Vec<&str> = entry.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let is_named = |kept: &&Kept| {
            kept.on && kept.defines.iter().any(|name| words.contains(&name.as_str()))
        };
        let any = self.kept.iter().any(|kept| is_named(&kept));
        let definitions =
            self.kept.iter().filter(|kept| any && kept.on && !kept.defines.is_empty());
        definitions.map(|kept| format!("{};\n", kept.text)).collect()
    }

    fn script(
        &mut self,
        entry: &str,
        items: Vec<Item>,
        mut evaluator: Evaluator<'_>,
    ) -> Result<String, String> {
        let sample = self.samples.current()?;
        let prepared = evaluator.prepare(items.clone())?;
        let done = evaluator.evaluate(&prepared, &sample, self.now_ns);
        let keeps = items.iter().any(|item| match item {
            Item::Expr(expr) => evaluate::is_assignment(expr),
            _ => true,
        });
        let value = done.value.map_err(|error| evaluator.failure(&error))?;
        if keeps {
            let text = entry.trim_end_matches(';').to_string();
            self.kept.push(Kept { text, on: true, defines: defined(&items) });
        } else {
            self.last = Some(entry.to_string());
        }
        let mut text = prepared.warnings;
        if items.iter().all(|item| !matches!(item, Item::Expr(_))) {
            return Ok(text);
        }
        let (before, colour) = (sample.event(), self.setup.colour);
        if done.dropped {
            text.push_str(&view::paint(colour, "33", "dropped\n"));
        } else if matches!(items.last(), Some(Item::Expr(expr)) if evaluate::assigns_event(expr)) {
            text.push_str(&view::difference(&before, &done.event, colour));
        } else {
            if let Some(port) = done.port {
                text.push_str(&format!("{}: ", view::paint(colour, "1;34", &port)));
            }
            text.push_str(&view::value(&value, &before, self.mode, colour));
        }
        Ok(text)
    }
}

/// Whether a text is lines of JSON records, as they are pasted from a log. A single record is an
/// expression.
fn are_records(entry: &str) -> bool {
    let arena = temblor_lang::value::Arena::new();
    let is_record = |line: &str| {
        line.trim_start().starts_with('{')
            && temblor_stdlib::formats::json::parse(line, &arena).is_ok()
    };
    entry.lines().count() > 1 && entry.lines().all(is_record)
}

/// Names that items define, if all of them are definitions.
fn defined(items: &[Item]) -> Vec<String> {
    let name = |item: &Item| match item {
        Item::Const(one) => Some(one.name.text.clone()),
        Item::Fn(one) => Some(one.name.text.clone()),
        _ => None,
    };
    if items.iter().any(|item| matches!(item, Item::Expr(_))) {
        return Vec::new();
    }
    items.iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests;
