//! A look-up over many tests says what the tests one by one say, on texts near to the patterns.

use super::combine;
use crate::extractors::find;
use temblor_lang::random::Random;

/// Small numbers that only depend on the seed.
struct Chance(Random);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0.index(limit)
    }

    fn one_of(&mut self, choices: &[&str]) -> String {
        choices[self.below(choices.len())].to_string()
    }

    fn some_of(&mut self, choices: &[&str], most: usize) -> String {
        (0..self.below(most + 1)).map(|_| self.one_of(choices)).collect()
    }
}

/// Rounds of one property; each has its own patterns and texts.
const ROUNDS: u64 = 120;
const TEXTS: usize = 60;

fn agrees(
    name: &str,
    pattern: impl Fn(&mut Chance) -> String,
    text: impl Fn(&mut Chance) -> String,
) {
    let (mut combined, mut hits) = (0, 0);
    for seed in 0..ROUNDS {
        let mut chance = Chance(Random::seeded(seed));
        let count = 2 + chance.below(12);
        let compile = find(name).expect("a known extractor").compile;
        let patterns: Vec<_> = (0..count).map(|_| pattern(&mut chance)).collect();
        let patterns: Vec<_> =
            patterns.iter().map(String::as_str).filter(|one| compile(one).is_ok()).collect();
        let Some(many) = combine(name, &patterns) else { continue };
        combined += 1;
        let single: Vec<_> = patterns.iter().map(|one| compile(one).expect("was good")).collect();
        for _ in 0..TEXTS {
            let text = text(&mut chance);
            for from in 0..=patterns.len() {
                let expected = (from..single.len()).find(|at| single[*at].matches(&text));
                assert_eq!(many.first(&text, from), expected, "{text:?} {from} {patterns:?}");
                hits += usize::from(expected.is_some());
            }
        }
    }
    assert!(combined > 20 && hits > 1000, "{name}: {combined} look-ups, {hits} hits");
}

#[test]
fn ranges_agree() {
    let octets = ["0", "1", "10", "127", "128", "255"];
    let address = |chance: &mut Chance| {
        let parts: Vec<_> = (0..4).map(|_| chance.one_of(&octets)).collect();
        parts.join(".")
    };
    let range = |chance: &mut Chance| match chance.below(6) {
        0 => format!("{}.0.0.0/8", chance.one_of(&octets)),
        1 => format!("{}.{}.0.0/16", chance.one_of(&octets), chance.one_of(&octets)),
        2 => "0.0.0.0/0".to_string(),
        3 => "255.255.255.254/31".to_string(),
        4 => "10.0.0.0/8, 127.0.0.0/9".to_string(),
        _ => address(chance),
    };
    agrees("cidr", range, |chance| match chance.below(8) {
        0 => chance.one_of(&["", "10", "::1", "x", "10.0.0.0/8", "010.1.1.1"]),
        _ => address(chance),
    });
}

#[test]
fn globs_agree() {
    let parts = ["a", "b", "ab", "*", "?", "[ab]", "/", "é"];
    agrees(
        "glob",
        |chance| chance.some_of(&parts, 4),
        |chance| chance.some_of(&["a", "b", "/", "é", "c"], 5),
    );
}

#[test]
fn expressions_agree() {
    let parts = ["a", "b", "^", "$", "a*", "(?P<x>b+)", "[^a]", "\\b", "(?i)A", ".", "c|a", "é?"];
    agrees(
        "re",
        |chance| chance.some_of(&parts, 4),
        |chance| chance.some_of(&["a", "b", "c", "A", "é", " ", "\n"], 6),
    );
}

#[test]
fn what_does_not_fit_in_is_left_alone() {
    assert!(combine("cidr", &["10.0.0.0/8"]).is_none());
    assert!(combine("cidr", &["10.0.0.0/8", ""]).is_none());
    assert!(combine("glob", &["a", "b", "c", "["]).is_none());
    assert!(combine("re", &["a", "b", "c"]).is_none());
    assert!(combine("json", &["", "", "", ""]).is_none());
}
