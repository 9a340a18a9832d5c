//! Libraries of grok patterns, each read once for all plugins that name the same files and definitions: they
//! share what is parsed as well. A file that has changed makes another library.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use temblor_stdlib::grok::Library;

/// Larger files are refused.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// What a library is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ingredients {
    /// Whether its fields have the names of the Elastic Common Schema.
    pub ecs: bool,
    /// Files of patterns, later ones over earlier ones.
    pub files: Vec<PatternFile>,
    /// Patterns by name, over all others.
    pub own: Vec<(String, String)>,
}

/// A file of patterns as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PatternFile {
    path: PathBuf,
    modified: Option<SystemTime>,
    bytes: u64,
}

impl PatternFile {
    /// A file, if it is one.
    fn of(path: PathBuf) -> Option<Self> {
        let metadata = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        let modified = metadata.modified().ok();
        Some(Self { path, modified, bytes: metadata.len() })
    }

    /// The files of a folder that fit `pattern`, by name, or the one file of that name. The error is a
    /// sentence.
    pub(crate) fn all(folder: &str, pattern: &str) -> Result<Vec<Self>, String> {
        let path = Path::new(folder);
        if let Some(only) = Self::of(path.to_path_buf()) {
            return Ok(vec![only]);
        }
        if !path.is_dir() {
            return Err(format!("{folder}: there is no such folder of patterns"));
        }
        let found = glob::glob(&path.join(pattern).to_string_lossy());
        let found = found.map_err(|error| error.to_string())?;
        let mut files: Vec<_> = found.filter_map(Result::ok).filter_map(Self::of).collect();
        files.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(files)
    }

    fn read(&self) -> Result<String, String> {
        let name = self.path.display();
        if self.bytes > FILE_BYTES_MAX {
            return Err(format!("{name}: larger than {FILE_BYTES_MAX} bytes"));
        }
        std::fs::read_to_string(&self.path).map_err(|error| format!("{name}: {error}"))
    }
}

/// The libraries that were made.
#[derive(Clone, Debug, Default)]
pub struct Libraries(Arc<Mutex<HashMap<Ingredients, Library>>>);

impl Libraries {
    /// The library of these ingredients. The error is a sentence that names the file.
    pub(crate) fn of(&self, ingredients: Ingredients) -> Result<Library, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = known.get(&ingredients) {
            return Ok(library.clone());
        }
        let mut library = if ingredients.ecs { Library::ecs() } else { Library::legacy() };
        for file in &ingredients.files {
            let text = file.read()?;
            let is_whole = |line: &&str| line.split_whitespace().nth(1).is_some();
            // As in Logstash, a name without a pattern says nothing.
            let text: String = text
                .lines()
                .map(|line| Some(line).filter(is_whole).unwrap_or_default())
                .flat_map(|line| [line, "\n"])
                .collect();
            let read = library.with_pattern_file(&text);
            library = read.map_err(|error| format!("{}: {error}", file.path.display()))?;
        }
        let library = library.with_definitions(ingredients.own.clone());
        known.insert(ingredients, library.clone());
        Ok(library)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ingredients_are_read_once_and_changed_files_again() {
        let folder = std::env::temp_dir().join(format!("temblor-patterns-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("own");
        let libraries = Libraries::default();
        let library = || {
            let files = PatternFile::all(&folder.to_string_lossy(), "*").unwrap();
            libraries.of(Ingredients { ecs: true, files, own: Vec::new() })
        };
        std::fs::write(&file, "CODE [A-Z]+\n").unwrap();
        assert_eq!(library().unwrap().get("CODE"), Some("[A-Z]+"));
        assert!(library().is_ok() && libraries.0.lock().unwrap().len() == 1);
        std::fs::write(&file, "CODE [a-z0-9]+\n").unwrap();
        assert_eq!(library().unwrap().get("CODE"), Some("[a-z0-9]+"));
        std::fs::write(&file, "CODE\n").unwrap();
        // As in Logstash, a name without a pattern says nothing.
        assert_eq!(library().unwrap().get("CODE"), None);
        let files = PatternFile::all(&folder.to_string_lossy(), "*").unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let gone = Ingredients { ecs: false, files, own: Vec::new() };
        assert!(libraries.of(gone).unwrap_err().contains("own"));
    }
}
