//! Writes the tree of a Ruby regular expression in Rust's notation.
//!
//! Invariant: capture groups keep their order, so group numbers carry over.

use std::collections::HashSet;
use std::fmt::Write;

use regex_syntax::hir::ClassUnicode;

use super::calls;
use super::error::OnigmoError;
use super::parser::{NoReferences, Parser};
use super::part::Shape;
use super::syntax::{Assertion, Greed, Label, Node, Options};

/// A Ruby pattern in Rust's notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translated {
    /// The pattern, for the `regex` crate, or for `fancy-regex` if `needs_backtracking`.
    pub pattern: String,
    /// Look-around, atomic groups or back-references are left in the pattern.
    pub(crate) needs_backtracking: bool,
    /// The name of each capture group from number 1 on; a name may occur twice, as in Ruby.
    pub groups: Vec<Option<String>>,
    /// What a reader should know about the translation.
    pub notes: Vec<String>,
}

/// Translates a Ruby regular expression.
///
/// Syntax after the Onigmo documentation (doc/RE), Ruby flavour.
pub fn translate(pattern: &str, options: Options) -> Result<Translated, OnigmoError> {
    read(pattern, options).map(|read| emit(&read.tree))
}

/// What is read of a Ruby regular expression.
pub(crate) struct Read {
    pub tree: Node,
    pub shape: Shape,
    /// Where groups are called: for each group of the tree the group of the pattern that it is a copy of, from 0.
    pub copies: Option<Vec<usize>>,
}

/// The tree of a Ruby regular expression, and what is known of it.
pub(crate) fn read(pattern: &str, options: Options) -> Result<Read, OnigmoError> {
    let mut references = NoReferences;
    let parser = Parser::new(pattern, options, &mut references).with_calls();
    let tree = parser.parse()?;
    let shape = Shape::of(&tree);
    let named = shape.has_named_group();
    let tree = if named { tree.without_unnamed_groups() } else { tree };
    if !has_call(&tree) {
        return Ok(Read { tree, shape, copies: None });
    }
    let (tree, copies) = calls::expand(&tree)?;
    Ok(Read { shape: Shape::of(&tree), tree, copies: Some(copies) })
}

fn has_call(node: &Node) -> bool {
    matches!(node, Node::Call(_)) || node.children().iter().any(has_call)
}

/// Writes a tree down.
pub(crate) fn emit(node: &Node) -> Translated {
    let mut writer = Writer { may_be_empty: may_be_empty(node), ..Writer::default() };
    writer.node(node);
    Translated {
        pattern: writer.text,
        needs_backtracking: writer.needs_backtracking,
        groups: writer.groups,
        notes: writer.notes,
    }
}

#[derive(Default)]
struct Writer {
    text: String,
    needs_backtracking: bool,
    /// Whether the pattern may match the empty text.
    may_be_empty: bool,
    groups: Vec<Option<String>>,
    names: HashSet<String>,
    notes: Vec<String>,
}

