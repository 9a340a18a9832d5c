//! `select … from … into …`

use super::build::{Builder, Level};
use super::definitions::Namespace;
use super::identity::Identity;
use super::timed::Window;
use super::{Node, Step, complain, inline};
use crate::operator::{IN, OUT};
use crate::operators::select::{Clauses, Dimension, Select, TimedSelect, WindowedSelect};
use temblor_lang::lower::Rules;
use temblor_lang::syntax::tree::{self, DefineKind, Expr, ExprKind, Group, PathRoot};

impl Builder<'_, '_> {
    pub(super) fn select(&mut self, select: &tree::Select, level: &mut Level) {
        let from = self.source(&select.from, level);
        let into = self.sink(&select.into, level);
        if is_passthrough(select) {
            if let (Some(from), Some(into)) = (from, into) {
                self.connect((from.0, &from.1), (into.0, &into.1));
            }
            return;
        }
        let (step, is_timed) = self.select_step(select, level);
        self.unnamed += 1;
        let given = self.named_selects.get(&select.span);
        let name = match given {
            Some(given) => format!("{}{given}", level.prefix),
            None => format!("{}select {}", level.prefix, self.unnamed),
        };
        let paths = select.windows.iter().map(|window| &window.path);
        let definitions = paths.filter_map(|path| match path.segments.as_slice() {
            [name] => level.definition(Namespace::Window, &name.text),
            _ => None,
        });
        let definitions: Vec<_> = definitions.map(|one| one.define.clone()).collect();
        let identity = Identity {
            name: given.map(|_| name.clone()),
            path: level.prefix.clone(),
            ..Identity::of_select(select, &definitions)
        };
        let node = Node { identity, ..Node::new(name, step).made_of(select.span) };
        let node = self.add_node(node);
        if let Some(from) = from {
            self.connect((from.0, &from.1), (node, IN));
        }
        if is_timed {
            self.note_timed(node, &select.into, level);
        }
        if let Some(into) = into {
            self.connect((node, OUT), (into.0, &into.1));
        }
    }

    fn select_step(&mut self, select: &tree::Select, level: &Level) -> (Step, bool) {
        let windows: Vec<_> =
            select.windows.iter().filter_map(|window| self.window_of(window, level)).collect();
        let clauses = self.clauses(select, level);
        let (mut arrival, mut timed) = (Vec::new(), Vec::new());
        for (window, used) in windows.into_iter().zip(&select.windows) {
            match window {
                Window::ByArrival(spec) => arrival.push(*spec),
                Window::ByEvents(spec) => timed.push((*spec, used.span)),
            }
        }
        if let (Some((_, span)), true) = (timed.first(), timed.len() + arrival.len() > 1) {
            let message = "a window over event time stands alone, not in a row of windows";
            let complaint = complain::bad_window(message, *span);
            let help = "select over it first, and over the others behind that";
            self.complain(complaint.with_help(help));
        }
        match (timed.pop(), arrival.is_empty()) {
            (Some((spec, _)), _) => {
                (Step::Operator(Box::new(TimedSelect::new(clauses, spec))), true)
            }
            (None, true) => (Step::Operator(Box::new(Select::new(clauses))), false),
            (None, false) => {
                (Step::Operator(Box::new(WindowedSelect::new(clauses, arrival))), false)
            }
        }
    }

    fn window_of(&mut self, used: &tree::UsedWindow, level: &Level) -> Option<Window> {
        let path = &used.path;
        if let [name] = path.segments.as_slice()
            && level.definition(Namespace::Window, &name.text).is_none()
            && let Some(window) = inline::window(&name.text)
        {
            let window = window
                .map_err(|message| self.complain(complain::bad_window(&message, path.span)))
                .ok()?;
            return self.timed(window, None, used, level);
        }
        let definition = self.definition(Namespace::Window, path, level)?;
        match &definition.define.kind {
            DefineKind::Window(def) => {
                let (window, time) = self.window(def, &definition, level)?;
                self.timed(window, time, used, level)
            }
            _ => None,
        }
    }

    fn clauses(&mut self, select: &tree::Select, level: &Level) -> Clauses {
        let args = level.args.clone();
        let scope = &level.scope;
        let filter = select.filter.as_ref().map(|filter| {
            self.compiler.lower_condition(filter, scope, Rules::FORMULA, args.clone())
        });
        let group = select.group.as_ref().map(|group| self.dimension(group, level));
        let (target, having) = if select.windows.is_empty() {
            let mut formula = |tree: &Expr| {
                self.compiler.lower_formula(tree, scope, Rules::FORMULA, args.clone())
            };
            let target = formula(&select.target);
            let having = select.having.as_ref().map(|having| {
                self.compiler.lower_condition(having, scope, Rules::FORMULA, args.clone())
            });
            (target, having)
        } else {
            let groups = select.group.as_ref().map(expressions).unwrap_or_default();
            let target = self.compiler.lower_grouped(&select.target, scope, args.clone(), &groups);
            let having = select.having.as_ref().map(|having| {
                self.compiler.lower_condition(having, scope, Rules::HAVING, args.clone())
            });
            (target, having)
        };
        let args = args.unwrap_or_default();
        Clauses { target, filter, group, having, args }
    }

    fn dimension(&mut self, group: &Group, level: &Level) -> Dimension {
        let mut formula = |tree: &Expr| {
            let args = level.args.clone();
            self.compiler.lower_formula(tree, &level.scope, Rules::FORMULA, args)
        };
        match group {
            Group::Expr(tree) => Dimension::Value(formula(tree)),
            Group::Each(tree, _) => Dimension::Each(formula(tree)),
            Group::Set(groups, _) => {
                Dimension::Set(groups.iter().map(|group| self.dimension(group, level)).collect())
            }
        }
    }
}

/// `select event from a into b`: nothing to do.
fn is_passthrough(select: &tree::Select) -> bool {
    let plain = matches!(&select.target.kind, ExprKind::Path(path)
        if path.root == PathRoot::Event && path.segments.is_empty());
    plain
        && select.filter.is_none()
        && select.having.is_none()
        && select.group.is_none()
        && select.windows.is_empty()
}

/// The expressions behind `group by`, in the order of the elements of `group`.
fn expressions(group: &Group) -> Vec<Expr> {
    match group {
        Group::Expr(tree) | Group::Each(tree, _) => vec![tree.clone()],
        Group::Set(groups, _) => groups.iter().flat_map(expressions).collect(),
    }
}
