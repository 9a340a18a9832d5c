//! Queries and flows: definitions, instances, selects and wiring.

use super::super::tree::{
    ArgDecl, Binding, Connect, Create, CreateKind, Define, DefineKind, Deploy, DeployFlow,
    DeployStatement, Endpoint, Expr, FlowStatement, Group, ModPath, Query, Script, ScriptDef,
    Select, Statement, StreamRef, UsedWindow, WindowDef,
};
use super::Printer;
use super::text::{ident, mod_path};

impl Printer {
    pub(super) fn query(&mut self, query: &Query) {
        self.config(&query.config);
        self.docs("###", &query.docs);
        self.lines(&query.statements, ";", Self::query_statement);
    }

    fn config(&mut self, config: &[Binding]) {
        for directive in config {
            self.put("#!config ");
            self.binding(directive);
            self.line();
        }
    }

    pub(super) fn deploy(&mut self, deploy: &Deploy) {
        self.config(&deploy.config);
        self.docs("###", &deploy.docs);
        self.lines(&deploy.statements, ";", |p, statement| match statement {
            DeployStatement::Use(one) => p.use_module(one),
            DeployStatement::Define(one) => p.define(one),
            DeployStatement::Deploy(one) => p.deploy_flow(one),
        });
    }

    fn deploy_flow(&mut self, one: &DeployFlow) {
        self.docs("##", &one.docs);
        self.put(&format!("deploy flow {}", ident(&one.name)));
        self.instance_of(one.from.as_ref(), &one.with);
    }

