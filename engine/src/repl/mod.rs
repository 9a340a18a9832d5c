//! The REPL: rules are tried, explained and measured over samples by the engine of production. The
//! core is a [`Session`] that takes an entry and gives text; it neither prints nor asks a terminal.

mod command;
mod complete;
mod editor;
mod evaluate;
mod explain;
mod flow;
mod samples;
mod view;

pub use complete::candidates;
pub use editor::interact;
pub use view::Mode;

use crate::load::Directories;
use evaluate::Evaluator;
use samples::Samples;
use std::path::{Path, PathBuf};
use temblor_lang::diagnostic::Colour;
use temblor_lang::syntax::tree::Item;

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

/// What a person has entered so far, and the samples that it is tried on.
#[derive(Debug)]
pub struct Session {
    samples: Samples,
    /// Definitions and assignments, each as it was entered: they run in front of every expression.
    kept: Vec<String>,
    /// The pipeline that was entered last, with what it remembers.
    pipeline: Option<flow::Pipeline>,
    mode: Mode,
    colour: Colour,
    /// Everything that was entered and not refused, for `:save session`.
    log: Vec<String>,
    /// Where modules are searched.
    path: Vec<PathBuf>,
    /// Nanoseconds since 1970 at which the next event arrives.
    now_ns: u64,
}

impl Session {
    /// An empty session; modules are searched in `path`.
    #[must_use]
    pub fn new(path: Vec<PathBuf>, colour: Colour) -> Self {
        Self {
            samples: Samples::default(),
            kept: Vec::new(),
            pipeline: None,
            mode: Mode::Pretty,
            colour,
            log: Vec::new(),
            path,
            now_ns: 0,
        }
    }

    /// Takes in a file of samples.
    ///
    /// # Errors
    /// A sentence about the file, when it cannot be read.
    pub fn load(&mut self, file: &Path) -> Result<(), String> {
        self.samples = Samples::open(file)?;
        Ok(())
    }

    /// Takes a line or more: a command that begins with `:`, definitions, assignments, an
    /// expression, a chain or a whole pipeline.
    pub fn enter(&mut self, entry: &str) -> Reply {
        let entry = entry.trim();
        if entry.is_empty() {
            return Reply::new(Ok(String::new()));
        }
        let reply = match entry.strip_prefix(':') {
            Some("quit" | "q" | "exit") => {
                return Reply { text: String::new(), ends: true, failed: false };
            }
            Some(command) => Reply::new(self.command(command)),
            None => Reply::new(self.program(entry)),
        };
        if !reply.failed && !entry.starts_with(":save") {
            self.log.push(entry.to_string());
        }
        reply
    }

    /// A piece of a script, or a pipeline: whichever the text can be read as.
    fn program(&mut self, entry: &str) -> Result<String, String> {
        let directories = Directories::new(&self.path, None);
        let mut evaluator = Evaluator::new(&directories, &self.kept, self.colour);
        match evaluator.parse(entry) {
            Ok(items) => self.script(entry, items, evaluator),
            Err(script) => match flow::Pipeline::compile(entry, &self.path, self.colour) {
                Ok(pipeline) => {
                    let shown = self.pipeline.insert(pipeline).overview(
                        &mut self.samples,
                        self.mode,
                        self.colour,
                    )?;
                    Ok(shown)
                }
                // The notation that could be read further is the one that was meant.
                Err(flow) if flow.end > script.end => Err(flow.text),
                Err(_) => Err(script.text),
            },
        }
    }

    fn script(
        &mut self,
        entry: &str,
        items: Vec<Item>,
        mut evaluator: Evaluator<'_>,
    ) -> Result<String, String> {
        let sample = self.samples.current()?;
        let done = evaluator.run(items.clone(), &sample, self.now_ns)?;
        let keeps = items.iter().any(|item| match item {
            Item::Expr(expr) => evaluate::is_assignment(expr),
            _ => true,
        });
        let value = done.value.map_err(|error| evaluator.failure(&error))?;
        if keeps {
            self.kept.push(entry.trim_end_matches(';').to_string());
        }
        if items.iter().all(|item| !matches!(item, Item::Expr(_))) {
            return Ok(done.warnings);
        }
        let before = sample.event();
        let mut text = done.warnings;
        if matches!(items.last(), Some(Item::Expr(expr)) if evaluate::assigns_event(expr)) {
            text.push_str(&view::difference(&before, &done.event, self.colour));
        } else {
            text.push_str(&view::value(&value, &before, self.mode, self.colour));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests;
