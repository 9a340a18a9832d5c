//! Conditions, compiled from their tree, with the exact truth tables of Logstash. Testing changes
//! nothing; it fails only where an order of things that have none is asked for.

use super::complain;
use super::pattern::Pattern;
use super::settings::Settings;
use super::syntax::tree::{Comparison, Expr, ExprKind, Operand, OperandKind, Word};
use std::cmp::Ordering;
use temblor_lang::diagnostic::Diagnostic;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// A compiled condition.
#[derive(Debug)]
pub enum Test {
    /// `true` at load.
    Constant(bool),
    /// `a and b`
    All(Vec<Test>),
    /// `a or b`
    Any(Vec<Test>),
    /// `!(a)`
    Not(Box<Test>),
    /// `a xor b`
    Xor(Box<Test>, Box<Test>),
    /// `[a]`
    Truth(FieldRef),
    /// `a == b`
    Equal(Side, Side),
    /// `a < b`
    Order(Side, Comparison, Side),
    /// `[a] =~ /b/`
    Match(FieldRef, Pattern),
    /// `a in b`
    In(Side, Side),
}

/// One side of a comparison.
#[derive(Debug)]
pub enum Side {
    /// `[a][b]`
    Field(FieldRef),
    /// `"x"`, `5`, `["x", 5]`
    Constant(Constant),
}

/// A value in a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `"x"`
    Text(String),
    /// `5`
    Int(i64),
    /// `5.5`
    Float(f64),
    /// `["x", 5]`
    List(Vec<Constant>),
}

/// Things of different kinds were to be put in an order: the event goes no further.
/// The reason is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoOrder(pub Box<str>);

impl NoOrder {
    #[cold]
    fn between(left: &Side, right: &Side, event: &LogEvent<'_>) -> Self {
        let (left, right) = (said(left, event), said(right, event));
        Self(format!("{left} and {right} have no order").into())
    }
}

/// A side of a comparison, and what it is in this event.
fn said(side: &Side, event: &LogEvent<'_>) -> String {
    match side {
        Side::Constant(constant) => format!("`{}`", constant.print()),
        Side::Field(field) => {
            let kind = match event.get(field) {
                None => "missing",
                Some(Datum::Null) => "null",
                Some(Datum::Bool(_)) => "a boolean",
                Some(Datum::Int(_) | Datum::UInt(_) | Datum::Float(_)) => "a number",
                Some(Datum::Str(_)) => "a text",
                Some(Datum::Time(_)) => "a time",
                Some(Datum::List(_)) => "a list",
                Some(Datum::Map(_)) => "a map",
            };
            format!("`{}` ({kind})", field.text())
        }
    }
}

/// Compiles conditions.
#[derive(Debug)]
pub(crate) struct Compiler<'c> {
    /// For variables.
    pub settings: &'c Settings,
    /// What is wrong.
    pub diagnostics: &'c mut Vec<Diagnostic>,
}

