//! Queries, flows and chains of a walk: definitions, what is created from them, and the streams and
//! ports that connect it.

use super::parts::Maker;
use super::scopes::Walk;
use super::{Direction, EndKind, SymbolKind, Target};
use crate::span::Span;
use crate::syntax::tree::{
    ArgDecl, Binding, Chain, ChainMatch, ChainSelect, Create, CreateKind, Define, DefineKind,
    Deploy, DeployFlow, DeployStatement, Endpoint, EndpointDef, EndpointRole, Expr, ExprKind,
    FlowDef, FlowStatement, Group, Ident, PathRoot, PatternKind, PipelineDef, Program, Query,
    ScriptDef, Select, Statement, Step, StepKind, UsedWindow, WindowDef,
};

impl EndKind {
    fn of(role: EndpointRole) -> Self {
        match role {
            EndpointRole::Source => Self::Source,
            EndpointRole::Sink => Self::Sink,
            EndpointRole::Table => Self::Table,
        }
    }
}

impl Walk {
    pub(super) fn query(&mut self, query: &Query, whole: Span) {
        query.statements.iter().for_each(|one| self.declare_statement(one, whole));
        for config in &query.config {
            self.expr(&config.value);
        }
        query.statements.iter().for_each(|one| self.statement(one, whole));
    }

    pub(super) fn program(&mut self, program: &Program, whole: Span) {
        for arg in &program.args {
            arg.default.iter().for_each(|default| self.expr(default));
            let symbol = self.symbol(&arg.name, SymbolKind::Argument, arg.span, whole);
            self.describe(symbol, &[], format!("args {}", arg.name.text));
            self.declare(symbol);
            arg.kind.iter().for_each(|kind| self.refer(kind.span, Target::Kind(kind.text.clone())));
        }
        for endpoint in &program.endpoints {
            let word = match endpoint.role {
                EndpointRole::Source => "source",
                EndpointRole::Sink => "sink",
                EndpointRole::Table => "table",
            };
            let symbol = self.symbol(&endpoint.name, SymbolKind::Node, endpoint.span, whole);
            self.describe(symbol, &[], format!("{word} {}", endpoint.name.text));
            self.declare(symbol);
        }
        self.query(&program.query, whole);
        program.endpoints.iter().for_each(|one| self.endpoint(one));
    }

    fn endpoint(&mut self, endpoint: &EndpointDef) {
        let (kind, name) = (EndKind::of(endpoint.role), &endpoint.kind);
        self.refer(name.span, Target::Connector(kind, name.text.clone()));
        self.connector_settings(kind, &name.text, &endpoint.with);
        if let Some(argument) = &endpoint.argument {
            let kind = ExprKind::String(argument.clone());
            self.expr(&Expr { kind, span: argument.span });
        }
    }

    fn connector_settings(&mut self, end: EndKind, kind: &str, with: &[Binding]) {
        for one in with {
            let setting = one.name.text.clone();
            self.refer(one.name.span, Target::ConnectorSetting(end, kind.to_string(), setting));
            self.expr(&one.value);
        }
    }

    pub(super) fn deploy(&mut self, deploy: &Deploy, whole: Span) {
        for statement in &deploy.statements {
            match statement {
                DeployStatement::Use(import) => self.import(import, whole),
                DeployStatement::Define(define) => self.declare_define(define, whole),
                DeployStatement::Deploy(_) => {}
            }
        }
        for statement in &deploy.statements {
            match statement {
                DeployStatement::Use(_) => {}
                DeployStatement::Define(define) => self.define(define, whole),
                DeployStatement::Deploy(flow) => self.deploy_flow(flow, whole),
            }
        }
    }

    fn deploy_flow(&mut self, flow: &DeployFlow, whole: Span) {
        let maker = match &flow.from {
            Some(path) => {
                let maker = Maker::of(self.path(path, &[SymbolKind::Flow]));
                let symbol = self.symbol(&flow.name, SymbolKind::Flow, flow.span, whole);
                self.describe(symbol, &flow.docs, format!("deploy flow {}", flow.name.text));
                maker
            }
            // The name of the instance is that of the definition.
            None => {
                let definition = self.find(SymbolKind::Flow, &flow.name.text);
                let target = definition.map_or(Target::Unknown, Target::Symbol);
                self.refer(flow.name.span, target.clone());
                Maker::of(target)
            }
        };
        self.with(&flow.with, maker.as_ref());
    }

