//! Arithmetic on all kinds of numbers. Integers of up to 63 bits are computed here, all others
//! in `numeric`.

mod round;
mod single;

use self::round::cut;
use self::single::unary;
use super::{Found1, Given, Machine, Stop};
use crate::heap::Heap;
use crate::numeric::{self, Fault};
use crate::run::methods::{Methods, takes};
use crate::value::Value;
use std::cmp::Ordering;

/// The methods of numbers.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "+@",
            "-@",
            "abs",
            "denominator",
            "finite?",
            "frozen?",
            "infinite?",
            "integer?",
            "magnitude",
            "negative?",
            "nonzero?",
            "numerator",
            "positive?",
            "rationalize",
            "to_f",
            "to_i",
            "to_int",
            "to_r",
            "zero?",
        ],
    ),
    takes(0, 1, &["inspect", "to_d", "to_s"]),
    takes(0, 2, &["ceil", "floor", "round", "step", "truncate"]),
    takes(
        1,
        1,
        &[
            "%",
            "*",
            "**",
            "+",
            "-",
            "/",
            "<",
            "<=",
            ">",
            ">=",
            "coerce",
            "div",
            "divmod",
            "fdiv",
            "modulo",
            "quo",
            "remainder",
        ],
    ),
    takes(1, 2, &["clamp", "pow"]),
    takes(2, 2, &["between?"]),
];

/// The methods of whole numbers alone.
pub(in crate::run) const OF_INTEGERS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "bit_length",
            "chr",
            "even?",
            "next",
            "odd?",
            "ord",
            "pred",
            "size",
            "succ",
            "times",
            "~",
        ],
    ),
    takes(0, 1, &["digits"]),
    takes(
        1,
        1,
        &[
            "&", "<<", ">>", "[]", "^", "allbits?", "anybits?", "downto", "gcd", "lcm", "nobits?",
            "upto", "|",
        ],
    ),
];

/// The methods of `Float` alone.
pub(in crate::run) const OF_FLOATS: &[Methods] =
    &[takes(0, 0, &["nan?", "next_float", "prev_float"])];

/// The methods of `BigDecimal` alone.
pub(in crate::run) const OF_DECIMALS: &[Methods] =
    &[takes(0, 0, &["exponent", "nan?", "to_digits"])];

fn zero() -> Stop {
    Stop::raise("ZeroDivisionError", "divided by 0")
}

fn float(value: &Value) -> Option<f64> {
    numeric::float(value)
}

/// Arithmetic of numbers of which one is beyond 63 bits, or exact with a fraction.
pub(super) fn exact(heap: &Heap, left: &Value, name: &str, right: &Value) -> Found1 {
    numeric::arithmetic(heap, left, name, right).map_err(|fault| match fault {
        Fault::Zero => zero(),
        Fault::Size => Stop::raise("RangeError", "bignum too big to convert"),
    })
}

