//! `Set`. Methods that sets share with lists are in `enumerable`.

use super::{Found1, Given, Machine, Stop};
use crate::heap::{HashRef, Heap};
use crate::run::methods::{ANY, Methods, takes};
use crate::value::Value;

/// The methods of sets.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "clear",
            "count",
            "delete_if",
            "empty?",
            "filter",
            "keep_if",
            "length",
            "map!",
            "reject",
            "reject!",
            "select",
            "select!",
            "size",
            "to_set",
        ],
    ),
    takes(0, ANY, &["clone", "dup", "join", "merge"]),
    takes(
        1,
        1,
        &[
            "&",
            "+",
            "-",
            "<",
            "<<",
            "<=",
            "===",
            ">",
            ">=",
            "^",
            "add",
            "add?",
            "contain?",
            "delete",
            "delete?",
            "difference",
            "disjoint?",
            "include?",
            "intersect?",
            "intersection",
            "key?",
            "member?",
            "proper_subset?",
            "proper_superset?",
            "subset?",
            "subtract",
            "superset?",
            "union",
            "|",
        ],
    ),
];

/// A set of values.
pub(super) fn of(heap: &Heap, items: impl IntoIterator<Item = Value>) -> Value {
    Value::Set(heap.set(items))
}

impl Machine<'_, '_> {
    pub(super) fn set_method(
        &mut self,
        set: HashRef,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let whole = || Value::Set(set);
        if let Some(found) = change(heap, set, name, arguments) {
            return Ok(Some(found));
        }
        match (name, arguments) {
            ("include?" | "member?" | "===" | "contain?" | "key?", [one]) => {
                return Ok(Some(Value::Bool(set.get(heap, one).is_some())));
            }
            ("length" | "size" | "count", []) if given.is_none() => {
                return Ok(Some(Value::Int(set.len(heap) as i64)));
            }
            ("empty?", []) => return Ok(Some(Value::Bool(set.len(heap) == 0))),
            _ => {}
        }
        let members: Vec<Value> = set.pairs(heap).into_iter().map(|(one, _)| one).collect();
        if let [other] = arguments
            && let Some(found) = self.with_other(set, &members, name, other)?
        {
            return Ok(Some(found));
        }
        Ok(Some(match (name, arguments) {
            ("to_set", []) => whole(),
            ("dup" | "clone", _) => of(heap, members),
            ("join", _) => {
                return self.invoke(&heap.list(members), name, arguments, None).map(Some);
            }
            ("merge", lists) => {
                for list in lists {
                    for item in self.members_of(list)? {
                        set.insert(heap, item, Value::Bool(true));
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
                    Some(Value::List(kept)) => kept.items(heap),
                    _ => return Ok(None),
                };
                // JRuby gives a list where a new set might be expected.
                if plain == name {
                    return Ok(Some(heap.list(kept)));
                }
                let Value::Set(new) = of(heap, kept) else { return Ok(None) };
                set.replace(heap, new);
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
    fn with_other(&mut self, set: HashRef, members: &[Value], name: &str, other: &Value) -> Found1 {
        let heap = self.heap;
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
        let Value::Set(there) = of(heap, others.clone()) else { return Ok(None) };
        let in_other = |one: &Value| there.get(heap, one).is_some();
        let in_this = |one: &Value| set.get(heap, one).is_some();
        let all_in_other = members.iter().all(in_other);
        let all_in_this = others.iter().all(in_this);
        let shared = members.iter().any(in_other);
        Ok(Some(match name {
            "|" | "+" | "union" => of(heap, members.iter().chain(&others).cloned()),
            "&" | "intersection" => of(heap, others.iter().filter(|one| in_this(one)).cloned()),
            "-" | "difference" => of(heap, members.iter().filter(|one| !in_other(one)).cloned()),
            "^" => {
                let rest = members.iter().filter(|one| !in_other(one));
                let new = others.iter().filter(|one| !in_this(one));
                of(heap, new.chain(rest).cloned())
            }
            "subtract" => {
                others.iter().for_each(|one| drop(set.remove(heap, one)));
                Value::Set(set)
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
fn change(heap: &Heap, set: HashRef, name: &str, arguments: &[Value]) -> Option<Value> {
    let whole = || Value::Set(set);
    Some(match (name, arguments) {
        ("add" | "<<", [one]) => {
            let missing = set.get(heap, one).is_none();
            if missing {
                set.insert(heap, one.clone(), Value::Bool(true));
            }
            whole()
        }
        ("add?", [one]) => match set.get(heap, one).is_some() {
            true => Value::Nil,
            false => {
                set.insert(heap, one.clone(), Value::Bool(true));
                whole()
            }
        },
        ("delete", [one]) => {
            set.remove(heap, one);
            whole()
        }
        ("delete?", [one]) => match set.remove(heap, one) {
            Some(_) => whole(),
            None => Value::Nil,
        },
        ("clear", []) => {
            set.clear(heap);
            whole()
        }
        _ => return None,
    })
}
