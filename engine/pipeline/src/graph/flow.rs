//! Flows: the pipelines of all deployed flows become one graph. What a connector gives is an input
//! of the graph, what it takes an output, both named `flow::connector/port`.

use super::build::{Builder, Definition, Instance, Level};
use super::definitions::Namespace;
use super::{Graph, Node, Step, complain};
use crate::operator::{IN, OUT};
use std::sync::Arc;
use temblor_lang::diagnostic::{Class, Diagnostic, Severity};
use temblor_lang::lower::Scope;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Connect, ConnectorDef, Create, CreateKind, Define, DefineKind, Deploy, DeployFlow,
    DeployStatement, Endpoint, FlowDef, FlowStatement, ModPath,
};
use temblor_lang::value::{Arena, Frozen};

/// A connector that a deployed flow creates.
#[derive(Debug)]
pub struct FlowConnector {
    /// `flow::name`, as in `source` of decode errors.
    pub name: String,
    /// What it is made from.
    pub definition: Arc<Define>,
    /// What the definition sees.
    pub scope: Scope,
    /// Its arguments.
    pub args: Arc<Frozen>,
    /// Output ports of the connector that are connected; inputs of the graph.
    pub gives: Vec<FlowPort>,
    /// Input ports of the connector that are connected; outputs of the graph.
    pub takes: Vec<FlowPort>,
    /// Where it is created.
    pub span: Span,
    /// Its arguments are wrong, which has been reported.
    pub faulty: bool,
}

/// A connected port of a connector.
#[derive(Clone, Debug)]
pub struct FlowPort {
    /// The port as the connector calls it.
    pub name: String,
    /// The input or output of the graph.
    pub end: String,
    /// Where it is connected.
    pub span: Span,
}

impl FlowConnector {
    /// Its definition.
    #[must_use]
    pub fn def(&self) -> Option<&ConnectorDef> {
        match &self.definition.kind {
            DefineKind::Connector(def) => Some(def),
            _ => None,
        }
    }
}

/// The graph of a deploy file and what is at its ends.
#[derive(Debug, Default)]
pub struct Flows {
    /// All pipelines.
    pub graph: Graph,
    /// All connectors.
    pub connectors: Vec<FlowConnector>,
    /// How many flows are deployed.
    pub deployed: usize,
    /// The names of their arguments.
    arguments: Vec<String>,
}

/// What one flow has created.
#[derive(Debug, Default)]
pub(super) struct Created {
    connectors: Vec<FlowConnector>,
    /// Pipelines, and whether something is connected to them.
    pipelines: Vec<(String, Span, bool)>,
}

/// The flow that a statement defines.
fn flow(statement: &DeployStatement) -> Option<&Define> {
    match statement {
        DeployStatement::Define(define) if matches!(define.kind, DefineKind::Flow(_)) => {
            Some(define)
        }
        _ => None,
    }
}

/// The flow that a file without a deployment stands for: `main`, or the only one.
fn lone(deploy: &Deploy) -> Option<&Define> {
    let all: Vec<&Define> = deploy.statements.iter().filter_map(flow).collect();
    let main = all.iter().find(|one| one.name.text == "main");
    main.copied().or_else(|| all.first().copied().filter(|_| all.len() == 1))
}

impl Builder<'_, '_> {
    /// The graph of a deploy file. `args` overrides the arguments of the flows by name.
    pub fn deploy(mut self, deploy: &Deploy, given: Option<&Frozen>) -> Flows {
        let mut level = self.level(Scope::default(), None, String::new());
        let mut flows = Flows::default();
        let mut names: Vec<String> = Vec::new();
        for statement in &deploy.statements {
            match statement {
                DeployStatement::Use(import) => self.compiler.import(import, &mut level.scope),
                DeployStatement::Define(define) => {
                    self.check_place(define, &[Namespace::Flow], "a deploy file defines flows");
                    self.define(define, &mut level);
                }
                DeployStatement::Deploy(deploy) => {
                    if names.contains(&deploy.name.text) {
                        let name = &deploy.name;
                        self.complain(complain::name_taken("flow", &name.text, name.span));
                    }
                    names.push(deploy.name.text.clone());
                    self.deploy_flow(deploy, &level, given, &mut flows);
                }
            }
        }
        if let (Some(lone), true, true) = (lone(deploy), names.is_empty(), given.is_some()) {
            // As in an archive, arguments from outside deploy the flow that there is.
            let (name, span) = (lone.name.clone(), lone.name.span);
            let (docs, from, with) = (lone.docs.clone(), None, Vec::new());
            names.push(name.text.clone());
            let deployed = DeployFlow { docs, name, from, with, span };
            self.deploy_flow(&deployed, &level, given, &mut flows);
        }
        self.check_given(given, &flows);
        self.check_unused(&level);
        flows.deployed = names.len();
        flows.graph = self.finish();
        flows
    }

