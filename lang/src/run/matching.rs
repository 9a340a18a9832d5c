//! `match`: which arm takes the target, and what its pattern extracts from it.

use super::{Eval, Run, arithmetic, failure};
use crate::program::{
    Arm, Expr, FieldPattern, FieldTest, Lookup, Match, Pattern, RecordPattern, Switch,
};
use crate::span::Span;
use crate::value::{Key, Value, equal};

impl<'a> Run<'a, '_, '_> {
    pub(super) fn matching(&mut self, matching: &'a Match) -> Eval<'a> {
        let target = self.eval(&matching.target)?;
        let mut switches = matching.switches.iter().peekable();
        let mut lookups = matching.lookups.iter().peekable();
        let mut number = 0;
        while number < matching.arms.len() {
            if let Some(switch) = switches.next_if(|switch| switch.first == number) {
                match jump(switch, target) {
                    Jump::To(hit) => return self.block(&matching.arms[hit].body),
                    Jump::Past => {
                        number = switch.end;
                        continue;
                    }
                    Jump::Walk => {}
                }
            }
            while lookups.next_if(|lookup| lookup.end <= number).is_some() {}
            let mut tested = false;
            if let Some(lookup) = lookups.peek().filter(|lookup| lookup.first <= number) {
                number = next_arm(lookup, number, target);
                if number == lookup.end {
                    continue;
                }
                tested = true;
            }
            let arm = &matching.arms[number];
            if self.arm_takes(arm, target, tested)? {
                return self.block(&arm.body);
            }
            number += 1;
        }
        Err(failure::no_clause(target, matching.span).into())
    }

    /// `tested`: a look-up has found that the target passes the arm's test.
    fn arm_takes(&mut self, arm: &'a Arm, target: Value<'a>, tested: bool) -> Eval<'a, bool> {
        let matched = match arm.bind {
            None if tested && matches!(arm.pattern, Pattern::Test(_)) => true,
            None => self.matches(&arm.pattern, target)?,
            Some(slot) => match self.extract(&arm.pattern, target)? {
                Some(result) => {
                    self.set_local(slot, result);
                    true
                }
                None => false,
            },
        };
        Ok(matched && self.guard(arm.guard.as_ref())?)
    }

    pub(super) fn guard(&mut self, guard: Option<&'a (Expr, Span)>) -> Eval<'a, bool> {
        let Some((guard, span)) = guard else { return Ok(true) };
        let value = self.eval(guard)?;
        value.as_bool().ok_or_else(|| failure::not_bool(value, "a guard", *span).into())
    }

    /// Predicate mode: whether the pattern matches; nothing is built.
    pub(super) fn matches(&mut self, pattern: &'a Pattern, target: Value<'a>) -> Eval<'a, bool> {
        match pattern {
            Pattern::Any => Ok(true),
            Pattern::Expr(expr) => Ok(equal(target, self.eval(expr)?)),
            Pattern::Test(test) => Ok(target.as_str().is_some_and(|text| test.matches(text))),
            Pattern::Record(record) => self.record_matches(record, target),
            Pattern::Array(patterns) => self.array_matches(patterns, target),
            Pattern::Tuple(patterns, open) => self.tuple_matches(patterns, *open, target),
        }
    }

