//! Every test that needs the whole of Temblor, in one program that links it once.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

mod recorded;
mod agree;
mod buffers;
mod cli;
mod connectors;
mod conversions;
mod editors;
mod eventgen;
mod format;
mod hostile;
mod kept;
mod kills;
mod large;
mod listeners;
mod load;
mod logstash_cases;
mod logstash_conversions;
mod logstash_edges;
mod logstash_network;
mod logstash_options;
mod lsp;
mod manual;
mod migrations;
mod operate;
mod operators;
mod pages;
mod runtime;
mod spec;
mod terminal;
mod tidy;
mod tools;
mod tour;
mod workers;

/// Makes a folder the current one for as long as the answer is kept: tests that name files by relative paths
/// take turns.
fn within(folder: &Path) -> MutexGuard<'static, ()> {
    static FOLDER: Mutex<()> = Mutex::new(());
    let turn = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    std::env::set_current_dir(folder).expect("the folder is in the repository");
    turn
}
