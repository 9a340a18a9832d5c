//! The statements of one query or pipeline: definitions are kept, instances become nodes, and a nested
//! pipeline becomes the nodes of its body.

use super::build::{
    Builder, DEFAULT_INPUTS, DEFAULT_OUTPUTS, Definition, Instance, Level, NODES_MAX, Notation,
    PIPELINE_DEPTH_MAX, port_names,
};
use super::definitions::Namespace;
use super::identity::Identity;
use super::meter::Metered;
use super::names::undeclared;
use super::{Node, Step, complain};
use crate::operator::ERR;
use std::sync::Arc;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    ArgDecl, Create, CreateKind, Define, DefineKind, ExprKind, Item, ModPath, PipelineDef, Query,
    Statement,
};
use temblor_lang::value::Frozen;

/// What queries and pipelines define.
const IN_QUERIES: [Namespace; 4] =
    [Namespace::Window, Namespace::Operator, Namespace::Script, Namespace::Pipeline];

impl Builder<'_, '_> {
    pub(super) fn statements(&mut self, query: &Query, level: &mut Level) {
        for directive in &query.config {
            // Which directives there are is nobody's business; their values must be constant.
            let value = self.known(&directive.value, level);
            let interval = value.get().as_u64().filter(|interval_s| *interval_s > 0);
            if let ("metrics_interval_s", Some(interval_s), false) =
                (directive.name.text.as_str(), interval, self.rehearsing || level.prefix.is_empty())
            {
                self.metered.push(Metered { prefix: level.prefix.clone(), interval_s });
            }
        }
        if self.notation == Notation::Short {
            self.names_of_chains(query, level);
        }
        for statement in &query.statements {
            if self.graph.nodes.len() > NODES_MAX {
                return self.complain(complain::nested_too_deep(NODES_MAX, Span::default()));
            }
            self.at = span_of(statement);
            match statement {
                Statement::Use(import) => self.compiler.import(import, &mut level.scope),
                Statement::Define(define) => {
                    self.check_place(
                        define,
                        &IN_QUERIES,
                        "deploy files define flows, flows define connectors",
                    );
                    self.define(define, level);
                }
                // Streams are there already.
                Statement::Create(create)
                    if self.notation == Notation::Short && create.kind == CreateKind::Stream => {}
                Statement::Create(create) => self.create_statement(create, level),
                Statement::Select(select) => self.select(select, level),
                Statement::Chain(chain) => self.chain(chain, level),
                Statement::Item(item) => self.compiler.define(item, &mut level.scope),
            }
        }
        self.check_unused(level);
        self.check_late(level);
    }

    /// What holds for chains from the first on: streams, wherever they are created, and the streams
    /// and ports that need no `create`.
    fn names_of_chains(&mut self, query: &Query, level: &mut Level) {
        for create in query.statements.iter().filter_map(created) {
            if create.kind == CreateKind::Stream {
                self.create_statement(create, level);
            } else {
                level.later.insert(create.name.text.clone());
            }
        }
        let is_declared = |name: &str| level.later.contains(name) || level.instance(name).is_some();
        let (streams, ports) = undeclared(query, self.registry, is_declared);
        level.ports = ports;
        for stream in streams {
            let (kind, span) = (CreateKind::Stream, stream.span);
            let create = Create { kind, name: stream, from: None, with: Vec::new(), span };
            self.create(&create, level);
        }
    }

    fn create_statement(&mut self, create: &Create, level: &mut Level) {
        self.create(create, level);
        let path = create.from.as_ref().map_or(create.name.text.as_str(), |from| {
            from.segments.last().map_or("", |name| name.text.as_str())
        });
        let drops =
            level.definition(Namespace::Script, path).is_some_and(|one| drops_all(&one.define));
        if let (Some(Instance::Node(node)), false) = (level.instance(&create.name.text), drops) {
            self.created.push(*node);
        }
    }

    /// Reports a definition that does not belong here.
    pub(super) fn check_place(&mut self, define: &Define, kinds: &[Namespace], rule: &str) {
        let namespace = Namespace::of(&define.kind);
        if !kinds.contains(&namespace) {
            let complaint = complain::misplaced(namespace.word(), rule, define.name.span);
            self.complain(complaint);
        }
    }

    pub(super) fn define(&mut self, define: &Define, level: &mut Level) {
        let namespace = Namespace::of(&define.kind);
        if level.definition(namespace, &define.name.text).is_some() {
            let name = &define.name;
            self.complain(complain::name_taken(namespace.word(), &name.text, name.span));
        }
        match &define.kind {
            DefineKind::Window(window) => self.check_window_kind(&window.kind),
            DefineKind::Operator(operator)
                if self.notation == Notation::Long && operator.kind.segments.len() != 2 =>
            {
                let (path, span) = (operator.kind.text(), operator.kind.span);
                self.complain(complain::operator_path(&path, span));
            }
            _ => {}
        }
        let scope = level.scope.clone();
        level.definitions.push(Definition { define: Arc::new(define.clone()), scope });
    }

