//! Methods of hashes alone; what goes through their pairs stands in `enumerable`.

use super::{Answer, Found1, Given, Machine, Stop};
use crate::dictionary::Dictionary;
use crate::heap::{HashRef, Heap};
use crate::run::methods::{ANY, Methods, takes};
use crate::value::Value;

/// The methods of hashes.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "clear",
            "compact",
            "compact!",
            "default",
            "default_proc",
            "delete_if",
            "each_key",
            "each_value",
            "empty?",
            "filter",
            "filter!",
            "filter_map",
            "invert",
            "keep_if",
            "keys",
            "length",
            "reject",
            "reject!",
            "select",
            "select!",
            "shift",
            "size",
            "to_h",
            "to_hash",
            "transform_keys!",
            "transform_values",
            "transform_values!",
            "values",
        ],
    ),
    takes(0, 1, &["flatten", "transform_keys"]),
    takes(0, ANY, &["except", "fetch_values", "merge", "merge!", "slice", "update", "values_at"]),
    takes(
        1,
        1,
        &[
            "<",
            "<=",
            ">",
            ">=",
            "[]",
            "assoc",
            "deconstruct_keys",
            "delete",
            "has_key?",
            "has_value?",
            "include?",
            "key",
            "key?",
            "member?",
            "rassoc",
            "replace",
            "value?",
        ],
    ),
    takes(1, 2, &["fetch"]),
    takes(1, ANY, &["dig"]),
    takes(2, 2, &["[]=", "store"]),
];

/// What `map_meta` tells of a task.
pub(super) const META: &[Methods] = &[takes(0, 0, TASK)];
/// The entries of `map_meta`.
pub(super) const TASK: &[&str] =
    &["creation_timestamp", "lastevent_timestamp", "task_id", "timeout", "inactivity_timeout"];

impl Machine<'_, '_> {
    pub(super) fn hash_method(
        &mut self,
        hash: HashRef,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        if let ("[]", [key]) = (name, arguments) {
            return self.hash_at(hash, key).map(Some);
        }
        let asks_code =
            matches!(name, "fetch" | "fetch_values" | "to_h" | "transform_keys" | "delete");
        if !(asks_code && given.is_some())
            && let Some(found) = look(heap, hash, name, arguments)?
        {
            return Ok(Some(found));
        }
        if let Some(found) = self.hash_with_code(hash, name, arguments, given)? {
            return Ok(Some(found));
        }
        if let Some(found) = change(heap, hash, name, arguments) {
            return Ok(Some(found));
        }
        if arguments.is_empty() && TASK.contains(&name) {
            return Ok(hash.get(heap, &Value::Symbol(name.into())).or(Some(Value::Nil)));
        }
        let whole = Value::Hash(hash);
        let items = self.items(&whole)?;
        self.enumerable_method(items, &whole, name, arguments, given)
    }

    /// `a[b]`; code that makes missing values is given the hash and the key.
    fn hash_at(&mut self, hash: HashRef, key: &Value) -> Answer {
        if let Some(value) = hash.get(self.heap, key) {
            return Ok(value);
        }
        match hash.default(self.heap) {
            Value::Lambda(closure) => {
                let arguments = vec![Value::Hash(hash), key.clone()];
                self.give_to(&Given::Lambda(closure), arguments)
            }
            default => Ok(default),
        }
    }

    fn hash_with_code(
        &mut self,
        hash: HashRef,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let Some(given) = given else { return Ok(None) };
        match (name, arguments) {
            (
                "select" | "filter" | "reject" | "select!" | "filter!" | "reject!" | "delete_if"
                | "keep_if",
                [],
            ) => self.chosen(hash, name, given).map(Some),
            (
                "transform_values" | "transform_values!" | "transform_keys" | "transform_keys!",
                [],
            ) => {
                let kept = heap.new_hash(Dictionary::default());
                for (key, value) in hash.pairs(heap) {
                    if name.starts_with("transform_values") {
                        let value = self.give_to(given, vec![value])?;
                        kept.insert(heap, key, value);
                    } else {
                        let key = self.give_to(given, vec![key])?;
                        kept.insert(heap, key, value);
                    }
                }
                if name.ends_with('!') {
                    hash.replace(heap, kept);
                    return Ok(Some(Value::Hash(hash)));
                }
                Ok(Some(Value::Hash(kept)))
            }
            _ => self.hash_pairs(hash, name, arguments, given),
        }
    }

