//! The tree of a Ruby regular expression.
//!
//! Invariant: flags (`i`, `m`, `x`) are spent while parsing; the tree means the same in any context.

use std::sync::Arc;

use regex_syntax::hir::ClassUnicode;

use super::part::Part;

/// How the text of a pattern is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// `.` matches a newline too (Ruby's `m`).
    pub dot_matches_newline: bool,
    /// `^` and `$` match at every line, as Ruby has it; otherwise only at the ends of the text.
    pub line_anchors: bool,
    /// Letters match in either case (Ruby's `i`).
    pub ignore_case: bool,
    /// White space and `#` comments in the pattern are skipped (Ruby's `x`).
    pub extended: bool,
    /// `\w`, `\d` and `\s` cover all of Unicode; Ruby keeps them within ASCII.
    pub unicode_classes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dot_matches_newline: false,
            line_anchors: true,
            ignore_case: false,
            extended: false,
            unicode_classes: false,
        }
    }
}

/// One node of a parsed pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// Matches the empty text.
    Empty,
    /// `a`
    Char(char),
    /// `[a-z]`, `\d`, `.`
    Class(ClassUnicode),
    /// `^`, `\b`, …
    Assert(Assertion),
    /// `ab`
    Concat(Vec<Node>),
    /// `a|b`, leftmost alternative preferred
    Alternate(Vec<Node>),
    /// `a*`, `a{2,3}?`
    Repeat { body: Box<Node>, min: u32, max: Option<u32>, greed: Greed },
    /// `(a)`, `(?<name>a)`
    Capture { label: Label, body: Box<Node> },
    /// `(?>a)`
    Atomic(Box<Node>),
    /// `(?=a)`, `(?!a)`, `(?<=a)`, `(?<!a)`
    Look { behind: bool, negative: bool, body: Box<Node> },
    /// `\1`, `\k<name>`
    Backreference(String),
    /// `\g<name>`, until it is replaced by a copy of the group
    Call(String),
    /// `(?(1)a|b)`, `(?(<name>)a|b)`
    Condition { group: String, arms: Vec<Node> },
    /// `\G`, `\K`: the same in the backtracking engine.
    Engine(&'static str),
    /// What several patterns have in common: `%{IP}`
    Shared(Arc<Part>),
}

/// Which of several repetitions is tried first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Greed {
    /// `a*`
    Greedy,
    /// `a*?`
    Lazy,
}

/// What a group is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Label {
    /// `(a)`
    Unnamed,
    /// `(?<name>a)`
    Named(String),
    /// A reference with a field, as the caller of the parser resolved it: `%{IP:client}`
    Reference(Arc<Alias>),
    /// A group by its number, from 0.
    Number(usize),
}

/// What stands behind the first colon of a reference.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    /// The name of the pattern: `IP`
    pub pattern: String,
    /// The field, perhaps with a type: `client`
    pub field: String,
}

/// A condition on a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Assertion {
    /// `\A`
    StartText,
    /// `\z`
    EndText,
    /// `\Z`: the end, or before a newline that ends the text
    EndTextNewline,
    /// `^`
    StartLine,
    /// `$`
    EndLine,
    /// `\b`
    WordBoundary,
    /// `\B`
    NotWordBoundary,
}

impl Node {
    /// A sequence, without needless nesting.
    pub(crate) fn concat(mut nodes: Vec<Node>) -> Node {
        match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Concat(nodes),
        }
    }

    /// A choice, without needless nesting.
    pub(crate) fn alternate(mut nodes: Vec<Node>) -> Node {
        if nodes.len() == 1 { nodes.remove(0) } else { Node::Alternate(nodes) }
    }

    /// The shared part that the node is, or captures.
    pub(crate) fn shared(&self) -> Option<&Part> {
        match self {
            Node::Shared(part) => Some(part),
            Node::Capture { body, .. } => body.shared(),
            _ => None,
        }
    }

    /// A tree of its own, with copies of what it shares.
    pub(crate) fn opened(&self) -> Node {
        let all = |nodes: &[Node]| nodes.iter().map(Node::opened).collect();
        match self {
            Node::Shared(part) => part.tree.opened(),
            Node::Concat(nodes) => Node::Concat(all(nodes)),
            Node::Alternate(nodes) => Node::Alternate(all(nodes)),
            Node::Condition { group, arms } => {
                Node::Condition { group: group.clone(), arms: all(arms) }
            }
            Node::Repeat { body, min, max, greed } => {
                let body = Box::new(body.opened());
                Node::Repeat { body, min: *min, max: *max, greed: *greed }
            }
            Node::Capture { label, body } => {
                Node::Capture { label: label.clone(), body: Box::new(body.opened()) }
            }
            Node::Atomic(body) => Node::Atomic(Box::new(body.opened())),
            Node::Look { behind, negative, body } => {
                let body = Box::new(body.opened());
                Node::Look { behind: *behind, negative: *negative, body }
            }
            leaf => leaf.clone(),
        }
    }

    /// Turns `( )` into `(?: )`, as Ruby does when the pattern also has named groups.
    pub(crate) fn without_unnamed_groups(self) -> Node {
        match self {
            Node::Capture { label: Label::Unnamed, body } => body.without_unnamed_groups(),
            other => other.map_children(Node::without_unnamed_groups),
        }
    }

    /// The nodes directly inside.
    pub(crate) fn children(&self) -> &[Node] {
        match self {
            Node::Concat(nodes) | Node::Alternate(nodes) => nodes,
            Node::Condition { arms, .. } => arms,
            Node::Repeat { body, .. }
            | Node::Capture { body, .. }
            | Node::Atomic(body)
            | Node::Look { body, .. } => std::slice::from_ref(body),
            Node::Shared(part) => std::slice::from_ref(&part.tree),
            _ => &[],
        }
    }

    /// Rebuilds the node with each child replaced.
    pub(crate) fn map_children(self, mut change: impl FnMut(Node) -> Node) -> Node {
        match self {
            Node::Concat(nodes) => Node::concat(nodes.into_iter().map(change).collect()),
            Node::Alternate(nodes) => Node::alternate(nodes.into_iter().map(change).collect()),
            Node::Condition { group, arms } => {
                Node::Condition { group, arms: arms.into_iter().map(change).collect() }
            }
            Node::Repeat { body, min, max, greed } => {
                Node::Repeat { body: Box::new(change(*body)), min, max, greed }
            }
            Node::Capture { label, body } => Node::Capture { label, body: Box::new(change(*body)) },
            Node::Atomic(body) => Node::Atomic(Box::new(change(*body))),
            Node::Look { behind, negative, body } => {
                Node::Look { behind, negative, body: Box::new(change(*body)) }
            }
            leaf => leaf,
        }
    }
}
