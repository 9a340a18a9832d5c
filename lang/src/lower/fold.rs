//! Constant folding: an expression whose operands are all known is evaluated at load, by the same
//! interpreter that runs it later. Its only visible effect is that errors come earlier.

use super::{Compiler, complain};
use crate::builtin::Facts;
use crate::error::EvalError;
use crate::program::{Expr, Formula};
use crate::run::Context;
use crate::span::Span;
use crate::value::{Arena, Owned, Value};

impl Compiler<'_> {
    /// Evaluates an expression that has no variable parts; an error becomes a diagnostic.
    pub(super) fn fold(&mut self, expr: Expr, span: Span) -> Expr {
        let formula = Formula { expr, slots: 0, aggregates: Vec::new(), span: Span::default() };
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

    fn evaluate(&self, formula: &Formula) -> Result<Expr, EvalError> {
        let arena = Arena::new();
        let facts = Facts { budget: self.budget.clone(), ..Facts::default() };
        let mut state = Owned::Null;
        let mut context = Context::new(&arena, &facts, Value::Null, Value::Null, &mut state);
        formula.eval(&mut context).map(Expr::constant)
    }
}
