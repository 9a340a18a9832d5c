//! Classes and modules that code defines, and their instances. A class is identified by its name
//! and lives as long as the filter.

use super::{Answer, Found1, Given, Machine, Stop, constant};
use crate::dictionary::Dictionary;
use crate::heap::Heap;
use crate::run::methods::{ANY, Methods, takes};
use crate::tree::{Block, Call, Kind, Node, Role, Target};
use crate::value::{Object, STRUCT, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Classes that one filter may define.
pub(super) const CLASSES_MAX: usize = 256;
/// Classes that stand above another.
const ANCESTORS_MAX: usize = 32;

/// The methods of classes that code defines.
pub(in crate::run) const METHODS: &[Methods] =
    &[takes(0, 0, &["members", "name"]), takes(0, ANY, &["[]", "exception", "new"])];

/// What code says of a class or module.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    parent: Option<Arc<str>>,
    /// `include A`
    included: Vec<Arc<str>>,
    methods: HashMap<Arc<str>, Arc<Block>>,
    /// `def self.a`
    own: HashMap<Arc<str>, Arc<Block>>,
    /// `attr_reader :a`
    readers: Vec<Arc<str>>,
    /// `attr_writer :a`
    writers: Vec<Arc<str>>,
    /// Of a `Struct`.
    pub(super) members: Option<Vec<Arc<str>>>,
    pub(super) keyword_init: bool,
    /// `extend self`, `module_function`: its methods are its own too.
    extends_itself: bool,
}

/// The method that runs, for `super`.
#[derive(Clone, Debug)]
pub(super) struct Running {
    class: Arc<str>,
    name: Arc<str>,
    block: Arc<Block>,
}

fn field(heap: &Heap, name: &str) -> Value {
    heap.text(&format!("@{name}"))
}

impl Machine<'_, '_> {
    /// `class A < B … end`
    pub(super) fn define_class(
        &mut self,
        name: &Arc<str>,
        above: Option<&Node>,
        body: &Block,
    ) -> Answer {
        let heap = self.heap;
        let parent = match above {
            Some(node) => Some(Arc::<str>::from(self.eval(node)?.print(heap))),
            None => None,
        };
        let full: Arc<str> = match &self.inside {
            Some(outer) => format!("{outer}::{name}").into(),
            None => name.clone(),
        };
        if self.memory.classes.len() >= CLASSES_MAX {
            let message = format!("code defines more than {CLASSES_MAX} classes");
            return Err(Stop::raise("RuntimeError", message));
        }
        let class = self.memory.classes.entry(full.clone()).or_default();
        class.parent = parent.or(class.parent.take());
        let outer = self.inside.replace(full.clone());
        let this = std::mem::replace(&mut self.this, Value::Constant(full));
        let result = self.opaquely(|machine| machine.run_class(body));
        (self.inside, self.this) = (outer, this);
        result
    }

    /// `def a … end`
    pub(super) fn define(&mut self, name: &Arc<str>, block: &Arc<Block>, own: bool) -> Value {
        match self.inside.as_ref().and_then(|class| self.memory.classes.get_mut(class)) {
            Some(class) if own => class.own.insert(name.clone(), block.clone()),
            Some(class) => class.methods.insert(name.clone(), block.clone()),
            None => self.memory.functions.insert(name.clone(), block.clone()),
        };
        Value::Symbol(name.clone())
    }

    /// `attr_reader :a`, `include A` in the body of a class.
    pub(super) fn class_word(&mut self, name: &str, arguments: &[Value]) -> Option<Value> {
        let heap = self.heap;
        let is_body = matches!(&self.this, Value::Constant(_));
        let class = self.inside.as_ref().filter(|_| is_body)?;
        let class = self.memory.classes.get_mut(class)?;
        let names = arguments.iter().map(|one| Arc::<str>::from(one.print(heap)));
        match name {
            "attr_reader" => class.readers.extend(names),
            "attr_writer" => class.writers.extend(names),
            "attr_accessor" => {
                let names: Vec<_> = names.collect();
                class.readers.extend(names.clone());
                class.writers.extend(names);
            }
            "include" | "prepend" => class.included.extend(names),
            "extend" | "module_function" => class.extends_itself = true,
            "private" | "public" | "protected" | "private_class_method" | "private_constant" => {}
            _ => return None,
        }
        Some(Value::Nil)
    }

    /// A class, and all that stand above it.
    pub(super) fn ancestors(&self, class: &str) -> Vec<Arc<str>> {
        let mut found: Vec<Arc<str>> = vec![class.into()];
        let mut at = 0;
        while at < found.len() && found.len() < ANCESTORS_MAX {
            if let Some(class) = self.memory.classes.get(&found[at]) {
                let above = class.included.iter().rev().chain(&class.parent);
                let new: Vec<_> = above.filter(|one| !found.contains(one)).cloned().collect();
                found.splice(at + 1..at + 1, new);
            }
            at += 1;
        }
        found
    }

