//! Why a rule gave what it gave: the value of every operand, arm after arm; and how far the pattern
//! of a test got. Every part is evaluated by the engine itself.

use super::evaluate::Evaluator;
use super::patterns;
use super::samples::Sample;
use super::setup::Setup;
use temblor_lang::syntax::tree::{
    Arm, Expr, ExprKind, FieldPattern, FieldTest, Item, Match, Pattern, PatternKind, Test,
};
use temblor_lang::value::{Arena, to_json};

/// Values longer than this are cut.
const SHOWN_CHARS_MAX: usize = 120;

/// Explains one expression on a sample.
pub(crate) struct Explainer<'e, 'r> {
    pub(crate) evaluator: &'e mut Evaluator<'r>,
    pub sample: &'e Sample,
    pub now_ns: u64,
    pub(crate) setup: &'e Setup,
}

impl Explainer<'_, '_> {
    /// The expression, its parts and their values.
    pub(crate) fn explain(&mut self, expr: &Expr) -> Result<String, String> {
        let mut text = String::new();
        match &expr.kind {
            ExprKind::Match(one) => self.arms(one, &mut text)?,
            ExprKind::Let(_, value) => return self.explain(value),
            _ => self.operands(expr, 0, &mut text)?,
        }
        Ok(text)
    }

    /// A line for an expression, and lines for the operands of and, or, not and comparisons.
    fn operands(&mut self, expr: &Expr, depth: usize, text: &mut String) -> Result<(), String> {
        let shown = self.value(expr)?;
        let source = self.evaluator.text(expr.span).trim().to_string();
        text.push_str(&format!("{}{source} = {shown}\n", "  ".repeat(depth)));
        let operands: Vec<&Expr> = match &expr.kind {
            ExprKind::Binary(_, left, right) | ExprKind::Coalesce(left, right) => {
                vec![left, right]
            }
            ExprKind::Unary(_, inner) | ExprKind::Paren(inner) => vec![inner],
            ExprKind::Call(_, arguments) => arguments.iter().collect(),
            ExprKind::If(arms, _) => arms.iter().map(|(condition, _)| condition).collect(),
            _ => Vec::new(),
        };
        for operand in operands.into_iter().filter(|one| !is_literal(one)) {
            self.operands(operand, depth + 1, text)?;
        }
        Ok(())
    }

    fn arms(&mut self, one: &Match, text: &mut String) -> Result<(), String> {
        let target = self.value(&one.target)?;
        let source = self.evaluator.text(one.target.span).trim().to_string();
        text.push_str(&format!("match {source} = {target}\n"));
        let mut taken = false;
        for arm in &one.arms {
            let pattern = self.evaluator.text(arm.pattern.span).trim().to_string();
            if taken {
                text.push_str(&format!("  case {pattern}: not tried\n"));
                continue;
            }
            let matches = self.matches(&one.target, &arm.pattern, None)?;
            taken = matches && self.matches(&one.target, &arm.pattern, arm.guard.as_ref())?;
            let verdict = match (matches, taken) {
                (_, true) => "taken",
                (true, false) => "matches, but its guard does not hold",
                (false, false) => "does not match",
            };
            text.push_str(&format!("  case {pattern}: {verdict}\n"));
            if !matches {
                self.fields(&one.target, &arm.pattern, text)?;
                if let PatternKind::Test(test) = plain(&arm.pattern) {
                    let target = self.text_of(vec![Item::Expr(one.target.clone())]);
                    self.how_far(test, target.as_deref(), text);
                }
            }
            if let (Some(guard), true) = (&arm.guard, matches) {
                text.push_str("    when\n");
                self.operands(guard, 3, text)?;
            }
        }
        if !taken {
            text.push_str("  no arm was taken\n");
        }
        Ok(())
    }

