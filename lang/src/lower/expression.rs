//! Expressions and statements.

use super::inference::Origins;
use super::module::{Callee, Scope};
use super::names::{Names, Position};
use super::{Compiler, complain, opposites};
use crate::builtin::{Function, Purity};
use crate::coverage::BranchKind;
use crate::program::{
    AggregateCall, Binary, Block, BytesKind, BytesPart, Call, CompArm, Comprehension, Expr,
    Guarding, Key, Path, Root, TargetRoot, TextPart, UserFn,
};
use crate::span::Span;
use crate::syntax::tree::{self, BinaryOp, ExprKind, UnaryOp};
use crate::value::Value;
use std::sync::Arc;

type Code<'s, 'n> = (&'s Scope, &'n mut Names);

/// Bits of a number in a bytes literal, at the most.
const BYTES_BITS_MAX: u64 = 64;

impl Compiler<'_> {
    /// A block: all but the last are only run for their effect.
    pub(super) fn block(
        &mut self,
        exprs: &[tree::Expr],
        position: Position,
        (scope, names): Code<'_, '_>,
    ) -> Block {
        let mut block = Block::default();
        if position.statement {
            self.check_reached(exprs.iter());
        }
        for (number, expr) in exprs.iter().enumerate() {
            let is_last = number + 1 == exprs.len();
            self.statement(expr, is_last, position, &mut block, (scope, names));
        }
        opposites::pair(&mut block);
        block
    }

    /// One statement of a block. An expression without effect whose value goes nowhere is checked,
    /// but never run.
    pub(super) fn statement(
        &mut self,
        expr: &tree::Expr,
        is_last: bool,
        position: Position,
        block: &mut Block,
        (scope, names): Code<'_, '_>,
    ) {
        let place = if is_last { position } else { position.effect() };
        let lowered = self.expression(expr, place, (scope, names));
        if is_last {
            let runs = position.used || !position.statement || has_effect(expr);
            block.last = runs.then(|| Box::new(lowered));
        } else if position.statement && has_effect(expr) {
            block.effects.push(lowered);
        } else if position.statement {
            self.diagnostics.push(complain::unused_value(expr.span));
        }
    }

    pub(super) fn expression(
        &mut self,
        tree: &tree::Expr,
        position: Position,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let span = tree.span;
        // In a windowed select an expression behind `group by` may be repeated.
        if let Some(group) = self.group_of(span, names) {
            return group;
        }
        match &tree.kind {
            ExprKind::Error => unknown(span),
            ExprKind::Null => Expr::constant(Value::Null),
            ExprKind::Bool(value) => Expr::constant(Value::Bool(*value)),
            ExprKind::Int(value) => Expr::constant(Value::UInt(*value)),
            ExprKind::Float(value) => Expr::constant(Value::Float(*value)),
            ExprKind::String(text) => self.string(text, (scope, names)),
            ExprKind::Bytes(parts) => self.bytes(parts, span, (scope, names)),
            ExprKind::List(items) => self.list(items, span, (scope, names)),
            ExprKind::Record(fields) => self.record(fields, span, (scope, names)),
            ExprKind::Path(path) => self.path(path, (scope, names)),
            ExprKind::Call(path, arguments) => self.call(path, arguments, span, (scope, names)),
            ExprKind::Recur(arguments) => self.recur(arguments, position, span, (scope, names)),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, span, (scope, names)),
            ExprKind::Binary(op, left, right) => {
                self.binary(*op, left, right, span, (scope, names))
            }
            ExprKind::Presence(wanted, path) => self.presence(*wanted, path, (scope, names)),
            ExprKind::Coalesce(value, otherwise) => {
                let value = self.expression(value, Position::VALUE, (scope, names));
                let otherwise = self.expression(otherwise, Position::VALUE, (scope, names));
                Expr::Coalesce(Box::new(value), Box::new(otherwise))
            }
            ExprKind::If(arms, otherwise) => {
                self.choice(arms, otherwise.as_deref(), position, (scope, names))
            }
            ExprKind::Match(matching) => self.matching(matching, span, position, (scope, names)),
            ExprKind::For(comprehension) => {
                self.comprehension(comprehension, span, position, (scope, names))
            }
            ExprKind::Patch(target, ops) => self.patch(target, ops, (scope, names)),
            ExprKind::Merge(target, with) => {
                let target = self.expression(target, Position::VALUE, (scope, names));
                let with = self.expression(with, Position::VALUE, (scope, names));
                Expr::Merge(Box::new(target), Box::new(with), span)
            }
            ExprKind::Let(path, value) => {
                let value = self.expression(value, Position::STATEMENT, (scope, names));
                let target = self.target(path, position.used, (scope, names));
                if let (TargetRoot::Local(slot), []) = (&target.root, target.segments.as_slice()) {
                    names.give(*slot, &Origins::of(&value));
                }
                Expr::Let(Box::new(target), Box::new(value))
            }
            ExprKind::Drop => {
                names.drops = true;
                self.leave("drop", Expr::Drop, span, names)
            }
            ExprKind::Emit(value, port) => {
                let value = value
                    .as_ref()
                    .map(|value| Box::new(self.expression(value, Position::VALUE, (scope, names))));
                let port = port.as_ref().map(|port| self.text_parts(port, (scope, names)));
                self.leave("emit", Expr::Emit(value, port), span, names)
            }
            ExprKind::Paren(inner) => {
                let place = Position { statement: false, ..position };
                self.expression(inner, place, (scope, names))
            }
        }
    }

    fn leave(&mut self, word: &str, expr: Expr, span: Span, names: &Names) -> Expr {
        if names.rules.emit {
            return expr;
        }
        self.diagnostics.push(complain::emit_in_function(word, span));
        unknown(span)
    }

    fn values(&mut self, trees: &[tree::Expr], (scope, names): Code<'_, '_>) -> Vec<Expr> {
        trees.iter().map(|tree| self.expression(tree, Position::VALUE, (scope, names))).collect()
    }

    fn string(&mut self, text: &tree::StringLit, code: Code<'_, '_>) -> Expr {
        if let Some(text) = text.constant() {
            return Expr::constant(Value::Str(text));
        }
        let parts = self.text_parts(text, code);
        let constant = parts.iter().all(|part| match part {
            TextPart::Text(_) => true,
            TextPart::Expr(expr) => expr.as_constant().is_some(),
        });
        let expr = Expr::Text(parts);
        if constant { self.fold(expr, text.span) } else { expr }
    }

    pub(super) fn text_parts(
        &mut self,
        text: &tree::StringLit,
        (scope, names): Code<'_, '_>,
    ) -> Vec<TextPart> {
        if text.parts.is_empty() {
            return vec![TextPart::Text("".into())];
        }
        text.parts
            .iter()
            .map(|part| match part {
                tree::StringPart::Text(text) => TextPart::Text(text.as_str().into()),
                tree::StringPart::Expr(expr) => {
                    TextPart::Expr(self.expression(expr, Position::VALUE, (scope, names)))
                }
            })
            .collect()
    }

    pub(super) fn key(&mut self, text: &tree::StringLit, code: Code<'_, '_>) -> Key {
        match self.string(text, code) {
            Expr::Text(parts) => Key::Text(parts),
            expr => Key::constant(expr.as_constant().and_then(Value::as_str).unwrap_or("")),
        }
    }

    fn list(&mut self, items: &[tree::Expr], span: Span, code: Code<'_, '_>) -> Expr {
        let items = self.values(items, code);
        let constant = items.iter().all(|item| item.as_constant().is_some());
        let expr = Expr::List(items);
        if constant { self.fold(expr, span) } else { expr }
    }

    fn record(
        &mut self,
        fields: &[(tree::StringLit, tree::Expr)],
        span: Span,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let mut constant = true;
        let mut lowered = Vec::with_capacity(fields.len());
        for (key, value) in fields {
            let key = self.key(key, (scope, names));
            let value = self.expression(value, Position::VALUE, (scope, names));
            constant &= matches!(key, Key::Const(..)) && value.as_constant().is_some();
            lowered.push((key, value));
        }
        let expr = Expr::Record(lowered);
        if constant { self.fold(expr, span) } else { expr }
    }

    fn unary(
        &mut self,
        op: UnaryOp,
        operand: &tree::Expr,
        span: Span,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let operand = self.expression(operand, Position::VALUE, (scope, names));
        let constant = operand.as_constant().is_some();
        if !constant {
            self.check_operand(op, &operand, span, names);
        }
        let expr = Expr::Unary(op, Box::new(operand), span);
        if constant { self.fold(expr, span) } else { expr }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &tree::Expr,
        right: &tree::Expr,
        span: Span,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let left = self.expression(left, Position::VALUE, (scope, names));
        let right = self.expression(right, Position::VALUE, (scope, names));
        let decided = match (op, left.as_constant()) {
            (BinaryOp::Or, Some(Value::Bool(true))) => true,
            (BinaryOp::And, Some(Value::Bool(false))) => true,
            (_, Some(_)) => right.as_constant().is_some(),
            _ => false,
        };
        let binary = Box::new(Binary { op, left, right, span });
        let expr = match op {
            BinaryOp::Or | BinaryOp::And => Expr::Logic(binary),
            _ => Expr::Binary(binary),
        };
        match (decided, op) {
            (false, _) => self.checked(expr, names),
            // What is no bool only matters when it is reached.
            (true, BinaryOp::Or | BinaryOp::And | BinaryOp::Xor) => self.fold_quietly(expr),
            (true, _) => self.fold(expr, span),
        }
    }

    /// A binary expression that is left to the run, with warnings.
    fn checked(&mut self, expr: Expr, names: &mut Names) -> Expr {
        if let Expr::Binary(binary) | Expr::Logic(binary) = &expr {
            self.check_operands(binary, names);
        }
        expr
    }

    fn call(
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
        aggregate: &'static crate::builtin::Aggregate,
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
            crate::builtin::Arity::Optional(optional) => most - optional,
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
        names.rules = super::Rules { aggregates: false, event: true, ..rules };
        let inner = arguments.iter().any(|argument| self.has_aggregate(argument, scope));
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
    fn has_aggregate(&mut self, tree: &tree::Expr, _: &Scope) -> bool {
        match &tree.kind {
            ExprKind::Call(path, _) => self.registry.aggregate(&path.text()).is_some(),
            ExprKind::Paren(inner) => matches!(&inner.kind, ExprKind::Call(path, _)
                if self.registry.aggregate(&path.text()).is_some()),
            _ => false,
        }
    }

    fn recur(
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

    fn choice(
        &mut self,
        arms: &[(tree::Expr, Vec<tree::Expr>)],
        otherwise: Option<&[tree::Expr]>,
        position: Position,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let arms = arms
            .iter()
            .map(|(condition, block)| {
                let span = condition.span;
                let condition = self.expression(condition, Position::VALUE, (scope, names));
                self.check_condition(&condition, span, names);
                let block = self.block(block, position, (scope, names));
                (condition, self.counted(BranchKind::Then, span, block))
            })
            .collect();
        let otherwise = otherwise.map(|tree| {
            let block = self.block(tree, position, (scope, names));
            match tree.first() {
                Some(first) => self.counted(BranchKind::Else, first.span, block),
                None => block,
            }
        });
        Expr::If(arms, otherwise)
    }

    fn comprehension(
        &mut self,
        tree: &tree::For,
        span: Span,
        position: Position,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        if let Some((_, span)) = tree.fold {
            self.diagnostics.push(complain::experimental_fold(span));
        }
        let target = self.expression(&tree.target, Position::VALUE, (scope, names));
        let into =
            tree.into.as_ref().map(|into| self.expression(into, Position::VALUE, (scope, names)));
        let mut arms = Vec::with_capacity(tree.arms.len());
        for arm in &tree.arms {
            self.check_binding(&arm.key, scope);
            self.check_binding(&arm.value, scope);
            let key = names.bind(&arm.key.text);
            let value = names.bind(&arm.value.text);
            let guard = self.guard(arm.guard.as_ref(), (scope, names));
            let body = self.block(&arm.body, position.inner(), (scope, names));
            let body = self.counted(BranchKind::Element, arm.span, body);
            names.unbind(2);
            arms.push(CompArm { key, value, guard, body });
        }
        let fold = tree.fold.map(|(op, _)| op);
        let used = position.used;
        let guarding = Guarding::Alone;
        Expr::For(Box::new(Comprehension { target, arms, into, fold, used, guarding, span }))
    }

    /// `when …`
    pub(super) fn guard(
        &mut self,
        tree: Option<&tree::Expr>,
        (scope, names): Code<'_, '_>,
    ) -> Option<(Expr, Span)> {
        let tree = tree?;
        let guard = self.expression(tree, Position::VALUE, (scope, names));
        self.check_condition(&guard, tree.span, names);
        Some((guard, tree.span))
    }

    fn bytes(&mut self, parts: &[tree::BytesPart], span: Span, code: Code<'_, '_>) -> Expr {
        let (scope, names) = code;
        let parts: Vec<_> =
            parts.iter().map(|part| self.bytes_part(part, (scope, names))).collect();
        let constant = parts.iter().all(|part| part.value.as_constant().is_some());
        let expr = Expr::Bytes(parts);
        if constant { self.fold(expr, span) } else { expr }
    }

    fn bytes_part(&mut self, part: &tree::BytesPart, (scope, names): Code<'_, '_>) -> BytesPart {
        let value = self.expression(&part.value, Position::VALUE, (scope, names));
        // The parser has said what is wrong with other sizes and kinds.
        let size =
            part.size.map(|(size, _)| size).filter(|size| (1..=BYTES_BITS_MAX).contains(size));
        let size = size.and_then(|size| u32::try_from(size).ok());
        let kind = part.kind.as_ref().and_then(|kind| {
            let known = BYTES_KINDS.iter().find(|(name, _)| *name == kind.text);
            known.map(|(_, kind)| *kind)
        });
        let kind = kind.unwrap_or(BytesKind::UnsignedBig);
        BytesPart { value, size, kind, span: part.span }
    }
}

/// Stands for what has been complained about: nothing is known of its value, so that nothing more is
/// complained about because of it.
pub(super) fn unknown(span: Span) -> Expr {
    Expr::Path(Box::new(Path { root: Root::Group, segments: Vec::new(), span }))
}

/// The words behind the slash of a bytes part.
const BYTES_KINDS: &[(&str, BytesKind)] = &[
    ("integer", BytesKind::UnsignedBig),
    ("big", BytesKind::UnsignedBig),
    ("unsigned", BytesKind::UnsignedBig),
    ("big_integer", BytesKind::UnsignedBig),
    ("unsigned_integer", BytesKind::UnsignedBig),
    ("big_unsigned_integer", BytesKind::UnsignedBig),
    ("signed_integer", BytesKind::SignedBig),
    ("big_signed_integer", BytesKind::SignedBig),
    ("little", BytesKind::UnsignedLittle),
    ("little_integer", BytesKind::UnsignedLittle),
    ("little_unsigned_integer", BytesKind::UnsignedLittle),
    ("little_signed_integer", BytesKind::SignedLittle),
    ("binary", BytesKind::Binary),
];

/// Whether a statement does something besides giving a value.
fn has_effect(tree: &tree::Expr) -> bool {
    matches!(
        tree.kind,
        ExprKind::Match(_)
            | ExprKind::For(_)
            | ExprKind::Let(..)
            | ExprKind::Drop
            | ExprKind::Emit(..)
            | ExprKind::If(..)
    )
}
