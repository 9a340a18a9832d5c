//! What is known of the kinds of values before anything runs, and warnings about what can only
//! fail or never be equal. A kind is told only when it is certain, so a warning is never wrong.

use super::names::Names;
use super::{Compiler, complain};
use crate::builtin::Function;
use crate::program::{Binary, Expr, Root};
use crate::span::Span;
use crate::syntax::tree::{self, BinaryOp, ExprKind, UnaryOp};
use crate::value::{Kind, Value};

/// The kind that an expression gives whenever it gives a value at all.
pub(super) fn kind(expr: &Expr) -> Kind {
    match expr {
        Expr::Const(value) => value.get().kind(),
        Expr::Text(_) => Kind::String,
        Expr::Bytes(_) => Kind::Bytes,
        Expr::List(_) => Kind::Array,
        Expr::Record(_) | Expr::Patch(_) | Expr::Merge(..) => Kind::Record,
        Expr::Logic(_) | Expr::Presence(..) => Kind::Bool,
        Expr::Unary(UnaryOp::Not, ..) => Kind::Bool,
        Expr::Unary(UnaryOp::Minus | UnaryOp::Plus, ..) => Kind::Number,
        Expr::Binary(binary) => result(binary),
        Expr::Call(call) => call.function.returns,
        Expr::For(comprehension) if comprehension.into.is_none() => Kind::Array,
        Expr::Path(path) if path.segments.is_empty() && matches!(path.root, Root::Meta) => {
            Kind::Record
        }
        _ => Kind::Any,
    }
}

fn result(binary: &Binary) -> Kind {
    use BinaryOp as Op;
    match binary.op {
        Op::Eq | Op::NotEq | Op::Gte | Op::Gt | Op::Lte | Op::Lt => Kind::Bool,
        Op::Or | Op::Xor | Op::And => Kind::Bool,
        Op::Div => Kind::Float,
        Op::Mod | Op::Shl | Op::Shr | Op::ShrUnsigned => Kind::Integer,
        Op::Sub | Op::Mul => Kind::Number,
        Op::Add | Op::BitAnd | Op::BitXor => Kind::Any,
    }
}

/// Whether no value is of both kinds.
fn disjoint(one: Kind, other: Kind) -> bool {
    !one.fits(other) && !other.fits(one)
}

fn is_none_of(known: Kind, wanted: &[Kind]) -> bool {
    wanted.iter().all(|wanted| disjoint(known, *wanted))
}

/// Kinds that are equal by value: all numbers, and strings and bytes.
fn family(known: Kind) -> Kind {
    match known {
        Kind::Integer | Kind::Float => Kind::Number,
        Kind::Bytes => Kind::String,
        other => other,
    }
}

/// The kinds that an operator takes on either side.
fn operands(op: BinaryOp) -> &'static [Kind] {
    use BinaryOp as Op;
    match op {
        Op::Eq | Op::NotEq => &[Kind::Any],
        Op::Gte | Op::Gt | Op::Lte | Op::Lt => &[Kind::Number, Kind::String, Kind::Bytes],
        Op::Add => &[Kind::Number, Kind::String, Kind::Array, Kind::Record],
        Op::Sub | Op::Mul | Op::Div => &[Kind::Number],
        Op::Mod | Op::Shl | Op::Shr | Op::ShrUnsigned => &[Kind::Integer],
        Op::BitAnd | Op::BitXor => &[Kind::Integer, Kind::Bool],
        Op::Or | Op::Xor | Op::And => &[Kind::Bool],
    }
}

impl Compiler<'_> {
    /// Warns of operands that an operator never takes, and of comparisons without a question.
    pub(super) fn check_operands(&mut self, binary: &Binary) {
        let (left, right) = (kind(&binary.left), kind(&binary.right));
        if let BinaryOp::Eq | BinaryOp::NotEq = binary.op {
            if disjoint(family(left), family(right)) {
                let complaint = complain::never_equal(left.name(), right.name(), binary.span);
                self.diagnostics.push(complaint);
            }
            return;
        }
        for (side, known) in [("left", left), ("right", right)] {
            if is_none_of(known, operands(binary.op)) {
                let what = format!("the {side} operand of `{}`", binary.op.text());
                self.diagnostics.push(complain::wrong_kind(&what, known.name(), binary.span));
            }
        }
    }

    /// Warns of arguments that a function never takes.
    pub(super) fn check_arguments(
        &mut self,
        function: &Function,
        arguments: &[Expr],
        trees: &[tree::Expr],
    ) {
        let params = function.params.iter();
        for ((argument, tree), (name, wanted)) in arguments.iter().zip(trees).zip(params) {
            let known = kind(argument);
            if disjoint(known, *wanted) {
                let path = function.path.strip_prefix("std::").unwrap_or(function.path);
                let what = format!("the argument `{name}` of {path}");
                self.diagnostics.push(complain::wrong_kind(&what, known.name(), tree.span));
            }
        }
    }

    /// Reports the name of a lookup table that the program, which declares its tables, has not.
    pub(super) fn check_table(
        &mut self,
        function: &Function,
        arguments: &[Expr],
        trees: &[tree::Expr],
    ) {
        let asks = matches!(function.path, "std::lookup::get" | "std::lookup::has");
        if !asks || self.tables.is_empty() {
            return;
        }
        let (Some(argument), Some(tree)) = (arguments.first(), trees.first()) else { return };
        let Some(name) = argument.as_constant().and_then(Value::as_str) else { return };
        if !self.tables.contains(name) {
            let known = self.tables.iter().map(String::as_str);
            self.diagnostics.push(complain::unknown_table(name, tree.span, known));
        }
    }

    /// Warns of a guard or condition that is never a bool.
    pub(super) fn check_condition(&mut self, condition: &Expr, span: Span) {
        let known = kind(condition);
        if disjoint(known, Kind::Bool) {
            self.diagnostics.push(complain::never_bool(known.name(), span));
        }
    }

    /// Warns of what stands behind `emit` or `drop` in the same block.
    pub(super) fn check_reached<'t>(&mut self, statements: impl Iterator<Item = &'t tree::Expr>) {
        let leaves = |one: &&tree::Expr| !matches!(one.kind, ExprKind::Drop | ExprKind::Emit(..));
        let mut behind = statements.skip_while(leaves);
        if let (Some(leaving), Some(dead)) = (behind.next(), behind.next()) {
            self.diagnostics.push(complain::never_reached(dead.span, leaving.span));
        }
    }

    /// Warns when a constant stands for a name that is bound here.
    pub(super) fn check_binding(&mut self, name: &tree::Ident, scope: &super::Scope) {
        if scope.constant(&name.text).is_some() {
            self.diagnostics.push(complain::hidden_binding(&name.text, name.span));
        }
    }

    /// Warns of names of a piece of code that nothing assigns, and of those that nothing reads.
    pub(super) fn check_names(&mut self, names: &Names) {
        for (name, span) in names.unassigned() {
            self.diagnostics.push(complain::unknown_local(name, span));
        }
        for (name, span) in names.unread() {
            self.diagnostics.push(complain::unread_local(name, span));
        }
    }
}