impl Compiler<'_> {
    /// Compiles a condition; what is wrong with it is a diagnostic and never true.
    pub(crate) fn compile(&mut self, expr: &Expr) -> Test {
        match &expr.kind {
            ExprKind::All(parts) => Test::All(parts.iter().map(|one| self.compile(one)).collect()),
            ExprKind::Any(parts) => Test::Any(parts.iter().map(|one| self.compile(one)).collect()),
            ExprKind::Xor(left, right) => {
                Test::Xor(Box::new(self.compile(left)), Box::new(self.compile(right)))
            }
            ExprKind::Nand(left, right) => {
                let both = vec![self.compile(left), self.compile(right)];
                Test::Not(Box::new(Test::All(both)))
            }
            ExprKind::Not(inner) => Test::Not(Box::new(self.compile(inner))),
            ExprKind::In { left, right, negated } => negate(self.membership(left, right), *negated),
            ExprKind::Compare { left, comparison, right } => self.compare(left, *comparison, right),
            ExprKind::Match { left, regex, negated } => {
                negate(self.matching(left, regex), *negated)
            }
            ExprKind::Value(operand) => match self.side(operand) {
                Some(Side::Field(field)) => Test::Truth(field),
                Some(Side::Constant(constant)) => Test::Constant(constant.is_true()),
                None => Test::Constant(false),
            },
        }
    }

    fn bad(&mut self, span: temblor_lang::span::Span, reason: &str) -> Test {
        self.diagnostics.push(complain::bad_condition(span, reason));
        Test::Constant(false)
    }

    fn compare(&mut self, left: &Operand, comparison: Comparison, right: &Operand) -> Test {
        let span = left.span.to(right.span);
        let (Some(left), Some(right)) = (self.side(left), self.side(right)) else {
            return Test::Constant(false);
        };
        match (comparison, &left, &right) {
            (Comparison::Equal, _, _) => Test::Equal(left, right),
            (Comparison::Unequal, _, _) => Test::Not(Box::new(Test::Equal(left, right))),
            (_, Side::Constant(Constant::List(_)), _)
            | (_, _, Side::Constant(Constant::List(_))) => self.bad(span, "a list has no order"),
            _ => Test::Order(left, comparison, right),
        }
    }

    fn matching(&mut self, left: &Operand, regex: &Word) -> Test {
        // Variables count in texts, not in literals between slashes.
        let pattern = match Pattern::compile(&regex.text) {
            Ok(pattern) => pattern,
            Err(reason) => {
                self.diagnostics.push(complain::bad_pattern(&regex.text, regex.span, &reason));
                return Test::Constant(false);
            }
        };
        match self.side(left) {
            Some(Side::Field(field)) => Test::Match(field, pattern),
            Some(Side::Constant(Constant::Text(text))) => Test::Constant(pattern.is_in(&text)),
            Some(_) => self.bad(left.span, "only a field can be matched"),
            None => Test::Constant(false),
        }
    }

    fn membership(&mut self, left: &Operand, right: &Operand) -> Test {
        if self.settings.explains
            && let OperandKind::Field(text) = &right.kind
            && text.starts_with(['['])
            && text[1..].starts_with(['"', '\''])
        {
            self.diagnostics.push(complain::list_of_one(right.span, text));
        }
        let span = left.span;
        let (Some(left), Some(right)) = (self.side(left), self.side(right)) else {
            return Test::Constant(false);
        };
        match (&left, &right) {
            (Side::Constant(Constant::List(_)), _) => {
                self.bad(span, "a list on the left of `in` is not supported by Logstash")
            }
            (Side::Constant(left), Side::Constant(right)) => Test::Constant(left.is_in(right)),
            (Side::Constant(Constant::Int(_) | Constant::Float(_)), Side::Field(_)) => {
                if self.settings.explains {
                    self.diagnostics.push(complain::odd(
                        span,
                        "a number is found in a list of numbers alone, not in a field that equals it",
                        "compare with `==` where the field is one number",
                    ));
                }
                Test::In(left, right)
            }
            _ => Test::In(left, right),
        }
    }

    fn side(&mut self, operand: &Operand) -> Option<Side> {
        if let OperandKind::Field(text) = &operand.kind {
            return match FieldRef::parse(text) {
                Ok(field) => Some(Side::Field(field)),
                Err(reason) => {
                    self.diagnostics.push(complain::bad_reference(text, operand.span, reason));
                    None
                }
            };
        }
        self.constant(operand).map(Side::Constant)
    }

    fn constant(&mut self, operand: &Operand) -> Option<Constant> {
        match &operand.kind {
            OperandKind::Text(text) => {
                let text = self.settings.unescape(text);
                match self.settings.substitute(&text) {
                    Ok(text) => Some(Constant::Text(text)),
                    Err(name) => {
                        self.diagnostics.push(complain::unset_variable(&name, operand.span));
                        None
                    }
                }
            }
            OperandKind::Number(text) => Some(match text.parse() {
                Ok(number) => Constant::Int(number),
                Err(_) => Constant::Float(text.trim_end_matches('.').parse().unwrap_or(f64::NAN)),
            }),
            OperandKind::List(items) => items
                .iter()
                .map(|item| self.constant(item))
                .collect::<Option<_>>()
                .map(Constant::List),
            OperandKind::Regex(_) | OperandKind::Field(_) => {
                let reason = "a regular expression or field cannot stand here";
                self.diagnostics.push(complain::bad_condition(operand.span, reason));
                None
            }
        }
    }
}

