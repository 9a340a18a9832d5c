//! Preprocessors and postprocessors of connectors: bytes to messages before they are decoded, and
//! encoded events to bytes. None of them knows what the bytes mean.

mod after;
mod before;
mod gelf;
mod packing;

pub use after::Postprocessor;
pub use before::{Chain, Message, Preprocessor};

pub(crate) use after::finish_event;

pub use packing::{PACKINGS, Packing};

/// Messages longer than this are refused.
pub const MESSAGE_BYTES_MAX: usize = temblor_runtime::limits::LINE_BYTES_MAX;
/// The length in front of a length-prefixed message, in bytes.
const LENGTH_BYTES: usize = 8;
/// The time in front of a message, in bytes.
const TIME_BYTES: usize = 8;
