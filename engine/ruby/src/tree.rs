//! The syntax tree of Ruby code. Each variant shows the code that it stands for.
//!
//! Invariant: blocks and bodies are shared (`Arc`), so that a lambda can hold its code as a value.

use std::sync::Arc;
use temblor_logstash_event::reference::FieldRef;
use temblor_stdlib::pattern::Pattern;

/// Code that has been parsed, resolved and checked.
#[derive(Clone, Debug)]
pub struct Script {
    /// All statements.
    pub(crate) body: Node,
    /// The names of its top-level variables, by slot.
    pub(crate) variables: Vec<Arc<str>>,
    /// Whether it uses variables that outlive an event (`@a`, `$a`).
    pub(crate) remembers: bool,
    /// The functions and constants that it defines.
    pub(crate) defined: Vec<String>,
}

/// A variable and the slot of its value.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// How many enclosing scopes to go up before `slot` is looked up.
    pub up: u16,
    /// The index among the variables of that scope.
    pub slot: u16,
}

impl Variable {
    /// A variable whose slot is not resolved yet.
    pub(crate) fn named(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), up: 0, slot: 0 }
    }
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it begins, as a byte offset in the code.
    pub at: usize,
    /// What it is.
    pub kind: Kind,
    /// The height of this subtree; 1 for a leaf.
    height: usize,
}

impl Node {
    /// A node that begins at byte `at`.
    #[must_use]
    pub fn new(at: usize, kind: Kind) -> Self {
        let mut height = 0;
        kind.each_child(&mut |child| height = height.max(child.height));
        Self { at, kind, height: height + 1 }
    }

    /// The height of this subtree; 1 for a leaf.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }
}

/// A part of a string literal.
#[derive(Clone, Debug)]
pub enum Part {
    /// `abc`
    Text(Arc<str>),
    /// `\xFF`: bytes that are no UTF-8
    Bytes(Arc<[u8]>),
    /// `#{a}`
    Code(Node),
}

/// Something that can be assigned to.
#[derive(Clone, Debug)]
pub enum Target {
    /// `a`
    Local(Variable),
    /// `@a`, `$a`
    Kept(Arc<str>),
    /// `a[b]`
    Index(Box<Node>, Vec<Node>),
    /// `a.b`
    Attribute(Box<Node>, Arc<str>),
    /// `*a`
    Rest(Box<Target>),
    /// `(a, b)`
    Group(Vec<Target>),
}

/// Parameters and body of a block, a method or a lambda.
#[derive(Debug)]
pub struct Block {
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The statements.
    pub body: Node,
    /// The number of variables of its own scope.
    pub slots: u16,
}

/// A parameter with its default.
#[derive(Debug)]
pub struct Parameter {
    /// What the argument is assigned to.
    pub target: Target,
    /// The value of an argument that is not given.
    pub default: Option<Node>,
    /// Which kind of argument it takes.
    pub role: Role,
}

/// Which kind of argument a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `a`, `a = 1`, `*a`
    Position,
    /// `a:`, `a: 1`
    Key,
    /// `**a`
    Keys,
    /// `&a`
    Block,
    /// `|; a|`: none; it is a variable of the block alone
    Own,
}

/// `rescue A, B => e` and the statements behind it.
#[derive(Clone, Debug)]
pub struct Rescue {
    /// The classes of exceptions that it handles; none means `StandardError`.
    pub classes: Vec<Node>,
    /// The variable that holds the exception.
    pub name: Option<Variable>,
    /// The statements that handle it.
    pub body: Node,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `nil`
    Nil,
    /// `true`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1.5`
    Float(f64),
    /// `"a#{b}"`
    Text(Vec<Part>),
    /// `:a`
    Symbol(Arc<str>),
    /// `/a/`
    Regex(Arc<Pattern>, Arc<str>),
    /// `/#{a}/`
    OpenRegex(Vec<Part>, String),
    /// `[a, *b]`
    List(Vec<Node>),
    /// `{ a => b }`
    Hash(Vec<(Node, Node)>),
    /// `a..b`
    Range(Box<Node>, Box<Node>, bool),
    /// `a`
    Local(Variable),
    /// `@a`, `$a`
    Kept(Arc<str>),
    /// `A::B`
    Constant(Arc<str>),
    /// `event.get("a")`
    Get(Variable, FieldRef),
    /// `*a` in a list or among arguments
    Splat(Box<Node>),
    /// `a = b`
    Assign(Target, Box<Node>),
    /// `a += b`
    Change(Target, Arc<str>, Box<Node>),
    /// `a, b = c, d`
    AssignAll(Vec<Target>, Box<Node>),
    /// `a && b`
    And(Box<Node>, Box<Node>),
    /// `a || b`
    Or(Box<Node>, Box<Node>),
    /// `!a`
    Not(Box<Node>),
    /// `defined?(a)`
    Defined(Box<Node>),
    /// `if a then b else c end`
    If(Box<Node>, Box<Node>, Box<Node>),
    /// `while a do b end`; whether the body comes first
    While(Box<Node>, Box<Node>, bool),
    /// `for a in b do c end`
    For(Target, Box<Node>, Box<Node>),
    /// `case a when b then c else d end`
    Case(Option<Box<Node>>, Vec<(Vec<Node>, Node)>, Box<Node>),
    /// `begin a rescue b else c ensure d end`
    Begin(Box<Node>, Vec<Rescue>, Option<Box<Node>>, Option<Box<Node>>),
    /// `a.b(c) { d }`
    Call(Box<Call>),
    /// `a; b`
    Sequence(Vec<Node>),
    /// `return a`
    Return(Box<Node>),
    /// `next a`
    Next(Box<Node>),
    /// `break a`
    Break(Box<Node>),
    /// `->(a) { b }`
    Lambda(Arc<Block>),
    /// `def a(b) c end`; whether it is `def self.a`
    Define(Arc<str>, Arc<Block>, bool),
    /// `class A < B c end`; `module A c end` has no class above
    Class(Arc<str>, Option<Box<Node>>, Arc<Block>),
    /// `super`, `super(a)`
    Super(Option<Vec<Node>>),
    /// `self`
    Itself,
    /// `retry`
    Retry,
    /// `1r`, `100000000000000000000`: a number that is read from its text when it runs
    Number(Arc<str>),
}

