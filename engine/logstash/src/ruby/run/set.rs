//! `Set`: values without order of places, each once. What sets share with lists stands in `enumerable`.

use super::{Found1, Given, Machine, Stop};
use crate::ruby::value::{Dictionary, Shared, Value};

/// The methods of sets.
pub(super) const NAMES: &[&str] = &[
    "add",
    "add?",
    "delete?",
    "subset?",
    "superset?",
    "proper_subset?",
    "proper_superset?",
    "disjoint?",
    "intersect?",
    "subtract",
    "merge",
    "classify",
];

/// A set of values.
pub(super) fn of(items: impl IntoIterator<Item = Value>) -> Value {
    let pairs = items.into_iter().map(|item| (item, Value::Bool(true)));
    Value::Set(Shared::new(pairs.collect()))
}

impl Machine<'_, '_> {
    pub(super) fn set_method(
        &mut self,
        set: &Shared<Dictionary>,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let whole = || Value::Set(set.clone());
        if let Some(found) = change(set, name, arguments) {
            return Ok(Some(found));
        }
        let members: Vec<Value> = set.lock().pairs().into_iter().map(|(one, _)| one).collect();
        if let [other] = arguments
            && let Some(found) = self.with_other(set, &members, name, other)?
        {
            return Ok(Some(found));
        }
        Ok(Some(match (name, arguments) {
            ("include?" | "member?" | "===" | "contain?" | "key?", [one]) => {
                Value::Bool(set.lock().get(one).is_some())
            }
            ("length" | "size" | "count", []) if given.is_none() => {
                Value::Int(members.len() as i64)
            }
            ("empty?", []) => Value::Bool(members.is_empty()),
            ("to_set", []) => whole(),
            ("dup" | "clone", _) => of(members),
            ("join", _) => {
                return self.invoke(&Value::list(members), name, arguments, None).map(Some);
            }
            ("merge", lists) => {
                for list in lists {
                    for item in self.members_of(list)? {
                        set.lock().insert(item, Value::Bool(true));
                    }
                }
                whole()
            }
            (
                "select" | "filter" | "reject" | "delete_if" | "keep_if" | "select!" | "reject!"
                | "map!",
                [],
            ) => {
                let plain = match name.trim_end_matches('!') {
                    "delete_if" => "reject",
                    "keep_if" => "select",
                    plain => plain,
                };
                let found = self.enumerable_method(members, &whole(), plain, arguments, given)?;
                let kept = match found {
                    Some(Value::List(kept)) => kept.lock().clone(),
                    _ => return Ok(None),
                };
                let Value::Set(new) = of(kept) else { return Ok(None) };
                if plain == name {
                    return Ok(Some(Value::Set(new)));
                }
                let inner = new.lock().clone();
                *set.lock() = inner;
                whole()
            }
            _ => return self.enumerable_method(members, &whole(), name, arguments, given),
        }))
    }

    /// The members of a set, or what else can be gone through.
    fn members_of(&mut self, value: &Value) -> Result<Vec<Value>, Stop> {
        match value {
            Value::Set(_) | Value::List(_) | Value::Range(_) | Value::Hash(_) => self.items(value),
            _ => Err(Stop::raise("ArgumentError", "value must be enumerable")),
        }
    }

    /// Operations of two sets.
    fn with_other(
        &mut self,
        set: &Shared<Dictionary>,
        members: &[Value],
        name: &str,
        other: &Value,
    ) -> Found1 {
        let comparing = matches!(
            name,
            "subset?"
                | "<="
                | "superset?"
                | ">="
                | "proper_subset?"
                | "<"
                | "proper_superset?"
                | ">"
        );
        if comparing && !matches!(other, Value::Set(_)) {
            return Err(Stop::raise("ArgumentError", "value must be a set"));
        }
        let combining = matches!(
            name,
            "|" | "+"
                | "union"
                | "&"
                | "intersection"
                | "-"
                | "difference"
                | "^"
                | "disjoint?"
                | "intersect?"
                | "subtract"
        );
        if !comparing && !combining {
            return Ok(None);
        }
        let others = self.members_of(other)?;
        let Value::Set(there) = of(others.clone()) else { return Ok(None) };
        let in_other = |one: &Value| there.lock().get(one).is_some();
        let in_this = |one: &Value| set.lock().get(one).is_some();
        let all_in_other = members.iter().all(in_other);
        let all_in_this = others.iter().all(in_this);
        let shared = members.iter().any(in_other);
        Ok(Some(match name {
            "|" | "+" | "union" => of(members.iter().chain(&others).cloned()),
            "&" | "intersection" => of(others.iter().filter(|one| in_this(one)).cloned()),
            "-" | "difference" => of(members.iter().filter(|one| !in_other(one)).cloned()),
            "^" => {
                let rest = members.iter().filter(|one| !in_other(one));
                let new = others.iter().filter(|one| !in_this(one));
                of(new.chain(rest).cloned())
            }
            "subtract" => {
                others.iter().for_each(|one| drop(set.lock().remove(one)));
                Value::Set(set.clone())
            }
            "disjoint?" => Value::Bool(!shared),
            "intersect?" => Value::Bool(shared),
            "subset?" | "<=" => Value::Bool(all_in_other),
            "superset?" | ">=" => Value::Bool(all_in_this),
            "proper_subset?" | "<" => Value::Bool(all_in_other && !all_in_this),
            _ => Value::Bool(all_in_this && !all_in_other),
        }))
    }
}

/// Methods that change the set.
fn change(set: &Shared<Dictionary>, name: &str, arguments: &[Value]) -> Option<Value> {
    let whole = || Value::Set(set.clone());
    Some(match (name, arguments) {
        ("add" | "<<", [one]) => {
            let missing = set.lock().get(one).is_none();
            if missing {
                set.lock().insert(one.clone(), Value::Bool(true));
            }
            whole()
        }
        ("add?", [one]) => match set.lock().get(one).is_some() {
            true => Value::Nil,
            false => {
                set.lock().insert(one.clone(), Value::Bool(true));
                whole()
            }
        },
        ("delete", [one]) => {
            set.lock().remove(one);
            whole()
        }
        ("delete?", [one]) => match set.lock().remove(one) {
            Some(_) => whole(),
            None => Value::Nil,
        },
        ("clear", []) => {
            set.lock().clear();
            whole()
        }
        _ => return None,
    })
}