    /// Whether a class stands above another that code defines, or is it.
    pub(super) fn is_above(&self, class: &str, above: &str) -> bool {
        let is_exception = |name: &str| {
            !self.is_class(name)
                && (name.contains("Error")
                    || name.contains("Exception")
                    || name == "StopIteration"
                    || name.starts_with("Errno::"))
        };
        let ancestors = self.ancestors(class);
        ancestors
            .iter()
            .any(|one| &**one == above || (is_exception(one) && constant::is_error(one, above)))
    }

    pub(super) fn is_class(&self, name: &str) -> bool {
        self.memory.classes.contains_key(name)
    }

    /// A constant as code inside a class sees it.
    pub(super) fn constant(&self, name: &Arc<str>) -> Value {
        let heap = self.heap;
        let mut around = self.inside.as_deref();
        while let Some(class) = around {
            for ancestor in self.ancestors(class) {
                let full: Arc<str> = format!("{ancestor}::{name}").into();
                if let Some(value) = self.memory.kept.get(&full) {
                    return value.clone();
                }
                if self.memory.classes.contains_key(&full) {
                    return Value::Constant(full);
                }
            }
            around = class.rfind("::").map(|at| &class[..at]);
        }
        match self.memory.kept.get(name) {
            Some(value) => value.clone(),
            None => constant::value(heap, name),
        }
    }

    /// Keeps a constant; a `Struct` without a name gets this one.
    pub(super) fn keep_constant(&mut self, name: &Arc<str>, value: Value) {
        let full: Arc<str> = match &self.inside {
            Some(class) => format!("{class}::{name}").into(),
            None => name.clone(),
        };
        if let Value::Constant(class) = &value
            && class.starts_with(STRUCT)
            && let Some(inner) = self.memory.classes.get(class).cloned()
        {
            self.memory.classes.insert(full.clone(), inner);
            self.memory.kept.insert(full.clone(), Value::Constant(full));
            return;
        }
        self.memory.kept.insert(full, value);
    }

    /// `@a` of the object that runs; nothing outside of objects.
    pub(super) fn own_field(&self, name: &str) -> Option<Value> {
        let heap = self.heap;
        match &self.this {
            Value::Object(object) if name.starts_with('@') && !name.starts_with("@@") => {
                Some(object.fields.get(heap, &heap.text(name)).unwrap_or_default())
            }
            _ => None,
        }
    }

    /// Sets `@a` of the object that runs; false outside of objects.
    pub(super) fn set_own_field(&mut self, name: &str, value: &Value) -> bool {
        let heap = self.heap;
        match &self.this {
            Value::Object(object) if name.starts_with('@') && !name.starts_with("@@") => {
                object.fields.insert(heap, heap.text(name), value.clone());
                true
            }
            _ => false,
        }
    }

    fn find_method(&self, class: &str, name: &str) -> Option<(Arc<str>, Arc<Block>)> {
        self.ancestors(class).into_iter().find_map(|one| {
            let block = self.memory.classes.get(&one)?.methods.get(name)?.clone();
            Some((one, block))
        })
    }

    /// Whether objects of a class that code defines have a method.
    pub(super) fn has_method(&self, class: &str, name: &str) -> bool {
        let reads = |class: &Class| class.readers.iter().any(|reader| &**reader == name);
        self.find_method(class, name).is_some()
            || self
                .ancestors(class)
                .iter()
                .any(|one| self.memory.classes.get(one).is_some_and(reads))
    }

    /// Whether the object or class that runs has a method.
    pub(super) fn is_own_method(&self, name: &str) -> bool {
        match &self.this {
            Value::Object(object) => self.find_method(&object.class, name).is_some(),
            _ => false,
        }
    }

    fn run_method(
        &mut self,
        this: Value,
        (class, block): (Arc<str>, Arc<Block>),
        name: &str,
        arguments: Vec<Value>,
        given: Option<&Given>,
    ) -> Answer {
        let running = Running { class: class.clone(), name: name.into(), block: block.clone() };
        let outer = (
            std::mem::replace(&mut self.this, this),
            self.inside.replace(class),
            self.running.replace(running),
        );
        let result = self
            .keeping([outer.0.clone()], |machine| machine.call_function(&block, arguments, given));
        (self.this, self.inside, self.running) = outer;
        result
    }

