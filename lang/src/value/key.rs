//! Keys and their hashes. The hash of a key is the same wherever it is taken, so that a program
//! hashes its constant keys once, at load.

use xxhash_rust::xxh3::xxh3_64;

/// A key whose hash is known, so that programs hash their constant keys once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'k> {
    text: &'k str,
    hash: u32,
}

impl Default for Key<'_> {
    /// The empty key.
    fn default() -> Self {
        Key::new("")
    }
}

impl<'k> Key<'k> {
    /// Hashes `text`.
    #[must_use]
    #[inline]
    pub fn new(text: &'k str) -> Self {
        Self { text, hash: hash(text.as_bytes()) as u32 }
    }

    /// A key whose hash was taken by [`Key::new`] before. With any other hash it is found nowhere.
    #[must_use]
    #[inline]
    pub fn with_hash(text: &'k str, hash: u32) -> Self {
        Self { text, hash }
    }

    /// The hash, to be kept beside a key that is stored.
    #[must_use]
    #[inline]
    pub fn hash(&self) -> u32 {
        self.hash
    }

    /// The key itself.
    #[must_use]
    #[inline]
    pub fn text(&self) -> &'k str {
        self.text
    }

    /// A byte of the hash: what a small record is searched by.
    #[inline]
    pub(crate) fn tag(&self) -> u8 {
        (self.hash >> 24) as u8
    }

    /// Whether both are the same key.
    #[inline]
    pub(crate) fn is_same(&self, other: &Key<'_>) -> bool {
        self.is(other.text, other.hash)
    }

    /// Whether this is the key `text`, of which the hash is known to be the same.
    #[must_use]
    #[inline]
    pub fn is_text(&self, text: &str) -> bool {
        same_text(self.text, text)
    }

    /// Whether this is the key `text` with the hash `hash`.
    #[inline]
    pub(super) fn is(&self, text: &str, hash: u32) -> bool {
        self.hash == hash && same_text(self.text, text)
    }
}

/// As `==`. Keys of which the hash is the same are nearly always the same, and short: a few
/// words of each are compared sooner than a function is called.
#[inline]
pub(super) fn same_text(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    match left.len() {
        4..=8 => {
            half(left.first_chunk()) == half(right.first_chunk())
                && half(left.last_chunk()) == half(right.last_chunk())
        }
        9..=16 => {
            word(left.first_chunk()) == word(right.first_chunk())
                && word(left.last_chunk()) == word(right.last_chunk())
        }
        length @ 17..=32 => {
            let middle = length - 16;
            word(left.first_chunk()) == word(right.first_chunk())
                && word(left[8..].first_chunk()) == word(right[8..].first_chunk())
                && word(left[middle..].first_chunk()) == word(right[middle..].first_chunk())
                && word(left.last_chunk()) == word(right.last_chunk())
        }
        _ => left == right,
    }
}

/// A key that a compiled pattern keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedKey {
    text: Box<str>,
    hash: u32,
}

impl OwnedKey {
    /// Hashes `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), hash: Key::new(text).hash }
    }

    /// The key, to be looked up or inserted.
    #[must_use]
    #[inline]
    pub fn key(&self) -> Key<'_> {
        Key { text: &self.text, hash: self.hash }
    }
}

/// Keys are short: up to 16 bytes are two words, which one multiplication mixes (as wyhash does),
/// up to 32 bytes are four; longer ones go through XXH3.
#[inline(always)]
fn hash(text: &[u8]) -> u64 {
    /// Neither byte 0xff is part of UTF-8, so no key makes a factor zero.
    const FACTORS: (u64, u64) = (0xff9e_3779_b97f_4a7f, 0xffc2_b2ae_3d27_d4eb);
    let (low, high) = match text.len() {
        0 => (0, 0),
        length @ 1..=3 => {
            let bytes = [text[0], text[length / 2], text[length - 1], 0];
            (u64::from(u32::from_le_bytes(bytes)), 0)
        }
        4..=8 => (u64::from(half(text.first_chunk())), u64::from(half(text.last_chunk()))),
        9..=16 => (word(text.first_chunk()), word(text.last_chunk())),
        length @ 17..=32 => (
            mix(word(text.first_chunk()) ^ FACTORS.1, word(text[8..].first_chunk()) ^ FACTORS.0),
            mix(
                word(text[length - 16..].first_chunk()) ^ FACTORS.0,
                word(text.last_chunk()) ^ FACTORS.1,
            ),
        ),
        _ => return xxh3_64(text),
    };
    mix(low ^ FACTORS.0 ^ text.len() as u64, high ^ FACTORS.1)
}

#[inline]
fn mix(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product >> 64) as u64 ^ product as u64
}

#[inline]
fn half(bytes: Option<&[u8; 4]>) -> u32 {
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[inline]
fn word(bytes: Option<&[u8; 8]>) -> u64 {
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_one_place_spread_over_the_tags() {
        let names: Vec<String> = (0..4096).map(|number| format!("field_{number:04}")).collect();
        let mut counts = [0_u32; 256];
        names.iter().for_each(|name| counts[usize::from(Key::new(name).tag())] += 1);
        assert!(counts.iter().all(|count| *count < 64), "{counts:?}");
    }

    #[test]
    fn keys_are_the_same_only_when_every_byte_is() {
        for length in 0..40 {
            let text = "k".repeat(length);
            assert!(Key::new(&text).is(&text.clone(), Key::new(&text).hash()));
            for place in 0..length {
                let mut other = text.clone();
                other.replace_range(place..=place, "x");
                assert!(!same_text(&text, &other), "{text} and {other}");
                assert_ne!(Key::new(&text).hash(), Key::new(&other).hash(), "{text} and {other}");
            }
        }
    }

    #[test]
    fn every_length_has_a_hash_of_its_own() {
        let text = "a".repeat(64);
        let mut hashes: Vec<u32> =
            (0..=text.len()).map(|length| Key::new(&text[..length]).hash()).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 65);
    }
}