/// `a&.b(c, &d)`
#[derive(Clone, Debug)]
pub struct Call {
    /// The receiver; none for `raise "x"`.
    pub receiver: Option<Node>,
    /// The name of the method.
    pub name: Arc<str>,
    /// The arguments in order.
    pub arguments: Vec<Node>,
    /// `{ |x| d }`
    pub block: Option<Arc<Block>>,
    /// `&a` as the last argument.
    pub passed: Option<Node>,
    /// `&.`: the call is `nil` if the receiver is `nil`.
    pub safe: bool,
}

impl Call {
    /// `a`: a call without receiver, arguments or block.
    pub(crate) fn of(name: Arc<str>) -> Self {
        let (receiver, arguments, block, passed) = (None, Vec::new(), None, None);
        Self { receiver, name, arguments, block, passed, safe: false }
    }
}

impl Target {
    fn each_child(&self, each: &mut dyn FnMut(&Node)) {
        match self {
            Target::Local(_) | Target::Kept(_) => {}
            Target::Index(receiver, keys) => {
                each(receiver);
                keys.iter().for_each(each);
            }
            Target::Attribute(receiver, _) => each(receiver),
            Target::Rest(inner) => inner.each_child(each),
            Target::Group(targets) => targets.iter().for_each(|one| one.each_child(each)),
        }
    }
}

impl Block {
    fn each_child(&self, each: &mut dyn FnMut(&Node)) {
        self.parameters.iter().filter_map(|one| one.default.as_ref()).for_each(&mut *each);
        each(&self.body);
    }
}

impl Kind {
    /// Calls `each` for every direct child.
    fn each_child(&self, each: &mut dyn FnMut(&Node)) {
        match self {
            Kind::Nil
            | Kind::Bool(_)
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Symbol(_)
            | Kind::Regex(..)
            | Kind::Local(_)
            | Kind::Kept(_)
            | Kind::Constant(_)
            | Kind::Get(..)
            | Kind::Itself
            | Kind::Retry
            | Kind::Number(_) => {}
            Kind::Text(parts) | Kind::OpenRegex(parts, _) => {
                parts.iter().for_each(|part| match part {
                    Part::Text(_) | Part::Bytes(_) => {}
                    Part::Code(node) => each(node),
                });
            }
            Kind::List(nodes) | Kind::Sequence(nodes) => nodes.iter().for_each(each),
            Kind::Hash(pairs) => pairs.iter().for_each(|(key, value)| {
                each(key);
                each(value);
            }),
            Kind::Range(left, right, _)
            | Kind::And(left, right)
            | Kind::Or(left, right)
            | Kind::While(left, right, _) => [left, right].into_iter().for_each(|one| each(one)),
            Kind::Splat(inner)
            | Kind::Not(inner)
            | Kind::Defined(inner)
            | Kind::Return(inner)
            | Kind::Next(inner)
            | Kind::Break(inner) => each(inner),
            Kind::Assign(target, value) | Kind::Change(target, _, value) => {
                target.each_child(each);
                each(value);
            }
            Kind::AssignAll(targets, value) => {
                targets.iter().for_each(|target| target.each_child(each));
                each(value);
            }
            Kind::If(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|one| each(one));
            }
            Kind::For(target, list, body) => {
                target.each_child(each);
                [list, body].into_iter().for_each(|one| each(one));
            }
            Kind::Case(subject, arms, otherwise) => {
                subject.iter().for_each(|one| each(one));
                for (values, body) in arms {
                    values.iter().for_each(&mut *each);
                    each(body);
                }
                each(otherwise);
            }
            Kind::Begin(body, rescues, otherwise, ensure) => {
                each(body);
                for rescue in rescues {
                    rescue.classes.iter().for_each(&mut *each);
                    each(&rescue.body);
                }
                otherwise.iter().chain(ensure).for_each(|one| each(one));
            }
            Kind::Call(call) => {
                call.receiver
                    .iter()
                    .chain(&call.arguments)
                    .chain(&call.passed)
                    .for_each(&mut *each);
                call.block.iter().for_each(|block| block.each_child(each));
            }
            Kind::Lambda(block) | Kind::Define(_, block, _) => block.each_child(each),
            Kind::Class(_, above, body) => {
                above.iter().for_each(|one| each(one));
                body.each_child(each);
            }
            Kind::Super(arguments) => arguments.iter().flatten().for_each(each),
        }
    }
}
