//! Paths: what they start from, and their segments as hashed keys and indexes.

use super::module::Scope;
use super::names::{Names, Position, Rules};
use super::{Compiler, complain};
use crate::program::{Expr, LocalName, Path, Root, Segment, Target, TargetRoot};
use crate::span::Span;
use crate::syntax::tree::{self, ExprKind, PathRoot};
use crate::value::{Frozen, Value};
use std::sync::Arc;

type Code<'s, 'n> = (&'s Scope, &'n mut Names);

impl Compiler<'_> {
    pub(super) fn path(&mut self, path: &tree::Path, (scope, names): Code<'_, '_>) -> Expr {
        if let Some(group) = self.group_of(path.span, names) {
            return group;
        }
        let root = self.root(&path.root, path.span, (scope, names));
        if path.segments.is_empty() {
            return match root {
                Root::Event => Expr::Event,
                Root::Local(slot, place) => Expr::Local(slot, place),
                Root::Expr(expr) => expr,
                root => Expr::Path(Box::new(Path { root, segments: Vec::new(), span: path.span })),
            };
        }
        let segments: Vec<_> = self.segments(&path.segments, (scope, names));
        self.note_read(&root, &segments, names);
        let constant_root = matches!(&root, Root::Expr(expr) if expr.as_constant().is_some());
        if !constant_root {
            return Expr::Path(Box::new(Path { root, segments, span: path.span }));
        }
        let is_args = matches!(path.root, PathRoot::Args);
        self.constant_path(Path { root, segments, span: path.span }, is_args)
    }

    /// Goes as far into a constant as the segments are known. An argument that is not there only
    /// fails the script when it is read.
    fn constant_path(&mut self, mut path: Path, is_args: bool) -> Expr {
        let known = path.segments.iter().take_while(|segment| is_constant(segment)).count();
        let rest = path.segments.split_off(known);
        let span = path.span;
        let expr = Expr::Path(Box::new(path));
        let expr = if is_args { self.fold_quietly(expr) } else { self.fold(expr, span) };
        if rest.is_empty() {
            return expr;
        }
        Expr::Path(Box::new(Path { root: Root::Expr(expr), segments: rest, span }))
    }

    /// The element of `group` that the text at `span` stands for.
    pub(super) fn group_of(&self, span: Span, names: &Names) -> Option<Expr> {
        if names.groups.is_empty() {
            return None;
        }
        let text = self.spelling(span);
        let at = names.groups.iter().position(|group| *group == text)?;
        Some(group_element(at, span))
    }

    pub(super) fn root(
        &mut self,
        root: &PathRoot,
        span: Span,
        (scope, names): Code<'_, '_>,
    ) -> Root {
        match root {
            PathRoot::Event | PathRoot::Meta if names.rules == Rules::CONSTANT => {
                names.reads_event = true;
                Root::Event
            }
            PathRoot::Event | PathRoot::Meta if !names.rules.event => {
                self.diagnostics.push(complain::event_not_allowed(span));
                Root::Event
            }
            PathRoot::Event => Root::Event,
            PathRoot::Meta => Root::Meta,
            PathRoot::State => {
                names.uses_state |= !names.rules.function;
                Root::State
            }
            PathRoot::Args => match (&names.args, names.rules.function) {
                (Some(args), false) => Root::Expr(Expr::Const(args.clone())),
                _ => Root::Args,
            },
            PathRoot::Group => Root::Group,
            PathRoot::Window => Root::Window,
            PathRoot::Local(name) => self.local_root(name, (scope, names)),
            PathRoot::Const(path) => match self.qualified_constant(path, scope) {
                Some(value) => self.constant_root(value, names),
                None => Root::Group,
            },
            PathRoot::Expr(expr) => {
                Root::Expr(self.expression(expr, Position::VALUE, (scope, names)))
            }
        }
    }

    fn local_root(&mut self, name: &tree::Ident, (scope, names): Code<'_, '_>) -> Root {
        if let Some(value) = scope.constant(&name.text) {
            return self.constant_root(value, names);
        }
        if !names.rules.locals && !names.is_bound(&name.text) {
            self.diagnostics.push(complain::local_in_select(&name.text, name.span));
            return Root::Group;
        }
        let place = LocalName { name: name.text.as_str().into(), span: name.span };
        Root::Local(names.read(&name.text, name.span), place)
    }

    /// A constant; nothing is known of one whose value has a mistake.
    fn constant_root(&self, value: Arc<Frozen>, names: &mut Names) -> Root {
        if !Arc::ptr_eq(&value, &self.broken) {
            return Root::Expr(Expr::Const(value));
        }
        names.reads_broken = true;
        Root::Group
    }

    fn segments(
        &mut self,
        segments: &[tree::Segment],
        (scope, names): Code<'_, '_>,
    ) -> Vec<Segment> {
        segments.iter().map(|segment| self.segment(segment, (scope, names))).collect()
    }

    fn segment(&mut self, segment: &tree::Segment, (scope, names): Code<'_, '_>) -> Segment {
        match segment {
            tree::Segment::Name(name) => Segment::field(&name.text, name.span),
            tree::Segment::Index(index) => {
                let span = index.span;
                if let Some(kind) = no_index(index) {
                    self.diagnostics.push(complain::bad_segment(kind, span));
                }
                let expr = self.expression(index, Position::VALUE, (scope, names));
                match expr.as_constant().map(|value| (value, value.as_usize())) {
                    Some((Value::Str(name), _)) => Segment::field(name, span),
                    Some((_, Some(index))) => Segment::Index(index, span),
                    _ => Segment::Expr(expr, span),
                }
            }
            tree::Segment::Range(start, end, span) => {
                let start = self.expression(start, Position::VALUE, (scope, names));
                let end = self.expression(end, Position::VALUE, (scope, names));
                self.check_range(&start, &end, *span);
                Segment::Range(Box::new((start, end)), *span)
            }
        }
    }

    /// When both bounds are known they must be indexes, and in order.
    fn check_range(&mut self, start: &Expr, end: &Expr, span: Span) {
        let (Some(start), Some(end)) = (start.as_constant(), end.as_constant()) else { return };
        match (start.as_usize(), end.as_usize()) {
            (Some(start), Some(end)) if end < start => {
                self.diagnostics.push(complain::reversed_range(start, end, span));
            }
            (Some(_), Some(_)) => {}
            (first, _) => {
                let bad = if first.is_none() { start } else { end };
                self.diagnostics.push(complain::bad_bound(bad.kind().name(), span));
            }
        }
    }

    /// `present path`, `absent path`
    pub(super) fn presence(
        &mut self,
        wanted: bool,
        path: &tree::Path,
        (scope, names): Code<'_, '_>,
    ) -> Expr {
        let root = self.root(&path.root, path.span, (scope, names));
        let segments = self.segments(&path.segments, (scope, names));
        self.note_read(&root, &segments, names);
        Expr::Presence(wanted, Box::new(Path { root, segments, span: path.span }))
    }

    /// The left side of `let`.
    pub(super) fn target(
        &mut self,
        path: &tree::Path,
        used: bool,
        (scope, names): Code<'_, '_>,
    ) -> Target {
        let segments = self.segments(&path.segments, (scope, names));
        let (root, name) = match &path.root {
            PathRoot::Event | PathRoot::Meta if !names.rules.assign_event => {
                self.diagnostics.push(complain::event_assignment(path.span));
                (TargetRoot::Invalid("the event"), "event")
            }
            PathRoot::Meta if segments.is_empty() => {
                (TargetRoot::Invalid("all of `$`, only to its keys"), "$")
            }
            PathRoot::Event => (TargetRoot::Event, "event"),
            PathRoot::Meta => (TargetRoot::Meta, "$"),
            PathRoot::State if !names.rules.state => (TargetRoot::Invalid("`state` here"), "state"),
            PathRoot::State => {
                names.uses_state |= !names.rules.function;
                (TargetRoot::State, "state")
            }
            PathRoot::Local(name) if scope.constant(&name.text).is_none() => {
                let slot = names.assign_local(&name.text, name.span, used);
                (TargetRoot::Local(slot), name.text.as_str())
            }
            PathRoot::Const(path) => {
                self.qualified_constant(path, scope);
                (TargetRoot::Invalid("a constant expression"), "constant")
            }
            PathRoot::Expr(expr) => {
                self.expression(expr, Position::VALUE, (scope, names));
                (TargetRoot::Invalid("a constant expression"), "constant")
            }
            PathRoot::Local(_) | PathRoot::Args | PathRoot::Group | PathRoot::Window => {
                (TargetRoot::Invalid("a constant expression"), "constant")
            }
        };
        Target { root, name: name.into(), segments, grows: false, span: path.span }
    }
}

/// `group[n]`
fn group_element(at: usize, span: Span) -> Expr {
    let segments = vec![Segment::Index(at, span)];
    Expr::Path(Box::new(Path { root: Root::Group, segments, span }))
}

/// The kind of a literal that can never be an index; what is computed is looked at in the run.
fn no_index(tree: &tree::Expr) -> Option<&'static str> {
    match &tree.kind {
        ExprKind::Paren(inner) => no_index(inner),
        ExprKind::Null => Some("null"),
        ExprKind::Bool(_) => Some("bool"),
        ExprKind::Float(_) => Some("float"),
        _ => None,
    }
}

fn is_constant(segment: &Segment) -> bool {
    match segment {
        Segment::Field(..) | Segment::Index(..) => true,
        Segment::Expr(..) => false,
        Segment::Range(bounds, _) => {
            bounds.0.as_constant().is_some() && bounds.1.as_constant().is_some()
        }
    }
}
