//! The names of a text, for editors: what it defines, what it refers to, and what can be named where.
//! It follows the same rules of visibility as lowering, but needs no text to be free of errors.

mod expression;
mod parts;
mod query;
mod scopes;
#[cfg(test)]
mod tests;

use crate::span::Span;
use crate::syntax::tree::{Deploy, Program, Query, Script, Use};
pub use parts::Maker;
use parts::Parts;
use scopes::Walk;
use std::collections::BTreeSet;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// `let x = …`
    Local,
    /// `fn f(x) …`
    Parameter,
    /// `case x = pattern`, `case (k, v) => …`
    Binding,
    /// `const X = …`
    Constant,
    /// `fn f(x) …`, `intrinsic fn f(x) …`
    Function,
    /// `args x = …`
    Argument,
    /// `define window w …`
    Window,
    /// `define operator o …`
    Operator,
    /// `define script s …`
    Script,
    /// `define pipeline p …`
    Pipeline,
    /// `define connector c …`
    Connector,
    /// `define flow f …`, `deploy flow f …`
    Flow,
    /// `create stream s`, `create script s …`, `source s …`, `sink s …`, a port of the pipeline
    Node,
    /// `emit x => "audit"`, `script from side`: a port of a script
    Port,
    /// `use a::b as c`: the name of a module in this text
    Module,
}

impl SymbolKind {
    /// What it is called.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            SymbolKind::Local => "local",
            SymbolKind::Parameter => "parameter",
            SymbolKind::Binding => "binding",
            SymbolKind::Constant => "constant",
            SymbolKind::Function => "function",
            SymbolKind::Argument => "argument",
            SymbolKind::Window => "window",
            SymbolKind::Operator => "operator",
            SymbolKind::Script => "script",
            SymbolKind::Pipeline => "pipeline",
            SymbolKind::Connector => "connector",
            SymbolKind::Flow => "flow",
            SymbolKind::Node => "stream",
            SymbolKind::Port => "port",
            SymbolKind::Module => "module",
        }
    }

    /// Whether other files can name it by the path of a module.
    #[must_use]
    pub fn is_member(self) -> bool {
        !matches!(
            self,
            SymbolKind::Local
                | SymbolKind::Parameter
                | SymbolKind::Binding
                | SymbolKind::Argument
                | SymbolKind::Node
                | SymbolKind::Port
                | SymbolKind::Module
        )
    }
}

/// A name that the text defines.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// The name, without backticks.
    pub name: String,
    /// What it stands for.
    pub kind: SymbolKind,
    /// The name where it is defined.
    pub span: Span,
    /// All of the definition.
    pub whole: Span,
    /// Where it can be named.
    pub visible: Span,
    /// Doc comments in front, without the hashes.
    pub docs: Vec<String>,
    /// How it is declared, in one line: `fn f(a, b)`, `const A`.
    pub detail: String,
    /// Names of its parameters, for functions.
    pub params: Vec<String>,
    /// The definition that it belongs to.
    pub parent: Option<usize>,
}

/// Which way events go through a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Into the node.
    In,
    /// Out of it.
    Out,
}

/// What a definition has that is named where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// `args limit`, named by `with limit = 1`
    Argument,
    /// `emit x => "audit"`, `into audit`, named by `node/audit`
    Port(Direction),
}

/// A part of a definition of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The module's full path.
    pub module: String,
    /// The definition.
    pub owner: String,
    /// What of it.
    pub kind: PartKind,
    /// The part's name.
    pub name: String,
}

/// What a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A symbol of this text, by its number.
    Symbol(usize),
    /// Something in a module: the module's full path, and the name.
    Member(String, String),
    /// A module, by its full path.
    Module(String),
    /// A kind of operator, as written: `dedup`, `generic::batch`.
    OperatorKind(String),
    /// A setting of a kind of operator: its word or name.
    Setting(String, String),
    /// An extractor such as `re`.
    Extractor(String),
    /// A kind of window.
    Kind(String),
    /// A kind of connector, and where it stands.
    Connector(EndKind, String),
    /// A setting of a kind of connector.
    ConnectorSetting(EndKind, String, String),
    /// A field: `event.a.b`.
    Field(String),
    /// An argument or a port of a definition of a module.
    Part(Part),
    /// A port that no word defines, and the symbol that has it; that of the text itself has none.
    Port(Option<usize>, String),
    /// A name that nothing defines.
    Unknown,
}

