//! Stores in flows that run: what the command keeps on disk, and what a kill leaves of it.

mod kv;
mod wal;
