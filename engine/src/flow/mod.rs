//! Flows: what the connectors of a deploy file are made into. The pipelines are in the graph
//! (`graph::flow`); a connector becomes a source, a sink, or both.

mod absent;
mod chains;
mod connector;
mod settings;

pub use connector::KINDS as CONNECTOR_KINDS;

use crate::endpoint::{Endpoints, SourceEndpoint};
use crate::graph::{Builder, Graph, Notation};
use crate::source::SourceConfig;
use crate::source::metrics::MetricsConfig;
use temblor_lang::lower::Compiler;
use temblor_lang::syntax::tree::Deploy;
use temblor_lang::value::Frozen;

/// Tells the sources of metrics what there is to count, which is known only behind the last connector.
fn give_meters(graph: &Graph, endpoints: &mut Endpoints) {
    let sources = &mut endpoints.sources;
    let is_metrics = |one: &&SourceEndpoint| matches!(one.config, SourceConfig::Metrics(_));
    let peers = sources.iter().filter(is_metrics).count();
    let has_others = peers < sources.len();
    for source in sources {
        if let SourceConfig::Metrics(config) = &mut source.config {
            *config = MetricsConfig { meters: graph.meters(), peers, has_others };
        }
    }
}

/// The graph of all deployed flows and what is at its ends. `args` overrides the arguments of the
/// flows. What is wrong is reported to the compiler.
pub fn lower(
    deploy: &Deploy,
    args: Option<&Frozen>,
    compiler: &mut Compiler<'_>,
) -> (Graph, Endpoints) {
    let flows = Builder::new(compiler, Notation::Long).deploy(deploy, args);
    let mut graph = flows.graph;
    let mut endpoints = Endpoints::default();
    for connector in &flows.connectors {
        connector::lower(connector, &mut graph, &mut endpoints, compiler);
    }
    give_meters(&graph, &mut endpoints);
    (graph, endpoints)
}
