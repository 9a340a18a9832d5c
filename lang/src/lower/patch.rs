//! `patch … of … end`

use super::Compiler;
use super::module::Scope;
use super::names::{Names, Position};
use crate::program::{Expr, Patch, PatchOp};
use crate::syntax::tree::{self, PatchKind};

impl Compiler<'_> {
    pub(super) fn patch(
        &mut self,
        target: &tree::Expr,
        ops: &[tree::PatchOp],
        (scope, names): (&Scope, &mut Names),
    ) -> Expr {
        let target_span = target.span;
        let target = self.expression(target, Position::VALUE, (scope, names));
        let ops = ops.iter().map(|op| (self.patch_op(op, (scope, names)), op.span)).collect();
        Expr::Patch(Box::new(Patch { target, ops, target_span }))
    }

    fn patch_op(&mut self, op: &tree::PatchOp, (scope, names): (&Scope, &mut Names)) -> PatchOp {
        let value = |this: &mut Self, names: &mut Names, tree: &tree::Expr| {
            this.expression(tree, Position::VALUE, (scope, names))
        };
        match &op.kind {
            PatchKind::Insert(key, tree) => {
                PatchOp::Insert(self.key(key, (scope, names)), value(self, names, tree))
            }
            PatchKind::Upsert(key, tree) => {
                PatchOp::Upsert(self.key(key, (scope, names)), value(self, names, tree))
            }
            PatchKind::Update(key, tree) => {
                PatchOp::Update(self.key(key, (scope, names)), value(self, names, tree))
            }
            PatchKind::Erase(key) => PatchOp::Erase(self.key(key, (scope, names))),
            PatchKind::Move(from, to) => {
                PatchOp::Move(self.key(from, (scope, names)), self.key(to, (scope, names)))
            }
            PatchKind::Copy(from, to) => {
                PatchOp::Copy(self.key(from, (scope, names)), self.key(to, (scope, names)))
            }
            PatchKind::Merge(Some(key), tree) => {
                PatchOp::Merge(self.key(key, (scope, names)), value(self, names, tree))
            }
            PatchKind::Merge(None, tree) => PatchOp::MergeAll(value(self, names, tree)),
            PatchKind::Default(Some(key), tree) => {
                PatchOp::Default(self.key(key, (scope, names)), value(self, names, tree))
            }
            PatchKind::Default(None, tree) => PatchOp::DefaultAll(value(self, names, tree)),
        }
    }
}
