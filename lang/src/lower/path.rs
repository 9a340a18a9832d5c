//! Paths: what they start from, and their segments as hashed keys and indexes.

use super::module::Scope;
use super::names::{Names, Position};
use super::{Compiler, complain};
use crate::program::{Expr, Path, Place, Root, Segment, Target, TargetRoot};
use crate::span::Span;
use crate::syntax::tree::{self, PathRoot};
use crate::value::{Kind, Value};

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
        let constant_root = matches!(&root, Root::Expr(expr) if expr.as_constant().is_some());
        let constant = constant_root && segments.iter().all(is_constant);
        let is_args = matches!(path.root, PathRoot::Args);
        let expr = Expr::Path(Box::new(Path { root, segments, span: path.span }));
        match (constant, is_args) {
            (false, _) => expr,
            (true, true) => self.fold_quietly(expr),
            (true, false) => self.fold(expr, path.span),
        }
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
        let null = || Root::Expr(Expr::constant(Value::Null));
        match root {
            PathRoot::Event | PathRoot::Meta if !names.rules.event => {
                self.diagnostics.push(complain::event_not_allowed(span));
                null()
            }
            PathRoot::Event if names.rules.function => null(),
            PathRoot::Meta if names.rules.function => null(),
            PathRoot::State if names.rules.function => null(),
            PathRoot::Event => Root::Event,
            PathRoot::Meta => Root::Meta,
            PathRoot::State => {
                names.uses_state = true;
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
                Some(value) => Root::Expr(Expr::Const(value)),
                None => null(),
            },
            PathRoot::Expr(expr) => {
                Root::Expr(self.expression(expr, Position::VALUE, (scope, names)))
            }
        }
    }

    fn local_root(&mut self, name: &tree::Ident, (scope, names): Code<'_, '_>) -> Root {
        if !names.is_bound(&name.text)
            && let Some(value) = scope.constant(&name.text)
        {
            return Root::Expr(Expr::Const(value));
        }
        if !names.rules.locals && !names.is_bound(&name.text) {
            self.diagnostics.push(complain::local_in_select(&name.text, name.span));
            return Root::Expr(Expr::constant(Value::Null));
        }
        let place = Place { name: name.text.as_str().into(), span: name.span };
        Root::Local(names.read(&name.text, name.span), place)
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
                let expr = self.expression(index, Position::VALUE, (scope, names));
                let Some(value) = expr.as_constant() else { return Segment::Expr(expr, span) };
                match (value, value.as_usize()) {
                    (Value::Str(name), _) => Segment::field(name, span),
                    (_, Some(index)) => Segment::Index(index, span),
                    _ => {
                        let shown = if value.kind() == Kind::Integer {
                            "a negative integer"
                        } else {
                            value.kind().name()
                        };
                        self.diagnostics.push(complain::bad_segment(shown, span));
                        Segment::Index(0, span)
                    }
                }
            }
            tree::Segment::Range(start, end, span) => {
                let start = self.expression(start, Position::VALUE, (scope, names));
                let end = self.expression(end, Position::VALUE, (scope, names));
                Segment::Range(Box::new((start, end)), *span)
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
        let constant_root = matches!(&root, Root::Expr(expr) if expr.as_constant().is_some());
        let constant = constant_root && segments.iter().all(is_constant);
        let expr = Expr::Presence(wanted, Box::new(Path { root, segments, span: path.span }));
        if constant { self.fold(expr, path.span) } else { expr }
    }

    /// The left side of `let`.
    pub(super) fn target(&mut self, path: &tree::Path, (scope, names): Code<'_, '_>) -> Target {
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
            PathRoot::State if names.rules.function || !names.rules.state => {
                (TargetRoot::Invalid("`state` here"), "state")
            }
            PathRoot::State => {
                names.uses_state = true;
                (TargetRoot::State, "state")
            }
            PathRoot::Local(name)
                if names.is_bound(&name.text) || scope.constant(&name.text).is_none() =>
            {
                (TargetRoot::Local(names.assign(&name.text)), name.text.as_str())
            }
            PathRoot::Local(_)
            | PathRoot::Const(_)
            | PathRoot::Expr(_)
            | PathRoot::Args
            | PathRoot::Group
            | PathRoot::Window => (TargetRoot::Invalid("a constant expression"), "constant"),
        };
        Target { root, name: name.into(), segments, span: path.span }
    }
}

/// `group[n]`
fn group_element(at: usize, span: Span) -> Expr {
    let segments = vec![Segment::Index(at, span)];
    Expr::Path(Box::new(Path { root: Root::Group, segments, span }))
}

fn is_constant(segment: &Segment) -> bool {
    match segment {
        Segment::Field(..) | Segment::Index(..) => true,
        Segment::Expr(expr, _) => expr.as_constant().is_some(),
        Segment::Range(bounds, _) => {
            bounds.0.as_constant().is_some() && bounds.1.as_constant().is_some()
        }
    }
}
