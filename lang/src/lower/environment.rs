//! `env::NAME`: variables of the environment, in Temblor's own notation. They are looked up once, while
//! the program is compiled.

use super::{Compiler, Scope, complain};
use crate::syntax::tree::{self, ExprKind, PathRoot};
use crate::value::{Frozen, Value};
use std::sync::Arc;

/// The module that stands for the environment where no other is called so.
const ENVIRONMENT: &str = "env";

impl Compiler<'_> {
    /// The name of the variable that a path stands for.
    fn variable<'p>(&self, path: &'p tree::ModPath, scope: &Scope) -> Option<&'p tree::Ident> {
        let [module, name] = path.segments.as_slice() else { return None };
        let is_meant = scope.prelude
            && self.environment.is_some()
            && module.text == ENVIRONMENT
            && !scope.uses_module(ENVIRONMENT);
        is_meant.then_some(name)
    }

    fn look_up(&self, name: &str) -> Option<String> {
        self.environment.and_then(|environment| environment(name))
    }

    /// Whether an expression is a variable, and its value if the environment has it.
    pub(super) fn variable_of(&self, tree: &tree::Expr, scope: &Scope) -> Option<Option<String>> {
        let ExprKind::Path(path) = &tree.kind else { return None };
        let (PathRoot::Const(constant), []) = (&path.root, path.segments.as_slice()) else {
            return None;
        };
        let name = self.variable(constant, scope)?;
        Some(self.look_up(&name.text))
    }

    /// The value of a path that is a variable without a default; reports one that is not there.
    pub(super) fn required_variable(
        &mut self,
        path: &tree::ModPath,
        scope: &Scope,
    ) -> Option<Arc<Frozen>> {
        let name = self.variable(path, scope)?;
        let found = self.look_up(&name.text);
        if found.is_none() {
            self.diagnostics.push(complain::unknown_variable(&name.text, path.span));
        }
        Some(found.map_or_else(Arc::default, |text| Arc::new(Frozen::new(Value::Str(&text)))))
    }
}
