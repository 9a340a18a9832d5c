//! `for`: goes through an array or a record and gathers what the arms give.

use super::{Eval, Run, arithmetic, failure};
use crate::error::EvalError;
use crate::program::{Block, Comprehension, Expr, Key};
use crate::syntax::tree::BinaryOp;
use crate::value::{ArrayBuilder, Kind, RecordBuilder, Value};

/// Where the results go.
enum Gather<'a> {
    Nowhere,
    Array(ArrayBuilder<'a>),
    Record(RecordBuilder<'a>),
    Fold(Value<'a>, BinaryOp),
}

impl<'a> Run<'a, '_, '_> {
    pub(super) fn comprehension(&mut self, comprehension: &'a Comprehension) -> Eval<'a> {
        let target = self.eval(&comprehension.target)?;
        let mut gather = self.start(comprehension)?;
        if let Some(items) = target.as_array(self.arena()) {
            for (index, item) in items.iter().enumerate() {
                if !self.turn(comprehension, Value::UInt(index as u64), *item, &mut gather)? {
                    break;
                }
            }
        } else if let Some(record) = target.as_record(self.arena()) {
            for (key, value) in record.iter() {
                if !self.turn(comprehension, Value::Str(key), value, &mut gather)? {
                    break;
                }
            }
        }
        Ok(match gather {
            Gather::Nowhere => Value::Null,
            Gather::Array(items) => items.finish(),
            Gather::Record(record) => record.finish(),
            Gather::Fold(value, _) => value,
        })
    }

    fn start(&mut self, comprehension: &'a Comprehension) -> Eval<'a, Gather<'a>> {
        let arena = self.arena();
        if !comprehension.used {
            return Ok(Gather::Nowhere);
        }
        let Some(into) = &comprehension.into else {
            return Ok(Gather::Array(arena.array_builder(0)));
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
            let mut builder = arena.array_builder(items.len());
            builder.extend(items);
            return Ok(Gather::Array(builder));
        }
        if let Some(record) = initial.as_record(arena) {
            return Ok(Gather::Record(RecordBuilder::from_record(arena, record, 0)));
        }
        Ok(Gather::Fold(initial, op))
    }

    /// One element; false ends the comprehension early.
    fn turn(
        &mut self,
        comprehension: &'a Comprehension,
        key: Value<'a>,
        value: Value<'a>,
        gather: &mut Gather<'a>,
    ) -> Eval<'a, bool> {
        self.spend(comprehension.span)?;
        for arm in &comprehension.arms {
            self.set_local(arm.key, key);
            self.set_local(arm.value, value);
            if self.guard(arm.guard.as_ref())? {
                if let (Gather::Record(record), Some(fields)) = (&mut *gather, literal(&arm.body)) {
                    self.add_fields(record, fields)?;
                    return Ok(true);
                }
                let result = self.block(&arm.body)?;
                return Ok(self.gather(comprehension, gather, result)?);
            }
        }
        Ok(true)
    }

    /// Adds the fields of a record literal without building the record.
    fn add_fields(
        &mut self,
        record: &mut RecordBuilder<'a>,
        fields: &'a [(Key, Expr)],
    ) -> Eval<'a, ()> {
        for (key, value) in fields {
            let key = self.key(key)?;
            record.insert(key, self.operand(value)?);
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
                fields.iter().for_each(|(key, value)| record.insert(key, value));
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
