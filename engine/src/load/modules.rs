//! Module files: the directories that are searched, in order.

use std::env;
use std::path::{Path, PathBuf};
use temblor_lang::lower::Loader;

/// Variables that name further directories, separated by colons.
const PATH_VARIABLES: [&str; 2] = ["TEMBLOR_PATH", "TREMOR_PATH"];
/// Endings of module files, in the order of the search.
const ENDINGS: [&str; 4] = ["tremor", "tmb", "trickle", "troy"];
/// Where modules are installed.
const INSTALLED: [&str; 2] = ["/usr/local/share/tremor", "/usr/share/tremor/lib"];

/// Reads module files from directories.
#[derive(Debug)]
pub struct Directories(Vec<PathBuf>);

impl Directories {
    /// The given directories, then those of the environment, then the one of the program file.
    #[must_use]
    pub fn new(given: &[PathBuf], program: Option<&Path>) -> Self {
        let mut list = given.to_vec();
        for variable in PATH_VARIABLES {
            if let Some(value) = env::var_os(variable) {
                list.extend(env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()));
            }
        }
        list.extend(program.and_then(Path::parent).map(Path::to_path_buf));
        list.extend(INSTALLED.iter().map(PathBuf::from));
        Self(list)
    }
}

impl Loader for Directories {
    fn load(&self, path: &[&str]) -> Option<(String, String)> {
        // The standard library is part of the program; a copy on disk may be of another version.
        if path.first().is_some_and(|first| BUILT_IN.contains(first)) {
            return None;
        }
        let relative: PathBuf = path.iter().collect();
        for directory in &self.0 {
            for ending in ENDINGS {
                let file = directory.join(&relative).with_extension(ending);
                if let Ok(text) = std::fs::read_to_string(&file) {
                    return Some((file.display().to_string(), text));
                }
            }
        }
        None
    }
}

/// First names of standard modules.
const BUILT_IN: [&str; 3] = ["std", "tremor", "aggr"];
