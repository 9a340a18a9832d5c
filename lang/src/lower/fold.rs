//! Constant folding: an expression whose operands are all known is evaluated at load, by the same
//! interpreter that runs it later. Its only visible effect is that errors come earlier. All constants of
//! a program together take no more memory and work than is named here.

use super::{Compiler, complain};
use crate::builtin::Facts;
use crate::error::EvalError;
use crate::program::{Expr, Formula, Key, TextPart};
use crate::run::Context;
use crate::span::Span;
use crate::value::{Arena, Excess, Frozen, Owned, Value};
use std::sync::Arc;

/// Memory that the constants of a program may take together, in bytes. Reached by
/// `spec/limits/budgets.txt`.
pub(crate) const FOLDED_BYTES_MAX: usize = 64 << 20;
/// Work that the folding of constants may take, in steps as those of a run. Reached by
/// `spec/limits/budgets.txt`.
pub(crate) const FOLDED_STEPS_MAX: usize = 2_000_000_000;

/// What folding may still take.
#[derive(Debug)]
pub(super) struct Folding {
    bytes_left: usize,
    steps_left: usize,
}

impl Default for Folding {
    fn default() -> Self {
        Self { bytes_left: FOLDED_BYTES_MAX, steps_left: FOLDED_STEPS_MAX }
    }
}

impl Compiler<'_> {
    /// Evaluates an expression that has no variable parts; an error becomes a diagnostic.
    pub(super) fn fold(&mut self, expr: Expr, span: Span) -> Expr {
        let formula = Formula { expr, slots: 0, aggregates: Vec::new(), span };
        match self.evaluate(&formula) {
            Ok(constant) => constant,
            Err(error) => {
                self.diagnostics.push(complain::folding(&error, span));
                super::expression::unknown(span)
            }
        }
    }

    /// As [`Compiler::fold`], but an expression that fails stays as it is and fails when it is run.
    pub(super) fn fold_quietly(&mut self, expr: Expr) -> Expr {
        let formula = Formula { expr, slots: 0, aggregates: Vec::new(), span: Span::default() };
        match self.evaluate(&formula) {
            Ok(constant) => constant,
            Err(_) => formula.expr,
        }
    }

    fn evaluate(&mut self, formula: &Formula) -> Result<Expr, EvalError> {
        let Folding { bytes_left, steps_left } = self.folding;
        let arena = Arena::limited(bytes_left, steps_left);
        let facts = Facts { budget: self.budget.clone(), ..Facts::default() };
        let mut state = Owned::Null;
        let mut context = Context::new(&arena, &facts, Value::Null, Value::Null, &mut state);
        let result = formula.eval(&mut context);
        let excess = arena.excess();
        // An evaluation without memory has ended before its work did, which is not known then.
        if excess != Some(Excess::Bytes) {
            self.folding.steps_left = arena.steps_left();
        }
        if let Some(excess) = excess {
            return Err(complain::folded_too_much(excess, formula.span));
        }
        let frozen = Frozen::within(result?, bytes_left);
        let frozen =
            frozen.ok_or_else(|| complain::folded_too_much(Excess::Bytes, formula.span))?;
        // What the constant is made of goes now, unless it has a name.
        let freed = parts_bytes(&formula.expr);
        let left = bytes_left.saturating_sub(frozen.bytes()).saturating_add(freed);
        self.folding.bytes_left = left.min(FOLDED_BYTES_MAX);
        Ok(Expr::Const(Arc::new(frozen)))
    }
}

/// Bytes of the constants that nothing but this expression holds.
fn parts_bytes(expr: &Expr) -> usize {
    let own = |expr: &Expr| match expr {
        Expr::Const(frozen) if Arc::strong_count(frozen) == 1 => frozen.bytes(),
        _ => 0,
    };
    let text = |parts: &[TextPart]| -> usize {
        let of = |part: &TextPart| if let TextPart::Expr(expr) = part { own(expr) } else { 0 };
        parts.iter().map(of).sum()
    };
    match expr {
        Expr::List(items) => items.iter().map(own).sum(),
        Expr::Record(fields) => fields
            .iter()
            .map(|(key, value)| {
                own(value) + if let Key::Text(parts) = key { text(parts) } else { 0 }
            })
            .sum(),
        Expr::Text(parts) => text(parts),
        Expr::Binary(binary) | Expr::Logic(binary) => own(&binary.left) + own(&binary.right),
        Expr::Unary(_, operand, _) => own(operand),
        Expr::Call(call) => call.arguments.iter().map(own).sum(),
        _ => 0,
    }
}
