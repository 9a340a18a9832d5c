//! Arrays and records that stand on a simd-json tape. Reading walks the tape; nothing is built
//! until a program asks for the whole container.

use super::{Arena, Record, RecordBuilder, Value};
use simd_json::{Node, StaticNode};

/// A container on the tape: the slice starts at the container's own node.
#[derive(Clone, Copy, Debug)]
pub struct Lazy<'a>(&'a [Node<'a>]);

impl<'a> Lazy<'a> {
    /// Whether both stand at the same place of the same tape.
    #[must_use]
    pub fn is_same(self, other: Lazy<'_>) -> bool {
        std::ptr::eq(self.0.as_ptr().cast::<u8>(), other.0.as_ptr().cast::<u8>())
    }

    /// Whether it is a record (else it is an array).
    #[must_use]
    pub fn is_record(self) -> bool {
        matches!(self.0.first(), Some(Node::Object { .. }))
    }

    /// Number of elements, or of fields as written (repeated keys counted each).
    #[must_use]
    pub(crate) fn raw_len(self) -> usize {
        match self.0.first() {
            Some(Node::Object { len, .. } | Node::Array { len, .. }) => *len,
            _ => 0,
        }
    }

    /// The value of the last field named `key`.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        if !self.is_record() {
            return None;
        }
        let mut found = None;
        let mut at = 1;
        for _ in 0..self.raw_len() {
            if matches!(self.0[at], Node::String(name) if name == key) {
                found = Some(at + 1);
            }
            at = skip(self.0, at + 1);
        }
        found.map(|at| value_at(self.0, at))
    }

    /// The element at `index` of an array.
    #[must_use]
    pub fn at(self, index: usize) -> Option<Value<'a>> {
        if self.is_record() || index >= self.raw_len() {
            return None;
        }
        let at = (0..index).fold(1, |at, _| skip(self.0, at));
        Some(value_at(self.0, at))
    }

    /// The elements of an array in order.
    pub fn elements(self) -> impl Iterator<Item = Value<'a>> {
        let mut at = 1;
        let count = if self.is_record() { 0 } else { self.raw_len() };
        (0..count).map(move |_| {
            let value = value_at(self.0, at);
            at = skip(self.0, at);
            value
        })
    }

    /// The fields of a record as written, repeated keys included.
    pub fn raw_fields(self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        let count = if self.is_record() { self.raw_len() } else { 0 };
        Fields { nodes: self.0.get(1..).unwrap_or_default(), count }
    }

    /// Nodes of the tape that it takes, its own included.
    #[must_use]
    pub(crate) fn node_count(self) -> usize {
        match self.0.first() {
            Some(Node::Object { count, .. } | Node::Array { count, .. }) => count + 1,
            _ => self.0.len().min(1),
        }
    }

    /// Bytes of all texts in it, names included.
    pub(super) fn text_bytes(self) -> usize {
        let text = |node: &Node<'_>| if let Node::String(text) = node { text.len() } else { 0 };
        self.0.iter().take(self.node_count()).map(text).sum()
    }

    /// Where it stands: the same for the same place of the same tape.
    #[must_use]
    pub fn address(self) -> usize {
        self.0.as_ptr() as usize
    }

    /// The name at this place of a record's tape, and the place of the next one. The first name
    /// stands at 1.
    #[inline]
    pub(super) fn name_at(self, place: u32) -> Option<(&'a str, u32)> {
        let [Node::String(name), value, ..] = self.0.get(place as usize..)? else { return None };
        let inner = match value {
            Node::Object { count, .. } | Node::Array { count, .. } => *count as u32,
            _ => 0,
        };
        Some((name, place + 2 + inner))
    }

    /// The text at this place of the tape.
    #[inline]
    pub(super) fn text_at(self, place: u32) -> Option<&'a str> {
        match self.0.get(place as usize) {
            Some(Node::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The value of the field whose name stands at `place`.
    #[inline]
    pub(super) fn value_after(self, place: u32) -> Value<'a> {
        value_at(self.0, place as usize + 1)
    }

    /// The fields of a record; of repeated keys only the last.
    pub fn fields(self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        let last = self.has_repeated_keys().then(|| self.last_positions());
        self.raw_fields()
            .enumerate()
            .filter(move |(at, (key, _))| last.as_ref().is_none_or(|last| last[key] == *at))
            .map(|(_, field)| field)
    }

    /// Where each key is written last.
    fn last_positions(self) -> halfbrown::HashMap<&'a str, usize> {
        self.raw_fields().enumerate().map(|(at, (key, _))| (key, at)).collect()
    }

    /// Whether some key is written twice. Walks small records, hashes the keys of large ones.
    fn has_repeated_keys(self) -> bool {
        /// Up to this many fields, comparing each pair is cheaper than hashing.
        const PAIRWISE_MAX: usize = 24;
        if self.raw_len() <= PAIRWISE_MAX {
            let mut seen = [""; PAIRWISE_MAX];
            return self.raw_fields().enumerate().any(|(at, (key, _))| {
                let repeated = seen[..at].contains(&key);
                seen[at] = key;
                repeated
            });
        }
        let mut seen = halfbrown::HashMap::with_capacity(self.raw_len());
        self.raw_fields().any(|(key, _)| seen.insert(key, ()).is_some())
    }

    /// The array's elements as a slice; containers in it stay lazy.
    #[must_use]
    pub(crate) fn unfold_array(self, arena: &'a Arena) -> &'a [Value<'a>] {
        arena.slice(self.elements())
    }

    /// The record with its fields in reach; containers in it stay lazy.
    #[must_use]
    pub(crate) fn unfold_record(self, arena: &'a Arena) -> &'a Record<'a> {
        RecordBuilder::from_tape(arena, self, 0, &[]).into_record()
    }
}

