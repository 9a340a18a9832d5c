//! Configurations of syslog-ng 3 and 4: read whole, includes and blocks among it, and written as a Temblor file. What
//! has no equivalent is named with its line; nothing is taken for something else.

mod token;
mod tree;
mod parse;
pub(crate) mod reader;
mod names;
mod template;
mod filter;
mod function;
mod rewrite;
mod parser;
mod inputs;
mod outputs;
mod path;
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
