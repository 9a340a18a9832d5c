//! A map from 128-bit hashes that also keeps its entries in the order in which they were last
//! seen. Whatever is oldest, by time or by number, is at hand: expiry and eviction scan nothing.

/// No entry: the end of a list.
const NONE: u32 = u32::MAX;

/// The index grows when more than three quarters of its places are taken.
const LOAD_NUMERATOR: usize = 3;
const LOAD_DENOMINATOR: usize = 4;

/// Places of the smallest index.
const PLACES_MIN: usize = 16;

/// An entry. 32 bytes and the value.
#[derive(Debug)]
struct Slot<V> {
    key: [u64; 2],
    at_ns: u64,
    /// Towards the oldest; for a free slot, the next free one.
    older: u32,
    newer: u32,
    value: V,
}

/// An entry as it is handed out.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen<V> {
    /// The key.
    pub hash: u128,
    /// When it was last touched.
    pub at_ns: u64,
    /// What is kept for it.
    pub value: V,
}

/// A map in order of recency.
#[derive(Debug)]
pub struct Recency<V> {
    /// 32 bits of the hash above the number of the slot plus one; 0 is free. With these bits a
    /// search meets the slot of another key about never.
    index: Vec<u64>,
    slots: Vec<Slot<V>>,
    free: u32,
    oldest: u32,
    newest: u32,
    len: usize,
}

impl<V> Default for Recency<V> {
    fn default() -> Self {
        let (index, slots) = (Vec::new(), Vec::new());
        Self { index, slots, free: NONE, oldest: NONE, newest: NONE, len: 0 }
    }
}

impl<V: Default> Recency<V> {
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

