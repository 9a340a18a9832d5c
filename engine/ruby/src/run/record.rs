//! `Struct` and `OpenStruct`: objects whose fields are their value.

use super::class::CLASSES_MAX;
use super::{Answer, Found1, Given, Machine, Stop};
use crate::dictionary::Dictionary;
use crate::heap::Heap;
use crate::run::methods::{ANY, Methods, takes};
use crate::value::{Object, STRUCT, Value};
use std::sync::Arc;

/// The methods of a `Struct` and an `OpenStruct`; the members are methods, too.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(0, 0, &["clone", "deconstruct", "dup", "members", "to_a", "values"]),
    takes(0, 1, &["each", "each_pair", "each_with_index", "map", "select", "sum", "to_h"]),
    takes(1, 1, &["[]", "delete_field", "respond_to?"]),
    takes(1, ANY, &["dig"]),
    takes(2, 2, &["[]="]),
];

/// The name of a field.
fn member(name: &str) -> Value {
    Value::Symbol(name.into())
}

/// Whether an object takes any field.
fn is_open(object: &Object) -> bool {
    &*object.class == "OpenStruct"
}

/// `record[0]`, `record[:a]`, `record[:a] = 1`
fn item(
    heap: &Heap,
    object: &Object,
    name: &str,
    arguments: &[Value],
    known: impl Fn(&str) -> bool,
) -> Found1 {
    let wrong = |key: &Value| {
        let message = format!("no member '{}' in struct", key.print(heap));
        Stop::raise("NameError", message)
    };
    Ok(Some(match (name, arguments) {
        ("[]" | "dig", [Value::Int(at)]) => {
            let values = object.fields.pairs(heap);
            let at = if *at < 0 { at + values.len() as i64 } else { *at };
            usize::try_from(at)
                .ok()
                .and_then(|at| values.get(at))
                .map(|(_, one)| one.clone())
                .unwrap_or_default()
        }
        ("[]" | "dig", [key]) => match object.fields.get(heap, &member(&key.print(heap))) {
            Some(value) => value,
            None if is_open(object) => Value::Nil,
            None => return Err(wrong(key)),
        },
        ("[]=", [key, value]) if known(&key.print(heap)) => {
            object.fields.insert(heap, member(&key.print(heap)), value.clone());
            value.clone()
        }
        ("[]=", [key, _]) => return Err(wrong(key)),
        _ => return Ok(None),
    }))
}

impl Machine<'_, '_> {
    /// The members of a `Struct`.
    pub(super) fn members(&self, class: &str) -> Option<Vec<Arc<str>>> {
        let classes = self.ancestors(class).into_iter();
        classes.filter_map(|one| self.memory.classes.get(&one)?.members.clone()).next()
    }

    pub(super) fn fill_members(
        &mut self,
        object: &Object,
        arguments: &[Value],
    ) -> Result<(), Stop> {
        let heap = self.heap;
        let Some(members) = self.members(&object.class) else { return Ok(()) };
        let by_name = self
            .ancestors(&object.class)
            .iter()
            .any(|one| self.memory.classes.get(one).is_some_and(|class| class.keyword_init));
        if arguments.len() > members.len() {
            let (was, most) = (arguments.len(), members.len());
            let message = format!("struct size differs ({was} for {most})");
            return Err(Stop::raise("ArgumentError", message));
        }
        for (at, name) in members.iter().enumerate() {
            let value = match (by_name, arguments) {
                (true, [Value::Hash(pairs)]) => pairs.get(heap, &member(name)),
                (true, _) => None,
                (false, arguments) => arguments.get(at).cloned(),
            };
            object.fields.insert(heap, member(name), value.unwrap_or_default());
        }
        Ok(())
    }

    /// `Struct.new(:a, :b) { … }`
    pub(super) fn make_struct(&mut self, arguments: &[Value], given: Option<&Given>) -> Answer {
        let heap = self.heap;
        let (options, names): (Vec<&Value>, Vec<&Value>) =
            arguments.iter().partition(|one| matches!(one, Value::Hash(_)));
        let by_name = options.first().and_then(|one| one.entry(heap, "keyword_init"));
        let members: Vec<Arc<str>> = names.iter().map(|name| name.print(heap).into()).collect();
        let name: Arc<str> = format!("{STRUCT}({})>", members.join(", ")).into();
        if self.memory.classes.len() >= CLASSES_MAX {
            let message = format!("code defines more than {CLASSES_MAX} classes");
            return Err(Stop::raise("RuntimeError", message));
        }
        let class = self.memory.classes.entry(name.clone()).or_default();
        class.members = Some(members);
        class.keyword_init = by_name.is_some_and(|flag| flag.is_true());
        if let Some(given) = given {
            let outer = self.inside.replace(name.clone());
            let this = std::mem::replace(&mut self.this, Value::Constant(name.clone()));
            let result = self.give_to(given, Vec::new());
            (self.inside, self.this) = (outer, this);
            result?;
        }
        Ok(Value::Constant(name))
    }

    /// `OpenStruct.new(a: 1)`
    pub(super) fn make_open_struct(&mut self, arguments: &[Value]) -> Value {
        let heap = self.heap;
        let fields = heap.new_hash(Dictionary::default());
        if let [Value::Hash(pairs)] = arguments {
            for (key, value) in pairs.pairs(heap) {
                fields.insert(heap, member(&key.print(heap)), value);
            }
        }
        Value::Object(Object { class: "OpenStruct".into(), fields })
    }

    /// Methods of a `Struct` or an `OpenStruct`.
    pub(super) fn record_method(
        &mut self,
        object: &Object,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let open = is_open(object);
        let members = self.members(&object.class);
        if !open && members.is_none() {
            return Ok(None);
        }
        let known = |name: &str| open || members.iter().flatten().any(|one| &**one == name);
        let pairs = || object.fields.pairs(heap);
        if let (Some(bare), [value]) = (name.strip_suffix('='), arguments)
            && known(bare)
            && bare.starts_with(|first: char| first.is_alphabetic() || first == '_')
        {
            object.fields.insert(heap, member(bare), value.clone());
            return Ok(Some(value.clone()));
        }
        if let Some(found) = item(heap, object, name, arguments, known)? {
            return Ok(Some(found));
        }
        Ok(Some(match (name, arguments) {
            ("to_h", []) if given.is_none() => heap.hash(pairs()),
            ("to_a" | "values" | "deconstruct", []) if !open => {
                heap.list(pairs().into_iter().map(|(_, value)| value).collect())
            }
            ("members", []) => heap.list(pairs().into_iter().map(|(name, _)| name).collect()),
            ("respond_to?", [method]) => Value::Bool(known(&method.print(heap))),
            ("each_pair" | "each" | "map" | "select" | "to_h" | "each_with_index" | "sum", _) => {
                let all = match name == "each_pair" || name == "to_h" || open {
                    true => heap.hash(pairs()),
                    false => heap.list(pairs().into_iter().map(|(_, value)| value).collect()),
                };
                return self.invoke(&all, name, arguments, given).map(Some);
            }
            ("dup" | "clone", []) => {
                let fields = object.fields.copy(heap);
                Value::Object(Object { class: object.class.clone(), fields })
            }
            ("delete_field", [key]) if open => {
                object.fields.remove(heap, &member(&key.print(heap))).unwrap_or_default()
            }
            (name, []) => match object.fields.get(heap, &member(name)) {
                Some(value) => value,
                None if open && !super::methods::is_of_all(name) => Value::Nil,
                None => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }
}
