//! Why a rule gave what it gave: the value of every operand, arm after arm; and how far a grok
//! pattern got. Every part is evaluated by the engine itself.

use super::evaluate::Evaluator;
use super::samples::Sample;
use temblor_lang::syntax::tree::{
    Arm, Expr, ExprKind, FieldPattern, Item, Match, Pattern, PatternKind,
};
use temblor_lang::value::{Arena, to_json};
use temblor_stdlib::grok::{Captures, Grok, Library, Options};

/// Values longer than this are cut.
const SHOWN_CHARS_MAX: usize = 120;

/// Explains one expression on a sample.
pub struct Explainer<'e, 'r> {
    pub evaluator: &'e mut Evaluator<'r>,
    pub sample: &'e Sample,
    pub now_ns: u64,
}

impl Explainer<'_, '_> {
    /// The expression, its parts and their values.
    pub fn explain(&mut self, expr: &Expr) -> Result<String, String> {
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
            if !taken {
                self.fields(&one.target, &arm.pattern, text)?;
            }
            if let (Some(guard), true) = (&arm.guard, matches) {
                let guard = self.evaluator.text(guard.span).trim().to_string();
                text.push_str(&format!("    when {guard}\n"));
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
        }
        Ok(())
    }

    /// The value of a field of the target.
    fn field(&mut self, target: &Expr, field: &FieldPattern) -> Result<String, String> {
        let source = self.evaluator.text(target.span).trim().to_string();
        let entry = format!("({source}).`{}`", field.name.text);
        let items = self.evaluator.parse(&entry).map_err(|unreadable| unreadable.text)?;
        self.run(items)
    }

    fn value(&mut self, expr: &Expr) -> Result<String, String> {
        self.run(vec![Item::Expr(expr.clone())])
    }

    /// The value as text; what is missing is said in words, so that it is not taken for null.
    fn run(&mut self, items: Vec<Item>) -> Result<String, String> {
        let done = self.evaluator.run(items, self.sample, self.now_ns)?;
        Ok(match done.value {
            Ok(value) => cut(&to_json(value.read(&Arena::new()))),
            Err(error) if error.message().starts_with("non existing") => "missing".to_string(),
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

/// How far a grok pattern gets in a text.
pub fn grok(pattern: &str, text: &str) -> Result<String, String> {
    let compiled = Grok::compile(pattern, &Library::legacy(), &Options::default())
        .map_err(|error| format!("error: {error}"))?;
    let mut captures = Captures::new();
    if compiled.matches(text, &mut captures) {
        let mut shown = "matches\n".to_string();
        for field in compiled.fields() {
            let value = captures.get(field.group, text).unwrap_or("(nothing)");
            shown.push_str(&format!("  {} = {value}\n", field.name));
        }
        return Ok(shown);
    }
    let why = compiled.explain(text, &mut captures);
    let prefix = text.get(..why.matched_prefix_end).unwrap_or_default();
    Ok(format!(
        "does not match\n  matched: {prefix}\n  stopped at: {}\n  rest: {}\n",
        why.stopped_at_token, why.rest
    ))
}
