//! Lowered expressions. Each variant shows the source text that it stands for.

use super::{Block, Match, Pattern};
use crate::builtin::Function;
use crate::coverage::Branch;
use crate::span::Span;
use crate::syntax::tree::{BinaryOp, UnaryOp};
use crate::value::{self, Editor, Frozen};
use std::sync::Arc;

/// An expression or statement.
#[derive(Debug)]
pub enum Expr {
    /// `42`, `"text"`, `{"a": [1]}`: anything that is known at load
    Const(Arc<Frozen>),
    /// `event`
    Event,
    /// `x`: a local
    Local(usize, LocalName),
    /// `event.a[1]`, `$m`, `(f(x)).a`
    Path(Box<Path>),
    /// `"a #{b}"`
    Text(Vec<TextPart>),
    /// `<< 1:4 >>`
    Bytes(Vec<BytesPart>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{"a": b}`
    Record(Vec<(Key, Expr)>),
    /// `string::len(x)`
    Call(Box<Call>),
    /// `f(x)` of a function of the user
    CallUser(Arc<UserFn>, Vec<Expr>, Span),
    /// `recur(x)`
    Recur(Vec<Expr>, Span),
    /// `aggr::stats::sum(x)`: the number of the call in the formula
    Aggregate(usize, Span),
    /// `-x`
    Unary(UnaryOp, Box<Expr>, Span),
    /// `a + b`
    Binary(Box<Binary>),
    /// `a and b`, `a or b`
    Logic(Box<Binary>),
    /// `present p`, `absent p`
    Presence(bool, Box<Path>),
    /// `a ?? b`
    Coalesce(Box<Expr>, Box<Expr>),
    /// `if c then a else b end`
    If(Vec<(Expr, Block)>, Option<Block>),
    /// `match x of … end`
    Match(Box<Match>),
    /// `for x of … end`
    For(Box<Comprehension>),
    /// `patch x of … end`
    Patch(Box<Patch>),
    /// `merge a of b end`
    Merge(Box<Expr>, Box<Expr>, Span),
    /// `let p = v`
    Let(Box<Target>, Box<Expr>),
    /// `drop`
    Drop,
    /// `emit x => "port"`; without a value the event
    Emit(Option<Box<Expr>>, Option<Vec<TextPart>>),
    /// Not written: counts that the branch that it begins is taken, where that is asked for
    Reached(Arc<Branch>),
}

const _: () = assert!(size_of::<Expr>() <= 64, "expressions are walked: keep them small");

impl Expr {
    /// A constant.
    #[must_use]
    pub fn constant(value: value::Value<'_>) -> Self {
        Expr::Const(Arc::new(Frozen::new(value)))
    }

    /// The value, if it is known at load.
    #[must_use]
    pub fn as_constant(&self) -> Option<value::Value<'_>> {
        if let Expr::Const(frozen) = self { Some(frozen.get()) } else { None }
    }
}

/// A local variable as the program names it, for errors.
#[derive(Clone, Debug)]
pub struct LocalName {
    /// The name as written.
    pub name: Arc<str>,
    /// Where it is used.
    pub span: Span,
}

/// A binary operation.
#[derive(Debug)]
pub struct Binary {
    /// The operator.
    pub op: BinaryOp,
    /// Evaluated first.
    pub left: Expr,
    /// Evaluated second.
    pub right: Expr,
    /// All of it.
    pub span: Span,
}

/// A call of a built-in function.
#[derive(Debug)]
pub struct Call {
    /// The function.
    pub function: &'static Function,
    /// In order.
    pub arguments: Vec<Expr>,
    /// All of it.
    pub span: Span,
}

/// Text or an interpolated value.
#[derive(Debug)]
pub enum TextPart {
    /// `text`
    Text(Box<str>),
    /// `#{x}`
    Expr(Expr),
}

/// The name of a field in a record literal or a patch.
#[derive(Debug)]
pub enum Key {
    /// `"a"` and its hash
    Const(Box<str>, u32),
    /// `"a_#{x}"`
    Text(Vec<TextPart>),
}

impl Key {
    /// A key that is known at load.
    #[must_use]
    pub fn constant(name: &str) -> Self {
        Key::Const(name.into(), value::Key::new(name).hash())
    }
}

/// A part of a bytes literal.
#[derive(Debug)]
pub struct BytesPart {
    /// The value.
    pub value: Expr,
    /// Bits (numbers) or bytes (`binary`); `None` only for `binary`: all.
    pub size: Option<u32>,
    /// How it is encoded.
    pub kind: BytesKind,
    /// All of it.
    pub span: Span,
}

/// Encodings of bytes literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BytesKind {
    /// `big_unsigned_integer`
    UnsignedBig,
    /// `big_signed_integer`
    SignedBig,
    /// `little_unsigned_integer`
    UnsignedLittle,
    /// `little_signed_integer`
    SignedLittle,
    /// `binary`
    Binary,
}

