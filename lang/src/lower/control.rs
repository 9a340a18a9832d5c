//! `if`, `for` and guards: what is run depends on a condition.

use super::expression::Code;
use super::names::Position;
use super::{Compiler, complain};
use crate::coverage::BranchKind;
use crate::program::{CompArm, Comprehension, Expr, Guarding};
use crate::span::Span;
use crate::syntax::tree;

impl Compiler<'_> {
    pub(super) fn choice(
        &mut self,
        arms: &[(tree::Expr, Vec<tree::Expr>)],
        otherwise: Option<&[tree::Expr]>,
        position: Position,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let arms = arms
            .iter()
            .map(|(condition, block)| {
                let span = condition.span;
                let condition = self.expression(condition, Position::VALUE, (scope, names));
                self.check_condition(&condition, span, names);
                let block = self.block(block, position, (scope, names));
                (condition, self.counted(BranchKind::Then, span, block))
            })
            .collect();
        let otherwise = otherwise.map(|tree| {
            let block = self.block(tree, position, (scope, names));
            match tree.first() {
                Some(first) => self.counted(BranchKind::Else, first.span, block),
                None => block,
            }
        });
        Expr::If(arms, otherwise)
    }

    pub(super) fn comprehension(
        &mut self,
        tree: &tree::For,
        span: Span,
        position: Position,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        if let Some((_, span)) = tree.fold {
            self.diagnostics.push(complain::experimental_fold(span));
        }
        let target = self.expression(&tree.target, Position::VALUE, (scope, names));
        let into =
            tree.into.as_ref().map(|into| self.expression(into, Position::VALUE, (scope, names)));
        let mut arms = Vec::with_capacity(tree.arms.len());
        for arm in &tree.arms {
            self.check_binding(&arm.key, scope);
            self.check_binding(&arm.value, scope);
            let key = names.bind(&arm.key.text);
            let value = names.bind(&arm.value.text);
            let guard = self.guard(arm.guard.as_ref(), (scope, names));
            let body = self.block(&arm.body, position.inner(), (scope, names));
            let body = self.counted(BranchKind::Element, arm.span, body);
            names.unbind(2);
            arms.push(CompArm { key, value, guard, body });
        }
        let fold = tree.fold.map(|(op, _)| op);
        let used = position.used;
        let guarding = Guarding::Alone;
        Expr::For(Box::new(Comprehension { target, arms, into, fold, used, guarding, span }))
    }

    /// `when …`
    pub(super) fn guard(
        &mut self,
        tree: Option<&tree::Expr>,
        (scope, names): Code<'_, '_>,
    ) -> Option<(Expr, Span)> {
        let tree = tree?;
        let guard = self.expression(tree, Position::VALUE, (scope, names));
        self.check_condition(&guard, tree.span, names);
        Some((guard, tree.span))
    }
}