    /// Reports arguments given from outside that no deployed flow has.
    fn check_given(&mut self, given: Option<&Frozen>, flows: &Flows) {
        let arena = Arena::new();
        let given = given.map(|given| given.get().copy_into(&arena));
        let record = given.and_then(|given| given.as_record(&arena));
        for (name, _) in record.iter().flat_map(|record| record.iter()) {
            if !flows.arguments.iter().any(|known| known == name) {
                let known = flows.arguments.iter().map(String::as_str);
                let complaint = complain::unknown_argument(name, Span::default(), known);
                let label = "given from outside; no deployed flow declares it";
                self.complain(complaint.with_label(label));
            }
        }
    }

    fn errors(&self) -> usize {
        let is_error = |one: &&Diagnostic| one.severity == Severity::Error;
        self.compiler.diagnostics.iter().filter(is_error).count()
    }

    fn deploy_flow(
        &mut self,
        deploy: &DeployFlow,
        level: &Level,
        given: Option<&Frozen>,
        flows: &mut Flows,
    ) {
        let own = ModPath { segments: vec![deploy.name.clone()], span: deploy.name.span };
        let path = deploy.from.as_ref().unwrap_or(&own);
        let Some(definition) = self.definition(Namespace::Flow, path, level) else { return };
        let DefineKind::Flow(def) = &definition.define.kind else { return };
        flows.arguments.extend(def.args.iter().map(|one| one.name.text.clone()));
        let before = self.errors();
        let args = self.arguments_with(&def.args, &deploy.with, level, deploy.span, given);
        if self.errors() > before {
            return;
        }
        let prefix = format!("{}/", deploy.name.text);
        let mut inner = self.level(definition.scope.clone(), Some(args), prefix);
        let created = self.flow(def, &deploy.name.text, &mut inner);
        flows.connectors.extend(created.connectors);
    }

    pub(super) fn flow(&mut self, def: &FlowDef, flow: &str, level: &mut Level) -> Created {
        let mut created = Created::default();
        for statement in &def.statements {
            self.at = span_of(statement);
            match statement {
                FlowStatement::Use(import) => self.compiler.import(import, &mut level.scope),
                FlowStatement::Define(define) => {
                    let kinds = [Namespace::Connector, Namespace::Pipeline];
                    self.check_place(define, &kinds, "a flow defines connectors and pipelines");
                    self.define(define, level);
                }
                FlowStatement::Create(create) => {
                    self.flow_create(create, flow, level, &mut created);
                }
                FlowStatement::Connect(_) => {}
            }
        }
        // Connections may stand before what they connect, as in tremor.
        for statement in &def.statements {
            if let FlowStatement::Connect(connect) = statement {
                self.at = connect.span;
                let before = self.compiler.diagnostics.len();
                self.connect_ports(connect, level, &mut created);
                if self.rehearsing {
                    // As in tremor, ports are looked for only when a flow starts.
                    for one in &mut self.compiler.diagnostics[before..] {
                        one.severity = Severity::Warning;
                        one.class = Class::General;
                    }
                }
            }
        }
        self.check_created(&created);
        self.check_unused(level);
        created
    }

    fn flow_create(
        &mut self,
        create: &Create,
        flow: &str,
        level: &mut Level,
        created: &mut Created,
    ) {
        let own = ModPath { segments: vec![create.name.clone()], span: create.name.span };
        let path = create.from.as_ref().unwrap_or(&own);
        let name = &create.name;
        match create.kind {
            CreateKind::Connector => {
                if created.connectors.iter().any(|one| local_name(&one.name) == name.text) {
                    let complaint = complain::name_taken("connector", &name.text, name.span);
                    return self.complain(complaint);
                }
                let found = self.definition(Namespace::Connector, path, level);
                let Some(Definition { define, scope }) = found else { return };
                let DefineKind::Connector(def) = &define.kind else { return };
                if self.rehearsing {
                    // Those of deployed flows are judged when the connector is made.
                    self.connector_keys(def);
                }
                let before = self.errors();
                let args = self.arguments(&def.args, &create.with, level, create.span);
                let faulty = self.errors() > before;
                created.connectors.push(FlowConnector {
                    name: format!("{flow}::{}", name.text),
                    definition: define.clone(),
                    scope,
                    args,
                    gives: Vec::new(),
                    takes: Vec::new(),
                    span: create.span,
                    faulty,
                });
            }
            CreateKind::Pipeline => {
                created.pipelines.push((name.text.clone(), name.span, false));
                self.create(create, level);
            }
            _ => self.complain(complain::not_in_flow(create.span)),
        }
    }

