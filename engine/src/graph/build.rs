//! From the statements of a query to a graph. Nested pipelines are expanded in place, each with its
//! own names, imports and arguments.

use super::definitions::Namespace;
use super::meter::Metered;
use super::{Graph, Node, Step, complain};
use crate::lookup::NamedTables;
use crate::operator::{ERR, IN, OUT};
use crate::operators;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::{Compiler, Scope};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Create, Define, DefineKind, EndpointRole, Ident, Item, ModPath, PipelineDef, Program, Query,
    Statement, StreamRef,
};
use temblor_lang::value::{Frozen, Value};

/// Pipelines inside of pipelines, at the most.
pub const PIPELINE_DEPTH_MAX: usize = 64;
/// Nodes of one graph, at the most.
pub const NODES_MAX: usize = 100_000;

/// Whose rules hold for names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// tremor's: every body starts without imports, every stream is created before it is used.
    Long,
    /// Temblor's chains: standard modules need no `use`, and a name that nothing defines is an
    /// output port.
    Short,
}

/// Builds graphs with one compiler.
#[derive(Debug)]
pub struct Builder<'c, 'r> {
    pub(super) compiler: &'c mut Compiler<'r>,
    pub(super) graph: Graph,
    pub(super) notation: Notation,
    depth: usize,
    /// Numbers nodes that have no name of their own.
    pub(super) unnamed: usize,
    /// The statement that is being built.
    pub(super) at: Span,
    /// The statements that made the edges, by node and next node.
    spans: HashMap<(usize, usize), Span>,
    /// The nodes of each pipeline and the node of its `err` port, inner pipelines first.
    error_ports: Vec<(Range<usize>, usize)>,
    /// Pipelines that ask for metrics.
    metered: Vec<Metered>,
    /// Definitions that something was made from, by their places.
    pub(super) used: HashSet<Span>,
    /// A definition that nothing uses is being built for its errors: arguments are not known.
    pub(super) rehearsing: bool,
    /// The lookup tables of the program, for operators.
    pub(super) tables: NamedTables,
}

/// How far a graph has been built; see [`Builder::reset`].
#[derive(Debug)]
pub(super) struct Mark {
    nodes: usize,
    error_ports: usize,
    inputs: usize,
    outputs: usize,
    unnamed: usize,
    at: Span,
}

/// A definition and what its body sees where it stands.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub define: Arc<Define>,
    pub scope: Scope,
}

/// The names of one pipeline.
#[derive(Debug, Default)]
pub(super) struct Level {
    pub scope: Scope,
    pub args: Option<Arc<Frozen>>,
    definitions: Vec<Definition>,
    instances: Vec<(String, Instance)>,
    /// In front of node names: `outer/`.
    pub prefix: String,
}

/// What an instance's name stands for.
#[derive(Clone, Debug)]
pub(super) enum Instance {
    Node(usize),
    Input(usize),
    Output(usize),
    /// Inputs and outputs of a nested pipeline.
    Pipeline(Vec<(String, usize)>, Vec<(String, usize)>),
}

impl Level {
    pub fn definition(&self, namespace: Namespace, name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|one| {
            Namespace::of(&one.define.kind) == namespace && one.define.name.text == name
        })
    }

    pub fn names(&self, namespace: Namespace) -> impl Iterator<Item = &str> {
        self.definitions
            .iter()
            .filter(move |one| Namespace::of(&one.define.kind) == namespace)
            .map(|one| one.define.name.text.as_str())
    }

    pub(super) fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.iter()
    }

    pub(super) fn instance(&self, name: &str) -> Option<&Instance> {
        self.instances.iter().find(|(instance, _)| instance == name).map(|(_, one)| one)
    }
}

/// What queries and pipelines define.
const IN_QUERIES: [Namespace; 4] =
    [Namespace::Window, Namespace::Operator, Namespace::Script, Namespace::Pipeline];
/// The default ports of a pipeline.
const DEFAULT_INPUTS: [&str; 1] = [IN];
const DEFAULT_OUTPUTS: [&str; 2] = [OUT, ERR];

impl<'c, 'r> Builder<'c, 'r> {
    /// A builder that reports to `compiler`.
    pub fn new(compiler: &'c mut Compiler<'r>, notation: Notation) -> Self {
        Self {
            compiler,
            graph: Graph::default(),
            notation,
            depth: 0,
            unnamed: 0,
            at: Span::default(),
            spans: HashMap::new(),
            error_ports: Vec::new(),
            metered: Vec::new(),
            used: HashSet::new(),
            rehearsing: false,
            tables: NamedTables::default(),
        }
    }

