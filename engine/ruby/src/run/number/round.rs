//! Rounding, to integers or to a number of decimals.

use super::super::{Answer, Stop};
use crate::heap::Heap;
use crate::numeric;
use crate::value::Value;
use std::cmp::Ordering;

/// A number with a fraction as a whole one.
pub(super) fn cut(number: f64) -> Answer {
    if !number.is_finite() {
        return Err(Stop::raise(
            "FloatDomainError",
            temblor_logstash_event::datum::float_text(number),
        ));
    }
    let fits = (i64::MIN as f64..i64::MAX as f64).contains(&number);
    if fits {
        return Ok(Value::Int(number as i64));
    }
    let whole = numeric::ratio(&Value::Float(number)).map(|(numerator, _)| numerator);
    Ok(whole.map_or(Value::Nil, numeric::whole))
}

/// How halves are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// Away from 0, as usual.
    Up,
    /// To the even digit.
    Even,
    /// Towards 0.
    Down,
}

impl Half {
    /// `half: :even` among the options.
    pub(super) fn of(heap: &Heap, options: &[Value]) -> Result<Self, Stop> {
        let half = options.iter().find_map(|one| one.entry(heap, "half")).unwrap_or_default();
        match half.print(heap).as_str() {
            "" | "up" => Ok(Half::Up),
            "even" => Ok(Half::Even),
            "down" => Ok(Half::Down),
            other => Err(Stop::raise("ArgumentError", format!("invalid rounding mode: {other}"))),
        }
    }

    /// A number with a fraction as a whole one.
    fn round(self, number: f64) -> f64 {
        match self {
            Half::Up => number.round(),
            Half::Even => number.round_ties_even(),
            Half::Down if number.fract().abs() == 0.5 => number.trunc(),
            Half::Down => number.round(),
        }
    }
}

/// To so many places behind the point, or before it.
pub(super) fn rounded(number: &Value, name: &str, places: i64, half: Half) -> Answer {
    let apply = |number: f64| match name {
        "round" => half.round(number),
        "floor" => number.floor(),
        "ceil" => number.ceil(),
        _ => number.trunc(),
    };
    match number {
        Value::Int(whole) if places >= 0 => Ok(Value::Int(*whole)),
        Value::Int(whole) => Ok(whole_rounded(*whole, name, places.unsigned_abs(), half)),
        Value::Float(float) => {
            let places = i32::try_from(places).unwrap_or(i32::MIN).clamp(-400, 400);
            if places > 0 {
                return Ok(Value::Float(to_places(*float, name, places, half)));
            }
            if places == 0 {
                return cut(apply(*float));
            }
            let whole = cut(float.trunc())?;
            match whole {
                Value::Int(_) if float.fract() == 0.0 => rounded(&whole, name, places.into(), half),
                _ => cut(apply(float / 10_f64.powi(-places)) * 10_f64.powi(-places)),
            }
        }
        _ => Ok(Value::Nil),
    }
}

/// A whole number with so many zeros at its end.
fn whole_rounded(number: i64, name: &str, zeros: u64, half: Half) -> Value {
    let Some(unit) = u32::try_from(zeros).ok().and_then(|zeros| 10_i128.checked_pow(zeros)) else {
        return Value::Int(0);
    };
    let number = i128::from(number);
    let (below, rest) = (number.div_euclid(unit), number.rem_euclid(unit));
    let up = match name {
        "floor" => false,
        "ceil" => rest > 0,
        "round" => match (2 * rest).cmp(&unit) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => match half {
                Half::Up => number > 0,
                Half::Down => number < 0,
                Half::Even => below % 2 != 0,
            },
        },
        _ => number < 0 && rest > 0,
    };
    numeric::whole(((below + i128::from(up)) * unit).into())
}

/// To so many places behind the point, as Ruby does: a step back where the scaling has crossed a border.
fn to_places(number: f64, name: &str, places: i32, half: Half) -> f64 {
    /// Places that a number with a binary point can have.
    const PLACES_MAX: i32 = 15;
    let exponent = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
    if places + exponent >= PLACES_MAX || !number.is_finite() {
        return number;
    }
    let scale = 10_f64.powi(places);
    let scaled = number * scale;
    match name {
        "floor" => {
            let whole = scaled.floor();
            if (whole + 1.0) / scale > number { whole / scale } else { (whole + 1.0) / scale }
        }
        "ceil" => {
            let whole = scaled.ceil();
            if (whole - 1.0) / scale < number { whole / scale } else { (whole - 1.0) / scale }
        }
        "round" if half != Half::Up => half.round(scaled) / scale,
        "round" => {
            let whole = scaled.round();
            let further = whole + 0.5_f64.copysign(number);
            let crossed = match number > 0.0 {
                true => further / scale <= number,
                false => further / scale >= number,
            };
            let whole =
                if crossed && number != 0.0 { whole + 1_f64.copysign(number) } else { whole };
            whole / scale
        }
        _ => scaled.trunc() / scale,
    }
}
