//! The syntax tree, as written: nothing is resolved, nothing is folded. Every node has a span and
//! no type of the parser generator appears in it.

use crate::span::Span;

/// A name together with its place. For a quoted identifier the text is without the backticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// `std::string`, the path of a module, or of something in a module.
#[derive(Clone, Debug, PartialEq)]
pub struct ModPath {
    /// At least one segment.
    pub segments: Vec<Ident>,
    /// All of it.
    pub span: Span,
}

impl ModPath {
    /// The path with `::` between its segments.
    #[must_use]
    pub fn text(&self) -> String {
        let segments: Vec<_> = self.segments.iter().map(|s| s.text.as_str()).collect();
        segments.join("::")
    }
}

/// Doc comment lines (`## text`, `### text`), without the hashes.
pub type Docs = Vec<String>;

/// `name = expression`, in `with`, and with an optional value in `args`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Left of the sign.
    pub name: Ident,
    /// Right of the sign.
    pub value: Expr,
}

/// A declared argument: `limit = 10`, or `limit` when it is required.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgDecl {
    /// The argument's name.
    pub name: Ident,
    /// The default, unless it is required.
    pub default: Option<Expr>,
}

// ---------------------------------------------------------------------------------------------
// Scripts

/// A script, a module file, or the body of a `define script`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Script {
    /// `### …` at the start of the file.
    pub docs: Docs,
    /// In order of writing.
    pub items: Vec<Item>,
}

/// What can stand at the top level of a script or module file.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `use std::string;`
    Use(Use),
    /// `const LIMIT = 5;`
    Const(ConstDef),
    /// `fn f(a) with a end;`
    Fn(FnDef),
    /// `intrinsic fn len(a) as string::len;`
    Intrinsic(IntrinsicDef),
    /// Any expression or statement.
    Expr(Expr),
    /// `define …`, in module files only.
    Define(Define),
}

/// `use a::b::c as d` or `use a::{b, c as d}`; groups are flattened to one `Use` each.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// The module.
    pub path: ModPath,
    /// The name it gets here, unless it is the last segment.
    pub alias: Option<Ident>,
    /// All of it.
    pub span: Span,
}

/// `const NAME = value`
#[derive(Clone, Debug, PartialEq)]
pub struct ConstDef {
    /// `## …` in front.
    pub docs: Docs,
    /// The constant's name.
    pub name: Ident,
    /// Must fold to a value.
    pub value: Expr,
    /// All of it.
    pub span: Span,
}

/// `intrinsic fn name(a, b) as module::function`
#[derive(Clone, Debug, PartialEq)]
pub struct IntrinsicDef {
    /// `## …` in front.
    pub docs: Docs,
    /// The name that it gets here.
    pub name: Ident,
    /// Names of the parameters, for the manual.
    pub params: Vec<Ident>,
    /// Whether the list ends in `...`.
    pub varargs: bool,
    /// The built-in function, by its path without `std::` or with it.
    pub target: ModPath,
    /// All of it.
    pub span: Span,
}

/// A function of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct FnDef {
    /// `## …` in front.
    pub docs: Docs,
    /// The function's name.
    pub name: Ident,
    /// Names of the parameters.
    pub params: Vec<Ident>,
    /// Whether the list ends in `...`.
    pub varargs: bool,
    /// What it does.
    pub body: FnBody,
    /// All of it.
    pub span: Span,
}

/// The two forms of function bodies.
#[derive(Clone, Debug, PartialEq)]
pub enum FnBody {
    /// `with a; b end`
    Block(Vec<Expr>),
    /// `of case (p, q) => …; case _ => … end`
    Cases(Vec<FnCase>, Vec<Expr>),
}

/// `case (p, q) when g => block` of a pattern function.
#[derive(Clone, Debug, PartialEq)]
pub struct FnCase {
    /// One pattern a parameter.
    pub patterns: Vec<Pattern>,
    /// `when …`
    pub guard: Option<Expr>,
    /// The arm.
    pub body: Vec<Expr>,
    /// From `case` to the end of the body.
    pub span: Span,
}

/// An expression or a statement with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// All of it.
    pub span: Span,
}

