//! The directory that a store is kept in.
//!
//! Invariant: it is there before the run begins; nothing here makes one, so that a misspelt path is told.

use std::path::PathBuf;

use temblor_declare::{Build, Setting, Takes};
use temblor_runtime::error::Error;

/// Where a store is kept.
pub(crate) const PATH: Setting =
    Setting::new("path", Takes::Text, "The directory that it is kept in; it must be there.")
        .required();

/// The directory that the program names.
pub(crate) fn of_settings(what: &Build<'_>) -> PathBuf {
    PathBuf::from(what.settings.text("path"))
}

/// The same, once it is known to be there.
pub(crate) fn checked(directory: &PathBuf) -> Result<&PathBuf, Error> {
    let place = directory.display().to_string();
    match std::fs::metadata(directory) {
        Ok(found) if found.is_dir() => Ok(directory),
        Ok(_) => Err(Error::state(place, "is no directory", "give `path` a directory")),
        Err(error) => {
            let help = "make the directory that `path` names";
            Err(Error::state(place, format!("cannot be used: {error}"), help))
        }
    }
}
