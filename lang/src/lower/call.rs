//! Calls of built-in functions, of functions of the user and of aggregates, and `recur`.

use super::expression::{Code, unknown};
use super::module::Callee;
use super::names::Position;
use super::{Compiler, Rules, complain};
use crate::builtin::{Aggregate, Arity, Function, Purity};
use crate::program::{AggregateCall, Call, Expr, UserFn};
use crate::span::Span;
use crate::syntax::tree::{self, ExprKind};
use std::sync::Arc;

impl Compiler<'_> {
    pub(super) fn call(
        &mut self,
        path: &tree::ModPath,
        arguments: &[tree::Expr],
        span: Span,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        match self.callee(path, scope) {
            Some(Callee::Builtin(function)) => {
                self.call_builtin(function, arguments, span, (scope, names))
            }
            Some(Callee::User(function)) => {
                self.call_user(function, arguments, span, (scope, names))
            }
            Some(Callee::Aggregate(aggregate)) => {
                self.call_aggregate(aggregate, arguments, span, (scope, names))
            }
            None => {
                // Mistakes in the arguments are worth a message all the same.
                self.values(arguments, (scope, names));
                unknown(span)
            }
        }
    }

    fn call_builtin(
        &mut self,
        function: &'static Function,
        arguments: &[tree::Expr],
        span: Span,
        code: Code<'_, '_>,
    ) -> Expr {
        let (scope, names) = code;
        let trees = arguments;
        let arguments = self.values(arguments, (scope, names));
        let short = function.path.strip_prefix("std::").unwrap_or(function.path);
        let (least, most) = function.argument_range();
        let got = arguments.len();
        if got < least || most.is_some_and(|most| got > most) {
            self.diagnostics.push(complain::bad_arity(short, got, least, most, span));
            return unknown(span);
        }
        if let Some(advice) = function.warning {
            self.diagnostics.push(complain::slow(short, advice, span));
        }
        self.check_table(function, &arguments, trees);
        let pure = function.purity == Purity::Pure;
        names.impure |= !pure;
        let constant = pure && arguments.iter().all(|argument| argument.as_constant().is_some());
        if !constant {
            self.check_arguments(function, &arguments, trees, names);
        }
        let expr = Expr::Call(Box::new(Call { function, arguments, span }));
        if constant { self.fold(expr, span) } else { expr }
    }

    fn call_user(
        &mut self,
        function: Arc<UserFn>,
        arguments: &[tree::Expr],
        span: Span,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let arguments = self.values(arguments, (scope, names));
        let got = arguments.len();
        if got < function.params || (got > function.params && !function.varargs) {
            let complaint = complain::user_arity(&function.name, got, function.params, span);
            self.diagnostics.push(complaint);
        }
        names.impure |= !function.pure;
        let constant =
            function.pure && arguments.iter().all(|argument| argument.as_constant().is_some());
        let expr = Expr::CallUser(function, arguments, span);
        if constant { self.fold(expr, span) } else { expr }
    }

    fn call_aggregate(
        &mut self,
        aggregate: &'static Aggregate,
        arguments: &[tree::Expr],
        span: Span,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        if !names.rules.aggregates {
            let complaint = complain::aggregate_without_window(aggregate.path, span);
            self.diagnostics.push(complaint);
            return unknown(span);
        }
        let most = aggregate.params.len();
        let least = match aggregate.arity {
            Arity::Optional(optional) => most - optional,
            _ => most,
        };
        if arguments.len() < least || arguments.len() > most {
            let got = arguments.len();
            let complaint = complain::bad_arity(aggregate.path, got, least, Some(most), span);
            self.diagnostics.push(complaint);
        }
        if let Some(advice) = aggregate.warning {
            self.diagnostics.push(complain::slow(aggregate.path, advice, span));
        }
        let rules = names.rules;
        // Arguments are evaluated for each event; the group expressions mean the event's there.
        let groups = std::mem::take(&mut names.groups);
        names.rules = Rules { aggregates: false, event: true, ..rules };
        let inner = arguments.iter().any(|argument| self.has_aggregate(argument));
        if inner {
            self.diagnostics.push(complain::aggregate_in_aggregate(span));
        }
        let arguments = if inner { Vec::new() } else { self.values(arguments, (scope, names)) };
        names.rules = rules;
        names.groups = groups;
        names.aggregates.push(AggregateCall { aggregate, arguments, span });
        Expr::Aggregate(names.aggregates.len() - 1, span)
    }

    /// Whether an argument is itself a call of an aggregate; deeper ones are found when lowered.
    fn has_aggregate(&self, tree: &tree::Expr) -> bool {
        match &tree.kind {
            ExprKind::Call(path, _) => self.registry.aggregate(&path.text()).is_some(),
            ExprKind::Paren(inner) => matches!(&inner.kind, ExprKind::Call(path, _)
                if self.registry.aggregate(&path.text()).is_some()),
            _ => false,
        }
    }

    pub(super) fn recur(
        &mut self,
        arguments: &[tree::Expr],
        position: Position,
        span: Span,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let arguments = self.values(arguments, (scope, names));
        match names.params {
            None => self.diagnostics.push(complain::recur_outside(span)),
            Some(_) if !position.tail => self.diagnostics.push(complain::recur_not_in_tail(span)),
            Some((params, varargs)) => {
                let got = arguments.len();
                if (!varargs && got != params) || (varargs && got > params) {
                    let complaint = complain::bad_arity("recur", got, params, Some(params), span);
                    self.diagnostics.push(complaint);
                }
            }
        }
        Expr::Recur(arguments, span)
    }
}
