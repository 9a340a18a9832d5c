//! Binary operators: a flat list of operands and operators becomes a tree by precedence climbing.
//! All operators are left-associative; `??` is the loosest of all. Long runs of `or` and of `and` become
//! balanced trees, which mean the same: their operands are evaluated in the same order, and as far.

use super::super::grammar::{Pair, Rule};
use super::super::tree::{BinaryOp, Expr, ExprKind, Path, PathRoot, UnaryOp};
use super::{Builder, OPERATORS_MAX, parts};
use crate::diagnostic::{Diagnostic, codes};
use crate::span::Span;
use std::iter::Peekable;

/// Runs of `or` and of `and` with at least this many operators are balanced.
const BALANCED_MIN: usize = 32;

/// The level of the operators that bind tightest.
const LEVEL_MAX: u8 = 10;

/// An infix operator with its place.
#[derive(Clone, Copy)]
struct Infix {
    /// `None` is `??`.
    op: Option<BinaryOp>,
    span: Span,
}

impl Infix {
    /// How tight it binds; larger is tighter.
    fn level(self) -> u8 {
        self.op.map_or(0, level)
    }

    /// Whether the run that it is in may be balanced.
    fn is_logic(self) -> bool {
        matches!(self.op, Some(BinaryOp::Or | BinaryOp::And))
    }
}

/// How tight an operator binds; larger is tighter, and `??` has level 0.
pub(in crate::syntax) fn level(op: BinaryOp) -> u8 {
    use BinaryOp as Op;
    match op {
        Op::Or => 1,
        Op::Xor => 2,
        Op::And => 3,
        Op::BitXor => 4,
        Op::BitAnd => 5,
        Op::Eq | Op::NotEq => 6,
        Op::Gte | Op::Gt | Op::Lte | Op::Lt => 7,
        Op::Shr | Op::ShrUnsigned | Op::Shl => 8,
        Op::Add | Op::Sub => 9,
        Op::Mul | Op::Div | Op::Mod => 10,
    }
}

impl Builder {
    /// `operand (operator operand)*`, perhaps an `if` whose condition looks like a call.
    pub(super) fn chain(&mut self, pair: Pair) -> Expr {
        let whole = self.span(&pair);
        let infixes = pair.clone().into_inner().filter_map(|part| infix(part.as_rule()));
        let levels: Vec<_> = infixes.map(|op| op.map_or(0, level)).collect();
        let operators = depth(&levels, 0);
        self.depth += operators;
        let expr = if self.depth > OPERATORS_MAX {
            self.report(too_deep(whole));
            Expr { kind: ExprKind::Error, span: whole }
        } else {
            self.flat(pair, whole)
        };
        self.depth -= operators;
        expr
    }

    fn flat(&mut self, pair: Pair, whole: Span) -> Expr {
        let mut operands = Vec::new();
        let mut infixes = Vec::new();
        let mut tail = None;
        for part in parts(pair) {
            match part.as_rule() {
                Rule::if_tail | Rule::iif_tail => tail = Some(part),
                rule => match infix(rule) {
                    Some(op) => infixes.push(Infix { op, span: self.span(&part) }),
                    None => operands.push(self.expr(part)),
                },
            }
        }
        let Some(tail) = tail else { return climb(operands, infixes) };
        if let Some(&Infix { op: Some(sign @ (BinaryOp::Add | BinaryOp::Sub)), span }) =
            infixes.first()
            && matches!(&operands[0].kind, ExprKind::Path(path) if is_bare_if(path))
        {
            infixes.remove(0);
            operands.remove(0);
            let op = if sign == BinaryOp::Add { UnaryOp::Plus } else { UnaryOp::Minus };
            let value = operands.remove(0);
            let signed = span.to(value.span);
            let kind = ExprKind::Unary(op, Box::new(value));
            operands.insert(0, Expr { kind, span: signed });
        } else {
            self.bracketed_condition(&mut operands[0]);
        }
        let condition = climb(operands, infixes);
        let kind = self.if_arms(Some(condition), tail);
        Expr { kind, span: whole }
    }

    /// `if (c).a` was read as a call of `if`; the condition starts with the bracketed `c`.
    fn bracketed_condition(&mut self, first: &mut Expr) {
        if let ExprKind::Path(path) = &mut first.kind
            && let PathRoot::Expr(root) = &mut path.root
        {
            return self.bracketed_condition(root);
        }
        let replacement = match &mut first.kind {
            ExprKind::Call(_, args) if args.len() == 1 => ExprKind::Paren(Box::new(args.remove(0))),
            ExprKind::Unary(_, value) => return self.bracketed_condition(value),
            _ => {
                let message = "an `if` has one condition";
                self.report(Diagnostic::error(codes::IF_CONDITION, first.span, message));
                ExprKind::Error
            }
        };
        first.kind = replacement;
    }
}

