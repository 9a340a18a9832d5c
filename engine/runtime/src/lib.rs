//! How batches of bytes move: sources, queues, workers, outputs, acknowledgements and checkpoints, from
//! the start of a run to its end.
//!
//! Knows bytes, frames, places and time. Does not know values, programs, file formats or protocols:
//! what happens between two queues is a [`processor::Processor`], what stands at the ends are a
//! [`source::Source`] and a [`sink::Sink`]. Modules stand in the order of their dependencies.

pub mod error;
pub mod limits;
pub mod clock;
pub mod disk;
pub mod buffer;
pub mod framing;
pub mod identity;
pub mod checkpoint;
pub mod latency;
pub mod ack;
pub mod batch;
pub mod queue;
pub mod shared;
pub mod snapshot;
pub mod outputs;
pub mod outbox;
pub mod turnstile;
pub mod processor;
pub mod stop;
pub mod exchange;
pub mod memory;
pub mod pacing;
pub mod stats;
pub mod worker;
pub mod report;
pub mod console;
pub mod troubles;
pub mod network;
pub mod source;
pub mod intake;
pub mod outlet;
pub mod drain;
pub mod feedback;
pub mod sink;
pub mod barrier;
pub mod keeper;
pub mod writer;
pub mod control;
pub mod overseer;
pub mod run;
pub mod replacing;
