//! Tests as text: cases in files that a walk over a folder finds, how they are run, and how their
//! results are told. `temblor test` and the tests of this repository share all of it.

pub mod file;
mod coverage;
mod difference;
pub mod run;
mod suite;
pub mod selection;
pub mod walk;
pub mod report;
