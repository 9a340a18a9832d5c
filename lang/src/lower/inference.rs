//! Kinds that are followed through locals. A local has a kind when every `let` of its script or
//! function gives it that kind; so what is asked about a local is answered at the end of the code.

use super::kinds::kind;
use super::names::Names;
use super::{Compiler, complain};
use crate::diagnostic::Diagnostic;
use crate::program::{Block, Expr, Path, Root, Segment};
use crate::span::Span;
use crate::syntax::tree::{BinaryOp, UnaryOp};
use crate::value::Kind;

/// A value that may come from more places than this is of any kind.
const ORIGINS_MAX: usize = 16;

/// Where a value comes from, as far as its kind is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Something of this kind.
    Kind(Kind),
    /// The local in this slot.
    Local(usize),
    /// A field of the local in this slot, or of a record in it.
    Field(usize, Box<[Box<str>]>),
}

/// The places that a value may come from; none for what never gives a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins(Vec<Origin>);

impl Origins {
    /// Nothing is known.
    pub(super) const ANY: Origin = Origin::Kind(Kind::Any);

    /// Nothing is known.
    pub(super) fn any() -> Self {
        Self(vec![Self::ANY])
    }

    /// Something of this kind.
    pub(super) fn one(kind: Kind) -> Self {
        Self(vec![Origin::Kind(kind)])
    }

    /// The origins of the value of an expression.
    pub(super) fn of(expr: &Expr) -> Self {
        let mut origins = Origins::default();
        origins.gather(expr);
        origins
    }

    /// The origins of what functions with these bodies give.
    pub(crate) fn of_blocks<'b>(blocks: impl IntoIterator<Item = &'b Block>) -> Self {
        let mut origins = Origins::default();
        origins.gather_all(blocks.into_iter());
        origins
    }

    fn gather(&mut self, expr: &Expr) {
        match expr {
            Expr::Local(slot, _) => self.add(Origin::Local(*slot)),
            Expr::Path(path) => self.add(field(path).unwrap_or(Origin::Kind(kind(expr)))),
            Expr::Let(_, value) => self.gather(value),
            Expr::Match(one) => self.gather_all(one.arms.iter().map(|arm| &arm.body)),
            Expr::If(arms, Some(otherwise)) => {
                self.gather_all(arms.iter().map(|(_, block)| block).chain([otherwise]));
            }
            Expr::Drop | Expr::Emit(..) | Expr::Recur(..) => {}
            other => self.add(Origin::Kind(kind(other))),
        }
    }

    fn gather_all<'b>(&mut self, blocks: impl Iterator<Item = &'b Block>) {
        for block in blocks {
            match &block.last {
                _ if self.is_open() => return,
                Some(last) => self.gather(last),
                None => self.add(Self::ANY),
            }
        }
    }

    /// One more place.
    pub(super) fn add(&mut self, origin: Origin) {
        if self.is_open() || self.0.contains(&origin) {
            return;
        }
        if origin == Self::ANY || self.0.len() == ORIGINS_MAX {
            self.0.clear();
            self.0.push(Self::ANY);
            return;
        }
        self.0.push(origin);
    }

    /// All places of `other` as well.
    pub(super) fn extend(&mut self, other: &Origins) {
        other.0.iter().for_each(|origin| self.add(origin.clone()));
    }

    fn is_open(&self) -> bool {
        self.0.first() == Some(&Self::ANY)
    }

    fn asks_locals(&self) -> bool {
        self.0.iter().any(|origin| !matches!(origin, Origin::Kind(_)))
    }

    /// The kind of all places, as far as it is known.
    pub(super) fn known(&self, names: &Names) -> Kind {
        self.kind(names, &mut Vec::new()).unwrap_or(Kind::Any)
    }

    /// The kind of all places; `seen` are the locals and fields that are looked at already. None
    /// when there is never a value.
    fn kind(&self, names: &Names, seen: &mut Vec<Origin>) -> Option<Kind> {
        let mut all = None;
        for origin in &self.0 {
            let one = match origin {
                Origin::Kind(kind) => Some(*kind),
                other if seen.contains(other) => None,
                Origin::Local(slot) => {
                    seen.push(origin.clone());
                    names.origins(*slot).map_or(Some(Kind::Any), |from| from.kind(names, seen))
                }
                Origin::Field(slot, path) => {
                    seen.push(origin.clone());
                    let from = names.accesses.origins(*slot, path);
                    from.map_or(Some(Kind::Any), |from| from.kind(names, seen))
                }
            };
            all = match (all, one) {
                (None, other) | (other, None) => other,
                (Some(all), Some(one)) => Some(join(all, one)),
            };
        }
        all
    }
}

