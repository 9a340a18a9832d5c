//! A bounded interpreter of the part of Ruby that inline code of configurations is written in. Code is
//! read as a whole when it is loaded: what is not known here is named then, and never half run.
//!
//! Its values live in a heap that belongs to the filter ([`Memory`]); what the code of one event may spend is counted there
//! ([`Limits`]). Going beyond a bound ends the code of that event with a reason; it never ends the process. Of the
//! events it knows their values, fields, templates and times, and nothing of filters.

pub mod plain;
pub(super) mod tree;
mod scan;
mod parse;
mod resolve;
mod text;
mod budget;
mod numeric;
mod dictionary;
mod heap;
mod value;
mod print;
mod run;

pub use budget::{Breach, Limits};
pub use heap::Heap;
pub use run::{Machine, Memory, Stop};
pub(super) use run::{read_float, read_integer};
pub use tree::Script;
pub use value::Value;

/// Variables that code finds set.
const GIVEN: &[&str] = &["event", "map", "map_meta", "new_event_block"];

/// Why code cannot be run, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The byte of the code.
    pub at: usize,
    /// A sentence.
    pub message: String,
}

impl Problem {
    fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl Script {
    /// Reads code that may call the functions `defined` elsewhere.
    ///
    /// # Errors
    /// When there is something in it that is not understood or not known.
    pub fn parse(code: &str, defined: &[String]) -> Result<Script, Problem> {
        let mut body = parse::parse(code)?;
        let variables = resolve::resolve(&mut body, GIVEN);
        let known = run::check(&body, defined)?;
        Ok(Script { body, variables, remembers: known.remembers, defined: known.defined })
    }

    /// What it does.
    pub(super) fn body(&self) -> &tree::Node {
        &self.body
    }

    /// Whether it uses variables that outlive an event.
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.remembers
    }

    /// The functions that it defines.
    #[must_use]
    pub fn defined(&self) -> Vec<String> {
        self.defined.clone()
    }
}

#[cfg(test)]
mod tests;
