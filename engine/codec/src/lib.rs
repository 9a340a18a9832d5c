//! Codecs, framings and compression: how the bytes of sources become messages and values, and how values
//! become the bytes of sinks.
//!
//! Knows values and bytes. Does not know programs, operators, files or networks.

pub mod compression;
pub mod interceptor;
mod format;
mod decode;
mod encode;
pub mod names;

pub use decode::{Decoder, InputCodec};
pub use encode::{Encoding, OutputCodec};
pub use format::Format;
pub use names::Codec;
