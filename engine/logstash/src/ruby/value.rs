//! Values of Ruby code. Lists and hashes are shared, as in Ruby: who changes one changes it for all
//! who hold it. No lock is held while another is taken.

use super::numeric::{self, Decimal};
use super::text::{Content, Encoding, Text};
use super::tree::Block;
use crate::datum::{Datum, Map};
use crate::pattern::Pattern;
use chrono::{DateTime, FixedOffset, Utc};
use num_bigint::BigInt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use temblor_lang::value::Arena;

/// What the names of classes begin with that `Struct.new` makes.
pub(super) const STRUCT: &str = "#<Class:Struct";
/// Lists and hashes nest no deeper when they are printed, compared or put into an event.
pub(super) const DEPTH_MAX: usize = 100;

/// A value of Ruby code.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `nil`
    #[default]
    Nil,
    /// `true`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1.5`
    Float(f64),
    /// `"a"`
    Text(Text),
    /// `:a`
    Symbol(Arc<str>),
    /// `[1]`
    List(Shared<Vec<Value>>),
    /// `{ "a" => 1 }`
    Hash(Shared<Dictionary>),
    /// `1..2`; whether the end is left out
    Range(Arc<(Value, Value, bool)>),
    /// `Time.now`, and of which class it is.
    Time(DateTime<FixedOffset>, Clock),
    /// `/a/` with its text
    Regex(Arc<Pattern>, Arc<str>),
    /// What a pattern found: the groups, with the text before and behind.
    Match(Arc<Found>),
    /// `->(a) { b }` with the variables that it saw
    Lambda(Arc<Closure>),
    /// `event`, by number
    Event(usize),
    /// `Time`, `LogStash::Event`
    Constant(Arc<str>),
    /// An exception: class and message.
    Error(Arc<(String, String)>),
    /// `new_event_block`
    NewEvent,
    /// `IPAddr.new("10.0.0.0/8")`: the address and the length of its prefix.
    Address(std::net::IpAddr, u8),
    /// A whole number of more than 63 bits.
    Big(Arc<BigInt>),
    /// `3r`: numerator and denominator
    Rational(Arc<(BigInt, BigInt)>),
    /// `BigDecimal("1.5")`
    Decimal(Arc<Decimal>),
    /// `Set.new([1])`, its members as keys
    Set(Shared<Dictionary>),
    /// `A.new` of a class that the code defines
    Object(Arc<Object>),
}

/// An object of a class that the code defines, of a `Struct` or an `OpenStruct`.
#[derive(Debug)]
pub struct Object {
    pub(super) class: Arc<str>,
    /// `@a` by name, in order.
    pub(super) fields: Shared<Dictionary>,
}

/// The classes of moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// `Time`, counted in seconds.
    Time,
    /// `LogStash::Timestamp`
    Stamp,
    /// `Date`, counted in days.
    Date,
    /// `DateTime`, counted in days.
    DateTime,
}

impl Clock {
    /// Whether numbers that are added are days.
    pub(super) fn counts_days(self) -> bool {
        matches!(self, Clock::Date | Clock::DateTime)
    }
}

