//! When two JSON texts are equal: the order of keys and the spelling of numbers do not count.

use serde_json::Value;

/// Whether both texts are JSON, and the same.
pub fn same_json(left: &[u8], right: &[u8]) -> bool {
    let parsed = (serde_json::from_slice(left), serde_json::from_slice(right));
    matches!(parsed, (Ok(left), Ok(right)) if same(&left, &right))
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
    use super::same_json;

    #[test]
    fn order_of_keys_and_spelling_of_numbers_do_not_count() {
        assert!(same_json(br#"{"a":1,"b":[1.50]}"#, br#"{"b":[1.5],"a":1.0}"#));
        assert!(!same_json(br#"{"a":1}"#, br#"{"a":2}"#));
        assert!(!same_json(br#"{"a":1}"#, br#"{"a":1,"b":null}"#));
        assert!(!same_json(b"no JSON", b"no JSON"));
    }
}
