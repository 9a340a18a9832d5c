//! Trees of the statements and expressions that chains stand for.

use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Arm, BinaryOp, Binding, Expr, ExprKind, Ident, Path, PathRoot, Pattern, PatternKind, Select,
    Statement, StreamRef, StringForm, StringLit, StringPart, UnaryOp,
};

pub(in crate::graph) fn binding(name: &str, value: Expr) -> Binding {
    Binding { name: Ident { text: name.to_string(), span: value.span }, value }
}

pub(in crate::graph) fn text(name: &Ident) -> Expr {
    let parts = vec![StringPart::Text(name.text.clone())];
    let literal = StringLit { parts, form: StringForm::Quoted, span: name.span };
    Expr { kind: ExprKind::String(literal), span: name.span }
}

pub(in crate::graph) fn local(name: &Ident) -> Expr {
    let span = name.span;
    let path = Path { root: PathRoot::Local(name.clone()), segments: Vec::new(), span };
    Expr { kind: ExprKind::Path(Box::new(path)), span }
}

pub(in crate::graph) fn stream(name: &str, span: Span) -> StreamRef {
    StreamRef { node: Ident { text: name.to_string(), span }, port: None, span }
}

/// A node, or its port `out`.
pub(in crate::graph) fn stream_at(name: &Ident, span: Span) -> StreamRef {
    StreamRef { node: name.clone(), port: None, span }
}

pub(in crate::graph) fn event(span: Span) -> Expr {
    let path = Path { root: PathRoot::Event, segments: Vec::new(), span };
    Expr { kind: ExprKind::Path(Box::new(path)), span }
}

/// `emit => "port"`
pub(in crate::graph) fn emit(port: &Ident) -> Expr {
    let ExprKind::String(literal) = text(port).kind else {
        unreachable!("text makes a string");
    };
    Expr { kind: ExprKind::Emit(None, Some(literal)), span: port.span }
}

/// `case _ when condition => body`
pub(in crate::graph) fn arm(guard: Option<Expr>, body: Expr, span: Span) -> Arm {
    let pattern = Pattern { kind: PatternKind::Any, span };
    Arm { pattern, guard, body: vec![body], span }
}

pub(in crate::graph) fn negated(condition: &Expr) -> Expr {
    let span = condition.span;
    let inner = Expr { kind: ExprKind::Paren(Box::new(condition.clone())), span };
    Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(inner)), span }
}

pub(in crate::graph) fn both(left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(BinaryOp::And, Box::new(left), Box::new(right)), span }
}

pub(in crate::graph) fn plain_select(
    target: Expr,
    from: StreamRef,
    into: StreamRef,
    filter: Option<Expr>,
) -> Statement {
    let span = target.span;
    Statement::Select(Box::new(Select {
        target,
        from,
        windows: Vec::new(),
        filter,
        group: None,
        into,
        having: None,
        span,
    }))
}
