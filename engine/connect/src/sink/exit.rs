//! The `exit` sink: an event ends the run, with the exit code that it carries.
//!
//! Invariant: a graceful end lets everything that has been read come to its end first, and nothing waits
//! for the end in the meantime.

use std::time::Duration;

use temblor_lang::value::{Arena, Value};
use temblor_stdlib::formats::json;

use crate::sink::{Sink, WriteFailure};

/// Ends the run at its first event.
pub(crate) struct ExitSink {
    /// How long it waits before.
    delay: Duration,
    /// Whether what has been read is dealt with first.
    graceful: bool,
}

impl ExitSink {
    /// With what holds when the event does not say otherwise.
    pub(super) fn new(delay: Duration, graceful: bool) -> Self {
        Self { delay, graceful }
    }
}

impl Sink for ExitSink {
    fn write(&mut self, _place: &str, bytes: &[u8]) -> Result<(), WriteFailure> {
        let arena = Arena::new();
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let event = std::str::from_utf8(line).ok().and_then(|text| json::parse(text, &arena).ok());
        let record = event.and_then(|event| event.as_record(&arena));
        let field = |name| record.and_then(|record| record.get(name));
        let delay = field("delay").and_then(Value::as_u64).map(Duration::from_nanos);
        let code = field("exit").and_then(Value::as_i64).unwrap_or(0);
        let graceful = field("graceful").and_then(Value::as_bool).unwrap_or(self.graceful);
        let delay = delay.unwrap_or(self.delay);
        // As the system does: the last eight bits count.
        Err(WriteFailure::EndRun { code: code as u8, graceful, delay })
    }
}
