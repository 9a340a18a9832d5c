//! Immutable expressions: operands, paths, literals, calls and the forms that end in `end`.

use super::super::grammar::{Pair, Rule};
use super::super::tree::{
    BytesPart, Expr, ExprKind, PatchKind, PatchOp, Path, PathRoot, Segment, UnaryOp,
};
use super::operators::too_deep;
use super::{Builder, OPERATORS_MAX, only, parts, sole, take};
use crate::diagnostic::{Diagnostic, codes};

impl Builder {
    /// Any expression or statement.
    pub(super) fn expr(&mut self, pair: Pair) -> Expr {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::iexpr | Rule::if_statement => return self.chain(pair),
            Rule::operand => return self.operand(pair),
            Rule::postfix => return self.postfix(pair),
            Rule::number => return self.number(sole(pair)),
            Rule::quantity | Rule::float | Rule::hex | Rule::int => return self.number(pair),
            Rule::string => ExprKind::String(self.string(pair)),
            Rule::bytes => ExprKind::Bytes(parts(pair).map(|part| self.bytes_part(part)).collect()),
            Rule::literal => literal(pair.as_str()),
            Rule::recur => ExprKind::Recur(self.call_args(sole(pair))),
            Rule::patch => self.patch(pair),
            Rule::merge => self.merge(pair),
            Rule::if_expr | Rule::iif_expr => self.if_expr(pair),
            Rule::match_expr | Rule::imatch_expr => self.match_expr(pair),
            Rule::for_expr | Rule::ifor_expr => self.for_expr(pair),
            Rule::let_expr => self.let_expr(pair),
            Rule::emit_expr => self.emit_expr(pair),
            Rule::drop_expr => ExprKind::Drop,
            Rule::masked => ExprKind::Error,
            other => unreachable!("{other:?} is no expression in the grammar"),
        };
        Expr { kind, span }
    }

    /// All expressions among the parts of a pair.
    pub(super) fn exprs(&mut self, pair: Pair) -> Vec<Expr> {
        parts(pair).map(|part| self.expr(part)).collect()
    }

    fn operand(&mut self, pair: Pair) -> Expr {
        let whole = self.span(&pair);
        let mut signs = Vec::new();
        let mut value = None;
        for part in parts(pair) {
            match unary(part.as_rule()) {
                Some(op) => signs.push((op, self.span(&part))),
                None if part.as_rule() == Rule::presence => value = Some(self.presence(part)),
                None => value = Some(self.expr(part)),
            }
        }
        let value = value.expect("the grammar ends an operand with its value");
        if self.depth + signs.len() > OPERATORS_MAX {
            self.report(too_deep(whole));
            return Expr { kind: ExprKind::Error, span: whole };
        }
        signs.into_iter().rev().fold(value, |value, (op, sign)| Expr {
            span: sign.to(value.span),
            kind: ExprKind::Unary(op, Box::new(value)),
        })
    }

    fn presence(&mut self, pair: Pair) -> Expr {
        let span = self.span(&pair);
        let mut inner = pair.into_inner();
        let present = take(&mut inner).as_rule() == Rule::kw_present;
        let place = take(&mut inner);
        let path = self.path_of(place, "`present` and `absent` ask about a path");
        let kind = path.map_or(ExprKind::Error, |path| ExprKind::Presence(present, Box::new(path)));
        Expr { kind, span }
    }

    /// A path; a call, list, record or bracketed expression without a segment is none.
    pub(super) fn path_of(&mut self, pair: Pair, what: &str) -> Option<Path> {
        let expr = self.postfix(pair);
        match expr.kind {
            ExprKind::Path(path) => Some(*path),
            _ => {
                self.report(
                    Diagnostic::error(codes::PATH_EXPECTED, expr.span, what)
                        .with_label("not a path")
                        .with_help("write a path such as `event.field`, `$meta` or `name`"),
                );
                None
            }
        }
    }

    fn postfix(&mut self, pair: Pair) -> Expr {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let root_pair = take(&mut inner);
        let root_span = self.span(&root_pair);
        let mut segments: Vec<Segment> = Vec::new();
        let root = self.root(root_pair, &mut segments);
        for segment in inner {
            segments.push(self.segment(segment));
        }
        if let PathRoot::Expr(expr) = root {
            if segments.is_empty() {
                return Expr { kind: expr.kind, span: root_span };
            }
            let path = Path { root: PathRoot::Expr(expr), segments, span };
            return Expr { kind: ExprKind::Path(Box::new(path)), span };
        }
        Expr { kind: ExprKind::Path(Box::new(Path { root, segments, span })), span }
    }

    fn root(&mut self, pair: Pair, segments: &mut Vec<Segment>) -> PathRoot {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::meta => {
                segments
                    .extend(only(pair, Rule::ident).map(|name| Segment::Name(self.ident(&name))));
                return PathRoot::Meta;
            }
            Rule::bare_meta => return PathRoot::Meta,
            Rule::event => return PathRoot::Event,
            Rule::state => return PathRoot::State,
            Rule::args => return PathRoot::Args,
            Rule::group => return PathRoot::Group,
            Rule::window => return PathRoot::Window,
            Rule::named => return self.named(pair),
            Rule::list => ExprKind::List(self.exprs(pair)),
            Rule::record => ExprKind::Record(parts(pair).map(|field| self.field(field)).collect()),
            Rule::paren => ExprKind::Paren(Box::new(self.expr(sole(pair)))),
            other => unreachable!("{other:?} is no root of a path in the grammar"),
        };
        PathRoot::Expr(Box::new(Expr { kind, span }))
    }

    fn field(&mut self, pair: Pair) -> (super::super::tree::StringLit, Expr) {
        let mut inner = parts(pair);
        let key = self.string(take(&mut inner));
        (key, self.expr(take(&mut inner)))
    }

    fn named(&mut self, pair: Pair) -> PathRoot {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let mut path = self.mod_path(take(&mut inner));
        match inner.next() {
            Some(args) => {
                let kind = ExprKind::Call(path, self.call_args(args));
                PathRoot::Expr(Box::new(Expr { kind, span }))
            }
            None if path.segments.len() == 1 => PathRoot::Local(path.segments.remove(0)),
            None => PathRoot::Const(path),
        }
    }

    fn call_args(&mut self, pair: Pair) -> Vec<Expr> {
        self.exprs(pair)
    }

    fn segment(&mut self, pair: Pair) -> Segment {
        let span = self.span(&pair);
        let inner = sole(pair);
        if inner.as_rule() == Rule::ident {
            return Segment::Name(self.ident(&inner));
        }
        let mut bounds = parts(inner);
        let first = self.expr(take(&mut bounds));
        match bounds.next() {
            Some(last) => Segment::Range(first, self.expr(last), span),
            None => Segment::Index(first),
        }
    }

    fn bytes_part(&mut self, pair: Pair) -> BytesPart {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let value = self.expr(take(&mut inner));
        let mut part = BytesPart { value, size: None, kind: None, span };
        for extra in inner {
            match extra.as_rule() {
                Rule::int | Rule::hex => part.size = Some((self.bits(&extra), self.span(&extra))),
                _ => part.kind = Some(self.ident(&extra)),
            }
        }
        self.check_bytes_part(&part);
        part
    }

    fn patch(&mut self, pair: Pair) -> ExprKind {
        let mut inner = parts(pair);
        let target = self.expr(take(&mut inner));
        let written = inner.filter(|part| part.as_rule() == Rule::patch_op);
        let operations = written.map(|operation| self.patch_op(operation)).collect();
        ExprKind::Patch(Box::new(target), operations)
    }

    fn patch_op(&mut self, pair: Pair) -> PatchOp {
        let span = self.span(&pair);
        let mut inner = parts(sole(pair));
        let word = take(&mut inner).as_rule();
        let first = take(&mut inner);
        let kind = match word {
            Rule::kw_erase => PatchKind::Erase(self.string(first)),
            Rule::kw_move => PatchKind::Move(self.string(first), self.string(take(&mut inner))),
            Rule::kw_copy => PatchKind::Copy(self.string(first), self.string(take(&mut inner))),
            Rule::kw_insert => PatchKind::Insert(self.string(first), self.expr(take(&mut inner))),
            Rule::kw_upsert => PatchKind::Upsert(self.string(first), self.expr(take(&mut inner))),
            Rule::kw_update => PatchKind::Update(self.string(first), self.expr(take(&mut inner))),
            word => {
                let (key, value) = match inner.next() {
                    Some(value) => (Some(self.string(first)), self.expr(value)),
                    None => (None, self.expr(first)),
                };
                if word == Rule::kw_merge {
                    PatchKind::Merge(key, value)
                } else {
                    PatchKind::Default(key, value)
                }
            }
        };
        PatchOp { kind, span }
    }

    fn merge(&mut self, pair: Pair) -> ExprKind {
        let mut inner = parts(pair).filter(|part| part.as_rule() != Rule::kw_merge);
        let target = self.expr(take(&mut inner));
        ExprKind::Merge(Box::new(target), Box::new(self.expr(take(&mut inner))))
    }
}

fn literal(text: &str) -> ExprKind {
    match text {
        "true" => ExprKind::Bool(true),
        "false" => ExprKind::Bool(false),
        _ => ExprKind::Null,
    }
}

fn unary(rule: Rule) -> Option<UnaryOp> {
    match rule {
        Rule::op_plus => Some(UnaryOp::Plus),
        Rule::op_minus => Some(UnaryOp::Minus),
        Rule::op_not => Some(UnaryOp::Not),
        Rule::op_bitnot => Some(UnaryOp::BitNot),
        _ => None,
    }
}
