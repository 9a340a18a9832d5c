//! The Temblor language: grammar, syntax tree, resolution, lowering, interpreter, values and
//! diagnostics. It knows no I/O and no clock but the one that it is handed.

pub mod random;
pub mod span;
pub mod coverage;
pub mod units;
pub mod diagnostic;
pub mod error;
pub mod value;
pub mod tape;
pub mod budget;
pub mod builtin;
pub mod syntax;
pub mod index;
pub mod program;
pub mod run;
pub mod lower;