    pub(super) fn create(&mut self, create: &Create, level: &mut Level) {
        if level.instance(&create.name.text).is_some() {
            let name = &create.name;
            return self.complain(complain::name_taken("node", &name.text, name.span));
        }
        let Some(namespace) = Namespace::created(create.kind) else {
            let name = format!("{}{}", level.prefix, create.name.text);
            let node = self.add_node(Node::new(name, Step::Pass).made_of(create.span));
            level.streams.insert(create.name.text.clone());
            return level.instances.push((create.name.text.clone(), Instance::Node(node)));
        };
        if namespace == Namespace::Connector {
            return self.complain(complain::connector_in_pipeline(create.span));
        }
        let own = ModPath { segments: vec![create.name.clone()], span: create.name.span };
        let path = create.from.as_ref().unwrap_or(&own);
        let Some(definition) = self.definition(namespace, path, level) else { return };
        let instance = match &definition.define.kind {
            DefineKind::Script(def) => {
                let args = self.arguments_of(&def.args, create, level);
                let step = self.script(def, &definition, args);
                let identity = self.identity(create, Identity::of_script(def), level);
                self.operator_node(create, step, identity, level)
            }
            DefineKind::Operator(def) => {
                let args = self.arguments_of(&def.args, create, level);
                let step = self.operator(def, &definition, args);
                let rows =
                    self.registry.operator(&def.kind.text()).map_or(&[][..], |kind| kind.settings);
                let identity = self.identity(create, Identity::of_operator(def, rows), level);
                let instance = self.operator_node(create, step, identity, level);
                if let (Some(Instance::Node(node)), Some(kind)) =
                    (&instance, self.registry.operator(&def.kind.text()))
                {
                    self.graph.nodes[*node].fallbacks = kind.fallbacks;
                }
                instance
            }
            DefineKind::Pipeline(def) => self.nest(def, &definition, create, level),
            _ => None,
        };
        // Also a node that failed keeps its name, so that its uses are not reported.
        let instance = instance.unwrap_or_else(|| {
            Instance::Node(self.add_node(Node::new(&create.name.text, Step::Pass)))
        });
        level.instances.push((create.name.text.clone(), instance));
    }

    /// The arguments of an instance. In our own notation a definition without `args` sees those around.
    fn arguments_of(
        &mut self,
        declared: &[ArgDecl],
        create: &Create,
        level: &Level,
    ) -> Arc<Frozen> {
        match &level.args {
            Some(around)
                if self.notation == Notation::Short
                    && declared.is_empty()
                    && create.with.is_empty() =>
            {
                around.clone()
            }
            _ => self.arguments(declared, &create.with, level, create.span),
        }
    }

    fn operator_node(
        &mut self,
        create: &Create,
        step: Option<Step>,
        identity: Identity,
        level: &Level,
    ) -> Option<Instance> {
        let name = format!("{}{}", level.prefix, create.name.text);
        let node = Node { identity, ..Node::new(name, step?).made_of(create.span) };
        Some(Instance::Node(self.add_node(node)))
    }

    /// By what the state of an instance is found again.
    fn identity(&self, create: &Create, identity: Identity, level: &Level) -> Identity {
        let name = format!("{}{}", level.prefix, create.name.text);
        let name = Some(name).filter(|name| !self.made_up.contains(name));
        Identity { name, path: level.prefix.clone(), ..identity.with(&create.with) }
    }

    fn nest(
        &mut self,
        def: &PipelineDef,
        definition: &Definition,
        create: &Create,
        level: &Level,
    ) -> Option<Instance> {
        if self.depth >= PIPELINE_DEPTH_MAX {
            self.complain(complain::nested_too_deep(PIPELINE_DEPTH_MAX, create.span));
            return None;
        }
        let args = self.arguments_of(&def.args, create, level);
        let prefix = format!("{}{}/", level.prefix, create.name.text);
        let scope = self.body_scope(&definition.scope);
        let mut inner = self.level(scope, self.args_of(&args), prefix);
        Some(self.nest_body(def, &mut inner))
    }

    /// The nodes of a pipeline whose scope and arguments are set.
    pub(super) fn nest_body(&mut self, def: &PipelineDef, inner: &mut Level) -> Instance {
        let mut inputs = Vec::new();
        let mut outputs = Vec::new();
        for name in port_names(def.from.as_deref(), &DEFAULT_INPUTS) {
            let node = self.add_node(Node::new(format!("{}{name}", inner.prefix), Step::Pass));
            inner.instances.push((name.clone(), Instance::Input(node)));
            inputs.push((name, node));
        }
        for name in port_names(def.into.as_deref(), &DEFAULT_OUTPUTS) {
            let node = self.add_node(Node::new(format!("{}{name}", inner.prefix), Step::Pass));
            inner.instances.push((name.clone(), Instance::Output(node)));
            if name != ERR {
                self.pipeline_ends.push((node, self.at));
            }
            outputs.push((name, node));
        }
        self.depth += 1;
        let first = self.graph.nodes.len();
        self.statements(&def.body, inner);
        self.depth -= 1;
        if let Some((_, node)) = outputs.iter().find(|(name, _)| name == ERR) {
            self.error_ports.push((first..self.graph.nodes.len(), *node));
        }
        Instance::Pipeline(inputs, outputs)
    }
}

/// Whether a definition is that of a script that does nothing but `drop`: nothing is to come out of it.
fn drops_all(define: &Define) -> bool {
    let DefineKind::Script(def) = &define.kind else { return false };
    matches!(def.main.items.as_slice(), [Item::Expr(only)] if matches!(only.kind, ExprKind::Drop))
}

fn created(statement: &Statement) -> Option<&Create> {
    match statement {
        Statement::Create(create) => Some(create),
        _ => None,
    }
}

fn span_of(statement: &Statement) -> Span {
    match statement {
        Statement::Use(import) => import.span,
        Statement::Item(item) => item_span(item),
        Statement::Define(define) => define.span,
        Statement::Create(create) => create.span,
        Statement::Select(select) => select.span,
        Statement::Chain(chain) => chain.span,
    }
}

fn item_span(item: &Item) -> Span {
    match item {
        Item::Use(import) => import.span,
        Item::Const(def) => def.span,
        Item::Fn(def) => def.span,
        Item::Intrinsic(def) => def.span,
        Item::Expr(expr) => expr.span,
        Item::Define(define) => define.span,
    }
}
