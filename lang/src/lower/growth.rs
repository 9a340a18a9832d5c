//! Which assignments add to what they assign to: `let a = array::push(a, v)`, `let t = t + "x"`. The
//! interpreter lets such a value grow in place as long as nobody else holds it. To be marked here
//! changes the cost of an assignment and never what it does.

use crate::builtin::Addition;
use crate::program::{
    Block, Call, Expr, Key, Patch, Path, Root, Segment, Target, TargetRoot, TextPart,
};
use crate::syntax::tree::BinaryOp;
use crate::value::Value;

/// Whether some way through `value` gives the present value of `target` with more to it.
pub(super) fn grows(target: &Target, value: &Expr) -> bool {
    let is_fixed = |segment: &Segment| match segment {
        Segment::Field(..) => true,
        Segment::Expr(expr, _) => matches!(expr, Expr::Local(..) | Expr::Const(_)),
        Segment::Index(..) | Segment::Range(..) => false,
    };
    !matches!(target.root, TargetRoot::Invalid(_))
        && !matches!(
            (target.root, target.segments.len()),
            (TargetRoot::Event | TargetRoot::Meta, 0)
        )
        && target.segments.iter().all(is_fixed)
        && adds(target, value)
}

fn adds(target: &Target, value: &Expr) -> bool {
    match value {
        Expr::Binary(binary) if binary.op == BinaryOp::Add => {
            let is_number = matches!(
                binary.right.as_constant(),
                Some(Value::Int(_) | Value::UInt(_) | Value::Float(_))
            );
            !is_number && target.is_read_by(&binary.left) && assigns_nothing(&binary.right)
        }
        Expr::Call(call) => adds_by_call(target, call),
        Expr::Text(parts) => match parts.as_slice() {
            [TextPart::Expr(first), rest @ ..] if !rest.is_empty() => {
                target.is_read_by(first) && rest.iter().all(part_assigns_nothing)
            }
            _ => false,
        },
        Expr::Merge(merged, with, _) => target.is_read_by(merged) && assigns_nothing(with),
        Expr::Patch(patch) => adds_by_patch(target, patch),
        Expr::Match(matching) => matching.arms.iter().any(|arm| block_adds(target, &arm.body)),
        Expr::If(arms, otherwise) => {
            arms.iter().map(|(_, block)| block).chain(otherwise).any(|one| block_adds(target, one))
        }
        _ => false,
    }
}

fn block_adds(target: &Target, block: &Block) -> bool {
    block.last.as_deref().is_some_and(|last| adds(target, last))
}

fn adds_by_call(target: &Target, call: &Call) -> bool {
    let [first, second] = call.arguments.as_slice() else { return false };
    call.function.addition != Addition::None && target.is_read_by(first) && assigns_nothing(second)
}

fn adds_by_patch(target: &Target, patch: &Patch) -> bool {
    patch.is_in_one_go()
        && target.is_read_by(&patch.target)
        && patch.parts().all(|(key, value)| {
            value.is_none_or(assigns_nothing) && key.is_none_or(key_assigns_nothing)
        })
}

/// Whether evaluation assigns nothing: then it does not matter what is evaluated first.
fn assigns_nothing(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Local(..) | Expr::Event | Expr::Aggregate(..) => true,
        Expr::Path(path) | Expr::Presence(_, path) => path_assigns_nothing(path),
        Expr::Text(parts) => parts.iter().all(part_assigns_nothing),
        Expr::List(items) | Expr::CallUser(_, items, _) => items.iter().all(assigns_nothing),
        Expr::Record(fields) => {
            fields.iter().all(|(key, value)| key_assigns_nothing(key) && assigns_nothing(value))
        }
        Expr::Call(call) => call.arguments.iter().all(assigns_nothing),
        Expr::Binary(binary) | Expr::Logic(binary) => {
            assigns_nothing(&binary.left) && assigns_nothing(&binary.right)
        }
        Expr::Coalesce(value, otherwise) => assigns_nothing(value) && assigns_nothing(otherwise),
        Expr::Unary(_, operand, _) => assigns_nothing(operand),
        _ => false,
    }
}

fn key_assigns_nothing(key: &Key) -> bool {
    match key {
        Key::Const(..) => true,
        Key::Text(parts) => parts.iter().all(part_assigns_nothing),
    }
}

fn part_assigns_nothing(part: &TextPart) -> bool {
    match part {
        TextPart::Text(_) => true,
        TextPart::Expr(expr) => assigns_nothing(expr),
    }
}

fn path_assigns_nothing(path: &Path) -> bool {
    let root = match &path.root {
        Root::Expr(expr) => assigns_nothing(expr),
        _ => true,
    };
    root && path.segments.iter().all(|segment| match segment {
        Segment::Field(..) | Segment::Index(..) => true,
        Segment::Expr(expr, _) => assigns_nothing(expr),
        Segment::Range(bounds, _) => assigns_nothing(&bounds.0) && assigns_nothing(&bounds.1),
    })
}