/// The field of a local that a path leads to, when all its segments are names.
fn field(path: &Path) -> Option<Origin> {
    let Root::Local(slot, _) = &path.root else { return None };
    let names = path.segments.iter().map(|segment| match segment {
        Segment::Field(name, ..) => Some(name.clone()),
        _ => None,
    });
    Some(Origin::Field(*slot, names.collect::<Option<_>>()?))
}

/// The kind of values of which some are of one and some of the other kind.
fn join(one: Kind, other: Kind) -> Kind {
    match (one, other) {
        _ if one == other => one,
        _ if one.fits(Kind::Number) && other.fits(Kind::Number) => Kind::Number,
        _ => Kind::Any,
    }
}

/// What is to be warned of once the kinds are known.
#[derive(Clone, Debug)]
pub(super) enum Question {
    /// Whether two values are ever equal.
    Equal(Origins, Origins),
    /// Whether a value of these kinds ever matches a pattern; the pattern, in words.
    Matches(Origins, Kind, &'static str),
    /// Whether an operand or argument (in words) is ever of one of these kinds.
    Taken(Origins, &'static [Kind], String),
    /// Whether a condition is ever a bool.
    Condition(Origins),
}

impl Question {
    fn asks_locals(&self) -> bool {
        match self {
            Question::Equal(left, right) => left.asks_locals() || right.asks_locals(),
            Question::Matches(value, ..)
            | Question::Taken(value, ..)
            | Question::Condition(value) => value.asks_locals(),
        }
    }

    /// The warning, if the answer is no.
    fn answer(&self, span: Span, names: &Names) -> Option<Diagnostic> {
        let known = |origins: &Origins| origins.known(names);
        match self {
            Question::Equal(left, right) => {
                let (left, right) = (known(left), known(right));
                disjoint(family(left), family(right))
                    .then(|| complain::never_equal(left.name(), right.name(), span))
            }
            Question::Matches(value, wanted, pattern) => {
                let value = known(value);
                disjoint(value, *wanted)
                    .then(|| complain::never_matches(value.name(), pattern, span))
            }
            Question::Taken(value, wanted, what) => {
                let value = known(value);
                let refused = wanted.iter().all(|wanted| disjoint(value, *wanted));
                refused.then(|| complain::wrong_kind(what, value.name(), span))
            }
            Question::Condition(value) => {
                let value = known(value);
                disjoint(value, Kind::Bool).then(|| complain::never_bool(value.name(), span))
            }
        }
    }
}

/// Whether no value is of both kinds.
fn disjoint(one: Kind, other: Kind) -> bool {
    !one.fits(other) && !other.fits(one)
}

/// Kinds that are equal by value: all numbers, and strings and bytes.
fn family(known: Kind) -> Kind {
    match known {
        Kind::Integer | Kind::Float => Kind::Number,
        Kind::Bytes => Kind::String,
        other => other,
    }
}

/// The kinds that an operator takes on either side.
pub(super) fn operands(op: BinaryOp) -> &'static [Kind] {
    use BinaryOp as Op;
    match op {
        Op::Eq | Op::NotEq => &[Kind::Any],
        Op::Gte | Op::Gt | Op::Lte | Op::Lt => &[Kind::Number, Kind::String, Kind::Bytes],
        Op::Add => &[Kind::Number, Kind::String, Kind::Array, Kind::Record],
        Op::Sub | Op::Mul | Op::Div => &[Kind::Number],
        Op::Mod | Op::Shl | Op::Shr | Op::ShrUnsigned => &[Kind::Integer],
        Op::BitAnd | Op::BitXor => &[Kind::Integer, Kind::Bool],
        Op::Or | Op::Xor | Op::And => &[Kind::Bool],
    }
}

/// The kinds that an operator takes behind it.
pub(super) fn operand(op: UnaryOp) -> &'static [Kind] {
    match op {
        UnaryOp::Minus | UnaryOp::Plus => &[Kind::Number],
        UnaryOp::Not => &[Kind::Bool],
        UnaryOp::BitNot => &[Kind::Integer, Kind::Bool],
    }
}

impl Compiler<'_> {
    /// Answers a question about the text at `span` now, or at the end of the code when it is about
    /// locals.
    pub(super) fn ask(&mut self, question: Question, span: Span, names: &mut Names) {
        if question.asks_locals() {
            names.questions.push((question, span));
        } else {
            self.diagnostics.extend(question.answer(span, names));
        }
    }

    /// Answers what was asked about locals.
    pub(super) fn answer(&mut self, names: &Names) {
        let answers = names.questions.iter().filter_map(|(one, span)| one.answer(*span, names));
        self.diagnostics.extend(answers);
    }
}
