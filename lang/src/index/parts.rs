//! What belongs to a definition and is named where it is used: its arguments and its ports. Uses may
//! stand in front of what they mean, so they are settled when the whole text has been walked.

use super::scopes::Walk;
use super::{Direction, Part, PartKind, SymbolKind, Target};
use crate::span::Span;
use crate::syntax::tree::{Binding, Ident, ScriptDef, StreamRef, StringForm, StringLit};
use std::collections::HashMap;

/// The ports that every pipeline has without saying so.
const OWN_PORTS: [&str; 3] = ["in", "out", "err"];

/// The definition that something was made from.
#[derive(Clone, Debug)]
pub enum Maker {
    /// Of this text, by its number.
    Here(usize),
    /// Of a module: its full path, and the name there.
    Elsewhere(String, String),
}

impl Maker {
    /// The definition that a path leads to.
    pub(super) fn of(target: Target) -> Option<Self> {
        match target {
            Target::Symbol(symbol) => Some(Maker::Here(symbol)),
            Target::Member(module, name) => Some(Maker::Elsewhere(module, name)),
            _ => None,
        }
    }
}

/// A use of a part that is not settled yet.
#[derive(Clone, Debug)]
struct Use {
    /// The number of its reference.
    at: usize,
    /// A definition, or a node that was made from one.
    of: Maker,
    kind: PartKind,
    name: String,
}

/// The parts of all definitions of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// By their definitions.
    known: HashMap<(usize, PartKind, String), usize>,
    /// What each node was made from.
    makers: HashMap<usize, Maker>,
    uses: Vec<Use>,
}

impl Parts {
    /// The part of a definition.
    pub(super) fn get(&self, owner: usize, kind: PartKind, name: &str) -> Option<usize> {
        self.known.get(&(owner, kind, name.to_string())).copied()
    }

    /// The parts of one kind of a definition.
    pub(super) fn of(&self, owner: usize, kind: PartKind) -> impl Iterator<Item = usize> {
        let known = self.known.iter();
        known.filter(move |(key, _)| (key.0, key.1) == (owner, kind)).map(|(_, symbol)| *symbol)
    }

    pub(super) fn contains(&self, symbol: usize) -> bool {
        self.known.values().any(|part| *part == symbol)
    }

    pub(super) fn maker(&self, node: usize) -> Option<&Maker> {
        self.makers.get(&node)
    }

    pub(super) fn add(&mut self, owner: usize, kind: PartKind, name: &str, symbol: usize) {
        self.known.entry((owner, kind, name.to_string())).or_insert(symbol);
    }

    pub(super) fn made(&mut self, node: usize, maker: Maker) {
        self.makers.insert(node, maker);
    }

    fn target(&self, one: &Use) -> Target {
        let of = match &one.of {
            Maker::Here(node) => self.makers.get(node).unwrap_or(&one.of),
            elsewhere => elsewhere,
        };
        match (of, one.kind) {
            (Maker::Here(owner), kind) => match (self.get(*owner, kind, &one.name), kind) {
                (Some(symbol), _) => Target::Symbol(symbol),
                (None, PartKind::Port(_)) => Target::Port(Some(*owner), one.name.clone()),
                (None, PartKind::Argument) => Target::Unknown,
            },
            (Maker::Elsewhere(module, owner), kind) => Target::Part(Part {
                module: module.clone(),
                owner: owner.clone(),
                kind,
                name: one.name.clone(),
            }),
        }
    }
}

impl Walk {
    /// `with a = 1 end` for what `of` defines.
    pub(super) fn with(&mut self, with: &[Binding], of: Option<&Maker>) {
        for binding in with {
            self.part(&binding.name, of.cloned(), PartKind::Argument);
            self.expr(&binding.value);
        }
    }

    /// A part of a definition, or of what was made from it.
    fn part(&mut self, name: &Ident, of: Option<Maker>, kind: PartKind) {
        let at = self.references.len();
        self.refer(name.span, Target::Unknown);
        if let Some(of) = of {
            self.parts.uses.push(Use { at, of, kind, name: name.text.clone() });
        }
    }

