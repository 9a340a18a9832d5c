//! Expressions and statements.

use super::inference::Origins;
use super::module::Scope;
use super::names::{Names, Position};
use super::{Compiler, complain, growth, opposites};
use crate::program::{Binary, Block, EventChanges, Expr, Key, Path, Root, TargetRoot, TextPart};
use crate::span::Span;
use crate::syntax::tree::{self, BinaryOp, ExprKind, UnaryOp};
use crate::value::Value;

/// The scope and the names that code is lowered with.
pub(super) type Code<'s, 'n> = (&'s Scope, &'n mut Names);

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
            ExprKind::Coalesce(value, otherwise) => self.coalesce(value, otherwise, (scope, names)),
            ExprKind::If(arms, otherwise) => {
                self.choice(arms, otherwise.as_deref(), position, (scope, names))
            }
            ExprKind::Match(matching) => self.matching(matching, span, position, (scope, names)),
            ExprKind::For(comprehension) => {
                self.comprehension(comprehension, span, position, (scope, names))
            }
            ExprKind::Patch(target, ops) => self.patch(target, ops, (scope, names)),
            ExprKind::Merge(target, with) => self.merge(target, with, span, (scope, names)),
            ExprKind::Let(path, value) => self.binding(path, value, position, (scope, names)),
            ExprKind::Drop => {
                names.drops = true;
                self.leave("drop", Expr::Drop, span, names)
            }
            ExprKind::Emit(value, port) => {
                self.emit(value.as_deref(), port.as_ref(), span, (scope, names))
            }
            ExprKind::Paren(inner) => {
                let place = Position { statement: false, ..position };
                self.expression(inner, place, (scope, names))
            }
        }
    }

    fn coalesce(
        &mut self,
        value: &tree::Expr,
        otherwise: &tree::Expr,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        if let Some(variable) = self.variable_of(value, scope) {
            // What the environment has is known, so the default is, too.
            return match variable {
                Some(text) => Expr::constant(Value::Str(&text)),
                None => self.expression(otherwise, Position::VALUE, (scope, names)),
            };
        }
        let value = self.expression(value, Position::VALUE, (scope, names));
        if let ExprKind::Binary(op, ..) = &otherwise.kind {
            self.diagnostics.push(complain::loose_default(op.text(), otherwise.span));
        }
        let otherwise = self.expression(otherwise, Position::VALUE, (scope, names));
        Expr::Coalesce(Box::new(value), Box::new(otherwise))
    }

    fn merge(
        &mut self,
        target: &tree::Expr,
        with: &tree::Expr,
        span: Span,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let target = self.expression(target, Position::VALUE, (scope, names));
        let with = self.expression(with, Position::VALUE, (scope, names));
        Expr::Merge(Box::new(target), Box::new(with), span)
    }

    fn binding(
        &mut self,
        path: &tree::Path,
        value: &tree::Expr,
        position: Position,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let value = self.expression(value, Position::STATEMENT, (scope, names));
        let mut target = self.target(path, position.used, (scope, names));
        target.grows = self.in_place && growth::grows(&target, &value);
        if let (TargetRoot::Local(slot), []) = (&target.root, target.segments.as_slice()) {
            names.give(*slot, &Origins::of(&value));
        }
        names.forget_assigned(&target);
        self.note_write(target.root, &target.segments, &value, names);
        names.event_changes = names.event_changes.max(EventChanges::of(&target, &value));
        Expr::Let(Box::new(target), Box::new(value))
    }

    fn emit(
        &mut self,
        value: Option<&tree::Expr>,
        port: Option<&tree::StringLit>,
        span: Span,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let value =
            value.map(|value| Box::new(self.expression(value, Position::VALUE, (scope, names))));
        let port = port.map(|port| self.text_parts(port, (scope, names)));
        self.leave("emit", Expr::Emit(value, port), span, names)
    }

    fn leave(&mut self, word: &str, expr: Expr, span: Span, names: &Names) -> Expr {
        if names.rules.emit {
            return expr;
        }
        self.diagnostics.push(complain::emit_in_function(word, span));
        unknown(span)
    }

    pub(super) fn values(
        &mut self,
        trees: &[tree::Expr],
        (scope, names): Code<'_, '_>,
    ) -> Vec<Expr> {
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
        let decided = match (op, left.as_constant(), right.as_constant()) {
            // As in tremor, what the left side decides is no constant unless the right side is a
            // bool: an expression around it fails when it is reached, not before.
            (BinaryOp::Or, Some(Value::Bool(true)), right) => matches!(right, Some(Value::Bool(_))),
            (BinaryOp::And, Some(Value::Bool(false)), right) => {
                matches!(right, Some(Value::Bool(_)))
            }
            (_, left, right) => left.is_some() && right.is_some(),
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
}

/// Stands for what has been complained about: nothing is known of its value, so that nothing more is
/// complained about because of it.
pub(super) fn unknown(span: Span) -> Expr {
    Expr::Path(Box::new(Path { root: Root::Group, segments: Vec::new(), span }))
}

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
