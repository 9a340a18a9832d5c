//! The field names of a compiled pattern. All of them stand in one text, so that handing them to
//! an event's arena is one copy and no look-up.

use std::ops::Range;
use temblor_lang::value::{Arena, Key};

/// Names in the order in which they were added; equal names share a number.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    text: String,
    names: Vec<Name>,
}

/// Where a name stands, and its hash.
#[derive(Clone, Debug)]
struct Name {
    range: Range<usize>,
    hash: u32,
}

impl Keys {
    /// The number of `name`, which is added unless it is known.
    pub fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.iter().position(|known| known == name) {
            return number;
        }
        let start = self.text.len();
        self.text.push_str(name);
        let range = start..self.text.len();
        self.names.push(Name { range, hash: Key::new(name).hash() });
        self.names.len() - 1
    }

    /// How many different names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &self.text[name.range.clone()])
    }

    /// Copies the names into `arena`.
    #[must_use]
    pub fn place<'a, 'k>(&'k self, arena: &'a Arena) -> PlacedKeys<'a, 'k> {
        PlacedKeys { text: arena.str(&self.text), names: &self.names }
    }
}

/// Names that stand in an arena.
#[derive(Clone, Copy, Debug)]
pub struct PlacedKeys<'a, 'k> {
    text: &'a str,
    names: &'k [Name],
}

impl<'a> PlacedKeys<'a, '_> {
    /// The name with this number.
    #[must_use]
    pub(crate) fn name(&self, number: usize) -> &'a str {
        &self.text[self.names[number].range.clone()]
    }

    /// The name with this number, with its hash.
    #[must_use]
    #[inline]
    pub(crate) fn key(&self, number: usize) -> Key<'a> {
        Key::with_hash(self.name(number), self.names[number].hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_share_a_number() {
        let mut keys = Keys::default();
        assert_eq!((keys.number("a"), keys.number("bc"), keys.number("a")), (0, 1, 0));
        assert_eq!(keys.len(), 2);
        let arena = Arena::new();
        let placed = keys.place(&arena);
        assert_eq!((placed.name(0), placed.name(1)), ("a", "bc"));
    }
}