    /// The pairs that code chooses, in a new hash or in this one.
    fn chosen(&mut self, hash: HashRef, name: &str, given: &Given) -> Answer {
        let heap = self.heap;
        let wanted = !name.starts_with("reject") && name != "delete_if";
        let pairs = hash.pairs(heap);
        let before = pairs.len();
        let kept = heap.new_hash(Dictionary::default());
        for (key, value) in pairs {
            let truth = self.give_to(given, vec![key.clone(), value.clone()])?.is_true();
            if truth == wanted {
                kept.insert(heap, key, value);
            }
        }
        if !name.ends_with('!') && !name.ends_with("_if") {
            return Ok(Value::Hash(kept));
        }
        let same = kept.len(heap) == before;
        hash.replace(heap, kept);
        Ok(if same && name.ends_with('!') { Value::Nil } else { Value::Hash(hash) })
    }

    /// Methods whose code is given keys, values or pairs.
    fn hash_pairs(
        &mut self,
        hash: HashRef,
        name: &str,
        arguments: &[Value],
        given: &Given,
    ) -> Found1 {
        let heap = self.heap;
        match (name, arguments) {
            ("each_key" | "each_value", []) => {
                for (key, value) in hash.pairs(heap) {
                    let item = if name == "each_key" { key } else { value };
                    self.give_to(given, vec![item])?;
                }
                Ok(Some(Value::Hash(hash)))
            }
            ("to_h", []) => {
                let made = heap.new_hash(Dictionary::default());
                for (at, (key, value)) in hash.pairs(heap).into_iter().enumerate() {
                    let pair = self.give_to(given, vec![key, value])?;
                    let (key, value) = self.pair_of(&pair, at)?;
                    made.insert(heap, key, value);
                }
                Ok(Some(Value::Hash(made)))
            }
            ("transform_keys", [Value::Hash(names)]) => {
                let made = heap.new_hash(Dictionary::default());
                for (key, value) in hash.pairs(heap) {
                    let key = match names.get(heap, &key) {
                        Some(name) => name,
                        None => self.give_to(given, vec![key])?,
                    };
                    made.insert(heap, key, value);
                }
                Ok(Some(Value::Hash(made)))
            }
            ("delete", [key]) => match hash.remove(heap, key) {
                Some(value) => Ok(Some(value)),
                None => self.give_to(given, vec![key.clone()]).map(Some),
            },
            ("fetch", [key, ..]) => match hash.get(heap, key) {
                Some(value) => Ok(Some(value)),
                None => self.give_to(given, vec![key.clone()]).map(Some),
            },
            ("fetch_values", keys) => {
                let mut values = Vec::with_capacity(keys.len());
                for key in keys {
                    values.push(match hash.get(heap, key) {
                        Some(value) => value,
                        None => self.give_to(given, vec![key.clone()])?,
                    });
                }
                Ok(Some(heap.list(values)))
            }
            ("merge" | "merge!" | "update", [Value::Hash(other)]) => {
                let merged = if name == "merge" { hash.copy(heap) } else { hash };
                for (key, new) in other.pairs(heap) {
                    let value = match merged.get(heap, &key) {
                        Some(old) => self.give_to(given, vec![key.clone(), old, new])?,
                        None => new,
                    };
                    merged.insert(heap, key, value);
                }
                Ok(Some(Value::Hash(merged)))
            }
            _ => Ok(None),
        }
    }
}

fn missing(heap: &Heap, key: &Value) -> Stop {
    Stop::raise("KeyError", format!("key not found: {}", key.inspect(heap)))
}

