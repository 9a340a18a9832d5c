//! Keys and their hashes. The hash of a key is the same wherever it is taken, so that a program
//! hashes its constant keys once, at load.

use xxhash_rust::xxh3::xxh3_64;

/// A key whose hash is known, so that programs hash their constant keys once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'k> {
    text: &'k str,
    hash: u64,
}

impl<'k> Key<'k> {
    /// Hashes `text`.
    #[must_use]
    #[inline]
    pub fn new(text: &'k str) -> Self {
        Self { text, hash: hash(text.as_bytes()) }
    }

    /// A key whose hash was taken by [`Key::new`] before.
    #[must_use]
    #[inline]
    pub(crate) fn with_hash(text: &'k str, hash: u64) -> Self {
        Self { text, hash }
    }

    /// The hash, to be kept beside a key that is stored.
    #[must_use]
    #[inline]
    pub fn hash(&self) -> u64 {
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
    pub(super) fn tag(&self) -> u8 {
        (self.hash >> 56) as u8
    }
}

/// Keys are short: up to 16 bytes are two words, which one multiplication mixes (as wyhash does);
/// longer ones go through XXH3.
#[inline]
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
        _ => return xxh3_64(text),
    };
    let low = low ^ FACTORS.0 ^ text.len() as u64;
    let product = u128::from(low) * u128::from(high ^ FACTORS.1);
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
    fn every_length_has_a_hash_of_its_own() {
        let text = "a".repeat(64);
        let mut hashes: Vec<u64> =
            (0..=text.len()).map(|length| Key::new(&text[..length]).hash()).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 65);
    }
}
