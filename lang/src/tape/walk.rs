//! One walk over a text of which the strings are known. It accepts nothing but JSON, and leaves to
//! others what it does not know: `None` says no more than that.

use super::escapes::unescaped;
use super::number::number;
use super::quotes::Strings;
use crate::value::Arena;
use simd_json::{Node, StaticNode};

/// Containers in containers; what is deeper is left to others.
const DEPTH_MAX: usize = 256;

/// The tape of a text.
pub(super) fn document<'a>(
    text: &'a str,
    strings: &Strings,
    arena: &'a Arena,
) -> Option<&'a [Node<'a>]> {
    // A guess for logs: beside each string a number, a literal or a container.
    let mut walk = Walk::new(text, strings, arena, 2 * strings.ends().len() + 16);
    let mut is_read = walk.all();
    if is_read.is_none() && walk.count == walk.nodes.len() {
        walk = Walk::new(text, strings, arena, nodes_at_most(text));
        is_read = walk.all();
    }
    let Walk { at, nodes, count, .. } = walk;
    let is_whole = is_read.is_some() && after_blanks(text.as_bytes(), at) == text.len();
    if is_whole { nodes.get(..count) } else { None }
}

/// As many nodes as the text can have: each value but the first stands behind one of these bytes,
/// and a name before each colon.
#[cold]
fn nodes_at_most(text: &str) -> usize {
    let count = |wanted: u8| text.bytes().filter(|byte| *byte == wanted).count();
    1 + count(b'[') + count(b',') + 2 * count(b':')
}

/// Where the walk stands. All of it can be held in registers: nothing takes its address.
struct Walk<'a, 'm> {
    text: &'a str,
    arena: &'a Arena,
    /// The closing quotes to come.
    ends: std::slice::Iter<'m, u32>,
    /// The backslashes to come that begin an escape.
    escapes: &'m [u32],
    at: usize,
    /// Room for the nodes, of which so many have been written.
    nodes: &'a mut [Node<'a>],
    count: usize,
    container: Container,
    depth: usize,
}

/// The container that the walk is in. While the walk is deeper, its node keeps its length; and
/// until it is complete, the count of its node is the number of the node around it.
#[derive(Clone, Copy)]
struct Container {
    is_record: bool,
    /// Number of its node; of what is around the whole text there is none.
    node: usize,
    /// Fields or elements so far.
    length: usize,
}

impl Container {
    #[inline(always)]
    fn as_node<'a>(self, count: usize) -> Node<'a> {
        let len = self.length;
        if self.is_record { Node::Object { len, count } } else { Node::Array { len, count } }
    }
}

impl<'a, 'm> Walk<'a, 'm> {
    fn new(text: &'a str, strings: &'m Strings, arena: &'a Arena, room: usize) -> Self {
        let nodes = arena.bump().alloc_slice_fill_copy(room, Node::Static(StaticNode::Null));
        let container = Container { is_record: false, node: usize::MAX, length: 0 };
        let (ends, escapes) = (strings.ends().iter(), strings.escapes());
        Self { text, arena, ends, escapes, at: 0, nodes, count: 0, container, depth: 0 }
    }

    /// Reads one value with all that is in it.
    #[inline(always)]
    fn all(&mut self) -> Option<()> {
        loop {
            if self.container.is_record {
                self.name()?;
            }
            if self.value()? {
                continue;
            }
            // Behind a value, and the end of each container that it completes.
            loop {
                if self.depth == 0 {
                    return Some(());
                }
                let byte = self.peek()?;
                self.at += 1;
                if byte == b',' {
                    self.container.length += 1;
                    break;
                }
                if byte != if self.container.is_record { b'}' } else { b']' } {
                    return None;
                }
                self.leave()?;
            }
        }
    }