    /// Bytes that the map takes, without what its values refer to.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.index.capacity() * size_of::<u64>() + self.slots.capacity() * size_of::<Slot<V>>()
    }

    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.index.len() as u64) >> 32) as usize
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 == self.index.len() { 0 } else { place + 1 }
    }

    /// `Ok((place, slot))` of a key, or `Err(place)` where it belongs.
    fn find(&self, key: [u64; 2]) -> Result<(usize, usize), usize> {
        let tag = tag_of(key);
        let mut place = self.home(tag);
        loop {
            let word = self.index[place];
            if word == 0 {
                return Err(place);
            }
            let slot = slot_of(word);
            if (word >> 32) as u32 == tag && self.slots[slot].key == key {
                return Ok((place, slot));
            }
            place = self.after(place);
        }
    }

    fn slot(&self, hash: u128) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        self.find(halves(hash)).ok().map(|(_, slot)| slot)
    }

    /// The value of a key.
    pub fn get_mut(&mut self, hash: u128) -> Option<&mut V> {
        let slot = self.slot(hash)?;
        Some(&mut self.slots[slot].value)
    }

    /// Makes a key the newest, seen at `at_ns`, and returns its value.
    pub fn touch(&mut self, hash: u128, at_ns: u64) -> Option<&mut V> {
        let slot = self.slot(hash)?;
        self.unlink(slot);
        self.link_newest(slot);
        self.slots[slot].at_ns = at_ns;
        Some(&mut self.slots[slot].value)
    }

    /// Adds a key as the newest one, in place of an entry that it may have. There can be fewer
    /// than 2³² entries; every caller has a far smaller bound.
    pub fn insert(&mut self, hash: u128, at_ns: u64, value: V) {
        if (self.len + 1) * LOAD_DENOMINATOR > self.index.len() * LOAD_NUMERATOR {
            self.grow_index();
        }
        let key = halves(hash);
        let Err(place) = self.find(key) else {
            self.replace(hash, at_ns, value);
            return;
        };
        let slot = self.take_slot(Slot { key, at_ns, older: NONE, newer: NONE, value });
        self.index[place] = word_of(key, slot);
        self.link_newest(slot);
        self.len += 1;
    }

    /// As [`Recency::insert`], but the entry stands where its time belongs. All newer entries are
    /// looked at: this is for people who change a table, not for events.
    pub fn place(&mut self, hash: u128, at_ns: u64, value: V) {
        self.insert(hash, at_ns, value);
        let Some(slot) = self.slot(hash) else { return };
        self.unlink(slot);
        let mut older = self.newest;
        while let Some(entry) = self.slots.get(older as usize).filter(|one| one.at_ns > at_ns) {
            older = entry.older;
        }
        self.link_behind(slot, older);
    }

    fn replace(&mut self, hash: u128, at_ns: u64, value: V) {
        if let Some(old) = self.touch(hash, at_ns) {
            *old = value;
        }
    }

    /// The slot of a new entry. Slots grow by a quarter, not by doubling: memory is promised.
    fn take_slot(&mut self, entry: Slot<V>) -> usize {
        if self.free != NONE {
            let slot = self.free as usize;
            self.free = self.slots[slot].older;
            self.slots[slot] = entry;
            return slot;
        }
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve_exact((self.slots.len() / 4).max(PLACES_MIN));
        }
        self.slots.push(entry);
        self.slots.len() - 1
    }

    fn grow_index(&mut self) {
        let places = (self.index.len() + self.index.len() / 2).max(PLACES_MIN);
        let old = std::mem::replace(&mut self.index, vec![0; places]);
        for word in old.into_iter().filter(|word| *word != 0) {
            let mut place = self.home((word >> 32) as u32);
            while self.index[place] != 0 {
                place = self.after(place);
            }
            self.index[place] = word;
        }
    }

    /// When the oldest entry was last seen.
    #[must_use]
    pub fn oldest_ns(&self) -> Option<u64> {
        self.slots.get(self.oldest as usize).map(|slot| slot.at_ns)
    }

    /// Removes the oldest entry.
    pub fn pop_oldest(&mut self) -> Option<Seen<V>> {
        let slot = self.slots.get(self.oldest as usize)?;
        let place = self.find(slot.key).ok()?.0;
        Some(self.remove_at(place))
    }

    /// Removes the oldest entry if it was last seen at `limit_ns` or before.
    pub fn pop_until(&mut self, limit_ns: u64) -> Option<Seen<V>> {
        if self.oldest_ns()? > limit_ns {
            return None;
        }
        self.pop_oldest()
    }

    /// Removes a key.
    pub fn remove(&mut self, hash: u128) -> Option<Seen<V>> {
        if self.is_empty() {
            return None;
        }
        let place = self.find(halves(hash)).ok()?.0;
        Some(self.remove_at(place))
    }

    fn remove_at(&mut self, place: usize) -> Seen<V> {
        let slot = slot_of(self.index[place]);
        self.unlink(slot);
        self.close_gap(place);
        self.len -= 1;
        let entry = &mut self.slots[slot];
        let value = std::mem::take(&mut entry.value);
        let hash = u128::from(entry.key[1]) << 64 | u128::from(entry.key[0]);
        let at_ns = entry.at_ns;
        entry.older = self.free;
        self.free = slot as u32;
        Seen { hash, at_ns, value }
    }

    /// Empties a place of the index and moves back what was pushed away by it.
    fn close_gap(&mut self, place: usize) {
        let mut hole = place;
        let mut next = self.after(place);
        while self.index[next] != 0 {
            let home = self.home((self.index[next] >> 32) as u32);
            if self.distance(home, next) >= self.distance(hole, next) {
                self.index[hole] = self.index[next];
                hole = next;
            }
            next = self.after(next);
        }
        self.index[hole] = 0;
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.index.len() - from }
    }

    fn unlink(&mut self, slot: usize) {
        let (older, newer) = (self.slots[slot].older, self.slots[slot].newer);
        match self.slots.get_mut(older as usize) {
            Some(neighbour) => neighbour.newer = newer,
            None => self.oldest = newer,
        }
        match self.slots.get_mut(newer as usize) {
            Some(neighbour) => neighbour.older = older,
            None => self.newest = older,
        }
    }

    fn link_newest(&mut self, slot: usize) {
        self.link_behind(slot, self.newest);
    }

    /// Links an entry behind an older one; it is the oldest if that is [`NONE`].
    fn link_behind(&mut self, slot: usize, older: u32) {
        let number = u32::try_from(slot).expect("fewer than 2^32 entries");
        let newer = match self.slots.get_mut(older as usize) {
            Some(neighbour) => std::mem::replace(&mut neighbour.newer, number),
            None => std::mem::replace(&mut self.oldest, number),
        };
        match self.slots.get_mut(newer as usize) {
            Some(neighbour) => neighbour.older = number,
            None => self.newest = number,
        }
        (self.slots[slot].older, self.slots[slot].newer) = (older, newer);
    }

    /// Key, time and value of each entry, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u128, u64, &V)> {
        let mut at = self.oldest;
        std::iter::from_fn(move || {
            let slot = self.slots.get(at as usize)?;
            at = slot.newer;
            let hash = u128::from(slot.key[1]) << 64 | u128::from(slot.key[0]);
            Some((hash, slot.at_ns, &slot.value))
        })
    }
}

