//! The connectors of this machine as rows: what they are called, what can be set, and what they become.

mod file;
mod standard;
mod command;
mod clock;
mod repeat;
mod nowhere;
mod bench;
mod breaker;

use temblor_declare::{Build, Connector, Wrong};
use temblor_runtime::framing::Framing;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[
    &file::FILE,
    &standard::STDIN,
    &standard::STDOUT,
    &command::COMMAND,
    &clock::METRONOME,
    &repeat::REPEAT,
    &nowhere::NULL,
    &file::TREMOR_FILE,
    &standard::TREMOR_STDIO,
    &clock::TREMOR_METRONOME,
    &clock::TREMOR_CRONONOME,
    &nowhere::TREMOR_NULL,
    &nowhere::TREMOR_EXIT,
    &bench::TREMOR_BENCH,
    &breaker::TREMOR_CB,
];

/// Settings of every source that say how bytes become messages.
const CUTTING: [&str; 3] = ["framing", "preprocessors", "separator"];

/// How an input of this machine is cut.
fn framing(what: &Build<'_>) -> Result<Framing, Wrong> {
    match what.framing {
        Framing::Counted => {
            let message = "`framing` must be one of lines, whole, got \"octet\"";
            Err(Wrong::at("framing", message, "lengths in front of messages come over connections"))
        }
        framing => Ok(framing),
    }
}

/// What is read by preprocessors is one input from its beginning to its end.
fn beside_preprocessors(what: &Build<'_>, names: &[&'static str]) -> Result<(), Wrong> {
    let help = "preprocessors read one input, from its beginning to its end";
    what.refuse(names, "preprocessors", help)
}

/// For sources whose events are not read as bytes.
fn without_cutting(what: &Build<'_>, kind: &str) -> Result<(), Wrong> {
    what.refuse(&CUTTING, kind, "its events are made, not read; leave it out")
}
