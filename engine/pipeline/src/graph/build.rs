//! From the statements of a query to a graph. Nested pipelines are expanded in place, each with its
//! own names, imports and arguments.

use super::definitions::Namespace;
use super::meter::Metered;
use super::{Graph, Node, Step, complain, is_of_partition};
use crate::lookup::NamedTables;
use crate::operator::{ERR, IN, OUT};
use crate::registry::Registry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::{Compiler, Scope};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Define, EndpointDef, EndpointRole, Ident, PipelineDef, Program, Query,
};
use temblor_lang::value::{Frozen, Value};

/// Pipelines inside of pipelines, at the most.
pub(super) const PIPELINE_DEPTH_MAX: usize = 64;
/// Nodes of one graph, at the most.
pub(super) const NODES_MAX: usize = 100_000;

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
    /// The operators that a program may name.
    pub(super) registry: &'static Registry,
    pub(super) graph: Graph,
    pub(super) notation: Notation,
    pub(super) depth: usize,
    /// Numbers nodes that have no name of their own.
    pub(super) unnamed: usize,
    /// The sinks whose answers chains go on with.
    pub(super) asked: Vec<String>,
    /// Names of nodes that the program did not give.
    pub(super) made_up: HashSet<String>,
    /// Selects that the program named, by their places.
    pub(super) named_selects: HashMap<Span, String>,
    /// Ports by which pipelines are left, and the statements that made the pipelines.
    pub(super) pipeline_ends: Vec<(usize, Span)>,
    /// Nodes that a `create` of the program made.
    pub(super) created: Vec<usize>,
    /// The statement that is being built.
    pub(super) at: Span,
    /// The statements that made the edges, by node and next node.
    pub(super) spans: HashMap<(usize, usize), Span>,
    /// The nodes of each pipeline and the node of its `err` port, inner pipelines first.
    pub(super) error_ports: Vec<(Range<usize>, usize)>,
    /// Pipelines that ask for metrics.
    pub(super) metered: Vec<Metered>,
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
    asked: usize,
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
    pub(super) definitions: Vec<Definition>,
    pub(super) instances: Vec<(String, Instance)>,
    /// In front of node names: `outer/`.
    pub prefix: String,
    /// Instances that are streams.
    pub(super) streams: HashSet<String>,
    /// The nodes of selects over event time, by the stream that they write to.
    pub(super) timed: Vec<(String, usize)>,
    /// Streams whose late events are read, and where that stands.
    pub(super) late: Vec<(String, Span)>,
    /// Names of scripts, operators and pipelines that its statements create.
    pub(super) later: HashSet<String>,
    /// Ports that nothing declares, but an `else` or a `route` names.
    pub(super) ports: HashSet<String>,
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
    pub(super) fn definition(&self, namespace: Namespace, name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|one| {
            Namespace::of(&one.define.kind) == namespace && one.define.name.text == name
        })
    }

    pub(super) fn names(&self, namespace: Namespace) -> impl Iterator<Item = &str> {
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

/// The default ports of a pipeline.
pub(super) const DEFAULT_INPUTS: [&str; 1] = [IN];
pub(super) const DEFAULT_OUTPUTS: [&str; 2] = [OUT, ERR];

impl<'c, 'r> Builder<'c, 'r> {
    /// A builder that reports to `compiler`.
    pub fn new(
        compiler: &'c mut Compiler<'r>,
        registry: &'static Registry,
        notation: Notation,
    ) -> Self {
        Self {
            compiler,
            registry,
            graph: Graph::default(),
            notation,
            depth: 0,
            unnamed: 0,
            asked: Vec::new(),
            made_up: HashSet::new(),
            named_selects: HashMap::new(),
            pipeline_ends: Vec::new(),
            created: Vec::new(),
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
            asked: self.asked.len(),
            at: self.at,
        }
    }

    /// Takes back all that was added since.
    pub(super) fn reset(&mut self, mark: Mark) {
        self.graph.nodes.truncate(mark.nodes);
        self.created.retain(|node| *node < mark.nodes);
        self.pipeline_ends.retain(|(node, _)| *node < mark.nodes);
        // Two flows of one name share the ends of their connectors: older nodes may lead to newer ones.
        for (_, edges) in self.graph.nodes.iter_mut().flat_map(|node| &mut node.edges) {
            edges.retain(|edge| edge.node < mark.nodes);
        }
        self.graph.inputs.truncate(mark.inputs);
        self.graph.outputs.truncate(mark.outputs);
        self.error_ports.truncate(mark.error_ports);
        self.spans.retain(|(from, to), _| *from < mark.nodes && *to < mark.nodes);
        self.unnamed = mark.unnamed;
        self.asked.truncate(mark.asked);
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
    pub fn program(mut self, program: &Program, errors_leave: bool) -> Graph {
        let args = self.compiler.program_args.clone();
        let mut level = self.level(Scope::default(), args, String::new());
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
        let has_sink = errors_leave
            || program
                .endpoints
                .iter()
                .any(|one| one.role == EndpointRole::Sink && one.name.text == ERR);
        let first = self.graph.nodes.len();
        self.statements(&program.query, &mut level);
        self.find_hungry_input(program, &level);
        for endpoint in &program.endpoints {
            let row =
                self.registry.connector(&endpoint.kind.text, temblor_declare::Notation::Temblor);
            for key in row.map_or(&[][..], |row| row.meta) {
                self.compiler.metadata_is_written(Some(key));
            }
        }
        // The `err` port of a source.
        self.compiler.metadata_is_written(Some("error"));
        self.compiler.end_metadata();
        if let (true, Some(Instance::Output(node))) = (has_sink, level.instance(ERR)) {
            self.error_ports.push((first..self.graph.nodes.len(), *node));
        }
        self.finish()
    }

    /// Warns of statements that read from `in` where all events come from sources of other names: the command
    /// line feeds `in` only where the file declares no source.
    fn find_hungry_input(&mut self, program: &Program, level: &Level) {
        let is_declared = |one: &&EndpointDef| {
            one.role == EndpointRole::Source && !is_of_partition(&one.name.text)
        };
        let mut sources = program.endpoints.iter().filter(is_declared).peekable();
        let Some(first) = sources.peek().map(|one| one.name.text.clone()) else { return };
        let Some(Instance::Input(node)) = level.instance(IN) else { return };
        if sources.any(|one| one.name.text == IN) {
            return;
        }
        let reads = self.spans.iter().filter(|((from, _), _)| from == node);
        if let Some(span) = reads.map(|(_, span)| *span).min_by_key(|span| span.start) {
            self.complain(complain::hungry_input(&first, span));
        }
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
        self.find_dead_ends();
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

    pub(super) fn file_output(&mut self, level: &mut Level, name: &str) -> usize {
        self.graph.outputs.push(name.to_string());
        let number = self.graph.outputs.len() - 1;
        let node = self.add_node(Node::new(name, Step::Output(number)));
        level.instances.push((name.to_string(), Instance::Output(node)));
        node
    }
}

pub(super) fn port_names(written: Option<&[Ident]>, default: &[&str]) -> Vec<String> {
    match written {
        Some(ports) => ports.iter().map(|port| port.text.clone()).collect(),
        None => default.iter().map(ToString::to_string).collect(),
    }
}
