//! Methods of hashes alone; what goes through their pairs stands in `enumerable`.

use super::{Answer, Found1, Given, Machine, Stop};
use crate::ruby::value::{Dictionary, Shared, Value};

/// The methods of hashes.
pub(super) const NAMES: &[&str] = &[
    "[]",
    "[]=",
    "store",
    "fetch",
    "dig",
    "key?",
    "has_key?",
    "include?",
    "member?",
    "value?",
    "has_value?",
    "key",
    "keys",
    "values",
    "values_at",
    "fetch_values",
    "length",
    "size",
    "empty?",
    "delete",
    "delete_if",
    "keep_if",
    "clear",
    "merge",
    "merge!",
    "update",
    "replace",
    "select",
    "filter",
    "reject",
    "select!",
    "reject!",
    "map",
    "each",
    "each_pair",
    "each_key",
    "each_value",
    "transform_values",
    "transform_keys",
    "transform_values!",
    "transform_keys!",
    "to_h",
    "to_hash",
    "to_a",
    "invert",
    "compact",
    "compact!",
    "sort",
    "sort_by",
    "min_by",
    "max_by",
    "find",
    "any?",
    "all?",
    "none?",
    "slice",
    "except",
    "default",
    "default=",
    "group_by",
    "partition",
    "first",
    "count",
    "sum",
    "reduce",
    "inject",
    "shift",
    "filter_map",
    "deep_merge",
    "stringify_keys",
    "symbolize_keys",
    "dup",
    "compare_by_identity",
    "each_with_index",
    "filter!",
    "each_with_object",
    "flat_map",
    "find_all",
    "detect",
    "zip",
    "uniq",
    "to_json",
    "entries",
    "sort_by!",
];

/// What `map_meta` tells of a task.
pub(super) const META: &[&str] =
    &["creation_timestamp", "lastevent_timestamp", "task_id", "timeout", "inactivity_timeout"];

impl Machine<'_, '_> {
    pub(super) fn hash_method(
        &mut self,
        hash: &Shared<Dictionary>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        if let ("[]", [key]) = (name, arguments) {
            return self.hash_at(hash, key).map(Some);
        }
        if !(name == "fetch" && given.is_some())
            && let Some(found) = look(hash, name, arguments)?
        {
            return Ok(Some(found));
        }
        if let Some(found) = self.hash_with_code(hash, name, arguments, given)? {
            return Ok(Some(found));
        }
        if let Some(found) = change(hash, name, arguments) {
            return Ok(Some(found));
        }
        if arguments.is_empty() && META.contains(&name) {
            return Ok(hash.lock().get(&Value::Symbol(name.into())).or(Some(Value::Nil)));
        }
        let whole = Value::Hash(hash.clone());
        let items = self.items(&whole)?;
        self.enumerable_method(items, &whole, name, arguments, given)
    }

    /// `a[b]`; code that makes missing values is given the hash and the key.
    fn hash_at(&mut self, hash: &Shared<Dictionary>, key: &Value) -> Answer {
        let (found, default) = {
            let inner = hash.lock();
            (inner.get(key), inner.default.clone())
        };
        match (found, default) {
            (Some(value), _) => Ok(value),
            (None, Value::Lambda(closure)) => {
                let arguments = vec![Value::Hash(hash.clone()), key.clone()];
                self.give_to(&Given::Lambda(closure), arguments)
            }
            (None, default) => Ok(default),
        }
    }

    fn hash_with_code(
        &mut self,
        hash: &Shared<Dictionary>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let Some(given) = given else { return Ok(None) };
        let pairs = hash.lock().pairs();
        let mut kept = Dictionary::default();
        match (name, arguments) {
            (
                "select" | "filter" | "reject" | "select!" | "filter!" | "reject!" | "delete_if"
                | "keep_if",
                [],
            ) => {
                let wanted = !name.starts_with("reject") && name != "delete_if";
                let before = pairs.len();
                for (key, value) in pairs {
                    let truth = self.give_to(given, vec![key.clone(), value.clone()])?.is_true();
                    if truth == wanted {
                        kept.insert(key, value);
                    }
                }
                let same = kept.len() == before;
                if !name.ends_with('!') && !name.ends_with("_if") {
                    return Ok(Some(Value::Hash(Shared::new(kept))));
                }
                *hash.lock() = kept;
                let tells = same && name.ends_with('!');
                Ok(Some(if tells { Value::Nil } else { Value::Hash(hash.clone()) }))
            }
            (
                "transform_values" | "transform_values!" | "transform_keys" | "transform_keys!",
                [],
            ) => {
                for (key, value) in pairs {
                    if name.starts_with("transform_values") {
                        let value = self.give_to(given, vec![value])?;
                        kept.insert(key, value);
                    } else {
                        kept.insert(self.give_to(given, vec![key])?, value);
                    }
                }
                if name.ends_with('!') {
                    *hash.lock() = kept;
                    return Ok(Some(Value::Hash(hash.clone())));
                }
                Ok(Some(Value::Hash(Shared::new(kept))))
            }
            _ => self.hash_pairs(hash, name, arguments, given),
        }
    }

