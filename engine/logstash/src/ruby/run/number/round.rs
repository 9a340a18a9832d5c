//! Numbers rounded: to whole ones, or to places behind the point.

use super::super::{Answer, Stop};
use crate::ruby::numeric;
use crate::ruby::value::Value;

/// A number with a fraction as a whole one.
pub(super) fn cut(number: f64) -> Answer {
    if !number.is_finite() {
        return Err(Stop::raise("FloatDomainError", crate::datum::float_text(number)));
    }
    let fits = (i64::MIN as f64..i64::MAX as f64).contains(&number);
    if fits {
        return Ok(Value::Int(number as i64));
    }
    let whole = numeric::ratio(&Value::Float(number)).map(|(numerator, _)| numerator);
    Ok(whole.map_or(Value::Nil, numeric::whole))
}

/// To so many places behind the point, or before it.
pub(super) fn rounded(number: &Value, name: &str, places: i64) -> Answer {
    let apply = |number: f64| match name {
        "round" => number.round(),
        "floor" => number.floor(),
        "ceil" => number.ceil(),
        _ => number.trunc(),
    };
    let places = i32::try_from(places).unwrap_or(0).clamp(-18, 18);
    match number {
        Value::Int(whole) if places >= 0 => Ok(Value::Int(*whole)),
        Value::Int(whole) => {
            let scale = 10_f64.powi(-places);
            cut(apply(*whole as f64 / scale) * scale)
        }
        Value::Float(float) if places > 0 => Ok(Value::Float(to_places(*float, name, places))),
        Value::Float(float) => {
            let scale = 10_f64.powi(-places);
            cut(apply(float / scale) * scale)
        }
        _ => Ok(Value::Nil),
    }
}

/// To so many places behind the point, as Ruby does: a step back where the scaling has crossed a border.
fn to_places(number: f64, name: &str, places: i32) -> f64 {
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
