//! What is asked of the one who runs a program, by those who watch and steer it.
//!
//! Invariant: an answer is a sentence or a list that a person reads as it is.

use temblor_runtime::overseer::View;

/// How a step of the program has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepSeen {
    /// Its name in the program.
    pub name: String,
    /// Events that came to it.
    pub events: u64,
    /// Events that failed in it.
    pub failed: u64,
    /// Events that it left out on purpose.
    pub dropped: u64,
    /// Keys, groups or events that it keeps, their bytes, and how many were given up for lack of room; for
    /// steps that know.
    pub kept: Option<Kept>,
}

/// What a step keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Keys, groups or events.
    pub entries: u64,
    /// Bytes that they take, near enough.
    pub bytes: u64,
    /// Entries that were given up for lack of room since the start.
    pub evicted: u64,
}

/// How reloading has gone so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloads {
    /// Programs that took the place of the one before.
    pub done: u64,
    /// Programs that could not.
    pub failed: u64,
    /// Why the last attempt failed; nothing when it went well, or none was made.
    pub last_error: Option<String>,
}

/// What a change of the program would do, or has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Sources and sinks that begin.
    pub begins: Vec<String>,
    /// Sources and sinks that end.
    pub ends: Vec<String>,
    /// What is remembered and would be forgotten, a sentence each.
    pub loses: Vec<String>,
}

/// The one who runs a program.
pub trait Operations: Send + Sync + 'static {
    /// What the run shows; nothing before it has begun.
    fn view(&self) -> Option<View>;

    /// How the steps of the program have done.
    fn steps(&self) -> Vec<StepSeen>;

    /// How reloading has gone.
    fn reloads(&self) -> Reloads;

    /// Reads the program again, or another one, and puts it into the place of the one that runs; with
    /// `dry_run` it only says what that would do.
    ///
    /// # Errors
    /// Why the program cannot take the place; the old one goes on.
    fn reload(&self, program: Option<&str>, dry_run: bool) -> Result<Change, String>;

    /// Changes how much is logged.
    ///
    /// # Errors
    /// What is wrong with the level.
    fn set_log_level(&self, level: &str) -> Result<(), String>;
}
