//! What running code holds outside of variables, and the collection of what it has lost.
//!
//! Invariant: a value that the interpreter needs again is in a variable, in `held`, or held by a call that
//! is counted in `opaque`.

use super::{Given, Machine};
use crate::value::Value;

/// When values that code has lost are freed while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Collecting {
    /// Behind the event only: who made the machine holds values that it does not know of.
    #[default]
    Never,
    /// When much of what an event may hold is used up.
    WhenTight,
    /// As often as possible, to test that nothing is freed which is in use.
    #[cfg(test)]
    Always,
}

impl Given {
    /// The values of the heap that it holds.
    pub(super) fn values(&self, into: &mut Vec<Value>) {
        match self {
            Given::Block(_) | Given::Method(_) => {}
            Given::Lambda(closure) => into.push(Value::Lambda(*closure)),
            Given::Counted(inner, _) => inner.values(into),
            Given::With(inner, value) => {
                inner.values(into);
                into.push(value.clone());
            }
            Given::Gather(list) => into.push(Value::List(*list)),
        }
    }
}

impl Machine<'_, '_> {
    /// Frees what code has lost, where that is wanted and no value is held that it does not know of.
    pub(super) fn relieve(&mut self) {
        let wanted = match self.collecting {
            Collecting::Never => false,
            Collecting::WhenTight => self.heap.is_tight(),
            #[cfg(test)]
            Collecting::Always => true,
        };
        if !wanted || self.opaque > 0 {
            return;
        }
        let mut given = Vec::new();
        self.given.iter().for_each(|one| one.values(&mut given));
        let set = self.set.iter().map(|(_, value)| value);
        let roots = self.memory.kept.values().chain(set).chain(&self.held).chain(&self.caught);
        let roots = roots.chain([&self.this]).chain(&given);
        match self.collecting {
            Collecting::WhenTight => self.heap.relieve(roots),
            _ => self.heap.collect(roots),
        }
    }

    /// Runs what holds values meanwhile that are not in `held`.
    pub(super) fn opaquely<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.opaque += 1;
        let result = run(self);
        self.opaque -= 1;
        result
    }

    /// Runs something while the values are kept.
    pub(super) fn keeping<T>(
        &mut self,
        values: impl IntoIterator<Item = Value>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let base = self.held.len();
        self.held.extend(values);
        let result = run(self);
        self.held.truncate(base);
        result
    }
}
