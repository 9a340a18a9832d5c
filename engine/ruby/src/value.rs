//! Values of Ruby code. A value that can change or contains others is a handle into the heap of
//! the filter, shared by all who hold it, as in Ruby; all others are plain data.

use super::budget::{Breach, DEPTH_MAX};
use super::heap::{ClosureRef, HashRef, Heap, ListRef, RangeRef, ScopeRef, TextRef};
use super::numeric::{self, Decimal};
use super::text::Content;
use super::tree::Block;
use chrono::{DateTime, FixedOffset, Utc};
use num_bigint::BigInt;
use std::sync::Arc;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_stdlib::pattern::{Groups, Pattern};

/// What the names of classes begin with that `Struct.new` makes.
pub(crate) const STRUCT: &str = "#<Class:Struct";
/// Lists and maps of an event nest no deeper than this when they become values of code.
const EVENT_DEPTH_MAX: usize = 1_500;

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
    Text(TextRef),
    /// `:a`
    Symbol(Arc<str>),
    /// `[1]`
    List(ListRef),
    /// `{ "a" => 1 }`
    Hash(HashRef),
    /// `1..2`
    Range(RangeRef),
    /// `Time.now`, and of which class it is.
    Time(DateTime<FixedOffset>, Clock),
    /// `/a/` with its text
    Regex(Arc<Pattern>, Arc<str>),
    /// What a pattern found: the groups, with the text before and behind.
    Match(Arc<Found>),
    /// `->(a) { b }` with the variables that it saw
    Lambda(ClosureRef),
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
    Set(HashRef),
    /// `A.new` of a class that the code defines
    Object(Object),
}

/// An object of a class that the code defines, of a `Struct` or an `OpenStruct`.
#[derive(Clone, Debug)]
pub struct Object {
    pub(crate) class: Arc<str>,
    /// `@a` by name, in order.
    pub(crate) fields: HashRef,
}

/// `from..to`
#[derive(Clone, Debug, Default)]
pub(crate) struct Range {
    pub from: Value,
    pub to: Value,
    /// Whether the end is left out.
    pub exclusive: bool,
}

/// The classes of moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// `Time` in the zone of its own, counted in seconds.
    Time,
    /// `Time` in UTC.
    Utc,
    /// `LogStash::Timestamp`
    Stamp,
    /// `Date`, counted in days.
    Date,
    /// `DateTime`, counted in days.
    DateTime,
}

impl Clock {
    /// Whether numbers that are added are days.
    pub(crate) fn counts_days(self) -> bool {
        matches!(self, Clock::Date | Clock::DateTime)
    }
}

impl Object {
    /// Whether its fields are its value, as those of a `Struct`.
    pub(crate) fn is_record(&self, heap: &Heap) -> bool {
        let fields = self.fields.pairs(heap);
        fields.iter().all(|(name, _)| matches!(name, Value::Symbol(_)))
            && (self.class.starts_with(STRUCT) || !fields.is_empty())
    }
}

/// Code with the variables that it sees.
#[derive(Clone, Debug)]
pub(crate) struct Closure {
    pub block: Arc<Block>,
    /// The variables around its own.
    pub scope: ScopeRef,
    /// Whether it is a lambda; `return` and `break` leave the method around any other block.
    pub(crate) is_lambda: bool,
    /// The object that is `self` in it.
    pub this: Value,
    /// The call in which it was made.
    pub frame: u64,
}

/// What a pattern found: where the groups lie in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub(crate) text: Arc<str>,
    /// In bytes; the first is the whole.
    pub(crate) groups: Groups,
    pub(crate) names: Arc<[(String, usize)]>,
}

impl Found {
    /// The text of a group.
    pub(crate) fn group(&self, at: usize) -> Option<&str> {
        let (from, to) = (*self.groups.get(at)?)?;
        self.text.get(from..to)
    }

    /// Where a group begins and ends, in characters.
    pub(crate) fn place(&self, at: usize) -> Option<(i64, i64)> {
        let (from, to) = (*self.groups.get(at)?)?;
        let characters = |end: usize| self.text[..end].chars().count() as i64;
        Some((characters(from), characters(to)))
    }

    /// What stands before the match.
    pub(crate) fn before(&self) -> &str {
        let (from, _) = self.groups[0].expect("a match has a place");
        &self.text[..from]
    }

