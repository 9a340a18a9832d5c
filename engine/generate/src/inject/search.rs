//! The highest rate that still keeps a promise: `p99<10ms`.
//!
//! Invariant: the answer is a rate that was tried and kept the promise.

use std::str::FromStr;
use temblor_lang::units::parse_duration;

/// A promise about a latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The percentile, up to 100.
    pub percentile: f64,
    /// The latency must be below this, in nanoseconds.
    pub below_ns: u64,
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is no promise: write it like p99<10ms, p99.9<1s or max<2s");
        let (what, below) = text.split_once('<').ok_or_else(bad)?;
        let percentile = match what.trim() {
            "max" => 100.0,
            other => other.strip_prefix('p').and_then(|p| p.parse().ok()).ok_or_else(bad)?,
        };
        let below_ns = parse_duration(below).ok_or_else(bad)?;
        let is_sane = percentile > 0.0 && percentile <= 100.0 && below_ns > 0;
        is_sane.then_some(Limit { percentile, below_ns }).ok_or_else(bad)
    }
}

/// The search ends when the rates that keep and break the promise are this close.
const CLOSE_ENOUGH: f64 = 1.05;

/// Trials after which the search ends in any case.
const TRIALS_MAX: usize = 16;

/// Finds the highest rate for which `keeps` is true, starting from the throughput of a closed loop.
/// `None` when no rate does.
pub fn find_max<E>(
    ceiling: f64,
    mut keeps: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
    let (mut good, mut bad) = (0.0, ceiling * CLOSE_ENOUGH);
    let mut next = ceiling * 0.8;
    for _ in 0..TRIALS_MAX {
        if keeps(next)? {
            good = next;
        } else {
            bad = next;
        }
        if good > 0.0 && bad <= good * CLOSE_ENOUGH {
            break;
        }
        // While nothing is good, the rate may be off by orders of magnitude.
        next = if good == 0.0 { bad / 2.0 } else { (good + bad) / 2.0 };
    }
    Ok((good > 0.0).then_some(good))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(ceiling: f64, limit: f64) -> Option<f64> {
        find_max(ceiling, |rate| Ok::<_, ()>(rate <= limit)).unwrap()
    }

    #[test]
    fn the_search_ends_just_below_the_limit() {
        for limit in [90.0, 1_000.0, 77_777.0, 99_999.0] {
            let found = search(100_000.0, limit).unwrap();
            assert!(found <= limit && found * CLOSE_ENOUGH * 1.001 >= limit, "{found} {limit}");
        }
        assert_eq!(search(100_000.0, 0.0), None);
    }

    #[test]
    fn promises_are_read_and_nonsense_is_refused() {
        let read = |text: &str| text.parse::<Limit>();
        assert_eq!(read("p99<10ms"), Ok(Limit { percentile: 99.0, below_ns: 10_000_000 }));
        assert_eq!(read("max < 2s").unwrap().percentile, 100.0);
        for bad in ["", "p99", "p99>1s", "p0<1s", "p101<1s", "p99<0s", "p99<", "q1<1s"] {
            assert!(read(bad).unwrap_err().contains("p99<10ms"), "{bad}");
        }
    }
}
