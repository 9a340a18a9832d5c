//! What became of many samples: groups of equal outcomes, with counts and the first of their
//! numbers. Groups stand in the order of how well things went.

use super::view::paint;
use std::collections::BTreeMap;
use temblor_lang::diagnostic::Colour;

/// Numbers of samples that are shown for each group.
const NUMBERS_SHOWN: usize = 5;

/// How an outcome is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// It came out.
    Through,
    /// A step keeps it for later.
    Kept,
    /// A step left it out on purpose.
    Dropped,
    /// A step failed.
    Failed,
    /// It is no event.
    Broken,
}

impl Class {
    fn code(self) -> &'static str {
        match self {
            Class::Through => "32",
            Class::Kept => "36",
            Class::Dropped => "33",
            Class::Failed | Class::Broken => "31",
        }
    }
}

#[derive(Debug)]
struct Group {
    /// What is said about it: that of the first sample.
    label: String,
    count: usize,
    numbers: Vec<usize>,
}

/// Groups of samples.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    groups: BTreeMap<(Class, String), Group>,
    total: usize,
}

impl Outcomes {
    /// Takes in what became of the sample with this number. Samples with the same key are in one
    /// group.
    pub(crate) fn add(&mut self, number: usize, class: Class, key: String, label: String) {
        self.total += 1;
        let new = || Group { label, count: 0, numbers: Vec::new() };
        let group = self.groups.entry((class, key)).or_insert_with(new);
        group.count += 1;
        if group.numbers.len() < NUMBERS_SHOWN {
            group.numbers.push(number);
        }
    }

    /// A line for each group.
    pub(crate) fn show(&self, colour: Colour) -> String {
        let noun = if self.total == 1 { "sample" } else { "samples" };
        let mut text = format!("{} {noun}\n", self.total);
        let width = self.total.to_string().len();
        for ((class, _), group) in &self.groups {
            let Group { label, count, numbers } = group;
            let mut list: Vec<_> = numbers.iter().map(usize::to_string).collect();
            if *count > numbers.len() {
                list.push("…".to_string());
            }
            let label = paint(colour, class.code(), label);
            text.push_str(&format!("{count:>width$}  {label}  ({})\n", list.join(", ")));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_outcomes_are_one_group() {
        let mut outcomes = Outcomes::default();
        for number in 1..=7 {
            outcomes.add(number, Class::Through, "out".into(), "out".into());
        }
        outcomes.add(8, Class::Dropped, "1".into(), "dropped by step 1".into());
        assert_eq!(
            outcomes.show(Colour::Off),
            "8 samples\n7  out  (1, 2, 3, 4, 5, …)\n1  dropped by step 1  (8)\n"
        );
    }
}
