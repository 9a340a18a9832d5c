//! Conditions: guards, operands of `and` and `or`, `if`. Tests that give nothing but a boolean are
//! answered as one, without a value in between.

use super::{Eval, Run, arithmetic, failure, steps};
use crate::builtin::Purity;
use crate::program::Expr;
use crate::span::Span;
use crate::syntax::tree::{BinaryOp, UnaryOp};
use crate::value::Value;

impl<'a> Run<'a, '_, '_> {
    /// Whether `expr` holds, if it consists of what is [`Run::at_hand`]. Nothing has happened when
    /// the answer is `None`, so that [`Run::truth`] can be asked, which knows what is wrong.
    pub(super) fn known(&mut self, expr: &'a Expr) -> Option<bool> {
        match expr {
            Expr::Presence(wanted, path) => Some(self.table_field(path)?.is_some() == *wanted),
            Expr::Logic(binary) => {
                let decided = binary.op == BinaryOp::Or;
                if self.known(&binary.left)? == decided {
                    return Some(decided);
                }
                self.known(&binary.right)
            }
            Expr::Binary(binary) if matches!(binary.op, BinaryOp::Eq | BinaryOp::NotEq) => {
                let left = self.at_hand(&binary.left)?;
                let right = self.at_hand(&binary.right)?;
                Some(self.arena().equal(left, right) == (binary.op == BinaryOp::Eq))
            }
            Expr::Unary(UnaryOp::Not, operand, _) => Some(!self.known(operand)?),
            _ => None,
        }
    }

    /// The value of constants, locals, fields of tables and of pure functions of one of these, if
    /// there is one.
    #[inline]
    fn at_hand(&mut self, expr: &'a Expr) -> Option<Value<'a>> {
        match expr {
            Expr::Const(value) => Some(value.get()),
            Expr::Local(slot, _) => self.local(*slot),
            Expr::Path(path) => self.table_field(path)?,
            Expr::Call(call) if call.function.purity == Purity::Pure => {
                let [Expr::Local(slot, _)] = call.arguments.as_slice() else { return None };
                let argument = self.local(*slot)?;
                self.arena().step(steps(&[argument]));
                call.function.invoke(&self.context.call, &[argument]).ok()
            }
            _ => None,
        }
    }

    /// Whether `expr` holds; `place` and `span` are for the message when it is no boolean.
    pub(super) fn truth(
        &mut self,
        expr: &'a Expr,
        place: &'static str,
        span: &Span,
    ) -> Eval<'a, bool> {
        match expr {
            Expr::Presence(wanted, path) => Ok(self.is_present(path)? == *wanted),
            Expr::Logic(binary) => {
                let decided = binary.op == BinaryOp::Or;
                let left = self.truth(&binary.left, "the left operand", &binary.span)?;
                if left == decided {
                    return Ok(left);
                }
                self.truth(&binary.right, "the right operand", &binary.span)
            }
            Expr::Binary(binary) if is_comparison(binary.op) => {
                let left = self.operand(&binary.left)?;
                let right = self.operand(&binary.right)?;
                Ok(arithmetic::compare(binary.op, left, right, binary.span, self.arena())?)
            }
            Expr::Unary(UnaryOp::Not, operand, span) if is_condition(operand) => {
                Ok(!self.truth(operand, "the operand", span)?)
            }
            _ => {
                let value = self.eval(expr)?;
                value.as_bool().ok_or_else(|| failure::not_bool(value, place, *span).into())
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
