//! Lowers a tree to operations, from the end to the start, so that what follows is always known.
//!
//! Invariant: `first` of an operation covers every symbol it can go on with.

mod group;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::onigmo::{Assertion, Greed, Label, Node};

use super::analysis::{first, is_pure, may_be_empty};
use super::class::Class;
use super::dfa::Kind;
use super::kept;
use super::program::{Address, Branch, LeadingRun, NO_SLOT, Operation, Program, Run};
use super::simplify::simplify;
use super::symbols::{SymbolSet, first_bytes};

/// Most operations of one pattern.
const OPERATIONS_MAX: usize = 20_000;
/// The number of a choice whose visits are not remembered.
pub(super) const NO_MEMORY: u32 = u32::MAX;

/// Compiles a tree; `None` when it has a construct, or a size, that is left to other engines.
pub(in crate::grok) fn compile(tree: &Node) -> Option<Program> {
    let tree = numbered(tree.clone(), &mut 0);
    let tree = simplify(tree, &SymbolSet::any_previous(), &SymbolSet::any_next());
    let mut lowering = Lowering::default();
    let accept = lowering.push(Operation::Accept, SymbolSet::any_next())?;
    let start = lowering.node(&tree, accept)?;
    Some(lowering.finish(start, starts_at_start(&tree), leading_run(&tree)))
}

/// Compiles parts in sequence, with a mark before each and one after the last.
pub(in crate::grok) fn compile_marked(parts: &[Node]) -> Option<Program> {
    let mut lowering = Lowering::default();
    let accept = lowering.push(Operation::Accept, SymbolSet::any_next())?;
    let mut next = lowering.mark(parts.len(), accept)?;
    let mut group = 0;
    for (index, part) in parts.iter().enumerate().rev() {
        let part = numbered(part.clone(), &mut group);
        next = lowering.node(&part, next)?;
        next = lowering.mark(index, next)?;
    }
    Some(lowering.finish(next, false, None))
}

/// Labels every capture with its group number, in the order of opening places.
fn numbered(node: Node, group: &mut usize) -> Node {
    if let Node::Capture { body, .. } = node {
        let label = Label::Number(*group);
        *group += 1;
        return Node::Capture { label, body: Box::new(numbered(*body, group)) };
    }
    node.map_children(|child| numbered(child, group))
}

fn starts_at_start(node: &Node) -> bool {
    match node {
        Node::Assert(Assertion::StartText) => true,
        Node::Concat(nodes) => nodes.first().is_some_and(starts_at_start),
        Node::Alternate(nodes) => nodes.iter().all(starts_at_start),
        Node::Capture { body, .. } | Node::Atomic(body) => starts_at_start(body),
        _ => false,
    }
}