    /// Methods whose code is given keys, values or pairs.
    fn hash_pairs(
        &mut self,
        hash: &Shared<Dictionary>,
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        match (name, arguments) {
            ("each_key" | "each_value", []) => {
                for (key, value) in hash.lock().pairs() {
                    let item = if name == "each_key" { key } else { value };
                    self.give_to(given, vec![item])?;
                }
                Ok(Some(Value::Hash(hash.clone())))
            }
            ("fetch", [key, ..]) => {
                let found = hash.lock().get(key);
                match found {
                    Some(value) => Ok(Some(value)),
                    None => self.give_to(given, vec![key.clone()]).map(Some),
                }
            }
            ("merge" | "merge!" | "update", [Value::Hash(other)]) => {
                let mut merged = hash.lock().clone();
                let others = other.lock().pairs();
                for (key, new) in others {
                    let value = match merged.get(&key) {
                        Some(old) => self.give_to(given, vec![key.clone(), old, new])?,
                        None => new,
                    };
                    merged.insert(key, value);
                }
                if name == "merge" {
                    return Ok(Some(Value::Hash(Shared::new(merged))));
                }
                *hash.lock() = merged;
                Ok(Some(Value::Hash(hash.clone())))
            }
            _ => Ok(None),
        }
    }
}

fn new(dictionary: Dictionary) -> Value {
    Value::Hash(Shared::new(dictionary))
}

/// Methods that only look.
fn look(hash: &Shared<Dictionary>, name: &str, arguments: &[Value]) -> Found1 {
    let inner = hash.lock();
    Ok(Some(match (name, arguments) {
        ("dig", [key]) => inner.get(key).unwrap_or_default(),
        ("fetch", [key]) => match inner.get(key) {
            Some(value) => value,
            None => {
                return Err(Stop::raise("KeyError", format!("key not found: {}", key.inspect())));
            }
        },
        ("fetch", [key, default]) => inner.get(key).unwrap_or_else(|| default.clone()),
        ("key?" | "has_key?" | "include?" | "member?", [key]) => {
            Value::Bool(inner.get(key).is_some())
        }
        ("value?" | "has_value?", [value]) => {
            let pairs = inner.pairs();
            drop(inner);
            Value::Bool(pairs.iter().any(|(_, one)| one.equals(value)))
        }
        ("key", [value]) => {
            let pairs = inner.pairs();
            drop(inner);
            pairs
                .into_iter()
                .find(|(_, one)| one.equals(value))
                .map(|(key, _)| key)
                .unwrap_or_default()
        }
        ("keys", []) => Value::list(inner.pairs().into_iter().map(|(key, _)| key).collect()),
        ("values", []) => Value::list(inner.pairs().into_iter().map(|(_, value)| value).collect()),
        ("values_at", keys) => {
            Value::list(keys.iter().map(|key| inner.get(key).unwrap_or_default()).collect())
        }
        ("length" | "size", []) => Value::Int(inner.len() as i64),
        ("empty?", []) => Value::Bool(inner.len() == 0),
        ("to_h" | "to_hash", []) => Value::Hash(hash.clone()),
        ("invert", []) => Value::hash(inner.pairs().into_iter().map(|(key, value)| (value, key))),
        ("compact", []) => {
            Value::hash(inner.pairs().into_iter().filter(|(_, value)| !matches!(value, Value::Nil)))
        }
        ("slice", keys) => {
            Value::hash(keys.iter().filter_map(|key| Some((key.clone(), inner.get(key)?))))
        }
        ("except", keys) => {
            let mut copy = inner.clone();
            keys.iter().for_each(|key| drop(copy.remove(key)));
            new(copy)
        }
        ("transform_keys", [Value::Hash(names)]) => {
            let pairs = inner.pairs();
            drop(inner);
            let names = names.lock().clone();
            Value::hash(
                pairs.into_iter().map(|(key, value)| (names.get(&key).unwrap_or(key), value)),
            )
        }
        ("default", []) => inner.default.clone(),
        _ => return Ok(None),
    }))
}

/// Methods that change the hash.
fn change(hash: &Shared<Dictionary>, name: &str, arguments: &[Value]) -> Option<Value> {
    let whole = || Value::Hash(hash.clone());
    Some(match (name, arguments) {
        ("[]=" | "store", [key, value]) => {
            hash.lock().insert(key.clone(), value.clone());
            value.clone()
        }
        ("delete", [key]) => hash.lock().remove(key).unwrap_or_default(),
        ("clear", []) => {
            hash.lock().clear();
            whole()
        }
        ("compact!", []) => {
            let mut inner = hash.lock();
            for (key, value) in inner.pairs() {
                if matches!(value, Value::Nil) {
                    inner.remove(&key);
                }
            }
            whole()
        }
        ("shift", []) => {
            let mut inner = hash.lock();
            match inner.pairs().into_iter().next() {
                Some((key, value)) => {
                    inner.remove(&key);
                    Value::list(vec![key, value])
                }
                None => Value::Nil,
            }
        }
        ("merge", others) if others.iter().all(|one| matches!(one, Value::Hash(_))) => {
            let mut merged = hash.lock().clone();
            add(&mut merged, others);
            new(merged)
        }
        ("merge!" | "update" | "replace", others)
            if others.iter().all(|one| matches!(one, Value::Hash(_))) =>
        {
            let mut merged = hash.lock().clone();
            if name == "replace" {
                merged.clear();
            }
            add(&mut merged, others);
            *hash.lock() = merged;
            whole()
        }
        _ => return None,
    })
}

fn add(merged: &mut Dictionary, others: &[Value]) {
    for other in others {
        if let Value::Hash(other) = other {
            let pairs = other.lock().pairs();
            pairs.into_iter().for_each(|(key, value)| merged.insert(key, value));
        }
    }
}