    /// A method of an object.
    pub(super) fn instance_method(
        &mut self,
        object: &Object,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let this = || Value::Object(object.clone());
        if let Some(found) = self.find_method(&object.class, name) {
            return self.run_method(this(), found, name, arguments.to_vec(), given).map(Some);
        }
        self.opaquely(|machine| machine.given_method(object, name, arguments, given))
    }

    /// A method that the code did not write itself.
    fn given_method(
        &mut self,
        object: &Object,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        for ancestor in self.ancestors(&object.class) {
            let Some(class) = self.memory.classes.get(&ancestor) else { continue };
            let is_in = |names: &[Arc<str>], name: &str| names.iter().any(|one| &**one == name);
            if arguments.is_empty() && is_in(&class.readers, name) {
                return Ok(Some(object.fields.get(heap, &field(heap, name)).unwrap_or_default()));
            }
            if let (Some(bare), [value]) = (name.strip_suffix('='), arguments)
                && is_in(&class.writers, bare)
            {
                object.fields.insert(heap, field(heap, bare), value.clone());
                return Ok(Some(value.clone()));
            }
        }
        if let Some(found) = self.record_method(object, name, arguments, given)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.library_method(object, name, arguments, given)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.compared(object, name, arguments)? {
            return Ok(Some(found));
        }
        self.enumerated(object, name, arguments, given)
    }

    /// What `Enumerable` makes of `each`.
    fn enumerated(
        &mut self,
        object: &Object,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let list = heap.new_list(Vec::new());
        let enumerable = self.ancestors(&object.class).iter().any(|one| &**one == "Enumerable");
        if !enumerable || !super::methods::has(&Value::List(list), name) {
            return Ok(None);
        }
        let gather = Given::Gather(list);
        self.invoke(&Value::Object(object.clone()), "each", &[], Some(&gather))?;
        self.invoke(&Value::List(list), name, arguments, given).map(Some)
    }

    /// What `Comparable` makes of `<=>`.
    fn compared(&mut self, object: &Object, name: &str, arguments: &[Value]) -> Found1 {
        let comparable = self.ancestors(&object.class).iter().any(|one| &**one == "Comparable");
        let this = Value::Object(object.clone());
        if let (true, "between?" | "clamp", [low, high]) = (comparable, name, arguments) {
            let below = self.invoke(&this, "<", std::slice::from_ref(low), None)?.is_true();
            let above = self.invoke(&this, ">", std::slice::from_ref(high), None)?.is_true();
            return Ok(Some(match (name, below, above) {
                ("between?", ..) => Value::Bool(!below && !above),
                (_, true, _) => low.clone(),
                (_, _, true) => high.clone(),
                _ => this,
            }));
        }
        let (true, [other]) = (comparable, arguments) else { return Ok(None) };
        if !matches!(name, "<" | ">" | "<=" | ">=" | "==") {
            return Ok(None);
        }
        let order = self.invoke(&Value::Object(object.clone()), "<=>", arguments, None)?;
        let Value::Int(order) = order else {
            if name == "==" {
                return Ok(Some(Value::Bool(false)));
            }
            let other = super::object::word_of(other);
            let message = format!("comparison of {} with {other} failed", object.class);
            return Err(Stop::raise("ArgumentError", message));
        };
        Ok(Some(Value::Bool(match name {
            "<" => order < 0,
            ">" => order > 0,
            "<=" => order <= 0,
            ">=" => order >= 0,
            _ => order == 0,
        })))
    }

    /// `super`
    pub(super) fn call_above(&mut self, arguments: Option<Vec<Value>>) -> Answer {
        let heap = self.heap;
        let Some(running) = self.running.clone() else {
            return Err(Stop::raise("RuntimeError", "super called outside of method"));
        };
        let arguments = match arguments {
            Some(arguments) => arguments,
            None => self.own_arguments(&running.block),
        };
        let Value::Object(object) = self.this.clone() else {
            return Err(Stop::raise("NoMethodError", "super: no method above this one"));
        };
        let above = self.ancestors(&object.class);
        let behind = above.iter().skip_while(|one| **one != running.class).skip(1);
        let found = behind.into_iter().find_map(|one| {
            let class = self.memory.classes.get(one)?;
            Some((one.clone(), class.methods.get(&running.name)?.clone()))
        });
        if let Some(found) = found {
            return self.run_method(Value::Object(object), found, &running.name, arguments, None);
        }
        match &*running.name {
            "initialize" => {
                if let [message, ..] = arguments.as_slice() {
                    object.fields.insert(heap, heap.text(MESSAGE), message.clone());
                }
                self.fill_members(&object, &arguments)?;
                Ok(Value::Nil)
            }
            "to_s" | "inspect" => Ok(heap.text(&Value::Object(object).print(heap))),
            name => {
                let message = format!("super: no superclass method `{name}'");
                Err(Stop::raise("NoMethodError", message))
            }
        }
    }

