//! Lookup tables by name, as programs and command lines declare them. A name is never that of a file,
//! so that `enrich hosts` and `enrich "hosts.csv"` cannot be taken for each other.

use super::Lookup;
use std::collections::BTreeMap;
use std::sync::Arc;
use temblor_lang::builtin::{CallError, Tables};
use temblor_lang::diagnostic::nearest;
use temblor_lang::value::{Arena, Value};

/// The tables of a run.
#[derive(Clone, Debug, Default)]
pub struct NamedTables(BTreeMap<String, Arc<Lookup>>);

impl NamedTables {
    /// Adds a table; gives back the one that had the name before.
    pub fn insert(&mut self, name: &str, table: Arc<Lookup>) -> Option<Arc<Lookup>> {
        self.0.insert(name.to_string(), table)
    }

    /// Adds all of `others`, which take the place of tables with the same names.
    pub fn extend(&mut self, others: NamedTables) {
        self.0.extend(others.0);
    }

    /// The table with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Lookup>> {
        self.0.get(name)
    }

    /// The tables as programs ask them; `None` when there is none.
    #[must_use]
    pub fn shared(&self) -> Option<Arc<dyn Tables>> {
        if self.0.is_empty() { None } else { Some(Arc::new(self.clone())) }
    }
}

impl Tables for NamedTables {
    fn find<'a>(
        &self,
        table: &str,
        key: Value<'_>,
        arena: &'a Arena,
    ) -> Result<Option<Value<'a>>, CallError> {
        match self.0.get(table) {
            Some(lookup) => Ok(lookup.find(key, arena)),
            None => {
                let meant = nearest(table, self.names());
                let meant = meant.map(|name| format!("; did you mean `{name}`?"));
                let meant = meant.unwrap_or_default();
                Err(CallError::failed(format!("there is no lookup table `{table}`{meant}")))
            }
        }
    }

    fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}
