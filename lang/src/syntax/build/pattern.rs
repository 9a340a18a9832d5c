//! Patterns of `match` arms and of functions.

use super::super::grammar::{Pair, Rule};
use super::super::tree::{FieldPattern, FieldTest, Pattern, PatternKind};
use super::operators::binary;
use super::{Builder, parts, sole, take};

impl Builder {
    /// A pattern, or an element of an array or tuple pattern.
    pub(super) fn pattern(&mut self, pair: Pair) -> Pattern {
        let span = self.span(&pair);
        let inner = match pair.as_rule() {
            Rule::pattern | Rule::elem_pattern => sole(pair),
            _ => pair,
        };
        let kind = match inner.as_rule() {
            Rule::any => PatternKind::Any,
            Rule::test => PatternKind::Test(self.test(inner)),
            Rule::record_pat => {
                PatternKind::Record(parts(inner).map(|field| self.field_pattern(field)).collect())
            }
            Rule::array_pat => {
                PatternKind::Array(parts(inner).map(|item| self.pattern(item)).collect())
            }
            Rule::tuple_pat => self.tuple(inner),
            Rule::bind => {
                let mut bound = parts(inner);
                let name = self.ident(&take(&mut bound));
                PatternKind::Bind(name, Box::new(self.pattern(take(&mut bound))))
            }
            _ => PatternKind::Expr(self.expr(inner)),
        };
        Pattern { kind, span }
    }

    fn tuple(&mut self, pair: Pair) -> PatternKind {
        let mut items = Vec::new();
        let mut open = false;
        for item in parts(pair) {
            match item.as_rule() {
                Rule::varargs => open = true,
                _ => items.push(self.pattern(item)),
            }
        }
        PatternKind::Tuple { items, open }
    }

    fn field_pattern(&mut self, pair: Pair) -> FieldPattern {
        let span = self.span(&pair);
        let field = sole(pair);
        let rule = field.as_rule();
        let mut inner = parts(field);
        let first = take(&mut inner);
        let (name, test) = match rule {
            Rule::field_presence => {
                let present = first.as_rule() == Rule::kw_present;
                let test = if present { FieldTest::Present } else { FieldTest::Absent };
                (take(&mut inner), test)
            }
            // The first name is of no effect: the result is found under the field's name.
            Rule::field_bound => {
                let name = take(&mut inner);
                (name, FieldTest::Test(self.test(take(&mut inner))))
            }
            Rule::field_matches => {
                let tested = take(&mut inner);
                let test = match tested.as_rule() {
                    Rule::test => FieldTest::Test(self.test(tested)),
                    _ => FieldTest::Pattern(self.pattern(tested)),
                };
                (first, test)
            }
            _ => {
                let op = binary(take(&mut inner).as_rule()).expect("a comparison has an operator");
                (first, FieldTest::Compare(op, self.expr(take(&mut inner))))
            }
        };
        FieldPattern { name: self.ident(&name), test, span }
    }
}
