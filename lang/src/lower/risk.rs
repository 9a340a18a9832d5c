//! What can fail: the places of a program at which some event makes it fail, and the cheapest mend of each.
//!
//! Invariant: what is told here may be told too often, never too rarely, but for budgets: where nothing is told,
//! no event fails.

use super::inference::{operand, operands};
use super::kinds;
use crate::builtin::Registry;
use crate::program::{
    Binary, Block, BytesKind, Comprehension, Expr, FieldTest, Key, Match, Patch, PatchOp, Path,
    Pattern, Root, Segment, Target, TargetRoot, TextPart, UserFnBody,
};
use crate::span::{SourceId, Sources, Span};
use crate::syntax::tree::{BinaryOp, UnaryOp};
use crate::value::{Kind, Value};

/// A place that can fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Risk {
    /// Where.
    pub span: Span,
    /// What may be the case, as a sentence.
    pub reason: String,
    /// What to write instead.
    pub mend: String,
}

/// Something that is there, and its kind as far as that is known.
#[derive(Clone, Debug, PartialEq)]
struct Fact {
    root: Holder,
    names: Vec<Box<str>>,
    kind: Kind,
}

/// What a path starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Event,
    Meta,
    State,
    Local(usize),
}

impl Holder {
    fn of(root: &Root) -> Option<Self> {
        Some(match root {
            Root::Event => Self::Event,
            Root::Meta => Self::Meta,
            Root::State => Self::State,
            Root::Local(slot, _) => Self::Local(*slot),
            Root::Args | Root::Group | Root::Window | Root::Expr(_) => return None,
        })
    }
}

/// The names of a path that has nothing else.
fn names(segments: &[Segment]) -> Option<Vec<Box<str>>> {
    let name = |segment: &Segment| match segment {
        Segment::Field(name, ..) => Some(name.clone()),
        _ => None,
    };
    segments.iter().map(name).collect()
}

/// Walks code and notes what can fail in it.
pub(super) struct Walk<'w> {
    registry: &'w dyn Registry,
    sources: &'w Sources,
    /// The text that is looked at; what other texts hold is told by their own checks.
    source: SourceId,
    facts: Vec<Fact>,
    risks: &'w mut Vec<Risk>,
}

