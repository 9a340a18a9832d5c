//! Operators, codecs, sources, sinks, queues, workers and acknowledgements: the way of an event.
//!
//! Modules stand in the order of their dependencies; the way of a batch is source, queue, worker,
//! outbox, writer.

pub mod error;
pub mod limits;
pub mod clock;
pub mod buffer;
pub mod framing;
pub mod interceptor;
pub mod identity;
pub mod checkpoint;
pub mod ack;
pub mod batch;
pub mod queue;
pub mod turnstile;
pub mod outputs;
pub mod outbox;
pub mod processor;
pub mod worker;
pub mod stats;
pub mod report;
pub mod console;
pub mod troubles;
pub mod stop;
pub mod inject;
pub mod source;
pub mod sink;
pub mod keeper;
pub mod writer;
pub mod control;
pub mod run;
pub mod event;
pub mod codec;
pub mod operator;
pub mod store;
pub mod lookup;
pub mod operators;
pub mod graph;
pub mod pipeline;
pub mod endpoint;
pub mod load;
pub mod bench;
pub mod rehearsal;
pub mod casebook;
pub mod flow;
pub mod command;