    fn declare_statement(&mut self, statement: &Statement, whole: Span) {
        let visible = self.here(whole);
        match statement {
            Statement::Use(import) => self.import(import, visible),
            Statement::Define(define) => self.declare_define(define, visible),
            Statement::Create(create) if !is_own_definition(create) => {
                let symbol = self.symbol(&create.name, SymbolKind::Node, create.span, visible);
                let detail = format!("create {} {}", word(create.kind), create.name.text);
                self.describe(symbol, &[], detail);
                self.declare(symbol);
            }
            Statement::Item(item) => self.declare_item(item, visible),
            Statement::Create(_) | Statement::Select(_) | Statement::Chain(_) => {}
        }
    }

    pub(crate) fn declare_define(&mut self, define: &Define, visible: Span) {
        let (kind, word) = match &define.kind {
            DefineKind::Window(_) => (SymbolKind::Window, "window"),
            DefineKind::Operator(_) => (SymbolKind::Operator, "operator"),
            DefineKind::Script(_) => (SymbolKind::Script, "script"),
            DefineKind::Pipeline(_) => (SymbolKind::Pipeline, "pipeline"),
            DefineKind::Connector(_) => (SymbolKind::Connector, "connector"),
            DefineKind::Flow(_) => (SymbolKind::Flow, "flow"),
        };
        let symbol = self.symbol(&define.name, kind, define.span, visible);
        self.describe(symbol, &define.docs, format!("define {word} {}", define.name.text));
        self.declare(symbol);
    }

    fn statement(&mut self, statement: &Statement, whole: Span) {
        match statement {
            Statement::Use(_) => {}
            Statement::Define(define) => self.define(define, whole),
            Statement::Create(create) => self.create(create),
            Statement::Select(select) => self.select(select),
            Statement::Chain(chain) => self.chain(chain, whole),
            Statement::Item(item) => self.item(item, whole),
        }
    }

    pub(super) fn define(&mut self, define: &Define, _whole: Span) {
        let kind = match &define.kind {
            DefineKind::Window(_) => SymbolKind::Window,
            DefineKind::Operator(_) => SymbolKind::Operator,
            DefineKind::Script(_) => SymbolKind::Script,
            DefineKind::Pipeline(_) => SymbolKind::Pipeline,
            DefineKind::Connector(_) => SymbolKind::Connector,
            DefineKind::Flow(_) => SymbolKind::Flow,
        };
        let Some(owner) = self.defined_at(define.name.span, kind) else { return };
        let span = define.span;
        self.owned(owner, |walk| match &define.kind {
            DefineKind::Window(window) => walk.window(window, span),
            DefineKind::Operator(operator) => {
                let name = operator.kind.text();
                walk.refer(operator.kind.span, Target::OperatorKind(name.clone()));
                walk.settings(&name, &operator.args, &operator.with, span);
            }
            DefineKind::Script(script) => walk.script_node(script, span),
            DefineKind::Pipeline(pipeline) => walk.pipeline(pipeline, span),
            DefineKind::Connector(connector) => {
                let kind = Target::Connector(EndKind::Flow, connector.kind.text.clone());
                walk.refer(connector.kind.span, kind);
                walk.arguments(&connector.args, span);
                walk.connector_settings(EndKind::Flow, &connector.kind.text, &connector.with);
            }
            DefineKind::Flow(flow) => walk.flow(flow, span),
        });
    }

    fn settings(&mut self, kind: &str, args: &[ArgDecl], with: &[Binding], span: Span) {
        self.arguments(args, span);
        for binding in with {
            let setting = Target::Setting(kind.to_string(), binding.name.text.clone());
            self.refer(binding.name.span, setting);
            self.expr(&binding.value);
        }
    }

    fn window(&mut self, window: &WindowDef, span: Span) {
        self.refer(window.kind.span, Target::Kind(window.kind.text.clone()));
        self.with(&window.with, None);
        window.state.iter().for_each(|state| self.expr(state));
        window.tick.iter().for_each(|(_, script)| self.script(script, span));
        window.script.iter().for_each(|script| self.script(script, span));
    }

