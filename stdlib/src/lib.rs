//! What programs call: functions, extractors and aggregates, each declared once beside its documentation.

pub mod onigmo;
pub mod grok;
