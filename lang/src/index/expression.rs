//! Expressions, patterns and paths of a walk.

use super::scopes::Walk;
use super::{SymbolKind, Target};
use crate::span::Span;
use crate::syntax::tree::{
    Arm, Expr, ExprKind, FieldPattern, FieldTest, For, Ident, Match, PatchKind, PatchOp, Path,
    PathRoot, Pattern, PatternKind, Segment, StringLit, StringPart, Test,
};

impl Walk {
    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Error
            | ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Drop => {}
            ExprKind::String(text) => self.text(text),
            ExprKind::Bytes(parts) => parts.iter().for_each(|part| {
                self.expr(&part.value);
                let kind = part.kind.iter();
                kind.for_each(|kind| self.refer(kind.span, Target::Kind(kind.text.clone())));
            }),
            ExprKind::List(items) | ExprKind::Recur(items) => self.exprs(items),
            ExprKind::Record(fields) => fields.iter().for_each(|(key, value)| {
                self.text(key);
                self.expr(value);
            }),
            ExprKind::Path(path) | ExprKind::Presence(_, path) => self.data_path(path),
            ExprKind::Call(path, arguments) => {
                self.path(path, &[SymbolKind::Function]);
                self.exprs(arguments);
            }
            ExprKind::Unary(_, inner) | ExprKind::Paren(inner) => self.expr(inner),
            ExprKind::Binary(_, left, right)
            | ExprKind::Coalesce(left, right)
            | ExprKind::Merge(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::If(arms, otherwise) => {
                for (condition, block) in arms {
                    self.expr(condition);
                    self.exprs(block);
                }
                otherwise.iter().for_each(|block| self.exprs(block));
            }
            ExprKind::Match(matching) => self.matching(matching),
            ExprKind::For(comprehension) => self.comprehension(comprehension),
            ExprKind::Patch(target, operations) => {
                self.expr(target);
                operations.iter().for_each(|one| self.operation(one));
            }
            ExprKind::Let(path, value) => self.assignment(path, value, expr.span),
            ExprKind::Emit(value, port) => {
                value.iter().for_each(|value| self.expr(value));
                port.iter().for_each(|port| self.emitted(port));
            }
        }
    }

    /// The value comes first: in `let x = x + 1` the right side is an earlier `x`.
    fn assignment(&mut self, path: &Path, value: &Expr, whole: Span) {
        self.expr(value);
        match &path.root {
            PathRoot::Local(name) => {
                self.assign(name, whole);
                self.segments(&path.segments);
            }
            _ => self.data_path(path),
        }
    }

    pub(super) fn text(&mut self, text: &StringLit) {
        for part in &text.parts {
            if let StringPart::Expr(expr) = part {
                self.expr(expr);
            }
        }
    }

    pub(super) fn data_path(&mut self, path: &Path) {
        let root = match &path.root {
            PathRoot::Meta => Some("$"),
            PathRoot::Event => Some("event"),
            PathRoot::State => Some("state"),
            PathRoot::Args => Some("args"),
            PathRoot::Group | PathRoot::Window => None,
            PathRoot::Local(name) => {
                self.read(name);
                None
            }
            PathRoot::Const(constant) => {
                self.path(constant, &[SymbolKind::Constant]);
                None
            }
            PathRoot::Expr(inner) => {
                self.expr(inner);
                None
            }
        };
        let is_args = matches!(path.root, PathRoot::Args);
        if let Some(root) = root {
            self.note_fields(root, &path.segments, is_args);
        }
        self.segments(&path.segments);
    }

    /// The leading names of a path below the event; the first behind `args` is an argument.
    fn note_fields(&mut self, root: &str, segments: &[Segment], is_args: bool) {
        let mut path = root.to_string();
        for (at, segment) in segments.iter().enumerate() {
            let Segment::Name(name) = segment else { break };
            if root == "$" && at == 0 {
                path = format!("${}", name.text);
            } else {
                path = format!("{path}.{}", name.text);
            }
            let argument = (is_args && at == 0).then(|| self.argument(name)).flatten();
            self.refer(
                name.span,
                argument.map_or_else(|| Target::Field(path.clone()), Target::Symbol),
            );
            if argument.is_none() {
                self.fields.insert(path.clone());
            }
        }
    }

    fn argument(&self, name: &Ident) -> Option<usize> {
        self.find(SymbolKind::Argument, &name.text)
    }

    fn segments(&mut self, segments: &[Segment]) {
        for segment in segments {
            match segment {
                Segment::Name(_) => {}
                Segment::Index(index) => self.expr(index),
                Segment::Range(from, to, _) => {
                    self.expr(from);
                    self.expr(to);
                }
            }
        }
    }

    fn matching(&mut self, matching: &Match) {
        self.expr(&matching.target);
        // Fields that a pattern asks the event for are fields of the event.
        let of_event = matches!(&matching.target.kind, ExprKind::Path(path)
            if path.segments.is_empty() && matches!(path.root, PathRoot::Event));
        for arm in &matching.arms {
            self.arm(arm, of_event);
        }
    }

    fn arm(&mut self, arm: &Arm, of_event: bool) {
        let (bound, pattern) = match &arm.pattern.kind {
            PatternKind::Bind(name, inner) => (vec![name], inner.as_ref()),
            _ => (Vec::new(), &arm.pattern),
        };
        self.pattern(pattern, of_event.then_some("event"));
        self.binding(&bound, arm.span, |walk| {
            arm.guard.iter().for_each(|guard| walk.expr(guard));
            walk.exprs(&arm.body);
        });
    }

    /// A pattern; `of` is the path of what it is asked of, where that is known.
    pub(super) fn pattern(&mut self, pattern: &Pattern, of: Option<&str>) {
        match &pattern.kind {
            PatternKind::Any => {}
            PatternKind::Test(test) => self.test(test),
            PatternKind::Record(fields) => {
                fields.iter().for_each(|field| self.field_pattern(field, of));
            }
            PatternKind::Array(items) | PatternKind::Tuple { items, .. } => {
                items.iter().for_each(|item| self.pattern(item, None));
            }
            PatternKind::Bind(_, inner) => self.pattern(inner, of),
            PatternKind::Expr(expr) => self.expr(expr),
        }
    }

    fn field_pattern(&mut self, field: &FieldPattern, of: Option<&str>) {
        let name = &field.name.text;
        let path = of.map_or_else(|| name.clone(), |of| format!("{of}.{name}"));
        if of.is_some() {
            self.fields.insert(path.clone());
        }
        self.refer(field.name.span, Target::Field(path.clone()));
        match &field.test {
            FieldTest::Present | FieldTest::Absent => {}
            FieldTest::Test(test) => self.test(test),
            FieldTest::Pattern(pattern) => self.pattern(pattern, of.map(|_| path.as_str())),
            FieldTest::Compare(_, expr) => self.expr(expr),
        }
    }

    fn test(&mut self, test: &Test) {
        self.refer(test.name.span, Target::Extractor(test.name.text.to_lowercase()));
    }

    fn comprehension(&mut self, tree: &For) {
        self.expr(&tree.target);
        tree.into.iter().for_each(|into| self.expr(into));
        for arm in &tree.arms {
            self.binding(&[&arm.key, &arm.value], arm.span, |walk| {
                arm.guard.iter().for_each(|guard| walk.expr(guard));
                walk.exprs(&arm.body);
            });
        }
    }

    fn operation(&mut self, operation: &PatchOp) {
        match &operation.kind {
            PatchKind::Insert(key, value)
            | PatchKind::Upsert(key, value)
            | PatchKind::Update(key, value) => {
                self.text(key);
                self.expr(value);
            }
            PatchKind::Erase(key) => self.text(key),
            PatchKind::Move(from, to) | PatchKind::Copy(from, to) => {
                self.text(from);
                self.text(to);
            }
            PatchKind::Merge(key, value) | PatchKind::Default(key, value) => {
                key.iter().for_each(|key| self.text(key));
                self.expr(value);
            }
        }
    }
}
