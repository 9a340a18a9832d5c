//! `match` and its patterns. Runs of literal arms become jump tables.

use super::inference::Origins;
use super::lookups::lookups;
use super::module::Scope;
use super::names::{Names, Position};
use super::{Compiler, complain};
use crate::builtin::Extractor;
use crate::coverage::BranchKind;
use crate::program::{
    Arm, Expr, FieldPattern, FieldTest, Match, Pattern, RecordPattern, Switch, Texts,
};
use crate::span::Span;
use crate::syntax::tree::{self, PatternKind};
use crate::value::{Key, Value, to_json};
use halfbrown::HashMap;

type Code<'s, 'n> = (&'s Scope, &'n mut Names);

impl Compiler<'_> {
    pub(super) fn matching(
        &mut self,
        tree: &tree::Match,
        span: Span,
        position: Position,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let target = self.expression(&tree.target, Position::VALUE, (scope, names));
        self.check_arms(&tree.arms, span);
        let origins = Origins::of(&target);
        let mut arms = Vec::with_capacity(tree.arms.len());
        for tree in &tree.arms {
            let arm = self.arm(tree, span, position, (scope, names));
            self.check_pattern(&origins, &arm.pattern, tree.pattern.span, names);
            arms.push(arm);
        }
        self.check_repeated(&tree.arms, &arms);
        let switches = switches(&arms);
        let lookups = lookups(&tree.arms, self.registry);
        Expr::Match(Box::new(Match { target, arms, switches, lookups, span }))
    }

    fn check_arms(&mut self, arms: &[tree::Arm], span: Span) {
        let default = arms.iter().position(|arm| arm.guard.is_none() && takes_all(&arm.pattern));
        match default {
            None => self.diagnostics.push(complain::no_default(span)),
            Some(at) => {
                for late in &arms[at + 1..] {
                    let complaint = complain::unreachable_arm(late.span, arms[at].span);
                    self.diagnostics.push(complaint);
                }
            }
        }
    }

    /// Warns of arms that ask what an arm above has asked without a guard.
    fn check_repeated(&mut self, trees: &[tree::Arm], arms: &[Arm]) {
        let mut asked: HashMap<String, Span> = HashMap::new();
        for (tree, arm) in trees.iter().zip(arms) {
            let Some(question) = question(&tree.pattern, &arm.pattern) else { continue };
            match asked.get(&question) {
                Some(earlier) => {
                    self.diagnostics.push(complain::repeated_arm(tree.span, *earlier));
                }
                None if arm.guard.is_none() => drop(asked.insert(question, tree.pattern.span)),
                None => {}
            }
        }
    }

    /// `around`: the span of the match. An arm that has it, too, is not written in the text.
    fn arm(
        &mut self,
        arm: &tree::Arm,
        around: Span,
        position: Position,
        (scope, names): Code<'_, '_>,
    ) -> Arm {
        let (bind, tree) = match &arm.pattern.kind {
            PatternKind::Bind(name, inner) => (Some(name), inner.as_ref()),
            _ => (None, &arm.pattern),
        };
        let pattern = self.pattern(tree, (scope, names));
        let name = bind;
        let bind = name.map(|name| {
            self.check_binding(name, scope);
            names.bind(&name.text)
        });
        let guard = self.guard(arm.guard.as_ref(), (scope, names));
        let mut body = self.block(&arm.body, position, (scope, names));
        if arm.span != around {
            body = self.counted(BranchKind::Arm, arm.span, body);
        }
        if let (Some(name), Some(slot)) = (name, bind) {
            if !names.is_used(slot) {
                self.diagnostics.push(complain::unread_binding(&name.text, name.span));
            }
            names.unbind(1);
        }
        Arm { pattern, bind, guard, body }
    }

    pub(super) fn pattern(
        &mut self,
        tree: &tree::Pattern,
        (scope, names): Code<'_, '_>,
    ) -> Pattern {
        match &tree.kind {
            PatternKind::Any => Pattern::Any,
            PatternKind::Test(test) => match self.test(test) {
                Some(test) => Pattern::Test(test),
                None => Pattern::Any,
            },
            PatternKind::Record(fields) => {
                self.check_fields(fields);
                let fields = fields.iter().map(|field| self.field(field, (scope, names))).collect();
                Pattern::Record(RecordPattern { fields })
            }
            PatternKind::Array(items) => Pattern::Array(
                items.iter().map(|item| self.pattern(item, (scope, names))).collect(),
            ),
            PatternKind::Tuple { items, open } => {
                let items = items.iter().map(|item| self.pattern(item, (scope, names))).collect();
                Pattern::Tuple(items, *open)
            }
            PatternKind::Bind(..) => {
                self.diagnostics.push(complain::nested_binding(tree.span));
                Pattern::Any
            }
            PatternKind::Expr(expr) => {
                Pattern::Expr(self.expression(expr, Position::VALUE, (scope, names)))
            }
        }
    }

    fn test(&mut self, test: &tree::Test) -> Option<Box<dyn Extractor>> {
        let Some(kind) = self.registry.extractor(&test.name.text) else {
            let known = self.registry.extractor_names();
            let complaint = complain::unknown_extractor(&test.name.text, test.name.span, known);
            self.diagnostics.push(complaint);
            return None;
        };
        match (kind.compile)(&test.pattern) {
            Ok(extractor) => Some(extractor),
            Err(reason) => {
                self.diagnostics.push(complain::bad_extractor(&reason, test.span));
                None
            }
        }
    }

    fn field(&mut self, tree: &tree::FieldPattern, (scope, names): Code<'_, '_>) -> FieldPattern {
        let test = match &tree.test {
            tree::FieldTest::Present => FieldTest::Present,
            tree::FieldTest::Absent => FieldTest::Absent,
            tree::FieldTest::Test(test) => match self.test(test) {
                Some(test) => FieldTest::Test(test),
                None => FieldTest::Present,
            },
            tree::FieldTest::Pattern(pattern) => {
                FieldTest::Pattern(self.pattern(pattern, (scope, names)))
            }
            tree::FieldTest::Compare(op, expr) => {
                FieldTest::Compare(*op, self.expression(expr, Position::VALUE, (scope, names)))
            }
        };
        let name = tree.name.text.as_str();
        FieldPattern { name: name.into(), hash: Key::new(name).hash(), test, span: tree.span }
    }

    fn check_fields(&mut self, fields: &[tree::FieldPattern]) {
        let gives = |test: &tree::FieldTest| {
            !matches!(test, tree::FieldTest::Absent | tree::FieldTest::Compare(..))
        };
        let absent = |test: &tree::FieldTest| matches!(test, tree::FieldTest::Absent);
        // Each is compared with the one before it only: patterns may have very many fields.
        let mut latest = HashMap::new();
        for field in fields {
            let name = field.name.text.as_str();
            let Some(earlier) = latest.insert(name, &field.test) else { continue };
            if absent(earlier) != absent(&field.test) {
                self.diagnostics.push(complain::contradictory_field(name, field.span));
            } else if gives(earlier) && gives(&field.test) {
                self.diagnostics.push(complain::redundant_field(name, field.span));
            }
        }
    }
}

