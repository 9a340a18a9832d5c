//! Which elements of one array are equal to some element of another. Numbers are looked up in order,
//! since those that differ by very little are equal; all else by a hash that equal values share.

use halfbrown::HashMap;
use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Value, equal, hash_of_equals};

/// Arrays to look into that are no longer than this are walked.
const WALKED_MAX: usize = 16;

/// The elements of `left` that are, or are not, equal to one of `right`.
pub(super) fn parted<'a>(
    arena: &'a Arena,
    left: &'a [Value<'a>],
    right: &'a [Value<'a>],
    wanted: bool,
) -> Result<impl Iterator<Item = Value<'a>>, CallError> {
    for items in [left, right] {
        if !arena.admits_walk(Value::Array(items)) {
            return Err(CallError::failed("the arrays are too large to be compared"));
        }
    }
    let members = Members::of(right);
    let is_in = move |item: &&Value<'a>| members.holds(arena, **item) == wanted;
    Ok(left.iter().filter(is_in).copied())
}

enum Members<'a> {
    Few(&'a [Value<'a>]),
    Many { numbers: Numbers, others: HashMap<u128, Vec<Value<'a>>> },
}

impl<'a> Members<'a> {
    fn of(items: &'a [Value<'a>]) -> Self {
        if items.len() <= WALKED_MAX {
            return Members::Few(items);
        }
        let mut others: HashMap<u128, Vec<Value<'a>>> = HashMap::new();
        for item in items.iter().filter(|item| item.as_f64().is_none()) {
            let same = others.entry(hash_of_equals(*item)).or_default();
            if !same.iter().any(|one| is_same_scalar(*one, *item)) {
                same.push(*item);
            }
        }
        Members::Many { numbers: Numbers::of(items), others }
    }

    fn holds(&self, arena: &Arena, wanted: Value<'_>) -> bool {
        match self {
            Members::Few(items) => items.iter().any(|item| equal(*item, wanted)),
            Members::Many { numbers, .. } if wanted.as_f64().is_some() => numbers.hold(wanted),
            Members::Many { others, .. } => {
                let same = others.get(&hash_of_equals(wanted));
                same.is_some_and(|same| same.iter().any(|one| arena.equal(*one, wanted)))
            }
        }
    }
}

/// Equal ones that need not be kept twice; containers are not compared for that.
fn is_same_scalar(left: Value<'_>, right: Value<'_>) -> bool {
    left.size().is_none() && right.size().is_none() && equal(left, right)
}

/// Numbers in order: integers, which are equal to the same integers, and floats, which are equal to
/// numbers near to them.
struct Numbers {
    integers: Vec<i128>,
    /// The integers as floats, to which floats may be near.
    rounded: Vec<f64>,
    floats: Vec<f64>,
}

impl Numbers {
    fn of(items: &[Value<'_>]) -> Self {
        let mut integers: Vec<i128> = items.iter().filter_map(|item| integer(*item)).collect();
        integers.sort_unstable();
        let rounded = integers.iter().map(|number| *number as f64).collect();
        let float = |item: &Value<'_>| match item {
            Value::Float(number) if !number.is_nan() => Some(*number),
            _ => None,
        };
        let mut floats: Vec<f64> = items.iter().filter_map(float).collect();
        floats.sort_unstable_by(f64::total_cmp);
        Self { integers, rounded, floats }
    }

    fn hold(&self, wanted: Value<'_>) -> bool {
        match integer(wanted) {
            Some(number) => {
                self.integers.binary_search(&number).is_ok() || holds_near(&self.floats, wanted)
            }
            None => holds_near(&self.rounded, wanted) || holds_near(&self.floats, wanted),
        }
    }
}

fn integer(value: Value<'_>) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(number)),
        Value::UInt(number) => Some(i128::from(number)),
        _ => None,
    }
}

/// Whether the nearest of the numbers, which are in order, is equal.
fn holds_near(numbers: &[f64], wanted: Value<'_>) -> bool {
    let number = wanted.as_f64().unwrap_or(f64::NAN);
    let at = numbers.partition_point(|one| *one < number);
    [at.checked_sub(1), Some(at)]
        .into_iter()
        .flatten()
        .filter_map(|at| numbers.get(at))
        .any(|one| equal(Value::Float(*one), Value::Float(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found by order and hash is what is found by looking at each.
    #[test]
    fn many_are_looked_up_as_few_are() {
        let arena = Arena::new();
        let fields = |key: &'static str, number: f64| {
            let mut record = arena.record_builder(2);
            record.append(key, Value::Float(number));
            record.append("other", Value::Int(-3));
            record.finish()
        };
        let values = vec![
            Value::Null,
            Value::Bool(true),
            Value::Bool(false),
            Value::Int(-1),
            Value::Int(7),
            Value::UInt(7),
            Value::UInt(u64::MAX),
            Value::UInt(u64::MAX - 1),
            Value::UInt((1 << 53) + 1),
            Value::Float((1_u64 << 53) as f64),
            Value::Float(u64::MAX as f64),
            Value::Float(7.0),
            Value::Float(-0.0),
            Value::Float(0.1 + 0.2),
            Value::Float(0.3),
            Value::Float(1.0 - f64::EPSILON / 2.0),
            Value::Float(1.0),
            Value::Float(f64::NAN),
            Value::Float(f64::INFINITY),
            Value::Int(0),
            Value::Str("a"),
            Value::Bytes(b"a"),
            Value::Str(""),
            Value::EMPTY_RECORD,
            Value::Array(&[]),
            arena.array([Value::Float(0.1 + 0.2), Value::Null]),
            arena.array([Value::Float(0.3), Value::Null]),
            arena.array([Value::Int(7)]),
            arena.array([Value::Float(7.0)]),
            fields("a", 0.3),
            fields("a", 0.1 + 0.2),
            fields("b", 0.3),
        ];
        for left_out in 0..values.len() {
            let mut right = values.clone();
            right.remove(left_out);
            let right = arena.slice(right);
            for wanted in &values {
                let expected = right.iter().any(|one| equal(*one, *wanted));
                assert_eq!(Members::of(right).holds(&arena, *wanted), expected, "{wanted:?}");
            }
        }
    }
}
