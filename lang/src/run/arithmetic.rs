//! Operators on values. Integers are exact or an error, `/` always gives a float, and nothing is
//! converted silently but integers that no common integer type holds.

use super::failure;
use crate::error::EvalError;
use crate::span::Span;
use crate::syntax::tree::{BinaryOp, UnaryOp};
use crate::value::{Arena, NotOrdered, RecordBuilder, Value, order};
use std::cmp::Ordering;

type Result<T> = std::result::Result<T, EvalError>;

/// Bits of an integer; shifts must be by less.
const INTEGER_BITS: u64 = 64;

pub(crate) fn unary(op: UnaryOp, value: Value<'_>, span: Span) -> Result<Value<'_>> {
    let result = match (op, value) {
        (UnaryOp::Plus, Value::Int(_) | Value::UInt(_) | Value::Float(_)) => Some(value),
        (UnaryOp::Minus, Value::Float(number)) => Some(Value::Float(-number)),
        (UnaryOp::Minus, Value::Int(number)) => number.checked_neg().map(Value::Int),
        (UnaryOp::Minus, Value::UInt(number)) => {
            i64::try_from(-i128::from(number)).ok().map(Value::Int)
        }
        (UnaryOp::Not | UnaryOp::BitNot, Value::Bool(value)) => Some(Value::Bool(!value)),
        (UnaryOp::BitNot, Value::Int(number)) => Some(Value::Int(!number)),
        (UnaryOp::BitNot, Value::UInt(number)) => Some(Value::UInt(!number)),
        _ => None,
    };
    result.ok_or_else(|| failure::unary(op.text(), value.kind(), span))
}

pub(crate) fn binary<'a>(
    op: BinaryOp,
    left: Value<'a>,
    right: Value<'a>,
    span: Span,
    arena: &'a Arena,
) -> Result<Value<'a>> {
    use BinaryOp as Op;
    match op {
        Op::Eq => Ok(Value::Bool(arena.equal(left, right))),
        Op::NotEq => Ok(Value::Bool(!arena.equal(left, right))),
        Op::Gte | Op::Gt | Op::Lte | Op::Lt => {
            compare(op, left, right, span, arena).map(Value::Bool)
        }
        Op::Add => add(left, right, span, arena),
        Op::Sub | Op::Mul => arithmetic(op, left, right, span),
        Op::Div => divide(left, right, span),
        Op::Mod => remainder(left, right, span),
        Op::BitXor | Op::BitAnd => bits(op, left, right, span),
        Op::Shl | Op::Shr | Op::ShrUnsigned => shift(op, left, right, span),
        Op::Or | Op::Xor | Op::And => logic(op, left, right, span),
    }
}

#[cold]
fn undefined(op: BinaryOp, left: Value<'_>, right: Value<'_>, span: Span) -> EvalError {
    failure::binary(op.text(), left.kind(), right.kind(), span)
}

pub(super) fn compare(
    op: BinaryOp,
    left: Value<'_>,
    right: Value<'_>,
    span: Span,
    arena: &Arena,
) -> Result<bool> {
    match op {
        BinaryOp::Eq => return Ok(arena.equal(left, right)),
        BinaryOp::NotEq => return Ok(!arena.equal(left, right)),
        _ => {}
    }
    let order = order(left, right).map_err(|NotOrdered| undefined(op, left, right, span))?;
    Ok(match op {
        BinaryOp::Gte => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        BinaryOp::Gt => order == Some(Ordering::Greater),
        BinaryOp::Lte => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        _ => order == Some(Ordering::Less),
    })
}

/// Both as u64, else both as i64, else both as f64.
enum Pair {
    Unsigned(u64, u64),
    Signed(i64, i64),
    Floats(f64, f64),
}

fn pair(left: Value<'_>, right: Value<'_>) -> Option<Pair> {
    if let (Some(left), Some(right)) = (left.as_u64(), right.as_u64()) {
        return Some(Pair::Unsigned(left, right));
    }
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) {
        return Some(Pair::Signed(left, right));
    }
    Some(Pair::Floats(left.as_f64()?, right.as_f64()?))
}

fn arithmetic<'a>(
    op: BinaryOp,
    left: Value<'a>,
    right: Value<'a>,
    span: Span,
) -> Result<Value<'a>> {
    let result = match pair(left, right) {
        None => return Err(undefined(op, left, right, span)),
        Some(Pair::Floats(l, r)) => Some(Value::Float(match op {
            BinaryOp::Add => l + r,
            BinaryOp::Sub => l - r,
            _ => l * r,
        })),
        Some(Pair::Signed(l, r)) => match op {
            BinaryOp::Add => l.checked_add(r),
            BinaryOp::Sub => l.checked_sub(r),
            _ => l.checked_mul(r),
        }
        .map(Value::Int),
        Some(Pair::Unsigned(l, r)) => match op {
            BinaryOp::Add => l.checked_add(r).map(Value::UInt),
            BinaryOp::Sub => subtract(l, r),
            _ => l.checked_mul(r).map(Value::UInt),
        },
    };
    result.ok_or_else(|| failure::overflow(op.text(), left, right, span))
}

