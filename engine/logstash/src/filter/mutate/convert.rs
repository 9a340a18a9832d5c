//! Types of fields. Texts that are no numbers fail, as they do since Logstash 8.14.

use crate::filter::ruby_to_s;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;

/// What a field is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Integer,
    IntegerEu,
    Float,
    FloatEu,
    Boolean,
    String,
}

/// A value that cannot be converted.
#[derive(Debug)]
pub(super) struct NotConverted;

impl Target {
    pub(super) const NAMES: [&str; 6] =
        ["string", "integer", "float", "boolean", "integer_eu", "float_eu"];

    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "integer" => Target::Integer,
            "integer_eu" => Target::IntegerEu,
            "float" => Target::Float,
            "float_eu" => Target::FloatEu,
            "boolean" => Target::Boolean,
            "string" => Target::String,
            _ => return None,
        })
    }

    /// Converts a value, or the values in a list; maps stay.
    pub(super) fn convert<'a>(
        self,
        value: &mut Datum<'a>,
        arena: &'a Arena,
    ) -> Result<(), NotConverted> {
        match value {
            Datum::Map(_) | Datum::Null => Ok(()),
            Datum::List(items) => {
                items.iter_mut().try_for_each(|item| self.convert_one(item, arena))
            }
            one => self.convert_one(one, arena),
        }
    }

    fn convert_one<'a>(self, value: &mut Datum<'a>, arena: &'a Arena) -> Result<(), NotConverted> {
        *value = match self {
            Target::String => match &*value {
                Datum::List(_) | Datum::Map(_) => Datum::Str(arena.str(&ruby_to_s(value))),
                scalar => Datum::Str(scalar.text_in(arena)),
            },
            Target::Boolean => match boolean(value) {
                Some(truth) => Datum::Bool(truth),
                None => return Ok(()),
            },
            Target::Integer => integer(value, false)?,
            Target::IntegerEu => integer(value, true)?,
            Target::Float => float(value, false)?,
            Target::FloatEu => float(value, true)?,
        };
        Ok(())
    }
}

fn boolean(value: &Datum<'_>) -> Option<bool> {
    let text = match value {
        Datum::Bool(truth) => return Some(*truth),
        Datum::Null | Datum::Int(_) | Datum::Float(_) | Datum::Str(_) => {
            value.text().to_lowercase()
        }
        _ => return None,
    };
    // A line of the text is enough, and the point of `1.0` may be anything.
    let says = |words: &[&str], digit: char| {
        text.split('\n').any(|line| {
            let mut rest = line.strip_prefix(digit).unwrap_or_default().chars();
            let decimal = rest.next().is_some() && rest.as_str() == "0";
            words.contains(&line) || decimal
        })
    };
    if says(&["true", "t", "yes", "y", "1"], '1') {
        return Some(true);
    }
    (text.is_empty() || says(&["false", "f", "no", "n", "0"], '0')).then_some(false)
}

/// A text as a number in plain notation.
fn clean(text: &str, european: bool) -> String {
    let text = text.trim().to_lowercase();
    if european {
        let swap = |character| match character {
            '.' => None,
            ',' => Some('.'),
            other => Some(other),
        };
        return text.chars().filter_map(swap).collect();
    }
    text.replace(',', "")
}

fn integer<'a>(value: &Datum<'_>, european: bool) -> Result<Datum<'a>, NotConverted> {
    match value {
        Datum::Null => Ok(Datum::Int(0)),
        Datum::Time(time) => Ok(Datum::Int(time.timestamp())),
        Datum::Bool(truth) => Ok(Datum::Int(i64::from(*truth))),
        Datum::Int(number) => Ok(Datum::Int(*number)),
        Datum::UInt(number) => Ok(Datum::UInt(*number)),
        Datum::Float(number) => Ok(truncated(*number)),
        Datum::Str(text) => {
            // Digits alone, as nearly always, need no cleaning.
            if text.bytes().all(|byte| byte.is_ascii_digit())
                && let Ok(number) = text.parse()
            {
                return Ok(Datum::Int(number));
            }
            let text = clean(text, european);
            if let Ok(number) = text.parse() {
                return Ok(Datum::Int(number));
            }
            if let Ok(number) = text.parse() {
                return Ok(Datum::UInt(number));
            }
            read_float(&text).map(truncated).ok_or(NotConverted)
        }
        _ => Err(NotConverted),
    }
}

fn truncated<'a>(number: f64) -> Datum<'a> {
    /// The first number that is no `u64`.
    const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
    let number = number.trunc();
    if number >= i64::MIN as f64 && number < i64::MAX as f64 {
        Datum::Int(number as i64)
    } else if (0.0..TWO_TO_64).contains(&number) {
        Datum::UInt(number as u64)
    } else {
        // Logstash would keep all digits of such a number.
        Datum::Float(number)
    }
}

fn float<'a>(value: &Datum<'_>, european: bool) -> Result<Datum<'a>, NotConverted> {
    Ok(Datum::Float(match value {
        Datum::Null => 0.0,
        Datum::Time(time) => time.timestamp_micros() as f64 / 1e6,
        Datum::Bool(truth) => f64::from(u8::from(*truth)),
        Datum::Int(number) => *number as f64,
        Datum::UInt(number) => *number as f64,
        Datum::Float(number) => *number,
        Datum::Str(text) => read_float(&clean(text, european)).ok_or(NotConverted)?,
        _ => return Err(NotConverted),
    }))
}

/// `-1.5e3`, `0x1.8p3`
fn read_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let Some(hex) = unsigned.strip_prefix("0x") {
        let size = read_hex(hex)?;
        return Some(if text.starts_with('-') { -size } else { size });
    }
    let plain = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    if plain { text.parse().ok() } else { None }
}

fn read_hex(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once('p') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in whole.chars() {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let mut scale = 1.0 / 16.0;
    for digit in fraction.chars() {
        value += f64::from(digit.to_digit(16)?) * scale;
        scale /= 16.0;
    }
    Some(value * 2.0_f64.powi(exponent))
}