    /// Reads a value, or the start of a container that is not empty; true for the latter.
    #[inline(always)]
    fn value(&mut self) -> Option<bool> {
        let node = match self.peek()? {
            b'"' => Node::String(self.string()?),
            b'-' | b'0'..=b'9' => {
                let (number, end) = number(self.text, self.at)?;
                self.at = end;
                Node::Static(number)
            }
            b'{' => return self.start(true),
            b'[' => return self.start(false),
            b't' => self.literal("true", StaticNode::Bool(true))?,
            b'f' => self.literal("false", StaticNode::Bool(false))?,
            b'n' => self.literal("null", StaticNode::Null)?,
            _ => return None,
        };
        self.push(node)?;
        Some(false)
    }

    #[inline(always)]
    fn push(&mut self, node: Node<'a>) -> Option<()> {
        *self.nodes.get_mut(self.count)? = node;
        self.count += 1;
        Some(())
    }

    /// The start of a container. An empty one is a value like others.
    #[inline(always)]
    fn start(&mut self, is_record: bool) -> Option<bool> {
        self.at += 1;
        let inner = Container { is_record, node: self.count, length: 1 };
        if self.peek()? == if is_record { b'}' } else { b']' } {
            self.at += 1;
            self.push(Container { length: 0, ..inner }.as_node(0))?;
            return Some(false);
        }
        if self.depth == DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        if let Some(Node::Object { len, .. } | Node::Array { len, .. }) =
            self.nodes.get_mut(self.container.node)
        {
            *len = self.container.length;
        }
        self.push(inner.as_node(self.container.node))?;
        self.container = inner;
        Some(true)
    }

    /// The end of a container.
    #[inline(always)]
    fn leave(&mut self) -> Option<()> {
        let complete = self.container.as_node(self.count - self.container.node - 1);
        let node = std::mem::replace(self.nodes.get_mut(self.container.node)?, complete);
        let (Node::Object { count: outer, .. } | Node::Array { count: outer, .. }) = node else {
            return None;
        };
        self.depth -= 1;
        let (is_record, length) = match self.nodes.get(outer) {
            Some(Node::Object { len, .. }) => (true, *len),
            Some(Node::Array { len, .. }) => (false, *len),
            _ => (false, 0),
        };
        self.container = Container { is_record, node: outer, length };
        Some(())
    }

    /// The name of a field and its colon. A name with escapes is left to others, so that each name
    /// tells its place in the text.
    #[inline(always)]
    fn name(&mut self) -> Option<()> {
        if self.peek()? != b'"' {
            return None;
        }
        let (start, end) = self.quoted()?;
        if self.has_escape_before(end) {
            return None;
        }
        self.push(Node::String(self.text.get(start..end)?))?;
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        Some(())
    }

    #[inline(always)]
    fn string(&mut self) -> Option<&'a str> {
        let (start, end) = self.quoted()?;
        if self.has_escape_before(end) {
            let (string, rest) = unescaped(self.text, (start, end), self.escapes, self.arena)?;
            self.escapes = rest;
            return Some(string);
        }
        self.text.get(start..end)
    }

    /// From where to where the string that starts here is. Every quote outside of strings is met
    /// by the walk, so that the next closing one belongs to it.
    #[inline(always)]
    fn quoted(&mut self) -> Option<(usize, usize)> {
        let start = self.at + 1;
        let end = *self.ends.next()? as usize;
        self.at = end + 1;
        Some((start, end))
    }

    #[inline(always)]
    fn has_escape_before(&self, end: usize) -> bool {
        self.escapes.first().is_some_and(|escape| (*escape as usize) < end)
    }

    #[inline(always)]
    fn literal(&mut self, word: &str, value: StaticNode) -> Option<Node<'a>> {
        let rest = self.text.as_bytes().get(self.at..)?;
        self.at += word.len();
        rest.starts_with(word.as_bytes()).then_some(Node::Static(value))
    }

    /// The next byte that is no blank.
    #[inline(always)]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        let byte = *bytes.get(self.at)?;
        if byte > b' ' {
            return Some(byte);
        }
        self.at = after_blanks(bytes, self.at);
        bytes.get(self.at).copied()
    }
}

/// The first place from `at` on that holds no blank.
#[inline(never)]
fn after_blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let blanks = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    at + blanks.unwrap_or(rest.len())
}