    fn record_matches(&mut self, pattern: &'a RecordPattern, target: Value<'a>) -> Eval<'a, bool> {
        if target.kind() != crate::value::Kind::Record {
            return Ok(false);
        }
        for field in &pattern.fields {
            let value = target.get(&Key::with_hash(&field.name, field.hash));
            let matched = match (&field.test, value) {
                (FieldTest::Absent, value) => value.is_none(),
                (_, None) => false,
                (FieldTest::Test(test), Some(value)) => {
                    value.as_str().is_some_and(|text| test.matches(text))
                }
                (FieldTest::Pattern(pattern), Some(value)) => self.matches(pattern, value)?,
                (_, Some(value)) => self.field_holds(field, value)?,
            };
            if !matched {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `present` and comparisons: they extract nothing that the field itself does not hold.
    fn field_holds(&mut self, field: &'a FieldPattern, value: Value<'a>) -> Eval<'a, bool> {
        match &field.test {
            FieldTest::Compare(op, expr) => {
                let wanted = self.eval(expr)?;
                Ok(arithmetic::compare(*op, value, wanted, field.span)?)
            }
            _ => Ok(true),
        }
    }

    fn array_matches(&mut self, patterns: &'a [Pattern], target: Value<'a>) -> Eval<'a, bool> {
        let Some(items) = target.as_array(self.arena()) else { return Ok(false) };
        for pattern in patterns {
            let mut found = false;
            for item in items {
                found = found || self.matches(pattern, *item)?;
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn tuple_matches(
        &mut self,
        patterns: &'a [Pattern],
        open: bool,
        target: Value<'a>,
    ) -> Eval<'a, bool> {
        let Some(items) = tuple_items(patterns, open, target, self.arena()) else {
            return Ok(false);
        };
        for (pattern, item) in patterns.iter().zip(items) {
            if !self.matches(pattern, *item)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Extracting mode: what the pattern gives for the target, or `None` without a match.
    pub(super) fn extract(
        &mut self,
        pattern: &'a Pattern,
        target: Value<'a>,
    ) -> Eval<'a, Option<Value<'a>>> {
        match pattern {
            Pattern::Any => Ok(Some(target)),
            Pattern::Expr(expr) => {
                let wanted = self.eval(expr)?;
                Ok(equal(target, wanted).then_some(wanted))
            }
            Pattern::Test(test) => {
                Ok(target.as_str().and_then(|text| test.extract(text, &self.context.call)))
            }
            Pattern::Record(record) => self.extract_record(record, target),
            Pattern::Array(patterns) => self.extract_array(patterns, target),
            Pattern::Tuple(patterns, open) => self.extract_tuple(patterns, *open, target),
        }
    }

    /// A new record of only the fields that give a value.
    fn extract_record(
        &mut self,
        pattern: &'a RecordPattern,
        target: Value<'a>,
    ) -> Eval<'a, Option<Value<'a>>> {
        if target.kind() != crate::value::Kind::Record {
            return Ok(None);
        }
        let mut record = self.arena().record_builder(pattern.fields.len());
        for field in &pattern.fields {
            let value = target.get(&Key::with_hash(&field.name, field.hash));
            let Some(value) = value else {
                if matches!(field.test, FieldTest::Absent) {
                    continue;
                }
                return Ok(None);
            };
            let extracted = match &field.test {
                FieldTest::Absent => return Ok(None),
                FieldTest::Present => Some(value),
                FieldTest::Compare(..) if self.field_holds(field, value)? => continue,
                FieldTest::Compare(..) => None,
                FieldTest::Test(test) => {
                    value.as_str().and_then(|text| test.extract(text, &self.context.call))
                }
                FieldTest::Pattern(pattern) => self.extract(pattern, value)?,
            };
            match extracted {
                Some(extracted) => record.insert(&field.name, extracted),
                None => return Ok(None),
            }
        }
        Ok(Some(record.finish()))
    }

    /// Pairs of index and value, grouped by pattern; every pattern must find an element.
    fn extract_array(
        &mut self,
        patterns: &'a [Pattern],
        target: Value<'a>,
    ) -> Eval<'a, Option<Value<'a>>> {
        let arena = self.arena();
        let Some(items) = target.as_array(arena) else { return Ok(None) };
        let mut pairs = arena.array_builder(patterns.len());
        for pattern in patterns {
            let mut found = false;
            for (index, item) in items.iter().enumerate() {
                let Some(extracted) = self.extract(pattern, *item)? else { continue };
                found = true;
                if !matches!(pattern, Pattern::Any) {
                    pairs.push(arena.array([Value::UInt(index as u64), extracted]));
                }
            }
            if !found {
                return Ok(None);
            }
        }
        Ok(Some(pairs.finish()))
    }

    fn extract_tuple(
        &mut self,
        patterns: &'a [Pattern],
        open: bool,
        target: Value<'a>,
    ) -> Eval<'a, Option<Value<'a>>> {
        let arena = self.arena();
        let Some(items) = tuple_items(patterns, open, target, arena) else { return Ok(None) };
        let mut results = arena.array_builder(patterns.len());
        for (pattern, item) in patterns.iter().zip(items) {
            match self.extract(pattern, *item)? {
                Some(extracted) => results.push(extracted),
                None => return Ok(None),
            }
        }
        Ok(Some(results.finish()))
    }
}

/// The target's elements, if it is an array of a fitting length.
fn tuple_items<'a>(
    patterns: &[Pattern],
    open: bool,
    target: Value<'a>,
    arena: &'a crate::value::Arena,
) -> Option<&'a [Value<'a>]> {
    let items = target.as_array(arena)?;
    let fits = if open { items.len() >= patterns.len() } else { items.len() == patterns.len() };
    fits.then_some(items)
}

/// The next arm, from number `number` on, that the target may be for: one of the run or the one
/// behind it. Only text passes a test.
fn next_arm(lookup: &Lookup, number: usize, target: Value<'_>) -> usize {
    let tested = match &lookup.field {
        None => Some(target),
        Some((name, hash)) => target.get(&Key::with_hash(name, *hash)),
    };
    let from = number - lookup.first;
    let hit = tested.and_then(Value::as_str).and_then(|text| lookup.tests.first(text, from));
    hit.map_or(lookup.end, |hit| lookup.first + hit)
}

/// Where a jump table leads.
enum Jump {
    /// This arm takes the target.
    To(usize),
    /// No arm of the run does.
    Past,
    /// The table cannot tell: walk the run.
    Walk,
}

fn jump(switch: &Switch, target: Value<'_>) -> Jump {
    let hit = match target {
        Value::Str(text) => switch.strings.get(text),
        Value::Int(number) => switch.integers.get(&i128::from(number)),
        Value::UInt(number) => switch.integers.get(&i128::from(number)),
        // Floats equal integers within a tolerance, bytes equal strings.
        Value::Float(_) | Value::Bytes(_) => return Jump::Walk,
        _ => return Jump::Past,
    };
    hit.map_or(Jump::Past, |arm| Jump::To(*arm))
}
