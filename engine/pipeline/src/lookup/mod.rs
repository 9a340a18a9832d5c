//! Lookup tables out of files. A table is read when a program is built and, if asked for, again
//! when its file changes: a thread of its own reads the file and puts the new table in the place of
//! the old one. Who looks something up never waits for a file. A file that cannot be read later
//! leaves the old table in use.

mod declared;
mod index;
mod named;
mod rows;
mod watch;

pub use declared::{MODES, OF_FILES, OF_RECORDS};
pub use index::Matching;
pub use named::NamedTables;
pub use watch::{Reloaded, Watch};

use index::Index;
use rows::Rows;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use temblor_lang::value::{Arena, Value};

/// Where a table comes from and how it is searched.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The file: `.csv`, `.tsv`, `.json`, `.ndjson` or `.jsonl`.
    pub path: PathBuf,
    /// How keys are compared.
    pub matching: Matching,
    /// The column of the keys; by default the first.
    pub key: Option<String>,
    /// The column of the ends of ranges.
    pub until: Option<String>,
}

/// A table in memory.
#[derive(Debug)]
struct Table {
    rows: Rows,
    index: Index,
}

/// A table that may be replaced while it is in use.
#[derive(Debug)]
pub struct Lookup {
    plan: Plan,
    table: RwLock<Arc<Table>>,
    /// Times that a changed file could not be read.
    failures: AtomicU64,
}

impl Lookup {
    /// Reads the table. With `every`, the file is looked at that often, for as long as the result
    /// lives.
    ///
    /// # Errors
    /// A sentence, when the file cannot be read or is no table.
    pub fn open(plan: Plan, every: Option<Duration>) -> Result<Arc<Self>, String> {
        let watch = Watch::of(&plan.path);
        let table = RwLock::new(Arc::new(Table::read(&plan)?));
        let lookup = Arc::new(Self { plan, table, failures: AtomicU64::new(0) });
        if let Some(every) = every {
            watch.start(&lookup, every)?;
        }
        Ok(lookup)
    }

    /// A table of a record that stands in the program, given as JSON; it never changes.
    ///
    /// # Errors
    /// A sentence, when the keys do not suit `matching`.
    pub fn of_record(record: &str, matching: Matching) -> Result<Arc<Self>, String> {
        let plan = Plan { path: PathBuf::new(), matching, key: None, until: None };
        let rows = Rows::of_record(record)?;
        let index = Index::build(matching, &rows)?;
        let table = RwLock::new(Arc::new(Table { rows, index }));
        Ok(Arc::new(Self { plan, table, failures: AtomicU64::new(0) }))
    }

    /// Shows `see` the keys and the rows in the order of the table. What is no record in a table by key is
    /// shown as it is written there.
    pub fn each(&self, mut see: impl FnMut(Value<'_>, Value<'_>)) {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner).clone();
        for row in 0..table.rows.len() {
            see(table.rows.key(row), table.rows.value(row));
        }
    }

    /// The row for a key: its fields as a record, in `arena`.
    #[must_use]
    pub fn find<'a>(&self, key: Value<'_>, arena: &'a Arena) -> Option<Value<'a>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner).clone();
        let row = table.index.find(key, &table.rows)?;
        Some(table.rows.row(row).copy_into(arena))
    }

    /// Rows and bytes, near enough.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        (table.rows.len(), table.rows.bytes() + table.index.bytes())
    }

    /// Times that a changed file could not be read.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
}

impl Reloaded for Lookup {
    fn path(&self) -> &Path {
        &self.plan.path
    }

    fn called(&self) -> &'static str {
        "the lookup table"
    }

    fn reload(&self) -> Result<(), String> {
        match Table::read(&self.plan) {
            Ok(table) => {
                *self.table.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(table);
                Ok(())
            }
            Err(reason) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                Err(reason)
            }
        }
    }
}

impl Table {
    fn read(plan: &Plan) -> Result<Self, String> {
        let rows = Rows::read(&plan.path, plan.key.as_deref(), plan.until.as_deref());
        let rows = rows.map_err(|reason| format!("{}: {reason}", plan.path.display()))?;
        let index = Index::build(plan.matching, &rows)
            .map_err(|reason| format!("{}: {reason}", plan.path.display()))?;
        Ok(Self { rows, index })
    }
}

#[cfg(test)]
mod tests;
