//! Lowered patterns and matches.

use super::{Block, Expr};
use crate::builtin::{Extractor, ManyTests};
use crate::span::Span;
use crate::syntax::tree::BinaryOp;
use crate::value::{Key, OwnedKey, tagged};
use halfbrown::HashMap;

/// `match target of … end`
#[derive(Debug)]
pub struct Match {
    /// What is matched.
    pub target: Expr,
    /// In order.
    pub arms: Vec<Arm>,
    /// Jump tables over runs of literal arms, by the number of the run's first arm.
    pub switches: Vec<Switch>,
    /// Look-ups over runs of test literals, in order; no two overlap.
    pub lookups: Vec<Lookup>,
    /// All of it.
    pub span: Span,
}

/// A run of at least [`Switch::ARMS_MIN`] arms without guards whose patterns are constant strings
/// or whole numbers: one look-up instead of a walk.
#[derive(Debug)]
pub struct Switch {
    /// Number of the first arm of the run.
    pub first: usize,
    /// Number of the first arm after the run.
    pub end: usize,
    /// Strings of the run; of equal ones the first arm.
    pub strings: Texts,
    /// Whole numbers of the run.
    pub integers: HashMap<i128, usize>,
}

/// Texts with the numbers of their arms. The first ones are found by a byte of each one's hash.
#[derive(Debug, Default)]
pub struct Texts {
    tags: Vec<u8>,
    few: Vec<(OwnedKey, usize)>,
    more: HashMap<Box<str>, usize>,
}

impl Texts {
    /// Up to so many texts are found by their tags.
    const FEW_MAX: usize = 64;

    /// Adds a text, unless it is there.
    pub fn add(&mut self, text: &str, arm: usize) {
        if self.find(text).is_some() {
            return;
        }
        if self.few.len() == Self::FEW_MAX {
            self.more.insert(text.into(), arm);
            return;
        }
        let key = OwnedKey::new(text);
        self.tags.push(key.key().tag());
        self.few.push((key, arm));
    }

    /// The arm of a text.
    #[must_use]
    #[inline]
    pub fn find(&self, text: &str) -> Option<usize> {
        let wanted = Key::new(text);
        let is_wanted =
            |at: usize| self.few.get(at).is_some_and(|(key, _)| key.key().is_same(&wanted));
        match tagged(&self.tags, wanted.tag(), is_wanted) {
            Some(at) => Some(self.few[at].1),
            None if self.more.is_empty() => None,
            None => self.more.get(text).copied(),
        }
    }
}

impl Switch {
    /// Shorter runs are walked.
    pub const ARMS_MIN: usize = 4;
}

/// A run of arms that begin with a test literal of one kind on the same text: `case ~ re|…|`, or
/// `case %{ field ~= re|…| }`. It gives the next arm that can take the target.
#[derive(Debug)]
pub struct Lookup {
    /// Number of the first arm of the run.
    pub first: usize,
    /// Number of the first arm after the run.
    pub end: usize,
    /// Name and hash of the field that is tested; `None`: the target itself.
    pub field: Option<(Box<str>, u32)>,
    /// Whether the tests compare: then bytes may pass them as well as text.
    pub compares: bool,
    /// The tests; number 0 is that of the first arm.
    pub tests: Box<dyn ManyTests>,
}

/// `case pattern when guard => block`
#[derive(Debug)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// Slot of `x = pattern`.
    pub bind: Option<usize>,
    /// `when …`
    pub guard: Option<(Expr, Span)>,
    /// The arm.
    pub body: Block,
}

/// A pattern.
#[derive(Debug)]
pub enum Pattern {
    /// `_`
    Any,
    /// `~ re|…|`
    Test(Box<dyn Extractor>),
    /// `%{ … }`
    Record(RecordPattern),
    /// `%[ … ]`
    Array(Vec<Pattern>),
    /// `%( … )`, open with `...`
    Tuple(Vec<Pattern>, bool),
    /// Any expression
    Expr(Expr),
}

/// `%{ a == 1, present b }`
#[derive(Debug, Default)]
pub struct RecordPattern {
    /// In order.
    pub fields: Vec<FieldPattern>,
}

/// One field.
#[derive(Debug)]
pub struct FieldPattern {
    /// The field.
    pub name: Box<str>,
    /// Hash of the name.
    pub hash: u32,
    /// What is asked.
    pub test: FieldTest,
    /// All of it.
    pub span: Span,
}

/// What is asked of a field.
#[derive(Debug)]
pub enum FieldTest {
    /// `present a`
    Present,
    /// `absent a`
    Absent,
    /// `a ~= json||`
    Test(Box<dyn Extractor>),
    /// `a ~= %{ … }`
    Pattern(Pattern),
    /// `a == x`
    Compare(BinaryOp, Expr),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_finds_its_first_arm() {
        let mut texts = Texts::default();
        let name = |number: usize| format!("text {number}");
        for number in 0..200 {
            texts.add(&name(number), number);
            texts.add(&name(number / 2), number + 1_000);
        }
        for number in 0..200 {
            assert_eq!(texts.find(&name(number)), Some(number));
        }
        assert_eq!((texts.find(""), texts.find("text 200")), (None, None));
    }
}
