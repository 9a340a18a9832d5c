//! Programs and configurations that run over data: what any text that compiles makes of any bytes.
//!
//! Invariant: nothing here opens a file, a socket or a process. Programs are compiled without the sources and
//! sinks that they name; events are put in and taken out by hand.

use super::halves;
use std::sync::Arc;
use temblor_catalog::registry;
use temblor_codec::InputCodec;
use temblor_lang::budget::Budget;
use temblor_lang::lower::NoModules;
use temblor_lang::value::JsonStyle;
use temblor_logstash::configuration::{Wishes, of_text};
use temblor_logstash::settings::Settings;
use temblor_pipeline::load::{Language, LoadOptions, Loaded};
use temblor_pipeline::rehearsal::Rehearsal;

/// Steps that one input may take altogether.
const STEPS: u64 = 200_000;
/// Time between two events, in nanoseconds.
const STEP_NS: u64 = 700_000_000;
/// Events of one input.
const EVENTS_MAX: usize = 20;

/// Runs `program NUL lines` as a query and as a Temblor file; each line is an event.
pub fn flows(data: &[u8]) {
    let (text, events) = halves(data);
    let Ok(text) = std::str::from_utf8(text) else { return };
    for language in [Language::Query, Language::Temblor] {
        let loaded =
            LoadOptions::new(registry()).compile("fuzz", text.to_string(), language, &NoModules);
        rehearse(loaded, events);
    }
}

/// Runs the filters in `configuration NUL lines`; each line is an event.
pub fn filters(data: &[u8]) {
    let (text, events) = halves(data);
    let Ok(text) = std::str::from_utf8(text) else { return };
    // Tables, databases and names are looked up outside.
    if ["path", "dns", "nameserver", "database", "sleep", "http", "exec"]
        .iter()
        .any(|one| text.contains(one))
    {
        return;
    }
    let wishes = Wishes { settings: Settings::default(), stdin: true, stdout: true };
    rehearse(of_text("fuzz", text.to_string(), &wishes).loaded, events);
}

/// Sends each line, and whatever timers make of the time between them.
fn rehearse(loaded: Loaded, events: &[u8]) {
    if loaded.has_errors() {
        return;
    }
    let budget = Arc::new(Budget::default());
    budget.fill(STEPS);
    let mut rehearsal =
        Rehearsal::new(loaded.graph, loaded.sources, JsonStyle::Sorted).bounded_by(budget);
    let lines = events.split(|byte| *byte == b'\n').take(EVENTS_MAX);
    for (line, number) in lines.zip(1..) {
        rehearsal.set_clock(number * STEP_NS);
        rehearsal.send("in", InputCodec::Json, line);
    }
    // What is kept can be saved, and what was saved can be taken up.
    rehearsal.foretell_end();
    rehearsal.flush();
}