/// Methods that only look.
fn look(heap: &Heap, hash: HashRef, name: &str, arguments: &[Value]) -> Found1 {
    let get = |key: &Value| hash.get(heap, key);
    Ok(Some(match (name, arguments) {
        ("dig", [key]) => get(key).unwrap_or_default(),
        ("fetch", [key]) => get(key).ok_or_else(|| missing(heap, key))?,
        ("fetch", [key, default]) => get(key).unwrap_or_else(|| default.clone()),
        ("key?" | "has_key?" | "include?" | "member?", [key]) => Value::Bool(get(key).is_some()),
        ("value?" | "has_value?", [value]) => {
            Value::Bool(hash.pairs(heap).iter().any(|(_, one)| one.equals(heap, value)))
        }
        ("key", [value]) => {
            let found = hash.pairs(heap).into_iter().find(|(_, one)| one.equals(heap, value));
            found.map(|(key, _)| key).unwrap_or_default()
        }
        ("keys", []) => heap.list(hash.pairs(heap).into_iter().map(|(key, _)| key).collect()),
        ("values", []) => heap.list(hash.pairs(heap).into_iter().map(|(_, value)| value).collect()),
        ("values_at", keys) => {
            heap.list(keys.iter().map(|key| get(key).unwrap_or_default()).collect())
        }
        ("fetch_values", keys) => {
            let value = |key| get(key).ok_or_else(|| missing(heap, key));
            heap.list(keys.iter().map(value).collect::<Result<_, _>>()?)
        }
        ("length" | "size", []) => Value::Int(hash.len(heap) as i64),
        ("empty?", []) => Value::Bool(hash.len(heap) == 0),
        ("to_h" | "to_hash", []) => Value::Hash(hash),
        ("invert", []) => heap.hash(hash.pairs(heap).into_iter().map(|(key, value)| (value, key))),
        ("compact", []) => heap
            .hash(hash.pairs(heap).into_iter().filter(|(_, value)| !matches!(value, Value::Nil))),
        ("slice", keys) => heap.hash(keys.iter().filter_map(|key| Some((key.clone(), get(key)?)))),
        ("except", keys) => {
            let copy = hash.copy(heap);
            keys.iter().for_each(|key| drop(copy.remove(heap, key)));
            Value::Hash(copy)
        }
        ("transform_keys", [Value::Hash(names)]) => {
            let pairs = hash.pairs(heap).into_iter();
            heap.hash(pairs.map(|(key, value)| (names.get(heap, &key).unwrap_or(key), value)))
        }
        ("default", []) => match hash.default(heap) {
            Value::Lambda(_) => Value::Nil,
            default => default,
        },
        ("default_proc", []) => match hash.default(heap) {
            code @ Value::Lambda(_) => code,
            _ => Value::Nil,
        },
        ("deconstruct_keys", [_]) => Value::Hash(hash),
        ("assoc", [key]) => match get(key) {
            Some(value) => heap.list(vec![key.clone(), value]),
            None => Value::Nil,
        },
        ("rassoc", [value]) => {
            let found = hash.pairs(heap).into_iter().find(|(_, one)| one.equals(heap, value));
            found.map_or(Value::Nil, |(key, value)| heap.list(vec![key, value]))
        }
        ("flatten", levels) => {
            let levels = match levels {
                [Value::Int(levels)] => usize::try_from(*levels - 1).unwrap_or(usize::MAX),
                _ => 0,
            };
            let all = hash.pairs(heap).into_iter().flat_map(|(key, value)| [key, value]);
            heap.list(super::list::flatten(heap, &all.collect::<Vec<_>>(), levels)?)
        }
        ("<" | "<=" | ">" | ">=", [Value::Hash(other)]) => {
            let (small, large) =
                if name.starts_with('<') { (hash, *other) } else { (*other, hash) };
            let has = |(key, value): &(Value, Value)| {
                large.get(heap, key).is_some_and(|one| one.equals(heap, value))
            };
            let is_within = small.pairs(heap).iter().all(has);
            Value::Bool(is_within && (name.len() == 2 || small.len(heap) < large.len(heap)))
        }
        ("merge" | "merge!" | "update" | "replace" | "<" | "<=" | ">" | ">=", others)
            if others.iter().any(|one| !matches!(one, Value::Hash(_))) =>
        {
            let other = others.iter().find(|one| !matches!(one, Value::Hash(_)));
            let what = other.map_or("nil", |other| super::object::word_of(other));
            let message = format!("no implicit conversion of {what} into Hash");
            return Err(Stop::raise("TypeError", message));
        }
        _ => return Ok(None),
    }))
}

/// Methods that change the hash.
fn change(heap: &Heap, hash: HashRef, name: &str, arguments: &[Value]) -> Option<Value> {
    Some(match (name, arguments) {
        ("[]=" | "store", [key, value]) => {
            hash.insert(heap, key.clone(), value.clone());
            value.clone()
        }
        ("delete", [key]) => hash.remove(heap, key).unwrap_or_default(),
        ("clear", []) => {
            hash.clear(heap);
            Value::Hash(hash)
        }
        ("compact!", []) => {
            for (key, value) in hash.pairs(heap) {
                if matches!(value, Value::Nil) {
                    hash.remove(heap, &key);
                }
            }
            Value::Hash(hash)
        }
        ("shift", []) => match hash.first(heap) {
            Some((key, value)) => {
                hash.remove(heap, &key);
                heap.list(vec![key, value])
            }
            None => Value::Nil,
        },
        ("merge", others) if others.iter().all(|one| matches!(one, Value::Hash(_))) => {
            let merged = hash.copy(heap);
            add(heap, merged, others);
            Value::Hash(merged)
        }
        ("merge!" | "update", others) if others.iter().all(|one| matches!(one, Value::Hash(_))) => {
            add(heap, hash, others);
            Value::Hash(hash)
        }
        ("replace", [Value::Hash(other)]) => {
            hash.replace(heap, *other);
            Value::Hash(hash)
        }
        _ => return None,
    })
}

fn add(heap: &Heap, merged: HashRef, others: &[Value]) {
    for other in others {
        if let Value::Hash(other) = other {
            let pairs = other.pairs(heap).into_iter();
            pairs.for_each(|(key, value)| merged.insert(heap, key, value));
        }
    }
}