    /// What stands behind the match.
    pub(crate) fn after(&self) -> &str {
        let (_, to) = self.groups[0].expect("a match has a place");
        &self.text[to..]
    }
}

impl Value {
    /// What a hash has under a symbol.
    #[must_use]
    pub fn entry(&self, heap: &Heap, name: &str) -> Option<Value> {
        match self {
            Value::Hash(hash) => hash.get(heap, &Value::Symbol(name.into())),
            _ => None,
        }
    }

    /// Puts a value under a symbol of a hash.
    pub fn set_entry(&self, heap: &Heap, name: &str, value: Value) {
        if let Value::Hash(hash) = self {
            hash.insert(heap, Value::Symbol(name.into()), value);
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
    pub fn of_datum(heap: &Heap, datum: &Datum<'_>) -> Self {
        Self::of_datum_at(heap, datum, 0)
    }

    fn of_datum_at(heap: &Heap, datum: &Datum<'_>, depth: usize) -> Self {
        if depth > EVENT_DEPTH_MAX {
            heap.budget().exceed(Breach::Depth);
            return Value::Nil;
        }
        match datum {
            Datum::Null => Value::Nil,
            Datum::Bool(value) => Value::Bool(*value),
            Datum::Int(number) => Value::Int(*number),
            Datum::UInt(number) => Value::Big(Arc::new(BigInt::from(*number))),
            Datum::Float(number) => Value::Float(*number),
            Datum::Str(text) => heap.text(text),
            Datum::Time(time) => Value::timestamp(*time),
            Datum::List(items) => {
                let item = |item| Self::of_datum_at(heap, item, depth + 1);
                heap.list(items.iter().map(item).collect())
            }
            Datum::Map(map) => Self::of_map_at(heap, map, depth),
        }
    }

    /// A copy of a map of an event.
    #[must_use]
    pub fn of_map(heap: &Heap, map: &Map<'_>) -> Self {
        Self::of_map_at(heap, map, 0)
    }

    fn of_map_at(heap: &Heap, map: &Map<'_>, depth: usize) -> Self {
        let pair = |(key, value)| {
            let key = heap.new_text(Content::Plain(Arc::from(key)));
            key.freeze(heap);
            (Value::Text(key), Self::of_datum_at(heap, value, depth + 1))
        };
        heap.hash(map.iter().map(pair))
    }

    /// As a value of an event; nothing for what an event cannot hold.
    #[must_use]
    pub fn to_datum<'a>(&self, heap: &Heap, arena: &'a Arena) -> Option<Datum<'a>> {
        self.datum_at(heap, arena, 0)
    }

