//! A bounded interpreter of the part of Ruby in which the inline code of Logstash configurations is written.
//! Code is parsed and checked as a whole when it is loaded, so that an unknown method is an error of the load and
//! no code runs halfway before it is noticed.
//!
//! Knows the values, fields, templates and times of Logstash events (`temblor-logstash-event`). Does not know
//! filters, configurations, files, networks or a clock: the time is an argument.
//!
//! Invariant: Ruby code cannot harm the process. Its values live in the heap of its filter ([`Memory`]), and what it may
//! spend on one event is counted ([`Limits`]); code that exceeds a limit ends with a reason for that event alone.

pub mod plain;
pub mod tree;
mod scan;
mod parse;
mod resolve;
mod text;
mod budget;
mod handle;
mod decimal;
mod value;
mod dictionary;
mod heap;
mod numeric;
mod equal;
mod datum;
mod run;
mod print;

pub use budget::Limits;
pub use heap::Heap;
pub use run::{Machine, Memory, Stop};
pub use run::{read_float, read_integer};
pub use tree::Script;
pub use value::Value;

/// Variables that are set before code runs.
const GIVEN: &[&str] = &["event", "map", "map_meta", "new_event_block"];

/// Why code cannot run, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The byte offset in the code.
    pub at: usize,
    /// What is wrong, as a sentence.
    pub message: String,
}

impl Problem {
    fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl Script {
    /// Parses and checks code that may call the functions `defined` elsewhere.
    ///
    /// # Errors
    /// When the code has a syntax error, or uses a method, class or variable that this interpreter does not have.
    pub fn parse(code: &str, defined: &[String]) -> Result<Script, Problem> {
        let mut body = parse::parse(code)?;
        let variables = resolve::resolve(&mut body, GIVEN);
        let known = run::check(&body, defined)?;
        Ok(Script { body, variables, remembers: known.remembers, defined: known.defined })
    }

    /// The parsed statements.
    #[must_use]
    pub fn body(&self) -> &tree::Node {
        &self.body
    }

    /// Whether it uses variables that outlive an event (`@a`, `$a`).
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.remembers
    }

    /// The functions and constants that it defines.
    #[must_use]
    pub fn defined(&self) -> Vec<String> {
        self.defined.clone()
    }
}

#[cfg(test)]
mod tests;
