//! What programs call: functions, extractors and aggregates, each declared once beside its documentation.

pub mod onigmo;
pub mod pattern;
pub mod grok;
mod declare;
pub mod formats;
pub mod functions;
pub mod extractors;
mod aggregates;
mod modules;
mod total;
mod library;

pub use library::{Library, registry};
