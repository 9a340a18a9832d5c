//! Flows: what the connectors of a deploy file are made into. The pipelines are in the graph
//! (`graph::flow`); a connector becomes a source, a sink, or both.

mod absent;
pub mod chains;
mod connector;
pub mod settings;

pub use connector::KINDS as CONNECTOR_KINDS;

use crate::endpoint::{EndpointSource, Endpoints, SourceEndpoint};
use crate::graph::{Flows, Graph};
use crate::lookup::NamedTables;
use crate::metered::MetricsConfig;
use crate::registry::Registry;
use temblor_lang::lower::Compiler;

/// Tells the sources of metrics what there is to count, which is known only behind the last connector.
fn give_meters(graph: &Graph, endpoints: &mut Endpoints) {
    let sources = &mut endpoints.sources;
    let is_metrics = |one: &&SourceEndpoint| matches!(one.config, EndpointSource::Metrics(_));
    let peers = sources.iter().filter(is_metrics).count();
    let has_others = peers < sources.len();
    for source in sources {
        if let EndpointSource::Metrics(config) = &mut source.config {
            *config = MetricsConfig { meters: graph.meters(), peers, has_others };
        }
    }
}

/// The graph of deployed flows, and what is at its ends.
pub fn lower(
    flows: Flows,
    tables: NamedTables,
    registry: &Registry,
    compiler: &mut Compiler<'_>,
) -> (Graph, Endpoints) {
    let mut graph = flows.graph;
    let mut endpoints = Endpoints { tables, ..Endpoints::default() };
    for connector in &flows.connectors {
        connector::lower(connector, registry, &mut graph, &mut endpoints, compiler);
    }
    give_meters(&graph, &mut endpoints);
    (graph, endpoints)
}
