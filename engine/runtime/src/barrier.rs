//! Checkpoints of a program that remembers: its state, the marks of its inputs and the lengths of its
//! outputs belong to one moment, the place of a snapshot in the order of the batches.
//!
//! Invariant: marks move only together with a saved state. So a run that is killed goes on from the
//! last snapshot as if nothing after it had happened: its outputs are cut to where they stood.

use std::time::{Duration, Instant};

use crate::ack::Marks;
use crate::checkpoint::FileMark;
use crate::limits::SNAPSHOT_REST;

/// The last moment at which everything was saved.
#[derive(Debug)]
pub struct Barrier {
    files: Vec<FileMark>,
    /// Number of the saved state.
    state: Option<u64>,
    /// How many moments there have been.
    moments: u64,
    /// Nothing has been written since.
    clean: bool,
    /// A snapshot is under way.
    asked: bool,
    /// Something could not be written: what came before the failure is to be repeated.
    broken: bool,
    /// How long it takes to save, times the rest that is wanted.
    rest: Duration,
    at: Instant,
}

impl Barrier {
    /// The moment at which a run begins, with the saved state that it went on from.
    #[must_use]
    pub fn new(state: Option<u64>) -> Self {
        Self {
            files: Vec::new(),
            state,
            moments: 0,
            clean: true,
            asked: false,
            broken: false,
            rest: Duration::ZERO,
            at: Instant::now(),
        }
    }

    /// Something is about to be written.
    pub fn soil(&mut self) {
        self.clean = false;
    }

    /// Something could not be written: no later moment is saved.
    pub fn give_up(&mut self) {
        self.broken = true;
    }

    /// Whether a snapshot is to be asked for now; it is then under way.
    pub fn ask(&mut self) -> bool {
        let wanted = !self.clean && !self.asked && !self.broken && self.at.elapsed() >= self.rest;
        self.asked |= wanted;
        wanted
    }

    /// Whether a snapshot that has come is to be kept.
    #[must_use]
    pub fn takes(&self) -> bool {
        !self.broken
    }

    /// A state was saved that belongs to these marks; saving took so long.
    pub fn pass(&mut self, files: Vec<FileMark>, state: u64, took: Duration) {
        self.files = files;
        self.state = Some(state);
        self.moments += 1;
        (self.clean, self.asked) = (true, false);
        self.rest = took * SNAPSHOT_REST;
        self.at = Instant::now();
    }

    /// The marks of the last moment.
    #[must_use]
    pub fn marks(&self) -> Marks {
        let Self { files, state, moments, clean, .. } = self;
        Marks { files: files.clone(), exact: *clean, batches: *moments, state: *state }
    }
}
