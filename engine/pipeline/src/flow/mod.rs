//! Flows: what the connectors of a deploy file are made into. The pipelines are in the graph
//! (`graph::flow`); a connector becomes a source, a sink, or both.

pub mod absent;
mod connector;

use crate::endpoint::{Endpoints, SourceEndpoint};
use crate::graph::{Flows, Graph};
use crate::lookup::NamedTables;
use crate::metered::MetricsConfig;
use crate::registry::Registry;
use std::sync::Arc;
use temblor_lang::lower::Compiler;

/// Tells the sources of metrics what there is to count, which is known only behind the last connector.
fn give_meters(graph: &Graph, endpoints: &mut Endpoints) {
    let sources = &mut endpoints.sources;
    let is_metrics = |one: &&mut SourceEndpoint| one.config_as::<MetricsConfig>().is_some();
    let count = sources.len();
    let metrics: Vec<_> = sources.iter_mut().filter(is_metrics).collect();
    let peers = metrics.len();
    let has_others = peers < count;
    for source in metrics {
        source.config = Arc::new(MetricsConfig { meters: graph.meters(), peers, has_others });
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
