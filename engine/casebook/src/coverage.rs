//! What the tests of a walk reached: branches of programs, and output ports. Places of programs that
//! stand inside of a case are told as places of the file with the case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use temblor_lang::coverage::{BranchKind, Coverage};
use temblor_lang::span::Sources;

/// A place in a file of the user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// A branch and how often the tests took it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// What it is.
    pub kind: BranchKind,
    /// Its first line, for people.
    pub text: String,
    /// How often it was taken.
    pub taken: u64,
}

/// What was reached of all programs.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// The branches by their places.
    pub branches: BTreeMap<Location, Reached>,
    /// The output ports of each program, by the place of its first line, and whether an event left
    /// on them.
    pub ports: BTreeMap<Location, BTreeMap<String, bool>>,
}

/// Excerpts are cut after so many characters.
const EXCERPT_CHARS_MAX: usize = 60;

impl Reach {
    /// Takes in what one program reached. `place` says where a line and column of one of its texts
    /// stands for the user; `None` for texts that are not the user's.
    pub(crate) fn add(
        &mut self,
        coverage: &Coverage,
        sources: &Sources,
        place: impl Fn(&str, usize, usize) -> Option<Location>,
    ) {
        for branch in coverage.branches() {
            let Some(source) = sources.get(branch.span.source) else { continue };
            let at = sources.position(branch.span);
            let Some(place) = place(&source.name, at.line, at.column) else { continue };
            let excerpt = || {
                let line = sources.text(branch.span).lines().next().unwrap_or("").trim();
                line.chars().take(EXCERPT_CHARS_MAX).collect()
            };
            let reached = self.branches.entry(place).or_insert_with(|| Reached {
                kind: branch.kind,
                text: excerpt(),
                taken: 0,
            });
            reached.taken += branch.taken();
        }
    }

    /// Takes in an output port of the program that begins at a place.
    pub(crate) fn add_port(&mut self, place: Location, port: &str, used: bool) {
        *self.ports.entry(place).or_default().entry(port.to_string()).or_default() |= used;
    }

    /// Takes in what other tests reached.
    pub fn merge(&mut self, other: Reach) {
        for (place, reached) in other.branches {
            let taken = reached.taken;
            let known = self.branches.entry(place).or_insert(Reached { taken: 0, ..reached });
            known.taken += taken;
        }
        for (place, ports) in other.ports {
            for (port, used) in ports {
                self.add_port(place.clone(), &port, used);
            }
        }
    }
}

/// The place of a text that is a file itself; standard modules are no files of the user.
#[must_use]
pub(crate) fn in_file(name: &str, line: usize, column: usize) -> Option<Location> {
    let own = !name.starts_with('<');
    own.then(|| Location { file: Path::new(name).to_path_buf(), line, column })
}
