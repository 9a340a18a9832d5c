//! What filters remember, as rows that a person can read and change (`:state` of the REPL). They are
//! made from what `--state` would save: a filter only says how its saved rows are to be read.

use super::super::filter::Shelf;
use super::super::saved;
use super::{Node, Program, ProgramState};
use std::collections::HashMap;
use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Key, Value, hash128};
use temblor_logstash_event::datum::{Datum, Map};
use temblor_pipeline::row::Row;

/// A row of a filter: the number of its memory, its table there, and its key.
struct RowAddress {
    memory: usize,
    shelf: &'static Shelf,
    key: String,
}

impl Program {
    /// What the filters remember, each row by the name of its filter and its key; `None` when no filter
    /// keeps a table.
    pub fn rows<'a>(&self, state: &ProgramState, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let keepers = self.keepers();
        let has_table = keepers.iter().any(|node| !node.filter.shelves().is_empty());
        let rows = self.places(state, arena).into_iter();
        has_table.then(|| rows.map(|(_, row)| row).collect())
    }

    /// Puts other columns into a row.
    ///
    /// # Errors
    /// When there is no such row, or its filter cannot read the columns.
    pub fn amend(
        &self,
        state: &mut ProgramState,
        hash: u128,
        columns: Value<'_>,
    ) -> Result<(), CallError> {
        let arena = Arena::new();
        let place = self.place(state, hash, &arena);
        let place = place.ok_or_else(|| CallError::failed("only a key that was seen has a row"))?;
        let items = unnamed(place.shelf, columns.copy_into(&arena), &arena);
        let edited = self.put(state, &place, Some(Datum::from_value(items, &arena)), &arena);
        edited.ok_or_else(|| CallError::failed("the columns are not of the kinds that it keeps"))
    }

    /// Forgets a row; whether it was there.
    pub fn forget(&self, state: &mut ProgramState, hash: u128) -> bool {
        let arena = Arena::new();
        let Some(place) = self.place(state, hash, &arena) else { return false };
        self.put(state, &place, None, &arena).is_some()
    }

    fn place(&self, state: &ProgramState, hash: u128, arena: &Arena) -> Option<RowAddress> {
        let places = self.places(state, arena).into_iter();
        places.map(|(place, row)| (place, row.hash)).find(|one| one.1 == hash).map(|one| one.0)
    }

    fn places<'a>(&self, state: &ProgramState, arena: &'a Arena) -> Vec<(RowAddress, Row<'a>)> {
        let keepers = self.keepers();
        let titles = titles(&keepers);
        let mut found = Vec::new();
        for (memory, (node, title)) in keepers.iter().zip(titles).enumerate() {
            let saved = node.filter.save(state.memories[memory].as_ref(), arena);
            for shelf in node.filter.shelves() {
                let title = if shelf.name.is_empty() {
                    title.clone()
                } else {
                    format!("{title} {}", shelf.name)
                };
                let rows = table(&saved, shelf).into_iter().flat_map(Map::iter);
                for (key, items) in rows {
                    let names = [arena.str(&title), arena.str(key)].map(Value::Str);
                    let named = arena.array(names);
                    let columns = named_columns(shelf, items, arena);
                    let row = Row { hash: hash128(named), key: Some(named), columns };
                    found.push((RowAddress { memory, shelf, key: key.to_string() }, row));
                }
            }
        }
        found
    }

    /// Changes a row of a saved table, or takes it out, and lets the filter read the whole; `None` when
    /// it cannot.
    fn put<'a>(
        &self,
        state: &mut ProgramState,
        place: &RowAddress,
        row: Option<Datum<'a>>,
        arena: &'a Arena,
    ) -> Option<()> {
        let filter = &self.keepers()[place.memory].filter;
        let mut saved = filter.save(state.memories[place.memory].as_ref(), arena);
        let table = table_mut(&mut saved, place.shelf)?;
        match row {
            Some(row) => *table.get_mut(&place.key)? = row,
            None => drop(table.remove(&place.key)?),
        }
        state.memories[place.memory] = filter.restore(&saved)?;
        Some(())
    }
}

/// What each filter is called among those that remember: `aggregate`, and `aggregate 2` for the next.
fn titles(keepers: &[&Node]) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let title = |node: &&Node| {
        let number = seen.entry(node.name).or_default();
        *number += 1;
        if *number == 1 { node.name.to_string() } else { format!("{} {number}", node.name) }
    };
    keepers.iter().map(title).collect()
}

fn table<'s, 'a>(saved: &'s Datum<'a>, shelf: &Shelf) -> Option<&'s Map<'a>> {
    let table = match shelf.at {
        Some(at) => saved::list(Some(saved))?.get(at)?,
        None => saved,
    };
    if let Datum::Map(table) = table { Some(table) } else { None }
}

fn table_mut<'s, 'a>(saved: &'s mut Datum<'a>, shelf: &Shelf) -> Option<&'s mut Map<'a>> {
    let table = match (shelf.at, saved) {
        (Some(at), Datum::List(parts)) => parts.get_mut(at)?,
        (Some(_), _) => return None,
        (None, saved) => saved,
    };
    if let Datum::Map(table) = table { Some(table) } else { None }
}

/// The items of a saved row with their names; what is behind the named ones is one more column.
fn named_columns<'a>(shelf: &Shelf, items: &Datum<'a>, arena: &'a Arena) -> Value<'a> {
    let items = saved::list(Some(items)).unwrap_or_default();
    let mut record = arena.record_builder(items.len());
    for (name, item) in shelf.columns.iter().zip(items) {
        record.append(name, item.to_value(arena));
    }
    if let Some(rest) = shelf.rest {
        let items = items.iter().skip(shelf.columns.len());
        record.append(rest, arena.array(items.map(|item| item.to_value(arena))));
    }
    record.finish()
}

/// The opposite of [`named_columns`].
fn unnamed<'a>(shelf: &Shelf, columns: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let column = |name: &str| columns.get(&Key::new(name)).unwrap_or(Value::Null);
    let named = shelf.columns.iter().map(|name| column(name));
    let rest = shelf.rest.and_then(|name| column(name).as_array(arena)).unwrap_or_default();
    arena.array(named.chain(rest.iter().copied()).collect::<Vec<_>>())
}
