//! A tree as source text again, in one canonical layout. What is printed parses to the same tree
//! (places apart); brackets are kept in the tree, so none are added here.

mod chain;
mod expr;
mod pattern;
mod query;
mod text;

use super::tree::{Deploy, Docs, Expr, FnBody, FnDef, Item, Program, Query, Script, Use};
use text::{ident, mod_path};

/// Blanks for each level of nesting.
const INDENT: &str = "  ";

/// Prints a script or module file.
#[must_use]
pub fn print_script(script: &Script) -> String {
    let mut printer = Printer::default();
    printer.docs("###", &script.docs);
    printer.items(&script.items);
    printer.finish()
}

/// Prints a query file.
#[must_use]
pub fn print_query(query: &Query) -> String {
    let mut printer = Printer::default();
    printer.query(query);
    printer.finish()
}

/// Prints a deploy file.
#[must_use]
pub fn print_deploy(deploy: &Deploy) -> String {
    let mut printer = Printer::default();
    printer.deploy(deploy);
    printer.finish()
}

/// Prints a Temblor file.
#[must_use]
pub fn print_program(program: &Program) -> String {
    let mut printer = Printer::default();
    printer.program(program);
    printer.finish()
}

/// Prints one expression or statement.
#[must_use]
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.statement(expr);
    printer.out
}

/// Text that grows, and how deep it is nested.
#[derive(Default)]
struct Printer {
    out: String,
    depth: usize,
    /// Inside a chain some more names need quotes.
    in_chain: bool,
}

impl Printer {
    fn finish(mut self) -> String {
        self.out.push('\n');
        self.out
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.push_str(&INDENT.repeat(self.depth));
    }

    fn indented(&mut self, print: impl FnOnce(&mut Self)) {
        self.depth += 1;
        print(self);
        self.depth -= 1;
    }

    /// Things with a separator between them.
    fn list<T>(&mut self, things: &[T], separator: &str, print: impl Fn(&mut Self, &T)) {
        for (at, thing) in things.iter().enumerate() {
            if at > 0 {
                self.put(separator);
            }
            print(self, thing);
        }
    }

    /// Things with a separator at the ends of lines.
    fn lines<T>(&mut self, things: &[T], separator: &str, print: impl Fn(&mut Self, &T)) {
        for (at, thing) in things.iter().enumerate() {
            if at > 0 {
                self.put(separator);
                self.line();
            }
            print(self, thing);
        }
    }

    fn docs(&mut self, mark: &str, docs: &Docs) {
        for line in docs {
            self.put(mark);
            self.put(line);
            self.line();
        }
    }

    fn items(&mut self, items: &[Item]) {
        self.lines(items, ";", Self::item);
    }

    pub(super) fn item(&mut self, item: &Item) {
        match item {
            Item::Use(one) => self.use_module(one),
            Item::Const(one) => {
                self.docs("##", &one.docs);
                self.put(&format!("const {} = ", ident(&one.name)));
                self.expr(&one.value);
            }
            Item::Fn(one) => self.function(one),
            Item::Intrinsic(one) => {
                self.docs("##", &one.docs);
                self.put(&format!("intrinsic fn {}", ident(&one.name)));
                self.params(&one.params, one.varargs);
                self.put(&format!(" as {}", mod_path(&one.target)));
            }
            Item::Expr(expr) => self.statement(expr),
            Item::Define(define) => self.define(define),
        }
    }

    fn use_module(&mut self, one: &Use) {
        self.put(&format!("use {}", mod_path(&one.path)));
        if let Some(alias) = &one.alias {
            self.put(&format!(" as {}", ident(alias)));
        }
    }

    fn params(&mut self, params: &[super::tree::Ident], varargs: bool) {
        let mut names: Vec<String> = params.iter().map(ident).collect();
        if varargs {
            names.push("...".to_string());
        }
        self.put(&format!("({})", names.join(", ")));
    }

    fn function(&mut self, one: &FnDef) {
        self.docs("##", &one.docs);
        self.put(&format!("fn {}", ident(&one.name)));
        self.params(&one.params, one.varargs);
        match &one.body {
            FnBody::Block(body) => {
                self.put(" with");
                self.indented(|p| {
                    p.line();
                    p.lines(body, ";", Self::statement);
                });
            }
            FnBody::Cases(cases, default) => {
                self.put(" of");
                self.indented(|p| {
                    for case in cases {
                        p.line();
                        p.put("case (");
                        p.list(&case.patterns, ", ", Self::pattern);
                        p.put(")");
                        p.arm(case.guard.as_ref(), &case.body, true);
                    }
                    p.line();
                    p.put("case _");
                    p.arm(None, default, true);
                });
            }
        }
        self.line();
        self.put("end");
    }
}
