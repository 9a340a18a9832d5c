//! Where buffers are kept: a folder for each below the state directory.
//!
//! Invariant: no name leads out of the folder of buffers, and two names never lead to one place.

use std::path::{Path, PathBuf};

use temblor_runtime::error::{Error, ErrorKind};

use crate::log::OpenError;

/// The folder below the state directory that buffers are in.
pub const FOLDER: &str = "buffers";

/// Where the buffer of this name is kept.
///
/// # Errors
/// The run has no state directory.
pub fn directory(state: Option<&Path>, name: &str) -> Result<PathBuf, Error> {
    let Some(state) = state else {
        let help = "run with --state DIR, below which buffers are kept";
        let reason = "has a buffer on disk, and nothing says where it is kept";
        let kind = ErrorKind::Config;
        return Err(Error::new(kind, name, reason, help));
    };
    let plain = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
    let mut folder = String::new();
    for character in name.chars() {
        match plain(character) {
            true => folder.push(character),
            false => folder.push_str(&format!("%{:02x}", u32::from(character))),
        }
    }
    // No name leads out of the folder.
    let folder = match folder.strip_prefix('.') {
        Some(rest) => format!("%2e{rest}"),
        None => folder,
    };
    Ok(state.join(FOLDER).join(folder))
}

/// Why a buffer cannot be opened, as the run says it.
#[must_use]
pub fn open_error(directory: &Path, error: OpenError) -> Error {
    let place = directory.display().to_string();
    match error {
        OpenError::InUse => {
            Error::state(place, "is in use by another process", "wait for it to end")
        }
        OpenError::Io(error) => {
            let help = "give a state directory that can be created and written";
            Error::state(place, format!("cannot be used as a buffer: {error}"), help)
        }
    }
}