/// What an arm asks of the target, where equal texts mean equal questions.
fn question(tree: &tree::Pattern, pattern: &Pattern) -> Option<String> {
    match (&tree.kind, pattern) {
        (PatternKind::Bind(_, inner), pattern) => question(inner, pattern),
        (PatternKind::Test(test), _) => Some(format!("~ {}|{}|", test.name.text, test.pattern)),
        (_, Pattern::Expr(expr)) => match expr.as_constant()? {
            value @ (Value::Null | Value::Bool(_) | Value::Int(_) | Value::UInt(_)) => {
                Some(to_json(value))
            }
            Value::Str(text) => Some(format!("\"{text}")),
            _ => None,
        },
        _ => None,
    }
}

fn takes_all(pattern: &tree::Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Any => true,
        PatternKind::Bind(_, inner) => takes_all(inner),
        _ => false,
    }
}

/// The jump tables of a match: one for each run of enough arms that compare with constant strings
/// or whole numbers and have neither a guard nor a binding.
fn switches(arms: &[Arm]) -> Vec<Switch> {
    let mut switches = Vec::new();
    let mut first = 0;
    while first < arms.len() {
        let run = arms[first..].iter().take_while(|arm| literal(arm).is_some()).count();
        if run >= Switch::ARMS_MIN {
            switches.push(switch(arms, first, first + run));
        }
        first += run.max(1);
    }
    switches
}

fn literal(arm: &Arm) -> Option<Value<'_>> {
    if arm.guard.is_some() || arm.bind.is_some() {
        return None;
    }
    let Pattern::Expr(expr) = &arm.pattern else { return None };
    let value = expr.as_constant()?;
    matches!(value, Value::Str(_) | Value::Int(_) | Value::UInt(_)).then_some(value)
}

fn switch(arms: &[Arm], first: usize, end: usize) -> Switch {
    let mut strings = Texts::default();
    let mut integers = HashMap::new();
    for (number, arm) in arms.iter().enumerate().take(end).skip(first) {
        match literal(arm) {
            Some(Value::Str(text)) => strings.add(text, number),
            Some(Value::Int(value)) => {
                integers.entry(i128::from(value)).or_insert(number);
            }
            Some(Value::UInt(value)) => {
                integers.entry(i128::from(value)).or_insert(number);
            }
            _ => {}
        }
    }
    Switch { first, end, strings, integers }
}
