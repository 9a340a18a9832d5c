//! Temblor's own notation: sources, sinks and chains, one step a line.

use super::super::tree::{
    Chain, ChainMatch, EndpointDef, EndpointRole, Expr, ExprKind, Ident, ModPath, Path, PathRoot,
    Program, ProgramArg, Step, StepKind,
};
use super::super::words::{CLAUSE_WORDS, NAME_CLAUSES, OPERATOR_WORDS};
use super::Printer;
use super::query::stream;
use super::text::{ident, mod_path};

impl Printer {
    pub(super) fn program(&mut self, program: &Program) {
        let has_more = !program.endpoints.is_empty() || !program.query.statements.is_empty();
        let has_statements = !program.query.statements.is_empty();
        let query = &program.query;
        // Configuration and module docs come first in a file.
        let head = super::super::tree::Query { statements: Vec::new(), ..query.clone() };
        self.query(&head);
        self.program_args(&program.args, has_more);
        self.lines(&program.endpoints, ";", Self::endpoint_def);
        if has_statements && !program.endpoints.is_empty() {
            self.put(";");
            self.line();
        }
        self.lines(&query.statements, ";", Self::query_statement);
    }

    fn program_args(&mut self, args: &[ProgramArg], has_more: bool) {
        if args.is_empty() {
            return;
        }
        self.put("args ");
        self.list(args, ", ", |p, arg| {
            p.put(&ident(&arg.name));
            if let Some(kind) = &arg.kind {
                p.put(&format!(": {}", ident(kind)));
            }
            if let Some(default) = &arg.default {
                p.put(" = ");
                p.expr(default);
            }
        });
        if has_more {
            self.put(";");
            self.line();
        }
    }

    fn endpoint_def(&mut self, one: &EndpointDef) {
        let (word, way) = match one.role {
            EndpointRole::Source => ("source", "from"),
            EndpointRole::Sink => ("sink", "into"),
            EndpointRole::Table => ("table", "from"),
        };
        self.put(&format!("{word} {} {way} {}", ident(&one.name), ident(&one.kind)));
        if let Some(argument) = &one.argument {
            self.put(" ");
            self.string(argument);
        }
        self.with_block(&one.with);
    }

    pub(super) fn chain(&mut self, chain: &Chain) {
        self.in_chain = true;
        if let Some(from) = &chain.from {
            self.put(&stream(from));
            self.line();
            self.put("|> ");
        }
        self.steps(&chain.steps);
        self.in_chain = false;
    }

    fn steps(&mut self, steps: &[Step]) {
        for (at, step) in steps.iter().enumerate() {
            if at > 0 {
                self.line();
                self.put("|> ");
            }
            self.indented(|p| p.step(step));
        }
    }

    /// A chain inside of a step, on lines of its own.
    fn sub_chain(&mut self, steps: &[Step]) {
        self.indented(|p| {
            p.line();
            p.steps(steps);
        });
    }

    fn step(&mut self, step: &Step) {
        match &step.kind {
            StepKind::Into(target) => self.put(&stream(target)),
            StepKind::Script(script) => {
                self.put("script");
                self.step_name(step.name.as_ref());
                self.line();
                self.items(&script.items);
                self.line();
                self.put("end");
            }
            StepKind::Set(pairs) => {
                self.put("set ");
                self.list(pairs, ", ", |p, (path, value)| {
                    p.path(path);
                    p.put(" = ");
                    p.expr(value);
                });
            }
            StepKind::Route { all, arms, default } => self.route(*all, arms, default.as_ref()),
            StepKind::When { arms, otherwise } => self.when(arms, otherwise.as_deref()),
            StepKind::Match(matching) => self.chain_match(matching),
            StepKind::Select(one) => {
                self.put("select");
                self.step_name(step.name.as_ref());
                self.put(" ");
                self.expr(&one.target);
                if !one.windows.is_empty() {
                    self.put(" over ");
                    self.windows(&one.windows);
                }
                self.filter(one.filter.as_ref());
                self.group(one.group.as_ref());
                self.having(one.having.as_ref());
                if let Some(place) = &one.late {
                    self.put(&format!(" else {}", ident(place)));
                }
            }
            StepKind::Operator { name, positional, clauses, with } => {
                self.put(&operator_name(name));
                for value in positional {
                    self.put(" ");
                    self.expr(value);
                }
                for (word, value) in clauses {
                    self.clause(word, value.as_ref());
                }
                self.with_block(with);
            }
        }
    }

    fn step_name(&mut self, name: Option<&Ident>) {
        if let Some(name) = name {
            self.put(&format!(" as {}", ident(name)));
        }
    }

    fn route(&mut self, all: bool, arms: &[(Expr, Ident)], default: Option<&Ident>) {
        self.put(if all { "route all" } else { "route" });
        for (condition, port) in arms {
            self.line();
            self.put("case ");
            self.expr(condition);
            self.put(&format!(" => {}", ident(port)));
        }
        if let Some(port) = default {
            self.line();
            self.put(&format!("default => {}", ident(port)));
        }
        self.line();
        self.put("end");
    }

    fn when(&mut self, arms: &[(Expr, Vec<Step>)], otherwise: Option<&[Step]>) {
        for (at, (condition, steps)) in arms.iter().enumerate() {
            self.put(if at == 0 { "when " } else { "elif " });
            self.expr(condition);
            self.put(" do");
            self.sub_chain(steps);
            self.line();
        }
        if let Some(steps) = otherwise {
            self.put("else");
            self.sub_chain(steps);
            self.line();
        }
        self.put("end");
    }

    fn chain_match(&mut self, one: &ChainMatch) {
        self.put("match ");
        self.expr(&one.target);
        self.put(" of");
        for arm in &one.arms {
            self.line();
            self.put("case ");
            self.pattern(&arm.pattern);
            if let Some(guard) = &arm.guard {
                self.put(" when ");
                self.expr(guard);
            }
            self.put(" =>");
            self.sub_chain(&arm.steps);
        }
        if let Some(steps) = &one.default {
            self.line();
            self.put("default =>");
            self.sub_chain(steps);
        }
        self.line();
        self.put("end");
    }

    fn clause(&mut self, word: &Ident, value: Option<&Expr>) {
        self.put(&format!(" {}", word.text));
        let Some(value) = value else { return };
        self.put(" ");
        match &value.kind {
            ExprKind::Path(path) if NAME_CLAUSES.contains(&word.text.as_str()) => {
                self.name(path);
            }
            _ => self.expr(value),
        }
    }

    fn name(&mut self, path: &Path) {
        match &path.root {
            PathRoot::Local(name) if path.segments.is_empty() => self.put(&ident(name)),
            _ => self.path(path),
        }
    }

    /// A name that starts an expression; in a chain it must not look like a clause.
    pub(super) fn local(&mut self, name: &Ident) {
        let is_clause = CLAUSE_WORDS.contains(&name.text.as_str()) || name.text == "elif";
        if self.in_chain && is_clause {
            return self.put(&format!("`{}`", name.text));
        }
        self.put(&ident(name));
    }
}

fn operator_name(name: &ModPath) -> String {
    match name.segments.as_slice() {
        [word] if OPERATOR_WORDS.contains(&word.text.as_str()) => word.text.clone(),
        _ => mod_path(name),
    }
}
