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

    /// The directories in the order of the search.
    #[must_use]
    pub fn list(&self) -> &[PathBuf] {
        &self.0
    }

    /// The first file that can hold the module `path` and that `is_there`.
    pub fn find(&self, path: &[&str], is_there: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        // The standard library is part of the program; a copy on disk may be of another version.
        if path.first().is_some_and(|first| BUILT_IN.contains(first)) {
            return None;
        }
        let relative: PathBuf = path.iter().collect();
        let files = self.0.iter().flat_map(|directory| {
            let file = directory.join(&relative);
            ENDINGS.iter().map(move |ending| file.with_extension(ending))
        });
        files.into_iter().find(|file| is_there(file))
    }
}

impl Loader for Directories {
    fn load(&self, path: &[&str]) -> Option<(String, String)> {
        let file = self.find(path, |file| file.is_file())?;
        let text = std::fs::read_to_string(&file).ok()?;
        Some((file.display().to_string(), text))
    }
}

/// First names of standard modules.
const BUILT_IN: [&str; 3] = ["std", "tremor", "aggr"];
