//! Expressions and statements. Statements separate what is in their arms by `;`, expressions by `,`.

use super::super::tree::{
    Expr, ExprKind, For, Match, PatchKind, PatchOp, Path, PathRoot, Segment, StringForm, StringLit,
    StringPart, UnaryOp,
};
use super::Printer;
use super::text::{escaped, float, ident, mod_path, quoted, raw};

impl Printer {
    /// What stands where statements may stand.
    pub(super) fn statement(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Let(path, value) => {
                self.put("let ");
                self.path(path);
                self.put(" = ");
                self.statement(value);
            }
            ExprKind::Match(one) => self.match_expr(one, true),
            ExprKind::For(one) => self.for_expr(one, true),
            ExprKind::If(arms, otherwise) => self.if_expr(arms, otherwise.as_deref(), true),
            ExprKind::Drop => self.put("drop"),
            ExprKind::Emit(value, port) => {
                self.put("emit");
                if let Some(value) = value {
                    self.put(" ");
                    self.expr(value);
                }
                if let Some(port) = port {
                    self.put(" => ");
                    self.string(port);
                }
            }
            _ => self.expr(expr),
        }
    }

    /// What stands where only a value may stand.
    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Error | ExprKind::Null => self.put("null"),
            ExprKind::Bool(value) => self.put(if *value { "true" } else { "false" }),
            ExprKind::Int(value) => self.put(&value.to_string()),
            ExprKind::Float(value) => self.put(&float(*value)),
            ExprKind::String(string) => self.string(string),
            ExprKind::Path(path) => self.path(path),
            ExprKind::Call(name, args) => self.call(&mod_path(name), args),
            ExprKind::Recur(args) => self.call("recur", args),
            ExprKind::Unary(op, value) => {
                self.put(op.text());
                self.put(if *op == UnaryOp::Not { " " } else { "" });
                self.expr(value);
            }
            ExprKind::Binary(op, left, right) => self.infix(left, op.text(), right),
            ExprKind::Coalesce(left, right) => self.infix(left, "??", right),
            ExprKind::Presence(present, path) => {
                self.put(if *present { "present " } else { "absent " });
                self.path(path);
            }
            ExprKind::If(arms, otherwise) => self.if_expr(arms, otherwise.as_deref(), false),
            ExprKind::Match(one) => self.match_expr(one, false),
            ExprKind::For(one) => self.for_expr(one, false),
            ExprKind::Let(..) | ExprKind::Drop | ExprKind::Emit(..) => self.statement(expr),
            _ => self.compound(expr),
        }
    }

    fn compound(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Bytes(parts) => {
                self.put("<< ");
                self.list(parts, ", ", |p, part| {
                    p.expr(&part.value);
                    if let Some((size, _)) = part.size {
                        p.put(&format!(":{size}"));
                    }
                    if let Some(kind) = &part.kind {
                        p.put(&format!("/{}", ident(kind)));
                    }
                });
                self.put(" >>");
            }
            ExprKind::List(items) => {
                self.put("[");
                self.list(items, ", ", Self::expr);
                self.put("]");
            }
            ExprKind::Record(fields) => {
                self.put("{");
                self.list(fields, ", ", |p, (key, value)| {
                    p.string(key);
                    p.put(": ");
                    p.expr(value);
                });
                self.put("}");
            }
            ExprKind::Paren(inner) => {
                self.put("(");
                self.expr(inner);
                self.put(")");
            }
            ExprKind::Patch(target, operations) => self.patch(target, operations),
            ExprKind::Merge(left, right) => {
                self.put("merge ");
                self.expr(left);
                self.put(" of ");
                self.expr(right);
                self.put(" end");
            }
            _ => {}
        }
    }

    fn infix(&mut self, left: &Expr, op: &str, right: &Expr) {
        self.expr(left);
        self.put(&format!(" {op} "));
        self.expr(right);
    }

    fn call(&mut self, name: &str, args: &[Expr]) {
        self.put(name);
        self.put("(");
        self.list(args, ", ", Self::expr);
        self.put(")");
    }

    pub(super) fn path(&mut self, path: &Path) {
        let mut segments = path.segments.as_slice();
        match &path.root {
            PathRoot::Meta => {
                self.put("$");
                if let [Segment::Name(first), rest @ ..] = segments {
                    self.put(&ident(first));
                    segments = rest;
                }
            }
            PathRoot::Event => self.put("event"),
            PathRoot::State => self.put("state"),
            PathRoot::Args => self.put("args"),
            PathRoot::Group => self.put("group"),
            PathRoot::Window => self.put("window"),
            PathRoot::Local(name) => self.local(name),
            PathRoot::Const(name) => self.put(&mod_path(name)),
            PathRoot::Expr(root) => self.expr(root),
        }
        for segment in segments {
            self.segment(segment);
        }
    }

    fn segment(&mut self, segment: &Segment) {
        match segment {
            Segment::Name(name) => self.put(&format!(".{}", ident(name))),
            Segment::Index(index) => {
                self.put("[");
                self.expr(index);
                self.put("]");
            }
            Segment::Range(from, to, _) => {
                self.put("[");
                self.expr(from);
                // A blank, since `a::b` would be a path.
                self.put(" : ");
                self.expr(to);
                self.put("]");
            }
        }
    }

    pub(super) fn string(&mut self, string: &StringLit) {
        let (open, close) = match string.form {
            StringForm::Quoted => ("\"", "\""),
            StringForm::Heredoc => ("\"\"\"\n", "\"\"\""),
            StringForm::Raw => return self.put(&raw(string.constant().unwrap_or(""))),
        };
        self.put(open);
        for part in &string.parts {
            match part {
                StringPart::Text(text) if string.form == StringForm::Heredoc => {
                    self.put(&escaped(text))
                }
                StringPart::Text(text) => self.put(&quoted(text)),
                StringPart::Expr(expr) => {
                    self.put("#{");
                    self.expr(expr);
                    self.put("}");
                }
            }
        }
        self.put(close);
    }

    fn body(&mut self, body: &[Expr], statements: bool) {
        if statements {
            self.lines(body, ";", Self::statement);
        } else {
            self.list(body, ", ", Self::expr);
        }
    }

    /// `when guard => body`
    pub(super) fn arm(&mut self, guard: Option<&Expr>, body: &[Expr], statements: bool) {
        if let Some(guard) = guard {
            self.put(" when ");
            self.expr(guard);
        }
        self.put(" =>");
        let short = body.len() == 1;
        self.indented(|p| {
            if short {
                p.put(" ")
            } else {
                p.line()
            }
            p.body(body, statements);
        });
    }

    fn match_expr(&mut self, one: &Match, statements: bool) {
        self.put("match ");
        self.expr(&one.target);
        self.put(" of");
        self.indented(|p| {
            for arm in &one.arms {
                p.line();
                p.put("case ");
                p.pattern(&arm.pattern);
                p.arm(arm.guard.as_ref(), &arm.body, statements);
            }
        });
        self.line();
        self.put("end");
    }

    fn for_expr(&mut self, one: &For, statements: bool) {
        self.put("for ");
        self.expr(&one.target);
        self.put(" of");
        self.indented(|p| {
            for arm in &one.arms {
                p.line();
                p.put(&format!("case ({}, {})", ident(&arm.key), ident(&arm.value)));
                p.arm(arm.guard.as_ref(), &arm.body, statements);
            }
        });
        self.line();
        if let Some(into) = &one.into {
            self.put("into ");
            self.expr(into);
            if let Some((op, _)) = one.fold {
                self.put(&format!(" use {}", op.text()));
            }
            self.line();
        }
        self.put("end");
    }

    fn if_expr(
        &mut self,
        arms: &[(Expr, Vec<Expr>)],
        otherwise: Option<&[Expr]>,
        statements: bool,
    ) {
        for (at, (condition, body)) in arms.iter().enumerate() {
            self.put(if at == 0 { "if " } else { "elif " });
            self.expr(condition);
            self.put(" then");
            self.indented(|p| {
                p.line();
                p.body(body, statements);
            });
            self.line();
        }
        if let Some(otherwise) = otherwise {
            self.put("else");
            self.indented(|p| {
                p.line();
                p.body(otherwise, statements);
            });
            self.line();
        }
        self.put("end");
    }

    fn patch(&mut self, target: &Expr, operations: &[PatchOp]) {
        self.put("patch ");
        self.expr(target);
        self.put(" of");
        self.indented(|p| {
            p.line();
            p.lines(operations, ";", Self::patch_op);
        });
        self.line();
        self.put("end");
    }

    fn patch_op(&mut self, operation: &PatchOp) {
        match &operation.kind {
            PatchKind::Insert(key, value) => self.operation("insert", Some(key), Some(value)),
            PatchKind::Upsert(key, value) => self.operation("upsert", Some(key), Some(value)),
            PatchKind::Update(key, value) => self.operation("update", Some(key), Some(value)),
            PatchKind::Erase(key) => self.operation("erase", Some(key), None),
            PatchKind::Merge(key, value) => self.operation("merge", key.as_ref(), Some(value)),
            PatchKind::Default(key, value) => self.operation("default", key.as_ref(), Some(value)),
            PatchKind::Move(from, to) => self.rename("move", from, to),
            PatchKind::Copy(from, to) => self.rename("copy", from, to),
        }
    }

    fn operation(&mut self, word: &str, key: Option<&StringLit>, value: Option<&Expr>) {
        self.put(word);
        if let Some(key) = key {
            self.put(" ");
            self.string(key);
        }
        if let Some(value) = value {
            self.put(" => ");
            self.expr(value);
        }
    }

    fn rename(&mut self, word: &str, from: &StringLit, to: &StringLit) {
        self.operation(word, Some(from), None);
        self.put(" => ");
        self.string(to);
    }
}
