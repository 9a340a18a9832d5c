//! Modules: what a `use` makes visible, and how a path of names is followed to a function, a
//! constant or a definition.

use super::{Compiler, complain};
use crate::builtin::{Aggregate, Function};
use crate::program::UserFn;
use crate::span::Span;
use crate::syntax::tree;
use crate::value::Frozen;
use halfbrown::HashMap;
use std::fmt;
use std::sync::Arc;

/// Modules that use each other in a row, at the most.
pub(crate) const MODULE_DEPTH_MAX: usize = 64;

/// Where module files come from. The language itself reads no files.
pub trait Loader: fmt::Debug {
    /// Name (a path) and text of the module `a::b::c`, from the first place that has it.
    fn load(&self, path: &[&str]) -> Option<(String, String)>;
}

/// No module files at all.
#[derive(Debug)]
pub struct NoModules;

impl Loader for NoModules {
    fn load(&self, _: &[&str]) -> Option<(String, String)> {
        None
    }
}

/// Number of a loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleId(usize);

/// What is visible by name.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    uses: HashMap<String, ModuleId>,
    consts: HashMap<String, Arc<Frozen>>,
    functions: HashMap<String, Arc<UserFn>>,
    /// Whether standard modules are found without `use` (chains and the REPL).
    pub prelude: bool,
}

impl Scope {
    /// A scope in which standard modules are found without `use`.
    #[must_use]
    pub fn with_prelude() -> Self {
        Self { prelude: true, ..Self::default() }
    }

    /// Whether a `use` has given a module this name.
    pub(super) fn uses_module(&self, name: &str) -> bool {
        self.uses.contains_key(name)
    }

    /// The constant with this name.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<Arc<Frozen>> {
        self.consts.get(name).cloned()
    }

    /// Makes a constant visible, over an earlier one.
    pub fn set_constant(&mut self, name: &str, value: Arc<Frozen>) {
        self.consts.insert(name.to_string(), value);
    }

    /// Names of all constants and functions, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.consts.keys().chain(self.functions.keys()).map(String::as_str)
    }
}

/// A loaded module.
#[derive(Debug)]
pub(super) struct Module {
    /// `std::string`
    path: String,
    scope: Scope,
    defines: Vec<Arc<tree::Define>>,
}

