//! Events as Logstash filters see them: values that change in place, field references, texts with `%{…}` in
//! them, and the times that all of these read and write.
//!
//! Knows the values of the language. Does not know filters, codecs, configurations, Ruby or a clock: the time is an
//! argument.

pub mod timestamp;
pub mod datum;
pub mod map;
pub mod reference;
pub mod event;
pub mod template;
