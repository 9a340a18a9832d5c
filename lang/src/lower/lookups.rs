//! Runs of `match` arms that begin with a test literal of one kind on the same text, or compare the
//! same field with texts, become one look-up. Which arm is taken does not change: what an arm asks
//! before the test cannot fail.

use crate::builtin::{ManyTests, Registry};
use crate::program::Lookup;
use crate::syntax::tree::{Arm, BinaryOp, Expr, ExprKind, FieldTest, Pattern, PatternKind, Test};
use crate::value::Key;

/// The test that an arm fails or passes first, and the field it is on.
#[derive(Clone, Copy)]
struct Probe<'t> {
    asked: Asked<'t>,
    field: Option<&'t str>,
}

#[derive(Clone, Copy)]
enum Asked<'t> {
    /// `~= glob|…|`
    Test(&'t Test),
    /// `== "…"`
    Text(&'t str),
}

impl Probe<'_> {
    fn is_like(&self, other: &Probe<'_>) -> bool {
        self.field == other.field
            && match (self.asked, other.asked) {
                (Asked::Test(one), Asked::Test(other)) => {
                    one.name.text.eq_ignore_ascii_case(&other.name.text)
                }
                (Asked::Text(_), Asked::Text(_)) => true,
                _ => false,
            }
    }
}

impl<'t> Probe<'t> {
    fn pattern(&self) -> &'t str {
        match self.asked {
            Asked::Test(test) => &test.pattern,
            Asked::Text(text) => text,
        }
    }
}

/// Texts that one field is compared with: so few that each is compared.
#[derive(Debug)]
struct Texts(Box<[Box<str>]>);

impl ManyTests for Texts {
    fn first(&self, text: &str, from: usize) -> Option<usize> {
        let rest = self.0.get(from..)?;
        rest.iter().position(|one| **one == *text).map(|at| from + at)
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
    let Probe { asked, field } = (*run.first()?)?;
    if run.len() == 1 {
        return None;
    }
    let patterns: Vec<_> = run.iter().flatten().map(Probe::pattern).collect();
    let tests = match asked {
        Asked::Test(test) => {
            registry.combine(registry.extractor(&test.name.text)?.name, &patterns)?
        }
        Asked::Text(_) => Box::new(Texts(patterns.into_iter().map(Box::from).collect())),
    };
    let field = field.map(|name| (name.into(), Key::new(name).hash()));
    let compares = matches!(asked, Asked::Text(_));
    Some(Lookup { first, end: first + run.len(), field, compares, tests })
}

fn probe(pattern: &Pattern) -> Option<Probe<'_>> {
    match &pattern.kind {
        PatternKind::Test(test) => Some(Probe { asked: Asked::Test(test), field: None }),
        PatternKind::Bind(_, inner) => probe(inner),
        PatternKind::Record(fields) => {
            // A comparison may fail with an error, which no look-up may hide.
            let safe = |test: &FieldTest| matches!(test, FieldTest::Present | FieldTest::Absent);
            let field = fields.iter().find(|field| !safe(&field.test))?;
            let asked = match &field.test {
                FieldTest::Test(test) => Asked::Test(test),
                // Whether two values are equal can always be said.
                FieldTest::Compare(BinaryOp::Eq, expr) => Asked::Text(literal(expr)?),
                _ => return None,
            };
            Some(Probe { asked, field: Some(&field.name.text) })
        }
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<&str> {
    if let ExprKind::String(text) = &expr.kind { text.constant() } else { None }
}