/// Below zero the difference goes on as a signed integer, if its magnitude fits one: the least
/// signed integer is not reached.
fn subtract<'a>(left: u64, right: u64) -> Option<Value<'a>> {
    match left.checked_sub(right) {
        Some(difference) => Some(Value::UInt(difference)),
        None => i64::try_from(right - left).ok().map(|difference| Value::Int(-difference)),
    }
}

fn add<'a>(left: Value<'a>, right: Value<'a>, span: Span, arena: &'a Arena) -> Result<Value<'a>> {
    if let (Value::Str(l), Value::Str(r)) = (left, right) {
        return Ok(Value::Str(arena.concat(l, r)));
    }
    if let (Some(l), Some(r)) = (left.as_array(arena), right.as_array(arena)) {
        let mut items = arena.array_builder(l.len() + r.len());
        items.extend(l);
        items.extend(r);
        return Ok(items.finish());
    }
    if let (Some(l), Some(r)) = (left.as_record(arena), right.as_record(arena)) {
        let mut record = RecordBuilder::from_record(arena, l, r.len());
        r.iter().for_each(|(key, value)| record.insert(key, value));
        return Ok(record.finish());
    }
    arithmetic(BinaryOp::Add, left, right, span)
}

fn divide<'a>(left: Value<'a>, right: Value<'a>, span: Span) -> Result<Value<'a>> {
    let (Some(l), Some(r)) = (left.as_f64(), right.as_f64()) else {
        return Err(undefined(BinaryOp::Div, left, right, span));
    };
    let integers = !matches!(left, Value::Float(_)) && !matches!(right, Value::Float(_));
    if integers && r == 0.0 {
        return Err(failure::zero_divisor("/", span));
    }
    Ok(Value::Float(l / r))
}

fn remainder<'a>(left: Value<'a>, right: Value<'a>, span: Span) -> Result<Value<'a>> {
    match pair(left, right) {
        Some(Pair::Unsigned(_, 0) | Pair::Signed(_, 0)) => Err(failure::zero_divisor("%", span)),
        Some(Pair::Unsigned(l, r)) => Ok(Value::UInt(l % r)),
        // The one overflow, i64::MIN % -1, is mathematically 0.
        Some(Pair::Signed(l, r)) => Ok(Value::Int(l.checked_rem(r).unwrap_or(0))),
        _ => Err(undefined(BinaryOp::Mod, left, right, span)),
    }
}

fn bits<'a>(op: BinaryOp, left: Value<'a>, right: Value<'a>, span: Span) -> Result<Value<'a>> {
    let and = op == BinaryOp::BitAnd;
    if let (Value::Bool(l), Value::Bool(r)) = (left, right) {
        return Ok(Value::Bool(if and { l & r } else { l ^ r }));
    }
    match pair(left, right) {
        Some(Pair::Unsigned(l, r)) => Ok(Value::UInt(if and { l & r } else { l ^ r })),
        Some(Pair::Signed(l, r)) => Ok(Value::Int(if and { l & r } else { l ^ r })),
        _ => Err(undefined(op, left, right, span)),
    }
}

fn shift<'a>(op: BinaryOp, left: Value<'a>, right: Value<'a>, span: Span) -> Result<Value<'a>> {
    let (Value::Int(_) | Value::UInt(_), Value::Int(_) | Value::UInt(_)) = (left, right) else {
        return Err(undefined(op, left, right, span));
    };
    let by = right.as_u64().filter(|by| *by < INTEGER_BITS);
    let by = by.ok_or_else(|| failure::bad_shift(span))?;
    Ok(match (op, left) {
        (BinaryOp::Shl, Value::UInt(number)) => Value::UInt(number << by),
        (BinaryOp::Shl, Value::Int(number)) => Value::Int(number << by),
        (BinaryOp::Shr, Value::Int(number)) => Value::Int(number >> by),
        // Bits from the left are zero, and a shift by no bits changes nothing.
        (_, Value::Int(number)) => Value::Int((number.cast_unsigned() >> by).cast_signed()),
        (_, Value::UInt(number)) => Value::UInt(number >> by),
        _ => unreachable!("both are integers"),
    })
}

fn logic<'a>(op: BinaryOp, left: Value<'a>, right: Value<'a>, span: Span) -> Result<Value<'a>> {
    let (Value::Bool(l), Value::Bool(r)) = (left, right) else {
        return Err(undefined(op, left, right, span));
    };
    Ok(Value::Bool(match op {
        BinaryOp::Or => l || r,
        BinaryOp::And => l && r,
        _ => l != r,
    }))
}