/// The fields that begin where `nodes` begins.
struct Fields<'a> {
    nodes: &'a [Node<'a>],
    count: usize,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a str, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.count = self.count.checked_sub(1)?;
        let [Node::String(key), nodes @ ..] = self.nodes else { return None };
        let (value, size) = match nodes.first()? {
            Node::String(text) => (Value::Str(text), 1),
            Node::Static(value) => (scalar(*value), 1),
            Node::Object { count, .. } | Node::Array { count, .. } => {
                (Value::Lazy(Lazy(nodes)), count + 1)
            }
        };
        self.nodes = nodes.get(size..)?;
        Some((key, value))
    }
}

#[inline]
fn scalar<'a>(value: StaticNode) -> Value<'a> {
    match value {
        StaticNode::Null => Value::Null,
        StaticNode::Bool(value) => Value::Bool(value),
        StaticNode::I64(value) => Value::Int(value),
        StaticNode::U64(value) => Value::UInt(value),
        StaticNode::F64(value) => Value::Float(value),
    }
}

/// The value whose node is at `at`.
#[inline]
fn value_at<'a>(nodes: &'a [Node<'a>], at: usize) -> Value<'a> {
    match nodes[at] {
        Node::String(text) => Value::Str(text),
        Node::Static(value) => scalar(value),
        Node::Object { .. } | Node::Array { .. } => Value::Lazy(Lazy(&nodes[at..])),
    }
}

/// The place after the value at `at`.
fn skip(nodes: &[Node<'_>], at: usize) -> usize {
    match nodes[at] {
        Node::Object { count, .. } | Node::Array { count, .. } => at + count + 1,
        _ => at + 1,
    }
}

impl<'a> From<&'a [Node<'a>]> for Value<'a> {
    /// The root value of a tape; `null` for an empty one.
    fn from(nodes: &'a [Node<'a>]) -> Self {
        if nodes.is_empty() { Value::Null } else { value_at(nodes, 0) }
    }
}