/// Too many operators in one expression.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    let message = format!("operators nested more than {OPERATORS_MAX} deep in one expression");
    Diagnostic::error(codes::TOO_DEEP, span, message).with_help("split the expression with `let`")
}

fn is_bare_if(path: &Path) -> bool {
    path.segments.is_empty() && matches!(&path.root, PathRoot::Local(name) if name.text == "if")
}

fn climb(operands: Vec<Expr>, infixes: Vec<Infix>) -> Expr {
    let mut operands = operands.into_iter();
    let mut infixes = infixes.into_iter().peekable();
    climb_from(&mut operands, &mut infixes, 0)
}

/// Reads operators of `level_min` or tighter. Recursion is at most as deep as there are levels.
fn climb_from(
    operands: &mut impl Iterator<Item = Expr>,
    infixes: &mut Peekable<impl Iterator<Item = Infix>>,
    level_min: u8,
) -> Expr {
    let mut left = operands.next().expect("an operator stands between two operands");
    while let Some(infix) = infixes.next_if(|infix| infix.level() >= level_min) {
        let mut run = vec![left, climb_from(operands, infixes, infix.level() + 1)];
        while infix.is_logic() && infixes.next_if(|next| next.op == infix.op).is_some() {
            run.push(climb_from(operands, infixes, infix.level() + 1));
        }
        left = joined(infix.op, run);
    }
    left
}

/// The tree of operands with the same operator between them.
fn joined(op: Option<BinaryOp>, run: Vec<Expr>) -> Expr {
    let count = run.len();
    let mut operands = run.into_iter();
    if count > BALANCED_MIN {
        return balanced(op, &mut operands, count);
    }
    let first = operands.next().expect("an operator stands between two operands");
    operands.fold(first, |left, right| pair_of(op, left, right))
}

/// A tree of the next `count` operands in which both sides of each operator are of about one size.
fn balanced(op: Option<BinaryOp>, operands: &mut impl Iterator<Item = Expr>, count: usize) -> Expr {
    if count == 1 {
        return operands.next().expect("the operands were counted");
    }
    let left = balanced(op, operands, count / 2);
    let right = balanced(op, operands, count - count / 2);
    pair_of(op, left, right)
}

fn pair_of(op: Option<BinaryOp>, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    let (left, right) = (Box::new(left), Box::new(right));
    let kind = match op {
        Some(op) => ExprKind::Binary(op, left, right),
        None => ExprKind::Coalesce(left, right),
    };
    Expr { kind, span }
}

/// How deep the tree of a row of operators is at the most, given how tight each binds; none of them
/// is looser than `loosest`.
fn depth(levels: &[u8], loosest: u8) -> usize {
    if levels.is_empty() || loosest > LEVEL_MAX {
        return 0;
    }
    let count = levels.iter().filter(|one| **one == loosest).count();
    let is_logic = [level(BinaryOp::Or), level(BinaryOp::And)].contains(&loosest);
    let own = if is_logic && count >= BALANCED_MIN {
        (count + 1).next_power_of_two().ilog2() as usize
    } else {
        count
    };
    let operands = levels.split(|one| *one == loosest);
    own + operands.map(|inner| depth(inner, loosest + 1)).max().unwrap_or(0)
}

/// The operator of a token; the inner `None` is `??`.
fn infix(rule: Rule) -> Option<Option<BinaryOp>> {
    match rule {
        Rule::op_coalesce => Some(None),
        rule => binary(rule).map(Some),
    }
}

/// The binary operator that a token stands for.
pub(super) fn binary(rule: Rule) -> Option<BinaryOp> {
    use BinaryOp as Op;
    Some(match rule {
        Rule::op_or => Op::Or,
        Rule::op_xor => Op::Xor,
        Rule::op_and => Op::And,
        Rule::op_bitxor => Op::BitXor,
        Rule::op_bitand => Op::BitAnd,
        Rule::op_eq => Op::Eq,
        Rule::op_noteq => Op::NotEq,
        Rule::op_gte => Op::Gte,
        Rule::op_gt => Op::Gt,
        Rule::op_lte => Op::Lte,
        Rule::op_lt => Op::Lt,
        Rule::op_shr => Op::Shr,
        Rule::op_shru => Op::ShrUnsigned,
        Rule::op_shl => Op::Shl,
        Rule::op_add => Op::Add,
        Rule::op_sub => Op::Sub,
        Rule::op_mul => Op::Mul,
        Rule::op_div => Op::Div,
        Rule::op_mod => Op::Mod,
        _ => return None,
    })
}