fn halves(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

fn tag_of(key: [u64; 2]) -> u32 {
    (key[1] >> 32) as u32
}

fn word_of(key: [u64; 2], slot: usize) -> u64 {
    u64::from(tag_of(key)) << 32 | (slot as u64 + 1)
}

fn slot_of(word: u64) -> usize {
    (word as u32 - 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u64) -> u128 {
        u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) << 64 | u128::from(number)
    }

    #[test]
    fn places_an_entry_by_its_time() {
        let mut map = Recency::default();
        (0..5).for_each(|number| map.insert(hash(number), number * 10, number));
        map.place(hash(4), 15, 40);
        map.place(hash(9), 0, 9);
        map.place(hash(8), 99, 8);
        let order: Vec<_> = map.iter().map(|(_, at_ns, value)| (at_ns, *value)).collect();
        assert_eq!(order, [(0, 0), (0, 9), (10, 1), (15, 40), (20, 2), (30, 3), (99, 8)]);
        map.place(hash(0), 0, 0);
        assert_eq!(map.pop_oldest().map(|seen| seen.value), Some(9));
        map.insert(hash(7), 100, 7);
        let order: Vec<_> = map.iter().map(|(.., value)| *value).collect();
        assert_eq!(order, [0, 1, 40, 2, 3, 8, 7]);
    }

    #[test]
    fn keeps_the_order_of_sight() {
        let mut map = Recency::default();
        (0..10).for_each(|number| map.insert(hash(number), number, number));
        assert_eq!(map.touch(hash(0), 10), Some(&mut 0));
        assert_eq!(map.remove(hash(2)).map(|seen| seen.value), Some(2));
        assert_eq!(map.oldest_ns(), Some(1));
        assert_eq!(map.pop_until(0), None);
        let order: Vec<u64> = std::iter::from_fn(|| map.pop_oldest()).map(|s| s.value).collect();
        assert_eq!(order, [1, 3, 4, 5, 6, 7, 8, 9, 0]);
        assert!(map.is_empty() && map.oldest_ns().is_none());
    }

    #[test]
    fn behaves_as_a_list_of_pairs() {
        let mut map = Recency::default();
        let mut oracle: Vec<(u64, u64)> = Vec::new();
        let mut word = 7u64;
        for step in 0..20_000u64 {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = (word >> 33) % 200;
            let position = oracle.iter().position(|(other, _)| *other == key);
            match ((word >> 60) % 4, position) {
                (0, _) => {
                    let removed = map.remove(hash(key)).map(|seen| seen.value);
                    assert_eq!(removed, position.map(|at| oracle.remove(at).1));
                }
                (_, Some(at)) => {
                    let pair = oracle.remove(at);
                    oracle.push(pair);
                    assert_eq!(map.touch(hash(key), step).copied(), Some(pair.1));
                }
                (_, None) => {
                    map.insert(hash(key), step, step);
                    oracle.push((key, step));
                }
            }
            assert_eq!(map.len(), oracle.len());
        }
        let order: Vec<u64> = map.iter().map(|(_, _, value)| *value).collect();
        assert_eq!(order, oracle.iter().map(|pair| pair.1).collect::<Vec<_>>());
    }

    #[test]
    fn a_key_with_equal_high_bits_is_another_key() {
        let mut map = Recency::default();
        map.insert(1, 0, "one");
        map.insert(2, 0, "two");
        map.insert(2, 5, "again");
        assert_eq!(map.get_mut(1), Some(&mut "one"));
        assert_eq!(map.get_mut(3), None);
        assert_eq!(map.iter().map(|entry| *entry.2).collect::<Vec<_>>(), ["one", "again"]);
    }

    #[test]
    fn an_entry_takes_at_most_64_bytes() {
        let mut map = Recency::default();
        for number in 0..1_000_000u64 {
            map.insert(hash(number), number, ());
            if number > 1000 && number % 10_007 == 0 {
                assert!(map.bytes() / map.len() <= 64, "{} at {number}", map.bytes() / map.len());
            }
        }
        assert!(map.bytes() / map.len() <= 64);
    }
}
