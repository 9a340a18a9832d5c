//! Declarations: what a connector is called, what can be set, how it is written, and what it becomes.
//!
//! Knows values, diagnostics and the runtime's sources and sinks. Does not know any connector: each crate
//! that brings some declares them beside their code, and hands the rows to the registry.

pub mod secret;
pub mod setting;
pub mod settings;
pub mod connector;
pub mod order;
pub mod queue;
pub mod read;
pub mod codec;
pub mod interceptor;
pub mod shared;

pub use connector::{Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Wrong};
pub use secret::Secret;
pub use setting::{InChain, Setting, Takes};
pub use settings::{Given, Named, PerEvent, Settings, Template};
