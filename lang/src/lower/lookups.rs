//! Runs of `match` arms that begin with a test literal of one kind on the same text become one
//! look-up. Which arm is taken does not change: what an arm asks before the test cannot fail.

use crate::builtin::Registry;
use crate::program::Lookup;
use crate::syntax::tree::{Arm, FieldTest, Pattern, PatternKind, Test};
use crate::value::Key;

/// The test that an arm fails or passes first, and the field it is on.
#[derive(Clone, Copy)]
struct Probe<'t> {
    test: &'t Test,
    field: Option<&'t str>,
}

impl Probe<'_> {
    fn is_like(&self, other: &Probe<'_>) -> bool {
        self.field == other.field && self.test.name.text.eq_ignore_ascii_case(&other.test.name.text)
    }
}

/// The look-ups of a match, in the order of its arms.
pub(super) fn lookups(arms: &[Arm], registry: &dyn Registry) -> Vec<Lookup> {
    let probes: Vec<_> = arms.iter().map(|arm| probe(&arm.pattern)).collect();
    let alike = |left: &Option<Probe<'_>>, right: &Option<Probe<'_>>| match (left, right) {
        (Some(left), Some(right)) => left.is_like(right),
        _ => false,
    };
    let mut lookups = Vec::new();
    let mut first = 0;
    for run in probes.chunk_by(alike) {
        lookups.extend(lookup(run, first, registry));
        first += run.len();
    }
    lookups
}

fn lookup(run: &[Option<Probe<'_>>], first: usize, registry: &dyn Registry) -> Option<Lookup> {
    let Probe { test, field } = (*run.first()?)?;
    if run.len() == 1 {
        return None;
    }
    let patterns: Vec<_> = run.iter().flatten().map(|probe| probe.test.pattern.as_str()).collect();
    let kind = registry.extractor(&test.name.text)?;
    let tests = registry.combine(kind.name, &patterns)?;
    let field = field.map(|name| (name.into(), Key::new(name).hash()));
    Some(Lookup { first, end: first + run.len(), field, tests })
}

fn probe(pattern: &Pattern) -> Option<Probe<'_>> {
    match &pattern.kind {
        PatternKind::Test(test) => Some(Probe { test, field: None }),
        PatternKind::Bind(_, inner) => probe(inner),
        PatternKind::Record(fields) => {
            // A comparison may fail with an error, which no look-up may hide.
            let safe = |test: &FieldTest| matches!(test, FieldTest::Present | FieldTest::Absent);
            let field = fields.iter().find(|field| !safe(&field.test))?;
            let FieldTest::Test(test) = &field.test else { return None };
            Some(Probe { test, field: Some(&field.name.text) })
        }
        _ => None,
    }
}
