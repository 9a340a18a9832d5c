//! What outputs over the network write where no codec does it: the texts that a plugin makes of an event by
//! itself.
//!
//! Invariant: a plugin is one function from its options to an [`Encoder`]; the table in `rows.rs` names it.

mod document;
mod metrics;
mod syslog;

pub(crate) use document::http;
pub(crate) use metrics::{graphite, lines as graphite_lines, statsd};
pub(crate) use syslog::syslog;

use crate::codec::Encoder;
use crate::options::Arguments;

/// Makes the encoder of an output; `Some(None)` leaves events as JSON, and nothing is wrong options, which
/// has been said.
pub(crate) type Writes = fn(&mut Arguments<'_>) -> Option<Option<Encoder>>;
