//! Conditions: guards, operands of `and` and `or`, `if`. Tests that give nothing but a boolean are
//! answered as one, without a value in between.

use super::{Eval, Run, arithmetic, failure};
use crate::program::Expr;
use crate::span::Span;
use crate::syntax::tree::{BinaryOp, UnaryOp};

impl<'a> Run<'a, '_, '_> {
    /// Whether `expr` holds; `place` and `span` are for the message when it is no boolean.
    pub(super) fn truth(&mut self, expr: &'a Expr, place: &str, span: Span) -> Eval<'a, bool> {
        match expr {
            Expr::Presence(wanted, path) => Ok(self.is_present(path)? == *wanted),
            Expr::Logic(binary) => {
                let decided = binary.op == BinaryOp::Or;
                let left = self.truth(&binary.left, "the left operand", binary.span)?;
                if left == decided {
                    return Ok(left);
                }
                self.truth(&binary.right, "the right operand", binary.span)
            }
            Expr::Binary(binary) if is_comparison(binary.op) => {
                let left = self.operand(&binary.left)?;
                let right = self.operand(&binary.right)?;
                Ok(arithmetic::compare(binary.op, left, right, binary.span)?)
            }
            Expr::Unary(UnaryOp::Not, operand, span) if is_condition(operand) => {
                Ok(!self.truth(operand, "the operand", *span)?)
            }
            _ => {
                let value = self.eval(expr)?;
                value.as_bool().ok_or_else(|| failure::not_bool(value, place, span).into())
            }
        }
    }
}

/// Whether the expression gives a boolean or fails.
fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::Presence(..) | Expr::Logic(_) => true,
        Expr::Binary(binary) => is_comparison(binary.op),
        _ => false,
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp as Op;
    matches!(op, Op::Eq | Op::NotEq | Op::Gte | Op::Gt | Op::Lte | Op::Lt)
}
