//! Which methods the values of each class have. Each family of methods is declared beside its code; from here derive
//! what may be called, the check of code when it is loaded, `respond_to?`, `methods` and suggestions. A method that is
//! not declared is never called.

use super::lacking::LACKING;
use super::{
    address, call, class, constant, enumerable, event, function, hash, library, list, locator,
    number, object, pattern, record, set, text, time,
};
use crate::value::{Clock, Value};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// Methods that take as many arguments as each other.
#[derive(Debug)]
pub(super) struct Methods {
    pub least: u8,
    pub most: u8,
    pub names: &'static [&'static str],
}

/// As many arguments as there are.
pub(super) const ANY: u8 = u8::MAX;

/// Declares methods that take `least` to `most` arguments.
pub(super) const fn takes(least: u8, most: u8, names: &'static [&'static str]) -> Methods {
    Methods { least, most, names }
}

/// A class and the families of its methods.
struct Class {
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "it tells the rows apart for who reads them")
    )]
    name: &'static str,
    families: &'static [&'static [Methods]],
}

const fn of(name: &'static str, families: &'static [&'static [Methods]]) -> Class {
    Class { name, families }
}

/// What values have by their class; [`class_of`] has the same order.
static CLASSES: &[Class] = &[
    of("Object", &[object::METHODS]),
    of("String", &[text::METHODS]),
    of("Symbol", &[text::OF_SYMBOLS]),
    of("Integer", &[number::METHODS, number::OF_INTEGERS]),
    of("Array", &[list::METHODS, list::LOOKING, enumerable::METHODS]),
    of("Hash", &[hash::METHODS, hash::META, enumerable::METHODS]),
    of("Range", &[list::OF_RANGES, list::LOOKING, enumerable::METHODS]),
    of("Set", &[set::METHODS, enumerable::METHODS]),
    of("Time", &[time::METHODS]),
    of("Regexp", &[pattern::METHODS]),
    of("MatchData", &[pattern::OF_MATCHES]),
    of("Proc", &[function::METHODS]),
    of("LogStash::Event", &[event::METHODS]),
    of("IPAddr", &[address::METHODS]),
    of("Exception", &[call::OF_EXCEPTIONS]),
    of("NilClass", &[object::OF_NIL]),
    of("TrueClass", &[object::OF_TRUTH]),
    of(
        "Struct",
        &[record::METHODS, library::METHODS, locator::METHODS, class::METHODS, enumerable::METHODS],
    ),
    of("Class", &[class::METHODS, constant::METHODS]),
    of("Float", &[number::METHODS, number::OF_FLOATS]),
    of("Rational", &[number::METHODS]),
    of("BigDecimal", &[number::METHODS, number::OF_DECIMALS]),
    of("Date", &[time::METHODS, time::OF_DATES]),
];

/// The place of a value's class among [`CLASSES`].
fn class_of(value: &Value) -> usize {
    match value {
        Value::Text(_) => 1,
        Value::Symbol(_) => 2,
        Value::Int(_) | Value::Big(_) => 3,
        Value::List(_) => 4,
        Value::Hash(_) => 5,
        Value::Range(_) => 6,
        Value::Set(_) => 7,
        Value::Time(_, Clock::Date | Clock::DateTime) => 22,
        Value::Time(..) => 8,
        Value::Regex(..) => 9,
        Value::Match(_) => 10,
        Value::Lambda(_) | Value::NewEvent => 11,
        Value::Event(_) => 12,
        Value::Address(..) => 13,
        Value::Error(_) => 14,
        Value::Nil => 15,
        Value::Bool(_) => 16,
        Value::Object(_) => 17,
        Value::Constant(_) => 18,
        Value::Float(_) => 19,
        Value::Rational(_) => 20,
        Value::Decimal(_) => 21,
    }
}

/// For each name the classes that have a method of it, a bit for each.
static BY_NAME: LazyLock<HashMap<&'static str, u32, BuildHasherDefault<NameHasher>>> =
    LazyLock::new(|| {
        let mut classes = HashMap::<_, u32, _>::default();
        for (at, class) in CLASSES.iter().enumerate() {
            for name in names(class) {
                *classes.entry(name).or_default() |= 1 << at;
            }
        }
        classes
    });

/// Hashes names (FNV-1a): all are known beforehand, so that nobody can choose them to collide.
struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        // The table looks at the highest bits first.
        self.0 ^ (self.0 << 32)
    }
}

fn names(class: &Class) -> impl Iterator<Item = &'static str> {
    class.families.iter().flat_map(|family| family.iter()).flat_map(|row| row.names).copied()
}

/// Whether values of this class have a method of their own.
pub(super) fn has(value: &Value, name: &str) -> bool {
    BY_NAME.get(name).is_some_and(|classes| classes & (1 << class_of(value)) != 0)
}

/// Whether every value has the method.
pub(super) fn is_of_all(name: &str) -> bool {
    BY_NAME.get(name).is_some_and(|classes| classes & 1 != 0)
}

/// Whether any class has the method.
pub(super) fn is_known(name: &str) -> bool {
    BY_NAME.contains_key(name)
}

/// All names, for suggestions.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    BY_NAME.keys().copied()
}

/// The names of the methods of a value.
pub(super) fn listed(value: &Value) -> Vec<&'static str> {
    let mut all: Vec<_> = names(&CLASSES[class_of(value)]).chain(names(&CLASSES[0])).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// How many arguments a method of a value takes.
pub(super) fn arity(value: &Value, name: &str) -> Option<(u8, u8)> {
    let families = CLASSES[class_of(value)].families.iter().chain(CLASSES[0].families);
    let rows = families.flat_map(|family| family.iter()).filter(|row| row.names.contains(&name));
    rows.map(|row| (row.least, row.most)).reduce(|one, two| (one.0.min(two.0), one.1.max(two.1)))
}

/// Whether Ruby has the method for values of this class, and this interpreter has not.
pub(super) fn lacks(value: &Value, name: &str) -> bool {
    let class = match value.class() {
        "LogStash::Timestamp" => "Time",
        class => class,
    };
    LACKING.iter().any(|(of, names)| *of == class && names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_classes_is_that_of_values() {
        let samples = [
            (Value::Symbol("a".into()), "Symbol"),
            (Value::Int(1), "Integer"),
            (Value::Float(1.0), "Float"),
            (Value::Nil, "NilClass"),
            (Value::Bool(true), "TrueClass"),
            (Value::NewEvent, "Proc"),
            (Value::Event(0), "LogStash::Event"),
            (Value::Constant("A".into()), "Class"),
        ];
        for (value, class) in samples {
            assert_eq!(CLASSES[class_of(&value)].name, class);
        }
        assert_eq!(CLASSES.len(), 23);
    }

    #[test]
    fn nothing_is_known_and_lacking() {
        for (class, names) in LACKING {
            let known = CLASSES.iter().filter(|one| one.name == *class).flat_map(names_of);
            let both: Vec<_> = known.filter(|name| names.contains(name)).collect();
            assert!(both.is_empty(), "{class} both has and lacks {both:?}");
        }
    }

    fn names_of(class: &Class) -> Vec<&'static str> {
        names(class).collect()
    }
}