impl Machine<'_, '_> {
    pub(super) fn number_method(
        &mut self,
        number: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        if let [other] = arguments
            && let Some(found) = binary(heap, number, name, other)?
        {
            return Ok(Some(found));
        }
        if let Some(found) = unary(heap, number, name, arguments)? {
            return Ok(Some(found));
        }
        let named;
        let arguments = match (name, arguments) {
            // `1.step(by: 2, to: 5)`
            ("step", [options @ Value::Hash(_)]) => {
                let option = |name| options.entry(heap, name);
                let Some(to) = option("to").filter(Value::is_number) else {
                    let message = "`step` without an end is not known here".to_string();
                    return Err(Stop::Unknown(message));
                };
                named = [to, option("by").unwrap_or(Value::Int(1))];
                &named[..]
            }
            ("step", []) => {
                let message = "`step` without an end is not known here".to_string();
                return Err(Stop::Unknown(message));
            }
            _ => arguments,
        };
        if let Some(found) = self.float_steps(number, name, arguments, given)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.large_steps(number, name, arguments)? {
            return Ok(Some(found));
        }
        let range = match (name, number, arguments) {
            ("times", Value::Int(count), []) => (0, count.saturating_sub(1), 1),
            ("upto", Value::Int(from), [Value::Int(to)]) => (*from, *to, 1),
            ("downto", Value::Int(from), [Value::Int(to)]) => (*from, *to, -1),
            ("step", Value::Int(from), [Value::Int(to), Value::Int(step)]) if *step != 0 => {
                (*from, *to, *step)
            }
            ("step", Value::Int(from), [Value::Int(to)]) => (*from, *to, 1),
            _ => return Ok(None),
        };
        let (mut at, to, step) = range;
        let mut items = Vec::new();
        while if step > 0 { at <= to } else { at >= to } {
            self.step()?;
            match given {
                Some(given) => drop(self.give_to(given, vec![Value::Int(at)])?),
                None => items.push(Value::Int(at)),
            }
            match at.checked_add(step) {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(Some(if given.is_some() { number.clone() } else { heap.list(items) }))
    }
}

impl Machine<'_, '_> {
    /// Steps from or to a number beyond 63 bits: none, or more than anybody may take.
    fn large_steps(&mut self, number: &Value, name: &str, arguments: &[Value]) -> Found1 {
        let zero = [Value::Int(0)];
        let to = if name == "times" { &zero } else { arguments };
        let [to] = to else { return Ok(None) };
        let is_large = [number, to].iter().any(|one| matches!(one, Value::Big(_)));
        if !is_large || !matches!(name, "times" | "upto" | "downto") {
            return Ok(None);
        }
        let wanted = if name == "upto" { Ordering::Less } else { Ordering::Greater };
        if numeric::order(number, to) == Some(wanted) {
            self.heap.budget().spend(usize::MAX);
            self.heap.check()?;
        }
        Ok(Some(number.clone()))
    }

    /// `1.step(2.0, 0.5)`: the number of steps is computed first, so that errors do not add up.
    fn float_steps(
        &mut self,
        number: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let ("step", [to, rest @ ..]) = (name, arguments) else { return Ok(None) };
        let step = rest.first().cloned().unwrap_or(Value::Int(1));
        let all_whole = [number, to, &step].iter().all(|one| matches!(one, Value::Int(_)));
        let (Some(from), Some(to), Some(step)) = (float(number), float(to), float(&step)) else {
            return Ok(None);
        };
        if all_whole || step == 0.0 {
            return Ok(None);
        }
        let count = ((to - from) / step + f64::EPSILON).floor();
        super::limited(count.max(0.0) as usize)?;
        let mut items = Vec::new();
        for at in 0..=count as i64 {
            self.step()?;
            let value = Value::Float(from + at as f64 * step);
            match given {
                Some(given) if count >= 0.0 => drop(self.give_to(given, vec![value])?),
                None if count >= 0.0 => items.push(value),
                _ => {}
            }
        }
        Ok(Some(if given.is_some() { number.clone() } else { heap.list(items) }))
    }
}

/// Methods of two numbers.
fn binary(heap: &Heap, number: &Value, name: &str, other: &Value) -> Found1 {
    if let (Value::Int(left), Value::Int(right)) = (number, other) {
        return integers(heap, *left, name, *right);
    }
    if number.is_number() && other.is_number() {
        let order = numeric::order(number, other);
        match name {
            "<" => return Ok(Some(Value::Bool(order.is_some_and(|order| order.is_lt())))),
            ">" => return Ok(Some(Value::Bool(order.is_some_and(|order| order.is_gt())))),
            "<=" => return Ok(Some(Value::Bool(order.is_some_and(|order| order.is_le())))),
            ">=" => return Ok(Some(Value::Bool(order.is_some_and(|order| order.is_ge())))),
            _ => {}
        }
    }
    if let Some(found) = exact(heap, number, name, other)? {
        return Ok(Some(found));
    }
    if matches!(name, "allbits?" | "anybits?" | "nobits?")
        && let Some(both) = exact(heap, number, "&", other)?
    {
        return Ok(Some(Value::Bool(match name {
            "allbits?" => both.equals(heap, other),
            "anybits?" => !both.equals_zero(),
            _ => both.equals_zero(),
        })));
    }
    let comparison = matches!(name, "<" | ">" | "<=" | ">=");
    let arithmetic = matches!(name, "+" | "-" | "*" | "/" | "%" | "**");
    let (Some(left), Some(right)) = (float(number), float(other)) else {
        if comparison {
            let message = format!(
                "comparison of {} with {} failed",
                number.class(),
                match other {
                    Value::Nil | Value::Bool(_) => other.inspect(heap),
                    other => other.class().to_string(),
                }
            );
            return Err(Stop::raise("ArgumentError", message));
        }
        if arithmetic {
            let what = super::object::word_of(other);
            let message = format!("{what} can't be coerced into {}", number.class());
            return Err(Stop::raise("TypeError", message));
        }
        return Ok(None);
    };
    Ok(Some(match name {
        "+" => Value::Float(left + right),
        "-" => Value::Float(left - right),
        "*" => Value::Float(left * right),
        "/" | "fdiv" | "quo" => Value::Float(left / right),
        "%" | "modulo" | "divmod" if matches!(other, Value::Int(0)) => return Err(zero()),
        "%" | "modulo" => Value::Float(left - right * (left / right).floor()),
        "**" | "pow" => Value::Float(left.powf(right)),
        "remainder" => Value::Float(left % right),
        "div" => return cut((left / right).floor()).map(Some),
        "divmod" => {
            let quotient = (left / right).floor();
            heap.list(vec![cut(quotient)?, Value::Float(left - right * quotient)])
        }
        _ => return Ok(None),
    }))
}

fn integers(heap: &Heap, left: i64, name: &str, right: i64) -> Found1 {
    let (wide_left, wide_right) = (left as f64, right as f64);
    let large = || exact(heap, &Value::Int(left), name, &Value::Int(right));
    let divided = |left: i64, right: i64| -> Result<i64, Stop> {
        if right == 0 {
            return Err(zero());
        }
        let quotient = left.wrapping_div(right);
        let inexact = left.wrapping_rem(right) != 0;
        Ok(if inexact && (left < 0) != (right < 0) { quotient - 1 } else { quotient })
    };
    Ok(Some(match name {
        "+" => match left.checked_add(right) {
            Some(sum) => Value::Int(sum),
            None => return large(),
        },
        "-" => match left.checked_sub(right) {
            Some(difference) => Value::Int(difference),
            None => return large(),
        },
        "*" => match left.checked_mul(right) {
            Some(product) => Value::Int(product),
            None => return large(),
        },
        "/" | "div" if right == -1 => return exact(heap, &Value::Int(0), "-", &Value::Int(left)),
        "/" | "div" => Value::Int(divided(left, right)?),
        "%" | "modulo" => {
            let quotient = divided(left, right)?;
            Value::Int(left.wrapping_sub(quotient.wrapping_mul(right)))
        }
        "remainder" if right == 0 => return Err(zero()),
        "remainder" => Value::Int(left.wrapping_rem(right)),
        "divmod" => {
            let quotient = divided(left, right)?;
            let rest = left.wrapping_sub(quotient.wrapping_mul(right));
            heap.list(vec![Value::Int(quotient), Value::Int(rest)])
        }
        "fdiv" => Value::Float(wide_left / wide_right),
        "**" | "pow" => match u32::try_from(right).ok().and_then(|power| left.checked_pow(power)) {
            Some(power) => Value::Int(power),
            None => return large(),
        },
        "<" => Value::Bool(left < right),
        ">" => Value::Bool(left > right),
        "<=" => Value::Bool(left <= right),
        ">=" => Value::Bool(left >= right),
        "&" => Value::Int(left & right),
        "|" => Value::Int(left | right),
        "^" => Value::Int(left ^ right),
        "<<" | ">>" | "quo" | "gcd" | "lcm" => return large(),
        "allbits?" => Value::Bool(left & right == right),
        "anybits?" => Value::Bool(left & right != 0),
        "nobits?" => Value::Bool(left & right == 0),
        "[]" if right < 0 => Value::Int(0),
        "[]" => Value::Int(left >> right.min(63) & 1),
        _ => return Ok(None),
    }))
}
