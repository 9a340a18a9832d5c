//! A small random number generator whose sequence never changes between releases, so that results and figures stay comparable.
//!
//! SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).

/// The distance of two states.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The bits of a state, scattered.
fn mix(state: u64) -> u64 {
    let mut mixed = state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// What a seed makes of a number: the member of its sequence with this number, without those before it.
#[must_use]
pub fn scatter(seed: u64, number: u64) -> u64 {
    mix(seed.wrapping_add(number.wrapping_mul(STEP)))
}

/// A seeded sequence of numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts the sequence of `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number from 0 up to, but without, `limit` (0 when `limit` is 0).
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// An index of a list of `length` items (0 when there is none).
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// A number from `low` up to, but without, `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low))
    }

    /// True in `per_mille` of a thousand calls.
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    /// A number from 0 up to, but without, 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
        (self.bits() >> 11) as f64 * UNIT
    }

    /// A number of the normal distribution (Box and Muller, 1958).
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        mean + deviation * radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A rank from 0 up to, but without, `ranks`; rank `r` comes about as often as `1 / (r + 1)^exponent`
    /// (inverse of the continuous distribution, as in Gray et al., "Quickly generating billion-record
    /// synthetic databases", SIGMOD 1994).
    pub fn zipf(&mut self, ranks: u64, exponent: f64) -> u64 {
        let (unit, end) = (self.unit(), ranks as f64 + 1.0);
        let rank = if (exponent - 1.0).abs() < 1e-9 {
            end.powf(unit)
        } else {
            let power = 1.0 - exponent;
            ((end.powf(power) - 1.0) * unit + 1.0).powf(1.0 / power)
        };
        (rank as u64).saturating_sub(1).min(ranks.saturating_sub(1))
    }

    /// One of `choices`; early ones come more often, as popular names do.
    pub fn skewed<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let (first, second) = (self.index(choices.len()), self.index(choices.len()));
        choices[first.min(second)]
    }

    /// One of `choices`, each as likely as the other.
    pub fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.index(choices.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::{Random, scatter};

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random::seeded(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn members_are_reached_without_those_before_them() {
        let mut random = Random::seeded(42);
        assert!((1..100).all(|number| random.bits() == scatter(42, number)));
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut random = Random::seeded(1);
        assert!((0..10_000).all(|_| (5..9).contains(&random.between(5, 9))));
        assert_eq!(random.below(0), 0);
    }
}
