//! One look-up over many test literals of one kind, as consecutive arms of a `match` have them. It
//! says exactly what the tests one after the other would say; only the time differs.

mod globs;
mod ranges;
mod set;

use temblor_lang::builtin::ManyTests;

/// The tests of the kind `name` with these patterns as one look-up. `None`: the kind has none, a
/// pattern does not fit in, or the tests are so few that asking each is as fast.
#[must_use]
pub(crate) fn combine(name: &str, patterns: &[&str]) -> Option<Box<dyn ManyTests>> {
    match name {
        "cidr" => Some(Box::new(ranges::Ranges::build(patterns)?)),
        "glob" => Some(Box::new(globs::Globs::build(patterns)?)),
        "re" => Some(Box::new(set::Set::build(patterns)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
