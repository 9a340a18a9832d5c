//! The record: a body with its length, number and checksums in front.
//!
//! Invariant: a record that is torn, cut or changed anywhere is told from a whole one, and where the next
//! whole one begins can be found without what stood before it.

use xxhash_rust::xxh3::xxh3_64;

use crate::seal::{SEAL_BYTES, Seal};

/// Length of what stands in front of a body, in bytes.
pub const HEAD_BYTES: usize = 40;
/// The first bytes of every record.
pub const MARKER: [u8; 4] = *b"\xB5tmR";
/// The longest body.
pub const BODY_BYTES_MAX: usize = 1 << 30;

/// The body is compressed by LZ4.
const COMPRESSED: u32 = 1;
/// The body is sealed.
const SEALED: u32 = 2;

/// What stands in front of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Length of the body as it is stored, in bytes.
    pub stored: u32,
    /// Length of the body before it was compressed, in bytes.
    pub plain: u32,
    flags: u32,
    /// The number of the record: consecutive in the order of writing.
    pub sequence: u64,
    /// How many events it holds.
    pub events: u32,
    /// XXH3 (64 bits) of the body as it is stored.
    body_check: u64,
}

impl Head {
    /// The head of these bytes, if it is one: its own checksum tells.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEAD_BYTES)?;
        let word =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let long =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        if bytes[..4] != MARKER || word(36) != check(&bytes[..36]) {
            return None;
        }
        let (stored, plain, flags) = (word(4), word(8), word(12));
        let (sequence, events, body_check) = (long(16), word(24), long(28));
        let fits =
            stored as usize <= BODY_BYTES_MAX + SEAL_BYTES && plain as usize <= BODY_BYTES_MAX;
        fits.then_some(Self { stored, plain, flags, sequence, events, body_check })
    }

    fn write(&self, bytes: &mut [u8]) {
        bytes[..4].copy_from_slice(&MARKER);
        bytes[4..8].copy_from_slice(&self.stored.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.plain.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.flags.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.events.to_le_bytes());
        bytes[28..36].copy_from_slice(&self.body_check.to_le_bytes());
        let sum = check(&bytes[..36]);
        bytes[36..40].copy_from_slice(&sum.to_le_bytes());
    }

    /// Length of the whole record, in bytes.
    #[must_use]
    pub fn record_bytes(&self) -> u64 {
        HEAD_BYTES as u64 + u64::from(self.stored)
    }

    /// Whether these are the bytes that were stored.
    #[must_use]
    pub fn fits(&self, stored: &[u8]) -> bool {
        stored.len() == self.stored as usize && self.checks(xxh3_64(stored))
    }

    /// Whether this is the checksum (XXH3, 64 bits) of the body as it is stored.
    #[must_use]
    pub fn checks(&self, sum: u64) -> bool {
        sum == self.body_check
    }

    /// The body as it was given, from the bytes that were stored.
    ///
    /// # Errors
    /// Why they are not.
    pub fn open(&self, stored: Vec<u8>, seal: Option<&Seal>) -> Result<Vec<u8>, Unreadable> {
        if !self.fits(&stored) {
            return Err(Unreadable::Damaged);
        }
        let opened = match (self.flags & SEALED != 0, seal) {
            (true, Some(seal)) => seal.open(self.sequence, stored).ok_or(Unreadable::Sealed)?,
            (true, None) => return Err(Unreadable::Sealed),
            (false, _) => stored,
        };
        if self.flags & COMPRESSED == 0 {
            return Ok(opened);
        }
        let unpacked = lz4_flex::block::decompress(&opened, self.plain as usize);
        unpacked.map_err(|_| Unreadable::Damaged)
    }
}

/// Why a body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Bytes are missing or were changed.
    Damaged,
    /// It was sealed with another key, or no key was given.
    Sealed,
}

fn check(bytes: &[u8]) -> u32 {
    // The lower half: the head is short, and the body has a checksum of its own.
    xxh3_64(bytes) as u32
}