/// A container that several values may hold.
#[derive(Debug, Default)]
pub struct Shared<T>(Arc<Mutex<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Shared<T> {
    pub(super) fn new(inner: T) -> Self {
        Self(Arc::new(Mutex::new(inner)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Object {
    /// Whether its fields are its value, as those of a `Struct`.
    pub(super) fn is_record(&self) -> bool {
        self.fields.lock().pairs().iter().all(|(name, _)| matches!(name, Value::Symbol(_)))
            && (self.class.starts_with(STRUCT) || self.fields.lock().len() > 0)
    }
}

/// Code with the variables that it saw when it was made.
#[derive(Debug)]
pub struct Closure {
    pub(super) block: Arc<Block>,
    pub(super) locals: Vec<(Arc<str>, Value)>,
    /// Whether it is a lambda; `return` and `break` leave the method around any other block.
    pub(super) is_lambda: bool,
    /// The object that is `self` in it.
    pub(super) this: Value,
    /// The call in which it was made: while that goes on, its variables are shared with it.
    pub(super) frame: u64,
}

/// What a pattern found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub(super) groups: Vec<Option<Arc<str>>>,
    /// Where they begin and end, in characters.
    pub(super) places: Vec<Option<(i64, i64)>>,
    pub(super) names: Vec<(String, usize)>,
    pub(super) before: Arc<str>,
    pub(super) after: Arc<str>,
}

/// A hash in order of insertion.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    /// Removed entries leave holes, which are filled up when they are many.
    entries: Vec<Option<(Value, Value)>>,
    places: HashMap<Key, usize>,
    /// What a missing key is.
    pub(super) default: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Text(Arc<str>),
    Symbol(Arc<str>),
    Int(i64),
    /// As it is printed.
    Other(String),
}

impl Key {
    fn of(value: &Value) -> Self {
        match value {
            Value::Text(text) => match text.content() {
                Content::Plain(text) => Key::Text(text),
                Content::Bytes(..) => Key::Other(value.inspect()),
            },
            Value::Symbol(text) => Key::Symbol(text.clone()),
            Value::Int(number) => Key::Int(*number),
            other => Key::Other(other.inspect()),
        }
    }
}

impl Dictionary {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn get(&self, key: &Value) -> Option<Value> {
        let at = *self.places.get(&Key::of(key))?;
        self.entries[at].as_ref().map(|(_, value)| value.clone())
    }

    /// Puts in a pair. A text is copied, as who changes it later must not change the key.
    pub(super) fn insert(&mut self, key: Value, value: Value) {
        let name = Key::of(&key);
        let key = match key {
            Value::Text(text) if !text.is_frozen() => {
                let copy = Text::new(text.content());
                copy.freeze();
                Value::Text(copy)
            }
            key => key,
        };
        match self.places.get(&name) {
            Some(at) => self.entries[*at] = Some((key, value)),
            None => {
                self.places.insert(name, self.entries.len());
                self.entries.push(Some((key, value)));
            }
        }
    }

    pub(super) fn remove(&mut self, key: &Value) -> Option<Value> {
        let at = self.places.remove(&Key::of(key))?;
        let removed = self.entries[at].take().map(|(_, value)| value);
        if self.entries.len() > 2 * self.places.len() + 8 {
            let old = std::mem::take(&mut self.entries);
            self.places.clear();
            old.into_iter().flatten().for_each(|(key, value)| self.insert(key, value));
        }
        removed
    }

    pub(super) fn pairs(&self) -> Vec<(Value, Value)> {
        self.entries.iter().flatten().cloned().collect()
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.places.clear();
    }
}

impl FromIterator<(Value, Value)> for Dictionary {
    fn from_iter<I: IntoIterator<Item = (Value, Value)>>(pairs: I) -> Self {
        let mut dictionary = Self::default();
        pairs.into_iter().for_each(|(key, value)| dictionary.insert(key, value));
        dictionary
    }
}

impl Value {
    /// A text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Value::Text(text.into())
    }

    /// Bytes in no encoding; a text where they are ASCII.
    #[must_use]
    pub fn binary(bytes: &[u8]) -> Self {
        Value::Text(Text::new(Content::of(bytes, Encoding::Binary)))
    }

    /// Bytes of UTF-8, or what should be.
    #[must_use]
    pub fn bytes(bytes: &[u8]) -> Self {
        Value::Text(Text::new(Content::of(bytes, Encoding::Utf8)))
    }

    /// A list.
    #[must_use]
    pub fn list(items: Vec<Value>) -> Self {
        Value::List(Shared::new(items))
    }

    /// A hash.
    #[must_use]
    pub fn hash(pairs: impl IntoIterator<Item = (Value, Value)>) -> Self {
        Value::Hash(Shared::new(pairs.into_iter().collect()))
    }

    /// What a hash has under a symbol.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<Value> {
        match self {
            Value::Hash(hash) => hash.lock().get(&Value::Symbol(name.into())),
            _ => None,
        }
    }

    /// Puts a value under a symbol of a hash.
    pub fn set_entry(&self, name: &str, value: Value) {
        if let Value::Hash(hash) = self {
            hash.lock().insert(Value::Symbol(name.into()), value);
        }
    }

    /// Whether a condition holds.
    #[must_use]
    pub fn is_true(&self) -> bool {
        !matches!(self, Value::Nil | Value::Bool(false))
    }

    /// `LogStash::Timestamp`
    #[must_use]
    pub fn timestamp(time: DateTime<Utc>) -> Self {
        Value::Time(time.fixed_offset(), Clock::Stamp)
    }

    /// A copy of a value of an event.
    #[must_use]
    pub fn of_datum(datum: &Datum<'_>) -> Self {
        match datum {
            Datum::Null => Value::Nil,
            Datum::Bool(value) => Value::Bool(*value),
            Datum::Int(number) => Value::Int(*number),
            Datum::UInt(number) => Value::Big(Arc::new(BigInt::from(*number))),
            Datum::Float(number) => Value::Float(*number),
            Datum::Str(text) => Value::text(text),
            Datum::Time(time) => Value::timestamp(*time),
            Datum::List(items) => Value::list(items.iter().map(Self::of_datum).collect()),
            Datum::Map(map) => Self::of_map(map),
        }
    }

    /// A copy of a map of an event.
    #[must_use]
    pub fn of_map(map: &Map<'_>) -> Self {
        Value::hash(map.iter().map(|(key, value)| (Value::text(key), Self::of_datum(value))))
    }

    /// As a value of an event; nothing for what an event cannot hold.
    #[must_use]
    pub fn to_datum<'a>(&self, arena: &'a Arena) -> Option<Datum<'a>> {
        self.datum_at(arena, 0)
    }

    fn datum_at<'a>(&self, arena: &'a Arena, depth: usize) -> Option<Datum<'a>> {
        if depth > DEPTH_MAX {
            return None;
        }
        Some(match self {
            Value::Nil => Datum::Null,
            Value::Bool(value) => Datum::Bool(*value),
            Value::Int(number) => Datum::Int(*number),
            Value::Float(number) => Datum::Float(*number),
            Value::Text(text) => Datum::Str(arena.str(&text.str())),
            Value::Symbol(text) => Datum::Str(arena.str(text)),
            // Logstash has no place for a `Date` in events.
            Value::Time(_, clock) if clock.counts_days() => return None,
            Value::Time(time, _) => Datum::Time(time.with_timezone(&Utc)),
            Value::List(items) => {
                let items = items.lock().clone();
                let items = items.iter().map(|item| item.datum_at(arena, depth + 1));
                Datum::List(items.collect::<Option<_>>()?)
            }
            Value::Big(number) => match u64::try_from(&**number) {
                Ok(number) => Datum::UInt(number),
                Err(_) => Datum::Float(numeric::float(self).unwrap_or(f64::INFINITY)),
            },
            Value::Decimal(_) => Datum::Float(numeric::float(self).unwrap_or(f64::NAN)),
            Value::Hash(hash) => {
                let pairs = hash.lock().pairs();
                let mut map = Map::default();
                for (key, value) in pairs {
                    map.insert(arena.str(&key.print()), value.datum_at(arena, depth + 1)?);
                }
                Datum::Map(map)
            }
            _ => return None,
        })
    }

    /// Ruby's `==`.
    #[must_use]
    pub fn equals(&self, other: &Value) -> bool {
        self.equals_at(other, 0)
    }

    fn equals_at(&self, other: &Value, depth: usize) -> bool {
        match (self, other) {
            _ if depth > DEPTH_MAX => false,
            (Value::Nil, Value::Nil) | (Value::NewEvent, Value::NewEvent) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Int(left), Value::Int(right)) => left == right,
            (Value::Float(left), Value::Float(right)) => left == right,
            (Value::Text(left), Value::Text(right)) => {
                left.is(right) || left.content() == right.content()
            }
            (Value::Symbol(left), Value::Symbol(right))
            | (Value::Constant(left), Value::Constant(right))
            | (Value::Regex(_, left), Value::Regex(_, right)) => left == right,
            (Value::Time(left, _), Value::Time(right, _)) => left == right,
            (Value::Event(left), Value::Event(right)) => left == right,
            (Value::Object(left), Value::Object(right)) => {
                Arc::ptr_eq(left, right)
                    || (left.class == right.class
                        && left.is_record()
                        && Value::Hash(left.fields.clone())
                            .equals_at(&Value::Hash(right.fields.clone()), depth + 1))
            }
            (Value::Set(left), Value::Set(right)) => {
                Value::Hash(left.clone()).equals_at(&Value::Hash(right.clone()), depth + 1)
            }
            (left, right) if left.is_number() && right.is_number() => {
                numeric::order(left, right) == Some(std::cmp::Ordering::Equal)
            }
            (Value::Address(left, mine), Value::Address(right, other)) => {
                (left, mine) == (right, other)
            }
            (Value::Range(left), Value::Range(right)) => {
                left.2 == right.2 && left.0.equals(&right.0) && left.1.equals(&right.1)
            }
            (Value::List(left), Value::List(right)) => {
                if left.is(right) {
                    return true;
                }
                let (left, right) = (left.lock().clone(), right.lock().clone());
                left.len() == right.len()
                    && left.iter().zip(&right).all(|(left, right)| left.equals_at(right, depth + 1))
            }
            (Value::Hash(left), Value::Hash(right)) => {
                if left.is(right) {
                    return true;
                }
                let (left, right) = (left.lock().pairs(), right.lock().clone());
                left.len() == right.len()
                    && left.iter().all(|(key, value)| {
                        right.get(key).is_some_and(|other| value.equals_at(&other, depth + 1))
                    })
            }
            _ => false,
        }
    }

    /// The name of its class.
    #[must_use]
    pub fn class(&self) -> &str {
        match self {
            Value::Nil => "NilClass",
            Value::Bool(true) => "TrueClass",
            Value::Bool(false) => "FalseClass",
            Value::Int(_) => "Integer",
            Value::Float(_) => "Float",
            Value::Text(_) => "String",
            Value::Symbol(_) => "Symbol",
            Value::List(_) => "Array",
            Value::Hash(_) => "Hash",
            Value::Range(_) => "Range",
            Value::Time(_, Clock::Time) => "Time",
            Value::Time(_, Clock::Stamp) => "LogStash::Timestamp",
            Value::Time(_, Clock::Date) => "Date",
            Value::Time(_, Clock::DateTime) => "DateTime",
            Value::Regex(..) => "Regexp",
            Value::Match(_) => "MatchData",
            Value::Lambda(_) | Value::NewEvent => "Proc",
            Value::Event(_) => "LogStash::Event",
            Value::Constant(_) => "Class",
            Value::Address(..) => "IPAddr",
            Value::Error(error) => &error.0,
            Value::Big(_) => "Integer",
            Value::Rational(_) => "Rational",
            Value::Decimal(_) => "BigDecimal",
            Value::Set(_) => "Set",
            Value::Object(object) => &object.class,
        }
    }

    /// Whether it is a number of any kind.
    pub(super) fn is_number(&self) -> bool {
        matches!(
            self,
            Value::Int(_)
                | Value::Float(_)
                | Value::Big(_)
                | Value::Rational(_)
                | Value::Decimal(_)
        )
    }
}
