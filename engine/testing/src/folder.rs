//! A folder of its own for each test.
//!
//! Invariant: a folder goes away with its value.

use std::path::{Path, PathBuf};

/// An empty folder below the system's temporary one.
#[derive(Debug)]
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// A new one.
    #[allow(clippy::new_without_default, reason = "it makes something on the disk")]
    pub fn new() -> Folder {
        let made = tempfile::Builder::new().prefix("temblor-test-").tempdir();
        Folder(made.expect("the temporary folder can be written"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file in it, which need not exist.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, and the folders that lead to it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.file(name);
        let parent = path.parent().expect("it lies in the folder");
        std::fs::create_dir_all(parent).expect("the temporary folder can be written");
        std::fs::write(&path, content).expect("the temporary folder can be written");
        path
    }

    /// The text of a file; nothing where there is none yet.
    pub fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.file(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the sources are where they were compiled")
}