/// Expressions and statements. Where only some of them may stand, the parser sees to it.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// What the parser could not read; an error has been reported.
    Error,
    /// `null`
    Null,
    /// `true`
    Bool(bool),
    /// `42`, `0xff`; also `10s` (nanoseconds) and `5MiB` (bytes)
    Int(u64),
    /// `1.5`
    Float(f64),
    /// `"text #{x}"`, heredocs and raw strings. Constant text is one literal part.
    String(StringLit),
    /// `<< 1:4, x:8/little >>`
    Bytes(Vec<BytesPart>),
    /// `[1, 2]`
    List(Vec<Expr>),
    /// `{"a": 1}`
    Record(Vec<(StringLit, Expr)>),
    /// `event.a[1].b`, `x`, `$meta`, `string::CONST`, `(f(x)).a`
    Path(Box<Path>),
    /// `string::len(x)`
    Call(ModPath, Vec<Expr>),
    /// `recur(x)`
    Recur(Vec<Expr>),
    /// `-x`, `not x`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `present event.a` (true) and `absent event.a` (false)
    Presence(bool, Box<Path>),
    /// `a ?? b` (Temblor): `b` when the path `a` is absent or null
    Coalesce(Box<Expr>, Box<Expr>),
    /// `if c then a else b end` (Temblor); without `else` the value is null
    If(Vec<(Expr, Vec<Expr>)>, Option<Vec<Expr>>),
    /// `match x of case … end`
    Match(Box<Match>),
    /// `for x of case (k, v) => … end`
    For(Box<For>),
    /// `patch x of insert "a" => 1 end`
    Patch(Box<Expr>, Vec<PatchOp>),
    /// `merge a of b end`
    Merge(Box<Expr>, Box<Expr>),
    /// `let x.y = value`
    Let(Box<Path>, Box<Expr>),
    /// `drop`
    Drop,
    /// `emit`, `emit x`, `emit x => "port"`
    Emit(Option<Box<Expr>>, Option<StringLit>),
    /// `( x )`: kept, so that printing gives back what was written
    Paren(Box<Expr>),
}

/// A string literal.
#[derive(Clone, Debug, PartialEq)]
pub struct StringLit {
    /// Text and interpolations in order; empty for `""`.
    pub parts: Vec<StringPart>,
    /// How it was written.
    pub form: StringForm,
    /// With its quotes.
    pub span: Span,
}

/// How a string was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringForm {
    /// `"…"`
    Quoted,
    /// `"""⏎…"""`
    Heredoc,
    /// `r"…"`, `r#"…"#` (Temblor): no escapes, no interpolation
    Raw,
}

/// A part of a string.
#[derive(Clone, Debug, PartialEq)]
pub enum StringPart {
    /// Text with its escapes resolved.
    Text(String),
    /// `#{ … }`
    Expr(Expr),
}

impl StringLit {
    /// The text, when nothing is interpolated.
    #[must_use]
    pub fn constant(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [StringPart::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// `value : size / type` of a bytes literal.
#[derive(Clone, Debug, PartialEq)]
pub struct BytesPart {
    /// The value.
    pub value: Expr,
    /// Bits, or bytes for `binary`.
    pub size: Option<(u64, Span)>,
    /// The word behind the slash.
    pub kind: Option<Ident>,
    /// All of it.
    pub span: Span,
}

/// A path: where it starts and how it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Where it starts.
    pub root: PathRoot,
    /// How it goes on.
    pub segments: Vec<Segment>,
    /// All of it.
    pub span: Span,
}

/// Where a path starts.
#[derive(Clone, Debug, PartialEq)]
pub enum PathRoot {
    /// `$`; `$a` has `a` as first segment
    Meta,
    /// `event`
    Event,
    /// `state`
    State,
    /// `args`
    Args,
    /// `group`
    Group,
    /// `window`
    Window,
    /// `x`: a local, or an unqualified constant
    Local(Ident),
    /// `module::NAME`
    Const(ModPath),
    /// `(x).a`, `f(x).a`, `[1, 2][0]`, `{"a": 1}.a`
    Expr(Box<Expr>),
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// `.name`
    Name(Ident),
    /// `[x]`
    Index(Expr),
    /// `[a:b]`
    Range(Expr, Expr, Span),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `+x`
    Plus,
    /// `-x`
    Minus,
    /// `not x`
    Not,
    /// `!x`
    BitNot,
}

/// Infix operators, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `or`
    Or,
    /// `xor`
    Xor,
    /// `and`
    And,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// `==`
    Eq,
    /// `!=`
    NotEq,
    /// `>=`
    Gte,
    /// `>`
    Gt,
    /// `<=`
    Lte,
    /// `<`
    Lt,
    /// `>>`
    Shr,
    /// `>>>`
    ShrUnsigned,
    /// `<<`
    Shl,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
}

impl UnaryOp {
    /// As written.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Not => "not",
            UnaryOp::BitNot => "!",
        }
    }
}

