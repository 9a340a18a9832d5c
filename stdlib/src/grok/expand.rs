//! Expands references into one tree and lists the fields.
//!
//! Invariant: expansion is bounded in depth, in count and in bytes, whatever the definitions say.

use crate::onigmo::{self, Label, Node, Parser, Place, References};

use super::error::{GrokError, GrokErrorKind};
use super::field::FieldSpec;
use super::library::Library;
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
    /// The tree; its capture groups are the fields, in order.
    pub tree: Node,
    /// One entry a capture group.
    pub fields: Vec<FieldSpec>,
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
        syntax,
        named_captures_only,
        chain: Vec::new(),
        aliases: Vec::new(),
        count: 0,
        bytes: 0,
    };
    let mut tree = Parser::new(pattern, syntax, &mut expander).parse()?;
    if tree.has_named_group() {
        tree = tree.without_unnamed_groups();
    }
    let mut fields = Vec::new();
    number_groups(&tree, &expander.aliases, &mut 0, &mut fields);
    Ok(Expanded { tree, fields })
}

struct Expander<'a> {
    library: &'a Library,
    syntax: onigmo::Options,
    named_captures_only: bool,
    /// Names being expanded, outermost first.
    chain: Vec<String>,
    /// Pattern name and alias of every labelled reference.
    aliases: Vec<(String, String)>,
    count: usize,
    bytes: usize,
}

impl References for Expander<'_> {
    type Error = GrokError;

    fn resolve(&mut self, rest: &str, place: Place) -> Result<Option<(usize, Node)>, GrokError> {
        let Some(reference) = Reference::read(rest) else { return Ok(None) };
        let library = self.library;
        let name = reference.name;
        let Some(definition) = reference.definition.or_else(|| library.get(name)) else {
            let nearest = library.nearest(name);
            let kind = GrokErrorKind::UnknownPattern { name: name.to_string(), nearest };
            return Err(GrokError::new(kind, place.offset));
        };
        self.charge(name, definition, place.offset)?;
        let body = self.definition(name, definition, place.depth)?;
        let alias = match reference.alias {
            Some(alias) => Some(alias),
            None if self.named_captures_only => None,
            None => Some(name),
        };
        let node = match alias {
            None => body,
            Some(alias) => self.capture(name, alias, body),
        };
        Ok(Some((reference.length, node)))
    }
}

impl Expander<'_> {
    /// Counts one expansion against the limits.
    fn charge(&mut self, name: &str, definition: &str, offset: usize) -> Result<(), GrokError> {
        self.count += 1;
        self.bytes += definition.len();
        let kind = if self.chain.iter().any(|outer| outer == name) {
            GrokErrorKind::Recursion { name: name.to_string() }
        } else if self.chain.len() >= CHAIN_MAX {
            GrokErrorKind::TooLarge { limit: CHAIN_MAX, what: "definitions within each other" }
        } else if self.count > EXPANSIONS_MAX {
            GrokErrorKind::TooLarge { limit: EXPANSIONS_MAX, what: "references" }
        } else if self.bytes > EXPANDED_BYTES_MAX {
            GrokErrorKind::TooLarge { limit: EXPANDED_BYTES_MAX, what: "bytes of definitions" }
        } else {
            return Ok(());
        };
        Err(GrokError::new(kind, offset))
    }

    fn definition(
        &mut self,
        name: &str,
        definition: &str,
        depth: usize,
    ) -> Result<Node, GrokError> {
        self.chain.push(name.to_string());
        let parsed = Parser::new(definition, self.syntax, self).within(depth).parse();
        self.chain.pop();
        parsed.map_err(|error| error.within(name))
    }

    fn capture(&mut self, name: &str, alias: &str, body: Node) -> Node {
        self.aliases.push((name.to_string(), alias.to_string()));
        let label = Label::Reference(self.aliases.len() - 1);
        Node::Capture { label, body: Box::new(body) }
    }
}

/// Numbers the capture groups in the order of their opening places, from 0.
fn number_groups(
    node: &Node,
    aliases: &[(String, String)],
    next: &mut usize,
    fields: &mut Vec<FieldSpec>,
) {
    if let Node::Capture { label, .. } = node {
        let group = *next;
        *next += 1;
        match label {
            Label::Unnamed => {}
            Label::Named(name) => fields.push(FieldSpec::from_group(name, group)),
            Label::Reference(index) => {
                let (pattern, alias) = &aliases[*index];
                fields.push(FieldSpec::from_alias(alias, pattern, group));
            }
        }
    }
    for child in node.children() {
        number_groups(child, aliases, next, fields);
    }
}