    /// Operators may use these tables by name.
    #[must_use]
    pub fn with_tables(self, tables: NamedTables) -> Self {
        Self { tables, ..self }
    }

    /// Where the graph stands.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            nodes: self.graph.nodes.len(),
            error_ports: self.error_ports.len(),
            inputs: self.graph.inputs.len(),
            outputs: self.graph.outputs.len(),
            unnamed: self.unnamed,
            at: self.at,
        }
    }

    /// Takes back all that was added since.
    pub(super) fn reset(&mut self, mark: Mark) {
        self.graph.nodes.truncate(mark.nodes);
        // Two flows of one name share the ends of their connectors: older nodes may lead to newer ones.
        for (_, edges) in self.graph.nodes.iter_mut().flat_map(|node| &mut node.edges) {
            edges.retain(|edge| edge.node < mark.nodes);
        }
        self.graph.inputs.truncate(mark.inputs);
        self.graph.outputs.truncate(mark.outputs);
        self.error_ports.truncate(mark.error_ports);
        self.spans.retain(|(from, to), _| *from < mark.nodes && *to < mark.nodes);
        self.unnamed = mark.unnamed;
        self.at = mark.at;
    }

    /// The graph of a query file. Its diagnostics are the compiler's.
    pub fn query(mut self, query: &Query, args: Option<Arc<Frozen>>) -> Graph {
        let mut level = self.level(Scope::default(), args, String::new());
        for name in DEFAULT_INPUTS {
            self.file_input(&mut level, name);
        }
        for name in DEFAULT_OUTPUTS {
            self.file_output(&mut level, name);
        }
        self.statements(query, &mut level);
        self.finish()
    }

    /// The graph of a Temblor file: its sources are further inputs, its sinks further outputs.
    pub fn program(mut self, program: &Program) -> Graph {
        let mut level = self.level(Scope::default(), None, String::new());
        for name in DEFAULT_INPUTS {
            self.file_input(&mut level, name);
        }
        for name in DEFAULT_OUTPUTS {
            self.file_output(&mut level, name);
        }
        for endpoint in &program.endpoints {
            let name = &endpoint.name;
            if endpoint.role == EndpointRole::Table {
                // The name stands for itself wherever the name of a table is wanted.
                let text = Arc::new(Frozen::new(Value::Str(&name.text)));
                level.scope.set_constant(&name.text, text);
                continue;
            }
            match (level.instance(&name.text), endpoint.role == EndpointRole::Source) {
                (None, true) => drop(self.file_input(&mut level, &name.text)),
                (None, false) => drop(self.file_output(&mut level, &name.text)),
                (Some(Instance::Input(_)), true) | (Some(Instance::Output(_)), false) => {}
                (Some(_), _) => {
                    self.complain(complain::name_taken("port", &name.text, name.span));
                }
            }
        }
        let has_sink = program
            .endpoints
            .iter()
            .any(|one| one.role == EndpointRole::Sink && one.name.text == ERR);
        let first = self.graph.nodes.len();
        self.statements(&program.query, &mut level);
        if let (true, Some(Instance::Output(node))) = (has_sink, level.instance(ERR)) {
            self.error_ports.push((first..self.graph.nodes.len(), *node));
        }
        self.finish()
    }

    /// The graph of a pipeline that a flow creates, with its ports as inputs and outputs.
    pub fn pipeline(mut self, def: &PipelineDef, args: Arc<Frozen>) -> Graph {
        let mut level = self.level(Scope::default(), Some(args), String::new());
        for name in port_names(def.from.as_deref(), &DEFAULT_INPUTS) {
            self.file_input(&mut level, &name);
        }
        for name in port_names(def.into.as_deref(), &DEFAULT_OUTPUTS) {
            self.file_output(&mut level, &name);
        }
        self.statements(&def.body, &mut level);
        self.finish()
    }

    pub(super) fn finish(mut self) -> Graph {
        self.say_once();
        for (nodes, errors) in std::mem::take(&mut self.error_ports) {
            self.gather_errors(nodes, errors);
        }
        self.find_cycles();
        self.graph.prune();
        for metered in std::mem::take(&mut self.metered) {
            self.graph.meter_pipeline(&metered);
        }
        self.graph
    }

    /// What is wrong with a definition is said once, however many are made from it.
    fn say_once(&mut self) {
        let mut said = HashSet::new();
        let diagnostics = &mut self.compiler.diagnostics;
        diagnostics.retain(|one| said.insert((one.code, one.span, one.message.clone())));
    }

    /// What fails in a pipeline and is not taken care of there leaves by its `err` port, if that
    /// leads anywhere. Inner pipelines come first, so that the nearest port takes an error.
    fn gather_errors(&mut self, nodes: Range<usize>, errors: usize) {
        let port = &self.graph.nodes[errors];
        if matches!(port.step, Step::Pass) && port.leads_to(OUT).is_empty() {
            return;
        }
        for node in nodes {
            let node_of = &self.graph.nodes[node];
            if matches!(node_of.step, Step::Operator(_)) && node_of.leads_to(ERR).is_empty() {
                self.connect((node, ERR), (errors, IN));
            }
        }
    }

    pub(super) fn complain(&mut self, diagnostic: Diagnostic) {
        self.compiler.diagnostics.push(diagnostic);
    }

    pub(super) fn level(
        &self,
        mut scope: Scope,
        args: Option<Arc<Frozen>>,
        prefix: String,
    ) -> Level {
        scope.prelude |= self.notation == Notation::Short;
        Level { scope, args, prefix, ..Level::default() }
    }

    /// What the body of a script or window sees: nothing in tremor's notation, everything around it
    /// in ours.
    pub(super) fn body_scope(&self, around: &Scope) -> Scope {
        match self.notation {
            Notation::Long => Scope::default(),
            Notation::Short => around.clone(),
        }
    }

    pub(super) fn add_node(&mut self, node: Node) -> usize {
        self.graph.nodes.push(node);
        self.graph.nodes.len() - 1
    }

    pub(super) fn connect(&mut self, from: (usize, &str), to: (usize, &str)) {
        self.spans.insert((from.0, to.0), self.at);
        self.graph.add_edge(from, to);
    }

    fn file_input(&mut self, level: &mut Level, name: &str) -> usize {
        let node = self.add_node(Node::new(name, Step::Pass));
        self.graph.inputs.push((name.to_string(), node));
        level.instances.push((name.to_string(), Instance::Input(node)));
        node
    }

    fn file_output(&mut self, level: &mut Level, name: &str) -> usize {
        self.graph.outputs.push(name.to_string());
        let number = self.graph.outputs.len() - 1;
        let node = self.add_node(Node::new(name, Step::Output(number)));
        level.instances.push((name.to_string(), Instance::Output(node)));
        node
    }

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
                Statement::Create(create) => self.create(create, level),
                Statement::Select(select) => self.select(select, level),
                Statement::Chain(chain) => self.chain(chain, level),
                Statement::Item(item) => self.compiler.define(item, &mut level.scope),
            }
        }
        self.check_unused(level);
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
            let node = self.add_node(Node::new(name, Step::Pass));
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
                let args = self.arguments(&def.args, &create.with, level, create.span);
                let step = self.script(def, &definition, args);
                self.operator_node(create, step, level)
            }
            DefineKind::Operator(def) => {
                let args = self.arguments(&def.args, &create.with, level, create.span);
                let step = self.operator(def, &definition, args);
                let instance = self.operator_node(create, step, level);
                if let (Some(Instance::Node(node)), Some(kind)) =
                    (&instance, operators::find(&def.kind.text()))
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

    fn operator_node(
        &mut self,
        create: &Create,
        step: Option<Step>,
        level: &Level,
    ) -> Option<Instance> {
        let name = format!("{}{}", level.prefix, create.name.text);
        let node = Node::new(name, step?).made_of(create.span);
        Some(Instance::Node(self.add_node(node)))
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
        let args = self.arguments(&def.args, &create.with, level, create.span);
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

    /// Node and port that events of `from` come out of.
    pub(super) fn source(
        &mut self,
        from: &StreamRef,
        level: &mut Level,
    ) -> Option<(usize, String)> {
        let port = from.port.as_ref().map(|port| port.text.as_str());
        match level.instance(&from.node.text).cloned() {
            Some(Instance::Node(node)) => Some((node, port.unwrap_or(OUT).to_string())),
            Some(Instance::Input(node)) => match port {
                None => Some((node, OUT.to_string())),
                Some(port) if level.prefix.is_empty() => {
                    Some((self.extra_input(level, &from.node.text, port), OUT.to_string()))
                }
                Some(port) => self.no_port(&from.node, port, &[], from.span),
            },
            Some(Instance::Pipeline(_, outputs)) => {
                let port = port.unwrap_or(OUT);
                match outputs.iter().find(|(name, _)| name == port) {
                    Some((_, node)) => Some((*node, OUT.to_string())),
                    None => self.no_port(&from.node, port, &outputs, from.span),
                }
            }
            Some(Instance::Output(_)) => {
                self.complain(complain::cycle(&[&from.node.text, "…", &from.node.text], from.span));
                None
            }
            None => self.no_stream(from, port.unwrap_or(OUT), level),
        }
    }

    /// Node and port that events for `into` go to.
    pub(super) fn sink(&mut self, into: &StreamRef, level: &mut Level) -> Option<(usize, String)> {
        let port = into.port.as_ref().map(|port| port.text.as_str());
        match level.instance(&into.node.text).cloned() {
            Some(Instance::Node(node)) => Some((node, port.unwrap_or(IN).to_string())),
            Some(Instance::Output(node)) => match port {
                None => Some((node, IN.to_string())),
                Some(port) if level.prefix.is_empty() => {
                    Some((self.extra_output(level, port), IN.to_string()))
                }
                Some(port) => self.no_port(&into.node, port, &[], into.span),
            },
            Some(Instance::Pipeline(inputs, _)) => {
                let port = port.unwrap_or(IN);
                match inputs.iter().find(|(name, _)| name == port) {
                    Some((_, node)) => Some((*node, IN.to_string())),
                    None => self.no_port(&into.node, port, &inputs, into.span),
                }
            }
            Some(Instance::Input(_)) => {
                self.complain(complain::cycle(&[&into.node.text, "…", &into.node.text], into.span));
                None
            }
            None if self.notation == Notation::Short && port.is_none() => {
                Some((self.file_output(level, &into.node.text), IN.to_string()))
            }
            None => self.no_stream(into, port.unwrap_or(IN), level),
        }
    }

    /// `in/name` at the level of the file: an input of its own.
    fn extra_input(&mut self, level: &mut Level, node: &str, port: &str) -> usize {
        let name = format!("{node}/{port}");
        match level.instance(&name) {
            Some(Instance::Input(node)) => *node,
            _ => {
                let number = self.add_node(Node::new(port, Step::Pass));
                self.graph.inputs.push((port.to_string(), number));
                level.instances.push((name, Instance::Input(number)));
                number
            }
        }
    }

    /// `out/name` at the level of the file: an output of its own.
    fn extra_output(&mut self, level: &mut Level, port: &str) -> usize {
        let name = format!("{OUT}/{port}");
        if let Some(Instance::Output(node)) = level.instance(&name) {
            return *node;
        }
        let number = match self.graph.outputs.iter().position(|output| output == port) {
            Some(number) => number,
            None => {
                self.graph.outputs.push(port.to_string());
                self.graph.outputs.len() - 1
            }
        };
        let node = self.add_node(Node::new(port, Step::Output(number)));
        level.instances.push((name, Instance::Output(node)));
        node
    }

    fn no_port<T>(
        &mut self,
        node: &Ident,
        port: &str,
        known: &[(String, usize)],
        span: Span,
    ) -> Option<T> {
        let known = known.iter().map(|(name, _)| name.as_str());
        self.complain(complain::unknown_port(&node.text, port, span, known));
        None
    }

    fn no_stream<T>(&mut self, stream: &StreamRef, port: &str, level: &Level) -> Option<T> {
        let known = level.instances.iter().map(|(name, _)| name.as_str());
        let complaint = complain::stream_not_defined(&stream.node.text, port, stream.span, known);
        self.complain(complaint);
        None
    }

    /// Reports one cycle, if there is one.
    fn find_cycles(&mut self) {
        let order = self.graph.upstream_first();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, number)| place[*number] = at);
        let back = self.graph.nodes.iter().enumerate().find_map(|(number, node)| {
            let edges = node.edges.iter().flat_map(|(_, edges)| edges);
            let back = edges.map(|edge| edge.node).find(|next| place[*next] <= place[number]);
            back.map(|next| (number, next))
        });
        if let Some((from, to)) = back {
            let names = [self.graph.nodes[to].name.clone(), self.graph.nodes[from].name.clone()];
            let span = self.spans.get(&(from, to)).copied().unwrap_or_default();
            self.complain(complain::cycle(&[&names[0], "…", &names[1], &names[0]], span));
        }
    }
}

impl Graph {
    /// Cuts off what leads to no output: it could not be seen.
    fn prune(&mut self) {
        let mut useful: Vec<_> =
            self.nodes.iter().map(|node| matches!(node.step, Step::Output(_))).collect();
        for number in self.upstream_first().into_iter().rev() {
            let edges = self.nodes[number].edges.iter().flat_map(|(_, edges)| edges);
            let leads_out = edges.map(|edge| edge.node).any(|next| useful[next]);
            useful[number] |= leads_out;
        }
        for node in &mut self.nodes {
            for (_, edges) in &mut node.edges {
                edges.retain(|edge| useful[edge.node]);
            }
        }
    }
}

fn port_names(written: Option<&[Ident]>, default: &[&str]) -> Vec<String> {
    match written {
        Some(ports) => ports.iter().map(|port| port.text.clone()).collect(),
        None => default.iter().map(ToString::to_string).collect(),
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