impl BinaryOp {
    /// As written.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
            BinaryOp::And => "and",
            BinaryOp::BitXor => "^",
            BinaryOp::BitAnd => "&",
            BinaryOp::Eq => "==",
            BinaryOp::NotEq => "!=",
            BinaryOp::Gte => ">=",
            BinaryOp::Gt => ">",
            BinaryOp::Lte => "<=",
            BinaryOp::Lt => "<",
            BinaryOp::Shr => ">>",
            BinaryOp::ShrUnsigned => ">>>",
            BinaryOp::Shl => "<<",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Mod => "%",
        }
    }
}

/// `match target of case … end`
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// What is matched.
    pub target: Expr,
    /// In order.
    pub arms: Vec<Arm>,
}

/// `case pattern when guard => body`
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// `when …`
    pub guard: Option<Expr>,
    /// The block. In an immutable match the comma-separated expressions: the last counts.
    pub body: Vec<Expr>,
    /// From `case` to the end of the body.
    pub span: Span,
}

/// A pattern with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// All of it.
    pub span: Span,
}

/// Patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// `_`
    Any,
    /// `~ re|…|`
    Test(Test),
    /// `%{ … }`
    Record(Vec<FieldPattern>),
    /// `%[ … ]`
    Array(Vec<Pattern>),
    /// `%( a, b )`; open with a final `...`
    Tuple {
        /// The written elements.
        items: Vec<Pattern>,
        /// Whether `...` ends it.
        open: bool,
    },
    /// `x = pattern`
    Bind(Ident, Box<Pattern>),
    /// Any expression: equal to its value
    Expr(Expr),
}

/// `re|^a|`
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The extractor's name.
    pub name: Ident,
    /// What stands between the bars, escapes and continuations resolved.
    pub pattern: String,
    /// All of it.
    pub span: Span,
}

/// One field of a record pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPattern {
    /// The field.
    pub name: Ident,
    /// What is asked of it.
    pub test: FieldTest,
    /// All of it.
    pub span: Span,
}

/// What a record pattern asks of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldTest {
    /// `present name`
    Present,
    /// `absent name`
    Absent,
    /// `name ~= json||`
    Test(Test),
    /// `name ~= %{ … }`, `name ~= %[ … ]`, `name ~= %( … )`
    Pattern(Pattern),
    /// `name == expression`; only comparisons
    Compare(BinaryOp, Expr),
}

/// `for target of case (k, v) when g => … into init use op end`
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// What is gone through.
    pub target: Expr,
    /// In order.
    pub arms: Vec<ForArm>,
    /// `into …`
    pub into: Option<Expr>,
    /// `use +`
    pub fold: Option<(BinaryOp, Span)>,
}

/// `case (k, v) when g => body`
#[derive(Clone, Debug, PartialEq)]
pub struct ForArm {
    /// Name for the key or index.
    pub key: Ident,
    /// Name for the value.
    pub value: Ident,
    /// `when …`
    pub guard: Option<Expr>,
    /// As in [`Arm`].
    pub body: Vec<Expr>,
    /// From `case` to the end of the body.
    pub span: Span,
}

/// One operation of a patch.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchOp {
    /// What it does.
    pub kind: PatchKind,
    /// All of it.
    pub span: Span,
}

/// The operations of a patch.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchKind {
    /// `insert "k" => v`
    Insert(StringLit, Expr),
    /// `upsert "k" => v`
    Upsert(StringLit, Expr),
    /// `update "k" => v`
    Update(StringLit, Expr),
    /// `erase "k"`
    Erase(StringLit),
    /// `move "a" => "b"`
    Move(StringLit, StringLit),
    /// `copy "a" => "b"`
    Copy(StringLit, StringLit),
    /// `merge "k" => v`, `merge => v`
    Merge(Option<StringLit>, Expr),
    /// `default "k" => v`, `default => v`
    Default(Option<StringLit>, Expr),
}

// ---------------------------------------------------------------------------------------------
// Queries

/// A query file or the body of a pipeline.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Query {
    /// `### …` at the start of the file.
    pub docs: Docs,
    /// `#!config name = value`
    pub config: Vec<Binding>,
    /// In order of writing.
    pub statements: Vec<Statement>,
}

/// A statement of a query.
#[expect(clippy::large_enum_variant, reason = "few nodes a file; a box would only add noise")]
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `use …`
    Use(Use),
    /// `define …`
    Define(Define),
    /// `create …`
    Create(Create),
    /// `select … from … into …`
    Select(Box<Select>),
    /// `in |> where x |> out` (Temblor)
    Chain(Chain),
    /// `const A = 1`, `fn f(a) with … end` (Temblor files)
    Item(Box<Item>),
}

