//! Values of Ruby code. A value that can change or contains others is a handle into the heap of
//! the filter, shared by all who hold it, as in Ruby; all others are plain data.

use super::decimal::Decimal;
use super::handle::{ClosureRef, HashRef, ListRef, RangeRef, ScopeRef, TextRef};
use super::tree::Block;
use chrono::{DateTime, FixedOffset, Utc};
use num_bigint::BigInt;
use std::sync::Arc;
use temblor_stdlib::pattern::{Groups, Pattern};

/// What the names of classes begin with that `Struct.new` makes.
pub(crate) const STRUCT: &str = "#<Class:Struct";
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