    /// What the parameters of the method that runs hold now.
    fn own_arguments(&self, block: &Block) -> Vec<Value> {
        let scope = self.method_scope;
        let heap = self.heap;
        let mut values = Vec::new();
        for parameter in block.parameters.iter().filter(|one| one.role == Role::Position) {
            match &parameter.target {
                Target::Local(variable) => values.push(scope.get(heap, 0, variable.slot)),
                Target::Rest(inner) => {
                    if let Target::Local(variable) = &**inner
                        && let Value::List(items) = scope.get(heap, 0, variable.slot)
                    {
                        values.extend(items.items(heap));
                    }
                }
                Target::Group(_) | Target::Kept(_) | Target::Index(..) | Target::Attribute(..) => {}
            }
        }
        values
    }

    /// A method of a class that code defines.
    pub(super) fn class_method(
        &mut self,
        name: &Arc<str>,
        method: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        if !self.is_class(name) {
            return Ok(None);
        }
        for ancestor in self.ancestors(name) {
            let Some(class) = self.memory.classes.get(&ancestor) else { continue };
            let both = class.methods.get(method).filter(|_| class.extends_itself);
            if let Some(block) = class.own.get(method).or(both).cloned() {
                let this = Value::Constant(name.clone());
                let found = (ancestor, block);
                return self.run_method(this, found, method, arguments.to_vec(), given).map(Some);
            }
        }
        Ok(Some(match (method, arguments) {
            ("new" | "exception" | "[]", arguments) => self.make_object(name, arguments, given)?,
            ("name" | "to_s" | "inspect", []) => heap.text(name),
            ("members", []) => match self.members(name) {
                Some(members) => {
                    heap.list(members.iter().map(|one| Value::Symbol((*one).clone())).collect())
                }
                None => return Ok(None),
            },
            ("===", [value]) => Value::Bool(self.is_kind(value, name)),
            ("class", []) => Value::Constant("Class".into()),
            ("send" | "public_send", [method, rest @ ..]) => {
                self.invoke(&Value::Constant(name.clone()), &method.print(heap), rest, given)?
            }
            _ => return Ok(None),
        }))
    }

    fn make_object(
        &mut self,
        class: &Arc<str>,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Answer {
        let heap = self.heap;
        let fields = heap.new_hash(Dictionary::default());
        let object = Object { class: class.clone(), fields };
        let this = Value::Object(object.clone());
        let initialize = self.find_method(class, "initialize");
        match initialize {
            Some(found) => {
                self.run_method(this.clone(), found, "initialize", arguments.to_vec(), given)?;
            }
            None if self.members(class).is_some() => self.fill_members(&object, arguments)?,
            None if self.is_above(class, "Exception") => {
                if let [message, ..] = arguments {
                    object.fields.insert(heap, heap.text(MESSAGE), message.clone());
                }
            }
            None if !arguments.is_empty() => {
                let count = arguments.len();
                let message = format!("wrong number of arguments (given {count}, expected 0)");
                return Err(Stop::raise("ArgumentError", message));
            }
            None => {}
        }
        if !self.is_above(class, "Exception") {
            return Ok(this);
        }
        let message = match self.find_method(class, "message") {
            Some(found) => self.run_method(this, found, "message", Vec::new(), None)?.print(heap),
            None => {
                let given = object.fields.get(heap, &heap.text(MESSAGE));
                given.map_or(class.to_string(), |message| message.print(heap))
            }
        };
        Ok(Value::Error(Arc::new((class.to_string(), message))))
    }

    /// `self.a()` at the top is a call of a function.
    pub(super) fn is_top(&self, receiver: &Node) -> bool {
        matches!(receiver.kind, Kind::Itself) && matches!(self.this, Value::Nil)
    }
}

/// The message of an exception of a class that code defines.
const MESSAGE: &str = "@message";

/// The names that a class gives methods: what `attr_accessor :a` and `Struct.new(:a)` say.
pub(super) fn named_methods(call: &Call) -> Vec<String> {
    let tells = matches!(&*call.name, "attr_reader" | "attr_writer" | "attr_accessor")
        || (&*call.name == "new"
            && matches!(
                &call.receiver,
                Some(Node { kind: Kind::Constant(name), .. }) if &**name == "Struct"
            ));
    let symbol = |node: &Node| match &node.kind {
        Kind::Symbol(name) => Some(name.to_string()),
        _ => None,
    };
    match tells {
        true => call.arguments.iter().filter_map(symbol).collect(),
        false => Vec::new(),
    }
}

/// Whether a target is a constant.
pub(super) fn is_constant(target: &Target) -> bool {
    matches!(target, Target::Kept(name) if name.starts_with(char::is_uppercase))
}