/// What a path of names leads to when it is called.
pub(super) enum Callee {
    User(Arc<UserFn>),
    Builtin(&'static Function),
    Aggregate(&'static Aggregate),
}

impl Compiler<'_> {
    /// Takes in `use`, `const`, `fn`, `intrinsic`.
    pub fn define(&mut self, item: &tree::Item, scope: &mut Scope) {
        match item {
            tree::Item::Use(import) => self.import(import, scope),
            tree::Item::Const(def) => self.define_const(def, scope),
            tree::Item::Fn(def) => {
                let function = self.lower_function(def, scope);
                self.add_function(&def.name, function, scope);
            }
            tree::Item::Intrinsic(def) => self.define_intrinsic(def, scope),
            tree::Item::Define(def) => {
                self.diagnostics.push(complain::unexpected_definition("`define`", def.span));
            }
            tree::Item::Expr(expr) => {
                self.diagnostics.push(complain::unexpected_definition("an expression", expr.span));
            }
        }
    }

    /// `use a::b as c`
    pub fn import(&mut self, import: &tree::Use, scope: &mut Scope) {
        let Some(last) = import.path.segments.last() else { return };
        if let Some(module) = self.load(&import.path.text(), import.span) {
            let alias = import.alias.as_ref().unwrap_or(last);
            scope.uses.insert(alias.text.clone(), module);
        }
    }

    fn define_const(&mut self, def: &tree::ConstDef, scope: &mut Scope) {
        let name = &def.name.text;
        if scope.consts.contains_key(name) {
            self.diagnostics.push(complain::duplicate("constant", name, def.name.span));
        }
        if name.chars().any(char::is_lowercase) {
            self.diagnostics.push(complain::lower_case_constant(name, def.name.span));
        }
        let value = self.constant(&def.value, scope, None).unwrap_or_else(|| self.broken.clone());
        scope.consts.insert(name.clone(), value);
    }

    fn add_function(&mut self, name: &tree::Ident, function: UserFn, scope: &mut Scope) {
        if scope.functions.contains_key(&name.text) {
            self.diagnostics.push(complain::duplicate("function", &name.text, name.span));
        }
        scope.functions.insert(name.text.clone(), Arc::new(function));
    }

    fn define_intrinsic(&mut self, def: &tree::IntrinsicDef, scope: &mut Scope) {
        let path = def.target.text();
        let standard = self.registry.function(&format!("std::{path}"));
        let known = || self.registry.function(&path).filter(|_| !path.starts_with("std::"));
        match standard.or_else(known) {
            Some(builtin) => {
                let (least, most) = builtin.argument_range();
                // Other wrong numbers are found where the function is called, as in tremor.
                if def.params.is_empty() && !def.varargs && least > 0 {
                    let complaint = complain::bad_arity(&path, 0, least, most, def.span);
                    self.diagnostics.push(complaint);
                }
                let function = super::function::intrinsic(def, builtin);
                self.add_function(&def.name, function, scope);
            }
            None => {
                let known = self.registry.function_paths();
                let span = def.target.span;
                self.diagnostics.push(complain::undefined_function(&path, span, known));
            }
        }
    }

    /// The module with this full path, loaded if it is not yet.
    fn load(&mut self, path: &str, span: Span) -> Option<ModuleId> {
        if let Some(at) = self.modules.iter().position(|module| module.path == path) {
            return Some(ModuleId(at));
        }
        if let Some(start) = self.loading.iter().position(|loading| loading == path) {
            let mut cycle = self.loading[start..].to_vec();
            cycle.push(path.to_string());
            self.diagnostics.push(complain::cyclic_module(&cycle, span));
            return None;
        }
        if self.loading.len() >= MODULE_DEPTH_MAX {
            self.diagnostics.push(complain::modules_too_deep(MODULE_DEPTH_MAX, span));
            return None;
        }
        self.loading.push(path.to_string());
        let module = self.read_module(path, span);
        self.loading.pop();
        self.modules.push(module?);
        Some(ModuleId(self.modules.len() - 1))
    }

    fn read_module(&mut self, path: &str, span: Span) -> Option<Module> {
        let segments: Vec<_> = path.split("::").collect();
        let mut module =
            Module { path: path.to_string(), scope: Scope::default(), defines: Vec::new() };
        let file = self.loader.load(&segments).or_else(|| {
            let text = self.registry.module(path)?;
            Some((format!("<{path}>"), text.to_string()))
        });
        let Some((name, text)) = file else {
            let known = self.registry.module_paths();
            if known.contains(&path) {
                return Some(module);
            }
            self.diagnostics.push(complain::module_not_found(path, span, known));
            return None;
        };
        let source = self.sources.add(name, text);
        let parsed = crate::syntax::parse_module(&self.sources, source);
        self.diagnostics.extend(parsed.diagnostics);
        for item in parsed.tree.items {
            match item {
                tree::Item::Define(define) => module.defines.push(Arc::new(define)),
                item => self.define(&item, &mut module.scope),
            }
        }
        Some(module)
    }

    /// The module that the leading names of a path lead to.
    fn module_of(&mut self, names: &[tree::Ident], scope: &Scope) -> Option<ModuleId> {
        let (first, rest) = names.split_first()?;
        let mut module = match scope.uses.get(&first.text) {
            Some(module) => *module,
            None if scope.prelude => self.prelude(&first.text, first.span)?,
            None => return None,
        };
        for name in rest {
            let inner = self.modules[module.0].scope.uses.get(&name.text).copied();
            module = match inner {
                Some(inner) => inner,
                None => {
                    let path = format!("{}::{}", self.modules[module.0].path, name.text);
                    if !self.registry.module_paths().contains(&path.as_str()) {
                        return None;
                    }
                    self.load(&path, name.span)?
                }
            };
        }
        Some(module)
    }

    /// A standard module by its last name, where no `use` is needed.
    fn prelude(&mut self, name: &str, span: Span) -> Option<ModuleId> {
        let inside = format!("std::{name}");
        let known = self.registry.module_paths();
        [inside.as_str(), name]
            .into_iter()
            .find(|path| known.contains(path))
            .and_then(|path| self.load(path, span))
    }

    /// The function or aggregate that a path names.
    pub(super) fn callee(&mut self, path: &tree::ModPath, scope: &Scope) -> Option<Callee> {
        if let Some(aggregate) = self.registry.aggregate(&path.text()) {
            return Some(Callee::Aggregate(aggregate));
        }
        let (name, modules) = path.segments.split_last()?;
        if modules.is_empty() {
            if let Some(function) = scope.functions.get(&name.text) {
                return Some(Callee::User(function.clone()));
            }
            self.complain_function(path, scope);
            return None;
        }
        let Some(module) = self.module_of(modules, scope) else {
            self.complain_module(path, scope);
            return None;
        };
        let module = &self.modules[module.0];
        if let Some(function) = module.scope.functions.get(&name.text) {
            return Some(Callee::User(function.clone()));
        }
        let full = format!("{}::{}", module.path, name.text);
        if let Some(function) = self.registry.function(&full) {
            return Some(Callee::Builtin(function));
        }
        if let Some(aggregate) = self.registry.aggregate(&full) {
            return Some(Callee::Aggregate(aggregate));
        }
        self.complain_member(path, &full);
        None
    }

    #[cold]
    fn complain_function(&mut self, path: &tree::ModPath, scope: &Scope) {
        let text = path.text();
        let ends_so = |path: &&&str| path.rsplit("::").next() == Some(text.as_str());
        let aggregates = self.registry.aggregate_paths();
        let functions = self.registry.function_paths();
        let own = crate::diagnostic::nearest(&text, scope.functions.keys().map(String::as_str));
        let elsewhere = aggregates.iter().find(ends_so).or_else(|| functions.iter().find(ends_so));
        let complaint = match elsewhere.filter(|_| own.is_none()) {
            Some(path_of) => complain::function_without_module(&text, path_of, path.span),
            None => complain::undefined_function(&text, path.span, own),
        };
        self.diagnostics.push(complaint);
    }

    #[cold]
    fn complain_module(&mut self, path: &tree::ModPath, scope: &Scope) {
        let first = &path.segments[0];
        let complaint = if scope.uses.contains_key(&first.text) {
            complain::undefined_function(&path.text(), path.span, [])
        } else {
            let used = scope.uses.keys().map(String::as_str);
            let library = self.registry.module_paths();
            complain::module_not_used(&first.text, first.span, used, &library)
        };
        self.diagnostics.push(complaint);
    }

    #[cold]
    fn complain_member(&mut self, path: &tree::ModPath, full: &str) {
        let known = self.registry.function_paths();
        let mut complaint = complain::undefined_function(&path.text(), path.span, []);
        if let Some(near) = crate::diagnostic::nearest(full, known) {
            let short = near.strip_prefix("std::").unwrap_or(near);
            complaint = complaint.with_help(format!("did you mean `{short}`?"));
        }
        self.diagnostics.push(complaint);
    }

    /// The constant that a qualified path names.
    pub(super) fn qualified_constant(
        &mut self,
        path: &tree::ModPath,
        scope: &Scope,
    ) -> Option<Arc<Frozen>> {
        if let Some(variable) = self.required_variable(path, scope) {
            return Some(variable);
        }
        let (name, modules) = path.segments.split_last()?;
        let Some(module) = self.module_of(modules, scope) else {
            self.complain_module(path, scope);
            return None;
        };
        let found = self.modules[module.0].scope.constant(&name.text);
        if found.is_none() {
            let text = path.text();
            let known = self.modules[module.0].scope.names();
            let complaint = complain::undefined_constant(&text, path.span, known);
            self.diagnostics.push(complaint);
        }
        found
    }

    /// The definition (window, script, pipeline …) that a qualified path names, with the scope of
    /// the module that it stands in.
    pub fn definition(
        &mut self,
        path: &tree::ModPath,
        scope: &Scope,
        wanted: impl Fn(&tree::DefineKind) -> bool,
    ) -> Option<(Arc<tree::Define>, ModuleId)> {
        let (name, modules) = path.segments.split_last()?;
        let module = self.module_of(modules, scope)?;
        let define = self.modules[module.0]
            .defines
            .iter()
            .find(|define| define.name.text == name.text && wanted(&define.kind))?;
        Some((define.clone(), module))
    }

    /// What the code of a module sees.
    #[must_use]
    pub fn module_scope(&self, module: ModuleId) -> &Scope {
        &self.modules[module.0].scope
    }
}