    fn script_node(&mut self, script: &ScriptDef, span: Span) {
        self.arguments(&script.args, span);
        script.state.iter().for_each(|state| self.expr(state));
        self.script_ports(script);
        script.ports.iter().for_each(|(_, section)| self.script(section, span));
        self.script(&script.main, span);
    }

    fn pipeline(&mut self, pipeline: &PipelineDef, span: Span) {
        self.pipeline_ports(pipeline.from.as_deref(), Direction::In, span);
        self.pipeline_ports(pipeline.into.as_deref(), Direction::Out, span);
        self.arguments(&pipeline.args, span);
        self.query(&pipeline.body, span);
    }

    fn flow(&mut self, flow: &FlowDef, span: Span) {
        self.arguments(&flow.args, span);
        for statement in &flow.statements {
            match statement {
                FlowStatement::Use(import) => self.import(import, span),
                FlowStatement::Define(define) => self.declare_define(define, span),
                FlowStatement::Create(create) if !is_own_definition(create) => {
                    let symbol = self.symbol(&create.name, SymbolKind::Node, create.span, span);
                    let detail = format!("create {} {}", word(create.kind), create.name.text);
                    self.describe(symbol, &[], detail);
                    self.declare(symbol);
                }
                FlowStatement::Create(_) | FlowStatement::Connect(_) => {}
            }
        }
        for statement in &flow.statements {
            match statement {
                FlowStatement::Use(_) => {}
                FlowStatement::Define(define) => self.define(define, span),
                FlowStatement::Create(create) => self.create(create),
                FlowStatement::Connect(connect) => {
                    self.connected(&connect.from, Direction::Out);
                    self.connected(&connect.to, Direction::In);
                }
            }
        }
    }

    fn connected(&mut self, endpoint: &Endpoint, direction: Direction) {
        let definition = defined_by(endpoint.kind);
        self.node_and_port(&endpoint.name, endpoint.port.as_ref(), definition, direction);
    }

    fn create(&mut self, create: &Create) {
        let Some(kind) = defined_by(create.kind) else { return };
        let maker = match &create.from {
            Some(path) => Maker::of(self.path(path, &[kind])),
            None => {
                let definition = self.find(kind, &create.name.text);
                let target = definition.map_or(Target::Unknown, Target::Symbol);
                self.refer(create.name.span, target.clone());
                Maker::of(target)
            }
        };
        let node = self.defined_at(create.name.span, SymbolKind::Node);
        if let (Some(node), Some(maker)) = (node, &maker) {
            self.parts.made(node, maker.clone());
        }
        self.with(&create.with, maker.as_ref());
    }

    /// A stream that something goes into: in a chain a new name is an output.
    fn chain_stream(&mut self, name: &Ident, whole: Span) {
        let target = self.node(name, None);
        if target != Target::Unknown {
            return self.refer(name.span, target);
        }
        let visible = self.here(whole);
        let symbol = self.symbol(name, SymbolKind::Node, name.span, visible);
        self.describe(symbol, &[], format!("output {}", name.text));
        self.declare(symbol);
    }

    fn select(&mut self, select: &Select) {
        self.expr(&select.target);
        self.stream(&select.from, Direction::Out);
        self.windows(&select.windows);
        select.filter.iter().for_each(|filter| self.expr(filter));
        select.group.iter().for_each(|group| self.group(group));
        self.stream(&select.into, Direction::In);
        select.having.iter().for_each(|having| self.expr(having));
    }

    fn windows(&mut self, windows: &[UsedWindow]) {
        for window in windows {
            self.path(&window.path, &[SymbolKind::Window]);
            window.time.iter().for_each(|setting| self.expr(&setting.value));
        }
    }

    fn group(&mut self, group: &Group) {
        match group {
            Group::Expr(expr) | Group::Each(expr, _) => self.expr(expr),
            Group::Set(groups, _) => groups.iter().for_each(|group| self.group(group)),
        }
    }

    fn chain(&mut self, chain: &Chain, whole: Span) {
        chain.from.iter().for_each(|from| self.stream(from, Direction::Out));
        chain.steps.iter().for_each(|step| self.step(step, whole));
    }

