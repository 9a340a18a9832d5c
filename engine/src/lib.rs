//! Operators, codecs, sources, sinks, queues, workers and acknowledgements: the way of an event.

pub mod event;
pub mod operator;
pub mod operators;