/// Where a kind of connector stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndKind {
    /// `source a from file`
    Source,
    /// `sink a into file`
    Sink,
    /// `table a from file`
    Table,
    /// `define connector a from file`
    Flow,
}

/// A name that the text uses, or defines.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The name.
    pub span: Span,
    /// What it leads to.
    pub target: Target,
    /// Whether the name is defined here.
    pub defines: bool,
}

/// A module that the text uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// Its name in this text.
    pub alias: String,
    /// Its full path.
    pub path: String,
    /// The statement.
    pub span: Span,
}

/// All names of a text.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// What is defined, in the order of the walk.
    pub symbols: Vec<Symbol>,
    /// What is named, definitions among it; by place.
    pub references: Vec<Reference>,
    /// The modules in use.
    pub imports: Vec<Import>,
    /// Paths below `event`, `$`, `state`, `args`, as written: `event.a.b`.
    pub fields: BTreeSet<String>,
    /// The arguments and ports of definitions, each with its symbol.
    parts: Parts,
}

impl Index {
    /// The names of a script or a module.
    #[must_use]
    pub fn of_script(tree: &Script, whole: Span) -> Self {
        let mut walk = Walk::new(whole);
        walk.script_file(tree, whole);
        walk.finish()
    }

    /// The names of a query.
    #[must_use]
    pub fn of_query(tree: &Query, whole: Span) -> Self {
        let mut walk = Walk::new(whole);
        walk.query(tree, whole);
        walk.finish()
    }

    /// The names of a Temblor file.
    #[must_use]
    pub fn of_program(tree: &Program, whole: Span) -> Self {
        let mut walk = Walk::new(whole);
        walk.program(tree, whole);
        walk.finish()
    }

    /// The names of a deploy file.
    #[must_use]
    pub fn of_deploy(tree: &Deploy, whole: Span) -> Self {
        let mut walk = Walk::new(whole);
        walk.deploy(tree, whole);
        walk.finish()
    }

    /// The reference that covers a byte of the text; at its end counts, too.
    #[must_use]
    pub fn at(&self, offset: usize) -> Option<&Reference> {
        let covers = |one: &&Reference| {
            (one.span.start as usize) <= offset && offset <= one.span.end as usize
        };
        let found = self.references.iter().filter(covers);
        // Of two that touch, the one that begins here.
        found.max_by_key(|one| one.span.start)
    }

    /// The symbols that can be named at a byte of the text, inner ones last.
    pub fn visible(&self, offset: usize) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(move |one| one.visible.range().contains(&offset))
    }

    /// All places where a symbol is named, its definition first where it is one.
    pub fn references_to(&self, symbol: usize) -> impl Iterator<Item = &Reference> {
        self.references.iter().filter(move |one| one.target == Target::Symbol(symbol))
    }

    /// The symbol of a part of a definition.
    #[must_use]
    pub fn part(&self, owner: usize, kind: PartKind, name: &str) -> Option<usize> {
        self.parts.get(owner, kind, name)
    }

    /// The symbols of all parts of one kind that a definition has.
    pub fn parts(&self, owner: usize, kind: PartKind) -> impl Iterator<Item = &Symbol> {
        self.parts.of(owner, kind).map(|symbol| &self.symbols[symbol])
    }

    /// The definition that a node was made from, where it has a name of its own.
    #[must_use]
    pub fn maker(&self, node: usize) -> Option<&Maker> {
        self.parts.maker(node)
    }

    /// Whether other files can name a symbol: a definition of the text, or a part of one.
    #[must_use]
    pub fn is_public(&self, symbol: usize) -> bool {
        let one = &self.symbols[symbol];
        match one.parent {
            None => one.kind.is_member(),
            Some(owner) => self.parts.contains(symbol) && self.symbols[owner].parent.is_none(),
        }
    }

    /// The symbol of this name that other files can name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<usize> {
        let is_member =
            |one: &Symbol| one.name == name && one.kind.is_member() && one.parent.is_none();
        self.symbols.iter().position(is_member)
    }
}

/// The name that a module has behind `use`.
fn alias(import: &Use) -> Option<(&str, Span)> {
    let named = import.alias.as_ref().or(import.path.segments.last())?;
    Some((&named.text, named.span))
}
