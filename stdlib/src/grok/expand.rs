//! Expands references into one tree and lists the fields.
//!
//! Invariant: expansion is bounded in depth, in count and in bytes, whatever the definitions say, and whether or
//! not they were parsed before.

use std::sync::Arc;

use crate::onigmo::{
    self, Alias, Label, NESTING_MAX, Node, Parser, ParserPosition, Part, References, Shape,
};

use super::error::{GrokError, GrokErrorKind};
use super::field::FieldSpec;
use super::library::Library;
use super::parsed::{Cost, Definition, Reading};
use super::reference::Reference;

/// Most references that one pattern may expand to.
pub(super) const EXPANSIONS_MAX: usize = 10_000;
/// Most bytes of definitions that one pattern may expand to.
const EXPANDED_BYTES_MAX: usize = 1 << 20;
/// Deepest chain of definitions.
const CHAIN_MAX: usize = 64;

/// A pattern with its references resolved.
#[derive(Debug)]
pub(super) struct Expanded {
    /// The tree as it was written; named patterns in it are shared.
    pub(super) shared: Node,
    /// What is known of it.
    pub shape: Shape,
    /// One entry a capture group.
    pub fields: Vec<FieldSpec>,
}

impl Expanded {
    /// The number of capture groups.
    pub(super) fn groups(&self) -> usize {
        if self.shape.has_named_group() { self.fields.len() } else { self.shape.groups.len() }
    }

    /// The tree for an engine; its capture groups are the fields, in order.
    pub(super) fn tree(&self) -> Node {
        let tree = self.shared.opened();
        if self.shape.has_named_group() { tree.without_unnamed_groups() } else { tree }
    }
}

/// Expands `pattern` by the definitions of `library`.
pub(super) fn expand(
    pattern: &str,
    library: &Library,
    syntax: onigmo::Options,
    named_captures_only: bool,
) -> Result<Expanded, GrokError> {
    let mut expander = Expander {
        library,
        reading: (syntax, named_captures_only),
        chain: Vec::new(),
        on_the_spot: 0,
        spent: Cost::default(),
    };
    let shared = Parser::new(pattern, syntax, &mut expander).parse()?;
    let shape = Shape::of(&shared);
    let fields = fields(&shape);
    Ok(Expanded { shared, shape, fields })
}

/// The groups that have a name. Where there is one, those without are none.
fn fields(shape: &Shape) -> Vec<FieldSpec> {
    let named = shape.groups.iter().filter(|label| **label != Label::Unnamed);
    let field = |(group, label): (usize, &Label)| match label {
        Label::Named(name) => Some(FieldSpec::from_group(name, group)),
        Label::Reference(alias) => Some(FieldSpec::from_alias(&alias.field, &alias.pattern, group)),
        Label::Unnamed | Label::Number(_) => None,
    };
    named.enumerate().filter_map(field).collect()
}

struct Expander<'a> {
    library: &'a Library,
    reading: Reading,
    /// Names being expanded, outermost first.
    chain: Vec<String>,
    /// How many of them have definitions that stand in a reference, and mean something there only.
    on_the_spot: usize,
    /// What was taken of the limits; the longest chain is that below the last name of `chain`.
    spent: Cost,
}

impl References for Expander<'_> {
    type Error = GrokError;

    fn resolve(
        &mut self,
        rest: &str,
        place: ParserPosition,
    ) -> Result<Option<(usize, Node)>, GrokError> {
        let Some(reference) = Reference::read(rest) else { return Ok(None) };
        let library = self.library;
        let name = reference.name;
        let Some(definition) = reference.definition.or_else(|| library.get(name)) else {
            let nearest = library.nearest(name);
            let kind = GrokErrorKind::UnknownPattern { name: name.to_string(), nearest };
            return Err(GrokError::new(kind, place.offset));
        };
        let is_own = reference.definition.is_some();
        let body = match self.known(name, place.depth).filter(|_| !is_own) {
            Some(known) => self.take(&known),
            None => self.parse(name, (definition, is_own), place)?,
        };
        let alias = match reference.alias {
            Some(alias) => Some(alias),
            None if self.reading.1 => None,
            None => Some(name),
        };
        let node = match alias {
            None => body,
            Some(alias) => capture(name, alias, body),
        };
        Ok(Some((reference.length, node)))
    }
}

impl Expander<'_> {
    /// What the pattern of this name was parsed to, if it is within the limits here. What is not is parsed again,
    /// to find the place where it goes beyond them.
    fn known(&self, name: &str, depth: usize) -> Option<Arc<Definition>> {
        if self.on_the_spot > 0 {
            return None;
        }
        let known = self.library.parsed(name).get(name, self.reading)?;
        let Cost { references, bytes, chain } = known.cost;
        let fits = depth + known.part.depth <= NESTING_MAX
            && self.chain.len() + chain <= CHAIN_MAX
            && self.spent.references + references <= EXPANSIONS_MAX
            && self.spent.bytes + bytes <= EXPANDED_BYTES_MAX;
        fits.then_some(known)
    }

    fn take(&mut self, known: &Definition) -> Node {
        self.spent.references += known.cost.references;
        self.spent.bytes += known.cost.bytes;
        self.spent.chain = self.spent.chain.max(known.cost.chain);
        Node::Shared(known.part.clone())
    }

    /// Parses a definition, and keeps it.
    fn parse(
        &mut self,
        name: &str,
        (definition, is_own): (&str, bool),
        place: ParserPosition,
    ) -> Result<Node, GrokError> {
        let before = self.spent;
        self.spent.chain = 0;
        self.charge(name, definition, place.offset)?;
        self.chain.push(name.to_string());
        self.on_the_spot += usize::from(is_own);
        let parser = Parser::new(definition, self.reading.0, self).within(place.depth);
        let (tree, depth) = parser.parse_part().map_err(|error| error.within(name))?;
        self.on_the_spot -= usize::from(is_own);
        self.chain.pop();
        let cost = Cost {
            references: self.spent.references - before.references,
            bytes: self.spent.bytes - before.bytes,
            chain: self.spent.chain + 1,
        };
        self.spent.chain = before.chain.max(cost.chain);
        let part = Arc::new(Part::new(tree, depth));
        if !is_own && self.on_the_spot == 0 {
            let definition = Arc::new(Definition { part: part.clone(), cost });
            self.library.parsed(name).keep(name, self.reading, definition);
        }
        Ok(Node::Shared(part))
    }

    /// Counts one expansion against the limits.
    fn charge(&mut self, name: &str, definition: &str, offset: usize) -> Result<(), GrokError> {
        self.spent.references += 1;
        self.spent.bytes += definition.len();
        let kind = if self.chain.iter().any(|outer| outer == name) {
            GrokErrorKind::Recursion { name: name.to_string() }
        } else if self.chain.len() >= CHAIN_MAX {
            GrokErrorKind::TooLarge { limit: CHAIN_MAX, what: "definitions within each other" }
        } else if self.spent.references > EXPANSIONS_MAX {
            GrokErrorKind::TooLarge { limit: EXPANSIONS_MAX, what: "references" }
        } else if self.spent.bytes > EXPANDED_BYTES_MAX {
            GrokErrorKind::TooLarge { limit: EXPANDED_BYTES_MAX, what: "bytes of definitions" }
        } else {
            return Ok(());
        };
        Err(GrokError::new(kind, offset))
    }
}

fn capture(name: &str, alias: &str, body: Node) -> Node {
    let alias = Alias { pattern: name.to_string(), field: alias.to_string() };
    Node::Capture { label: Label::Reference(Arc::new(alias)), body: Box::new(body) }
}
