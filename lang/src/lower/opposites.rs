//! Two loops after each other that part a record: the second takes what the first one leaves. Its
//! guard is not asked again. Only loops that change nothing are taken together, so that what the
//! first one found out still holds for the second.

use crate::builtin::Purity;
use crate::program::{
    Block, Comprehension, Expr, Guarding, Key, Path, Root, Segment, TargetRoot, TextPart,
};
use crate::syntax::tree::UnaryOp;
use crate::value::Value;
use std::sync::Arc;

/// Marks the pairs among the statements of a block.
pub(super) fn pair(block: &mut Block) {
    for at in 1..block.effects.len() {
        let (before, rest) = block.effects.split_at_mut(at);
        let (Some((assigned, first)), Some((_, second))) =
            (before.last_mut().and_then(assigned_loop), rest.first_mut().and_then(assigned_loop))
        else {
            continue;
        };
        let is_free = matches!(first.guarding, Guarding::Alone);
        if is_free && are_opposite(first, second, assigned) {
            first.guarding = Guarding::Noted;
            second.guarding = Guarding::OppositeOfNoted;
        }
    }
}

/// `let x = for …`: the slot and the loop.
fn assigned_loop(statement: &mut Expr) -> Option<(usize, &mut Comprehension)> {
    let Expr::Let(target, value) = statement else { return None };
    let (TargetRoot::Local(slot), []) = (target.root, target.segments.as_slice()) else {
        return None;
    };
    let Expr::For(comprehension) = value.as_mut() else { return None };
    Some((slot, comprehension))
}

fn are_opposite(first: &Comprehension, second: &Comprehension, assigned: usize) -> bool {
    let ([one], [other]) = (first.arms.as_slice(), second.arms.as_slice()) else { return false };
    let (Some((guard, _)), Some((opposite, _))) = (&one.guard, &other.guard) else { return false };
    let slots = Slots { assigned, pairs: [(one.key, other.key), (one.value, other.value)] };
    let is_plain_block =
        |block: &Block| block.effects.is_empty() && block.last.as_deref().is_some_and(is_plain);
    slots.same(&first.target, &second.target)
        && [&first.into, &second.into].into_iter().flatten().all(is_plain)
        && [&one.body, &other.body].into_iter().all(is_plain_block)
        && slots.opposite(guard, opposite)
}

/// Whether evaluation changes nothing and depends on nothing but values.
fn is_plain(expr: &Expr) -> bool {
    let is_plain_part = |part: &TextPart| match part {
        TextPart::Text(_) => true,
        TextPart::Expr(expr) => is_plain(expr),
    };
    match expr {
        Expr::Const(_) | Expr::Local(..) | Expr::Event => true,
        Expr::Path(path) => is_plain_path(path),
        Expr::Text(parts) => parts.iter().all(is_plain_part),
        Expr::List(items) => items.iter().all(is_plain),
        Expr::Record(fields) => fields.iter().all(|(key, value)| {
            is_plain(value)
                && match key {
                    Key::Const(..) => true,
                    Key::Text(parts) => parts.iter().all(is_plain_part),
                }
        }),
        Expr::Call(call) => {
            call.function.purity == Purity::Pure && call.arguments.iter().all(is_plain)
        }
        Expr::Binary(binary) | Expr::Logic(binary) => {
            is_plain(&binary.left) && is_plain(&binary.right)
        }
        Expr::Unary(_, operand, _) => is_plain(operand),
        Expr::Presence(_, path) => is_plain_path(path),
        _ => false,
    }
}

fn is_plain_path(path: &Path) -> bool {
    let is_plain_root = match &path.root {
        Root::Expr(expr) => is_plain(expr),
        _ => true,
    };
    is_plain_root
        && path.segments.iter().all(|segment| match segment {
            Segment::Field(..) | Segment::Index(..) => true,
            Segment::Expr(expr, _) => is_plain(expr),
            Segment::Range(bounds, _) => is_plain(&bounds.0) && is_plain(&bounds.1),
        })
}

/// Which locals of the two loops hold the same value.
struct Slots {
    /// Where the result of the first loop goes: no guard may ask for it.
    assigned: usize,
    /// Keys and values that the loops bind.
    pairs: [(usize, usize); 2],
}

impl Slots {
    fn opposite(&self, one: &Expr, other: &Expr) -> bool {
        match (one, other) {
            (Expr::Presence(wanted, path), Expr::Presence(unwanted, same)) => {
                wanted != unwanted && self.same_path(path, same)
            }
            (one, Expr::Unary(UnaryOp::Not, other, _)) => self.same(one, other),
            (Expr::Unary(UnaryOp::Not, one, _), other) => self.same(one, other),
            _ => false,
        }
    }

    /// Whether both give the same value or fail both. False when in doubt.
    fn same(&self, one: &Expr, other: &Expr) -> bool {
        match (one, other) {
            (Expr::Event, Expr::Event) => true,
            (Expr::Const(one), Expr::Const(other)) => {
                Arc::ptr_eq(one, other)
                    || matches!((one.get(), other.get()), (Value::Str(l), Value::Str(r)) if l == r)
            }
            (Expr::Local(one, _), Expr::Local(other, _)) => self.same_slot(*one, *other),
            (Expr::Path(one), Expr::Path(other)) => self.same_path(one, other),
            (Expr::Presence(wanted, one), Expr::Presence(other_wanted, other)) => {
                wanted == other_wanted && self.same_path(one, other)
            }
            (Expr::Unary(op, one, _), Expr::Unary(other_op, other, _)) => {
                op == other_op && self.same(one, other)
            }
            (Expr::Binary(one), Expr::Binary(other)) | (Expr::Logic(one), Expr::Logic(other)) => {
                one.op == other.op
                    && self.same(&one.left, &other.left)
                    && self.same(&one.right, &other.right)
            }
            (Expr::Call(one), Expr::Call(other)) => {
                std::ptr::eq(one.function, other.function)
                    && one.function.purity == Purity::Pure
                    && one.arguments.len() == other.arguments.len()
                    && one.arguments.iter().zip(&other.arguments).all(|(l, r)| self.same(l, r))
            }
            _ => false,
        }
    }

    fn same_slot(&self, one: usize, other: usize) -> bool {
        let is_bound = self.pairs.iter().any(|pair| pair.0 == one || pair.1 == other);
        let is_pair = self.pairs.contains(&(one, other));
        if is_bound { is_pair } else { one == other && one != self.assigned }
    }

    fn same_path(&self, one: &Path, other: &Path) -> bool {
        let is_same_root = match (&one.root, &other.root) {
            (Root::Event, Root::Event) => true,
            (Root::Local(one, _), Root::Local(other, _)) => self.same_slot(*one, *other),
            (Root::Expr(one), Root::Expr(other)) => self.same(one, other),
            _ => false,
        };
        is_same_root
            && one.segments.len() == other.segments.len()
            && one.segments.iter().zip(&other.segments).all(|segments| match segments {
                (Segment::Field(one, ..), Segment::Field(other, ..)) => one == other,
                (Segment::Index(one, _), Segment::Index(other, _)) => one == other,
                (Segment::Expr(one, _), Segment::Expr(other, _)) => self.same(one, other),
                _ => false,
            })
    }
}
