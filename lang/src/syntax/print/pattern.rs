//! Patterns. What a name in front of `=` bound inside a record pattern is not in the tree.

use super::super::tree::{FieldPattern, FieldTest, Pattern, PatternKind};
use super::Printer;
use super::text::{ident, test};

impl Printer {
    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Any => self.put("_"),
            PatternKind::Test(one) => self.put(&format!("~ {}", test(one))),
            PatternKind::Record(fields) => {
                self.put("%{");
                self.list(fields, ", ", Self::field_pattern);
                self.put("}");
            }
            PatternKind::Array(items) => {
                self.put("%[");
                self.list(items, ", ", Self::pattern);
                self.put("]");
            }
            PatternKind::Tuple { items, open } => {
                self.put("%(");
                self.list(items, ", ", Self::pattern);
                self.put(match (open, items.is_empty()) {
                    (true, true) => "...)",
                    (true, false) => ", ...)",
                    (false, _) => ")",
                });
            }
            PatternKind::Bind(name, inner) => {
                self.put(&format!("{} = ", ident(name)));
                self.pattern(inner);
            }
            PatternKind::Expr(expr) => self.expr(expr),
        }
    }

    fn field_pattern(&mut self, field: &FieldPattern) {
        let name = ident(&field.name);
        match &field.test {
            FieldTest::Present => self.put(&format!("present {name}")),
            FieldTest::Absent => self.put(&format!("absent {name}")),
            FieldTest::Test(one) => self.put(&format!("{name} ~= {}", test(one))),
            FieldTest::Pattern(pattern) => {
                self.put(&format!("{name} ~= "));
                self.pattern(pattern);
            }
            FieldTest::Compare(op, value) => {
                self.put(&format!("{name} {} ", op.text()));
                self.expr(value);
            }
        }
    }
}
