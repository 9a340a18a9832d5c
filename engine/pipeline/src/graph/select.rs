//! `select … from … into …`

use super::build::{Builder, Level};
use super::definitions::Namespace;
use super::identity::Identity;
use super::{Node, Step, complain, inline};
use crate::operator::{IN, OUT};
use crate::operators::select::{Clauses, Dimension, Select, WindowedSelect};
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
        let step = self.select_step(select, level);
        self.unnamed += 1;
        let given = self.named_selects.get(&select.span);
        let name = match given {
            Some(given) => format!("{}{given}", level.prefix),
            None => format!("{}select {}", level.prefix, self.unnamed),
        };
        let definitions = select.windows.iter().filter_map(|path| match path.segments.as_slice() {
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
        if let Some(into) = into {
            self.connect((node, OUT), (into.0, &into.1));
        }
    }

    fn select_step(&mut self, select: &tree::Select, level: &Level) -> Step {
        let windows: Vec<_> =
            select.windows.iter().filter_map(|path| self.window_of(path, level)).collect();
        let clauses = self.clauses(select, level);
        Step::Operator(if windows.is_empty() {
            Box::new(Select::new(clauses))
        } else {
            Box::new(WindowedSelect::new(clauses, windows))
        })
    }

    fn window_of(
        &mut self,
        path: &tree::ModPath,
        level: &Level,
    ) -> Option<crate::operators::select::WindowSpec> {
        if let [name] = path.segments.as_slice()
            && level.definition(Namespace::Window, &name.text).is_none()
            && let Some(window) = inline::window(&name.text)
        {
            return window
                .map_err(|message| self.complain(complain::bad_window(&message, path.span)))
                .ok();
        }
        let definition = self.definition(Namespace::Window, path, level)?;
        match &definition.define.kind {
            DefineKind::Window(def) => self.window(def, &definition, level),
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
