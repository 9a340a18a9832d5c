//! Functions of the user: their own frame of locals, no event, and `recur` as a loop.

use super::{Eval, Run, Stop, failure};
use crate::program::{Expr, FnCase, FnCases, Pattern, UserFn, UserFnBody};
use crate::span::Span;
use crate::value::{Owned, Value, deeper};

/// How often a function may re-enter itself by `recur`.
pub(crate) const RECURSION_MAX: usize = 1024;

impl<'a> Run<'a, '_, '_> {
    pub(super) fn call_user(
        &mut self,
        function: &'a UserFn,
        arguments: &'a [Expr],
        span: Span,
    ) -> Eval<'a> {
        let arguments = self.values(arguments)?;
        if let UserFnBody::Intrinsic(builtin) = &function.body {
            return self.invoke_at(builtin, arguments, span);
        }
        let saved = self.enter(function.slots);
        // Functions call those before them: a long file can nest calls deep.
        let result = deeper(|| self.run_function(function, arguments, span));
        self.leave(saved);
        result
    }

    /// Hides the caller's locals and everything that belongs to the event.
    fn enter(&mut self, slots: usize) -> Saved<'a> {
        self.meta();
        let context = &mut self.context;
        let hide = |value: &mut Value<'a>| std::mem::replace(value, Value::Null);
        let saved = Saved {
            base: self.base,
            event: hide(&mut context.event),
            meta: hide(&mut context.meta),
            args: hide(&mut context.args),
            group: hide(&mut context.group),
            window: hide(&mut context.window),
            state: std::mem::take(context.state),
        };
        self.base = self.locals.len();
        self.locals.resize(self.base + slots, None);
        saved
    }

    fn leave(&mut self, saved: Saved<'a>) {
        self.drafts.forget(self.base);
        self.locals.truncate(self.base);
        self.base = saved.base;
        let context = &mut self.context;
        context.event = saved.event;
        context.meta = saved.meta;
        context.args = saved.args;
        context.group = saved.group;
        context.window = saved.window;
        *context.state = saved.state;
    }

    fn run_function(
        &mut self,
        function: &'a UserFn,
        mut arguments: &'a [Value<'a>],
        span: Span,
    ) -> Eval<'a> {
        for _ in 0..RECURSION_MAX {
            self.spend(span)?;
            self.bind_arguments(function, arguments);
            let result = match &function.body {
                UserFnBody::Block(block) => self.block(block),
                UserFnBody::Cases(cases) => self.cases(cases),
                UserFnBody::Intrinsic(_) => unreachable!("called directly"),
            };
            match result {
                Err(Stop::Recur) => {
                    arguments = self.recur.take().expect("recur leaves its arguments");
                }
                other => return other,
            }
        }
        Err(failure::recursion_limit(RECURSION_MAX, span).into())
    }

    fn bind_arguments(&mut self, function: &UserFn, arguments: &'a [Value<'a>]) {
        let base = self.base;
        self.drafts.forget(base);
        self.locals[base..].fill(None);
        for (slot, argument) in arguments.iter().take(function.params).enumerate() {
            self.locals[base + slot] = Some(*argument);
        }
        self.context.args = match arguments.get(function.params..) {
            Some(more) if function.varargs => Value::Array(more),
            _ => Value::Array(&[]),
        };
    }

    fn cases(&mut self, cases: &'a FnCases) -> Eval<'a> {
        for FnCase { patterns, guard, body } in &cases.cases {
            let Some(mut results) = self.case_results(patterns)? else { continue };
            self.swap_parameters(&mut results);
            if self.guard(guard.as_ref())? {
                return self.block(body);
            }
            self.swap_parameters(&mut results);
        }
        self.block(&cases.default)
    }

    /// What each pattern extracts from its parameter; patterns see the arguments as passed.
    fn case_results(
        &mut self,
        patterns: &'a [Pattern],
    ) -> Eval<'a, Option<Vec<Option<Value<'a>>>>> {
        let mut results = Vec::with_capacity(patterns.len());
        for (slot, pattern) in patterns.iter().enumerate() {
            let argument = self.local(slot).unwrap_or(Value::Null);
            match self.extract(pattern, argument)? {
                Some(result) => results.push(Some(result)),
                None => return Ok(None),
            }
        }
        Ok(Some(results))
    }

    fn swap_parameters(&mut self, values: &mut [Option<Value<'a>>]) {
        let parameters = &mut self.locals[self.base..self.base + values.len()];
        parameters.swap_with_slice(values);
    }
}

/// What the caller sees again when the function is done.
struct Saved<'a> {
    base: usize,
    event: Value<'a>,
    meta: Value<'a>,
    args: Value<'a>,
    group: Value<'a>,
    window: Value<'a>,
    state: Owned,
}