/// Makes records.
#[derive(Debug, Default)]
pub struct Packer {
    /// Whether bodies are compressed.
    pub compresses: bool,
    bytes: Vec<u8>,
}

/// Memory that is kept from one record to the next, in bytes.
const KEPT_BYTES_MAX: usize = 4 << 20;

impl Packer {
    /// Makes records with bodies that are compressed, or not.
    #[must_use]
    pub fn new(compresses: bool) -> Self {
        Self { compresses, bytes: Vec::new() }
    }

    /// The record of a body, until the next one is made.
    pub fn pack(&mut self, sequence: u64, events: u32, body: &[u8], seal: Option<&Seal>) -> &[u8] {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES_MAX);
        self.bytes.resize(HEAD_BYTES, 0);
        let mut flags = 0;
        let room = lz4_flex::block::get_maximum_output_size(body.len());
        if self.compresses {
            self.bytes.resize(HEAD_BYTES + room, 0);
            let packed = lz4_flex::block::compress_into(body, &mut self.bytes[HEAD_BYTES..]);
            // What does not become shorter stays as it is.
            match packed.ok().filter(|length| *length < body.len()) {
                Some(length) => {
                    self.bytes.truncate(HEAD_BYTES + length);
                    flags |= COMPRESSED;
                }
                None => self.bytes.truncate(HEAD_BYTES),
            }
        }
        if flags & COMPRESSED == 0 {
            self.bytes.extend_from_slice(body);
        }
        if let Some(seal) = seal {
            seal.seal(sequence, &mut self.bytes, HEAD_BYTES);
            flags |= SEALED;
        }
        let stored = &self.bytes[HEAD_BYTES..];
        let length = |bytes: usize| u32::try_from(bytes).expect("bodies are bounded");
        let head = Head {
            stored: length(stored.len()),
            plain: length(body.len()),
            flags,
            sequence,
            events,
            body_check: xxh3_64(stored),
        };
        head.write(&mut self.bytes[..HEAD_BYTES]);
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::{Key, SALT_BYTES};

    fn seal() -> Seal {
        Key::read(&[7; 32]).unwrap().of_segment(&[1; SALT_BYTES])
    }

    #[test]
    fn what_is_packed_is_what_is_opened() {
        let text = "the same again and again, ".repeat(100);
        for body in ["", "a", text.as_str()] {
            for compresses in [false, true] {
                for seal in [None, Some(seal())] {
                    let mut packer = Packer::new(compresses);
                    let record = packer.pack(9, 3, body.as_bytes(), seal.as_ref()).to_vec();
                    let head = Head::read(&record).unwrap();
                    assert_eq!((head.sequence, head.events), (9, 3));
                    assert_eq!(head.record_bytes(), record.len() as u64);
                    let opened = head.open(record[HEAD_BYTES..].to_vec(), seal.as_ref());
                    assert_eq!(opened.as_deref(), Ok(body.as_bytes()));
                }
            }
        }
        let mut packer = Packer::new(true);
        assert!(packer.pack(0, 1, text.as_bytes(), None).len() < text.len() / 5);
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let mut packer = Packer::default();
        let record = packer.pack(1, 1, b"some body", None).to_vec();
        for index in 0..record.len() {
            let mut changed = record.clone();
            changed[index] ^= 0x10;
            let head = Head::read(&changed);
            let whole = head.is_some_and(|head| head.fits(&changed[HEAD_BYTES..]));
            assert!(!whole, "byte {index}");
            let cut = Head::read(&record[..index]);
            assert!(
                cut.is_none_or(|head| !head.fits(&record[HEAD_BYTES..index])),
                "cut at {index}"
            );
        }
    }

    #[test]
    fn a_sealed_body_needs_its_key() {
        let mut packer = Packer::default();
        let record = packer.pack(1, 1, b"secret", Some(&seal())).to_vec();
        assert!(!record.windows(6).any(|bytes| bytes == b"secret"));
        let head = Head::read(&record).unwrap();
        assert_eq!(head.open(record[HEAD_BYTES..].to_vec(), None), Err(Unreadable::Sealed));
    }
}