impl<'w> Walk<'w> {
    pub(super) fn new(
        registry: &'w dyn Registry,
        (sources, source): (&'w Sources, SourceId),
        risks: &'w mut Vec<Risk>,
    ) -> Self {
        Self { registry, sources, source, facts: Vec::new(), risks }
    }

    fn note(&mut self, span: Span, reason: impl Into<String>, mend: impl Into<String>) {
        let risk = Risk { span, reason: reason.into(), mend: mend.into() };
        if span.source == self.source && !self.risks.contains(&risk) {
            self.risks.push(risk);
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        block.effects.iter().chain(block.last.as_deref()).for_each(|one| self.expr(one));
    }

    pub(super) fn function(&mut self, body: &UserFnBody) {
        match body {
            UserFnBody::Intrinsic(_) => {}
            UserFnBody::Block(block) => self.block(block),
            UserFnBody::Cases(cases) => {
                let facts = self.facts.clone();
                for case in &cases.cases {
                    case.patterns.iter().for_each(|pattern| self.pattern(pattern));
                    if let Some((guard, span)) = &case.guard {
                        self.condition(guard, *span);
                    }
                    self.block(&case.body);
                    self.facts.clone_from(&facts);
                }
                self.block(&cases.default);
            }
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Const(_) | Expr::Event | Expr::Local(..) | Expr::Drop | Expr::Reached(_) => {}
            Expr::Aggregate(..) => {}
            Expr::Path(path) => self.path(path),
            Expr::Text(parts) => self.text(parts),
            Expr::Bytes(parts) => {
                for part in parts {
                    self.expr(&part.value);
                    let wanted = match part.kind {
                        BytesKind::Binary => Kind::Bytes,
                        _ => Kind::Integer,
                    };
                    self.takes(&part.value, &[wanted], part.span, "a part of bytes");
                }
            }
            Expr::List(items) => items.iter().for_each(|one| self.expr(one)),
            Expr::Record(fields) => {
                for (key, value) in fields {
                    self.key(key);
                    self.expr(value);
                }
            }
            Expr::Call(call) => {
                call.arguments.iter().for_each(|one| self.expr(one));
                let path = call.function.path.strip_prefix("std::").unwrap_or(call.function.path);
                for (argument, (name, wanted)) in call.arguments.iter().zip(call.function.params) {
                    let what = format!("the argument `{name}` of {path}");
                    self.takes(argument, std::slice::from_ref(wanted), call.span, &what);
                }
                if !self.registry.never_refuses(call.function) {
                    let mend = "test the value in front of it by a pattern of `match`, or give failures a way: \
                                they go to `err`";
                    self.note(call.span, format!("{path} refuses some values"), mend);
                }
            }
            Expr::CallUser(_, arguments, _) | Expr::Recur(arguments, _) => {
                arguments.iter().for_each(|one| self.expr(one));
            }
            Expr::Unary(op, value, span) => {
                self.expr(value);
                let what = format!("the operand of `{}`", op.text());
                self.takes(value, operand(*op), *span, &what);
            }
            Expr::Binary(binary) => self.binary(binary),
            Expr::Logic(binary) => self.logic(binary),
            Expr::Presence(_, path) => self.segments(path),
            Expr::Coalesce(value, otherwise) => {
                match &**value {
                    Expr::Path(path) => self.segments(path),
                    other => self.expr(other),
                }
                self.apart(|walk| walk.expr(otherwise));
            }
            Expr::If(arms, otherwise) => self.choice(arms, otherwise.as_ref()),
            Expr::Match(one) => self.matching(one),
            Expr::For(one) => self.comprehension(one),
            Expr::Patch(patch) => self.patch(patch),
            Expr::Merge(target, with, span) => {
                self.expr(target);
                self.expr(with);
                self.takes(target, &[Kind::Record], *span, "what is merged into");
                self.takes(with, &[Kind::Record], *span, "what is merged");
            }
            Expr::Let(target, value) => {
                self.expr(value);
                self.assign(target, value);
            }
            Expr::Emit(value, port) => {
                value.iter().for_each(|one| self.expr(one));
                port.iter().for_each(|parts| self.text(parts));
            }
        }
    }

    fn text(&mut self, parts: &[TextPart]) {
        for part in parts {
            if let TextPart::Expr(expr) = part {
                self.expr(expr);
            }
        }
    }

    fn key(&mut self, key: &Key) {
        if let Key::Text(parts) = key {
            self.text(parts);
        }
    }

    /// What stands in the segments of a path.
    fn segments(&mut self, path: &Path) {
        if let Root::Expr(expr) = &path.root {
            self.expr(expr);
        }
        for segment in &path.segments {
            match segment {
                Segment::Expr(expr, _) => self.expr(expr),
                Segment::Range(range, _) => {
                    self.expr(&range.0);
                    self.expr(&range.1);
                }
                Segment::Field(..) | Segment::Index(..) => {}
            }
        }
    }

    /// A path that is read.
    fn path(&mut self, path: &Path) {
        self.segments(path);
        if path.segments.is_empty() || matches!(path.root, Root::Group | Root::Window | Root::Args)
        {
            return;
        }
        let place = Holder::of(&path.root).zip(names(&path.segments));
        if place.as_ref().is_some_and(|(root, names)| self.knows(*root, names)) {
            return;
        }
        let written = self.sources.text(path.span).to_string();
        let mend = format!(
            "write `{written} ?? …` with what holds then, or test `present {written}` first"
        );
        self.note(path.span, format!("`{written}` may be missing"), mend);
        if let Some((root, names)) = place {
            // Behind it, it was there.
            self.facts.push(Fact { root, names, kind: Kind::Any });
        }
    }

    fn knows(&self, root: Holder, names: &[Box<str>]) -> bool {
        self.facts.iter().any(|fact| fact.root == root && fact.names.starts_with(names))
    }

    /// The kind that an expression gives whenever it gives something.
    fn kind(&self, expr: &Expr) -> Kind {
        let place = match expr {
            Expr::Path(path) => Holder::of(&path.root).zip(names(&path.segments)),
            Expr::Local(slot, _) => Some((Holder::Local(*slot), Vec::new())),
            Expr::Coalesce(value, otherwise) => {
                let (value, otherwise) = (self.kind(value), self.kind(otherwise));
                return if value == otherwise { value } else { Kind::Any };
            }
            _ => None,
        };
        let known = place.and_then(|(root, names)| {
            self.facts.iter().rfind(|fact| fact.root == root && fact.names == names)
        });
        known.map_or_else(|| kinds::kind(expr), |fact| fact.kind)
    }

    /// Notes an operand that may be of another kind.
    fn takes(&mut self, value: &Expr, wanted: &[Kind], span: Span, what: &str) {
        let kind = self.kind(value);
        // An event is nearly always a record, and what is no record cannot have fields.
        if wanted.iter().any(|one| kind.fits(*one)) || matches!(value, Expr::Event) {
            return;
        }
        let words: Vec<_> = wanted.iter().map(|one| one.name()).collect();
        let words = words.join(" or ");
        let mend =
            format!("test it first: a `case` of `match` with a pattern or a guard for {words}");
        self.note(span, format!("{what} may be something else than {words}"), mend);
    }

    fn binary(&mut self, binary: &Binary) {
        self.expr(&binary.left);
        self.expr(&binary.right);
        let op = binary.op;
        for (side, value) in [("left", &binary.left), ("right", &binary.right)] {
            let what = format!("the {side} operand of `{}`", op.text());
            self.takes(value, operands(op), binary.span, &what);
        }
        let (left, right) = (self.kind(&binary.left), self.kind(&binary.right));
        let is_equality = matches!(op, BinaryOp::Eq | BinaryOp::NotEq);
        let are_numbers = left.fits(Kind::Number) && right.fits(Kind::Number);
        let are_known = left != Kind::Any && right != Kind::Any;
        if !is_equality && are_known && !are_numbers && left != right {
            let reason =
                format!("`{}` takes no {} beside a {}", op.text(), left.name(), right.name());
            self.note(binary.span, reason, "convert one of them first");
        }
        let is_zero = |value: Value<'_>| value.as_f64() == Some(0.0);
        let may_be_zero = binary.right.as_constant().is_none_or(is_zero);
        if matches!(op, BinaryOp::Div | BinaryOp::Mod) && may_be_zero {
            let mend = "ask for `!= 0` first";
            self.note(binary.span, format!("the right operand of `{}` may be 0", op.text()), mend);
        }
    }

    fn logic(&mut self, binary: &Binary) {
        self.condition(&binary.left, binary.span);
        let before = self.facts.clone();
        match binary.op {
            BinaryOp::And => self.learn(&binary.left, true),
            BinaryOp::Or => self.learn(&binary.left, false),
            _ => {}
        }
        self.condition(&binary.right, binary.span);
        if binary.op == BinaryOp::Xor {
            return;
        }
        self.facts = before;
    }

    pub(super) fn condition(&mut self, condition: &Expr, span: Span) {
        self.expr(condition);
        self.takes(condition, &[Kind::Bool], span, "the condition");
    }

    /// What holds where a condition has come out as `truth`.
    fn learn(&mut self, condition: &Expr, truth: bool) {
        match condition {
            Expr::Presence(is_present, path) if *is_present == truth => {
                if let Some((root, names)) = Holder::of(&path.root).zip(names(&path.segments)) {
                    self.facts.push(Fact { root, names, kind: Kind::Any });
                }
            }
            Expr::Unary(UnaryOp::Not, inner, _) => self.learn(inner, !truth),
            Expr::Logic(logic)
                if matches!((logic.op, truth), (BinaryOp::And, true) | (BinaryOp::Or, false)) =>
            {
                self.learn(&logic.left, truth);
                self.learn(&logic.right, truth);
            }
            // Both sides of a comparison were there.
            Expr::Binary(binary) => {
                for side in [&binary.left, &binary.right] {
                    if let Expr::Path(path) = side
                        && let Some((root, names)) =
                            Holder::of(&path.root).zip(names(&path.segments))
                    {
                        let same = truth && binary.op == BinaryOp::Eq;
                        let other = if std::ptr::eq(side, &binary.left) {
                            &binary.right
                        } else {
                            &binary.left
                        };
                        let kind = if same { self.kind(other) } else { Kind::Any };
                        self.facts.push(Fact { root, names, kind });
                    }
                }
            }
            _ => {}
        }
    }

    /// Code that is not always run: what it tells holds within it alone, what it changes is no longer known.
    fn apart(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = self.facts.clone();
        walk(self);
        let after = std::mem::replace(&mut self.facts, before);
        self.facts.retain(|fact| after.contains(fact));
    }

    fn choice(&mut self, arms: &[(Expr, Block)], otherwise: Option<&Block>) {
        let before = self.facts.clone();
        let mut ends = Vec::new();
        let mut falls = before.clone();
        for (condition, block) in arms {
            self.facts.clone_from(&falls);
            let span = span_of(condition);
            self.condition(condition, span);
            falls.clone_from(&self.facts);
            self.learn(condition, true);
            self.block(block);
            ends.push(std::mem::replace(&mut self.facts, falls.clone()));
            self.learn(condition, false);
            falls.clone_from(&self.facts);
        }
        self.facts = falls;
        otherwise.into_iter().for_each(|block| self.block(block));
        self.facts.retain(|fact| ends.iter().all(|end| end.contains(fact)));
    }

    fn matching(&mut self, one: &Match) {
        self.expr(&one.target);
        let place = match &one.target {
            Expr::Path(path) => Holder::of(&path.root).zip(names(&path.segments)),
            Expr::Event => Some((Holder::Event, Vec::new())),
            Expr::Local(slot, _) => Some((Holder::Local(*slot), Vec::new())),
            _ => None,
        };
        let before = self.facts.clone();
        let mut ends = Vec::new();
        for arm in &one.arms {
            self.facts.clone_from(&before);
            self.pattern(&arm.pattern);
            if let (Some((root, names)), Pattern::Record(record)) = (&place, &arm.pattern) {
                let present =
                    record.fields.iter().filter(|field| !matches!(field.test, FieldTest::Absent));
                self.facts.extend(present.map(|field| {
                    let names = names.iter().cloned().chain([field.name.clone()]).collect();
                    Fact { root: *root, names, kind: Kind::Any }
                }));
            }
            if let (Some((root, names)), Pattern::Test(_)) = (&place, &arm.pattern) {
                self.facts.push(Fact { root: *root, names: names.clone(), kind: Kind::String });
            }
            if let Some((guard, span)) = &arm.guard {
                self.condition(guard, *span);
                self.learn(guard, true);
            }
            self.block(&arm.body);
            ends.push(std::mem::take(&mut self.facts));
        }
        self.facts = before;
        self.facts.retain(|fact| ends.iter().all(|end| end.contains(fact)));
        let is_default = |pattern: &Pattern| matches!(pattern, Pattern::Any);
        let takes_all = one.arms.iter().any(|arm| is_default(&arm.pattern) && arm.guard.is_none());
        if !takes_all {
            self.note(one.span, "no case may match", "add `case _ => …`");
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Any | Pattern::Test(_) => {}
            Pattern::Record(record) => {
                for field in &record.fields {
                    match &field.test {
                        FieldTest::Pattern(inner) => self.pattern(inner),
                        FieldTest::Compare(_, value) => self.expr(value),
                        FieldTest::Present | FieldTest::Absent | FieldTest::Test(_) => {}
                    }
                }
            }
            Pattern::Array(items) | Pattern::Tuple(items, _) => {
                items.iter().for_each(|item| self.pattern(item));
            }
            Pattern::Expr(expr) => self.expr(expr),
        }
    }

    fn comprehension(&mut self, one: &Comprehension) {
        self.expr(&one.target);
        self.takes(&one.target, &[Kind::Array, Kind::Record], one.span, "what `for` goes through");
        self.apart(|walk| {
            for arm in &one.arms {
                let facts = walk.facts.clone();
                walk.facts.retain(|fact| {
                    ![Holder::Local(arm.key), Holder::Local(arm.value)].contains(&fact.root)
                });
                if let Some((guard, span)) = &arm.guard {
                    walk.condition(guard, *span);
                    walk.learn(guard, true);
                }
                walk.block(&arm.body);
                walk.facts.retain(|fact| facts.contains(fact));
            }
        });
        one.into.iter().for_each(|into| self.expr(into));
    }

    fn patch(&mut self, patch: &Patch) {
        self.expr(&patch.target);
        self.takes(&patch.target, &[Kind::Record], patch.target_span, "what is patched");
        for (op, span) in &patch.ops {
            let (reason, mend) = match op {
                PatchOp::Insert(..) => {
                    ("the field of `insert` may be there already", "write `upsert`")
                }
                PatchOp::Update(..) => ("the field of `update` may be missing", "write `upsert`"),
                PatchOp::Move(..) | PatchOp::Copy(..) => {
                    ("the field that is moved or copied may be missing", "test `present` first")
                }
                PatchOp::Merge(..) | PatchOp::MergeAll(_) | PatchOp::DefaultAll(_) => {
                    ("what is merged may be no record", "give a record")
                }
                PatchOp::Upsert(..) | PatchOp::Erase(_) | PatchOp::Default(..) => ("", ""),
            };
            let is_record = |expr: &Expr| self.kind(expr) == Kind::Record;
            let is_safe = match op {
                PatchOp::MergeAll(value) | PatchOp::DefaultAll(value) => is_record(value),
                _ => reason.is_empty(),
            };
            if !is_safe {
                self.note(*span, reason, mend);
            }
        }
        for (key, value) in patch.parts() {
            key.into_iter().for_each(|key| self.key(key));
            value.into_iter().for_each(|value| self.expr(value));
        }
    }

    fn assign(&mut self, target: &Target, value: &Expr) {
        for segment in &target.segments {
            if let Segment::Expr(expr, _) = segment {
                self.expr(expr);
            }
        }
        let root = match target.root {
            TargetRoot::Event => Holder::Event,
            TargetRoot::Meta => Holder::Meta,
            TargetRoot::State => Holder::State,
            TargetRoot::Local(slot) => Holder::Local(slot),
            TargetRoot::Invalid(_) => {
                self.note(target.span, "this cannot be assigned to", "assign to one of its fields");
                return;
            }
        };
        let kind = self.kind(value);
        let Some(names) = names(&target.segments) else {
            let reason = "there may be nothing that can be assigned to in this place";
            self.note(target.span, reason, "build the array or record anew");
            return;
        };
        if let Some(parent) =
            names.len().checked_sub(1).filter(|parent| *parent > 0 || root == Holder::State)
        {
            let is_record = self.facts.iter().any(|fact| {
                let is_longer =
                    fact.names.len() > parent && fact.names.starts_with(&names[..parent]);
                let is_it = fact.names == names[..parent] && fact.kind == Kind::Record;
                fact.root == root && (is_longer || is_it)
            });
            if !is_record && root != Holder::State {
                let reason = "what holds the field may be something else than a record";
                self.note(target.span, reason, "assign a whole record to it first");
            }
        }
        self.facts.retain(|fact| fact.root != root || !fact.names.starts_with(&names));
        self.facts.push(Fact { root, names, kind });
    }
}

/// Where an expression stands, as far as it says.
fn span_of(expr: &Expr) -> Span {
    match expr {
        Expr::Path(path) | Expr::Presence(_, path) => path.span,
        Expr::Call(call) => call.span,
        Expr::CallUser(_, _, span) | Expr::Unary(_, _, span) => *span,
        Expr::Binary(binary) | Expr::Logic(binary) => binary.span,
        Expr::Coalesce(value, _) => span_of(value),
        Expr::Local(_, place) => place.span,
        _ => Span::default(),
    }
}