    /// Settles what could not be known when it was met.
    pub(crate) fn settle_parts(&mut self) {
        for one in std::mem::take(&mut self.parts.uses) {
            self.references[one.at].target = self.parts.target(&one);
        }
    }

    /// `name` or `name/port`; events come out of it, or go into it.
    pub(super) fn stream(&mut self, stream: &StreamRef, direction: Direction) {
        self.node_and_port(&stream.node, stream.port.as_ref(), None, direction);
    }

    /// A node that a stream or an endpoint names, and its port.
    pub(crate) fn node_and_port(
        &mut self,
        node: &Ident,
        port: Option<&Ident>,
        definition: Option<SymbolKind>,
        direction: Direction,
    ) {
        let target = self.node(node, definition);
        self.refer(node.span, target.clone());
        if let Some(port) = port {
            self.part(port, Maker::of(target), PartKind::Port(direction));
        }
    }

    /// What the name of a node leads to: what created it, the definition of the same name, or a
    /// port that the pipeline around has without saying so.
    pub(super) fn node(&self, name: &Ident, definition: Option<SymbolKind>) -> Target {
        let node = self.find(SymbolKind::Node, &name.text);
        let kinds = [SymbolKind::Script, SymbolKind::Operator, SymbolKind::Pipeline];
        let kinds = definition.as_ref().map_or(kinds.as_slice(), std::slice::from_ref);
        match node.or_else(|| self.find_any(kinds, &name.text)) {
            Some(symbol) => Target::Symbol(symbol),
            None if OWN_PORTS.contains(&name.text.as_str()) => {
                Target::Port(self.owners.last().copied(), name.text.clone())
            }
            None => Target::Unknown,
        }
    }

    /// The ports of a pipeline: streams of its body.
    pub(crate) fn pipeline_ports(
        &mut self,
        ports: Option<&[Ident]>,
        direction: Direction,
        span: Span,
    ) {
        for port in ports.into_iter().flatten() {
            let symbol = self.symbol(port, SymbolKind::Node, port.span, span);
            self.describe(symbol, &[], format!("port {}", port.text));
            self.declare(symbol);
            self.part_of_owner(PartKind::Port(direction), &port.text, symbol);
        }
    }

    /// `script from port …` of a script.
    pub(crate) fn script_ports(&mut self, script: &ScriptDef) {
        for (port, _) in &script.ports {
            let symbol = self.symbol(port, SymbolKind::Port, port.span, port.span);
            self.part_of_owner(PartKind::Port(Direction::In), &port.text, symbol);
        }
    }

    /// Makes a symbol a part of the definition around.
    pub(crate) fn part_of_owner(&mut self, kind: PartKind, name: &str, symbol: usize) {
        if let Some(owner) = self.owners.last() {
            self.parts.add(*owner, kind, name, symbol);
        }
    }

    /// `emit x => "port"`: the first one defines a port of the script.
    pub(super) fn emitted(&mut self, port: &StringLit) {
        let Some(name) = named_in_quotes(port) else { return self.text(port) };
        let kind = PartKind::Port(Direction::Out);
        let owner = self.owners.last().copied();
        let is_script = |owner: &usize| self.symbols[*owner].kind == SymbolKind::Script;
        let Some(owner) = owner.filter(is_script) else {
            return self.refer(name.span, Target::Port(owner, name.text));
        };
        match self.parts.get(owner, kind, &name.text) {
            Some(symbol) => self.refer(name.span, Target::Symbol(symbol)),
            None => {
                let symbol = self.symbol(&name, SymbolKind::Port, name.span, name.span);
                self.parts.add(owner, kind, &name.text, symbol);
            }
        }
    }
}

/// The text of a string that is written as it is, without its quotes.
fn named_in_quotes(text: &StringLit) -> Option<Ident> {
    let name = text.constant().filter(|name| !name.is_empty())?;
    let (start, end) = (text.span.start as usize + 1, text.span.end as usize - 1);
    let is_plain = text.form == StringForm::Quoted && end - start == name.len();
    let span = Span::new(text.span.source, start, end);
    is_plain.then(|| Ident { text: name.to_string(), span })
}
