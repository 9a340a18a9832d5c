//! `for`: goes through an array or a record and gathers what the arms give.

use super::{Eval, Run, arithmetic, failure};
use crate::error::EvalError;
use crate::program::{Block, CompArm, Comprehension, Expr, Guarding, Key};
use crate::syntax::tree::BinaryOp;
use crate::value::{ArrayBuilder, Kind, Record, RecordBuilder, Value};
use bumpalo::collections::Vec;

/// Where the results go.
enum Gather<'a> {
    Nowhere,
    Array(ArrayBuilder<'a>),
    Record(RecordBuilder<'a>),
    Fold(Value<'a>, BinaryOp),
}

/// What the guard of a loop has said of each field of a record.
#[derive(Debug)]
pub(crate) struct Verdicts<'a> {
    record: &'a Record<'a>,
    taken: Vec<'a, bool>,
}

impl<'a> Run<'a, '_, '_> {
    pub(super) fn comprehension(&mut self, comprehension: &'a Comprehension) -> Eval<'a> {
        let target = self.eval(&comprehension.target)?;
        let target = self.tapes.opened(target, self.context.call.arena);
        let items = target.as_array(self.arena());
        let record = target.as_record(self.arena());
        let turns = items.map_or(0, <[_]>::len) + record.map_or(0, Record::len);
        let mut gather = self.start(comprehension, turns)?;
        if let Some(items) = items {
            for (index, item) in items.iter().enumerate() {
                let index = Value::UInt(index as u64);
                let arm = self.arm_for(comprehension, index, *item)?;
                if !self.turn(comprehension, arm, &mut gather)? {
                    break;
                }
            }
        } else if let Some(record) = record {
            self.fields(comprehension, record, &mut gather)?;
        }
        Ok(match gather {
            Gather::Nowhere => Value::Null,
            Gather::Array(items) => items.finish(),
            Gather::Record(record) => record.finish(),
            Gather::Fold(value, _) => value,
        })
    }

    fn fields(
        &mut self,
        comprehension: &'a Comprehension,
        record: &'a Record<'a>,
        gather: &mut Gather<'a>,
    ) -> Eval<'a, ()> {
        let before = self.verdicts.take().filter(|verdicts| {
            comprehension.guarding == Guarding::OppositeOfNoted
                && std::ptr::eq(verdicts.record, record)
        });
        let mut taken = Vec::new_in(self.arena().bump());
        if comprehension.guarding == Guarding::Noted {
            taken.reserve_exact(record.len());
        }
        for (number, field) in record.entries().iter().enumerate() {
            let verdict = before.as_ref().and_then(|before| before.taken.get(number));
            if verdict == Some(&true) {
                // A turn without an arm.
                self.spend(comprehension.span)?;
                continue;
            }
            self.memo.note(&field.name());
            let (key, value) = (Value::Str(field.key), field.value);
            let arm = if verdict.is_some() {
                comprehension.arms.first().inspect(|arm| self.bind_turn(arm, key, value))
            } else {
                self.arm_for(comprehension, key, value)?
            };
            if comprehension.guarding == Guarding::Noted {
                taken.push(arm.is_some());
            }
            if !self.turn(comprehension, arm, gather)? {
                break;
            }
        }
        if comprehension.guarding == Guarding::Noted {
            self.verdicts = Some(Verdicts { record, taken });
        }
        Ok(())
    }

    /// `turns`: how many elements there are to go through.
    fn start(&mut self, comprehension: &'a Comprehension, turns: usize) -> Eval<'a, Gather<'a>> {
        let arena = self.arena();
        if !comprehension.used {
            return Ok(Gather::Nowhere);
        }
        let Some(into) = &comprehension.into else {
            return Ok(Gather::Array(arena.array_builder(turns)));
        };
        let initial = self.eval(into)?;
        let op = comprehension.fold.unwrap_or(BinaryOp::Add);
        if let Kind::Array | Kind::Record = initial.kind()
            && op != BinaryOp::Add
        {
            // It only fails when there is something to gather.
            return Ok(Gather::Fold(initial, op));
        }
        if let Some(items) = initial.as_array(arena) {
            let mut builder = arena.array_builder(items.len() + turns);
            builder.extend(items);
            return Ok(Gather::Array(builder));
        }
        if let Some(record) = initial.as_record(arena) {
            return Ok(Gather::Record(RecordBuilder::from_record(arena, record, turns)));
        }
        Ok(Gather::Fold(initial, op))
    }

    /// The arm that takes an element.
    #[inline]
    fn arm_for(
        &mut self,
        comprehension: &'a Comprehension,
        key: Value<'a>,
        value: Value<'a>,
    ) -> Eval<'a, Option<&'a CompArm>> {
        for arm in &comprehension.arms {
            self.bind_turn(arm, key, value);
            if self.guard(arm.guard.as_ref())? {
                return Ok(Some(arm));
            }
        }
        Ok(None)
    }

    #[inline]
    fn bind_turn(&mut self, arm: &CompArm, key: Value<'a>, value: Value<'a>) {
        self.set_local(arm.key, key);
        self.set_local(arm.value, value);
    }

    /// Runs the arm that takes an element; false ends the comprehension early.
    #[inline]
    fn turn(
        &mut self,
        comprehension: &'a Comprehension,
        arm: Option<&'a CompArm>,
        gather: &mut Gather<'a>,
    ) -> Eval<'a, bool> {
        self.spend(comprehension.span)?;
        let Some(arm) = arm else { return Ok(true) };
        if let (Gather::Record(record), Some(fields)) = (&mut *gather, literal(&arm.body)) {
            self.add_fields(record, fields)?;
            return Ok(true);
        }
        if let Gather::Nowhere = gather {
            self.perform_block(&arm.body)?;
            return Ok(true);
        }
        let result = self.block(&arm.body)?;
        Ok(self.gather(comprehension, gather, result)?)
    }

    /// Adds the fields of a record literal without building the record.
    fn add_fields(
        &mut self,
        record: &mut RecordBuilder<'a>,
        fields: &'a [(Key, Expr)],
    ) -> Eval<'a, ()> {
        for (key, value) in fields {
            let key = self.key(key)?;
            record.insert_key(&key, self.operand(value)?);
        }
        Ok(())
    }

    fn gather(
        &self,
        comprehension: &Comprehension,
        gather: &mut Gather<'a>,
        result: Value<'a>,
    ) -> Result<bool, EvalError> {
        match gather {
            Gather::Nowhere => {}
            Gather::Array(items) => items.push(result),
            Gather::Record(record) => {
                let Some(fields) = result.as_record(self.arena()) else {
                    let kind = result.kind();
                    return Err(failure::conflicting_type(kind, "record", comprehension.span));
                };
                for field in fields.entries() {
                    record.insert_key(&field.name(), field.value);
                }
            }
            Gather::Fold(value, op) => {
                *value = self.fold(comprehension, *op, *value, result)?;
                let decided = match op {
                    BinaryOp::Or => Value::Bool(true),
                    BinaryOp::And => Value::Bool(false),
                    _ => return Ok(true),
                };
                return Ok(*value != decided);
            }
        }
        Ok(true)
    }

    /// Folding is defined for numbers, and for booleans by their own operators alone; strings are
    /// not concatenated.
    fn fold(
        &self,
        comprehension: &Comprehension,
        op: BinaryOp,
        value: Value<'a>,
        result: Value<'a>,
    ) -> Result<Value<'a>, EvalError> {
        let defined = match value.kind() {
            Kind::Bool => !matches!(op, BinaryOp::BitAnd | BinaryOp::BitXor),
            Kind::String => op != BinaryOp::Add,
            Kind::Array | Kind::Record => false,
            _ => true,
        };
        if !defined {
            return Err(failure::bad_fold(op.text(), value.kind(), comprehension.span));
        }
        arithmetic::binary(op, value, result, comprehension.span, self.arena())
    }
}

/// The fields, if the block is nothing but a record literal.
fn literal(block: &Block) -> Option<&[(Key, Expr)]> {
    match (block.effects.as_slice(), block.last.as_deref()) {
        ([], Some(Expr::Record(fields))) => Some(fields),
        _ => None,
    }
}