    fn connect_ports(&mut self, connect: &Connect, level: &mut Level, created: &mut Created) {
        let from = match connect.from.kind {
            CreateKind::Connector => self.connector_gives(&connect.from, created),
            _ => self.pipeline_port(&connect.from, level, created, OUT),
        };
        let to = match connect.to.kind {
            CreateKind::Connector => self.connector_takes(&connect.to, created),
            _ => self.pipeline_port(&connect.to, level, created, IN),
        };
        if let (Some(from), Some(to)) = (from, to) {
            self.connect((from, OUT), (to, IN));
        }
    }

    /// The node of an output port of a connector.
    fn connector_gives(&mut self, end: &Endpoint, created: &mut Created) -> Option<usize> {
        let port = end.port.as_ref().map_or(OUT, |port| port.text.as_str());
        let span = end.span;
        let connector = self.connector(end, created)?;
        let input = format!("{}/{port}", connector.name);
        if !connector.gives.iter().any(|known| known.name == port) {
            let (name, end) = (port.to_string(), input.clone());
            connector.gives.push(FlowPort { name, end, span });
        }
        // A source always has its `out`, also when only its errors are of interest.
        let out = format!("{}/{OUT}", connector.name);
        self.flow_input(&out);
        Some(self.flow_input(&input))
    }

    fn flow_input(&mut self, name: &str) -> usize {
        if let Some(node) = self.graph.input(name) {
            return node;
        }
        let node = self.add_node(Node::new(name, Step::Pass));
        self.graph.inputs.push((name.to_string(), node));
        node
    }

    /// The node of an input port of a connector.
    fn connector_takes(&mut self, end: &Endpoint, created: &mut Created) -> Option<usize> {
        let port = end.port.as_ref().map_or(IN, |port| port.text.as_str());
        let span = end.span;
        let connector = self.connector(end, created)?;
        let output = format!("{}/{port}", connector.name);
        if !connector.takes.iter().any(|known| known.name == port) {
            let (name, end) = (port.to_string(), output.clone());
            connector.takes.push(FlowPort { name, end, span });
        }
        if let Some(number) = self.graph.outputs.iter().position(|name| *name == output) {
            let same = |node: &Node| matches!(node.step, Step::Output(one) if one == number);
            return self.graph.nodes.iter().position(same);
        }
        self.graph.outputs.push(output.clone());
        let number = self.graph.outputs.len() - 1;
        Some(self.add_node(Node::new(output, Step::Output(number))))
    }

    fn connector<'x>(
        &mut self,
        end: &Endpoint,
        created: &'x mut Created,
    ) -> Option<&'x mut FlowConnector> {
        let name = &end.name;
        let place = created.connectors.iter().position(|one| local_name(&one.name) == name.text);
        if place.is_none() {
            let known = created.connectors.iter().map(|one| local_name(&one.name));
            self.complain(complain::not_defined("connector", &name.text, name.span, known));
        }
        created.connectors.get_mut(place?)
    }

    /// The node of a port of a pipeline; `default` is the port where none is written.
    fn pipeline_port(
        &mut self,
        end: &Endpoint,
        level: &Level,
        created: &mut Created,
        default: &str,
    ) -> Option<usize> {
        let name = &end.name;
        let Some(pipeline) = created.pipelines.iter_mut().find(|(one, ..)| *one == name.text)
        else {
            let known = created.pipelines.iter().map(|(one, ..)| one.as_str());
            self.complain(complain::not_defined("pipeline", &name.text, name.span, known));
            return None;
        };
        pipeline.2 = true;
        let Some(Instance::Pipeline(inputs, outputs)) = level.instance(&name.text) else {
            return None;
        };
        let ports = if default == IN { inputs } else { outputs };
        let port = end.port.as_ref().map_or(default, |port| port.text.as_str());
        let found = ports.iter().find(|(one, _)| one == port).map(|(_, node)| *node);
        if found.is_none() {
            let known = ports.iter().map(|(one, _)| one.as_str());
            self.complain(complain::unknown_port(&name.text, port, end.span, known));
        }
        found
    }

    fn check_created(&mut self, created: &Created) {
        for (name, span, connected) in &created.pipelines {
            if !connected {
                self.complain(complain::unconnected("pipeline", name, *span));
            }
        }
        for one in &created.connectors {
            if one.gives.is_empty() && one.takes.is_empty() {
                self.complain(complain::unconnected("connector", local_name(&one.name), one.span));
            }
        }
    }
}

/// `flow::name` without the flow.
fn local_name(name: &str) -> &str {
    name.split_once("::").map_or(name, |(_, local)| local)
}

fn span_of(statement: &FlowStatement) -> Span {
    match statement {
        FlowStatement::Use(import) => import.span,
        FlowStatement::Define(define) => define.span,
        FlowStatement::Create(create) => create.span,
        FlowStatement::Connect(connect) => connect.span,
    }
}
