//! Random numbers for `rand` and `SecureRandom`: they differ from call to call and from run to run.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A source of random numbers with a secret of its own.
pub(super) struct Random {
    secret: RandomState,
    drawn: u64,
}

impl Random {
    pub(super) fn new() -> Self {
        Self { secret: RandomState::new(), drawn: 0 }
    }

    /// The next number: how many were drawn, hashed with the secret.
    pub(super) fn bits(&mut self) -> u64 {
        self.drawn += 1;
        let mut hasher = self.secret.build_hasher();
        hasher.write_u64(self.drawn);
        hasher.finish()
    }

    /// From 0 up to 1.
    pub(super) fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A random UUID (RFC 9562, version 4).
    pub(super) fn uuid(&mut self) -> String {
        let bits = (u128::from(self.bits()) << 64) | u128::from(self.bits());
        let bits = bits & !(0xF << 76) | (0x4 << 76);
        let bits = bits & !(0x3 << 62) | (0x2 << 62);
        let hex = format!("{bits:032x}");
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }
}
