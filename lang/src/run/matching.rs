//! `match`: which arm takes the target, and what its pattern extracts from it.

use super::{Eval, Run, arithmetic, failure};
use crate::builtin::Extractor;
use crate::program::{
    Arm, Block, Expr, FieldPattern, FieldTest, Lookup, Match, Pattern, RecordPattern, Switch,
};
use crate::span::Span;
use crate::value::{Key, Kind, Value};

/// What a pattern is held against. The event is not taken as a whole unless a pattern asks for
/// it, so that a script can look at the event and change it in turns without a copy.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Event,
    Value(Value<'a>),
}

impl<'a> Run<'a, '_, '_> {
    /// The arm that takes the target; what its pattern binds is bound.
    pub(super) fn arm_of(&mut self, matching: &'a Match) -> Eval<'a, &'a Block> {
        let subject = match &matching.target {
            Expr::Event if self.event_kind() == Kind::Record => Subject::Event,
            target => Subject::Value(self.operand(target)?),
        };
        let mut switches = matching.switches.iter().peekable();
        let mut lookups = matching.lookups.iter().peekable();
        let mut number = 0;
        while number < matching.arms.len() {
            if let Some(switch) = switches.next_if(|switch| switch.first == number) {
                match jump(switch, subject) {
                    Jump::To(hit) => return Ok(&matching.arms[hit].body),
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
                number = self.next_arm(lookup, number, subject);
                if number == lookup.end {
                    continue;
                }
                tested = true;
            }
            let arm = &matching.arms[number];
            if self.arm_takes(arm, subject, tested)? {
                return Ok(&arm.body);
            }
            number += 1;
        }
        Err(failure::no_clause(self.whole(subject), matching.span).into())
    }

    /// `tested`: a look-up has found that the target passes the arm's test.
    fn arm_takes(&mut self, arm: &'a Arm, subject: Subject<'a>, tested: bool) -> Eval<'a, bool> {
        let matched = match (arm.bind, &arm.pattern) {
            (None, Pattern::Test(_)) if tested => true,
            (None, Pattern::Record(record)) => self.record_matches(record, subject)?,
            (None, Pattern::Any) => true,
            (None, pattern) => {
                let target = self.whole(subject);
                self.matches(pattern, target)?
            }
            (Some(slot), pattern) => match self.extract_from(pattern, subject)? {
                Some(result) => {
                    self.set_local(slot, result);
                    true
                }
                None => false,
            },
        };
        Ok(matched && self.guard(arm.guard.as_ref())?)
    }

    /// The next arm, from number `number` on, that the target may be for: one of the run or the
    /// one behind it. Only text passes a test.
    fn next_arm(&mut self, lookup: &Lookup, number: usize, subject: Subject<'a>) -> usize {
        let tested = match (&lookup.field, subject) {
            (Some((name, hash)), subject) => self.field_of(subject, name, *hash),
            (None, Subject::Value(target)) => Some(target),
            (None, Subject::Event) => None,
        };
        if let (true, Some(Value::Bytes(_))) = (lookup.compares, tested) {
            return number;
        }
        let from = number - lookup.first;
        let hit = tested.and_then(Value::as_str).and_then(|text| {
            self.arena().step(text.len());
            lookup.tests.first(text, from)
        });
        hit.map_or(lookup.end, |hit| lookup.first + hit)
    }

    fn extract_from(
        &mut self,
        pattern: &'a Pattern,
        subject: Subject<'a>,
    ) -> Eval<'a, Option<Value<'a>>> {
        if let Pattern::Record(record) = pattern {
            return self.extract_record(record, subject);
        }
        let target = self.whole(subject);
        self.extract(pattern, target)
    }

