//! What people who operate Temblor see and steer while a program runs: metrics, health, logs, the control
//! socket, and the privileges that the process keeps.
//!
//! Knows a run by what it counts ([`temblor_runtime::overseer`]). Does not know programs, connectors or files
//! of the language: what can only be done with a program is handed in as [`operations::Operations`].

pub mod operations;
pub mod reading;
pub mod metrics;
pub mod health;
pub mod answers;
pub mod api;
pub mod control;
pub mod log;
pub mod privileges;