fn negate(test: Test, negated: bool) -> Test {
    if negated { Test::Not(Box::new(test)) } else { test }
}

impl Constant {
    fn is_true(&self) -> bool {
        !matches!(self, Constant::Text(text) if text.is_empty() || text == "false")
    }

    fn is_in(&self, right: &Constant) -> bool {
        match (self, right) {
            (Constant::Text(left), Constant::Text(right)) => right.contains(left.as_str()),
            (_, Constant::List(items)) => items.contains(self),
            _ => false,
        }
    }

    fn equals(&self, datum: &Datum<'_>) -> bool {
        match (self, datum) {
            (Constant::Text(left), Datum::Str(right)) => left == right,
            (Constant::Int(left), Datum::Int(right)) => left == right,
            (Constant::Int(left), Datum::Float(right)) => *left as f64 == *right,
            (Constant::Float(left), Datum::Int(right)) => *left == *right as f64,
            (Constant::Float(left), Datum::Float(right)) => left == right,
            (Constant::List(left), Datum::List(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| left.equals(right))
            }
            _ => false,
        }
    }

    /// As it is printed.
    fn print(&self) -> String {
        match self {
            Constant::Text(text) => text.clone(),
            Constant::Int(number) => number.to_string(),
            Constant::Float(number) => temblor_logstash_event::datum::float_text(*number),
            Constant::List(items) => {
                items.iter().map(Constant::print).collect::<Vec<_>>().join(",")
            }
        }
    }
}

impl Test {
    /// Shows `see` the fields of the condition, in the order of the text.
    pub(crate) fn each_field<'t>(&'t self, see: &mut dyn FnMut(&'t FieldRef)) {
        let mut sides = |sides: [&'t Side; 2]| {
            for side in sides {
                if let Side::Field(field) = side {
                    see(field);
                }
            }
        };
        match self {
            Test::Constant(_) => {}
            Test::All(parts) | Test::Any(parts) => {
                parts.iter().for_each(|part| part.each_field(see));
            }
            Test::Not(inner) => inner.each_field(see),
            Test::Xor(left, right) => [left, right].iter().for_each(|part| part.each_field(see)),
            Test::Truth(field) | Test::Match(field, _) => see(field),
            Test::Equal(left, right) | Test::Order(left, _, right) | Test::In(left, right) => {
                sides([left, right]);
            }
        }
    }

    /// Whether it holds for an event.
    pub(crate) fn holds(&self, event: &LogEvent<'_>) -> Result<bool, NoOrder> {
        Ok(match self {
            Test::Constant(value) => *value,
            Test::All(parts) => {
                for part in parts {
                    if !part.holds(event)? {
                        return Ok(false);
                    }
                }
                true
            }
            Test::Any(parts) => {
                for part in parts {
                    if part.holds(event)? {
                        return Ok(true);
                    }
                }
                false
            }
            Test::Not(inner) => !inner.holds(event)?,
            Test::Xor(left, right) => left.holds(event)? != right.holds(event)?,
            Test::Truth(field) => match event.get(field) {
                None => field.steps.is_empty(),
                Some(Datum::Null | Datum::Bool(false)) => false,
                Some(Datum::Str(text)) => !text.is_empty() && *text != "false",
                Some(_) => true,
            },
            Test::Equal(left, right) => equal(left, right, event),
            Test::Order(left, comparison, right) => {
                let order = order(left, right, event)?;
                match comparison {
                    Comparison::Less => order == Ordering::Less,
                    Comparison::AtMost => order != Ordering::Greater,
                    Comparison::Greater => order == Ordering::Greater,
                    _ => order != Ordering::Less,
                }
            }
            Test::Match(field, pattern) => {
                event.get(field).and_then(Datum::as_str).is_some_and(|text| pattern.is_in(text))
            }
            Test::In(left, right) => is_in(left, right, event),
        })
    }
}

