//! Statements and the forms with arms: `let`, `emit`, `if`, `match` and `for`.

use super::super::grammar::{Pair, Rule};
use super::super::tree::{Arm, Expr, ExprKind, For, ForArm, Match};
use super::operators::binary;
use super::{Builder, only, parts, sole, take};
use crate::diagnostic::{Class, Diagnostic, codes};

impl Builder {
    pub(super) fn let_expr(&mut self, pair: Pair) -> ExprKind {
        let mut inner = parts(pair);
        let target = self.path_of(take(&mut inner), "`let` assigns to a path");
        let value = Box::new(self.expr(take(&mut inner)));
        target.map_or(ExprKind::Error, |path| ExprKind::Let(Box::new(path), value))
    }

    pub(super) fn emit_expr(&mut self, pair: Pair) -> ExprKind {
        let mut inner = pair.into_inner().skip(1).peekable();
        let value = inner.next_if(|part| part.as_rule() != Rule::arrow);
        let value = value.map(|value| Box::new(self.expr(value)));
        let port = inner.nth(1).map(|port| self.string(port));
        ExprKind::Emit(value, port)
    }

    pub(super) fn if_expr(&mut self, pair: Pair) -> ExprKind {
        self.if_arms(None, pair)
    }

    /// Conditions and blocks in turn; the first condition may have been read before.
    pub(super) fn if_arms(&mut self, condition: Option<Expr>, pair: Pair) -> ExprKind {
        let mut condition = condition;
        let mut arms = Vec::new();
        let mut otherwise = None;
        for part in parts(pair) {
            let is_block = matches!(part.as_rule(), Rule::block | Rule::iblock);
            match (is_block, condition.take()) {
                (false, _) => condition = Some(self.expr(part)),
                (true, Some(tested)) => arms.push((tested, self.block(part))),
                (true, None) => otherwise = Some(self.block(part)),
            }
        }
        ExprKind::If(arms, otherwise)
    }

    /// A block, or the comma-separated expressions of an immutable arm.
    pub(super) fn block(&mut self, pair: Pair) -> Vec<Expr> {
        let immutable = pair.as_rule() == Rule::iblock;
        let body = self.exprs(pair);
        if immutable && body.len() > 1 {
            let message = "only the last expression of this arm counts";
            let span = body[0].span.to(body[body.len() - 2].span);
            self.report(
                Diagnostic::warning(codes::DISCARDED_EXPRESSION, Class::Behaviour, span, message)
                    .with_label("never evaluated")
                    .with_help("remove it; or, for a list, write `[a, b]`"),
            );
        }
        body
    }

    pub(super) fn match_expr(&mut self, pair: Pair) -> ExprKind {
        let mut inner = parts(pair);
        let target = self.expr(take(&mut inner));
        let arms = inner.map(|arm| self.arm(arm)).collect();
        ExprKind::Match(Box::new(Match { target, arms }))
    }

    fn arm(&mut self, pair: Pair) -> Arm {
        let span = self.span(&pair);
        let mut inner = parts(pair).peekable();
        let pattern = self.pattern(take(&mut inner));
        let guard = inner.next_if(|part| part.as_rule() == Rule::guard);
        let guard = guard.map(|guard| self.expr(sole(guard)));
        let body = self.block(take(&mut inner));
        Arm { pattern, guard, body, span }
    }

    pub(super) fn for_expr(&mut self, pair: Pair) -> ExprKind {
        let mut inner = parts(pair);
        let target = self.expr(take(&mut inner));
        let mut built = For { target, arms: Vec::new(), into: None, fold: None };
        for part in inner {
            if part.as_rule() != Rule::for_into {
                built.arms.push(self.for_arm(part));
                continue;
            }
            let mut into = parts(part);
            built.into = Some(self.expr(take(&mut into)));
            built.fold = into.next().and_then(|fold| {
                let span = self.span(&fold);
                binary(sole(fold).as_rule()).map(|op| (op, span))
            });
        }
        ExprKind::For(Box::new(built))
    }

    fn for_arm(&mut self, pair: Pair) -> ForArm {
        let span = self.span(&pair);
        let mut inner = parts(pair).peekable();
        let mut names = only(take(&mut inner), Rule::ident);
        let (key, value) = (self.ident(&take(&mut names)), self.ident(&take(&mut names)));
        let guard = inner.next_if(|part| part.as_rule() == Rule::guard);
        let guard = guard.map(|guard| self.expr(sole(guard)));
        let body = self.block(take(&mut inner));
        ForArm { key, value, guard, body, span }
    }
}
