//! The buffer on disk: what is damaged, cut, full, sealed, huge, and killed.

mod log;
mod simulation;