    fn whole(&mut self, subject: Subject<'a>) -> Value<'a> {
        match subject {
            Subject::Event => self.whole_event(),
            Subject::Value(value) => value,
        }
    }

    fn kind_of(&self, subject: Subject<'a>) -> Kind {
        match subject {
            Subject::Event => self.event_kind(),
            Subject::Value(value) => value.kind(),
        }
    }

    #[inline]
    fn field_of(&mut self, subject: Subject<'a>, name: &str, hash: u32) -> Option<Value<'a>> {
        let key = Key::with_hash(name, hash);
        match subject {
            Subject::Event => self.event_field(&key),
            Subject::Value(value) => value.get(&key),
        }
    }

    #[inline]
    pub(super) fn guard(&mut self, guard: Option<&'a (Expr, Span)>) -> Eval<'a, bool> {
        let Some((guard, span)) = guard else { return Ok(true) };
        if let Some(known) = self.known(guard) {
            return Ok(known);
        }
        self.truth(guard, "a guard", span)
    }

    /// Predicate mode: whether the pattern matches; nothing is built.
    pub(super) fn matches(&mut self, pattern: &'a Pattern, target: Value<'a>) -> Eval<'a, bool> {
        match pattern {
            Pattern::Any => Ok(true),
            Pattern::Expr(expr) => {
                let wanted = self.eval(expr)?;
                Ok(self.arena().equal(target, wanted))
            }
            Pattern::Test(test) => {
                Ok(target.as_str().is_some_and(|text| self.passes(&**test, text)))
            }
            Pattern::Record(record) => self.record_matches(record, Subject::Value(target)),
            Pattern::Array(patterns) => self.array_matches(patterns, target),
            Pattern::Tuple(patterns, open) => self.tuple_matches(patterns, *open, target),
        }
    }

    /// Whether a text passes a test. Its bytes are work; a test that gives up has done too much.
    #[inline]
    fn passes(&self, test: &dyn Extractor, text: &str) -> bool {
        self.arena().step(text.len());
        let passes = test.matches(text);
        if !passes && test.gave_up() {
            self.arena().step(usize::MAX);
        }
        passes
    }

    /// As [`Run::passes`], with what the test extracts.
    #[inline]
    fn extracted(&self, test: &'a dyn Extractor, text: &'a str) -> Option<Value<'a>> {
        self.arena().step(text.len());
        let found = test.extract(text, &self.context.call);
        if found.is_none() && test.gave_up() {
            self.arena().step(usize::MAX);
        }
        found
    }

    fn record_matches(
        &mut self,
        pattern: &'a RecordPattern,
        subject: Subject<'a>,
    ) -> Eval<'a, bool> {
        if self.kind_of(subject) != Kind::Record {
            return Ok(false);
        }
        for field in &pattern.fields {
            let value = self.field_of(subject, &field.name, field.hash);
            let matched = match (&field.test, value) {
                (FieldTest::Absent, value) => value.is_none(),
                (_, None) => false,
                (FieldTest::Test(test), Some(value)) => {
                    value.as_str().is_some_and(|text| self.passes(&**test, text))
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
                let wanted = self.operand(expr)?;
                Ok(arithmetic::compare(*op, value, wanted, field.span, self.arena())?)
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
                Ok(self.arena().equal(target, wanted).then_some(wanted))
            }
            Pattern::Test(test) => {
                Ok(target.as_str().and_then(|text| self.extracted(&**test, text)))
            }
            Pattern::Record(record) => self.extract_record(record, Subject::Value(target)),
            Pattern::Array(patterns) => self.extract_array(patterns, target),
            Pattern::Tuple(patterns, open) => self.extract_tuple(patterns, *open, target),
        }
    }

    /// A new record of only the fields that give a value.
    fn extract_record(
        &mut self,
        pattern: &'a RecordPattern,
        subject: Subject<'a>,
    ) -> Eval<'a, Option<Value<'a>>> {
        if self.kind_of(subject) != Kind::Record {
            return Ok(None);
        }
        let mut record = self.arena().record_builder(pattern.fields.len());
        for field in &pattern.fields {
            let value = self.field_of(subject, &field.name, field.hash);
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
                    value.as_str().and_then(|text| self.extracted(&**test, text))
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

/// Where a jump table leads.
enum Jump {
    /// This arm takes the target.
    To(usize),
    /// No arm of the run does.
    Past,
    /// The table cannot tell: walk the run.
    Walk,
}

fn jump(switch: &Switch, subject: Subject<'_>) -> Jump {
    // The event is a subject of its own only as a record.
    let Subject::Value(target) = subject else { return Jump::Past };
    let hit = match target {
        Value::Str(text) => switch.strings.find(text),
        Value::Int(number) => switch.integers.get(&i128::from(number)).copied(),
        Value::UInt(number) => switch.integers.get(&i128::from(number)).copied(),
        // Floats equal integers within a tolerance, bytes equal strings.
        Value::Float(_) | Value::Bytes(_) => return Jump::Walk,
        _ => return Jump::Past,
    };
    hit.map_or(Jump::Past, Jump::To)
}
