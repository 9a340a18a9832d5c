//! Results of two engines are equal when they are the same JSON: the order of keys and the spelling of numbers do not count.

use crate::engine::{Counts, Engine, Outcome};
use serde_json::Value;

/// What one engine made of every line.
pub struct Results {
    /// The name of the engine.
    pub engine: String,
    /// One encoded result per line; `None` where there is none.
    pub lines: Vec<Option<Vec<u8>>>,
    /// How many lines had which outcome.
    pub counts: Counts,
}

/// Runs `engine` once over `lines` and keeps all it wrote.
pub fn collect(engine: &mut dyn Engine, lines: &[String]) -> Results {
    let mut counts = Counts::default();
    let results = lines
        .iter()
        .map(|line| {
            let mut out = Vec::new();
            let outcome = engine.run(line.as_bytes(), &mut out);
            counts.add(outcome);
            (outcome == Outcome::Emitted).then_some(out)
        })
        .collect();
    Results { engine: engine.name().to_string(), lines: results, counts }
}

/// The number of lines on which the two differ, and a description of the first one.
pub fn differences(left: &Results, right: &Results) -> (usize, Option<String>) {
    let mut count = 0;
    let mut first = None;
    for (index, (a, b)) in left.lines.iter().zip(&right.lines).enumerate() {
        if same_line(a.as_deref(), b.as_deref()) {
            continue;
        }
        count += 1;
        first.get_or_insert_with(|| {
            format!(
                "line {}:\n  {}: {}\n  {}: {}",
                index + 1,
                left.engine,
                shown(a.as_deref()),
                right.engine,
                shown(b.as_deref())
            )
        });
    }
    (count, first)
}

fn shown(line: Option<&[u8]>) -> String {
    line.map_or_else(|| "no result".to_string(), |line| String::from_utf8_lossy(line).into_owned())
}

fn same_line(left: Option<&[u8]>, right: Option<&[u8]>) -> bool {
    match (left, right) {
        (None, None) => true,
        (Some(left), Some(right)) => {
            let parsed = (serde_json::from_slice(left), serde_json::from_slice(right));
            matches!(parsed, (Ok(left), Ok(right)) if same(&left, &right))
        }
        _ => false,
    }
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::same_line;

    #[test]
    fn order_of_keys_and_spelling_of_numbers_do_not_count() {
        assert!(same_line(Some(br#"{"a":1,"b":[1.50]}"#), Some(br#"{"b":[1.5],"a":1.0}"#)));
        assert!(!same_line(Some(br#"{"a":1}"#), Some(br#"{"a":2}"#)));
        assert!(!same_line(Some(br#"{"a":1}"#), Some(br#"{"a":1,"b":null}"#)));
        assert!(!same_line(Some(b"1"), None));
    }
}
