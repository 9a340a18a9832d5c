//! Encryption at rest: AES-256-GCM (NIST SP 800-38D), with a key of its own for each segment.
//!
//! Invariant: no key seals two records with the same nonce. A segment's key is derived (HKDF, RFC 5869) from
//! the user's key and a random salt; the nonce is the number of the record, and a segment is written by
//! one run only, each number once.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

/// Length of the user's key, in bytes.
pub const KEY_BYTES: usize = 32;
/// Length of the salt of a segment, in bytes.
pub const SALT_BYTES: usize = 16;
/// What sealing adds to a body, in bytes.
pub const SEAL_BYTES: usize = 16;

/// The user's key.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Zeroizing<[u8; KEY_BYTES]>);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// A key of 32 bytes, or of 64 hexadecimal digits with blanks around them.
    ///
    /// # Errors
    /// What a key must be.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        if let Ok(key) = bytes.try_into() {
            return Ok(Self(Zeroizing::new(key)));
        }
        let digits = bytes.trim_ascii();
        let wanted =
            "must be 32 bytes, or 64 hexadecimal digits (`openssl rand -hex 32` makes them)";
        if digits.len() != 2 * KEY_BYTES {
            return Err(format!("{wanted}; there are {} bytes", bytes.len()));
        }
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).ok();
            *byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).ok_or(wanted)?;
        }
        Ok(Self(key))
    }

    /// What seals and opens the records of the segment with this salt.
    #[must_use]
    pub fn of_segment(&self, salt: &[u8; SALT_BYTES]) -> Seal {
        let secret = Salt::new(HKDF_SHA256, salt).extract(&*self.0);
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let derived =
            secret.expand(&[b"temblor buffer segment"], Length).and_then(|one| one.fill(&mut *key));
        derived.expect("HKDF gives up to 255 times its digest");
        let key = UnboundKey::new(&AES_256_GCM, &*key).expect("the key has its length");
        Seal(LessSafeKey::new(key))
    }
}

/// How much HKDF is to give.
struct Length;

impl KeyType for Length {
    fn len(&self) -> usize {
        KEY_BYTES
    }
}

/// A salt for a new segment.
///
/// # Errors
/// The system has no random numbers.
pub fn salt() -> std::io::Result<[u8; SALT_BYTES]> {
    let mut salt = [0; SALT_BYTES];
    let filled = SystemRandom::new().fill(&mut salt);
    filled.map_err(|_| std::io::Error::other("the system gives no random numbers"))?;
    Ok(salt)
}

/// Seals and opens the records of one segment.
pub struct Seal(LessSafeKey);

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

impl Seal {
    /// Seals the bytes from `start` on.
    pub fn seal(&self, sequence: u64, bytes: &mut Vec<u8>, start: usize) {
        let sealed =
            self.0.seal_in_place_separate_tag(nonce(sequence), Aad::empty(), &mut bytes[start..]);
        let tag = sealed.expect("records are far below the 64 GiB that AES-GCM takes");
        bytes.extend_from_slice(tag.as_ref());
    }

    /// Opens a body. Nothing, when it was sealed with another key or was changed.
    #[must_use]
    pub fn open(&self, sequence: u64, mut body: Vec<u8>) -> Option<Vec<u8>> {
        let opened = self.0.open_in_place(nonce(sequence), Aad::empty(), &mut body).ok()?.len();
        body.truncate(opened);
        Some(body)
    }
}

fn nonce(sequence: u64) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[..8].copy_from_slice(&sequence.to_le_bytes());
    Nonce::assume_unique_for_key(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_the_same_key_salt_and_number_only() {
        let key = Key::read(&[b'7'; 64]).unwrap();
        let seal = key.of_segment(&[1; SALT_BYTES]);
        let mut bytes = b"head".to_vec();
        bytes.extend_from_slice(b"secret");
        seal.seal(5, &mut bytes, 4);
        assert_eq!(bytes.len(), 4 + 6 + SEAL_BYTES);
        let body = bytes.split_off(4);
        assert_eq!(seal.open(5, body.clone()).as_deref(), Some(&b"secret"[..]));
        assert_eq!(seal.open(6, body.clone()), None);
        assert_eq!(key.of_segment(&[2; SALT_BYTES]).open(5, body.clone()), None);
        let other = Key::read(&[9; KEY_BYTES]).unwrap();
        assert_eq!(other.of_segment(&[1; SALT_BYTES]).open(5, body), None);
    }

    #[test]
    fn a_key_is_32_bytes_or_64_digits() {
        assert_eq!(
            Key::read(&[0x77; KEY_BYTES]),
            Key::read(format!("{}\n", "77".repeat(32)).as_bytes())
        );
        assert!(Key::read(b"short").unwrap_err().contains("there are 5 bytes"));
        assert!(Key::read(&[b'x'; 64]).unwrap_err().contains("64 hexadecimal digits"));
    }
}