/// A path with at least one segment, or a bare root other than `event` and locals.
#[derive(Debug)]
pub struct Path {
    /// Where it starts.
    pub root: Root,
    /// How it goes on.
    pub segments: Vec<Segment>,
    /// All of it.
    pub span: Span,
}

/// Where a path starts.
#[derive(Debug)]
pub enum Root {
    /// `event`
    Event,
    /// `$`
    Meta,
    /// `state`
    State,
    /// `args`
    Args,
    /// `group`
    Group,
    /// `window`
    Window,
    /// `x`
    Local(usize, LocalName),
    /// `(x)`, constants
    Expr(Expr),
}

impl Root {
    /// The word for messages: "non existing *event* key".
    #[must_use]
    pub fn noun(&self) -> &'static str {
        match self {
            Root::Event => "event",
            Root::Meta => "metadata",
            Root::State => "state",
            Root::Args => "args",
            Root::Group => "group",
            Root::Window => "window",
            Root::Local(..) => "local",
            Root::Expr(_) => "expression",
        }
    }
}

/// One step of a path.
#[derive(Debug)]
pub enum Segment {
    /// `.a`, `["a"]`
    Field(Box<str>, u32, Span),
    /// `[1]`
    Index(usize, Span),
    /// `[x]`
    Expr(Expr, Span),
    /// `[a:b]`
    Range(Box<(Expr, Expr)>, Span),
}

impl Segment {
    /// A constant key.
    #[must_use]
    pub fn field(name: &str, span: Span) -> Self {
        Segment::Field(name.into(), value::Key::new(name).hash(), span)
    }

    /// Where it stands.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Segment::Field(_, _, span)
            | Segment::Index(_, span)
            | Segment::Expr(_, span)
            | Segment::Range(_, span) => *span,
        }
    }
}

/// What `let` assigns to.
#[derive(Debug)]
pub struct Target {
    /// Where the path starts.
    pub root: TargetRoot,
    /// The root as written, for messages.
    pub name: Box<str>,
    /// How it goes on.
    pub segments: Vec<Segment>,
    /// Whether what is assigned may be the present value with more to it.
    pub grows: bool,
    /// All of it.
    pub span: Span,
}

impl Target {
    /// Whether `expr` reads just this place.
    #[must_use]
    pub fn is_read_by(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Local(slot, _) => {
                self.segments.is_empty() && self.root == TargetRoot::Local(*slot)
            }
            Expr::Path(path) => self.is_path(path),
            _ => false,
        }
    }

    fn is_path(&self, path: &Path) -> bool {
        let is_same_root = match (&path.root, self.root) {
            (Root::Event, TargetRoot::Event)
            | (Root::Meta, TargetRoot::Meta)
            | (Root::State, TargetRoot::State) => true,
            (Root::Local(one, _), TargetRoot::Local(other)) => *one == other,
            _ => false,
        };
        let is_same_step = |segments: (&Segment, &Segment)| match segments {
            (Segment::Field(one, ..), Segment::Field(other, ..)) => one == other,
            (Segment::Expr(Expr::Local(one, _), _), Segment::Expr(Expr::Local(other, _), _)) => {
                one == other
            }
            _ => false,
        };
        is_same_root
            && path.segments.len() == self.segments.len()
            && path.segments.iter().zip(&self.segments).all(is_same_step)
    }
}

/// What can be assigned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetRoot {
    /// `let event.a = …`
    Event,
    /// `let $a = …`
    Meta,
    /// `let state.a = …`
    State,
    /// `let x = …`
    Local(usize),
    /// `let $ = …`, `let args = …`: fails when it is run
    Invalid(&'static str),
}

/// `for target of … end`
#[derive(Debug)]
pub struct Comprehension {
    /// What is gone through.
    pub target: Expr,
    /// In order.
    pub arms: Vec<CompArm>,
    /// `into …`
    pub into: Option<Expr>,
    /// `use +`; `None` without it
    pub fold: Option<BinaryOp>,
    /// Whether the value goes somewhere; else the arms are run for their effect and nothing is
    /// gathered.
    pub used: bool,
    /// How the guard is asked.
    pub guarding: Guarding,
    /// All of it.
    pub span: Span,
}

/// How the only guard of a loop has to do with that of the loop in the statement before or after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarding {
    /// Not at all.
    Alone,
    /// The next loop goes through the same record and asks the opposite.
    Noted,
    /// The loop before went through the same record and has asked the opposite.
    OppositeOfNoted,
}

