//! A compact map from 128-bit hashes to small values: open addressing with linear probing, the
//! values beside their keys. At most four fifths of the places are taken, so a search is short.

/// The hash 0 marks a free place; a key with that hash is stored as 1.
const FREE: [u64; 2] = [0, 0];

/// The table grows when more than `LOAD_NUMERATOR / LOAD_DENOMINATOR` of its places are taken.
const LOAD_NUMERATOR: usize = 4;
const LOAD_DENOMINATOR: usize = 5;

/// Places of the smallest table that is not empty.
const PLACES_MIN: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Place<V> {
    key: [u64; 2],
    value: V,
}

/// A map from hashes to values. The hashes must be good: their high bits choose the place.
#[derive(Debug)]
pub struct Table<V> {
    places: Vec<Place<V>>,
    len: usize,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self { places: Vec::new(), len: 0 }
    }
}

fn halves(hash: u128) -> [u64; 2] {
    let key = [hash as u64, (hash >> 64) as u64];
    if key == FREE { [1, 0] } else { key }
}

impl<V: Copy + Default> Table<V> {
    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of places, free ones included: the range of [`Table::at`].
    #[must_use]
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// Bytes that the table takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place<V>>()
    }

    /// The place that a key would have in an otherwise empty table: a product keeps the order of
    /// the hashes, so any number of places will do (Lemire, "fast alternative to modulo").
    fn home(&self, key: [u64; 2]) -> usize {
        ((u128::from(key[1]) * self.places.len() as u128) >> 64) as usize
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 == self.places.len() { 0 } else { place + 1 }
    }

    /// `Ok(place)` of the key, or `Err(place)` where it belongs. There must be a free place.
    fn find(&self, key: [u64; 2]) -> Result<usize, usize> {
        let mut place = self.home(key);
        loop {
            match self.places[place].key {
                FREE => return Err(place),
                other if other == key => return Ok(place),
                _ => place = self.after(place),
            }
        }
    }

    /// A copy of the value of a key.
    #[must_use]
    pub fn get(&self, hash: u128) -> Option<V> {
        if self.is_empty() {
            return None;
        }
        self.find(halves(hash)).ok().map(|place| self.places[place].value)
    }

    /// The value of a key.
    pub fn get_mut(&mut self, hash: u128) -> Option<&mut V> {
        if self.is_empty() {
            return None;
        }
        let place = self.find(halves(hash)).ok()?;
        Some(&mut self.places[place].value)
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, hash: u128, value: V) {
        if (self.len + 1) * LOAD_DENOMINATOR > self.places.len() * LOAD_NUMERATOR {
            self.grow();
        }
        let key = halves(hash);
        match self.find(key) {
            Ok(place) => self.places[place].value = value,
            Err(place) => {
                self.places[place] = Place { key, value };
                self.len += 1;
            }
        }
    }

    fn grow(&mut self) {
        let places = (self.places.len() + self.places.len() / 2).max(PLACES_MIN);
        let free = Place { key: FREE, value: V::default() };
        let old = std::mem::replace(&mut self.places, vec![free; places]);
        for taken in old.into_iter().filter(|place| place.key != FREE) {
            let (Ok(place) | Err(place)) = self.find(taken.key);
            self.places[place] = taken;
        }
    }

    /// The entry at a place; see [`Table::places`].
    #[must_use]
    pub fn at(&self, place: usize) -> Option<(u128, V)> {
        let found = self.places.get(place)?;
        let hash = u128::from(found.key[1]) << 64 | u128::from(found.key[0]);
        (found.key != FREE).then_some((hash, found.value))
    }

    /// All entries, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u128, V)> + '_ {
        (0..self.places.len()).filter_map(|place| self.at(place))
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, hash: u128) -> Option<V> {
        if self.is_empty() {
            return None;
        }
        let place = self.find(halves(hash)).ok()?;
        Some(self.remove_at(place))
    }

    /// Empties a place that is taken. Entries after it that were pushed away from their homes move
    /// back (Knuth, The Art of Computer Programming, volume 3, 6.4, algorithm R), so that searches
    /// never meet the mark of a removed entry; the place may be taken again afterwards.
    fn remove_at(&mut self, place: usize) -> V {
        let removed = self.places[place].value;
        let mut hole = place;
        let mut next = self.after(place);
        while self.places[next].key != FREE {
            let home = self.home(self.places[next].key);
            if self.distance(home, next) >= self.distance(hole, next) {
                self.places[hole] = self.places[next];
                hole = next;
            }
            next = self.after(next);
        }
        self.places[hole] = Place { key: FREE, value: V::default() };
        self.len -= 1;
        removed
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.places.len() - from }
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.places.fill(Place { key: FREE, value: V::default() });
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use temblor_lang::random::scatter;

    fn hash(number: u64) -> u128 {
        u128::from(scatter(0, number)) << 64 | u128::from(scatter(0, !number))
    }

    #[test]
    fn behaves_as_a_map() {
        let mut table = Table::default();
        let mut oracle = HashMap::new();
        for step in 0..20_000u64 {
            let key = hash(scatter(0, step) % 700);
            if scatter(0, step ^ 0xF0).is_multiple_of(3) {
                assert_eq!(table.remove(key), oracle.remove(&key), "step {step}");
            } else {
                table.insert(key, step);
                oracle.insert(key, step);
            }
            assert_eq!(table.len(), oracle.len());
        }
        for (key, value) in &oracle {
            assert_eq!(table.get_mut(*key), Some(&mut value.clone()));
        }
        let mut entries: Vec<_> = table.iter().collect();
        let mut wanted: Vec<_> = oracle.into_iter().collect();
        entries.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(entries, wanted);
    }

    #[test]
    fn keys_of_one_home_all_find_room() {
        let mut table = Table::default();
        for number in 0..500u128 {
            table.insert(number, number as u64);
            table.insert(u128::MAX - number, number as u64);
        }
        // 0 is stored as 1, so these two are one key.
        assert_eq!(table.len(), 999);
        for number in (2..500u128).rev() {
            assert_eq!(table.remove(number), Some(number as u64));
            assert_eq!(table.remove(u128::MAX - number), Some(number as u64));
        }
        assert_eq!(table.len(), 3);
        assert_eq!(table.remove(77), None);
    }

    #[test]
    fn an_empty_table_takes_no_memory() {
        let mut table = Table::<u64>::default();
        assert_eq!((table.bytes(), table.remove(5)), (0, None));
        assert_eq!(table.get_mut(5), None);
        table.insert(0, 9);
        assert_eq!(table.get_mut(0), Some(&mut 9));
        table.clear();
        assert!(table.is_empty() && table.iter().next().is_none());
    }

    #[test]
    fn a_million_limits_take_less_than_48_bytes_each() {
        let mut table = Table::default();
        (0..1_000_000).for_each(|number| table.insert(hash(number), number));
        assert!(table.bytes() / table.len() <= 48, "{} bytes", table.bytes() / table.len());
    }
}