fn leading_run(node: &Node) -> Option<LeadingRun> {
    match node {
        Node::Concat(nodes) => leading_run(nodes.first()?),
        Node::Capture { body, .. } => leading_run(body),
        Node::Repeat { body, min: 0, max: None, .. } => match &**body {
            Node::Class(class) => match Class::new(class) {
                class if class.is_all() => Some(LeadingRun::Text),
                class if class.stops() == b"\n" => Some(LeadingRun::Line),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

#[derive(Default)]
struct Lowering {
    operations: Vec<Operation>,
    firsts: Vec<SymbolSet>,
    registers: u32,
    memories: u32,
    /// Atomic groups and look-around that are open here.
    committed: usize,
}

impl Lowering {
    fn finish(
        mut self,
        start: Address,
        start_only: bool,
        leading_run: Option<LeadingRun>,
    ) -> Program {
        self.fuse_bytes();
        Program {
            first: self.firsts[start as usize],
            operations: self.operations,
            start,
            start_only,
            leading_run,
            registers: self.registers as usize,
            memories: self.memories as usize,
        }
    }

    /// Lets operations that keep no choice read the single byte that follows them.
    fn fuse_bytes(&mut self) {
        for address in 0..self.operations.len() {
            let next = match &self.operations[address] {
                Operation::Automaton { next, .. } => *next,
                Operation::Run(run) if run.exclusive && !run.lazy => run.next,
                _ => continue,
            };
            let Operation::Byte { byte, next } = self.operations[next as usize] else { continue };
            let (own_then, own_next) = match &mut self.operations[address] {
                Operation::Automaton { then, next, .. } => (then, next),
                Operation::Run(run) => (&mut run.then, &mut run.next),
                _ => continue,
            };
            (*own_then, *own_next) = (Some(byte), next);
        }
    }

    fn push(&mut self, operation: Operation, first: SymbolSet) -> Option<Address> {
        if self.operations.len() >= OPERATIONS_MAX {
            return None;
        }
        self.operations.push(operation);
        self.firsts.push(first);
        Some((self.operations.len() - 1) as Address)
    }

    fn first_of(&self, address: Address) -> SymbolSet {
        self.firsts[address as usize]
    }

    fn mark(&mut self, token: usize, next: Address) -> Option<Address> {
        let first = self.first_of(next);
        self.push(Operation::Mark { token: token as u32, next }, first)
    }

    fn memory(&mut self) -> u32 {
        if self.committed > 0 {
            return NO_MEMORY;
        }
        self.memories += 1;
        self.memories - 1
    }

    fn register(&mut self) -> u32 {
        self.registers += 1;
        self.registers - 1
    }

    fn node(&mut self, node: &Node, next: Address) -> Option<Address> {
        match node {
            Node::Empty => Some(next),
            Node::Char(_) | Node::Class(_) => self.sequence(std::slice::from_ref(node), next),
            Node::Assert(assertion) => {
                let first = first(node, &self.first_of(next));
                self.push(Operation::Assert { assertion: *assertion, next }, first)
            }
            Node::Concat(nodes) => self.sequence(nodes, next),
            Node::Alternate(nodes) => match self.automaton(node, next) {
                Some(address) => Some(address),
                None => {
                    let targets = nodes.iter().map(|node| self.node(node, next));
                    let targets = targets.collect::<Option<Vec<_>>>()?;
                    self.branch(targets)
                }
            },
            Node::Repeat { body, min, max, greed } => {
                self.repeat(node, body, (*min, *max, *greed), next)
            }
            Node::Capture { label, body } => self.capture(label, body, next),
            Node::Atomic(body) => self.atomic(body, next),
            Node::Look { behind, negative, body } => self.look(*behind, *negative, body, next),
            Node::Shared(part) => self.node(&part.tree, next),
            Node::Backreference(_) | Node::Engine(_) | Node::Call(_) | Node::Condition { .. } => {
                None
            }
        }
    }

    /// A sequence; its stretches without captures become automatons where that is exact.
    fn sequence(&mut self, nodes: &[Node], mut next: Address) -> Option<Address> {
        let mut end = nodes.len();
        while end > 0 {
            let pure = nodes[..end].iter().rev().take_while(|node| is_pure(node)).count();
            if pure == 0 {
                next = self.node(&nodes[end - 1], next)?;
                end -= 1;
                continue;
            }
            let stretch = &nodes[end - pure..end];
            next = self.stretch(stretch, next)?;
            end -= pure;
        }
        Some(next)
    }

    fn stretch(&mut self, nodes: &[Node], mut next: Address) -> Option<Address> {
        let complex = |node: &Node| !is_simple(node);
        let (Some(from), Some(last)) =
            (nodes.iter().position(complex), nodes.iter().rposition(complex))
        else {
            return self.simple(nodes, next);
        };
        next = self.simple(&nodes[last + 1..], next)?;
        let middle = &nodes[from..=last];
        if middle.len() > 1 {
            let whole = Node::Concat(middle.to_vec());
            if let Some(address) = self.automaton(&whole, next) {
                return self.simple(&nodes[..from], address);
            }
        }
        next = self.node(&nodes[last], next)?;
        self.stretch(&nodes[..last], next)
    }

    /// Characters, classes and runs of classes.
    fn simple(&mut self, nodes: &[Node], mut next: Address) -> Option<Address> {
        let mut end = nodes.len();
        while end > 0 {
            let chars = nodes[..end].iter().rev();
            let count = chars.take_while(|node| matches!(node, Node::Char(_))).count();
            if count > 0 {
                next = self.literal(&nodes[end - count..end], next)?;
                end -= count;
                continue;
            }
            end -= 1;
            next = match &nodes[end] {
                Node::Class(class) => {
                    let operation = Operation::One { class: Box::new(Class::new(class)), next };
                    self.push(operation, first_bytes(class))?
                }
                Node::Repeat { body, min, max, greed } => {
                    self.repeat(&nodes[end], body, (*min, *max, *greed), next)?
                }
                _ => next,
            };
        }
        Some(next)
    }

    fn literal(&mut self, chars: &[Node], next: Address) -> Option<Address> {
        let mut text = String::new();
        for node in chars {
            if let Node::Char(c) = node {
                text.push(*c);
            }
        }
        let byte = text.as_bytes()[0];
        let first = SymbolSet::range(byte, byte);
        if text.len() == 1 {
            return self.push(Operation::Byte { byte, next }, first);
        }
        let text = text.into_bytes().into_boxed_slice();
        if text.len() <= size_of::<u64>() {
            let word = |byte: &dyn Fn(usize) -> u8| u64::from_le_bytes(std::array::from_fn(byte));
            let value = word(&|at| text.get(at).copied().unwrap_or(0));
            let mask = word(&|at| if at < text.len() { 0xFF } else { 0 });
            let length = text.len() as u8;
            return self.push(Operation::Word { value, mask, length, next }, first);
        }
        self.push(Operation::Literal { text, next }, first)
    }

    /// An automaton for a pure node, where its end is certain.
    fn automaton(&mut self, node: &Node, next: Address) -> Option<Address> {
        if !is_pure(node) {
            return None;
        }
        let after = self.first_of(next);
        let kind = if self.cannot_fail(next) { Kind::First } else { Kind::Unique(after) };
        let automaton = kept::automaton(node, kind)?;
        self.push(
            Operation::Automaton { automaton, slot: NO_SLOT, then: None, next },
            first(node, &after),
        )
    }

    /// Whether a match is certain once this operation is reached.
    fn cannot_fail(&self, address: Address) -> bool {
        match &self.operations[address as usize] {
            Operation::Accept
            | Operation::AtomicClose { .. }
            | Operation::LookClose { .. }
            | Operation::NotClose { .. } => true,
            Operation::Save { next, .. } | Operation::Mark { next, .. } => self.cannot_fail(*next),
            _ => false,
        }
    }

    fn branch(&mut self, targets: Vec<Address>) -> Option<Address> {
        let address = self.push(Operation::Fail, SymbolSet::EMPTY)?;
        self.fill_branch(address, &targets)?;
        Some(address)
    }

    /// Turns the operation at `address` into a choice between the targets.
    fn fill_branch(&mut self, address: Address, targets: &[Address]) -> Option<()> {
        let union =
            targets.iter().fold(SymbolSet::EMPTY, |set, target| set.union(&self.first_of(*target)));
        let mut lists: Vec<Box<[Address]>> = Vec::new();
        let mut table = Box::new([0u16; 257]);
        for (symbol, entry) in table.iter_mut().enumerate() {
            let admits = |target: &&Address| {
                let first = &self.firsts[**target as usize];
                u8::try_from(symbol).map_or(first.edge, |byte| first.contains(byte))
            };
            let list: Box<[Address]> = targets.iter().filter(admits).copied().collect();
            let known = lists.iter().position(|other| *other == list);
            let index = known.unwrap_or_else(|| {
                lists.push(list);
                lists.len() - 1
            });
            *entry = u16::try_from(index).ok()?;
        }
        let memory = self.memory();
        self.operations[address as usize] =
            Operation::Branch(Box::new(Branch { table, lists, memory }));
        self.firsts[address as usize] = union;
        Some(())
    }

    fn repeat(
        &mut self,
        node: &Node,
        body: &Node,
        (min, max, greed): (u32, Option<u32>, Greed),
        next: Address,
    ) -> Option<Address> {
        if let Some(class) = single_class(body)
            && (greed == Greed::Greedy || max.is_none())
        {
            return self.run(&class, (min, max, greed), node, next);
        }
        if let Some(address) = self.automaton(node, next) {
            return Some(address);
        }
        let order = |taken, skipped| match greed {
            Greed::Greedy => vec![taken, skipped],
            Greed::Lazy => vec![skipped, taken],
        };
        let mut way = next;
        let mut copies = min;
        match max {
            None => {
                if may_be_empty(body) {
                    return None;
                }
                let after = self.first_of(next);
                let turn = self.push(Operation::Fail, after.union(&first(body, &after)))?;
                let taken = self.node(body, turn)?;
                self.fill_branch(turn, &order(taken, next))?;
                way = turn;
                if min > 0 {
                    way = taken;
                    copies = min - 1;
                }
            }
            Some(max) => {
                for _ in min..max {
                    let taken = self.node(body, way)?;
                    way = self.branch(order(taken, next))?;
                }
            }
        }
        for _ in 0..copies {
            way = self.node(body, way)?;
        }
        Some(way)
    }

    fn run(
        &mut self,
        class: &ClassUnicode,
        (min, max, greed): (u32, Option<u32>, Greed),
        node: &Node,
        next: Address,
    ) -> Option<Address> {
        let follow = self.first_of(next);
        let mut only = follow.bytes();
        let needle = only.next().filter(|_| only.next().is_none() && !follow.edge);
        let run = Run {
            class: Class::new(class),
            min,
            max,
            lazy: greed == Greed::Lazy,
            exclusive: follow.is_disjoint(&first_bytes(class)),
            needle,
            follow,
            slot: NO_SLOT,
            then: None,
            next,
            memory: self.memory(),
        };
        self.push(Operation::Run(Box::new(run)), first(node, &follow))
    }
}

/// Characters, classes and runs of classes have operations of their own.
fn is_simple(node: &Node) -> bool {
    match node {
        Node::Empty | Node::Char(_) | Node::Class(_) => true,
        Node::Repeat { body, max, greed, .. } => {
            single_class(body).is_some() && (*greed == Greed::Greedy || max.is_none())
        }
        _ => false,
    }
}

fn single_class(node: &Node) -> Option<ClassUnicode> {
    match node {
        Node::Char(c) => Some(ClassUnicode::new([ClassUnicodeRange::new(*c, *c)])),
        Node::Class(class) => Some(class.clone()),
        _ => None,
    }
}
