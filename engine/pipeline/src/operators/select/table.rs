//! Open groups as rows that a person can read and change: for each window of the frame when it closes
//! and what it has gathered. A column is named after its window and what it holds.

use super::group::key_of;
use super::level::{Closing, Level};
use super::windowed::{Group, Groups, WindowedSelect};
use crate::row::Row;
use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Key, Owned, Value};

/// What the last part of an aggregate's path is separated by.
const PATH_SEPARATOR: &str = "::";

impl WindowedSelect {
    /// The rows of all open groups, that used least recently first.
    pub(super) fn group_rows<'a>(&self, state: &Groups, arena: &'a Arena) -> Vec<Row<'a>> {
        let open = state.open.iter();
        let mut groups: Vec<_> = open.map(|(identity, group)| (identity, &**group)).collect();
        groups.sort_unstable_by_key(|(_, group)| group.used);
        let row = |(identity, group): (&u128, &Group)| {
            let mut columns = arena.record_builder(group.levels.len());
            for (number, level) in group.levels.iter().enumerate() {
                let names = self.names(number);
                level.values(arena).zip(&names).for_each(|(value, name)| {
                    columns.append(arena.str(name), value);
                });
            }
            let key = key_of(group.identity.value(arena), arena);
            Row { hash: *identity, key, columns: columns.finish() }
        };
        groups.into_iter().map(row).collect()
    }

    /// Puts other columns into an open group.
    pub(super) fn amend_group(
        &self,
        state: &mut Groups,
        identity: u128,
        columns: Value<'_>,
    ) -> Result<(), CallError> {
        let missing = || CallError::failed("only groups that are open can be changed");
        let group = state.open.get_mut(&identity).ok_or_else(missing)?;
        for number in 0..group.levels.len() {
            let names = self.names(number);
            let values: Option<Vec<_>> =
                names.iter().map(|name| columns.get(&Key::new(name))).collect();
            let wrong = || CallError::failed(format!("the columns are {}", names.join(", ")));
            group.levels[number].take_values(&values.ok_or_else(wrong)?, &names)?;
        }
        Ok(())
    }

    /// The columns of a window: of its closing, then one for each aggregate, then its earlier slides.
    fn names(&self, number: usize) -> Vec<String> {
        let window = self.windows[number].name.get();
        let mut prefix = window.as_str().unwrap_or("window").to_string();
        let same = self.windows[..number].iter().filter(|one| one.name.get() == window).count();
        if same > 0 {
            prefix.push_str(&format!("_{}", same + 1));
        }
        let mut names: Vec<String> = vec![format!("{prefix}.closing"), format!("{prefix}.filled")];
        for path in self.aggregates() {
            let last = path.rsplit(PATH_SEPARATOR).next().unwrap_or(path);
            let plain = format!("{prefix}.{last}");
            let same = names.iter().filter(|name| name.split('_').next() == Some(&plain)).count();
            names.push(if same == 0 { plain } else { format!("{plain}_{}", same + 1) });
        }
        names.push(format!("{prefix}.slides"));
        names
    }
}

impl Level {
    /// The values of the columns, in their order.
    fn values<'a>(&self, arena: &'a Arena) -> impl Iterator<Item = Value<'a>> {
        let closing = match &self.closing {
            Closing::Weight(weight) => Value::UInt(*weight),
            Closing::Deadline(deadline) => deadline.map_or(Value::Null, Value::UInt),
            Closing::Script(state) => state.read(arena),
        };
        let slides = self.panes.iter().flat_map(|panes| &panes.0);
        let slides = slides.map(|pane| arena.array(pane.iter().map(|one| one.save(arena))));
        let slides = arena.array(slides);
        let gathered: Vec<_> = self.accumulators.iter().map(|one| one.save(arena)).collect();
        [closing, Value::Bool(self.holds_data)].into_iter().chain(gathered).chain([slides])
    }

    /// Takes the values of columns over. Earlier slides stay as they are.
    fn take_values(&mut self, values: &[Value<'_>], names: &[String]) -> Result<(), CallError> {
        let wrong = |at: usize, wanted: &str| {
            CallError::failed(format!("`{}` has to be {wanted}", names[at]))
        };
        let (closing, filled) = (values[0], values[1]);
        match &mut self.closing {
            Closing::Weight(weight) => {
                *weight = closing.as_u64().ok_or_else(|| wrong(0, "a weight, a whole number"))?;
            }
            Closing::Deadline(deadline) if closing == Value::Null => *deadline = None,
            Closing::Deadline(deadline) => {
                let at = closing.as_u64().ok_or_else(|| wrong(0, "nanoseconds since 1970"))?;
                *deadline = Some(at);
            }
            Closing::Script(state) => **state = Owned::from(closing),
        }
        self.holds_data = filled.as_bool().ok_or_else(|| wrong(1, "true or false"))?;
        for (at, one) in self.accumulators.iter_mut().enumerate() {
            one.restore(values[at + 2]).map_err(|_| wrong(at + 2, "what the aggregate keeps"))?;
        }
        Ok(())
    }
}
