//! Configurations of rsyslog, old lines and RainerScript: read whole, includes among it, and written as a Temblor file.
//! What has no equivalent is named with its line; nothing is taken for something else.

mod tree;
pub(crate) mod reader;
mod property;
mod selector;
mod expression;
mod parse;
mod template;
mod inputs;
mod actions;
mod convert;

use crate::{Conversion, Wishes};
use std::path::Path;

/// Converts a configuration and all that it includes.
///
/// # Errors
/// When the file cannot be read.
pub fn convert(path: &Path, wishes: Wishes<'_>) -> Result<Conversion, String> {
    Ok(convert::convert(parse::read(path)?, wishes))
}

/// Whether the expressions of Temblor, which have no look-around and no back-references, can say it.
pub(crate) fn compiles(pattern: &str) -> Result<(), String> {
    crate::notation::compiles(pattern)
}
