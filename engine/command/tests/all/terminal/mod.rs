//! The REPL as a person uses it: keys are typed into a pseudo-terminal and the screen is read.

mod driver;
mod commands;
mod keys;
mod load;
mod recording;

use std::path::{Path, PathBuf};

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal").join(name);
    // It is not there at the first run.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// A file in a folder.
fn file(folder: &Path, name: &str, text: &str) -> String {
    std::fs::write(folder.join(name), text).expect("the file can be written");
    name.to_string()
}

/// The samples of most tests.
const SAMPLES: &str = r#"{"host": "web1", "status": 200, "path": "/a", "ms": 12}
{"host": "web2", "status": 503, "path": "/b", "ms": 950}
{"host": "web1", "status": 404, "path": "/c", "ms": 7}
{"host": "web2", "status": 503, "path": "/b", "ms": 951}
"#;