    /// For a record pattern, which of its fields do not match, and what they are.
    fn fields(
        &mut self,
        target: &Expr,
        pattern: &Pattern,
        text: &mut String,
    ) -> Result<(), String> {
        let PatternKind::Record(fields) = plain(pattern) else { return Ok(()) };
        for field in fields {
            let alone =
                Pattern { kind: PatternKind::Record(vec![field.clone()]), ..pattern.clone() };
            let holds = self.matches(target, &alone, None)?;
            let source = self.evaluator.text(field.span).trim().to_string();
            let shown = self.field(target, field)?;
            let mark = if holds { "holds" } else { "does not hold" };
            text.push_str(&format!("    {source}: {mark}; {} is {shown}\n", field.name.text));
            if let (FieldTest::Test(test), false) = (&field.test, holds) {
                let items = self.field_of(target, field)?;
                let value = self.text_of(items);
                self.how_far(test, value.as_deref(), text);
            }
        }
        Ok(())
    }

    /// How far the pattern of a test gets, if it has one that can be followed.
    fn how_far(&self, test: &Test, value: Option<&str>, text: &mut String) {
        let notation = test.name.text.to_ascii_lowercase();
        let Some(value) = value.filter(|_| patterns::NOTATIONS.contains(&notation.as_str())) else {
            return;
        };
        if let Ok(shown) = patterns::explain(&notation, &test.pattern, value, self.setup) {
            shown.lines().for_each(|line| text.push_str(&format!("      {line}\n")));
        }
    }

    /// The value of items, if it is a text.
    fn text_of(&mut self, items: Vec<Item>) -> Option<String> {
        let value = self.evaluator.run(items, self.sample, self.now_ns).ok()?.value.ok()?;
        value.read(&Arena::new()).as_str().map(str::to_string)
    }

    /// The value of a field of the target.
    fn field(&mut self, target: &Expr, field: &FieldPattern) -> Result<String, String> {
        let items = self.field_of(target, field)?;
        self.run(items)
    }

    fn field_of(&mut self, target: &Expr, field: &FieldPattern) -> Result<Vec<Item>, String> {
        let source = self.evaluator.text(target.span).trim().to_string();
        let entry = format!("({source}).`{}`", field.name.text);
        self.evaluator.parse(&entry).map_err(|unreadable| unreadable.text)
    }

    fn value(&mut self, expr: &Expr) -> Result<String, String> {
        self.run(vec![Item::Expr(expr.clone())])
    }

    /// The value as text; what is missing is said in words, so that it is not taken for null.
    fn run(&mut self, items: Vec<Item>) -> Result<String, String> {
        let done = self.evaluator.run(items, self.sample, self.now_ns)?;
        Ok(match done.value {
            Ok(value) => cut(&to_json(value.read(&Arena::new()))),
            Err(error) if matches!(error.code(), "E0401" | "E0402") => "missing".to_string(),
            Err(error) => format!("an error: {}", error.message()),
        })
    }

    /// Whether an arm with this pattern and guard would be taken.
    fn matches(
        &mut self,
        target: &Expr,
        pattern: &Pattern,
        guard: Option<&Expr>,
    ) -> Result<bool, String> {
        let span = pattern.span;
        let arm = |pattern: Pattern, guard: Option<Expr>, value: bool| Arm {
            pattern,
            guard,
            body: vec![Expr { kind: ExprKind::Bool(value), span }],
            span,
        };
        let any = Pattern { kind: PatternKind::Any, span };
        let arms = vec![arm(pattern.clone(), guard.cloned(), true), arm(any, None, false)];
        let one = Match { target: target.clone(), arms };
        let expr = Expr { kind: ExprKind::Match(Box::new(one)), span };
        Ok(self.value(&expr)? == "true")
    }
}

/// A pattern without the name that it binds.
fn plain(pattern: &Pattern) -> &PatternKind {
    match &pattern.kind {
        PatternKind::Bind(_, inner) => plain(inner),
        other => other,
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::String(_)
    )
}

fn cut(text: &str) -> String {
    if text.chars().count() <= SHOWN_CHARS_MAX {
        return text.to_string();
    }
    text.chars().take(SHOWN_CHARS_MAX).chain(['…']).collect()
}
