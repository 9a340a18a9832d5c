//! What is visible while a text is walked. Constants win over locals; locals belong to the whole
//! script or function; bindings of patterns hide both until their arm ends.

use super::parts::Parts;
use super::{Import, Index, PartKind, Reference, Symbol, SymbolKind, Target, alias};
use crate::span::Span;
use crate::syntax::tree::{ArgDecl, Expr, FnBody, FnDef, Ident, Item, ModPath, Script, Use};
use std::collections::{BTreeSet, HashMap};

/// Names of one file, definition or body.
#[derive(Debug, Default)]
pub(super) struct Level {
    names: HashMap<(SymbolKind, String), usize>,
}

/// Locals of one script or function.
#[derive(Debug)]
struct Frame {
    span: Span,
    locals: HashMap<String, usize>,
    /// Reads of names that nothing had assigned when they were read.
    pending: Vec<(String, usize)>,
}

/// A walk over one text.
#[derive(Debug)]
pub(super) struct Walk {
    pub symbols: Vec<Symbol>,
    pub references: Vec<Reference>,
    imports: Vec<Import>,
    /// Where each symbol is defined.
    places: HashMap<(u32, SymbolKind), usize>,
    pub parts: Parts,
    /// For each module's symbol, its full path, and whether the text gives it another name.
    modules: HashMap<usize, (String, bool)>,
    pub fields: BTreeSet<String>,
    levels: Vec<Level>,
    frames: Vec<Frame>,
    /// Names that patterns and comprehensions bind, innermost last.
    bound: Vec<(String, usize)>,
    /// The definitions around, innermost last.
    pub(crate) owners: Vec<usize>,
}

impl Walk {
    pub(super) fn new(whole: Span) -> Self {
        let mut walk = Self {
            symbols: Vec::new(),
            references: Vec::new(),
            imports: Vec::new(),
            places: HashMap::new(),
            parts: Parts::default(),
            modules: HashMap::new(),
            fields: BTreeSet::new(),
            levels: vec![Level::default()],
            frames: Vec::new(),
            bound: Vec::new(),
            owners: Vec::new(),
        };
        // Chains and queries have no locals; a name in them that nothing defines stays unknown.
        walk.frames.push(Frame { span: whole, locals: HashMap::new(), pending: Vec::new() });
        walk
    }

    pub(super) fn finish(mut self) -> Index {
        self.leave_frame();
        self.settle_parts();
        self.references.sort_by_key(|one| (one.span.start, one.span.end));
        let Walk { symbols, references, imports, fields, parts, .. } = self;
        Index { symbols, references, imports, fields, parts }
    }

    /// Walks with names of its own.
    pub(super) fn within(&mut self, walk: impl FnOnce(&mut Self)) {
        self.levels.push(Level::default());
        walk(self);
        self.levels.pop();
    }

    /// Walks the inside of a definition.
    pub(super) fn owned(&mut self, owner: usize, walk: impl FnOnce(&mut Self)) {
        self.owners.push(owner);
        self.within(walk);
        self.owners.pop();
    }

    /// Walks a body with locals of its own.
    fn framed(&mut self, span: Span, walk: impl FnOnce(&mut Self)) {
        self.frames.push(Frame { span, locals: HashMap::new(), pending: Vec::new() });
        let hidden = std::mem::take(&mut self.bound);
        walk(self);
        self.bound = hidden;
        self.leave_frame();
    }