/// A definition, wherever it may stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    /// `## …` in front.
    pub docs: Docs,
    /// The defined name.
    pub name: Ident,
    /// What is defined.
    pub kind: DefineKind,
    /// All of it.
    pub span: Span,
}

/// What can be defined.
#[derive(Clone, Debug, PartialEq)]
pub enum DefineKind {
    /// `define window w from tumbling with … end`
    Window(WindowDef),
    /// `define operator o from generic::batch with … end`
    Operator(OperatorDef),
    /// `define script s … script … end`
    Script(ScriptDef),
    /// `define pipeline p … pipeline … end`
    Pipeline(PipelineDef),
    /// `define connector c from file with … end`
    Connector(ConnectorDef),
    /// `define flow f flow … end`
    Flow(FlowDef),
}

/// A window.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowDef {
    /// `tumbling`, `sliding` (and Temblor's `session`, `ring`).
    pub kind: Ident,
    /// `with …`
    pub with: Vec<Binding>,
    /// `state …`
    pub state: Option<Expr>,
    /// `script from tick …`
    pub tick: Option<(Ident, Script)>,
    /// `script …`
    pub script: Option<Script>,
}

/// An operator.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorDef {
    /// `generic::batch`
    pub kind: ModPath,
    /// `args …`
    pub args: Vec<ArgDecl>,
    /// `with …`
    pub with: Vec<Binding>,
}

/// A script with its ports.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptDef {
    /// `args …`
    pub args: Vec<ArgDecl>,
    /// `state …`
    pub state: Option<Expr>,
    /// `script from port …`
    pub ports: Vec<(Ident, Script)>,
    /// The unnamed `script …`, for port `in`.
    pub main: Script,
}

/// A pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineDef {
    /// `from a, b`
    pub from: Option<Vec<Ident>>,
    /// `into x, y`
    pub into: Option<Vec<Ident>>,
    /// `args …`
    pub args: Vec<ArgDecl>,
    /// Between `pipeline` and `end`.
    pub body: Query,
}

/// `create stream a`, `create script a from m::b with … end`, …
#[derive(Clone, Debug, PartialEq)]
pub struct Create {
    /// What is created.
    pub kind: CreateKind,
    /// The instance's name.
    pub name: Ident,
    /// The definition, unless it has the same name.
    pub from: Option<ModPath>,
    /// `with …`
    pub with: Vec<Binding>,
    /// All of it.
    pub span: Span,
}

/// What can be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CreateKind {
    /// `stream`
    Stream,
    /// `script`
    Script,
    /// `operator`
    Operator,
    /// `pipeline`
    Pipeline,
    /// `connector`
    Connector,
}

/// `select target from stream[w] where … group by … into stream having …`
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// What is selected.
    pub target: Expr,
    /// Where events come from.
    pub from: StreamRef,
    /// `[w1, w2]`
    pub windows: Vec<ModPath>,
    /// `where …`
    pub filter: Option<Expr>,
    /// `group by …`
    pub group: Option<Group>,
    /// Where results go.
    pub into: StreamRef,
    /// `having …`
    pub having: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// `name` or `name/port`
#[derive(Clone, Debug, PartialEq)]
pub struct StreamRef {
    /// The node.
    pub node: Ident,
    /// The port, unless it is the default one.
    pub port: Option<Ident>,
    /// All of it.
    pub span: Span,
}

/// The dimensions of `group by`.
#[derive(Clone, Debug, PartialEq)]
pub enum Group {
    /// `event.a`
    Expr(Expr),
    /// `set(a, each(b))`
    Set(Vec<Group>, Span),
    /// `each(event.list)`
    Each(Expr, Span),
}

// ---------------------------------------------------------------------------------------------
// Flows

/// A deploy file, or a Temblor file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Deploy {
    /// `### …` at the start of the file.
    pub docs: Docs,
    /// `#!config name = value`
    pub config: Vec<Binding>,
    /// In order of writing.
    pub statements: Vec<DeployStatement>,
}

/// A statement of a deploy file.
#[expect(clippy::large_enum_variant, reason = "few nodes a file; a box would only add noise")]
#[derive(Clone, Debug, PartialEq)]
pub enum DeployStatement {
    /// `use …`
    Use(Use),
    /// `define flow …`
    Define(Define),
    /// `deploy flow f from m::g with … end`
    Deploy(DeployFlow),
}