impl Writer {
    fn node(&mut self, node: &Node) {
        match node {
            Node::Empty => self.text.push_str("(?:)"),
            Node::Char(c) => self.char(*c),
            Node::Class(class) => self.class(class),
            Node::Assert(assertion) => self.assertion(*assertion),
            Node::Concat(nodes) => {
                for node in nodes {
                    match node {
                        Node::Alternate(_) => self.grouped("(?:", node),
                        _ => self.node(node),
                    }
                }
            }
            Node::Alternate(nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    if index > 0 {
                        self.text.push('|');
                    }
                    self.node(node);
                }
            }
            Node::Shared(part) => self.grouped("(?:", &part.tree),
            Node::Repeat { body, min, max, greed } => self.repeat(body, *min, *max, *greed),
            Node::Capture { label, body } => self.capture(label, body),
            Node::Atomic(body) => {
                self.backtracks("an atomic group or possessive repeat");
                self.grouped("(?>", body);
            }
            Node::Look { behind, negative, body } => {
                self.backtracks("look-around");
                let opening = match (behind, negative) {
                    (false, false) => "(?=",
                    (false, true) => "(?!",
                    (true, false) => "(?<=",
                    (true, true) => "(?<!",
                };
                self.grouped(opening, body);
            }
            // `read` has replaced it.
            Node::Call(_) => self.text.push_str("(?:)"),
            Node::Condition { group, arms } => self.condition(group, arms),
            Node::Engine(text) => {
                self.backtracks(text);
                self.text.push_str(text);
            }
            Node::Backreference(name) => {
                self.backtracks("a back-reference");
                let numeric = name.bytes().all(|b| b.is_ascii_digit());
                let number = self.groups.iter().position(|group| group.as_ref() == Some(name));
                let _ = match number {
                    _ if numeric => write!(self.text, "(?:\\{name})"),
                    Some(index) if !self.names.contains(name) => {
                        write!(self.text, "(?:\\{})", index + 1)
                    }
                    _ => write!(self.text, "\\k<{name}>"),
                };
            }
        }
    }

    /// `(?(1)a|b)`
    fn condition(&mut self, group: &str, arms: &[Node]) {
        self.backtracks("a condition");
        let number = self.groups.iter().position(|one| one.as_deref() == Some(group));
        let _ = match number {
            Some(index) => write!(self.text, "(?({})", index + 1),
            None => write!(self.text, "(?({group})"),
        };
        for (index, arm) in arms.iter().enumerate() {
            if index > 0 {
                self.text.push('|');
            }
            self.grouped("(?:", arm);
        }
        self.text.push(')');
    }

    fn backtracks(&mut self, what: &str) {
        self.needs_backtracking = true;
        let note = format!("{what} needs the backtracking engine");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn grouped(&mut self, opening: &str, node: &Node) {
        self.text.push_str(opening);
        self.node(node);
        self.text.push(')');
    }

    fn capture(&mut self, label: &Label, body: &Node) {
        let name = match label {
            Label::Unnamed => None,
            Label::Named(name) => Some(name.clone()),
            Label::Reference(_) => Some(format!("field{}", self.groups.len())),
            Label::Number(number) => Some(format!("field{number}")),
        };
        self.groups.push(name.clone());
        match name {
            Some(name) if is_identifier(&name) && self.names.insert(name.clone()) => {
                self.grouped(&format!("(?P<{name}>"), body);
            }
            Some(name) => {
                self.notes.push(format!("the group `{name}` is numbered {}", self.groups.len()));
                self.grouped("(", body);
            }
            None => self.grouped("(", body),
        }
    }

    fn repeat(&mut self, body: &Node, min: u32, max: Option<u32>, greed: Greed) {
        // Being somewhere twice says no more than being there once, and no engine repeats it.
        if is_place(body) {
            return match (min, max, greed) {
                (_, Some(0), _) => {}
                (0, _, Greed::Greedy) => {
                    self.grouped("(?:", body);
                    self.text.insert(self.text.len() - 1, '|');
                }
                (0, _, Greed::Lazy) => self.grouped("(?:|", body),
                _ => self.node(body),
            };
        }
        match body {
            Node::Char(_) | Node::Class(_) | Node::Capture { .. } | Node::Atomic(_) => {
                self.node(body);
            }
            _ => self.grouped("(?:", body),
        }
        let _ = match (min, max) {
            (0, None) => write!(self.text, "*"),
            (1, None) => write!(self.text, "+"),
            (0, Some(1)) => write!(self.text, "?"),
            (min, None) => write!(self.text, "{{{min},}}"),
            (min, Some(max)) if min == max => write!(self.text, "{{{min}}}"),
            (min, Some(max)) => write!(self.text, "{{{min},{max}}}"),
        };
        if greed == Greed::Lazy {
            self.text.push('?');
        }
    }

    fn assertion(&mut self, assertion: Assertion) {
        let text = match assertion {
            Assertion::StartText => r"\A",
            Assertion::EndText => r"\z",
            Assertion::EndTextNewline => {
                self.backtracks("`\\Z`");
                r"(?=\n?\z)"
            }
            // Behind the newline at the end no line begins; an empty match would be found there.
            Assertion::StartLine if self.may_be_empty => {
                self.backtracks("a line that may be empty");
                r"(?:\A|(?m:^)(?!\z))"
            }
            Assertion::StartLine => "(?m:^)",
            Assertion::EndLine => "(?m:$)",
            Assertion::WordBoundary => r"\b",
            Assertion::NotWordBoundary => r"\B",
        };
        self.text.push_str(text);
    }

    fn char(&mut self, c: char) {
        if c.is_ascii_alphanumeric() || !c.is_ascii() || " _\"'/%@:;,<>=!`".contains(c) {
            self.text.push(c);
        } else if c.is_ascii_punctuation() {
            self.text.push('\\');
            self.text.push(c);
        } else {
            let _ = write!(self.text, "\\x{{{:X}}}", u32::from(c));
        }
    }

    fn class(&mut self, class: &ClassUnicode) {
        let ranges = class.ranges();
        // The empty set has no notation of its own that every engine knows.
        if ranges.is_empty() {
            self.text.push_str(r"[^\x{0}-\x{10FFFF}]");
            return;
        }
        self.text.push('[');
        for range in ranges {
            self.class_char(range.start());
            if range.start() != range.end() {
                self.text.push('-');
                self.class_char(range.end());
            }
        }
        self.text.push(']');
    }

    fn class_char(&mut self, c: char) {
        if c.is_ascii_alphanumeric() {
            self.text.push(c);
        } else {
            let _ = write!(self.text, "\\x{{{:X}}}", u32::from(c));
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether the node may match the empty text.
fn may_be_empty(node: &Node) -> bool {
    match node {
        Node::Char(_) | Node::Class(_) => false,
        Node::Concat(nodes) => nodes.iter().all(may_be_empty),
        Node::Alternate(nodes) | Node::Condition { arms: nodes, .. } => {
            nodes.iter().any(may_be_empty)
        }
        Node::Repeat { body, min, .. } => *min == 0 || may_be_empty(body),
        Node::Capture { body, .. } | Node::Atomic(body) => may_be_empty(body),
        Node::Shared(part) => may_be_empty(&part.tree),
        _ => true,
    }
}

/// Whether the node looks around without taking a character.
fn is_place(node: &Node) -> bool {
    match node {
        Node::Look { .. } | Node::Engine(_) | Node::Assert(_) => true,
        Node::Repeat { body, .. } => is_place(body),
        _ => false,
    }
}