    fn step(&mut self, step: &Step, whole: Span) {
        match &step.kind {
            StepKind::Into(into) if into.port.is_some() => self.stream(into, Direction::In),
            StepKind::Into(into) => self.chain_stream(&into.node, whole),
            StepKind::Script(script) => self.script(script, step.span),
            StepKind::Set(pairs) => {
                for (path, value) in pairs {
                    self.expr(value);
                    self.data_path(path);
                }
            }
            StepKind::Route { arms, default, .. } => {
                for (condition, port) in arms {
                    self.expr(condition);
                    self.chain_stream(port, whole);
                }
                default.iter().for_each(|port| self.chain_stream(port, whole));
            }
            StepKind::When { arms, otherwise } => {
                for (condition, steps) in arms {
                    self.expr(condition);
                    steps.iter().for_each(|step| self.step(step, whole));
                }
                otherwise.iter().flatten().for_each(|step| self.step(step, whole));
            }
            StepKind::Match(matching) => self.chain_match(matching, whole),
            StepKind::Select(select) => self.chain_select(select, whole),
            StepKind::Operator { name, positional, clauses, with } => {
                let kind = name.text();
                self.refer(name.span, Target::OperatorKind(kind.clone()));
                self.exprs(positional);
                for (clause, value) in clauses {
                    let setting = Target::Setting(kind.clone(), clause.text.clone());
                    self.refer(clause.span, setting);
                    match value {
                        Some(value) if clause.text == "else" => self.port_of_else(value, whole),
                        Some(value) => self.expr(value),
                        None => {}
                    }
                }
                self.settings(&kind, &[], with, step.span);
            }
        }
    }

    /// A pattern's name can be read in its guard only: the steps behind it see events.
    fn chain_match(&mut self, matching: &ChainMatch, whole: Span) {
        self.expr(&matching.target);
        let of_event = matches!(&matching.target.kind, ExprKind::Path(path)
            if path.segments.is_empty() && matches!(path.root, PathRoot::Event));
        for arm in &matching.arms {
            let (bound, pattern) = match &arm.pattern.kind {
                PatternKind::Bind(name, inner) => (vec![name], inner.as_ref()),
                _ => (Vec::new(), &arm.pattern),
            };
            self.pattern(pattern, of_event.then_some("event"));
            self.binding(&bound, arm.span, |walk| {
                arm.guard.iter().for_each(|guard| walk.expr(guard));
            });
            arm.steps.iter().for_each(|step| self.step(step, whole));
        }
        let rest = matching.default.iter().flatten();
        rest.for_each(|step| self.step(step, whole));
    }

    /// `else name`: the name of a stream.
    fn port_of_else(&mut self, value: &Expr, whole: Span) {
        match &value.kind {
            ExprKind::Path(path) if path.segments.is_empty() => match &path.root {
                PathRoot::Local(name) => self.chain_stream(name, whole),
                _ => self.expr(value),
            },
            ExprKind::String(text) => {
                if let Some(name) = text.constant() {
                    let name = Ident { text: name.to_string(), span: value.span };
                    self.chain_stream(&name, whole);
                }
            }
            _ => self.expr(value),
        }
    }

    fn chain_select(&mut self, select: &ChainSelect, whole: Span) {
        self.expr(&select.target);
        self.windows(&select.windows);
        select.filter.iter().for_each(|filter| self.expr(filter));
        select.group.iter().for_each(|group| self.group(group));
        select.having.iter().for_each(|having| self.expr(having));
        select.late.iter().for_each(|place| self.chain_stream(place, whole));
    }
}

/// Whether a `create` makes an instance with the name of its definition: they are one name.
fn is_own_definition(create: &Create) -> bool {
    create.from.is_none() && create.kind != CreateKind::Stream
}

fn defined_by(kind: CreateKind) -> Option<SymbolKind> {
    match kind {
        CreateKind::Stream => None,
        CreateKind::Script => Some(SymbolKind::Script),
        CreateKind::Operator => Some(SymbolKind::Operator),
        CreateKind::Pipeline => Some(SymbolKind::Pipeline),
        CreateKind::Connector => Some(SymbolKind::Connector),
    }
}

fn word(kind: CreateKind) -> &'static str {
    match kind {
        CreateKind::Stream => "stream",
        CreateKind::Script => "script",
        CreateKind::Operator => "operator",
        CreateKind::Pipeline => "pipeline",
        CreateKind::Connector => "connector",
    }
}