    fn datum_at<'a>(&self, heap: &Heap, arena: &'a Arena, depth: usize) -> Option<Datum<'a>> {
        if !heap.descend(depth) {
            return None;
        }
        let text = |text: &str| {
            // The copy lives as long as the event.
            heap.budget().hold_for_event(text.len());
            Datum::Str(arena.str(text))
        };
        Some(match self {
            Value::Nil => Datum::Null,
            Value::Bool(value) => Datum::Bool(*value),
            Value::Int(number) => Datum::Int(*number),
            Value::Float(number) => Datum::Float(*number),
            Value::Text(one) => text(&one.str(heap)),
            Value::Symbol(one) => text(one),
            // Logstash has no place for a `Date` in events.
            Value::Time(_, clock) if clock.counts_days() => return None,
            Value::Time(time, _) => Datum::Time(time.with_timezone(&Utc)),
            Value::List(items) => {
                let items = items.items(heap);
                let items = items.iter().map(|item| item.datum_at(heap, arena, depth + 1));
                Datum::List(items.collect::<Option<_>>()?)
            }
            Value::Big(number) => match u64::try_from(&**number) {
                Ok(number) => Datum::UInt(number),
                Err(_) => Datum::Float(numeric::float(self).unwrap_or(f64::INFINITY)),
            },
            Value::Decimal(_) => Datum::Float(numeric::float(self).unwrap_or(f64::NAN)),
            Value::Hash(hash) => {
                let mut map = Map::default();
                for (key, value) in hash.pairs(heap) {
                    let value = value.datum_at(heap, arena, depth + 1)?;
                    map.insert(arena.str(&key.print(heap)), value);
                }
                Datum::Map(map)
            }
            _ => return None,
        })
    }

    /// Ruby's `==`.
    #[must_use]
    pub fn equals(&self, heap: &Heap, other: &Value) -> bool {
        self.equals_at(heap, other, 0)
    }

    fn equals_at(&self, heap: &Heap, other: &Value, depth: usize) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) | (Value::NewEvent, Value::NewEvent) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Int(left), Value::Int(right)) => left == right,
            (Value::Float(left), Value::Float(right)) => left == right,
            (Value::Text(left), Value::Text(right)) => {
                left == right
                    || (left.len(heap) == right.len(heap)
                        && heap.budget().spend_bytes(left.len(heap))
                        && left.content(heap) == right.content(heap))
            }
            (Value::Symbol(left), Value::Symbol(right))
            | (Value::Constant(left), Value::Constant(right))
            | (Value::Regex(_, left), Value::Regex(_, right)) => left == right,
            (Value::Time(left, _), Value::Time(right, _)) => left == right,
            (Value::Event(left), Value::Event(right)) => left == right,
            (Value::Lambda(left), Value::Lambda(right)) => left == right,
            (Value::Error(left), Value::Error(right)) => left == right,
            (Value::Match(left), Value::Match(right)) => left == right,
            (Value::Object(left), Value::Object(right)) => {
                left.fields == right.fields
                    || (left.class == right.class
                        && left.is_record(heap)
                        && equal_pairs(heap, left.fields, right.fields, depth))
            }
            (left, right) if left.is_number() && right.is_number() => {
                numeric::order(left, right) == Some(std::cmp::Ordering::Equal)
            }
            (Value::Address(left, mine), Value::Address(right, other)) => {
                (left, mine) == (right, other)
            }
            (Value::Range(left), Value::Range(right)) => {
                let (left, right) = (left.get(heap), right.get(heap));
                heap.descend(depth)
                    && left.exclusive == right.exclusive
                    && left.from.equals_at(heap, &right.from, depth + 1)
                    && left.to.equals_at(heap, &right.to, depth + 1)
            }
            (Value::List(left), Value::List(right)) => {
                left == right
                    || (left.len(heap) == right.len(heap)
                        && heap.descend(depth)
                        && left
                            .items(heap)
                            .iter()
                            .zip(&right.items(heap))
                            .all(|(left, right)| left.equals_at(heap, right, depth + 1)))
            }
            (Value::Hash(left), Value::Hash(right)) | (Value::Set(left), Value::Set(right)) => {
                left == right || equal_pairs(heap, *left, *right, depth)
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
            Value::Time(_, Clock::Time | Clock::Utc) => "Time",
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
    pub(crate) fn is_number(&self) -> bool {
        matches!(
            self,
            Value::Int(_)
                | Value::Float(_)
                | Value::Big(_)
                | Value::Rational(_)
                | Value::Decimal(_)
        )
    }

    /// Bytes that it takes outside of the cells of the heap, divided among those who share them.
    pub(crate) fn shared_bytes(&self) -> usize {
        /// Bytes around the content of what is shared.
        const AROUND: usize = 32;
        fn part<T: ?Sized>(shared: &Arc<T>, bytes: usize) -> usize {
            (bytes + AROUND) / Arc::strong_count(shared).max(1)
        }
        let bytes_of = |number: &BigInt| number.bits() as usize / 8;
        match self {
            Value::Symbol(name) | Value::Constant(name) | Value::Regex(_, name) => {
                part(name, name.len())
            }
            Value::Match(found) => {
                part(found, 24 * found.groups.len()) + part(&found.text, found.text.len())
            }
            Value::Error(error) => part(error, error.0.len() + error.1.len()),
            Value::Big(number) => part(number, bytes_of(number)),
            Value::Rational(parts) => part(parts, bytes_of(&parts.0) + bytes_of(&parts.1)),
            Value::Decimal(number) => part(number, bytes_of(&number.digits)),
            _ => 0,
        }
    }
}

fn equal_pairs(heap: &Heap, left: HashRef, right: HashRef, depth: usize) -> bool {
    left.len(heap) == right.len(heap)
        && heap.descend(depth)
        && left.pairs(heap).iter().all(|(key, value)| {
            right.get(heap, key).is_some_and(|other| value.equals_at(heap, &other, depth + 1))
        })
}

impl Heap {
    /// Pays for a look into a value at this depth; false when code has gone beyond a bound.
    pub(crate) fn descend(&self, depth: usize) -> bool {
        if depth > DEPTH_MAX {
            self.budget().exceed(Breach::Depth);
        }
        self.budget().spend(1)
    }
}