fn equal(left: &Side, right: &Side, event: &LogEvent<'_>) -> bool {
    match (left, right) {
        (Side::Constant(left), Side::Constant(right)) => left == right,
        (Side::Field(field), Side::Constant(constant))
        | (Side::Constant(constant), Side::Field(field)) => {
            event.get(field).is_some_and(|value| constant.equals(value))
        }
        (Side::Field(left), Side::Field(right)) => {
            let value = |field| event.get(field).unwrap_or(&Datum::Null);
            same(value(left), value(right))
        }
    }
}

/// Equality of two values: numbers by value, all else by kind and content.
fn same(left: &Datum<'_>, right: &Datum<'_>) -> bool {
    match (left, right) {
        (Datum::Int(left), Datum::Float(right)) | (Datum::Float(right), Datum::Int(left)) => {
            *left as f64 == *right
        }
        _ => left == right,
    }
}

/// A value that has an order.
enum Ranked<'v> {
    Text(&'v str),
    Int(i64),
    Float(f64),
    Time(chrono::DateTime<chrono::Utc>),
}

fn ranked<'v>(side: &'v Side, event: &'v LogEvent<'_>) -> Option<Ranked<'v>> {
    Some(match side {
        Side::Constant(Constant::Text(text)) => Ranked::Text(text),
        Side::Constant(Constant::Int(number)) => Ranked::Int(*number),
        Side::Constant(Constant::Float(number)) => Ranked::Float(*number),
        Side::Constant(Constant::List(_)) => return None,
        Side::Field(field) => match event.get(field) {
            Some(Datum::Str(text)) => Ranked::Text(text),
            Some(Datum::Int(number)) => Ranked::Int(*number),
            Some(Datum::UInt(number)) => Ranked::Float(*number as f64),
            Some(Datum::Float(number)) => Ranked::Float(*number),
            Some(Datum::Time(time)) => Ranked::Time(*time),
            _ => return None,
        },
    })
}

fn order(left: &Side, right: &Side, event: &LogEvent<'_>) -> Result<Ordering, NoOrder> {
    let ranks = ranked(left, event).zip(ranked(right, event));
    let found = ranks.and_then(|ranks| match ranks {
        (Ranked::Text(left), Ranked::Text(right)) => Some(left.cmp(right)),
        (Ranked::Int(left), Ranked::Int(right)) => Some(left.cmp(&right)),
        (Ranked::Int(left), Ranked::Float(right)) => (left as f64).partial_cmp(&right),
        (Ranked::Float(left), Ranked::Int(right)) => left.partial_cmp(&(right as f64)),
        (Ranked::Float(left), Ranked::Float(right)) => left.partial_cmp(&right),
        (Ranked::Time(left), Ranked::Time(right)) => Some(left.cmp(&right)),
        _ => None,
    });
    found.ok_or_else(|| NoOrder::between(left, right, event))
}

fn is_in(left: &Side, right: &Side, event: &LogEvent<'_>) -> bool {
    match (left, right) {
        (Side::Field(field), Side::Constant(constant)) => {
            let Some(value) = event.get(field) else { return false };
            match (constant, value) {
                (_, Datum::Null) => false,
                (Constant::Text(text), Datum::Str(part)) => text.contains(part),
                (Constant::List(items), Datum::Str(value)) => items.iter().any(|item| match item {
                    Constant::Text(text) => text == value,
                    other => other.print() == *value,
                }),
                (Constant::List(items), value) => {
                    let printed = value.text();
                    items.iter().any(|item| item.print() == printed)
                }
                _ => false,
            }
        }
        (Side::Constant(constant), Side::Field(field)) => match (constant, event.get(field)) {
            (Constant::Text(text), Some(Datum::Str(value))) => value.contains(text.as_str()),
            (constant, Some(Datum::List(items))) => items.iter().any(|item| constant.equals(item)),
            _ => false,
        },
        (Side::Field(left), Side::Field(right)) => match (event.get(left), event.get(right)) {
            (None | Some(Datum::Null | Datum::List(_) | Datum::Map(_)), _) | (_, None) => false,
            (Some(value), Some(Datum::List(items))) => items.iter().any(|item| same(item, value)),
            (Some(Datum::Str(part)), Some(Datum::Str(text))) => text.contains(part),
            (Some(left), Some(right)) => same(left, right),
        },
        (Side::Constant(left), Side::Constant(right)) => left.is_in(right),
    }
}
