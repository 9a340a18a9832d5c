//! Flows: what the connectors of a deploy file are made into. The pipelines are in the graph
//! (`graph::flow`); a connector becomes a source, a sink, or both.

mod absent;
pub mod chains;
mod connector;
pub mod settings;

pub use connector::KINDS as CONNECTOR_KINDS;

use crate::endpoint::{Endpoints, SourceEndpoint};
use crate::graph::{Builder, Graph, Notation};
use crate::load::Given;
use crate::source::SourceConfig;
use crate::source::metrics::MetricsConfig;
use temblor_lang::lower::Compiler;
use temblor_lang::syntax::tree::Deploy;

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

/// The graph of all deployed flows and what is at its ends, with what is given to the program.
pub fn lower(
    deploy: &Deploy,
    given: &Given<'_>,
    compiler: &mut Compiler<'_>,
) -> (Graph, Endpoints) {
    let tables = given.tables.clone().unwrap_or_default();
    let builder = Builder::new(compiler, Notation::Long).with_tables(tables.clone());
    let flows = builder.deploy(deploy, given.args);
    let mut graph = flows.graph;
    let mut endpoints = Endpoints { tables, ..Endpoints::default() };
    for connector in &flows.connectors {
        connector::lower(connector, &mut graph, &mut endpoints, compiler);
    }
    give_meters(&graph, &mut endpoints);
    (graph, endpoints)
}