/// `case (k, v) when g => block`
#[derive(Debug)]
pub struct CompArm {
    /// Slot of the key or index.
    pub key: usize,
    /// Slot of the value.
    pub value: usize,
    /// `when …`
    pub guard: Option<(Expr, Span)>,
    /// The arm.
    pub body: Block,
}

/// `patch target of … end`
#[derive(Debug)]
pub struct Patch {
    /// What is patched.
    pub target: Expr,
    /// In order.
    pub ops: Vec<(PatchOp, Span)>,
    /// Place of the target.
    pub target_span: Span,
}

impl Patch {
    /// Whether it sets fields, so few that the record can stay on its tape, and does nothing else.
    #[must_use]
    pub fn sets_fields(&self) -> bool {
        use PatchOp::{Insert, Update, Upsert};
        self.ops.len() <= Editor::CHANGES_MAX
            && self.ops.iter().all(|(op, _)| matches!(op, Insert(..) | Update(..) | Upsert(..)))
    }

    /// Whether the patch does all or nothing when it is applied in place: no operation can fail
    /// after another one has been applied, and none evaluates anything while it is applied.
    #[must_use]
    pub fn is_in_one_go(&self) -> bool {
        use PatchOp::{Default, DefaultAll, Erase, Upsert};
        match self.ops.as_slice() {
            [(op, _)] => !matches!(op, Default(..) | DefaultAll(_)),
            ops => ops.iter().all(|(op, _)| matches!(op, Erase(_) | Upsert(..))),
        }
    }

    /// The keys and expressions of all operations.
    pub fn parts(&self) -> impl Iterator<Item = (Option<&Key>, Option<&Expr>)> {
        self.ops.iter().flat_map(|(op, _)| op.parts())
    }
}

/// The operations of a patch.
#[derive(Debug)]
pub enum PatchOp {
    /// `insert "k" => v`
    Insert(Key, Expr),
    /// `upsert "k" => v`
    Upsert(Key, Expr),
    /// `update "k" => v`
    Update(Key, Expr),
    /// `erase "k"`
    Erase(Key),
    /// `move "a" => "b"`
    Move(Key, Key),
    /// `copy "a" => "b"`
    Copy(Key, Key),
    /// `merge "k" => v`
    Merge(Key, Expr),
    /// `merge => v`
    MergeAll(Expr),
    /// `default "k" => v`
    Default(Key, Expr),
    /// `default => v`
    DefaultAll(Expr),
}

impl PatchOp {
    fn parts(&self) -> [(Option<&Key>, Option<&Expr>); 2] {
        match self {
            PatchOp::Insert(key, value)
            | PatchOp::Upsert(key, value)
            | PatchOp::Update(key, value)
            | PatchOp::Merge(key, value)
            | PatchOp::Default(key, value) => [(Some(key), Some(value)), (None, None)],
            PatchOp::Erase(key) => [(Some(key), None), (None, None)],
            PatchOp::Move(from, to) | PatchOp::Copy(from, to) => {
                [(Some(from), None), (Some(to), None)]
            }
            PatchOp::MergeAll(value) | PatchOp::DefaultAll(value) => {
                [(None, Some(value)), (None, None)]
            }
        }
    }
}

/// A function of the user.
#[derive(Debug)]
pub struct UserFn {
    /// Its name, for messages.
    pub name: Box<str>,
    /// Number of parameters; they take the first slots.
    pub params: usize,
    /// Whether further arguments are taken into `args`.
    pub varargs: bool,
    /// Number of local slots, parameters included.
    pub slots: usize,
    /// What it does.
    pub body: UserFnBody,
    /// Whether the result depends on nothing but the arguments.
    pub pure: bool,
    /// The kind of its result, whenever it gives one.
    pub returns: value::Kind,
    /// The definition.
    pub span: Span,
}

/// The two forms of functions.
#[derive(Debug)]
pub enum UserFnBody {
    /// Calls to a built-in under another name.
    Intrinsic(&'static Function),
    /// `with … end`
    Block(Block),
    /// `of case … end`
    Cases(FnCases),
}

/// `case (p, q) when g => …; case _ => …`
#[derive(Debug)]
pub struct FnCases {
    /// In order.
    pub cases: Vec<FnCase>,
    /// `case _ => …`
    pub default: Block,
}

/// `case (p, q) when g => …`
#[derive(Debug)]
pub struct FnCase {
    /// One for each parameter.
    pub patterns: Vec<Pattern>,
    /// `when …`
    pub guard: Option<(Expr, Span)>,
    /// The arm.
    pub body: Block,
}