    fn leave_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        for (name, at) in frame.pending {
            if let Some(symbol) = frame.locals.get(&name) {
                self.references[at].target = Target::Symbol(*symbol);
            }
        }
    }

    /// A symbol that is defined at `name`.
    pub(super) fn symbol(
        &mut self,
        name: &Ident,
        kind: SymbolKind,
        whole: Span,
        visible: Span,
    ) -> usize {
        let parent = self.owners.last().copied();
        self.symbols.push(Symbol {
            name: name.text.clone(),
            kind,
            span: name.span,
            whole,
            visible,
            docs: Vec::new(),
            detail: format!("{} {}", kind.noun(), name.text),
            params: Vec::new(),
            parent,
        });
        let number = self.symbols.len() - 1;
        self.places.entry((name.span.start, kind)).or_insert(number);
        let target = Target::Symbol(number);
        self.references.push(Reference { span: name.span, target, defines: true });
        number
    }

    pub(super) fn describe(&mut self, symbol: usize, docs: &[String], detail: String) {
        self.symbols[symbol].docs = docs.to_vec();
        self.symbols[symbol].detail = detail;
    }

    /// Makes a symbol visible by its name in the current level.
    pub(super) fn declare(&mut self, symbol: usize) {
        let one = &self.symbols[symbol];
        let key = (one.kind, one.name.clone());
        if let Some(level) = self.levels.last_mut() {
            level.names.entry(key).or_insert(symbol);
        }
    }

    pub(super) fn find(&self, kind: SymbolKind, name: &str) -> Option<usize> {
        let key = (kind, name.to_string());
        self.levels.iter().rev().find_map(|level| level.names.get(&key).copied())
    }

    pub(crate) fn find_any(&self, kinds: &[SymbolKind], name: &str) -> Option<usize> {
        kinds.iter().find_map(|kind| self.find(*kind, name))
    }

    pub(crate) fn refer(&mut self, span: Span, target: Target) {
        self.references.push(Reference { span, target, defines: false });
    }

    /// Where a name that the current level declares can be named.
    pub(super) fn here(&self, whole: Span) -> Span {
        self.owners.last().map_or(whole, |owner| self.symbols[*owner].whole)
    }

    /// `x`: a constant, a binding, or a local.
    pub(super) fn read(&mut self, name: &Ident) {
        let symbol = self
            .find(SymbolKind::Constant, &name.text)
            .or_else(|| self.bound(&name.text))
            .or_else(|| self.frames.last()?.locals.get(&name.text).copied());
        let target = symbol.map_or(Target::Unknown, Target::Symbol);
        self.refer(name.span, target);
        let at = self.references.len() - 1;
        if let (None, Some(frame)) = (symbol, self.frames.last_mut()) {
            frame.pending.push((name.text.clone(), at));
        }
    }

    fn bound(&self, name: &str) -> Option<usize> {
        let bound = self.bound.iter().rev().find(|(bound, _)| bound == name);
        bound.map(|(_, symbol)| *symbol)
    }

    /// `let x = …`
    pub(super) fn assign(&mut self, name: &Ident, whole: Span) {
        let known =
            self.bound(&name.text).or_else(|| self.frames.last()?.locals.get(&name.text).copied());
        if let Some(symbol) = known {
            return self.refer(name.span, Target::Symbol(symbol));
        }
        let visible = self.frames.last().map_or(whole, |frame| frame.span);
        let symbol = self.symbol(name, SymbolKind::Local, whole, visible);
        self.describe(symbol, &[], format!("let {}", name.text));
        if let Some(frame) = self.frames.last_mut() {
            frame.locals.insert(name.text.clone(), symbol);
        }
    }

    /// Binds names while `walk` goes on; they can be named in `visible`.
    pub(super) fn binding(
        &mut self,
        names: &[&Ident],
        visible: Span,
        walk: impl FnOnce(&mut Self),
    ) {
        let before = self.bound.len();
        for name in names {
            let symbol = self.symbol(name, SymbolKind::Binding, name.span, visible);
            self.bound.push((name.text.clone(), symbol));
        }
        walk(self);
        self.bound.truncate(before);
    }

    pub(super) fn import(&mut self, import: &Use, whole: Span) {
        let Some((name, span)) = alias(import) else { return };
        let path = import.path.text();
        self.imports.push(Import {
            alias: name.to_string(),
            path: path.clone(),
            span: import.span,
        });
        for (at, segment) in import.path.segments.iter().enumerate() {
            let names = import.path.segments[..=at].iter().map(|one| one.text.as_str());
            let inner = names.collect::<Vec<_>>().join("::");
            self.refer(segment.span, Target::Module(inner));
        }
        let ident = Ident { text: name.to_string(), span };
        let symbol = self.symbol(&ident, SymbolKind::Module, import.span, self.here(whole));
        self.describe(symbol, &[], format!("use {path}"));
        if import.alias.is_none() {
            // The last name of the path is a reference already, and it leads to the module.
            self.references.pop();
        }
        self.modules.insert(symbol, (path, import.alias.is_some()));
        self.declare(symbol);
    }

    /// The full path of the module that the leading names of a path stand for.
    fn module(&mut self, names: &[Ident]) -> Option<String> {
        let (first, rest) = names.split_first()?;
        let symbol = self.find(SymbolKind::Module, &first.text);
        let known = symbol.and_then(|symbol| self.modules.get(&symbol));
        let (mut path, renamed) = known.cloned().unwrap_or_else(|| (first.text.clone(), false));
        let target = match symbol {
            Some(symbol) if renamed => Target::Symbol(symbol),
            _ => Target::Module(path.clone()),
        };
        self.refer(first.span, target);
        for name in rest {
            path = format!("{path}::{}", name.text);
            self.refer(name.span, Target::Module(path.clone()));
        }
        Some(path)
    }

    /// `f`, `m::f`, `m::CONST`, `m::window`: one of these kinds, or a member of a module.
    pub(super) fn path(&mut self, path: &ModPath, kinds: &[SymbolKind]) -> Target {
        let Some((name, modules)) = path.segments.split_last() else { return Target::Unknown };
        let target = match self.module(modules) {
            Some(module) => Target::Member(module, name.text.clone()),
            None => self.find_any(kinds, &name.text).map_or(Target::Unknown, Target::Symbol),
        };
        self.refer(name.span, target.clone());
        target
    }

    /// All of a script or module: its definitions can be named anywhere in it.
    pub(crate) fn script_file(&mut self, script: &Script, whole: Span) {
        self.framed(whole, |walk| walk.items(&script.items, whole));
    }

    /// The body of a script inside of something else.
    pub(super) fn script(&mut self, script: &Script, whole: Span) {
        self.framed(whole, |walk| {
            walk.within(|walk| walk.items(&script.items, whole));
        });
    }

    fn items(&mut self, items: &[Item], whole: Span) {
        items.iter().for_each(|item| self.declare_item(item, whole));
        items.iter().for_each(|item| self.item(item, whole));
    }

    /// Makes the name of a definition known.
    pub(crate) fn declare_item(&mut self, item: &Item, whole: Span) {
        let visible = self.here(whole);
        match item {
            Item::Use(import) => self.import(import, visible),
            Item::Const(def) => {
                let symbol = self.symbol(&def.name, SymbolKind::Constant, def.span, visible);
                self.describe(symbol, &def.docs, format!("const {}", def.name.text));
                self.declare(symbol);
            }
            Item::Fn(def) => {
                let symbol = self.symbol(&def.name, SymbolKind::Function, def.span, visible);
                self.signature(symbol, &def.docs, &def.name, (&def.params, def.varargs));
            }
            Item::Intrinsic(def) => {
                let symbol = self.symbol(&def.name, SymbolKind::Function, def.span, visible);
                self.signature(symbol, &def.docs, &def.name, (&def.params, def.varargs));
            }
            Item::Define(define) => self.declare_define(define, visible),
            Item::Expr(_) => {}
        }
    }

    fn signature(
        &mut self,
        symbol: usize,
        docs: &[String],
        name: &Ident,
        (params, varargs): (&[Ident], bool),
    ) {
        let mut names: Vec<_> = params.iter().map(|param| param.text.clone()).collect();
        if varargs {
            names.push("...".to_string());
        }
        self.describe(symbol, docs, format!("fn {}({})", name.text, names.join(", ")));
        self.symbols[symbol].params = names;
        self.declare(symbol);
    }

    /// Walks the inside of a definition, or an expression.
    pub(super) fn item(&mut self, item: &Item, whole: Span) {
        match item {
            Item::Use(_) | Item::Intrinsic(_) => {}
            Item::Const(def) => self.expr(&def.value),
            Item::Fn(def) => self.function(def),
            Item::Define(define) => self.define(define, whole),
            Item::Expr(expr) => self.expr(expr),
        }
    }

    fn function(&mut self, def: &FnDef) {
        self.framed(def.span, |walk| {
            for param in &def.params {
                let symbol = walk.symbol(param, SymbolKind::Parameter, param.span, def.span);
                if let Some(frame) = walk.frames.last_mut() {
                    frame.locals.insert(param.text.clone(), symbol);
                }
            }
            match &def.body {
                FnBody::Block(body) => walk.exprs(body),
                FnBody::Cases(cases, default) => {
                    for case in cases {
                        case.patterns.iter().for_each(|one| walk.pattern(one, None));
                        case.guard.iter().for_each(|guard| walk.expr(guard));
                        walk.exprs(&case.body);
                    }
                    walk.exprs(default);
                }
            }
        });
    }

    pub(crate) fn exprs(&mut self, exprs: &[Expr]) {
        exprs.iter().for_each(|expr| self.expr(expr));
    }

    /// `args a = 1, b`: they belong to the definition around.
    pub(super) fn arguments(&mut self, args: &[ArgDecl], whole: Span) {
        for arg in args {
            let symbol = self.symbol(&arg.name, SymbolKind::Argument, arg.name.span, whole);
            self.declare(symbol);
            self.part_of_owner(PartKind::Argument, &arg.name.text, symbol);
            arg.default.iter().for_each(|default| self.expr(default));
        }
    }

    /// The symbol of this kind whose name stands at a place.
    pub(crate) fn defined_at(&self, name: Span, kind: SymbolKind) -> Option<usize> {
        self.places.get(&(name.start, kind)).copied()
    }
}
