//! The runtime from end to end, with processors that copy lines.
//!
//! Invariant: no test waits for time to pass; what must happen first is waited for itself.
#![allow(clippy::unwrap_used, reason = "tests end where they fail")]

mod support;
mod connectors;
mod crash;
mod flow;
mod inject;
mod inputs;
mod outputs;
mod process;
mod resume;
mod refused;
mod state;
mod steps;
