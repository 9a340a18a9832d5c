//! Operators, codecs, sources, sinks, queues, workers and acknowledgements: the way of an event.
