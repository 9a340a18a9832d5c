//! Number literals: integers, floats, durations (nanoseconds) and sizes (bytes). A number that
//! does not fit is reported and becomes an error node.

use super::super::grammar::{Pair, Rule};
use super::super::tree::{BytesPart, Expr, ExprKind};
use super::Builder;
use crate::diagnostic::{Diagnostic, codes};
use crate::units;

/// The widest integer that a bytes literal can write, in bits.
const BYTES_BITS_MAX: u64 = 64;

/// The spellings behind the slash of a bytes literal.
const BYTES_KINDS: [&str; 13] = [
    "integer",
    "big",
    "unsigned",
    "big_integer",
    "unsigned_integer",
    "big_unsigned_integer",
    "signed_integer",
    "big_signed_integer",
    "little",
    "little_integer",
    "little_unsigned_integer",
    "little_signed_integer",
    "binary",
];

impl Builder {
    pub(super) fn number(&mut self, pair: Pair) -> Expr {
        let span = self.span(&pair);
        let text = pair.as_str().replace('_', "");
        let kind = match pair.as_rule() {
            Rule::float => text.parse().ok().map(ExprKind::Float),
            Rule::hex => u64::from_str_radix(&text[2..], 16).ok().map(ExprKind::Int),
            Rule::quantity => quantity(&text).map(ExprKind::Int),
            _ => text.parse().ok().map(ExprKind::Int),
        };
        let kind = kind.unwrap_or_else(|| {
            self.report(
                Diagnostic::error(codes::INVALID_INTEGER, span, "this integer does not fit")
                    .with_label(format!("larger than {}", u64::MAX))
                    .with_help("integers have 64 bits; write a float (`1.0e20`) for more"),
            );
            ExprKind::Error
        });
        Expr { kind, span }
    }

    /// The size of a part of a bytes literal; whether it is in range is checked with its type.
    pub(super) fn bits(&mut self, pair: &Pair) -> u64 {
        let text = pair.as_str().replace('_', "");
        let size = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        size.unwrap_or(u64::MAX)
    }

    pub(super) fn check_bytes_part(&mut self, part: &BytesPart) {
        if let Some((size, span)) = part.size
            && !(1..=BYTES_BITS_MAX).contains(&size)
        {
            let message = format!("the size of a part must be 1 to {BYTES_BITS_MAX}");
            self.report(Diagnostic::error(codes::BYTES_SIZE, span, message));
        }
        if let Some(kind) = &part.kind
            && !BYTES_KINDS.contains(&kind.text.as_str())
        {
            let message = format!("`{}` is no type of a bytes literal", kind.text);
            self.report(
                Diagnostic::error(codes::BYTES_KIND, kind.span, message)
                    .with_label("unknown type")
                    .with_help("use `integer`, `little`, `signed_integer`, `little_signed_integer` or `binary`")
                    .with_nearest(&kind.text, BYTES_KINDS),
            );
        }
    }
}

/// Digits behind the point of a quantity that count.
const PLACES_MAX: usize = 18;

/// `10s`, `1.5MiB`: exact, but for what is less than a nanosecond or byte, which is rounded.
fn quantity(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(split);
    let (whole, places) = number.split_once('.').unwrap_or((number, ""));
    let scale = units::scale(unit)?;
    let places = &places[..places.len().min(PLACES_MAX)];
    let unit_of_places = 10_u128.pow(u32::try_from(places.len()).ok()?);
    let part = if places.is_empty() { 0 } else { places.parse::<u128>().ok()? };
    let part = (part * u128::from(scale) + unit_of_places / 2) / unit_of_places;
    let whole = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    whole.checked_add(u64::try_from(part).ok()?)
}