    pub(super) fn query_statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Use(one) => self.use_module(one),
            Statement::Define(one) => self.define(one),
            Statement::Create(one) => self.create(one),
            Statement::Select(one) => self.select(one),
            Statement::Chain(one) => self.chain(one),
            Statement::Item(one) => self.item(one),
        }
    }

    pub(super) fn binding(&mut self, binding: &Binding) {
        self.put(&format!("{} = ", ident(&binding.name)));
        self.expr(&binding.value);
    }

    fn with_list(&mut self, with: &[Binding]) {
        self.put("with");
        self.indented(|p| {
            p.line();
            p.lines(with, ",", Self::binding);
        });
    }

    /// ` with … end`, unless there is nothing in it.
    pub(super) fn with_block(&mut self, with: &[Binding]) {
        if !with.is_empty() {
            self.put(" ");
            self.with_list(with);
            self.line();
            self.put("end");
        }
    }

    fn instance_of(&mut self, from: Option<&ModPath>, with: &[Binding]) {
        if let Some(from) = from {
            self.put(&format!(" from {}", mod_path(from)));
        }
        self.with_block(with);
    }

    fn args(&mut self, args: &[ArgDecl]) {
        if args.is_empty() {
            return;
        }
        self.line();
        self.put("args ");
        self.list(args, ", ", |p, arg| {
            p.put(&ident(&arg.name));
            if let Some(default) = &arg.default {
                p.put(" = ");
                p.expr(default);
            }
        });
    }

    pub(super) fn define(&mut self, define: &Define) {
        self.docs("##", &define.docs);
        let name = ident(&define.name);
        match &define.kind {
            DefineKind::Window(def) => self.window(&name, def),
            DefineKind::Operator(def) => {
                self.put(&format!("define operator {name} from {}", mod_path(&def.kind)));
                self.args(&def.args);
                self.with_block(&def.with);
            }
            DefineKind::Connector(def) => {
                self.put(&format!("define connector {name} from {}", ident(&def.kind)));
                self.args(&def.args);
                self.with_block(&def.with);
            }
            DefineKind::Script(def) => self.script_def(&name, def),
            DefineKind::Pipeline(def) => {
                self.put(&format!("define pipeline {name}"));
                for (word, ports) in [("from", &def.from), ("into", &def.into)] {
                    if let Some(ports) = ports {
                        let ports: Vec<_> = ports.iter().map(ident).collect();
                        self.put(&format!(" {word} {}", ports.join(", ")));
                    }
                }
                self.args(&def.args);
                self.nested("pipeline", |p| p.query(&def.body));
                self.line();
                self.put("end");
            }
            DefineKind::Flow(def) => {
                self.put(&format!("define flow {name}"));
                self.args(&def.args);
                self.nested("flow", |p| p.lines(&def.statements, ";", Self::flow_statement));
                self.line();
                self.put("end");
            }
        }
    }

    fn nested(&mut self, word: &str, print: impl FnOnce(&mut Self)) {
        self.line();
        self.put(word);
        self.indented(|p| {
            p.line();
            print(p);
        });
    }

    fn state(&mut self, state: Option<&Expr>) {
        if let Some(state) = state {
            self.line();
            self.put("state ");
            self.expr(state);
        }
    }

    fn script(&mut self, word: &str, script: &Script) {
        self.nested(word, |p| p.items(&script.items));
    }

    fn window(&mut self, name: &str, def: &WindowDef) {
        // The kinds are words of the language here, though not names.
        let kind = match def.kind.text.as_str() {
            word @ ("tumbling" | "sliding") => word.to_string(),
            _ => ident(&def.kind),
        };
        self.put(&format!("define window {name} from {kind}"));
        if !def.with.is_empty() {
            self.line();
            self.with_list(&def.with);
        }
        self.state(def.state.as_ref());
        if let Some((port, script)) = &def.tick {
            self.script(&format!("script from {}", ident(port)), script);
        }
        if let Some(script) = &def.script {
            self.script("script", script);
        }
        self.line();
        self.put("end");
    }

    fn script_def(&mut self, name: &str, def: &ScriptDef) {
        self.put(&format!("define script {name}"));
        self.args(&def.args);
        self.state(def.state.as_ref());
        for (port, script) in &def.ports {
            self.script(&format!("script from {}", ident(port)), script);
        }
        self.script("script", &def.main);
        self.line();
        self.put("end");
    }

    fn flow_statement(&mut self, statement: &FlowStatement) {
        match statement {
            FlowStatement::Use(one) => self.use_module(one),
            FlowStatement::Define(one) => self.define(one),
            FlowStatement::Create(one) => self.create(one),
            FlowStatement::Connect(Connect { from, to, .. }) => {
                let text = format!("connect {} to {}", endpoint(from), endpoint(to));
                self.put(&text);
            }
        }
    }

    fn create(&mut self, one: &Create) {
        self.put(&format!("create {} {}", create_kind(one.kind), ident(&one.name)));
        self.instance_of(one.from.as_ref(), &one.with);
    }

    fn select(&mut self, one: &Select) {
        self.put("select ");
        self.expr(&one.target);
        self.line();
        self.put(&format!("from {}", stream(&one.from)));
        self.windows(&one.windows);
        self.filter(one.filter.as_ref());
        self.group(one.group.as_ref());
        self.line();
        self.put(&format!("into {}", stream(&one.into)));
        self.having(one.having.as_ref());
    }

    /// `[w1, w2 on event.time late 10s]`
    pub(super) fn windows(&mut self, windows: &[UsedWindow]) {
        if windows.is_empty() {
            return;
        }
        self.put("[");
        self.list(windows, ", ", |printer, window| {
            printer.put(&mod_path(&window.path));
            for setting in &window.time {
                printer.put(&format!(" {} ", setting.name.text));
                printer.expr(&setting.value);
            }
        });
        self.put("]");
    }

    pub(super) fn filter(&mut self, filter: Option<&Expr>) {
        if let Some(filter) = filter {
            self.line();
            self.put("where ");
            self.expr(filter);
        }
    }

    pub(super) fn having(&mut self, having: Option<&Expr>) {
        if let Some(having) = having {
            self.line();
            self.put("having ");
            self.expr(having);
        }
    }

    pub(super) fn group(&mut self, group: Option<&Group>) {
        if let Some(group) = group {
            self.line();
            self.put("group by ");
            self.dimension(group);
        }
    }

    fn dimension(&mut self, group: &Group) {
        match group {
            Group::Expr(expr) => self.expr(expr),
            Group::Set(dimensions, _) => {
                self.put("set(");
                self.list(dimensions, ", ", Self::dimension);
                self.put(")");
            }
            Group::Each(expr, _) => {
                self.put("each(");
                self.expr(expr);
                self.put(")");
            }
        }
    }
}

/// `name/port`
pub(super) fn stream(stream: &StreamRef) -> String {
    match &stream.port {
        Some(port) => format!("{}/{}", ident(&stream.node), ident(port)),
        None => ident(&stream.node),
    }
}

fn endpoint(endpoint: &Endpoint) -> String {
    let port = endpoint.port.as_ref().map_or(String::new(), |port| format!("/{}", ident(port)));
    format!("/{}/{}{port}", create_kind(endpoint.kind), ident(&endpoint.name))
}

fn create_kind(kind: CreateKind) -> &'static str {
    match kind {
        CreateKind::Stream => "stream",
        CreateKind::Script => "script",
        CreateKind::Operator => "operator",
        CreateKind::Pipeline => "pipeline",
        CreateKind::Connector => "connector",
    }
}
