//! The `temblor` command, with what it is given and what it gives back.
//!
//! Invariant: the command that runs is the one that cargo built in the test's own profile.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::folder::repository;
use crate::process::Process;

/// A call of the command, before it runs.
#[derive(Debug)]
pub struct Temblor {
    command: Command,
    input: Vec<u8>,
}

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The exit code; nothing when a signal ended it.
    pub code: Option<i32>,
}

/// The command with arguments, in the root of the repository, without input and colours.
pub fn temblor<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Temblor {
    let mut command = Command::new(binary());
    command.args(arguments).current_dir(repository()).env("NO_COLOR", "1");
    Temblor { command, input: Vec::new() }
}

impl Temblor {
    /// Another folder to run in.
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Temblor {
        self.command.current_dir(folder);
        self
    }

    /// A variable of the environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Temblor {
        self.command.env(name, value);
        self
    }

    /// What it reads from standard input.
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Temblor {
        self.input = input.into();
        self
    }

    /// Runs it to its end.
    pub fn run(self) -> Ran {
        let input = self.input;
        let mut process = Process::start(self.command);
        let mut stdin = process.take_input();
        // Beside the test: a command that neither reads nor ends fails by the deadline of its end.
        // One that ends early does not read all of it.
        std::thread::spawn(move || stdin.write_all(&input));
        process.wait()
    }

    /// Starts it and gives it its input, which stays open; it runs beside the test.
    pub fn start(self) -> Process {
        let mut process = Process::start(self.command);
        process.write(self.input);
        process
    }
}

impl Ran {
    /// Standard output, of a run that ended well.
    ///
    /// # Panics
    /// With standard error, when it did not.
    #[track_caller]
    pub fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self.out
    }

    /// Standard error, of a run that ended with this exit code.
    ///
    /// # Panics
    /// With standard error, when it ended otherwise.
    #[track_caller]
    pub fn failed_with(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self.err
    }
}

/// Where the command is, for scripts that call it.
pub fn command_path() -> PathBuf {
    binary()
}

/// The command of this build: cargo names it to the tests of its own package. Other packages find it
/// where cargo puts it; `cargo test --workspace` builds it, `cargo test -p` of such a package does not.
fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("CARGO_BIN_EXE_temblor") {
        return path.into();
    }
    let test = std::env::current_exe().expect("the system knows the test's binary");
    let build = test.ancestors().nth(2).expect("cargo puts tests into DIR/deps");
    let path = build.join("temblor");
    assert!(path.exists(), "{} is missing: `cargo build --bin temblor` makes it", path.display());
    path
}
