//! The syntax tree, as written: nothing is resolved, nothing is folded. Every node has a span and
//! no type of the parser generator appears in it.
//!
//! Each file holds one idea; all names are reached from here.

mod names;
mod script;
mod expression;
mod string;
mod path;
mod operator;
mod pattern;
mod comprehension;
mod patch;
mod query;
mod define;
mod flow;
mod chain;

pub use chain::{
    Chain, ChainArm, ChainMatch, ChainSelect, EndpointDef, EndpointRole, Program, ProgramArg, Step,
    StepKind,
};
pub use comprehension::{For, ForArm};
pub use define::{
    ConnectorDef, Define, DefineKind, FlowDef, OperatorDef, PipelineDef, ScriptDef, WindowDef,
};
pub use expression::{BytesPart, Expr, ExprKind};
pub use flow::{Connect, Deploy, DeployFlow, DeployStatement, Endpoint, FlowStatement};
pub use names::{ArgDecl, Binding, Docs, Ident, ModPath};
pub use operator::{BinaryOp, UnaryOp};
pub use patch::{PatchKind, PatchOp};
pub use path::{Path, PathRoot, Segment};
pub use pattern::{Arm, FieldPattern, FieldTest, Match, Pattern, PatternKind, Test};
pub use query::{Create, CreateKind, Group, Query, Select, Statement, StreamRef, UsedWindow};
pub use script::{ConstDef, FnBody, FnCase, FnDef, IntrinsicDef, Item, Script, Use};
pub use string::{StringForm, StringLit, StringPart};
