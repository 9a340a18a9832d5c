//! Queues that are kept on disk: in front of a sink, behind a source, and for events that nobody could use.
//!
//! Knows bytes, records, files and tokens. Does not know values, programs or protocols. Modules stand in the
//! order of their dependencies. Invariant: what was taken in is given out at least once, whatever happens
//! to the process in between; what cannot be read any more is counted and passed over.

pub mod seal;
pub mod record;
pub mod segment;
pub mod mark;
pub mod scan;
pub mod bell;
pub mod holdings;
pub mod log;
pub mod reader;
pub mod parcel;
pub mod waiting;
pub mod folder;
pub mod supply;
pub mod policy;
pub mod feeder;
pub mod sink;
pub mod arrival;
pub mod source;
pub mod tool;
pub mod letters;
