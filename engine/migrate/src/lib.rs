//! Configurations of syslog-ng and rsyslog as Temblor files, with a report about each of their parts, and the steps
//! that read messages as these programs do. No configuration runs here: what is written is checked and run like all
//! programs.

mod file;
mod notation;
mod complain;
mod undecided;
mod stamp;
mod json;
mod message;
mod sender;
mod structured;
mod page;
pub mod syslog_ng;
pub mod rsyslog;

use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::span::Sources;
use temblor_logstash::convert::report::Report;
use temblor_pipeline::operators::OperatorKind;

/// The steps that conversions are made of.
pub fn kinds() -> impl Iterator<Item = &'static OperatorKind> {
    [&undecided::UNDECIDED, &syslog_ng::reader::READ, &rsyslog::reader::READ].into_iter()
}

/// How a configuration is converted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes<'w> {
    /// What the file calls the configuration.
    pub title: &'w str,
    /// Standard input stands for all sources.
    pub stdin: bool,
    /// Standard output stands for all destinations.
    pub stdout: bool,
}

/// A configuration in Temblor's language.
#[derive(Debug)]
pub struct Conversion {
    /// A Temblor file.
    pub text: String,
    /// What became of each part.
    pub report: Report,
    /// The texts that were read.
    pub sources: Sources,
    /// What is wrong with them.
    pub diagnostics: Vec<Diagnostic>,
}

impl Conversion {
    /// Whether something could not be read.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }
}
