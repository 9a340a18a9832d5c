//! Decimal numbers of any length, as `BigDecimal` has them, and division that rounds down.
//!
//! Invariant: no number is longer than [`BITS_MAX`] says.

use num_bigint::{BigInt, Sign};
use std::fmt;

/// Bits of a whole number.
pub(crate) const BITS_MAX: u64 = 1 << 16;
/// Places that are rounded away at once.
const PLACES_MAX: i64 = 1 << 14;
/// A decimal number: `digits` times ten to the minus `scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    pub(crate) digits: BigInt,
    pub(crate) scale: i64,
}

impl Decimal {
    /// Without noughts at the end.
    pub(crate) fn of(mut digits: BigInt, mut scale: i64) -> Self {
        let (zero, ten) = (BigInt::from(0), BigInt::from(10));
        if digits == zero {
            return Self { digits, scale: 0 };
        }
        while &digits % &ten == zero {
            digits /= &ten;
            scale -= 1;
        }
        Self { digits, scale }
    }

    /// `1.5`, `-2e3`; nothing when the text begins with no number.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i64>().ok()?),
            None => (text, 0),
        };
        if power.unsigned_abs() > BITS_MAX / 4 || mantissa.len() as u64 > BITS_MAX / 4 {
            return None;
        }
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = format!("{whole}{fraction}").replace('_', "").parse().ok()?;
        Some(Self::of(digits, fraction.len() as i64 - power))
    }

    /// Both with as many digits behind the point.
    pub(crate) fn aligned(&self, other: &Self) -> (BigInt, BigInt, i64) {
        let scale = self.scale.max(other.scale);
        let at = |one: &Self| &one.digits * power_of_ten(scale - one.scale);
        (at(self), at(other), scale)
    }

    /// With so many digits behind the point, rounded as `how` says.
    pub(crate) fn rounded(&self, places: i64, how: &str) -> Self {
        // Further in front of the point there is nothing but noughts.
        let places = places.max(self.scale.saturating_sub(PLACES_MAX));
        if self.scale <= places {
            return self.clone();
        }
        let unit = power_of_ten(self.scale - places);
        let (quotient, rest) = (floor_div(&self.digits, &unit), floor_mod(&self.digits, &unit));
        let twice: BigInt = &rest * 2;
        let zero = BigInt::from(0);
        let up = match how {
            "floor" => false,
            "ceil" => rest != zero,
            "truncate" => self.digits.sign() == Sign::Minus && rest != zero,
            _ if self.digits.sign() == Sign::Minus => twice > unit,
            _ => twice >= unit,
        };
        Self::of(quotient + i64::from(up), places)
    }

    /// `12.5`, as `to_s("F")` has it.
    pub(crate) fn plain(&self) -> String {
        let digits = self.digits.magnitude().to_string();
        let sign = if self.digits.sign() == Sign::Minus { "-" } else { "" };
        if self.scale <= 0 {
            let noughts = "0".repeat(usize::try_from(-self.scale).unwrap_or(0));
            return format!("{sign}{digits}{noughts}.0");
        }
        let places = usize::try_from(self.scale).unwrap_or(0);
        let filled = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = filled.split_at(filled.len() - places);
        format!("{sign}{whole}.{fraction}")
    }
}

/// `0.125e2`
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits.magnitude().to_string();
        let sign = if self.digits.sign() == Sign::Minus { "-" } else { "" };
        if self.digits.sign() == Sign::NoSign {
            return f.write_str("0.0");
        }
        write!(f, "{sign}0.{digits}e{}", digits.len() as i64 - self.scale)
    }
}

pub(crate) fn power_of_ten(power: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(power).unwrap_or(0))
}

pub(crate) fn abs(number: &BigInt) -> BigInt {
    BigInt::from(number.magnitude().clone())
}

pub(crate) fn floor_div(left: &BigInt, right: &BigInt) -> BigInt {
    let (quotient, rest) = (left / right, left % right);
    let inexact = rest.sign() != Sign::NoSign && (rest.sign() != right.sign());
    if inexact { quotient - 1 } else { quotient }
}

pub(crate) fn floor_mod(left: &BigInt, right: &BigInt) -> BigInt {
    left - floor_div(left, right) * right
}
