//! What is known of the kinds of values before anything runs, and warnings about what can only
//! fail or never be equal. A kind is told only when it is certain, so a warning is never wrong.

use super::inference::{Origins, Question, operand, operands};
use super::names::Names;
use super::{Compiler, complain};
use crate::builtin::Function;
use crate::program::{Binary, Comprehension, Expr, Pattern, Root, Segment};
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
        Expr::CallUser(function, ..) => function.returns,
        Expr::For(comprehension) => gathered(comprehension),
        Expr::Path(path) if matches!(path.segments.last(), Some(Segment::Range(..))) => Kind::Array,
        Expr::Path(path) if path.segments.is_empty() && matches!(path.root, Root::Meta) => {
            Kind::Record
        }
        _ => Kind::Any,
    }
}

/// What a loop gives: an array, or its sum behind `into`.
fn gathered(comprehension: &Comprehension) -> Kind {
    match (&comprehension.into, comprehension.fold.unwrap_or(BinaryOp::Add)) {
        (None, _) => Kind::Array,
        (Some(into), BinaryOp::Add) => match kind(into) {
            container @ (Kind::Array | Kind::Record | Kind::String) => container,
            _ => Kind::Any,
        },
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
        Op::Add => sum(kind(&binary.left), kind(&binary.right)),
        Op::BitAnd | Op::BitXor => Kind::Any,
    }
}

/// What `+` makes of two kinds: strings, arrays and records stay what they are.
fn sum(left: Kind, right: Kind) -> Kind {
    match (left, right) {
        (Kind::String | Kind::Array | Kind::Record, _) => left,
        (_, Kind::String | Kind::Array | Kind::Record) => right,
        _ if left.fits(Kind::Number) || right.fits(Kind::Number) => Kind::Number,
        _ => Kind::Any,
    }
}

/// Where a value comes from; a field of the event that was assigned before has the kind of that.
fn origins(expr: &Expr, names: &Names) -> Origins {
    match expr {
        Expr::Path(path) => {
            names.assigned_kind(path).map_or_else(|| Origins::of(expr), Origins::one)
        }
        _ => Origins::of(expr),
    }
}

impl Compiler<'_> {
    /// Warns of operands that an operator never takes, and of comparisons without a question.
    pub(super) fn check_operands(&mut self, binary: &Binary, names: &mut Names) {
        let (left, right) = (origins(&binary.left, names), origins(&binary.right, names));
        if let BinaryOp::Eq | BinaryOp::NotEq = binary.op {
            self.ask(Question::Equal(left, right), binary.span, names);
            return;
        }
        let is_decided = match (binary.op, binary.left.as_constant()) {
            (BinaryOp::Or, Some(Value::Bool(left))) => left,
            (BinaryOp::And, Some(Value::Bool(left))) => !left,
            _ => false,
        };
        for (side, origins) in [("left", left), ("right", right)] {
            if is_decided && side == "right" {
                continue;
            }
            let what = format!("the {side} operand of `{}`", binary.op.text());
            let question = Question::Taken(origins, operands(binary.op), what);
            self.ask(question, binary.span, names);
        }
    }

    /// Warns of an operand that a prefix operator never takes.
    pub(super) fn check_operand(
        &mut self,
        op: UnaryOp,
        value: &Expr,
        span: Span,
        names: &mut Names,
    ) {
        let what = format!("the operand of `{}`", op.text());
        self.ask(Question::Taken(origins(value, names), operand(op), what), span, names);
    }

    /// Warns of arguments that a function never takes.
    pub(super) fn check_arguments(
        &mut self,
        function: &'static Function,
        arguments: &[Expr],
        trees: &[tree::Expr],
        names: &mut Names,
    ) {
        let params = function.params.iter();
        for ((argument, tree), (name, wanted)) in arguments.iter().zip(trees).zip(params) {
            let path = function.path.strip_prefix("std::").unwrap_or(function.path);
            let what = format!("the argument `{name}` of {path}");
            let wanted = std::slice::from_ref(wanted);
            self.ask(Question::Taken(origins(argument, names), wanted, what), tree.span, names);
        }
    }

    /// Warns of a pattern that the target of a match never fits.
    pub(super) fn check_pattern(
        &mut self,
        target: &Origins,
        pattern: &Pattern,
        span: Span,
        names: &mut Names,
    ) {
        let question = match pattern {
            Pattern::Any => return,
            Pattern::Expr(expr) => Question::Equal(target.clone(), Origins::of(expr)),
            Pattern::Test(_) => {
                Question::Matches(target.clone(), Kind::String, "a test, which takes strings")
            }
            Pattern::Record(_) => {
                Question::Matches(target.clone(), Kind::Record, "a pattern of records")
            }
            Pattern::Array(_) | Pattern::Tuple(..) => {
                Question::Matches(target.clone(), Kind::Array, "a pattern of arrays")
            }
        };
        self.ask(question, span, names);
    }

    /// Reports the name of a lookup table that there will not be, when all of them are known.
    pub(super) fn check_table(
        &mut self,
        function: &Function,
        arguments: &[Expr],
        trees: &[tree::Expr],
    ) {
        let asks = matches!(function.path, "std::lookup::get" | "std::lookup::has");
        let Some(tables) = self.tables.as_ref().filter(|_| asks) else { return };
        let (Some(argument), Some(tree)) = (arguments.first(), trees.first()) else { return };
        let Some(name) = argument.as_constant().and_then(Value::as_str) else { return };
        if !tables.contains(name) {
            let known = tables.iter().map(String::as_str);
            self.diagnostics.push(complain::unknown_table(name, tree.span, known));
        }
    }

    /// Warns of a guard or condition that is never a bool.
    pub(super) fn check_condition(&mut self, condition: &Expr, span: Span, names: &mut Names) {
        self.ask(Question::Condition(origins(condition, names)), span, names);
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
        self.answer(names);
        self.check_fields_of_locals(names);
        for (name, span) in names.unread() {
            self.diagnostics.push(complain::unread_local(name, span));
        }
    }
}