/// `deploy flow name from definition with … end`
#[derive(Clone, Debug, PartialEq)]
pub struct DeployFlow {
    /// `## …` in front.
    pub docs: Docs,
    /// The instance's name.
    pub name: Ident,
    /// The definition, unless it has the same name.
    pub from: Option<ModPath>,
    /// `with …`
    pub with: Vec<Binding>,
    /// All of it.
    pub span: Span,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowDef {
    /// `args …`
    pub args: Vec<ArgDecl>,
    /// Between `flow` and `end`.
    pub statements: Vec<FlowStatement>,
}

/// A statement of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowStatement {
    /// `use …`
    Use(Use),
    /// `define pipeline …`, `define connector …`
    Define(Define),
    /// `create connector …`, `create pipeline …`
    Create(Create),
    /// `connect /connector/a/out to /pipeline/b/in`
    Connect(Connect),
}

/// `define connector c from file args … with … end`
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorDef {
    /// `file`, `stdio`, …
    pub kind: Ident,
    /// `args …`
    pub args: Vec<ArgDecl>,
    /// `with …`
    pub with: Vec<Binding>,
}

/// `connect … to …`
#[derive(Clone, Debug, PartialEq)]
pub struct Connect {
    /// Where events come from.
    pub from: Endpoint,
    /// Where they go.
    pub to: Endpoint,
    /// All of it.
    pub span: Span,
}

/// `/connector/name/port` or `/pipeline/name/port`
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// Connector or pipeline.
    pub kind: CreateKind,
    /// The instance.
    pub name: Ident,
    /// The port, unless it is the default one.
    pub port: Option<Ident>,
    /// All of it.
    pub span: Span,
}

// ---------------------------------------------------------------------------------------------
// Temblor's chains

/// A `.tmb` file: a query whose sources, sinks and tables may stand beside it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Program {
    /// `source a from file "x" with … end;` and `sink b into file "y" with … end;`
    pub endpoints: Vec<EndpointDef>,
    /// Everything else, in order.
    pub query: Query,
}

/// What a declared place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointRole {
    /// `source …`
    Source,
    /// `sink …`
    Sink,
    /// `table …`
    Table,
}

/// `source name from kind "argument" with … end`, `sink name into kind "argument" with … end` or
/// `table name from kind "argument" with … end`
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointDef {
    /// Whether events come from it, go to it, or are looked up in it.
    pub role: EndpointRole,
    /// The stream (source) or the output port (sink) that it serves, or the name of the table.
    pub name: Ident,
    /// `file`, `stdin`, `stdout`, `null`, …
    pub kind: Ident,
    /// The path or address; may interpolate event fields in a sink.
    pub argument: Option<StringLit>,
    /// `with …`
    pub with: Vec<Binding>,
    /// All of it.
    pub span: Span,
}

/// `in |> a |> b |> out`
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The stream at its start; `in` when it starts with a step.
    pub from: Option<StreamRef>,
    /// In order; at least one.
    pub steps: Vec<Step>,
    /// All of it.
    pub span: Span,
}

/// One step of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// All of it.
    pub span: Span,
}

/// The kinds of steps.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// `out`, `errors`, `other/port`: into that stream. A name that nothing defines is an output.
    Into(StreamRef),
    /// `script … end`
    Script(Script),
    /// `set event.a = 1, $b = 2`
    Set(Vec<(Path, Expr)>),
    /// `route case c => port … default => port end`; `route all …` takes every matching arm
    Route {
        /// Whether every matching arm is taken (else the first).
        all: bool,
        /// Condition and port.
        arms: Vec<(Expr, Ident)>,
        /// `default => port`
        default: Option<Ident>,
    },
    /// `select target over w1, w2 where … group by … having …`
    Select(Box<ChainSelect>),
    /// Any operator: `dedup by event.a within 10s else repeats`, `generic::counter`
    Operator {
        /// `dedup`, `generic::batch`
        name: ModPath,
        /// Values without a word, in order: `grok "…"` of `parse`.
        positional: Vec<Expr>,
        /// Words with a value: `by event.a`, `within 10s`, `else bad`.
        clauses: Vec<(Ident, Option<Expr>)>,
        /// `with … end`
        with: Vec<Binding>,
    },
}

/// A select inside a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainSelect {
    /// What is selected.
    pub target: Expr,
    /// `over w1, w2` or `over [w1, w2]`: brackets alone would be a segment of the target
    pub windows: Vec<ModPath>,
    /// `where …`
    pub filter: Option<Expr>,
    /// `group by …`
    pub group: Option<Group>,
    /// `having …`
    pub having: Option<Expr>,
}
