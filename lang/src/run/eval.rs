//! One arm for each kind of expression. Small ones are done here, larger ones in files of their
//! own; none of them looks at the program again.

use super::{Eval, Run, Stop, arithmetic, failure, steps};
use crate::builtin::Function;
use crate::program::{Binary, Block, Call, Expr, Key, Target, TargetRoot, TextPart};
use crate::span::Span;
use crate::value::Value;

impl<'a> Run<'a, '_, '_> {
    /// Runs the effects, gives the last value.
    pub(super) fn block(&mut self, block: &'a Block) -> Eval<'a> {
        self.perform_all(&block.effects)?;
        match &block.last {
            Some(last) => self.eval(last),
            None => Ok(Value::Null),
        }
    }

    pub(super) fn perform_all(&mut self, effects: &'a [Expr]) -> Eval<'a, ()> {
        effects.iter().try_for_each(|effect| self.perform(effect))
    }

    /// Evaluates an expression whose value nobody takes.
    fn perform(&mut self, expr: &'a Expr) -> Eval<'a, ()> {
        let block = match expr {
            Expr::Let(target, value) => return self.perform_let(target, value),
            Expr::Match(matching) => self.arm_of(matching)?,
            Expr::If(arms, otherwise) => match self.chosen(arms, otherwise.as_ref())? {
                Some(block) => block,
                None => return Ok(()),
            },
            expr => return self.eval(expr).map(|_| ()),
        };
        self.perform_block(block)
    }

    /// Runs a block whose value nobody takes.
    pub(super) fn perform_block(&mut self, block: &'a Block) -> Eval<'a, ()> {
        self.perform_all(&block.effects)?;
        block.last.as_deref().map_or(Ok(()), |last| self.perform(last))
    }

    fn perform_let(&mut self, target: &'a Target, value: &'a Expr) -> Eval<'a, ()> {
        if target.grows {
            return self.grow(target, value);
        }
        if let (TargetRoot::Event, true) = (target.root, target.segments.is_empty()) {
            match value {
                Expr::Patch(patch) if matches!(patch.target, Expr::Event) => {
                    return self.patch_event(patch);
                }
                Expr::Merge(merged, with, span) if matches!(**merged, Expr::Event) => {
                    return self.merge_event(with, *span);
                }
                _ => {}
            }
        }
        self.assign_plainly(target, value)
    }

    #[inline]
    pub(super) fn assign_plainly(&mut self, target: &'a Target, value: &'a Expr) -> Eval<'a, ()> {
        let value = self.eval(value)?;
        self.assign(target, value)
    }

    /// As [`Run::eval`]; constants, locals and paths take the short way.
    #[inline]
    pub(super) fn operand(&mut self, expr: &'a Expr) -> Eval<'a> {
        match expr {
            Expr::Const(value) => Ok(value.get()),
            Expr::Local(slot, _) => match self.local(*slot) {
                Some(value) => Ok(value),
                None => self.eval(expr),
            },
            Expr::Path(path) => self.read(path),
            _ => self.eval(expr),
        }
    }

    pub(super) fn eval(&mut self, expr: &'a Expr) -> Eval<'a> {
        match expr {
            Expr::Const(value) => Ok(value.get()),
            Expr::Event => Ok(self.whole_event()),
            Expr::Local(slot, place) => match self.local(*slot) {
                Some(value) => Ok(value),
                None => Err(failure::missing_local(&place.name, place.span).into()),
            },
            Expr::Path(path) => self.read(path),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Logic(binary) => self.truth(expr, "", &binary.span).map(Value::Bool),
            Expr::Call(call) => self.call(call),
            Expr::Match(matching) => {
                let arm = self.arm_of(matching)?;
                self.block(arm)
            }
            Expr::Let(target, value) => self.assign_value(target, value),
            Expr::Text(parts) => self.text(parts).map(Value::Str),
            Expr::List(items) => self.values(items).map(Value::Array),
            Expr::Record(fields) => self.record(fields),
            Expr::Patch(patch) => self.patch(patch),
            Expr::Merge(target, with, span) => self.merge(target, with, *span),
            Expr::For(comprehension) => self.comprehension(comprehension),
            Expr::Presence(wanted, path) => Ok(Value::Bool(self.is_present(path)? == *wanted)),
            Expr::Unary(op, operand, span) => {
                let operand = self.eval(operand)?;
                Ok(arithmetic::unary(*op, operand, *span)?)
            }
            Expr::Coalesce(value, otherwise) => self.coalesce(value, otherwise),
            Expr::If(arms, otherwise) => self.choose(arms, otherwise.as_ref()),
            Expr::CallUser(function, arguments, span) => self.call_user(function, arguments, *span),
            Expr::Recur(arguments, _) => {
                self.recur = Some(self.values(arguments)?);
                Err(Stop::Recur)
            }
            Expr::Aggregate(call, _) => self.aggregate(*call),
            Expr::Bytes(parts) => self.bytes(parts),
            Expr::Drop => Err(Stop::Drop),
            Expr::Emit(value, port) => self.emit(value.as_deref(), port.as_deref()),
            Expr::Reached(branch) => {
                branch.take();
                Ok(Value::Null)
            }
        }
    }

    /// All values in order, in the arena.
    pub(super) fn values(&mut self, exprs: &'a [Expr]) -> Eval<'a, &'a [Value<'a>]> {
        let mut values = self.arena().array_builder(exprs.len());
        for expr in exprs {
            values.push(self.operand(expr)?);
        }
        Ok(values.into_slice())
    }

    fn record(&mut self, fields: &'a [(Key, Expr)]) -> Eval<'a> {
        let mut record = self.arena().record_builder(fields.len());
        for (key, value) in fields {
            let key = self.key(key)?;
            record.insert_key(&key, self.operand(value)?);
        }
        Ok(record.finish())
    }

    fn binary(&mut self, binary: &'a Binary) -> Eval<'a> {
        let left = self.operand(&binary.left)?;
        let right = self.operand(&binary.right)?;
        self.binary_of(binary, left, right)
    }

    pub(super) fn binary_of(
        &mut self,
        binary: &Binary,
        left: Value<'a>,
        right: Value<'a>,
    ) -> Eval<'a> {
        Ok(arithmetic::binary(binary.op, left, right, binary.span, self.arena())?)
    }

    fn call(&mut self, call: &'a Call) -> Eval<'a> {
        if !self.drafts.is_empty()
            && let Some(result) = self.call_on_draft(call)?
        {
            return Ok(result);
        }
        // Most functions take one or two arguments: those need no memory of the event.
        match call.arguments.as_slice() {
            [only] => {
                let only = self.operand(only)?;
                self.invoke(call, &[only])
            }
            [first, second] => {
                let first = self.operand(first)?;
                let second = self.operand(second)?;
                self.invoke(call, &[first, second])
            }
            arguments => {
                let arguments = self.values(arguments)?;
                self.invoke(call, arguments)
            }
        }
    }

    #[inline]
    pub(super) fn invoke(&self, call: &Call, arguments: &[Value<'a>]) -> Eval<'a> {
        self.invoke_at(call.function, arguments, call.span)
    }

    #[inline]
    pub(super) fn invoke_at(
        &self,
        function: &'static Function,
        arguments: &[Value<'a>],
        span: Span,
    ) -> Eval<'a> {
        self.arena().step(steps(arguments));
        let result = function.invoke(&self.context.call, arguments);
        self.afford(span)?;
        result.map_err(|error| failure::call(function, &error, arguments, span).into())
    }

    fn aggregate(&mut self, call: usize) -> Eval<'a> {
        let Some(accumulator) = self.context.aggregates.get(call) else {
            return Ok(Value::Null);
        };
        accumulator.emit(&self.context.call).map_err(|error| {
            crate::error::EvalError::new("E0433", format!("aggregate: {error}")).into()
        })
    }

    /// `a ?? b`: a missing key or local counts as null; other errors stay errors.
    fn coalesce(&mut self, value: &'a Expr, otherwise: &'a Expr) -> Eval<'a> {
        let present = match value {
            Expr::Path(path) if !self.is_present(path)? => Value::Null,
            Expr::Local(slot, _) => self.local(*slot).unwrap_or(Value::Null),
            _ => self.eval(value)?,
        };
        match present {
            Value::Null => self.eval(otherwise),
            value => Ok(value),
        }
    }

    fn choose(&mut self, arms: &'a [(Expr, Block)], otherwise: Option<&'a Block>) -> Eval<'a> {
        let chosen = self.chosen(arms, otherwise)?;
        chosen.map_or(Ok(Value::Null), |block| self.block(block))
    }

    /// The block that is to be run, if one is.
    pub(super) fn chosen(
        &mut self,
        arms: &'a [(Expr, Block)],
        otherwise: Option<&'a Block>,
    ) -> Eval<'a, Option<&'a Block>> {
        for (condition, block) in arms {
            let value = self.eval(condition)?;
            match value.as_bool() {
                Some(true) => return Ok(Some(block)),
                Some(false) => {}
                None => return Err(failure::not_bool_here(value, "a condition").into()),
            }
        }
        Ok(otherwise)
    }

    fn assign_value(&mut self, target: &'a Target, value: &'a Expr) -> Eval<'a> {
        let value = self.eval(value)?;
        self.assign(target, value)?;
        Ok(value)
    }

    fn emit(&mut self, value: Option<&'a Expr>, port: Option<&'a [TextPart]>) -> Eval<'a> {
        let value = match value {
            Some(value) => self.eval(value)?,
            None => self.whole_event(),
        };
        let port = match port {
            Some(parts) => Some(self.text(parts)?),
            None => None,
        };
        self.emitted = Some((value, port));
        Err(Stop::Emit)
    }
}
